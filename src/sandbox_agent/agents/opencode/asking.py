"""Requests to the server and their answers: what each was for, and what waits for it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from ..base import Wire
from ..frames import HttpReply, HttpRequest
from .conversation import OpenCodeConversation
from .requests import scope

OnAnswer = Callable[[int, Raw], None]

_encode = msgspec.json.Encoder().encode


class _Waiting(Struct):
    """A request that has no answer yet."""

    id: str | None
    request: str
    on_answer: OnAnswer
    own: bool = False
    """Sent by us, not read from a recording."""


class Asking:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._waiting: list[_Waiting] = []
        self._count = 0

    def ask(self, method: str, path: str, body: object, on_answer: OnAnswer, *, long: bool = False) -> None:
        self._count += 1
        request = HttpRequest(method, path, Raw(_encode(body)), str(self._count), long)
        self.expect(request, on_answer, own=True)
        self._wire.outbox.append(request)

    def tell(self, conversation: OpenCodeConversation, path: str, body: object) -> None:
        """Post something whose answer does not matter: events report the outcome."""
        self.ask("POST", path_of(conversation, path), body, lambda status, body: None)

    def expect(self, request: HttpRequest, on_answer: OnAnswer, *, own: bool = False) -> None:
        self._waiting.append(_Waiting(request.id, f"{request.method} {request.path}", on_answer, own))

    def adopt(self, request: HttpRequest) -> bool:
        """A recorded client sent a request that we would have sent: its answer is ours."""
        for waiting in self._waiting:
            if waiting.own and waiting.request == f"{request.method} {request.path}":
                waiting.id, waiting.own = request.id, False
                return True
        return False

    def answered(self, reply: HttpReply) -> None:
        for waiting in self._waiting:
            if (reply.id, reply.request) == (waiting.id, waiting.request):
                self._waiting.remove(waiting)
                waiting.on_answer(reply.status, reply.body)
                return


def path_of(conversation: OpenCodeConversation, path: str) -> str:
    return f"{path}{scope(conversation.directory)}"
