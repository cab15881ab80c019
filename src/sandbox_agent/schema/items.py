"""Items, the pieces of a transcript, and the content parts they are made of.

Every struct is sent as declared here; optional members are absent, not null, except those that are always
present (`Item`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct, field

Kind = Literal["message", "tool_call", "tool_result", "system", "status", "unknown"]
Role = Literal["user", "assistant", "tool", "system"]
ItemStatus = Literal["in_progress", "completed", "failed"]
FileAction = Literal["read", "write", "patch", "delete", "move"]
Visibility = Literal["public", "private"]
ToolKind = Literal["command", "edit", "read", "search", "fetch", "mcp", "task", "other"]
"""What a tool does, independent of the agent's name for it."""


class Part(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """One piece of an item's content; `type` on the wire is the tag."""


class Text(Part, frozen=True, tag="text"):
    text: str


class Json(Part, frozen=True, tag="json"):
    json: Any  # the agent's own payload, whatever shape it has


class ToolCall(Part, frozen=True, tag="tool_call"):
    name: str
    arguments: str
    """The arguments as a JSON string."""
    call_id: str
    # Sent with every call; factories keep omit_defaults from leaving them out.
    kind: ToolKind = field(default_factory=lambda: "other")
    title: str = field(default_factory=lambda: "")
    """One line to show: the command, the path or the query; the tool's name as a fallback."""


class ToolResult(Part, frozen=True, tag="tool_result"):
    call_id: str
    output: str
    exit_code: int | None = None


class FileRef(Part, frozen=True, tag="file_ref"):
    path: str
    action: FileAction
    to: str | None = None
    diff: str | None = None
    """A unified diff."""


class Image(Part, frozen=True, tag="image"):
    path: str
    mime: str | None = None


class Reasoning(Part, frozen=True, tag="reasoning"):
    text: str
    # Sent with every reasoning part, so it has no default that could be omitted.
    visibility: Visibility


class StatusPart(Part, frozen=True, tag="status"):
    label: str
    detail: str | None = None


ContentPart = Text | Json | ToolCall | ToolResult | FileRef | Image | Reasoning | StatusPart


class Item(Struct, frozen=True):
    item_id: str
    native_item_id: str | None
    parent_id: str | None
    kind: Kind
    role: Role | None
    status: ItemStatus
    content: tuple[ContentPart, ...] = ()


def arguments_of(value: object) -> str:
    """Tool arguments as the JSON string that a `tool_call` part carries."""
    return msgspec.json.encode(value).decode()
