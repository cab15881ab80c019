"""A tool call as it grows: agents send its fields in pieces, and a field that is left out keeps its value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from ...schema.items import ContentPart, FileAction, FileRef, ToolKind, arguments_of
from ..diffs import Names, diff_of_texts
from ..files import bytes_in
from ..scribe import Scribe
from ..titles import mcp_title, mcp_tool, title_of
from .frames import Location, ToolCall, ToolContent

_exit_code = re.compile(r"(?:Error: )?Exit code (\d+)")
_ACTIONS: dict[str | None, FileAction] = {"edit": "patch", "delete": "delete", "move": "move"}
KINDS: dict[str | None, ToolKind] = {
    "execute": "command",
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "read": "read",
    "search": "search",
    "fetch": "fetch",
}
"""The protocol's kinds of tools."""

TASKS = {"Agent", "Task", "task"}
"""Names agents use for the tool that starts a sub-agent; the protocol has no kind for it."""

_OUTPUTS = ("output", "error", "stdout", "formatted_output", "message")
"""Where agents put the text if a tool's output is an object."""


class Input(Struct, frozen=True):
    """The arguments of a tool. They are encoded on arrival, and dropped if that fails."""

    value: Any = None
    json: str = "null"

    @classmethod
    def of(cls, value: Any) -> Input:
        return cls(value, arguments_of(value))


NOTHING = Input()


class Call(Struct):
    id: str
    key: str
    """The scribe's key for the call."""
    name: str
    parent: str | None = None
    """The call that started the sub-agent that makes this one."""
    kind: str | None = None
    status: str = "pending"
    input: Input = NOTHING
    asked_input: Input = NOTHING
    """The input shown in a permission request, which may differ from the arguments."""
    output: Any = None
    content: tuple[ToolContent, ...] = ()
    asked_diffs: tuple[ToolContent, ...] = ()
    locations: tuple[Location, ...] = ()
    previewed: str = ""
    opened: bool = False
    named: bool = False
    """The name is the tool's own, and not a title used in its place."""
    agent_title: str = ""

    def learn(self, update: ToolCall) -> None:
        """Apply the fields of an update."""
        input = self.input if update.raw_input is None else Input.of(update.raw_input)
        self._learn_name(update)
        self.locations = self.locations if update.locations is None else update.locations
        self.status = update.status or self.status
        self.input = input
        self.output = self.output if update.raw_output is None else update.raw_output
        self.content = self.content if update.content is None else update.content

    def learn_asked(self, update: ToolCall) -> None:
        """Apply what a permission request shows of the call."""
        input = Input.of(update.raw_input)
        self._learn_name(update)
        self.locations = update.locations or self.locations
        self.asked_input = input
        self.asked_diffs = tuple(_diffs(update.content or ()))
        self.content = self.content or update.content or ()

    def _learn_name(self, update: ToolCall) -> None:
        if update.name and not self.named:
            self.name, self.named = update.name, True
        elif not self.name and update.title:
            self.name = update.title  # the first title: later ones describe what the tool does
        self.agent_title = update.title or self.agent_title
        self.parent = self.parent or update.parent
        self.kind = update.kind or self.kind

    @property
    def is_over(self) -> bool:
        return self.status in ("completed", "failed")

    def forget(self) -> None:
        """The call is over and reported: keep only that it existed."""
        self.input = self.asked_input = NOTHING
        self.output, self.previewed = None, ""
        self.content = self.asked_diffs = self.locations = ()

    def arguments(self) -> str:
        return next((input.json for input in (self.input, self.asked_input) if input.value), "{}")

    def shown_input(self) -> Any:
        """The arguments as shown in the permission request."""
        return self.asked_input.value or self.input.value or {}

    def tool_kind(self) -> ToolKind:
        if mcp_tool(self.name) is not None:
            return "mcp"
        input = self.input.value or self.asked_input.value
        # Sub-agents think for the agent; what the agent thinks itself is not a call.
        thinks = self.kind == "think" and isinstance(input, dict) and "prompt" in input
        if thinks or self.name in TASKS:
            return "task"
        return KINDS.get(self.kind, "other")

    def title(self) -> str:
        """A title from the input for this kind of call, else the agent's own title, or a file it concerns."""
        if (names := mcp_tool(self.name)) is not None:
            return mcp_title(*names)
        kind = self.tool_kind()
        if kind != "other" and (title := title_of("", self.input.value or self.asked_input.value, kind)):
            return title
        if self.agent_title != self.name:
            return self.agent_title.strip("`")
        return next(
            (location.path for location in self.locations if location.path and kind in ("edit", "read")), ""
        )

    def paths(self) -> Iterator[str]:
        yield from (diff.path for diff in self.asked_diffs if diff.path)
        if self.kind in _ACTIONS:
            yield from (location.path for location in self.locations if location.path)

    def text(self) -> str:
        """The text that the tool shows."""
        shown = (part.content for part in self.content if part.type == "content")
        texts = (
            content.resource.text if content.resource else content.text
            for content in shown
            if content is not None
        )
        return "\n".join(text for text in texts if text)

    def preview(self) -> str:
        """The part of the output that extends the preview: agents repeat the whole output each time."""
        text = self.text()
        if not text.startswith(self.previewed):
            return ""
        fresh, self.previewed = text[len(self.previewed) :], text
        return fresh

    def result(self) -> str:
        match self.output:
            case str(text):
                return text
            case None:
                return self.text()
            case dict(facts):
                texts = (facts[name] for name in _OUTPUTS if isinstance(facts.get(name), str))
                return self.text() or next(texts, None) or arguments_of(facts)
        return self.text() or arguments_of(self.output)

    def exit_code(self) -> int | None:
        if self.kind != "execute":
            return None
        if isinstance(self.output, dict):
            more = self.output.get("metadata")
            for facts in (self.output, more if isinstance(more, dict) else {}):
                for name in ("exit_code", "exitCode", "exit"):
                    if type(code := facts.get(name)) is int:
                        return code
        match = _exit_code.match(self.result()) if self.status == "failed" else None
        return int(match[1]) if match else None

    def shown(self, scribe: Scribe) -> Iterator[ContentPart]:
        """The images the tool shows, and the files it changed."""
        for part in self.content:
            if part.content and part.content.type == "image" and (data := bytes_in(part.content.data)):
                yield scribe.image(data, part.content.mime_type or "")
        if self.status == "completed":
            yield from self._files()

    def _files(self) -> Iterator[FileRef]:
        changes = _fullest(_diffs(self.content), self.asked_diffs)
        for change in changes:
            action: FileAction = "patch" if change.old_text else "write"
            action = "delete" if self.kind == "delete" else action
            yield FileRef(change.path, action, diff=_unified(change))
        if changes or self.kind not in _ACTIONS:
            return
        paths = [location.path for location in self.locations if location.path]
        if self.kind == "move" and len(paths) > 1:
            yield FileRef(paths[0], "move", to=paths[1])
            return
        whole = self.kind == "edit" and isinstance(self.input.value, dict) and "content" in self.input.value
        for path in dict.fromkeys(paths):
            yield FileRef(path, "write" if whole else _ACTIONS[self.kind])


def diff_text(changes: Iterable[ToolContent]) -> str:
    return "".join(_unified(change) or "" for change in changes)


def _diffs(content: Iterable[ToolContent]) -> Iterator[ToolContent]:
    return (part for part in content if part.type == "diff")


def _fullest(made: Iterable[ToolContent], asked: tuple[ToolContent, ...]) -> list[ToolContent]:
    """The changes, with the surrounding file where the agent sent it.

    Some agents show the whole file in the permission request and afterwards only the changed lines.
    """
    changes = [next((diff for diff in asked if _holds(diff, change)), change) for change in made]
    return [change for n, change in enumerate(changes or asked) if change not in changes[:n]]


def _holds(whole: ToolContent, part: ToolContent) -> bool:
    same_file = whole.path == part.path
    return same_file and (part.old_text or "") in (whole.old_text or "") and part.new_text in whole.new_text


def _unified(change: ToolContent) -> str | None:
    old, new = change.old_text or None, change.new_text
    if old and new and not old.endswith("\n") and not new.endswith("\n"):
        # This is a piece of a file: that it ends here does not mean that the file does.
        old, new = f"{old}\n", f"{new}\n"
    return diff_of_texts(Names(change.path, change.path), old, new)
