"""The events of an OpenCode server, each decoded in one pass.

`/global/event` wraps every event and adds its directory; other streams send them bare. Only what we read is
declared.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from .messages import AnyMessage, AnyPart, NativeError, Session, decode_part, lenient


class SessionEvent(Struct, frozen=True):
    sessionID: str = ""


class SessionCreated(SessionEvent, frozen=True):
    info: Session = Session("")


class SessionUpdated(SessionEvent, frozen=True):
    info: Session = Session("")


class SessionDeleted(SessionEvent, frozen=True):
    info: Session = Session("")


class Status(Struct, frozen=True):
    type: str
    attempt: int = 0
    message: str = ""
    next: int | float | None = None
    action: Any = None


class SessionStatus(SessionEvent, frozen=True, kw_only=True):
    status: Status


class SessionIdle(SessionEvent, frozen=True):
    pass


class SessionCompacted(SessionEvent, frozen=True):
    pass


class SessionError(SessionEvent, frozen=True):
    error: NativeError | None = None


class MessageUpdated(SessionEvent, frozen=True, kw_only=True):
    info: AnyMessage


class MessageRemoved(SessionEvent, frozen=True, kw_only=True):
    messageID: str


class PartUpdated(SessionEvent, frozen=True, kw_only=True):
    part: AnyPart


class UnknownPart(SessionEvent, frozen=True, kw_only=True):
    """A part of an unknown type, unchanged."""

    part: Any


class PartRemoved(SessionEvent, frozen=True, kw_only=True):
    partID: str


class PartDelta(SessionEvent, frozen=True, kw_only=True):
    messageID: str
    partID: str
    field: str = "text"
    delta: str = ""


class CallRef(Struct, frozen=True):
    messageID: str
    callID: str


class PermissionAsked(SessionEvent, frozen=True, kw_only=True):
    id: str
    permission: str
    patterns: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    metadata: Raw = Raw(b"{}")
    tool: CallRef | None = None


class PermissionReplied(SessionEvent, frozen=True, kw_only=True):
    requestID: str
    reply: Literal["once", "always", "reject"]


class Option(Struct, frozen=True):
    label: str
    description: str = ""


class Question(Struct, frozen=True):
    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False


class QuestionAsked(SessionEvent, frozen=True, kw_only=True):
    id: str
    questions: tuple[Question, ...] = ()
    tool: CallRef | None = None


class QuestionReplied(SessionEvent, frozen=True, kw_only=True):
    requestID: str
    answers: tuple[tuple[str, ...], ...] = ()


class QuestionRejected(SessionEvent, frozen=True, kw_only=True):
    requestID: str


class TodoUpdated(SessionEvent, frozen=True):
    todos: Any = ()  # shown unchanged


class InstanceDisposed(SessionEvent, frozen=True):
    """The server has discarded its setup for a directory."""

    directory: str | None = None


class GlobalDisposed(SessionEvent, frozen=True):
    """The same, for all directories."""


AnyEvent = (
    SessionCreated
    | SessionUpdated
    | SessionDeleted
    | SessionStatus
    | SessionIdle
    | SessionCompacted
    | SessionError
    | MessageUpdated
    | MessageRemoved
    | PartUpdated
    | UnknownPart
    | PartRemoved
    | PartDelta
    | PermissionAsked
    | PermissionReplied
    | QuestionAsked
    | QuestionReplied
    | QuestionRejected
    | TodoUpdated
    | InstanceDisposed
    | GlobalDisposed
)

EVENTS: dict[str, type[AnyEvent]] = {
    "session.created": SessionCreated,
    "session.updated": SessionUpdated,
    "session.deleted": SessionDeleted,
    "session.status": SessionStatus,
    "session.idle": SessionIdle,
    "session.compacted": SessionCompacted,
    "session.error": SessionError,
    "message.updated": MessageUpdated,
    "message.removed": MessageRemoved,
    "message.part.updated": PartUpdated,
    "message.part.removed": PartRemoved,
    "message.part.delta": PartDelta,
    "permission.asked": PermissionAsked,
    "permission.replied": PermissionReplied,
    "question.asked": QuestionAsked,
    "question.replied": QuestionReplied,
    "question.rejected": QuestionRejected,
    "todo.updated": TodoUpdated,
    "server.instance.disposed": InstanceDisposed,
    "global.disposed": GlobalDisposed,
}

IGNORED = frozenset(
    {
        # About the server and its surroundings.
        "server.connected",
        "server.heartbeat",
        "sync",  # /global/event repeats everything under this type
        "plugin.added",
        "catalog.updated",
        "models-dev.refreshed",
        "integration.updated",
        "integration.connection.updated",
        "reference.updated",
        "installation.updated",
        "installation.update-available",
        "project.updated",
        "project.directories.updated",
        "workspace.ready",
        "workspace.failed",
        "workspace.status",
        "worktree.ready",
        "worktree.failed",
        "vcs.branch.updated",
        "file.edited",
        "file.watcher.updated",
        "lsp.updated",
        "lsp.client.diagnostics",
        "mcp.tools.changed",
        "mcp.browser.open.failed",
        "pty.created",
        "pty.updated",
        "pty.exited",
        "pty.deleted",
        "tui.prompt.append",
        "tui.command.execute",
        "tui.toast.show",
        "tui.session.select",
        # Other events carry the same with more detail.
        "session.diff",
        "command.executed",
        # The second API, which repeats the first or serves conversations that are not ours.
        "permission.v2.asked",
        "permission.v2.replied",
        "question.v2.asked",
        "question.v2.replied",
        "question.v2.rejected",
        "session.next.agent.switched",
        "session.next.model.switched",
        "session.next.moved",
        "session.next.prompted",
        "session.next.prompt.admitted",
        "session.next.context.updated",
        "session.next.synthetic",
        "session.next.shell.started",
        "session.next.shell.ended",
        "session.next.step.started",
        "session.next.step.ended",
        "session.next.step.failed",
        "session.next.text.started",
        "session.next.text.delta",
        "session.next.text.ended",
        "session.next.reasoning.started",
        "session.next.reasoning.delta",
        "session.next.reasoning.ended",
        "session.next.tool.input.started",
        "session.next.tool.input.delta",
        "session.next.tool.input.ended",
        "session.next.tool.called",
        "session.next.tool.progress",
        "session.next.tool.success",
        "session.next.tool.failed",
        "session.next.retried",
        "session.next.compaction.started",
        "session.next.compaction.delta",
        "session.next.compaction.ended",
        "session.next.revert.staged",
        "session.next.revert.cleared",
        "session.next.revert.committed",
    }
)


# -- decoding ---------------------------------------------------------------------------------


class UnknownEvent(Struct, frozen=True):
    """An event of an unknown type, unchanged; `sessionID` says where it belongs, if present."""

    payload: Any
    sessionID: str = ""


class ReceivedEvent(Struct, frozen=True):
    """An event with its metadata."""

    event: AnyEvent | UnknownEvent
    id: str | None = None
    directory: str | None = None


def decode(data: bytes) -> ReceivedEvent | None:
    """The event; None for one that we ignore. A known type of the wrong shape raises."""
    try:
        event = _wrapped.decode(data)
    except msgspec.ValidationError:
        return _decode_slowly(data)
    return ReceivedEvent(event.payload.properties, event.payload.id, event.directory)


def _decode_slowly(data: bytes) -> ReceivedEvent | None:
    """The slow path for the few events that are bare, ignored or of an unexpected shape."""
    outer = _payload.decode(data)
    event = outer.payload or outer
    if event.type in IGNORED:
        return None
    directory = outer.directory if outer.payload else None
    kind = EVENTS.get(event.type)
    if kind is None:
        owner = lenient(event.properties, _Owner, _Owner())
        return ReceivedEvent(UnknownEvent(msgspec.json.decode(data), owner.sessionID), event.id, directory)
    if kind is PartUpdated and (unknown := _unknown_part(event.properties)) is not None:
        return ReceivedEvent(unknown, event.id, directory)
    return ReceivedEvent(msgspec.json.decode(event.properties, type=kind), event.id, directory)


def _unknown_part(properties: Raw) -> UnknownPart | None:
    event = msgspec.json.decode(properties, type=_PartOf)
    if decode_part(event.part) is not None:
        return None
    return UnknownPart(sessionID=event.sessionID, part=msgspec.json.decode(event.part))


class _PartOf(Struct, frozen=True):
    part: Raw
    sessionID: str = ""


class _Owner(Struct, frozen=True):
    sessionID: str = ""


class _Payload(Struct, frozen=True):
    """An event whose type is not examined yet."""

    id: str | None = None
    type: str = ""
    properties: Raw = Raw(b"{}")
    directory: str | None = None
    payload: _Payload | None = None


def _envelope(type: str, kind: type[AnyEvent]) -> Any:
    """The event with its type and id; built from the table, so that one decode reads all of it."""
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [("properties", kind), ("id", str | None, None)]
    return msgspec.defstruct(kind.__name__, fields, frozen=True, tag_field="type", tag=type)


_envelopes = reduce(or_, (_envelope(type, kind) for type, kind in EVENTS.items()))
_wrapped: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    msgspec.defstruct("Wrapped", [("payload", _envelopes), ("directory", str | None, None)], frozen=True)
)
_payload = msgspec.json.Decoder(_Payload)
