"""Reads what a client wrote to the agent from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from ...schema.inputs import Answer, Decision, Settings
from .. import jsonrpc
from ..base import Action, Answered, Began, Cancelled, Decided, Prompted
from ..jsonrpc import Call, Note, Reply, RequestId, Rpc, key_of
from .awaited import Awaited, Choose, Greeting, Opening, Prompting
from .forms import answers_in
from .frames import FormAnswer, PermissionAnswer, SentPrompt, SentSession
from .pending import Form, OpenRequest, Pending, Permission
from .permissions import decision_in
from .prompts import prompt_in
from .transcript import AcpConversation

if TYPE_CHECKING:
    from .wire import AcpWire


class RecordedClient:
    def __init__(self, wire: AcpWire, rpc: Rpc[Awaited, OpenRequest], pending: Pending) -> None:
        self._wire = wire
        self._rpc = rpc
        self._pending = pending

    def read(self, frame: bytes) -> Iterator[Action]:
        try:
            match jsonrpc.read(frame):
                case Reply() as reply:
                    yield from self._read_answer(reply)
                case Note("session/cancel", params):
                    yield from self._read_cancel(params)
                case Call() as call:
                    yield from self._read_request(call)
        except msgspec.DecodeError:
            return  # a client may write invalid frames; the agent answers them with an error

    def _read_cancel(self, params: Raw) -> Iterator[Action]:
        sent = msgspec.json.decode(params, type=SentSession)
        if (conversation := self._wire.of_session(sent.session_id or "")) is not None:
            yield Cancelled(conversation)

    def _read_request(self, call: Call) -> Iterator[Action]:
        if call.method == "initialize":
            self._rpc.expect(call.id, Greeting())
            return
        sent = msgspec.json.decode(call.params, type=SentSession)
        if call.method in ("session/new", "session/load", "session/resume"):
            yield Began(self._read_opening(call.id, call.method, sent))
            return
        conversation = self._wire.of_session(sent.session_id or "")
        if conversation is None:
            return
        match call.method:
            case "session/prompt":
                self._rpc.expect(call.id, Prompting(conversation))
                blocks = msgspec.json.decode(call.params, type=SentPrompt).prompt
                yield Prompted(conversation, prompt_in(blocks, conversation.scribe))
            case "session/set_mode" | "session/set_model" | "session/set_config_option":
                self._rpc.expect(call.id, Choose(conversation))

    def _read_opening(self, id: RequestId, method: str, sent: SentSession) -> AcpConversation:
        start = self._wire.recorded_start
        assert start is not None
        native_id = None if method == "session/new" else sent.session_id
        conversation = AcpConversation(self._wire, start(Settings(sent.cwd), native_id))
        conversation.replays = method == "session/load"
        self._wire.add(conversation)
        self._rpc.expect(id, Opening(conversation, resumes=native_id is not None))
        return conversation

    def _read_answer(self, reply: Reply) -> Iterator[Action]:
        key = key_of(reply.id) if reply.id is not None else ""
        asked = self._pending.take(key)
        if asked is None:
            return
        conversation, failed = asked.conversation, reply.error
        message = failed.message if failed else None
        match asked.request:
            case Permission(options, is_plan):
                decision = Decision("reject", message)
                if failed is None:
                    given = msgspec.json.decode(reply.result, type=PermissionAnswer)
                    decision = decision_in(given, options)
                if not is_plan:
                    yield Decided(conversation, key, decision)
                elif decision.reply == "reject":
                    yield Answered(conversation, key, Answer(None, decision.message))
                else:
                    yield Answered(conversation, key, Answer((("approve",),), decision.message))
            case Form(fields):
                content = None
                if failed is None:
                    form = msgspec.json.decode(reply.result, type=FormAnswer)
                    content = form.content or {} if form.action == "accept" else None
                answers = None if content is None else answers_in(fields, content)
                yield Answered(conversation, key, Answer(answers, message))
