"""What agents do with the desktop: tools that look at it and act on it.

Models take small pictures, so a large screen is scaled down for them, and the coordinates they name are scaled back.
"""

from __future__ import annotations

import asyncio
import math
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ..errors import SandboxAgentError
from ..schema.desktop import LOOKING_TOOLS, MAX_TEXT, MouseButton
from ..schema.tools import ToolImage, ToolOutcome
from .desktop import Desktop
from .display import Display

LONGEST_SIDE = 1568
MAX_AREA = 1_150_000
"""Providers scale larger pictures down themselves, and then coordinates no longer match."""
MAX_PNG_BYTES = 3 << 20
MAX_WAIT = 30.0

Across = Annotated[float, Meta(ge=0, description="Pixels from the left edge of the screenshot.")]
Down = Annotated[float, Meta(ge=0, description="Pixels from the top edge of the screenshot.")]


class Screenshot(Struct, frozen=True):
    """Take a picture of the desktop. The coordinates of all other tools refer to this picture."""


class Click(Struct, frozen=True):
    """Click at a place of the latest screenshot."""

    x: Across
    y: Down
    button: Annotated[MouseButton, Meta(description="Mouse button.")] = "left"
    count: Annotated[int, Meta(ge=1, le=3, description="2 is a double click.")] = 1


class Type(Struct, frozen=True):
    """Type a text into the window that has the focus. A line feed presses Return."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT, description="The text, in any script.")]


class Key(Struct, frozen=True):
    """Press a key or a combination of keys."""

    key: Annotated[
        str, Meta(min_length=1, max_length=200, description="E.g. `Return`, `Escape`, `F5`, `ctrl+s`.")
    ]


class Scroll(Struct, frozen=True):
    """Turn the mouse wheel at a place of the latest screenshot."""

    x: Across
    y: Down
    direction: Annotated[Literal["up", "down", "left", "right"], Meta(description="Where to scroll.")] = (
        "down"
    )
    steps: Annotated[int, Meta(ge=1, le=100, description="Steps of the wheel.")] = 3


class Drag(Struct, frozen=True):
    """Press the left mouse button at one place, move to another, and release it there."""

    from_x: Across
    from_y: Down
    to_x: Across
    to_y: Down


class ListWindows(Struct, frozen=True):
    """List the windows of the desktop, with their titles and places in the screenshot."""


class Launch(Struct, frozen=True):
    """Start a program on the desktop and wait for its window."""

    app: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="The program: a path, or a name to find on PATH."),
    ]
    args: Annotated[tuple[str, ...], Meta(max_length=1000, description="Its arguments.")] = ()


class Wait(Struct, frozen=True):
    """Wait, e.g. until a page has loaded."""

    seconds: Annotated[float, Meta(ge=0, le=MAX_WAIT, description="How long.")] = 1.0


Call = Screenshot | Click | Type | Key | Scroll | Drag | ListWindows | Launch | Wait

TOOLS: dict[str, type[Call]] = {
    "screenshot": Screenshot,
    "click": Click,
    "type": Type,
    "key": Key,
    "scroll": Scroll,
    "drag": Drag,
    "windows": ListWindows,
    "launch": Launch,
    "wait": Wait,
}


def described() -> list[dict[str, Any]]:
    """The tools as MCP lists them."""
    return [
        {
            "name": name,
            "description": kind.__doc__,
            "inputSchema": _schema(kind),
            "annotations": {"readOnlyHint": name in LOOKING_TOOLS, "openWorldHint": False},
        }
        for name, kind in TOOLS.items()
    ]


def _schema(kind: type[Call]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([kind])
    schema = components[kind.__name__]
    return {"type": "object", "properties": schema["properties"], "required": schema["required"]}


class Scaling(NamedTuple):
    """How a screen becomes a picture, and places in the picture become places on the screen."""

    width: int
    height: int
    factor: float

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """A place outside of the picture stays outside, so that the model learns of its mistake."""
        return round(x / self.factor), round(y / self.factor)

    def to_picture(self, length: int) -> int:
        return round(length * self.factor)


def scaling(width: int, height: int) -> Scaling:
    return Scaling(
        width, height, min(1.0, LONGEST_SIDE / max(width, height), math.sqrt(MAX_AREA / (width * height)))
    )


class DesktopTools:
    """The tools of one agent's process. The first call starts the desktop if necessary. Call `leave` when the process ends."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._launched: set[str] = set()
        self._has_left = False
        desktop.enter()

    async def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            await self._desktop.leave(self._launched)

    async def call(self, name: str, arguments: object) -> ToolOutcome:
        """What the tool returned, or in words for the model why it failed."""
        kind = TOOLS.get(name)
        if kind is None:
            return ToolOutcome(f"there is no tool `{name[:100]}`", failed=True)
        try:
            call = msgspec.convert(arguments, kind)
            return await self._act(await self._desktop.shown(), call)
        except msgspec.ValidationError as error:
            return ToolOutcome(f"the arguments are wrong: {error}", failed=True)
        except SandboxAgentError as error:
            return ToolOutcome(error.detail, failed=True)

    async def _act(self, display: Display, call: Call) -> ToolOutcome:
        view = scaling(display.resolution.width, display.resolution.height)
        match call:
            case Screenshot():
                return await _picture(display, view)
            case Click(x, y, button, count):
                await display.mouse.click(*view.to_screen(x, y), button, count)
            case Type(text):
                await display.keyboard.type(text, 5)
            case Key(key):
                await display.keyboard.press(key, [])
            case Scroll(x, y, direction, steps):
                right = {"right": steps, "left": -steps}.get(direction, 0)
                down = {"down": steps, "up": -steps}.get(direction, 0)
                await display.mouse.scroll(*view.to_screen(x, y), right, down)
            case Drag(from_x, from_y, to_x, to_y):
                await display.mouse.drag(view.to_screen(from_x, from_y), view.to_screen(to_x, to_y), "left")
            case ListWindows():
                return ToolOutcome(await _windows(display, view))
            case Launch(app, args):
                launched = await self._desktop.launch(app, args, wait=True, on_start=self._launched.add)
                shown = "its window is open" if launched.window_id else "it has shown no window yet"
                return ToolOutcome(f"started as {launched.process_id}; {shown}")
            case Wait(seconds):
                await asyncio.sleep(seconds)
        return ToolOutcome("done")


async def _picture(display: Display, view: Scaling) -> ToolOutcome:
    place = (0, 0, view.width, view.height)
    mime = "image/png"
    picture = await display.pictures.take(place, scale=view.factor, cursor=True)
    if len(picture) > MAX_PNG_BYTES:
        mime = "image/jpeg"
        picture = await display.pictures.take(place, "jpeg", scale=view.factor, cursor=True)
    size = f"{view.to_picture(view.width)}x{view.to_picture(view.height)}"
    return ToolOutcome(f"The desktop, {size} pixels.", images=(ToolImage.of(picture, mime),))


async def _windows(display: Display, view: Scaling) -> str:
    found = await display.windows.list()
    lines = []
    for window in found:
        x, y, width, height = map(view.to_picture, (window.x, window.y, window.width, window.height))
        focus = " (has the focus)" if window.is_active else ""
        lines.append(f"{window.title!r}: {width}x{height} at {x}, {y}{focus}")
    return "\n".join(lines) or "there are no windows"
