"""The clipboard. In X, the program that copied something hands it out itself, so the daemon is such a program."""

from __future__ import annotations

import asyncio
import struct
from typing import NamedTuple

from ..errors import DesktopRuntimeFailed, PayloadTooLarge
from ..schema.desktop import DONE, ClipboardText, DesktopDone, Selection
from .x_connection import XConnection

PROPERTY_NOTIFY, SELECTION_CLEAR, SELECTION_REQUEST, SELECTION_NOTIFY = 28, 29, 30, 31
ATOM = 4
STRING = 31
ANSWER_SECONDS = 2.0
MAX_READ = 4 << 20
NAMES: dict[Selection, str] = {"clipboard": "CLIPBOARD", "primary": "PRIMARY"}


class _Atoms(NamedTuple):
    targets: int
    utf8: int
    text: int
    plain: int
    incr: int
    place: int
    """The property in which we receive."""


class Clipboard:
    """Pass it every event of the connection."""

    def __init__(self, x: XConnection) -> None:
        self._x = x
        self._held: dict[int, bytes] = {}
        """What we hand out, by the atom of the selection."""
        self._reading = asyncio.Lock()
        self._events: asyncio.Queue[int] = asyncio.Queue(maxsize=1000)

    async def begin(self) -> None:
        names = ("TARGETS", "UTF8_STRING", "TEXT", "text/plain;charset=utf-8", "INCR", "SANDBOX_AGENT_TEXT")
        self._atoms = _Atoms(*[await self._x.atom(name) for name in names])
        self._window = self._x.create_window()

    async def write(self, selection: Selection, text: str) -> DesktopDone:
        atom = await self._x.atom(NAMES[selection])
        self._held[atom] = text.encode("utf-8", "replace")
        self._x.own_selection(self._window, atom)
        if await self._x.selection_owner(atom) != self._window:
            raise DesktopRuntimeFailed("another program took the clipboard at the same moment")
        return DONE

    async def read(self, selection: Selection) -> ClipboardText:
        """Empty if there is none, or if its owner offers no text."""
        atom = await self._x.atom(NAMES[selection])
        async with self._reading:
            owner = await self._x.selection_owner(atom)
            if owner == self._window:
                data = self._held.get(atom, b"")
            else:
                data = await self._ask(atom) if owner else b""
        return ClipboardText(selection, data.decode("utf-8", "replace"))

    # -- receiving ------------------------------------------------------------------------------

    async def _ask(self, selection: int) -> bytes:
        for target in (self._atoms.utf8, STRING):
            while not self._events.empty():
                self._events.get_nowait()
            self._x.convert_selection(self._window, selection, target, self._atoms.place)
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    while (kind := await self._events.get()) not in (SELECTION_NOTIFY, 0):
                        pass
                    data = await self._receive() if kind else None
            except TimeoutError:
                raise DesktopRuntimeFailed("the program that copied the text does not provide it") from None
            if data is not None:
                return data if target != STRING else data.decode("latin-1").encode()
        return b""

    async def _receive(self) -> bytes:
        atoms = self._atoms
        found = await self._x.property(self._window, atoms.place, MAX_READ, delete=True)
        if found is None or found.type != atoms.incr:
            return found.data if found is not None else b""
        # A long text comes in pieces: each is there when the property changes, and an empty one is the last.
        data = bytearray()
        while True:
            while await self._events.get() != PROPERTY_NOTIFY:
                pass
            piece = await self._x.property(self._window, atoms.place, MAX_READ, delete=True)
            if piece is None:
                continue
            if not piece.data:
                return bytes(data)
            data += piece.data
            if len(data) > MAX_READ:
                raise PayloadTooLarge(f"the clipboard has more than {MAX_READ} bytes", limit=MAX_READ)

    # -- events ---------------------------------------------------------------------------------

    def handle(self, event: bytes) -> None:
        kind = event[0] & 0x7F
        if kind == SELECTION_REQUEST:
            self._provide(*struct.unpack_from("<6I", event, 4))
        elif kind == SELECTION_CLEAR:
            self._held.pop(struct.unpack_from("<I", event, 12)[0], None)
        elif kind == SELECTION_NOTIFY:
            (given,) = struct.unpack_from("<I", event, 20)
            self._note(SELECTION_NOTIFY if given else 0)
        elif kind == PROPERTY_NOTIFY and event[16] == 0:
            self._note(PROPERTY_NOTIFY)

    def _note(self, kind: int) -> None:
        if not self._events.full():
            self._events.put_nowait(kind)

    def _provide(
        self, time: int, owner: int, requestor: int, selection: int, target: int, property: int
    ) -> None:
        atoms = self._atoms
        property = property or target
        text = self._held.get(selection)
        offered = (atoms.utf8, atoms.plain, atoms.text, STRING)
        if target == atoms.targets and text is not None:
            names = struct.pack("<5I", atoms.targets, *offered)
            self._x.set_property(requestor, property, ATOM, 32, names)
        elif target in offered and text is not None:
            plain = text.decode().encode("latin-1", "replace") if target == STRING else text
            type = atoms.utf8 if target == atoms.text else target
            self._x.set_property(requestor, property, type, 8, plain)
        else:
            property = 0
        notice = struct.pack("<BxHIIIII", SELECTION_NOTIFY, 0, time, requestor, selection, target, property)
        self._x.send_event(requestor, 0, notice)
