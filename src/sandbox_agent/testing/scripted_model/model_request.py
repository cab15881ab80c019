"""A model request in neutral terms: what all three APIs have in common.

The next reply follows from the request's history alone, so any number of conversations may run at once, and a
resumed one continues where it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

Wire = Literal["messages", "responses", "chat"]
Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["turn", "title", "compaction", "probe"]


class Schema(Struct, frozen=True):
    """The part of a tool's JSON schema that names its arguments."""

    type: str | list[str] | None = None
    properties: dict[str, Schema | bool] = {}
    items: Schema | bool | None = None


class Tool(Struct, frozen=True):
    """A tool that the agent offers to the model."""

    name: str
    namespace: str = ""
    free_text: bool = False
    schema: Schema = Schema()


class Entry(Struct, frozen=True):
    """One entry of the history."""

    role: Role
    texts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # their media types
    call_ids: tuple[str, ...] = ()

    @property
    def own_texts(self) -> tuple[str, ...]:
        """The user's own texts, without those the agent added."""
        if self.role != "user":
            return ()
        return tuple(filter(None, map(_without_injected, self.texts)))


class ModelRequest(Struct, frozen=True):
    """A model request."""

    wire: Wire
    model: str
    stream: bool
    history: tuple[Entry, ...]
    tools: tuple[Tool, ...] = ()
    effort: str | None = None
    max_tokens: int | None = None

    @property
    def kind(self) -> Kind:
        """A turn of the conversation, or one of the calls that agents make for themselves."""
        # In a turn the agent offers tools; its own calls have none, or contain well-known phrases.
        text = "\n".join([*self._last_texts(), *(() if self.tools else self.system_texts)])
        if self.title_tool or (not self.tools and _TITLE.search(text)):
            return "title"
        if _COMPACTION.search(text) or (not self.tools and _SUMMARY.search(text)):
            return "compaction"
        if self.max_tokens == 1:
            return "probe"
        return "turn"

    @property
    def title_tool(self) -> Tool | None:
        """The tool by which Amp asks for a title."""
        match self.tools:
            case (Tool(name="set_title") as tool,):
                return tool
        return None

    @property
    def system_texts(self) -> tuple[str, ...]:
        return tuple(text for entry in self.history if entry.role == "system" for text in entry.texts)

    @property
    def prompt(self) -> str:
        """The user's own newest text."""
        # Claude joins an unanswered prompt with the one after it: only the last counts.
        at = self._prompt_at
        return "" if at is None else self.history[at].own_texts[-1]

    @property
    def user_messages(self) -> int:
        return sum(len(entry.own_texts) for entry in self.history)

    @property
    def round(self) -> int:
        """How many replies were given since the prompt."""
        return _replies(self._since_prompt()[1:])

    @property
    def images(self) -> tuple[str, ...]:
        """The media types of the images in the prompt and after it."""
        return tuple(image for entry in self._since_prompt() for image in entry.images)

    @property
    def last_result(self) -> str:
        results = [entry for entry in self._since_prompt() if entry.role == "tool"]
        return "\n".join(results[-1].texts) if results else ""

    @property
    def directory(self) -> str | None:
        """The agent's working directory, which every agent includes in its requests."""
        matches = [match[1].strip() for text in self._input_texts() for match in _DIRECTORY.finditer(text)]
        return matches[-1] if matches else None

    @property
    def plan_file(self) -> str | None:
        """Where the agent wants its plan, in plan mode."""
        matches = [match[0] for text in self._input_texts() for match in _PLAN_FILE.finditer(text)]
        return matches[-1] if matches else None

    @property
    def _prompt_at(self) -> int | None:
        for at in reversed(range(len(self.history))):
            if self.history[at].own_texts:
                return at
        return None

    def _since_prompt(self) -> Sequence[Entry]:
        at = self._prompt_at
        return self.history if at is None else self.history[at:]

    def _last_texts(self) -> tuple[str, ...]:
        users = [entry for entry in self.history if entry.role == "user"]
        return users[-1].texts if users else ()

    def _input_texts(self) -> Iterable[str]:
        for entry in self.history:
            if entry.role in ("system", "user"):
                yield from entry.texts


def _replies(history: Iterable[Entry]) -> int:
    """Runs of assistant entries; calls of one reply count as one even with their results between them."""
    count, previous, seen = 0, "user", set[str]()
    for entry in history:
        if entry.role == "assistant":
            replies = {match[1] for id in entry.call_ids if (match := _REPLY_OF_CALL.match(id))}
            if previous != "assistant" and not (replies and replies <= seen):
                count += 1
            seen |= replies
        previous = entry.role
    return count


def call_id(prefix: str, reply_id: str, number: int) -> str:
    """A call id that encodes which reply it was part of."""
    return f"{prefix}_{reply_id}_{number}"


def _without_injected(text: str) -> str:
    text = _REMINDER.sub("", text).strip()
    return "" if _INJECTED.match(text) else text


_REPLY_OF_CALL = re.compile(r"(?:toolu|call)_([0-9a-f]{12})_\d+")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>|</?image\b[^>]*>", re.DOTALL)
# A text that is one XML element was written by the agent, and so were those that begin with these phrases.
_INJECTED = re.compile(
    r"<([\w-]+)[^>]*>.*</\1>\s*\Z"
    r"|\[Request interrupted by user"
    r"|\[Image: source:"
    r"|Output token limit hit"
    r"|Your response above was stopped by a safety classifier"
    r"|Called the \w+ tool with the following input"
    r"|This session is being continued from a previous conversation"
    r"|# AGENTS\.md instructions"
    r"|# User State",
    re.DOTALL,
)
_DIRECTORY = re.compile(r"(?:[Ww]orking directory: *|<cwd>\s*)(/[^\n<]*)")
_PLAN_FILE = re.compile(r"/[^\s\"`]+/plans/[\w.-]+\.md")
_COMPACTION = re.compile(r"CONTEXT CHECKPOINT COMPACTION|detailed summary of the conversation")
_SUMMARY = re.compile(r"\bsummar(?:y|ies|ize|izer|ization)\b", re.IGNORECASE)
_TITLE = re.compile(r"title generator|generate a [\w, -]*title|\btitle for th", re.IGNORECASE)
