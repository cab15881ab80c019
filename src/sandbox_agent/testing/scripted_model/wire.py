"""What the three model APIs share: how a reply becomes the frames of an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from .model_request import ModelRequest
from .steps import Cut, Delay, Reply, Text, Thinking

Frame = bytes | Delay | Cut


class WireFormat(Protocol):
    """One of the model APIs, implemented by a module each."""

    CALL_ID_PREFIX: str

    def read(self, body: bytes) -> ModelRequest:
        """Decode a request."""

    def stream(self, reply: Reply) -> Iterator[Frame]:
        """Encode a reply as events."""

    def whole(self, reply: Reply) -> dict[str, Any]:
        """Encode a reply as one body."""

    def problem(self, status: int, message: str, code: str) -> dict[str, Any]:
        """Encode an error."""


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(data) + b"\n\n"


def pieces(step: Text | Thinking) -> Iterator[str | Delay]:
    """The deltas of a text, each with the delay after it."""
    for piece in split(step.text, step.chunk):
        yield piece
        if step.delay:
            yield Delay(step.delay)


def split(text: str, size: int) -> Iterator[str]:
    """A text in pieces of a given size."""
    for start in range(0, len(text), size):
        yield text[start : start + size]


def data_url_type(url: str) -> str:
    """The media type of an image given as a URL."""
    return url[5:].split(";")[0] if url.startswith("data:") else "url"
