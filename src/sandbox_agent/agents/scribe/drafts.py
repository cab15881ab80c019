"""The scribe's data: drafts of events, the open turn, pending requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from ...schema.events import (
    AnyData,
    PermissionRequested,
    QuestionRequested,
    Source,
    StopReason,
    Usage,
    decode_data,
)
from ...schema.inputs import Rule
from ...schema.items import ToolKind
from ...schema.tools import ToolOutcome, ToolRequest
from ..replacements import Replacement

if TYPE_CHECKING:
    from .scribe import Scribe

encode = msgspec.json.Encoder().encode

AskKind = Literal["edit", "command", "read", "other"]


class Frame:
    """The native frame that a wire is translating, and the scribes that wrote events because of it."""

    __slots__ = ("bytes", "touched")

    def __init__(self) -> None:
        self.bytes: bytes | None = None
        """Every event that the frame causes carries it as `raw`."""
        self.touched: list[Scribe] = []


class Draft(Struct, frozen=True, gc=False):
    """An event before the log assigns its sequence, id and time. Its data is encoded here and nowhere else."""

    type: str
    body: bytes
    source: Source
    native_session_id: str | None
    raw: bytes | None

    @property
    def data(self) -> AnyData:
        return decode_data(self.type, self.body)


def draft_of(data: AnyData, source: Source, native_session_id: str | None, raw: bytes | None) -> Draft:
    return Draft(data.TYPE, encode(data), source, native_session_id, raw)


class Ask(Struct, frozen=True):
    """A permission request of an agent."""

    action: str
    """The tool's native name."""
    input: Any
    kind: AskKind = "other"
    """What is requested, as permission modes see it."""
    call: str | None = None
    """The key of the tool call it belongs to, if the agent says."""
    paths: tuple[str, ...] | None = None
    diff: str | None = None
    reason: str | None = None
    needs: tuple[Rule, ...] = ()
    """Remembered rules must cover all of these to answer without asking."""
    always: tuple[Rule, ...] = ()
    """What an "always" remembers; `needs` if empty."""
    tool_kind: ToolKind | None = None
    """What the tool does; `kind` if the adapter does not set it."""
    title: str = ""
    """A one-line title; the action if empty."""
    command: str | None = None
    """The command line, if the tool runs one in a POSIX shell."""
    hosts: tuple[str, ...] = ()
    """Hosts that the tool contacts, as far as its input says."""
    replacements: tuple[Replacement, ...] = ()
    """What it wants to change, if the agent does not show a diff."""


Requested = PermissionRequested | QuestionRequested | ToolRequest


class Pending(Struct, frozen=True):
    """A permission, a question or a call to a client's tool that waits for its answer, under the asker's key."""

    id: str
    key: str
    requested: Requested
    ask: Ask | None = None
    item_id: str = ""
    """The status item of a call to a client's tool."""


class ToolAsked(Struct, frozen=True):
    """A note for the session: a call to a client's tool waits."""

    request: ToolRequest


class ToolDone(Struct, frozen=True):
    """A note for the session: the call under `key` has its outcome."""

    key: str
    call_id: str | None
    """None if it was never written."""
    outcome: ToolOutcome


Notable = AnyData | ToolAsked | ToolDone


class Waited(Struct, frozen=True):
    """How long a turn has waited for people."""

    seconds: float = 0.0
    """Up to the last answer."""
    since: float | None = None
    """Since when it is waiting now."""


class Turn(Struct):
    id: str
    began: float
    failed: bool = False
    """An `error` event was written in this turn: one failure is one event."""
    stop_reason: StopReason | None = None
    """Why we ended it ourselves, whatever reason the agent gives."""
    spent: Usage | None = None
    """What it has spent so far, if the agent says so while it works; replaced, never changed in place."""
