"""A session's fields, and the few ways in which they change.

Handlers decide; they write to the scribe and call what is here. An append that a client's command caused is an offer: the log may
refuse it, and then everything is as it was. Every other append is a fact. Answers and words for the agent are owed to an append,
and do not exist before it is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..agents.base import Agent
from ..agents.scribe import Draft, Mark, Scribe
from ..errors import SandboxAgentError
from ..schema.events import (
    AnyData,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ..schema.world import World
from ..store.base import (
    AddPending,
    Change,
    PendingRow,
    QueuedHead,
    RememberCalls,
    ResolvePending,
    SaveSession,
    SessionRecord,
)
from .effects import Answer, Append, Effect, Say, Stop, Words
from .inputs import Cancel, Delete, Input, Rest, Send, Terminate
from .phases import ALLOWED, Absent, Closing, Handing, Link, New, Open, Opening, Phase
from .told import Told, told_of


class Limits(Struct, frozen=True):
    """Seconds that a session waits for things, and how much it lets wait."""

    idle: float = 600.0
    cancel: float = 5.0
    patience: float = 10.0
    rest: float = 5.0
    queued_messages: int = 1_000
    queued_bytes: int = 64 << 20
    pending: int = 1_000
    """Permissions and questions; what an agent asks beyond them is rejected."""


NOBODY = 0
"""The id of a command that was answered before it was carried out."""


class Snapshot(Struct, frozen=True):
    """What an offer changes. It holds references: nothing of it is ever changed in place."""

    record: SessionRecord
    saved: SessionRecord | None
    told: Told | None
    queue: tuple[QueuedHead, ...]
    phase: Phase
    count: int
    mark: Mark


class Offered(Struct, frozen=True):
    number: int
    command: int | None
    before: Snapshot


UNHEARD = frozenset({New, Handing})
"""Phases in which nothing that the agent says may be written."""

Admission = Literal["looking", "known", "probing"]
"""How far the first message in `sends` is: its key is looked up, is new, or the conversation is tried first."""


class Core:
    def __init__(
        self, agent: Agent, record: SessionRecord, scribe: Scribe, phase: Phase, world: World, limits: Limits
    ) -> None:
        self.agent = agent
        self.world = world
        self.limits = limits
        self.record = record
        self.scribe = scribe
        self.phase = phase
        self.link: Link = Absent()
        self.queue: tuple[QueuedHead, ...] = ()
        self.count = record.event_count
        """Events appended."""
        self.offer: Offered | None = None
        self.last = 0
        """The number of the last append."""
        self.committed = 0
        self.sends: deque[Send] = deque()
        self.admission: Admission | None = None
        self.inbox: deque[Input] = deque()
        self.cancels: tuple[Cancel, ...] = ()
        """Who waits for the turn to end, also while it is only being written."""
        self.enders: tuple[Terminate | Delete | Rest, ...] = ()
        """Who waits for the session to end. Like `cancels`, they are not part of what an offer can undo."""
        self.startable = True
        """False while the daemon drains, or when the agent is not configured any more."""
        self.idle_armed = False
        self._attempts = 0
        self._owed: deque[tuple[int, Answer | Say]] = deque()
        self._effects: list[Effect] = []
        scribe.pen.used = record.used
        self._saved: SessionRecord | None = record if record.event_count else None
        """The record as the store has it, or will once the last append is written."""
        self._told: Told | None = None

    # -- states ---------------------------------------------------------------------------------

    def enter(self, phase: Phase) -> None:
        assert type(phase) in ALLOWED[type(self.phase)], (self.phase, phase)
        self.phase = phase

    def link_to(self, link: Link) -> None:
        self.link = link

    def next_attempt(self) -> int:
        self._attempts += 1
        return self._attempts

    def is_current(self, attempt: int) -> bool:
        """Whether this attempt is the one we have: news of an older one is none."""
        return not isinstance(self.link, Absent) and self.link.attempt == attempt

    def change(self, **fields: Any) -> None:
        self.record = msgspec.structs.replace(self.record, **fields)

    @property
    def holding(self) -> bool:
        """The agent must not be heard: an offer can only be taken back while nothing came after it."""
        return self.offer is not None or isinstance(self.phase, Handing)

    # -- effects --------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def stop(self) -> None:
        """Let the process go, if there is one."""
        if isinstance(self.link, Open | Opening):
            self.emit(Stop(self.link.attempt))
            self.link_to(Closing(self.link.attempt))

    # -- appends --------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Taken before an offer is made, so that a refusal can go back to it."""
        return Snapshot(
            self.record, self._saved, self._told, self.queue, self.phase, self.count, self.scribe.mark()
        )

    def propose(self, command: int | None, before: Snapshot, *changes: Change, deletes: bool = False) -> int:
        """Append what a client asked for."""
        number = self._append(changes, refusable=True, deletes=deletes)
        self.offer = Offered(number, command, before)
        return number

    def fact(self, *changes: Change) -> int:
        """Append what happened, if anything did."""
        if self.scribe.drafts or changes or self.record is not self._saved or self._learns:
            return self._append(changes, refusable=False)
        return self.last

    def take_back(self) -> Offered:
        """The offer was refused: nothing of it has happened."""
        offer, self.offer = self.offer, None
        assert offer is not None
        before = offer.before
        self.record, self._saved, self._told = before.record, before.saved, before.told
        self.queue, self.phase, self.count = before.queue, before.phase, before.count
        self.scribe.restore(before.mark)
        self.last = offer.number - 1
        self._owed = deque(one for one in self._owed if one[0] != offer.number)
        return offer

    def take_pieces(self) -> list[Draft] | None:
        """What was written, if it goes to the log as it is; None when there is something to decide about."""
        pen = self.scribe.pen
        if (
            pen.notable
            or pen.requested_end is not None
            or self.offer is not None
            or type(self.phase) in UNHEARD
        ):
            return None
        if pen.used is not self.record.used:
            return None
        drafts, pen.drafts = pen.drafts, []
        self.count += len(drafts)
        return drafts

    @property
    def _learns(self) -> bool:
        """The agent has told what it works with."""
        return self.scribe.pen.used is not self.record.used

    def _append(self, changes: Iterable[Change], *, refusable: bool, deletes: bool = False) -> int:
        scribe = self.scribe
        written: list[Change] = [*changes, *self._note(scribe.notable)]
        drafts = scribe.take()
        if scribe.native_session_id != self.record.native_id:
            self.change(native_id=scribe.native_session_id)
        if self._learns:
            self.change(used=scribe.used)
        if self.record.open_since is not None and scribe.nothing_open():
            self.change(open_since=None)
        if scribe.calls.new_call_ids:
            written.append(RememberCalls(self.record.session_id, scribe.calls.new_call_ids))
            scribe.calls.new_call_ids = []
        if len(self.queue) != self.record.queued:
            self.change(queued=len(self.queue))
        if self.record is not self._saved:
            self.change(updated_at=self.world.now())
            self._saved = self.record
            written.insert(0, SaveSession(self.record))
        blobs, scribe.calls.blobs = scribe.calls.blobs, {}
        self.count += len(drafts)
        self.last += 1
        told = told_of(self.record, (one.requested for one in scribe.pending.values()))
        news = None if told == self._told else told
        self._told = told
        self.emit(Append(self.last, drafts, written, news, refusable, blobs, deletes))
        return self.last

    def _note(self, notable: list[tuple[int, AnyData]]) -> list[Change]:
        """Keep the record true to the events."""
        changes: list[Change] = []
        id = self.record.session_id
        for index, data in notable:
            record = self.record
            match data:
                case TurnStarted(turn_id):
                    since = record.open_since or self.count + index + 1
                    self.change(turn_id=turn_id, open_since=since)
                case TurnEnded(_, metadata):
                    stored = record.native_stored or metadata.stop_reason == "end_turn"
                    usage = record.usage
                    if metadata.usage is not None:
                        usage = (usage or Usage()) + metadata.usage
                    self.change(turn_id=None, native_stored=stored, usage=usage)
                case PermissionRequested(asked_id):
                    changes.append(AddPending(id, _pending_row(asked_id, "permission", data)))
                case QuestionRequested(asked_id):
                    changes.append(AddPending(id, _pending_row(asked_id, "question", data)))
                case PermissionResolved(asked_id) | QuestionResolved(asked_id):
                    changes.append(ResolvePending(id, asked_id))
                case SessionEnded():
                    self.change(ended=True)
        return changes

    # -- answers and words, owed to what was appended ---------------------------------------------

    def answer(self, command: int, result: Any = None, *, after: int | None = None) -> None:
        """Answer once this append is written; without one, once everything so far is."""
        if command == NOBODY:
            return
        number = self.last if after is None else after
        if number <= self.committed:
            self.emit(Answer(command, result))
        else:
            self._owed.append((number, Answer(command, result)))

    def refuse(self, command: int, problem: SandboxAgentError) -> None:
        """Nothing was changed, and nothing that is not written yet is told with it: answer at once."""
        if command != NOBODY:
            self.emit(Answer(command, problem))

    def say(self, words: Words, *, after: int) -> None:
        """Tell the agent that is there now, once this append is written."""
        if isinstance(self.link, Open):
            self._owed.append((after, Say(self.link.attempt, words)))

    def say_now(self, words: Words) -> None:
        if isinstance(self.link, Open):
            self.emit(Say(self.link.attempt, words))

    def unsay(self) -> None:
        """What was to be said is out of date."""
        self._owed = deque(one for one in self._owed if isinstance(one[1], Answer))

    def release(self) -> None:
        """Let go what is written. Words wait for an offer: a wire may write while it speaks."""
        kept: deque[tuple[int, Answer | Say]] = deque()
        for number, effect in self._owed:
            if number > self.committed or (self.offer is not None and isinstance(effect, Say)):
                kept.append((number, effect))
            elif isinstance(effect, Answer) or (
                isinstance(self.link, Open) and self.link.attempt == effect.attempt
            ):
                self.emit(effect)
        self._owed = kept

    def give_up_waiting(self, problem: SandboxAgentError) -> None:
        """Whoever waits for what is not written yet is told so. What is owed to an offer is settled with the offer."""
        kept: deque[tuple[int, Answer | Say]] = deque()
        for number, effect in self._owed:
            offered = self.offer is not None and number == self.offer.number
            if number > self.committed and isinstance(effect, Answer) and not offered:
                self.emit(Answer(effect.command, problem))
            else:
                kept.append((number, effect))
        self._owed = kept

    @property
    def owes(self) -> bool:
        return bool(self._owed)


def _pending_row(id: str, kind: Literal["permission", "question"], asked: AnyData) -> PendingRow:
    return PendingRow(id, kind, msgspec.json.encode(asked))
