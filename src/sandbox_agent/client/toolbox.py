"""The functions that answer calls to a session's tools, and how their results are sent."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from ..schema.tools import Tool, ToolImage, ToolOutcome
from .function_tool import FunctionTool, ToolSource, function_tool

logger = logging.getLogger("sandbox_agent.tools")

MAX_SESSIONS = 10_000
"""Sessions whose functions a client keeps. The oldest are forgotten first."""


class Toolbox:
    """The functions of one session, by the names of their tools."""

    def __init__(self) -> None:
        self.functions: dict[str, FunctionTool] = {}
        self._claimed: dict[str, object] = {}

    @contextmanager
    def claim(self, call_id: str) -> Iterator[bool]:
        """Whether the caller may run this call. Several readers of one client see it, and it must run once."""
        claim = object()
        is_ours = self._claimed.setdefault(call_id, claim) is claim
        try:
            yield is_ours
        finally:
            if is_ours:
                del self._claimed[call_id]


class Toolboxes:
    """The toolboxes of a client, by session."""

    def __init__(self) -> None:
        self._of_session: dict[str, Toolbox] = {}

    def add(self, session_id: str, tools: Iterable[Tool | FunctionTool]) -> None:
        functions = {tool.name: tool for tool in tools if isinstance(tool, FunctionTool)}
        if functions:
            self._of_session.setdefault(session_id, Toolbox()).functions.update(functions)
        while len(self._of_session) > MAX_SESSIONS:
            del self._of_session[next(iter(self._of_session))]

    def of(self, session_id: str) -> Toolbox:
        return self._of_session.get(session_id) or Toolbox()


def tools_from(given: Iterable[ToolSource]) -> list[Tool | FunctionTool]:
    """Describe the functions among the tools. Raises `TypeError` for what cannot be a tool."""
    return [_tool_from(tool) for tool in given]


def _tool_from(given: ToolSource) -> Tool | FunctionTool:
    if isinstance(given, Tool | FunctionTool):
        return given
    if not callable(given):
        raise TypeError(f"{given!r} cannot be a tool: give a function, a FunctionTool or a ToolSpec")
    return function_tool(given)


def outcome_of(value: object) -> ToolOutcome:
    """Convert what a function returned. Raises `TypeError` if it cannot be sent."""
    match value:
        case ToolImage():
            return ToolOutcome("", images=(value,))
        case list() | tuple() if any(isinstance(part, ToolImage) for part in value):
            images = tuple(part for part in value if isinstance(part, ToolImage))
            texts = (_text_of(part) for part in value if not isinstance(part, ToolImage))
            return ToolOutcome("\n".join(texts), images=images)
    return ToolOutcome(_text_of(value))


def failure_of(name: str, error: Exception) -> ToolOutcome:
    """Tell the agent why a function failed; the program's log gets the traceback."""
    logger.info("the tool %s failed", name, exc_info=error)
    kind, message = type(error).__name__, str(error)
    return ToolOutcome(_sendable(f"{kind}: {message}" if message else kind), failed=True)


def _text_of(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return _sendable(value)
        case bytes() | bytearray() | memoryview():
            raise TypeError("the tool returned bytes: return a str, or ToolImage.of(content, mime)")
    return msgspec.json.encode(value).decode()


def _sendable(text: str) -> str:
    """The text without lone surrogates, which JSON in UTF-8 cannot carry."""
    return text.encode(errors="replace").decode()
