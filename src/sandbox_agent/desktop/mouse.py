"""The pointer: where it is, and acting with its buttons and wheel."""

from __future__ import annotations

import asyncio

from ..errors import DesktopInvalidAction
from ..schema.desktop import MouseButton, MousePosition
from .windows import Windows
from .x_connection import XConnection

PRESS, RELEASE, MOTION = 4, 5, 6
BUTTONS: dict[MouseButton, int] = {"left": 1, "middle": 2, "right": 3}
FIRST_BUTTON = 1 << 8
"""In the mask of what is held; the bits of the other buttons follow."""
WHEEL_UP, WHEEL_DOWN, WHEEL_LEFT, WHEEL_RIGHT = 4, 5, 6, 7
DRAG_STEPS = 20
DRAG_SECONDS = 0.2
"""Programs take a press and a distant release for a click: a drag needs moves in between."""
CLICK_SECONDS = 0.03
RELEASE_SECONDS = 2.0
"""The longest wait for the display to take a release."""


class Mouse:
    def __init__(self, x: XConnection, windows: Windows) -> None:
        self._x = x
        self._windows = windows
        self._acting = asyncio.Lock()
        """There is one pointer: a move of another client would turn a click into a drag."""

    async def position(self) -> MousePosition:
        x, y, child, _ = await self._x.pointer()
        window = await self._windows.owner_of(child)
        return MousePosition(x, y, 0, str(window) if window else None)

    async def move(self, x: int, y: int) -> MousePosition:
        async with self._acting:
            self._move(x, y)
            return await self._done()

    async def click(self, x: int, y: int, button: MouseButton, count: int) -> MousePosition:
        async with self._acting:
            self._move(x, y)
            number = BUTTONS[button]
            for _ in range(count):
                await self._click(number)
            return await self._done()

    async def _click(self, number: int) -> None:
        self._x.fake(PRESS, number)
        try:
            await asyncio.sleep(CLICK_SECONDS)
        finally:
            self._x.fake(RELEASE, number)
        await asyncio.sleep(CLICK_SECONDS)
        await self._until_released(number)

    async def _until_released(self, number: int) -> None:
        """A window manager holds the pointer back while it looks at a press: another press before that would be lost."""
        deadline = asyncio.get_running_loop().time() + RELEASE_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            *_, held = await self._x.pointer()
            if not held & FIRST_BUTTON << (number - 1):
                return
            await asyncio.sleep(CLICK_SECONDS)

    async def press(self, x: int | None, y: int | None, button: MouseButton) -> MousePosition:
        async with self._acting:
            self._move_if_given(x, y)
            self._x.fake(PRESS, BUTTONS[button])
            return await self._done()

    async def release(self, x: int | None, y: int | None, button: MouseButton) -> MousePosition:
        async with self._acting:
            self._move_if_given(x, y)
            self._x.fake(RELEASE, BUTTONS[button])
            return await self._done()

    async def drag(self, start: tuple[int, int], end: tuple[int, int], button: MouseButton) -> MousePosition:
        self._check(*end)
        async with self._acting:
            self._move(*start)
            number = BUTTONS[button]
            self._x.fake(PRESS, number)
            try:
                for step in range(1, DRAG_STEPS + 1):
                    await asyncio.sleep(DRAG_SECONDS / DRAG_STEPS)
                    x, y = (a + (b - a) * step // DRAG_STEPS for a, b in zip(start, end, strict=True))
                    self._move(x, y)
            finally:
                self._x.fake(RELEASE, number)
            return await self._done()

    async def scroll(self, x: int, y: int, right: int, down: int) -> MousePosition:
        turns = [
            (WHEEL_DOWN if down > 0 else WHEEL_UP, down),
            (WHEEL_RIGHT if right > 0 else WHEEL_LEFT, right),
        ]
        async with self._acting:
            self._move(x, y)
            for number, steps in turns:
                for _ in range(abs(steps)):
                    self._x.fake(PRESS, number)
                    self._x.fake(RELEASE, number)
            return await self._done()

    def _move_if_given(self, x: int | None, y: int | None) -> None:
        if (x is None) != (y is None):
            raise DesktopInvalidAction("give both `x` and `y`, or neither", field="y" if y is None else "x")
        if x is not None and y is not None:
            self._move(x, y)

    def _move(self, x: int, y: int) -> None:
        self._check(x, y)
        self._x.fake(MOTION, 0, x, y)

    def _check(self, x: int, y: int) -> None:
        width, height = self._x.width, self._x.height
        if x >= width or y >= height:
            text = f"{x}, {y} is outside the desktop, which has {width}x{height} pixels"
            raise DesktopInvalidAction(text, field="x" if x >= width else "y")

    async def _done(self) -> MousePosition:
        await self._x.settle()
        return await self.position()
