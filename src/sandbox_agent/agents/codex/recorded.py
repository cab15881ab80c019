"""Reads what a client wrote to codex from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ...schema.inputs import Answer, Decision, Settings
from .. import jsonrpc
from ..base import Action, Answered, Began, Cancelled, Decided, Prompted
from ..jsonrpc import Call, Reply, Rpc, key_of
from .awaited import Awaited, Beginning, Greeting, Listing, Opening, Steering, Stopping, prompting
from .conversation import CodexConversation, permission_mode
from .frames import Params, UserInput
from .pending import OpenRequest, Pending
from .prompts import prompt_of
from .requests import Approval, Inquiry
from .threads import Threads

if TYPE_CHECKING:
    from .wire import CodexWire


class _SentConfig(Struct, frozen=True):
    model_reasoning_effort: Any = None


class _SentThread(Params, frozen=True, kw_only=True):
    cwd: str | None = None
    model: str | None = None
    approval_policy: Any = None
    sandbox: Any = None
    config: _SentConfig | None = None

    def settings(self) -> Settings:
        effort = self.config.model_reasoning_effort if self.config else None
        return Settings(
            self.cwd or "",
            permission_mode=permission_mode(self.approval_policy, self.sandbox),
            model=self.model,
            variant=effort if isinstance(effort, str) else None,
        )


class _SentTurn(Params, frozen=True, kw_only=True):
    input: tuple[UserInput, ...] = ()


_address = msgspec.json.Decoder(Params)


class RecordedClient:
    def __init__(
        self, wire: CodexWire, rpc: Rpc[Awaited, OpenRequest], threads: Threads, pending: Pending
    ) -> None:
        self._wire = wire
        self._rpc = rpc
        self._threads = threads
        self._pending = pending

    def read(self, frame: bytes) -> Iterator[Action]:
        try:
            match jsonrpc.read(frame):
                case Reply() as reply:
                    yield from self._read_answer(reply)
                case Call() as call:
                    yield from self._read_request(call)
        except msgspec.DecodeError:
            return  # a client may write invalid frames; codex answers them with an error

    def _read_request(self, call: Call) -> Iterator[Action]:
        thread = self._threads.find(_address.decode(call.params).thread_id)
        expect = self._rpc.expect
        match call.method:
            case "initialize":
                expect(call.id, Greeting())
            case "thread/start" | "thread/fork" | "thread/resume":
                yield Began(self._read_opening(call))
            case "turn/start" | "turn/steer" if thread is not None:
                thread.conversation.release_turns()
                content = msgspec.json.decode(call.params, type=_SentTurn).input
                prompt = prompt_of(thread.scribe, content)
                if call.method == "turn/steer" or (thread.scribe.turn and thread.running):
                    thread.prompts.append(prompt.text)
                    expect(call.id, Steering(thread, prompt))
                    return
                expect(call.id, prompting(thread, content))
                yield Prompted(thread.conversation, prompt)
            case "turn/interrupt" if thread is not None:
                expect(call.id, Stopping(thread))
                yield Cancelled(thread.conversation)
            case "thread/backgroundTerminals/clean" if thread is not None:
                thread.stops_commands = thread.running is not None
            case "review/start" if thread is not None:
                expect(call.id, Beginning(thread))
            case "model/list":
                expect(call.id, Listing())

    def _read_opening(self, call: Call) -> CodexConversation:
        start = self._wire.recorded_start
        assert start is not None
        asked = msgspec.json.decode(call.params, type=_SentThread)
        resumes = call.method == "thread/resume"
        conversation = CodexConversation(
            self._wire, start(asked.settings(), asked.thread_id if resumes else None)
        )
        self._wire.add(conversation)
        self._rpc.expect(call.id, Opening(conversation, resumes))
        return conversation

    def _read_answer(self, reply: Reply) -> Iterator[Action]:
        key = key_of(reply.id) if reply.id is not None else ""
        asked = self._pending.take(key)
        if asked is None:
            return
        conversation, failed = asked.thread.conversation, reply.error is not None
        message = reply.error.message if reply.error else None
        match asked.request:
            case Approval() as approval:
                decision = "reject" if failed else approval.read(reply.result)
                yield Decided(conversation, key, Decision(decision, message))
            case Inquiry() as inquiry:
                answers = None if failed else inquiry.read(reply.result)
                yield Answered(conversation, key, Answer(answers, message))
