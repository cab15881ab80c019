"""What the scribe works with: drafts of events, the open turn, what waits for an answer."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ...schema.events import AnyData, PermissionRequested, QuestionRequested, Source, StopReason
from ...schema.inputs import Rule

AskKind = Literal["edit", "command", "read", "other"]


class Frame:
    """The native frame that a wire is translating; every event it causes carries it as `raw`."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes: bytes | None = None


class Draft(Struct, frozen=True, gc=False):
    """An event before the log has given it sequence, id and time."""

    data: AnyData
    source: Source
    native_session_id: str | None
    raw: bytes | None


class Ask(Struct, frozen=True):
    """A permission an agent asks for."""

    action: str
    """The tool's native name."""
    input: Any
    kind: AskKind = "other"
    call: str | None = None
    """The key of the tool call it belongs to, if the agent says."""
    paths: tuple[str, ...] | None = None
    diff: str | None = None
    reason: str | None = None
    needs: tuple[Rule, ...] = ()
    """What must be covered by remembered rules for the answer to be given without asking."""
    always: tuple[Rule, ...] = ()
    """What an "always" remembers; `needs` when empty."""


class Pending(Struct):
    """A permission or a question that waits for its answer, under the adapter's key."""

    id: str
    key: str
    requested: PermissionRequested | QuestionRequested
    ask: Ask | None = None


class Turn(Struct):
    id: str
    began: float
    failed: bool = False
    """An `error` event was written in this turn: one failure is one event."""
    stop_reason: StopReason | None = None
    """Why we ended it ourselves, whatever the agent calls its end."""
