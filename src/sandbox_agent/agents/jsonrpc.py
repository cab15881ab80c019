"""JSON-RPC between a wire and its agent: requests of either side, each with one answer.

`read` classifies a frame. `Rpc` keeps the open requests: ours, with their purpose, and the agent's, with
their content. Both are bounded: an agent that never answers, or asks without end, costs no memory.
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

MAX_WAITING = 1_000
"""How many requests of one side may wait for their answers."""


class RpcError(Struct, frozen=True, omit_defaults=True):
    message: str = ""
    code: int | None = None
    data: Any = None  # agents may send anything here


# -- what is written --------------------------------------------------------------------------


class Message(Struct, frozen=True, kw_only=True):
    version: str | UnsetType = field(name="jsonrpc", default=UNSET)
    """Some agents leave it out."""


class Request(Message, frozen=True, kw_only=True):
    id: RequestId
    method: str
    params: Any  # a struct of the protocol


class Notification(Message, frozen=True, kw_only=True):
    method: str
    params: Any = UNSET


class Answer(Message, frozen=True, kw_only=True):
    id: RequestId
    result: Any  # depends on the method of the request


class Refusal(Message, frozen=True, kw_only=True):
    id: RequestId
    error: RpcError


# -- what is read -----------------------------------------------------------------------------


class Reply(Struct, frozen=True):
    """The answer to a request; without an id, it answers a frame that could not be read."""

    id: RequestId | None
    error: RpcError | None
    result: Raw


class Note(Struct, frozen=True):
    """A notification: no answer is expected."""

    method: str
    params: Raw


class Call(Struct, frozen=True):
    """A request: the sender waits for the answer."""

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
    """The scribe's key of a request."""
    return msgspec.json.encode(id).decode()


# -- open requests ----------------------------------------------------------------------------

Purpose = TypeVar("Purpose")
Incoming = TypeVar("Incoming")


class Rpc(Generic[Purpose, Incoming]):
    def __init__(
        self,
        send: Callable[[object], None],
        name_request: Callable[[int], RequestId] = int,
        version: str | UnsetType = UNSET,
    ) -> None:
        self.open_requests: dict[str, Incoming] = {}
        """Requests from the agent, by key."""
        self._send = send
        self._name_request = name_request
        self._version = version
        self._count = 0
        self._purposes: dict[RequestId, Purpose] = {}

    # Our requests.

    def request(self, method: str, params: object, purpose: Purpose) -> Request:
        """A request to send, now or later; `purpose` comes back with its answer."""
        self._count += 1
        id = self._name_request(self._count)
        self.expect(id, purpose)
        return Request(id=id, method=method, params=params, version=self._version)

    def call(self, method: str, params: object, purpose: Purpose) -> None:
        self._send(self.request(method, params, purpose))

    def expect(self, id: RequestId, purpose: Purpose) -> None:
        """Expect an answer to this request; a recorded client chooses its own id."""
        if len(self._purposes) >= MAX_WAITING:
            del self._purposes[next(iter(self._purposes))]
        self._purposes[id] = purpose

    def answered(self, id: RequestId | None) -> Purpose | None:
        """The purpose of the answered request; None if there was no such request."""
        return None if id is None else self._purposes.pop(id, None)

    def notify(self, method: str, params: object = UNSET) -> None:
        self._send(Notification(method=method, params=params, version=self._version))

    # Requests from the agent.

    def read_surface(self, frame: bytes) -> Reply | None:
        """Reads a frame that is nested too deep by its outermost fields: an answer, or None; a request is
        refused.
        """
        message = read(shallow(frame))
        if isinstance(message, Call):
            self.refuse(message.id, "the request is nested too deep", INVALID_PARAMS)
        return message if isinstance(message, Reply) else None

    def attend(self, call: Call, put: Callable[[Call], None]) -> None:
        """Pass a request to its handler. A request that cannot be understood or shown is refused, because the
        agent waits for an answer.
        """
        if len(self.open_requests) >= MAX_WAITING:
            self.refuse(call.id, "too many requests are waiting for an answer")
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
