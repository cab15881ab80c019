"""The windows of the desktop, as its window manager lists them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable

from ..errors import WindowNotFound
from ..schema.desktop import WindowInfo
from .x_connection import XConnection, XError

MAX_WINDOWS = 1000
MAX_TITLE = 4096
FROM_PAGER = 2
STATIC_GRAVITY = 10
"""The place of the content counts, whatever frame the window manager draws."""
SETTLE_SECONDS = 1.0
"""How long to wait for the window manager, which may also refuse a change: the answer describes the actual state."""
POLL_SECONDS = 0.01

Place = tuple[int, int, int, int]


class Windows:
    def __init__(self, x: XConnection) -> None:
        self._x = x

    async def list(self) -> tuple[WindowInfo, ...]:
        active = await self._active()
        found = []
        for window in await self._clients():
            try:
                if await self._x.is_viewable(window):
                    found.append(await self._info(window, active))
            except XError:
                continue  # it was closed in the meantime
        return tuple(found)

    async def focused(self) -> WindowInfo:
        active = await self._active()
        if active:
            try:
                return await self._info(active, active)
            except XError:
                pass
        raise WindowNotFound("no window has the focus")

    async def focus(self, id: str) -> WindowInfo:
        window = await self._find(id)
        await self._request(window, "_NET_ACTIVE_WINDOW", FROM_PAGER)

        async def is_active() -> bool:
            return await self._active() == window

        await _wait_for(is_active)
        return await self._show(window)

    async def move(self, id: str, x: int, y: int) -> WindowInfo:
        window = await self._find(id)
        _, _, width, height = await self._place(window)
        return await self._put(window, (x, y, width, height), 0x300)

    async def resize(self, id: str, width: int, height: int) -> WindowInfo:
        window = await self._find(id)
        x, y, _, _ = await self._place(window)
        return await self._put(window, (x, y, width, height), 0xC00)

    async def pid(self, window: int) -> int | None:
        """The process that says it owns the window."""
        found = await self._numbers(window, "_NET_WM_PID")
        return found[0] if found else None

    async def owner_of(self, top: int) -> int | None:
        """The window that is drawn in a direct child of the screen, which mostly is a frame."""
        if not top:
            return None
        for window in await self._clients():
            try:
                at = window
                while at not in (top, self._x.root, 0):
                    at = await self._x.parent(at)
            except XError:
                continue
            if at == top:
                return window
        return None

    # -- how it is done -------------------------------------------------------------------------

    async def _put(self, window: int, wanted: Place, which: int) -> WindowInfo:
        before = await self._place(window)
        flags = STATIC_GRAVITY | which | FROM_PAGER << 12
        await self._request(window, "_NET_MOVERESIZE_WINDOW", flags, *wanted)

        async def has_changed() -> bool:
            # Sizes snap to the steps of some windows: any change is an answer.
            return before == wanted or await self._place(window) != before

        await _wait_for(has_changed)
        return await self._show(window)

    async def _request(self, window: int, name: str, *values: int) -> None:
        event = struct.pack("<BBHII", 33, 32, 0, window, await self._x.atom(name))
        self._x.send_event(self._x.root, 0x180000, event + struct.pack(f"<{len(values)}i", *values))
        await self._x.settle()

    async def _find(self, id: str) -> int:
        if id.isdecimal() and len(id) <= 10 and (window := int(id)) in await self._clients():
            return window
        raise _unknown(id)

    async def _place(self, window: int) -> Place:
        try:
            return await self._x.geometry(window)
        except XError:
            raise _unknown(str(window)) from None

    async def _show(self, window: int) -> WindowInfo:
        try:
            return await self._info(window, await self._active())
        except XError:
            raise _unknown(str(window)) from None

    async def _info(self, window: int, active: int) -> WindowInfo:
        x, y, width, height = await self._x.geometry(window)
        return WindowInfo(str(window), await self._title(window), x, y, width, height, window == active)

    async def _title(self, window: int) -> str:
        for name, encoding in (("_NET_WM_NAME", "utf-8"), ("WM_NAME", "latin-1")):
            found = await self._x.property(window, await self._x.atom(name), MAX_TITLE)
            if found is not None:
                return found.data.decode(encoding, "replace").rstrip("\0")
        return ""

    async def _clients(self) -> tuple[int, ...]:
        return (await self._numbers(self._x.root, "_NET_CLIENT_LIST"))[:MAX_WINDOWS]

    async def _active(self) -> int:
        found = await self._numbers(self._x.root, "_NET_ACTIVE_WINDOW")
        return found[0] if found else 0

    async def _numbers(self, window: int, name: str) -> tuple[int, ...]:
        try:
            found = await self._x.property(window, await self._x.atom(name), 4 * MAX_WINDOWS)
        except XError:
            return ()
        return found.numbers if found is not None else ()


async def _wait_for(condition: Callable[[], Awaitable[bool]]) -> None:
    until = asyncio.get_running_loop().time() + SETTLE_SECONDS
    while not await condition() and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(POLL_SECONDS)


def _unknown(id: str) -> WindowNotFound:
    return WindowNotFound(f"no window {id[:40]}", id=id[:40], resource="window")
