"""Codex's requests to its client, until they are answered or void."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...schema.inputs import Answer, Decision
from ..jsonrpc import Call, RequestId, Rpc, key_of
from .awaited import Awaited
from .requests import REQUESTS, Approval, Elicitation, Inquiry
from .thread import Thread

_requests = {method: msgspec.json.Decoder(kind) for method, kind in REQUESTS.items()}


class OpenRequest(Struct, frozen=True):
    """A request of codex that waits for our answer."""

    id: RequestId
    thread: Thread
    request: Approval | Inquiry

    def refusal(self) -> object:
        match self.request:
            case Approval():
                return self.request.reply("reject")
            case Inquiry():
                return self.request.reply(None)


class Pending:
    def __init__(self, rpc: Rpc[Awaited, OpenRequest]) -> None:
        self._rpc = rpc

    def put(self, thread: Thread, call: Call) -> None:
        """Pass a request on to the client."""
        asked = _requests[call.method].decode(call.params)
        if not thread.is_in_turn(asked.turn_id):
            self._rpc.refuse(call.id, "the turn is over")
            return
        key = key_of(call.id)
        if key in self._rpc.open_requests:
            return
        match asked.classify() if isinstance(asked, Elicitation) else asked:
            case Approval() as request:
                thread.scribe.ask(key, request.ask(thread))
            case Inquiry() as request:
                thread.scribe.question(key, request.questions(), call=request.call(thread))
            case _:
                self._rpc.refuse(call.id, f"{call.method} is not supported")
                return
        self._rpc.open_requests[key] = OpenRequest(call.id, thread, request)

    def take(self, key: str) -> OpenRequest | None:
        return self._rpc.open_requests.pop(key, None)

    def decide(self, key: str, decision: Decision) -> None:
        asked = self.take(key)
        if asked and isinstance(asked.request, Approval):
            self._rpc.answer(asked.id, asked.request.reply(decision.reply))

    def answer(self, key: str, answer: Answer) -> None:
        asked = self.take(key)
        if asked and isinstance(asked.request, Inquiry):
            self._rpc.answer(asked.id, asked.request.reply(answer.answers))

    def withdraw(self, key: str) -> None:
        """Codex no longer waits: our answer has arrived, or the request is void."""
        if (asked := self.take(key)) is not None:
            asked.thread.scribe.withdraw(key, "agent", "the agent withdrew its request", source="agent")

    def drop(self, thread: Thread) -> None:
        """The turn is over, so its requests are rejected; a sub-agent that still waits gets the rejection."""
        for key, asked in list(self._rpc.open_requests.items()):
            if asked.thread is thread:
                self.withdraw(key)
            elif asked.thread.conversation is thread.conversation and not thread.is_agent:
                self.take(key)
                self._rpc.answer(asked.id, asked.refusal())
