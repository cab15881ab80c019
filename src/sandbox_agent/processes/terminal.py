"""A client's view of a terminal: the recent screen first, then new output; input is typed into it.

Output is sent as binary frames, everything else as JSON text:

    sent       {"type":"ready","processId":"proc_9"}   {"type":"exit","exitCode":0}   {"type":"error","message":"..."}
    received   {"type":"input","data":"ls\\n"}   {"type":"input","data":"aGk=","encoding":"base64"}
               {"type":"resize","cols":90,"rows":22}   {"type":"close"}
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta, Struct

from ..errors import InvalidRequest, PayloadTooLarge, SandboxAgentError
from .following import PAGE_BYTES, Sleep
from .output_log import OutputLog, Place
from .process import Process

SCROLLBACK_BYTES = 256 << 10

# Programs query the terminal for its type, cursor position and colours. A later viewer must not answer again: the answer would be
# typed as input.
_QUESTIONS = re.compile(
    rb"\x1b\[[?>=]?[0-9;]*[cn]|\x1b\[\?[0-9;]*\$p|\x1b\[>[0-9]*q|\x1b\][0-9;]*\?(?:\x07|\x1b\\)|\x1bP[$+]q[^\x1b]*\x1b\\|\x05"
)

Cells = Annotated[int, Meta(ge=1, le=65535)]


class Socket(Protocol):
    """One connection. Sending waits until there is room."""

    async def send_text(self, text: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...

    async def receive(self) -> str | bytes | None:
        """None when the client has disconnected."""


class Input(Struct, tag="input"):
    data: str
    encoding: str | None = None


class Resize(Struct, tag="resize"):
    cols: Cells
    rows: Cells


class Close(Struct, tag="close"):
    pass


class Ready(Struct, tag="ready", rename="camel"):
    process_id: str


class Exit(Struct, tag="exit", rename="camel"):
    exit_code: int | None


class Error(Struct, tag="error"):
    message: str


_decode = msgspec.json.Decoder(Input | Resize | Close).decode


class Viewer:
    def __init__(self, process: Process, log: OutputLog, max_input: int) -> None:
        self._process = process
        self._log = log
        self._max_input = max_input

    async def run(self, socket: Socket) -> None:
        """Run until the process has ended or the client disconnects."""
        await _send(socket, Ready(self._process.id))
        showing = asyncio.ensure_future(self._show(socket))
        typing = asyncio.ensure_future(self._listen(socket))
        try:
            await asyncio.wait((showing, typing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (showing, typing):
                task.cancel()
            results = await asyncio.gather(showing, typing, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _show(self, socket: Socket) -> None:
        process, log = self._process, self._log
        sleep = Sleep()
        leave = process.follow(sleep)
        try:
            place = await self._show_recent(socket)
            while True:
                has_exited = process.exited.is_set()
                last = log.last
                if place.after >= last:
                    if has_exited:
                        break
                    await sleep.wait()
                    continue
                entries = await asyncio.to_thread(log.read, place, PAGE_BYTES)
                place = entries[-1].place if entries else Place(last)
                await socket.send_bytes(b"".join(entry.data for entry in entries))
                log.given = max(log.given, place.after)
        finally:
            leave()
        await _send(socket, Exit(process.record.exit_code))

    async def _show_recent(self, socket: Socket) -> Place:
        """The end of the output so far, from the start of a line."""
        screen, place = await asyncio.to_thread(self._recent)
        for start in range(0, len(screen), PAGE_BYTES):
            await socket.send_bytes(screen[start : start + PAGE_BYTES])
        return place

    def _recent(self) -> tuple[bytes, Place]:
        last = self._log.last
        place = Place(self._log.before_last_bytes(SCROLLBACK_BYTES))
        is_cut = place.after > 0
        pieces = []
        while place.after < last and (entries := self._log.read(place, PAGE_BYTES)):
            pieces += [entry.data for entry in entries]
            place = entries[-1].place
        screen = b"".join(pieces)
        if is_cut:
            screen = screen[screen.find(b"\n") + 1 :]
        return _QUESTIONS.sub(b"", screen), place

    async def _listen(self, socket: Socket) -> None:
        while (received := await socket.receive()) is not None:
            try:
                if isinstance(received, bytes):
                    raise InvalidRequest("binary input is not supported; use text JSON frames")
                frame = _decode(received)
                if isinstance(frame, Close):
                    return
                await self._obey(frame)
            except SandboxAgentError as error:
                await _send(socket, Error(error.detail))
            except msgspec.DecodeError as error:
                await _send(socket, Error(f"not a terminal frame: {error}"))

    async def _obey(self, frame: Input | Resize) -> None:
        program = self._process.require_running()
        if isinstance(frame, Resize):
            program.resize(frame.cols, frame.rows)
        elif program.input is not None:
            data = decoded_input(frame.data, frame.encoding or "utf8", self._max_input)
            await program.input.write(data)


async def _send(socket: Socket, frame: Ready | Exit | Error) -> None:
    await socket.send_text(msgspec.json.encode(frame).decode())


def decoded_input(data: str, encoding: str, most: int) -> bytes:
    """The input as bytes."""
    match encoding:
        case "base64":
            try:
                content = base64.b64decode(data, validate=True)
            except (binascii.Error, ValueError) as error:
                raise InvalidRequest(f"`data` is not base64: {error}", field="data") from None
        case "utf8" | "utf-8" | "text":
            content = data.encode("utf-8", "surrogatepass")
        case _:
            raise InvalidRequest(f"there is no encoding {encoding}: use base64 or utf8", field="encoding")
    if len(content) > most:
        raise PayloadTooLarge(f"input may have at most {most} bytes", limit=most)
    return content
