"""A connection to an X server: the few requests of the X11 protocol that the desktop needs.

Written here rather than taken from a library because it runs in the event loop: no request blocks the daemon, and a click costs no
process. Numbers in the code are those of the protocol's encoding.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import struct
from collections.abc import Callable

from ..errors import DesktopRuntimeFailed

REPLY_SECONDS = 10.0
OPEN_SECONDS = 10.0
BUFFER_BYTES = 8 << 20
COOKIE_NAME = b"MIT-MAGIC-COOKIE-1"
ANY_TYPE = 0
NO_WINDOW = 0
INPUT_ONLY = 2
ERROR, REPLY, GENERIC_EVENT = 0, 1, 35
PROPERTY_CHANGES = 0x400000
EVENT_MASK_VALUE = 0x800


class XError(Exception):
    """The server refused a request, mostly because a window is gone."""

    def __init__(self, code: int, value: int) -> None:
        super().__init__(f"X error {code} on {value:#x}")


class Property:
    """The value of a window's property."""

    def __init__(self, type: int, format: int, data: bytes) -> None:
        self.type = type
        self.format = format
        self.data = data

    @property
    def numbers(self) -> tuple[int, ...]:
        return struct.unpack(f"<{len(self.data) // 4}I", self.data) if self.format == 32 else ()


class XConnection:
    """`on_event` gets the 32 bytes of each event. `lost` is set when the server is gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sent = 0
        self._replies: dict[int, asyncio.Future[bytes]] = {}
        """What waits for an answer, by the number of its request modulo 65536."""
        self._atoms: dict[str, int] = {}
        self._extensions: dict[str, int] = {}
        self._ids = itertools.count(1)
        self.on_event: Callable[[bytes], None] = lambda event: None
        self.lost = asyncio.Event()

    @classmethod
    async def open(cls, path: str, cookie: bytes) -> XConnection:
        async with asyncio.timeout(OPEN_SECONDS):
            connection = cls(*await asyncio.open_unix_connection(path, limit=BUFFER_BYTES))
            try:
                await connection._set_up(cookie)
            except BaseException:
                connection.close()
                raise
        return connection

    async def _set_up(self, cookie: bytes) -> None:
        hello = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(COOKIE_NAME), len(cookie))
        self._writer.write(hello + _padded(COOKIE_NAME) + _padded(cookie))
        status, _, _, _, words = struct.unpack("<BBHHH", await self._reader.readexactly(8))
        body = await self._reader.readexactly(words * 4)
        if status != 1:
            raise DesktopRuntimeFailed("the X server refuses the connection", reason=body.decode("latin-1"))
        self._id_base, self._id_mask = struct.unpack_from("<II", body, 4)
        (vendor_length,) = struct.unpack_from("<H", body, 16)
        formats = body[21]
        self.first_key, self.last_key = body[26], body[27]
        screen = 32 + (vendor_length + 3 & ~3) + 8 * formats
        (self.root,) = struct.unpack_from("<I", body, screen)
        self.width, self.height = struct.unpack_from("<HH", body, screen + 20)

    async def begin(self) -> None:
        """Look up what all requests need. Call `run` first."""
        for name in ("BIG-REQUESTS", "XTEST", "XFIXES"):
            reply = await self.ask(98, 0, struct.pack("<Hxx", len(name)) + name.encode())
            if not reply[8]:
                raise DesktopRuntimeFailed(f"the X server has no extension {name}")
            self._extensions[name] = reply[9]
        await self.ask(self._extensions["BIG-REQUESTS"], 0, b"")
        await self.ask(self._extensions["XFIXES"], 0, struct.pack("<II", 5, 0))

    async def run(self) -> None:
        """Receive until the server is gone or `close` is called."""
        try:
            while True:
                await self._receive()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.close()

    async def _receive(self) -> None:
        message = await self._reader.readexactly(32)
        kind, _, number, words = struct.unpack_from("<BBHI", message)
        if kind in (REPLY, GENERIC_EVENT) and words:
            message += await self._reader.readexactly(words * 4)
        waiting = self._replies.pop(number, None) if kind in (ERROR, REPLY) else None
        if kind not in (ERROR, REPLY):
            self.on_event(message)
        elif waiting is not None and not waiting.done():
            if kind == ERROR:
                waiting.set_exception(XError(message[1], words))
            else:
                waiting.set_result(message)

    def close(self) -> None:
        self.lost.set()
        for waiting in self._replies.values():
            if not waiting.done():
                waiting.set_exception(_gone())
        self._replies.clear()
        with contextlib.suppress(RuntimeError):  # the loop may be closing
            self._writer.close()

    # -- requests -----------------------------------------------------------------------------

    def tell(self, opcode: int, detail: int, body: bytes) -> int:
        """Send a request that has no reply. Returns its number."""
        if self.lost.is_set():
            raise _gone()
        body = _padded(body)
        words = 1 + len(body) // 4
        if words <= 0xFFFF:
            header = struct.pack("<BBH", opcode, detail, words)
        else:
            header = struct.pack("<BBHI", opcode, detail, 0, words + 1)
        self._writer.write(header + body)
        self._sent += 1
        return self._sent & 0xFFFF

    async def ask(self, opcode: int, detail: int, body: bytes) -> bytes:
        """Send a request and wait for its reply."""
        waiting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._replies[self.tell(opcode, detail, body)] = waiting
        try:
            return await asyncio.wait_for(waiting, REPLY_SECONDS)
        except TimeoutError:
            raise DesktopRuntimeFailed("the X server does not answer") from None

    async def settle(self) -> None:
        """Wait until the server has carried out all requests so far."""
        await self.ask(43, 0, b"")

    def new_id(self) -> int:
        return int(self._id_base | (next(self._ids) & self._id_mask))

    async def atom(self, name: str) -> int:
        if name not in self._atoms:
            reply = await self.ask(16, 0, struct.pack("<Hxx", len(name)) + name.encode())
            (self._atoms[name],) = struct.unpack_from("<I", reply, 8)
        return self._atoms[name]

    # -- windows and properties -----------------------------------------------------------------

    def create_window(self) -> int:
        """An invisible window that is notified when its properties change."""
        window = self.new_id()
        values = struct.pack("<II", EVENT_MASK_VALUE, PROPERTY_CHANGES)
        self.tell(1, 0, struct.pack("<IIhhHHHHI", window, self.root, 0, 0, 1, 1, 0, INPUT_ONLY, 0) + values)
        return window

    async def property(self, window: int, name: int, most: int, *, delete: bool = False) -> Property | None:
        """None if there is no such property. At most `most` bytes are read."""
        body = struct.pack("<IIIII", window, name, ANY_TYPE, 0, (most + 3) // 4)
        reply = await self.ask(20, int(delete), body)
        type, _, length = struct.unpack_from("<III", reply, 8)
        return Property(type, reply[1], reply[32 : 32 + length * reply[1] // 8]) if type else None

    def set_property(self, window: int, name: int, type: int, format: int, data: bytes) -> None:
        count = len(data) * 8 // format
        self.tell(18, 0, struct.pack("<IIIBxxxI", window, name, type, format, count) + data)

    def delete_property(self, window: int, name: int) -> None:
        self.tell(19, 0, struct.pack("<II", window, name))

    async def geometry(self, window: int) -> tuple[int, int, int, int]:
        """The place of a window's content on the screen, and its size."""
        reply = await self.ask(14, 0, struct.pack("<I", window))
        width, height = struct.unpack_from("<HH", reply, 16)
        reply = await self.ask(40, 0, struct.pack("<IIhh", window, self.root, 0, 0))
        x, y = struct.unpack_from("<hh", reply, 12)
        return x, y, width, height

    async def is_viewable(self, window: int) -> bool:
        reply = await self.ask(3, 0, struct.pack("<I", window))
        return reply[26] == 2

    async def parent(self, window: int) -> int:
        (parent,) = struct.unpack_from("<I", await self.ask(15, 0, struct.pack("<I", window)), 12)
        return int(parent)

    def send_event(self, window: int, mask: int, event: bytes) -> None:
        self.tell(25, 0, struct.pack("<II", window, mask) + event.ljust(32, b"\0"))

    # -- selections -----------------------------------------------------------------------------

    def own_selection(self, window: int, selection: int) -> None:
        self.tell(22, 0, struct.pack("<III", window, selection, 0))

    async def selection_owner(self, selection: int) -> int:
        (owner,) = struct.unpack_from("<I", await self.ask(23, 0, struct.pack("<I", selection)), 8)
        return int(owner)

    def convert_selection(self, window: int, selection: int, target: int, property: int) -> None:
        self.tell(24, 0, struct.pack("<IIIII", window, selection, target, property, 0))

    # -- pointer and keys -----------------------------------------------------------------------

    async def pointer(self) -> tuple[int, int, int, int]:
        """The pointer's place, the top window below it, and the state of buttons and modifiers."""
        reply = await self.ask(38, 0, struct.pack("<I", self.root))
        (child,) = struct.unpack_from("<I", reply, 12)
        x, y = struct.unpack_from("<hh", reply, 16)
        (state,) = struct.unpack_from("<H", reply, 24)
        return x, y, child, state

    def fake(self, kind: int, detail: int, x: int = 0, y: int = 0) -> None:
        """Act as the keyboard or the mouse."""
        body = struct.pack("<BBxxII8xhh8x", kind, detail, 0, self.root, x, y)
        self.tell(self._extensions["XTEST"], 2, body)

    async def keyboard_mapping(self) -> list[tuple[int, ...]]:
        """The symbols of every key, beginning with `first_key`."""
        count = self.last_key - self.first_key + 1
        reply = await self.ask(101, 0, struct.pack("<BBxx", self.first_key, count))
        width = reply[1]
        symbols = struct.unpack_from(f"<{width * count}I", reply, 32)
        return [symbols[start : start + width] for start in range(0, width * count, width)]

    def map_key(self, key: int, symbols: tuple[int, ...]) -> None:
        body = struct.pack(f"<BBxx{len(symbols)}I", key, len(symbols), *symbols)
        self.tell(100, 1, body)

    # -- pictures -----------------------------------------------------------------------------

    async def image(self, x: int, y: int, width: int, height: int) -> bytes:
        """A part of the screen, four bytes for each pixel: blue, green, red and an unused one."""
        body = struct.pack("<IhhHHI", self.root, x, y, width, height, 0xFFFFFFFF)
        return (await self.ask(73, 2, body))[32:]

    async def cursor(self) -> tuple[int, int, int, int, bytes]:
        """The left and top edge of the cursor's picture, its width and height, and its pixels with alpha."""
        reply = await self.ask(self._extensions["XFIXES"], 4, b"")
        x, y, width, height, hot_x, hot_y = struct.unpack_from("<hhHHHH", reply, 8)
        return x - hot_x, y - hot_y, width, height, reply[32 : 32 + width * height * 4]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _gone() -> DesktopRuntimeFailed:
    return DesktopRuntimeFailed("the X server is gone; see the desktop's status")
