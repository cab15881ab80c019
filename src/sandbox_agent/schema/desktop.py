"""The desktop, as clients see it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

DesktopState = Literal["inactive", "install_required", "starting", "active", "stopping", "failed"]
MouseButton = Literal["left", "middle", "right"]
PictureFormat = Literal["png", "jpeg", "webp"]
Selection = Literal["clipboard", "primary"]
RecordingStatus = Literal["recording", "completed", "failed"]

MAX_PIXELS = 4096
"""The largest width and height of a desktop: a picture of it is in memory for a moment."""
MAX_TEXT = 64 << 10
MAX_CLIPBOARD = 1 << 20

DEFAULT_WIDTH, DEFAULT_HEIGHT, DEFAULT_DPI = 1280, 800, 96
"""Small enough for models to take its pictures as they are."""
DEFAULT_FPS = 15

DESKTOP_SERVER = "desktop"
"""The MCP server through which agents use the desktop."""
LOOKING_TOOLS = frozenset({"screenshot", "windows", "wait"})
"""Its tools that change nothing."""


class Resolution(Struct, frozen=True):
    width: int
    height: int
    dpi: int


class DesktopError(Struct, frozen=True):
    code: str
    message: str


class DesktopProcess(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A program of the desktop itself. Its output is in the logs of `processId`."""

    name: str
    running: bool
    process_id: str
    pid: int | None = None


class WindowInfo(Struct, frozen=True, rename="camel"):
    """A window. Its place and size are those of its content, without the frame."""

    id: str
    title: str
    x: int
    y: int
    width: int
    height: int
    is_active: bool


class DesktopStatus(Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    state: DesktopState
    display: Annotated[str | None, Meta(description="The X display, e.g. `:99`.")] = None
    resolution: Resolution | None = None
    started_at: str | None = None
    last_error: Annotated[
        DesktopError | None, Meta(description="Why it cannot start, or why it stopped by itself.")
    ] = None
    missing_dependencies: Annotated[
        tuple[str, ...], Meta(description="Programs that must be installed first.")
    ] = ()
    install_command: Annotated[str | None, Meta(description="Installs what is missing.")] = None
    processes: tuple[DesktopProcess, ...] = ()
    windows: tuple[WindowInfo, ...] = ()


class DisplayInfo(Struct, frozen=True):
    display: str
    resolution: Resolution


class MousePosition(Struct, frozen=True, omit_defaults=True):
    x: int
    y: int
    screen: int
    window: Annotated[str | None, Meta(description="The window below the pointer.")] = None


class DesktopDone(Struct, frozen=True):
    ok: bool


DONE = DesktopDone(True)


class KeyModifiers(Struct, frozen=True):
    alt: bool | None = None
    cmd: bool | None = None
    ctrl: bool | None = None
    shift: bool | None = None


class WindowList(Struct, frozen=True):
    windows: tuple[WindowInfo, ...]


class ClipboardText(Struct, frozen=True):
    selection: Selection
    text: str


class LaunchedApp(Struct, frozen=True, omit_defaults=True, rename="camel"):
    process_id: str
    pid: int | None = None
    window_id: Annotated[str | None, Meta(description="Its first window, with `wait`.")] = None


class OpenedTarget(Struct, frozen=True, omit_defaults=True, rename="camel"):
    process_id: str
    pid: int | None = None


class RecordingInfo(Struct, frozen=True, omit_defaults=True, rename="camel"):
    id: str
    file_name: str
    status: RecordingStatus
    bytes: int
    started_at: str
    ended_at: str | None = None
    process_id: str | None = None


class RecordingList(Struct, frozen=True):
    recordings: tuple[RecordingInfo, ...]


class StreamStatus(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`active`: viewers can connect to `/v1/desktop/stream/rfb`."""

    active: bool
    process_id: str | None = None
    viewers: int = 0
