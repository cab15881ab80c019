"""The requests of the desktop's operations."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ..schema.desktop import (
    MAX_CLIPBOARD,
    MAX_PIXELS,
    MAX_TEXT,
    KeyModifiers,
    MouseButton,
    PictureFormat,
    Selection,
)
from .operation import OnNode

Side = Annotated[int, Meta(ge=64, le=MAX_PIXELS)]
Fps = Annotated[int, Meta(ge=1, le=60)]
X = Annotated[int, Meta(ge=0, le=MAX_PIXELS, description="Pixels from the left edge.")]
Y = Annotated[int, Meta(ge=0, le=MAX_PIXELS, description="Pixels from the top edge.")]
MaybeX = Annotated[Annotated[int, Meta(ge=0, le=MAX_PIXELS)] | None, Meta(description="Where to move first.")]
MaybeY = MaybeX
Button = Annotated[MouseButton | None, Meta(description="Mouse button (default: left).")]
Steps = Annotated[Annotated[int, Meta(ge=-1000, le=1000)] | None, Meta(description="Steps of the wheel.")]
Key = Annotated[
    str,
    Meta(min_length=1, max_length=200, description="A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`."),
]
WindowId = Annotated[str, Meta(description="Id of the window.")]
RecordingId = Annotated[str, Meta(description="Id of the recording, e.g. `rec_1`.")]
Format = Annotated[PictureFormat | None, Meta(description="Format of the picture (default: png).")]
Quality = Annotated[
    Annotated[int, Meta(ge=1, le=100)] | None, Meta(description="Quality of jpeg and webp (default 85).")
]
Scale = Annotated[
    Annotated[float, Meta(ge=0.1, le=1.0)] | None, Meta(description="Size of the picture (default 1).")
]
ShowCursor = Annotated[bool | None, Meta(description="Draw the mouse cursor.")]
Coordinate = Annotated[int, Meta(ge=-MAX_PIXELS, le=MAX_PIXELS)]


class StartDesktop(OnNode, frozen=True, rename="camel"):
    width: Annotated[Side | None, Meta(description="Width in pixels (default 1280).")] = None
    height: Annotated[Side | None, Meta(description="Height in pixels (default 800).")] = None
    dpi: Annotated[
        Annotated[int, Meta(ge=24, le=960)] | None, Meta(description="Dots per inch (default 96).")
    ] = None
    display_num: Annotated[
        Annotated[int, Meta(ge=0, le=59_535)] | None,
        Meta(description="Display number (default: a free one)."),
    ] = None
    recording_fps: Annotated[
        Fps | None,
        Meta(description="Frames per second of recordings that do not set their own (default 15)."),
    ] = None
    state_dir: Annotated[
        Annotated[str, Meta(max_length=4096)] | None,
        Meta(description="Has no effect: files are in the data directory."),
    ] = None
    stream_frame_rate: Annotated[
        Annotated[int, Meta(ge=1, le=240)] | None, Meta(description="Has no effect: it is for WebRTC.")
    ] = None
    stream_video_codec: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="Has no effect: it is for WebRTC.")
    ] = None
    stream_audio_codec: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="Has no effect: it is for WebRTC.")
    ] = None
    webrtc_port_range: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="Has no effect: it is for WebRTC.")
    ] = None


class Screenshot(OnNode, frozen=True, rename="camel"):
    format: Format = None
    quality: Quality = None
    scale: Scale = None
    show_cursor: ShowCursor = None


class RegionScreenshot(OnNode, frozen=True, rename="camel"):
    x: X
    y: Y
    width: Annotated[int, Meta(ge=1, le=MAX_PIXELS, description="Width in pixels.")]
    height: Annotated[int, Meta(ge=1, le=MAX_PIXELS, description="Height in pixels.")]
    format: Format = None
    quality: Quality = None
    scale: Scale = None
    show_cursor: ShowCursor = None


class MoveMouse(OnNode, frozen=True):
    x: X
    y: Y


class Click(OnNode, frozen=True, rename="camel"):
    x: X
    y: Y
    button: Button = None
    click_count: Annotated[
        Annotated[int, Meta(ge=1, le=10)] | None, Meta(description="2 is a double click (default 1).")
    ] = None


class ButtonAction(OnNode, frozen=True):
    x: MaybeX = None
    y: MaybeY = None
    button: Button = None


class Drag(OnNode, frozen=True, rename="camel"):
    start_x: X
    start_y: Y
    end_x: X
    end_y: Y
    button: Button = None


class Scroll(OnNode, frozen=True, rename="camel"):
    x: X
    y: Y
    delta_x: Annotated[Steps, Meta(description="Steps to the right; negative to the left.")] = None
    delta_y: Annotated[Steps, Meta(description="Steps down; negative up.")] = None


class TypeText(OnNode, frozen=True, rename="camel"):
    text: Annotated[
        str,
        Meta(min_length=1, max_length=MAX_TEXT, description="Text in any script; a line feed is Return."),
    ]
    delay_ms: Annotated[
        Annotated[int, Meta(ge=0, le=1000)] | None,
        Meta(description="Milliseconds between two characters (default 5)."),
    ] = None


class PressKey(OnNode, frozen=True):
    key: Key
    modifiers: Annotated[KeyModifiers | None, Meta(description="Modifier keys to hold.")] = None


class KeyAction(OnNode, frozen=True):
    key: Key


class OneWindow(OnNode, frozen=True, rename="camel"):
    window_id: WindowId


class MoveWindow(OnNode, frozen=True, rename="camel"):
    window_id: WindowId
    x: Annotated[Coordinate, Meta(description="Left edge of its content.")]
    y: Annotated[Coordinate, Meta(description="Top edge of its content.")]


class ResizeWindow(OnNode, frozen=True, rename="camel"):
    window_id: WindowId
    width: Annotated[int, Meta(ge=1, le=MAX_PIXELS, description="Width of its content.")]
    height: Annotated[int, Meta(ge=1, le=MAX_PIXELS, description="Height of its content.")]


class ReadClipboard(OnNode, frozen=True):
    selection: Annotated[
        Selection | None, Meta(description="`clipboard` (default), or `primary`: the current selection.")
    ] = None


class SetClipboard(OnNode, frozen=True):
    text: Annotated[str, Meta(max_length=MAX_CLIPBOARD, description="Text to copy.")]
    selection: Annotated[Selection | None, Meta(description="`clipboard` (default) or `primary`.")] = None


class LaunchApp(OnNode, frozen=True):
    app: Annotated[
        str,
        Meta(min_length=1, max_length=4096, description="Program: a path, or a name to find on PATH."),
    ]
    args: Annotated[
        Annotated[tuple[str, ...], Meta(max_length=1000)] | None, Meta(description="Its arguments.")
    ] = None
    wait: Annotated[bool | None, Meta(description="Wait for its first window.")] = None


class OpenTarget(OnNode, frozen=True):
    target: Annotated[
        str, Meta(min_length=1, max_length=8192, description="Absolute path of a file, or a URL.")
    ]


class StartRecording(OnNode, frozen=True):
    fps: Annotated[Fps | None, Meta(description="Frames per second.")] = None


class OneRecording(OnNode, frozen=True, rename="camel"):
    recording_id: RecordingId
