"""The virtual desktop: start it, look at it, act on it, record it.

Names, paths and shapes are those of the published client `sandbox-agent`. What only WebRTC needs is accepted and has no effect.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import (
    AppNotFound,
    Conflict,
    DesktopInvalidAction,
    DesktopRuntimeFailed,
    DesktopRuntimeInactive,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    SandboxAgentError,
    Unavailable,
    WindowNotFound,
)
from ..runtime.daemon import Daemon
from ..schema.desktop import (
    DEFAULT_DPI,
    DEFAULT_FPS,
    DEFAULT_HEIGHT,
    DEFAULT_WIDTH,
    ClipboardText,
    DesktopDone,
    DesktopStatus,
    DisplayInfo,
    KeyModifiers,
    LaunchedApp,
    MousePosition,
    OpenedTarget,
    PictureFormat,
    RecordingInfo,
    RecordingList,
    StreamStatus,
    WindowInfo,
    WindowList,
)
from .desktop_requests import (
    ButtonAction,
    Click,
    Drag,
    KeyAction,
    LaunchApp,
    MoveMouse,
    MoveWindow,
    OneRecording,
    OneWindow,
    OpenTarget,
    PressKey,
    ReadClipboard,
    RegionScreenshot,
    ResizeWindow,
    Screenshot,
    Scroll,
    SetClipboard,
    StartDesktop,
    StartRecording,
    TypeText,
)
from .operation import Content, Download, OnNode, operation

if TYPE_CHECKING:
    from ..desktop.desktop import Desktop
    from ..desktop.live_view import Viewer

LIVE_VIEW = "/v1/desktop/stream/rfb"
"""A WebSocket that speaks RFB. Not an operation: only a VNC client can use it."""
DEFAULT_QUALITY = 85
DEFAULT_DELAY_MS = 5

Errors = tuple[type[SandboxAgentError], ...]
FAILS: Errors = (PermissionDenied, DesktopRuntimeInactive, DesktopRuntimeFailed)
ACTS: Errors = (DesktopInvalidAction, *FAILS)
STARTS: Errors = (*ACTS, Conflict, Unavailable)


def _desktop(daemon: Daemon) -> Desktop:
    if daemon.config.no_processes:
        raise PermissionDenied("this daemon was started with --no-processes")
    return daemon.desktop


# -- start and stop -------------------------------------------------------------------------------


@operation("GET", "/v1/desktop/status", PermissionDenied, name="desktop.status")
async def status(daemon: Daemon, request: OnNode) -> DesktopStatus:
    """Show the desktop's state: what is missing, what runs, and why it stopped."""
    return await _desktop(daemon).status()


@operation(
    "POST",
    "/v1/desktop/start",
    *STARTS,
    name="desktop.start",
    examples=("sandbox-agent desktop start", "sandbox-agent desktop start --width 1920 --height 1080"),
)
async def start(daemon: Daemon, request: StartDesktop) -> DesktopStatus:
    """Start the desktop. If it is already running, nothing changes."""
    desktop = _desktop(daemon)
    daemon.require_open()
    if request.state_dir is not None and not os.path.isabs(request.state_dir):
        raise DesktopInvalidAction("`stateDir` is not an absolute path", field="stateDir")
    return await desktop.start(
        request.width or DEFAULT_WIDTH,
        request.height or DEFAULT_HEIGHT,
        dpi=request.dpi or DEFAULT_DPI,
        number=request.display_num,
        recording_fps=request.recording_fps or DEFAULT_FPS,
    )


@operation("POST", "/v1/desktop/stop", PermissionDenied, Unavailable, name="desktop.stop", body="none")
async def stop(daemon: Daemon, request: OnNode) -> DesktopStatus:
    """Stop the desktop and every program that was started on it."""
    return await _desktop(daemon).stop()


@operation("GET", "/v1/desktop/display/info", *FAILS, name="desktop.info")
async def info(daemon: Daemon, request: OnNode) -> DisplayInfo:
    """Show the display and its size."""
    display = _desktop(daemon).display
    await display.x.settle()
    return DisplayInfo(display.name, display.resolution)


# -- pictures -------------------------------------------------------------------------------------


@operation(
    "GET",
    "/v1/desktop/screenshot",
    *ACTS,
    name="desktop.screenshot",
    examples=("sandbox-agent desktop screenshot --output screen.png",),
)
async def screenshot(daemon: Daemon, request: Screenshot) -> Content:
    """Take a screenshot of the whole desktop."""
    size = _desktop(daemon).display.resolution
    return await _picture(daemon, (0, 0, size.width, size.height), request)


@operation(
    "GET",
    "/v1/desktop/screenshot/region",
    *ACTS,
    name="desktop.region",
    examples=("sandbox-agent desktop region --x 0 --y 0 --width 200 --height 100 --output corner.png",),
)
async def region(daemon: Daemon, request: RegionScreenshot) -> Content:
    """Take a screenshot of a part of the desktop."""
    size = _desktop(daemon).display.resolution
    if request.x + request.width > size.width:
        raise DesktopInvalidAction(f"the desktop is {size.width} pixels wide", field="width")
    if request.y + request.height > size.height:
        raise DesktopInvalidAction(f"the desktop is {size.height} pixels high", field="height")
    return await _picture(daemon, (request.x, request.y, request.width, request.height), request)


async def _picture(
    daemon: Daemon, place: tuple[int, int, int, int], request: Screenshot | RegionScreenshot
) -> Content:
    format: PictureFormat = request.format or "png"
    picture = await _desktop(daemon).display.pictures.take(
        place,
        format,
        quality=request.quality or DEFAULT_QUALITY,
        scale=request.scale or 1.0,
        cursor=bool(request.show_cursor),
    )
    return Content(picture, f"image/{format}")


# -- mouse ----------------------------------------------------------------------------------------


@operation("GET", "/v1/desktop/mouse/position", *FAILS, name="desktop.mouse")
async def mouse(daemon: Daemon, request: OnNode) -> MousePosition:
    """Show where the mouse is."""
    return await _desktop(daemon).display.mouse.position()


@operation("POST", "/v1/desktop/mouse/move", *ACTS, name="desktop.move")
async def move(daemon: Daemon, request: MoveMouse) -> MousePosition:
    """Move the mouse."""
    return await _desktop(daemon).display.mouse.move(request.x, request.y)


@operation(
    "POST",
    "/v1/desktop/mouse/click",
    *ACTS,
    name="desktop.click",
    examples=("sandbox-agent desktop click --x 640 --y 400",),
)
async def click(daemon: Daemon, request: Click) -> MousePosition:
    """Move the mouse and click."""
    count = request.click_count or 1
    return await _desktop(daemon).display.mouse.click(request.x, request.y, request.button or "left", count)


@operation("POST", "/v1/desktop/mouse/down", *ACTS, name="desktop.mouse_down")
async def mouse_down(daemon: Daemon, request: ButtonAction) -> MousePosition:
    """Press a mouse button and hold it."""
    return await _desktop(daemon).display.mouse.press(request.x, request.y, request.button or "left")


@operation("POST", "/v1/desktop/mouse/up", *ACTS, name="desktop.mouse_up")
async def mouse_up(daemon: Daemon, request: ButtonAction) -> MousePosition:
    """Release a mouse button."""
    return await _desktop(daemon).display.mouse.release(request.x, request.y, request.button or "left")


@operation("POST", "/v1/desktop/mouse/drag", *ACTS, name="desktop.drag")
async def drag(daemon: Daemon, request: Drag) -> MousePosition:
    """Press a button at one place and release it at another."""
    start, end = (request.start_x, request.start_y), (request.end_x, request.end_y)
    return await _desktop(daemon).display.mouse.drag(start, end, request.button or "left")


@operation(
    "POST",
    "/v1/desktop/mouse/scroll",
    *ACTS,
    name="desktop.scroll",
    examples=("sandbox-agent desktop scroll --x 640 --y 400 --delta-y 5",),
)
async def scroll(daemon: Daemon, request: Scroll) -> MousePosition:
    """Move the mouse and turn its wheel."""
    right, down = request.delta_x or 0, request.delta_y or 0
    return await _desktop(daemon).display.mouse.scroll(request.x, request.y, right, down)


# -- keyboard -------------------------------------------------------------------------------------


@operation(
    "POST",
    "/v1/desktop/keyboard/type",
    *ACTS,
    name="desktop.type",
    examples=('sandbox-agent desktop type --text "Grüße, 世界"',),
)
async def type_text(daemon: Daemon, request: TypeText) -> DesktopDone:
    """Type text into the window that has the focus."""
    delay = DEFAULT_DELAY_MS if request.delay_ms is None else request.delay_ms
    return await _desktop(daemon).display.keyboard.type(request.text, delay)


@operation(
    "POST",
    "/v1/desktop/keyboard/press",
    *ACTS,
    name="desktop.press",
    examples=("sandbox-agent desktop press --key Return", "sandbox-agent desktop press --key ctrl+shift+t"),
)
async def press(daemon: Daemon, request: PressKey) -> DesktopDone:
    """Press and release a key, or several together."""
    held = request.modifiers or KeyModifiers()
    modifiers = [name for name in KeyModifiers.__struct_fields__ if getattr(held, name)]
    return await _desktop(daemon).display.keyboard.press(request.key, modifiers)


@operation("POST", "/v1/desktop/keyboard/down", *ACTS, name="desktop.key_down")
async def key_down(daemon: Daemon, request: KeyAction) -> DesktopDone:
    """Press a key and hold it."""
    return await _desktop(daemon).display.keyboard.hold(request.key)


@operation("POST", "/v1/desktop/keyboard/up", *ACTS, name="desktop.key_up")
async def key_up(daemon: Daemon, request: KeyAction) -> DesktopDone:
    """Release a key."""
    return await _desktop(daemon).display.keyboard.release(request.key)


# -- windows --------------------------------------------------------------------------------------


@operation("GET", "/v1/desktop/windows", *FAILS, name="desktop.windows")
async def windows(daemon: Daemon, request: OnNode) -> WindowList:
    """List the visible windows."""
    return WindowList(await _desktop(daemon).display.windows.list())


@operation("GET", "/v1/desktop/windows/focused", *FAILS, WindowNotFound, name="desktop.focused")
async def focused(daemon: Daemon, request: OnNode) -> WindowInfo:
    """Show the window that has the focus."""
    return await _desktop(daemon).display.windows.focused()


@operation(
    "POST",
    "/v1/desktop/windows/{window_id}/focus",
    *FAILS,
    WindowNotFound,
    name="desktop.focus",
    body="none",
)
async def focus(daemon: Daemon, request: OneWindow) -> WindowInfo:
    """Raise a window and give it the focus."""
    return await _desktop(daemon).display.windows.focus(request.window_id)


@operation("POST", "/v1/desktop/windows/{window_id}/move", *ACTS, WindowNotFound, name="desktop.move_window")
async def move_window(daemon: Daemon, request: MoveWindow) -> WindowInfo:
    """Move a window."""
    return await _desktop(daemon).display.windows.move(request.window_id, request.x, request.y)


@operation(
    "POST", "/v1/desktop/windows/{window_id}/resize", *ACTS, WindowNotFound, name="desktop.resize_window"
)
async def resize_window(daemon: Daemon, request: ResizeWindow) -> WindowInfo:
    """Resize a window."""
    return await _desktop(daemon).display.windows.resize(request.window_id, request.width, request.height)


# -- clipboard ------------------------------------------------------------------------------------


@operation("GET", "/v1/desktop/clipboard", *ACTS, PayloadTooLarge, name="desktop.clipboard")
async def clipboard(daemon: Daemon, request: ReadClipboard) -> ClipboardText:
    """Read the clipboard's text."""
    return await _desktop(daemon).display.clipboard.read(request.selection or "clipboard")


@operation(
    "POST",
    "/v1/desktop/clipboard",
    *ACTS,
    name="desktop.set_clipboard",
    examples=('sandbox-agent desktop set-clipboard --text "copied"',),
)
async def set_clipboard(daemon: Daemon, request: SetClipboard) -> DesktopDone:
    """Copy text to the clipboard."""
    return await _desktop(daemon).display.clipboard.write(request.selection or "clipboard", request.text)


# -- programs -------------------------------------------------------------------------------------


@operation(
    "POST",
    "/v1/desktop/launch",
    *STARTS,
    AppNotFound,
    name="desktop.launch",
    examples=("sandbox-agent desktop launch --app chromium --args=--no-sandbox --args https://example.com",),
)
async def launch(daemon: Daemon, request: LaunchApp) -> LaunchedApp:
    """Start a program on the desktop. It runs as a process with the owner `desktop`, and ends with the desktop."""
    desktop = _desktop(daemon)
    daemon.require_open()
    return await desktop.launch(request.app, request.args or (), wait=bool(request.wait))


@operation("POST", "/v1/desktop/open", *STARTS, name="desktop.open")
async def open_target(daemon: Daemon, request: OpenTarget) -> OpenedTarget:
    """Open a file or a URL with the machine's default program for it."""
    desktop = _desktop(daemon)
    daemon.require_open()
    return await desktop.open(request.target)


# -- recordings -----------------------------------------------------------------------------------


@operation("POST", "/v1/desktop/recording/start", *STARTS, name="desktop.record")
async def record(daemon: Daemon, request: StartRecording) -> RecordingInfo:
    """Start recording the desktop. There is at most one recording at a time."""
    desktop = _desktop(daemon)
    daemon.require_open()
    running = desktop.running
    return await desktop.recordings.start(running.display, request.fps or running.recording_fps)


@operation(
    "POST",
    "/v1/desktop/recording/stop",
    PermissionDenied,
    Conflict,
    Unavailable,
    name="desktop.stop_recording",
    body="none",
)
async def stop_recording(daemon: Daemon, request: OnNode) -> RecordingInfo:
    """Finish the recording."""
    return await _desktop(daemon).recordings.stop()


@operation("GET", "/v1/desktop/recordings", PermissionDenied, name="desktop.recordings")
async def recordings(daemon: Daemon, request: OnNode) -> RecordingList:
    """List the recordings, oldest first."""
    return RecordingList(await _desktop(daemon).recordings.list())


@operation(
    "GET", "/v1/desktop/recordings/{recording_id}", PermissionDenied, NotFound, name="desktop.recording"
)
async def recording(daemon: Daemon, request: OneRecording) -> RecordingInfo:
    """Show a recording."""
    return await _desktop(daemon).recordings.get(request.recording_id)


@operation(
    "GET",
    "/v1/desktop/recordings/{recording_id}/download",
    PermissionDenied,
    NotFound,
    Conflict,
    name="desktop.download_recording",
    examples=("sandbox-agent desktop download-recording rec_1 --output demo.mp4",),
)
async def download_recording(daemon: Daemon, request: OneRecording) -> Download:
    """Download a finished recording (MP4)."""
    id = request.recording_id
    size, pieces = await _desktop(daemon).recordings.open(id)
    return Download("video/mp4", f"{id}.mp4", pieces, size)


@operation(
    "DELETE",
    "/v1/desktop/recordings/{recording_id}",
    PermissionDenied,
    NotFound,
    Conflict,
    Unavailable,
    name="desktop.delete_recording",
)
async def delete_recording(daemon: Daemon, request: OneRecording) -> None:
    """Delete a finished recording."""
    await _desktop(daemon).recordings.delete(request.recording_id)


# -- live view ------------------------------------------------------------------------------------


@operation("GET", "/v1/desktop/stream/status", PermissionDenied, name="desktop.stream")
async def stream(daemon: Daemon, request: OnNode) -> StreamStatus:
    """Show whether the live view is on, and how many viewers it has."""
    return _desktop(daemon).view.status


@operation(
    "POST",
    "/v1/desktop/stream/start",
    *FAILS,
    Conflict,
    Unavailable,
    name="desktop.start_stream",
    body="none",
)
async def start_stream(daemon: Daemon, request: OnNode) -> StreamStatus:
    """Turn the live view on: viewers connect to the WebSocket `/v1/desktop/stream/rfb`, which speaks RFB (VNC)."""
    desktop = _desktop(daemon)
    daemon.require_open()
    return await desktop.view.start(desktop.display)


@operation("POST", "/v1/desktop/stream/stop", PermissionDenied, name="desktop.stop_stream", body="none")
async def stop_stream(daemon: Daemon, request: OnNode) -> StreamStatus:
    """Turn the live view off. Viewers are disconnected."""
    return await _desktop(daemon).view.stop()


def live_view(daemon: Daemon) -> Viewer:
    """A connection to the live view, which must be on."""
    return _desktop(daemon).view.viewer()
