"""Items that have begun and are not complete yet."""

from __future__ import annotations

from typing import Any

import msgspec

from ...schema.items import (
    ContentPart,
    Item,
    ItemStatus,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    Visibility,
)
from .pen import DeltaTemplate

CLIENT_KINDS = frozenset(("mcp", "other"))
"""Kinds that a call to a client's tool may have: not every agent says that a tool is an MCP server's."""


class OpenText:
    """A message or a thought that is being streamed."""

    __slots__ = (
        "chunks",
        "item_id",
        "native_id",
        "outlives_turn",
        "parent_id",
        "role",
        "template",
        "visibility",
    )

    def __init__(
        self,
        item_id: str,
        native_id: str | None,
        parent_id: str | None,
        role: Role,
        visibility: Visibility | None,
        outlives_turn: bool,
    ) -> None:
        self.item_id = item_id
        self.native_id = native_id
        self.parent_id = parent_id
        self.role = role
        self.visibility = visibility
        self.outlives_turn = outlives_turn
        self.chunks: list[str] = []
        self.template = DeltaTemplate(item_id, native_id, "message", role, visibility, parent_id)

    def item(self, status: ItemStatus, text: str) -> Item:
        part = Text(text) if self.visibility is None else Reasoning(text, self.visibility)
        return Item(self.item_id, self.native_id, self.parent_id, "message", self.role, status, (part,))


class OpenCall:
    """A tool call without a complete result, and its result once that has begun."""

    __slots__ = (
        "arguments",
        "call_id",
        "chunks",
        "completed",
        "item_id",
        "kind",
        "name",
        "native_id",
        "outlives_turn",
        "parent_id",
        "result_id",
        "template",
        "title",
    )

    def __init__(
        self,
        item_id: str,
        native_id: str | None,
        parent_id: str | None,
        name: str,
        call_id: str,
        outlives_turn: bool,
        kind: ToolKind = "other",
        title: str = "",
    ) -> None:
        self.item_id = item_id
        self.native_id = native_id
        self.parent_id = parent_id
        self.name = name
        self.call_id = call_id
        self.outlives_turn = outlives_turn
        self.kind: ToolKind = kind
        self.title = title
        self.chunks: list[str] = []  # fragments of the arguments; after completion, of the output
        self.completed = False
        self.arguments = ""
        """Kept only for calls of MCP tools: a client's tool is one of them, and this says which call it is."""
        self.result_id: str | None = None
        self.template = DeltaTemplate(item_id, native_id, "tool_call", "assistant", None, parent_id)
        """For the current deltas: the call's, later the result's."""

    def is_of(self, tool: str) -> bool:
        """Whether this is a call of an MCP tool. Agents write the server's name before the tool's."""
        return self.kind in CLIENT_KINDS and self.name.endswith(tool)

    def has_arguments(self, tool: str, arguments: Any) -> bool:
        """Whether this is a complete call of an MCP tool with these arguments."""
        if not self.is_of(tool):
            return False
        try:
            return bool(msgspec.json.decode(self.arguments or "{}") == arguments)
        except (msgspec.MsgspecError, RecursionError):
            return False

    def open_result(self, item_id: str) -> None:
        self.result_id = item_id
        self.template = DeltaTemplate(item_id, self.native_id, "tool_result", "tool", None, self.parent_id)

    def call_item(self, status: ItemStatus, arguments: str) -> Item:
        part = ToolCall(self.name, arguments, self.call_id, self.kind, self.title or self.name)
        return Item(self.item_id, self.native_id, self.parent_id, "tool_call", "assistant", status, (part,))

    def result_item(
        self, status: ItemStatus, output: str, exit_code: int | None, extra: tuple[ContentPart, ...]
    ) -> Item:
        assert self.result_id is not None
        part = ToolResult(self.call_id, output, exit_code)
        return Item(
            self.result_id,
            self.native_id,
            self.parent_id,
            "tool_result",
            "tool",
            status,
            (part, *extra),
        )
