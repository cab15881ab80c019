"""What HTTP hands to a door, and what the door answers. The token is checked before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from ..errors import UnsupportedMediaType


class DoorRequest(Struct, frozen=True):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[bytes, bytes]
    body: Callable[[], Awaitable[bytes]]
    """Reads the whole body; refuses one that is too large."""

    def header(self, name: bytes) -> str:
        """The value of a header, by its lower-case name; empty if it is absent."""
        return self.headers.get(name, b"").decode("latin-1")

    async def json_body(self) -> bytes:
        """The body; refuses one that is not declared as JSON."""
        media = self.header(b"content-type").partition(";")[0].strip().lower()
        if media != "application/json":
            raise UnsupportedMediaType("send the body with `Content-Type: application/json`")
        return await self.body()


class DoorAnswer(Struct, frozen=True):
    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Socket(Protocol):
    """An accepted WebSocket. Sending waits until there is room."""

    async def send_text(self, text: str) -> None: ...

    async def receive(self) -> str | bytes | None:
        """None when the client has disconnected."""
