"""The messages of one session as a client sees it: ours, or that of a sub-agent."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...schema.events import Usage
from .shapes import (
    AnyPart,
    AssistantMessage,
    BusEvent,
    Cache,
    Folders,
    Message,
    MessageChanged,
    MessageWithParts,
    ModelChoice,
    PartChanged,
    Problem,
    ReasoningPart,
    TextPart,
    Times,
    Tokens,
    UserMessage,
)


class Facts(Struct, frozen=True):
    """What every message of a session says about it."""

    session_id: str
    directory: str
    agent: str
    mode: str
    model: str
    variant: str | None = None


class Entry:
    """A message with its parts, and when something in it last changed."""

    def __init__(self, info: Message, moment: int) -> None:
        self.info = info
        self.parts: dict[str, AnyPart] = {}
        self.touched = moment

    def listed(self) -> MessageWithParts:
        return MessageWithParts(info=self.info, parts=tuple(self.parts[id] for id in sorted(self.parts)))


class Writing:
    """A text or reasoning part that is being written."""

    def __init__(self, part: TextPart | ReasoningPart) -> None:
        self.part = part
        self.pieces: list[str] = []

    @property
    def so_far(self) -> TextPart | ReasoningPart:
        return msgspec.structs.replace(self.part, text="".join(self.pieces))


class Thread:
    def __init__(self, id: str, facts: Facts, max_messages: int) -> None:
        self.id = id
        self.facts = facts
        self.entries: dict[str, Entry] = {}
        """The latest messages, at most `max_messages`; none for a reader that only follows."""
        self.writing: dict[str, Writing] = {}
        """By the id of the item."""
        self.user_id = ""
        self.assistant: AssistantMessage | None = None
        """The message that is being written."""
        self.out: list[BusEvent] = []
        """What is to be sent."""
        self._max_messages = max_messages

    # -- messages -----------------------------------------------------------------------------

    def add_user(self, id: str, created: int, moment: int) -> None:
        facts = self.facts
        chosen = ModelChoice(provider_id=facts.agent, model_id=facts.model, variant=facts.variant)
        self.user_id = id
        self.show(
            UserMessage(
                id=id, session_id=self.id, time=Times(created=created), agent=facts.mode, model=chosen
            ),
            moment,
        )

    def begin(self, id: str, moment: int, mode: str | None = None) -> None:
        """Open the message that answers the last one of the user."""
        facts = self.facts
        self.assistant = AssistantMessage(
            id=id,
            session_id=self.id,
            parent_id=self.user_id,
            time=Times(created=moment),
            mode=mode or facts.mode,
            agent=mode or facts.mode,
            path=Folders(cwd=facts.directory, root=facts.directory),
            provider_id=facts.agent,
            model_id=facts.model,
        )
        self.show(self.assistant, moment)

    def fail(self, problem: Problem, moment: int) -> None:
        if self.assistant is not None:
            self.assistant = msgspec.structs.replace(self.assistant, error=problem)
            self.show(self.assistant, moment)

    def complete(self, moment: int, finish: str, usage: Usage | None = None) -> None:
        """Close the message that is being written, if there is one."""
        if self.assistant is None:
            return
        times = Times(created=self.assistant.time.created, completed=moment)
        cost = usage.cost_usd if usage and usage.cost_usd is not None else 0.0
        self.assistant = msgspec.structs.replace(
            self.assistant, time=times, finish=finish, tokens=tokens_of(usage), cost=cost
        )
        self.show(self.assistant, moment)
        self.assistant = None

    def show(self, info: Message, moment: int) -> None:
        if self._max_messages:
            entry = self.entries.get(info.id)
            if entry is None:
                self.entries[info.id] = Entry(info, moment)
            else:
                entry.info, entry.touched = info, moment
            if len(self.entries) > self._max_messages:
                del self.entries[next(iter(self.entries))]
        changed = MessageChanged(session_id=self.id, info=info)
        self.out.append(BusEvent(type="message.updated", properties=changed))

    def show_part(self, part: AnyPart, moment: int) -> None:
        self.keep_part(part, moment)
        changed = PartChanged(session_id=self.id, part=part, time=moment)
        self.out.append(BusEvent(type="message.part.updated", properties=changed))

    def keep_part(self, part: AnyPart, moment: int) -> None:
        entry = self.entries.get(part.message_id)
        if entry is not None:
            entry.parts[part.id] = part
            entry.touched = moment

    def grow(self, item_id: str, delta: str) -> TextPart | ReasoningPart | None:
        """The part that a delta belongs to."""
        writing = self.writing.get(item_id)
        if writing is None:
            return None
        if self._max_messages:
            writing.pieces.append(delta)
        return writing.part

    def keep_nothing(self) -> None:
        self._max_messages = 0
        self.entries.clear()

    def settle(self) -> None:
        """Bring the parts that are being written up to date."""
        for writing in self.writing.values():
            entry = self.entries.get(writing.part.message_id)
            if entry is not None:
                entry.parts[writing.part.id] = writing.so_far


def tokens_of(usage: Usage | None) -> Tokens:
    """The tokens of the last step. Clients add them up to show how full the context is."""
    if usage is None:
        return Tokens()
    output = usage.output_tokens or 0
    if usage.context_tokens is not None:
        output = min(output, usage.context_tokens)
        return Tokens(input=usage.context_tokens - output, output=output)
    reasoning = usage.reasoning_tokens or 0
    read, write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    return Tokens(
        input=max(0, (usage.input_tokens or 0) - read - write),
        output=max(0, output - reasoning),
        reasoning=reasoning,
        cache=Cache(read=read, write=write),
    )
