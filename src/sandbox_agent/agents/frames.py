"""Frames: what passes between a wire and the link to its agent.

A line of a process's stdin or stdout, without its newline, is plain bytes. Frames over HTTP, or from the
program through which an agent asks for permission, are structs, so that they are decoded only once. A
recording stores the same frames as JSON: `encode_frame` writes them, and their wire reads them
(`Wire.recorded_frame`).
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

UNREADABLE = "The request could not be read."
"""The answer to a request that we could not read, because the agent waits for one."""

# -- to the agent -----------------------------------------------------------------------------


class HttpRequest(Struct, frozen=True, omit_defaults=True):
    method: str
    path: str
    body: Raw = Raw(b"null")
    id: str | None = None
    """Returned with the reply."""
    long: bool = False
    """Answered only when its work is done: later requests do not wait for it."""


class DelegateReply(Struct, frozen=True, tag_field="type", tag="delegate_reply", omit_defaults=True):
    """The answer to a `DelegateAsk`."""

    id: str
    allow: bool
    message: str | None = None
    answers: tuple[tuple[str, ...], ...] | None = None
    """Answers to questions for the user; None if they were rejected."""


OutFrame = bytes | HttpRequest | DelegateReply

# -- from the agent ---------------------------------------------------------------------------


class HttpReply(Struct, frozen=True, omit_defaults=True):
    """The answer to an `HttpRequest`; status 0 if there was none."""

    status: int
    request: str = msgspec.field(name="for")
    """Method and path of the request."""
    id: str | None = None
    body: Raw = Raw(b"null")


class ServerEvent(Struct, frozen=True):
    """An event of the server's stream."""

    data: bytes


class Lost(Struct, frozen=True):
    """The server's event stream broke and was reopened: events may have been missed."""

    reason: str


class DelegateAsk(Struct, frozen=True):
    """A request from a program through which an agent asks for permission, or asks the user."""

    id: str
    body: bytes


InFrame = bytes | HttpReply | ServerEvent | Lost | DelegateAsk

_encode = msgspec.json.Encoder().encode


def encode_frame(frame: InFrame | OutFrame) -> bytes:
    """A frame as a recording stores it."""
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
    """The native payload of a frame, which the resulting events carry as `raw`."""
    match frame:
        case bytes():
            return frame
        case ServerEvent(data):
            return data
        case DelegateAsk(_, body):
            return body
        case _:
            return encode_frame(frame)
