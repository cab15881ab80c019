"""Frames: what passes between a wire and the link to its agent.

A line of a process's stdin or stdout, without its newline, is just bytes. What goes over HTTP, or through the program by which an
agent asks for permission, has a shape of its own, so that nobody reads again what somebody has read before. A recording holds the
same frames as JSON: `encode_frame` writes them, and the wire that they belong to reads them (`Wire.recorded_frame`).
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

UNREADABLE = "The request could not be read."
"""The answer to an agent that waits for one to a request that we could not make sense of."""

# -- to the agent -----------------------------------------------------------------------------


class HttpRequest(Struct, frozen=True, omit_defaults=True):
    method: str
    path: str
    body: Raw = Raw(b"null")
    id: str | None = None
    """Comes back with the reply."""
    long: bool = False
    """Answered only when its work is done: what follows does not wait for that."""


class DelegateReply(Struct, frozen=True, tag_field="type", tag="delegate_reply", omit_defaults=True):
    """The answer to a `DelegateAsk`."""

    id: str
    allow: bool
    message: str | None = None
    answers: tuple[tuple[str, ...], ...] | None = None
    """To questions for the user; None where they were rejected."""


OutFrame = bytes | HttpRequest | DelegateReply

# -- from the agent ---------------------------------------------------------------------------


class HttpReply(Struct, frozen=True, omit_defaults=True):
    """The answer to an `HttpRequest`; status 0 when there was none."""

    status: int
    request: str = msgspec.field(name="for")
    """Method and path of what it answers."""
    id: str | None = None
    body: Raw = Raw(b"null")


class ServerEvent(Struct, frozen=True):
    """An event of the server's stream."""

    data: bytes


class Lost(Struct, frozen=True):
    """The server's stream of events broke off and is there again: some may have been missed."""

    reason: str


class DelegateAsk(Struct, frozen=True):
    """A program by which an agent asks for permission, or asks the user, wants to know something."""

    id: str
    body: bytes


InFrame = bytes | HttpReply | ServerEvent | Lost | DelegateAsk

_encode = msgspec.json.Encoder().encode


def encode_frame(frame: InFrame | OutFrame) -> bytes:
    """A frame as a recording holds it."""
    match frame:
        case bytes():
            return frame
        case ServerEvent(data):
            return b'{"sse":"/global/event","data":%b}' % data
        case Lost(reason):
            return b'{"sse":"/global/event","closed":%b}' % _encode(reason)
        case DelegateAsk(id, body):
            return _encode({**_facts_in(body), "type": "delegate", "id": id})
        case _:
            return _encode(frame)


def _facts_in(body: bytes) -> dict[str, Raw]:
    try:
        return msgspec.json.decode(body, type=dict[str, Raw])
    except (msgspec.DecodeError, RecursionError):
        return {"body": Raw(_encode(body.decode(errors="replace")))}


def native_of(frame: InFrame) -> bytes:
    """The native payload in a frame, which the events it causes carry as `raw`."""
    match frame:
        case bytes():
            return frame
        case ServerEvent(data):
            return data
        case DelegateAsk(_, body):
            return body
        case _:
            return encode_frame(frame)
