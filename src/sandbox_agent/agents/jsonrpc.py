"""JSON-RPC between a wire and its agent: requests of either side, each with one answer.

`read` says what a frame is; `Rpc` keeps what waits: our requests, with what we meant by them, and the agent's, with what it asked.
Both are bounded: an agent that answers nothing, or asks without end, costs no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from .nesting import shallow

RequestId = int | str

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

MOST_WAITING = 1_000
"""How many requests of one side may wait for their answers."""


class RpcError(Struct, frozen=True, omit_defaults=True):
    message: str = ""
    code: int | None = None
    data: Any = None  # whatever the agent adds


# -- what is written --------------------------------------------------------------------------


class Message(Struct, frozen=True, kw_only=True):
    version: str | UnsetType = field(name="jsonrpc", default=UNSET)
    """Some leave it out."""


class Request(Message, frozen=True, kw_only=True):
    id: RequestId
    method: str
    params: Any  # a struct of the protocol


class Notification(Message, frozen=True, kw_only=True):
    method: str
    params: Any = UNSET


class Answer(Message, frozen=True, kw_only=True):
    id: RequestId
    result: Any  # what the request wants, by its method


class Refusal(Message, frozen=True, kw_only=True):
    id: RequestId
    error: RpcError


# -- what is read -----------------------------------------------------------------------------


class Reply(Struct, frozen=True):
    """The answer to a request; one without an id answers what could not be read."""

    id: RequestId | None
    error: RpcError | None
    result: Raw


class Note(Struct, frozen=True):
    """Something told: nobody waits for an answer."""

    method: str
    params: Raw


class Call(Struct, frozen=True):
    """Something asked: whoever asks waits for the answer."""

    id: RequestId
    method: str
    params: Raw


class _Envelope(Struct, frozen=True):
    id: RequestId | None = None
    method: str | None = None
    params: Raw = Raw(b"{}")
    result: Raw = Raw(b"null")
    error: RpcError | None = None


_envelope = msgspec.json.Decoder(_Envelope)


def read(frame: bytes) -> Reply | Note | Call:
    envelope = _envelope.decode(frame)
    if envelope.method is None:
        return Reply(envelope.id, envelope.error, envelope.result)
    if envelope.id is None:
        return Note(envelope.method, envelope.params)
    return Call(envelope.id, envelope.method, envelope.params)


def key_of(id: RequestId) -> str:
    """What the scribe knows a request by."""
    return msgspec.json.encode(id).decode()


# -- what waits -------------------------------------------------------------------------------

Meant = TypeVar("Meant")
Asked = TypeVar("Asked")


class Rpc(Generic[Meant, Asked]):
    def __init__(
        self,
        send: Callable[[object], None],
        name_request: Callable[[int], RequestId] = int,
        version: str | UnsetType = UNSET,
    ) -> None:
        self.asked: dict[str, Asked] = {}
        """What the agent waits for, by key."""
        self._send = send
        self._name_request = name_request
        self._version = version
        self._count = 0
        self._meant: dict[RequestId, Meant] = {}

    # Our requests.

    def request(self, method: str, params: object, meant: Meant) -> Request:
        """A request to send, now or later; its answer is told by what was meant."""
        self._count += 1
        id = self._name_request(self._count)
        self.expect(id, meant)
        return Request(id=id, method=method, params=params, version=self._version)

    def call(self, method: str, params: object, meant: Meant) -> None:
        self._send(self.request(method, params, meant))

    def expect(self, id: RequestId, meant: Meant) -> None:
        """An answer to this request may come; a recorded client names its own."""
        if len(self._meant) >= MOST_WAITING:
            del self._meant[next(iter(self._meant))]
        self._meant[id] = meant

    def answered(self, id: RequestId | None) -> Meant | None:
        """What was meant by the request that is answered; None where nobody asked."""
        return None if id is None else self._meant.pop(id, None)

    def notify(self, method: str, params: object = UNSET) -> None:
        self._send(Notification(method=method, params=params, version=self._version))

    # The agent's.

    def read_surface(self, frame: bytes) -> Reply | None:
        """Of what is nested too deep to be read: an answer without its depths, or nothing; a request is refused."""
        told = read(shallow(frame))
        if isinstance(told, Call):
            self.refuse(told.id, "the request is nested too deep", INVALID_PARAMS)
        return told if isinstance(told, Reply) else None

    def attend(self, call: Call, put: Callable[[Call], None]) -> None:
        """Put a request to whom it concerns. What cannot be understood, or told, is refused: its agent waits for an answer."""
        if len(self.asked) >= MOST_WAITING:
            self.refuse(call.id, "too many requests wait for an answer")
            return
        try:
            put(call)
        except Exception:
            self.refuse(call.id, "the request was not understood", INVALID_PARAMS)
            raise

    def answer(self, id: RequestId, result: object) -> None:
        self._send(Answer(id=id, result=result, version=self._version))

    def refuse(self, id: RequestId, message: str, code: int = METHOD_NOT_FOUND) -> None:
        self._send(Refusal(id=id, error=RpcError(message, code), version=self._version))
