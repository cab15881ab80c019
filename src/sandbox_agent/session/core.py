"""A session's fields, and the operations that change them.

Handlers make the decisions: they write to the scribe and call these methods. An append caused by a client's command is an offer: the
log may refuse it, which restores the previous state. Every other append is a fact. Answers and messages to the agent wait for an
append, and are sent once it is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..agents.base import Agent
from ..agents.scribe import Draft, Mark, Notable, Scribe, ToolAsked, ToolDone
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
from ..schema.limits import ReachedLimit
from ..schema.world import World
from ..store.base import (
    AddPending,
    Change,
    LedgerRow,
    PendingRow,
    QueuedHead,
    RecordUsage,
    RememberCalls,
    ResolvePending,
    SaveSession,
    SessionRecord,
)
from .effects import Answer, Append, Effect, GiveToolResult, Instruct, Instruction, Stop
from .inputs import Cancel, Delete, Input, Rest, Send, Terminate
from .limits import TimeLimits, reached_limit
from .phases import ALLOWED, Absent, Closing, Gone, Handing, Link, New, Open, Opening, Phase
from .view import View, view_of


class Limits(Struct, frozen=True):
    """Timeouts in seconds, and limits on what may be queued."""

    idle: float = 600.0
    cancel: float = 5.0
    patience: float = 10.0
    rest: float = 5.0
    queued_messages: int = 1_000
    queued_bytes: int = 64 << 20
    pending: int = 1_000
    """Permissions and questions; any beyond this limit are rejected."""


encode = msgspec.json.Encoder().encode

NO_CALLER = 0
"""The id of a command that was answered before it was carried out."""


class Snapshot(Struct, frozen=True):
    """The state an offer may change. It holds references: none of it is ever changed in place."""

    record: SessionRecord
    saved: SessionRecord | None
    view: View | None
    queue: tuple[QueuedHead, ...]
    phase: Phase
    count: int
    mark: Mark


class Offered(Struct, frozen=True):
    number: int
    command: int | None
    before: Snapshot


SILENT_PHASES = frozenset({New, Handing})
"""Phases in which the agent's output must not be written."""

Admission = Literal["looking", "known", "probing"]
"""Progress of the first message in `sends`: its key is being looked up, is new, or the conversation is being probed."""


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
        """Commands that wait for the turn to end, including while its start is being written."""
        self.end_commands: tuple[Terminate | Delete | Rest, ...] = ()
        """Commands that wait for the session to end. Like `cancels`, a refused offer does not undo them."""
        self.startable = True
        """False while the daemon drains, or when the agent is no longer configured."""
        self.idle_armed = False
        self.time_limits: TimeLimits | None = None
        """The time limits that timers are armed for."""
        self._attempts = 0
        self._deferred: deque[tuple[int, Answer | Instruct]] = deque()
        self._effects: list[Effect] = []
        scribe.pen.used = record.used
        self._saved: SessionRecord | None = record if record.event_count else None
        """The record as stored, or as it will be once the last append is written."""
        self._view: View | None = None

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
        """Whether this is the current attempt; news of older ones is ignored."""
        return not isinstance(self.link, Absent) and self.link.attempt == attempt

    def change(self, **fields: Any) -> None:
        self.record = msgspec.structs.replace(self.record, **fields)

    @property
    def holding(self) -> bool:
        """The agent's output must wait: an offer can only be taken back while nothing follows it."""
        return self.offer is not None or isinstance(self.phase, Handing)

    # -- effects --------------------------------------------------------------------------------

    def emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    def take_effects(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def stop(self) -> None:
        """Release the process, if there is one."""
        if isinstance(self.link, Open | Opening):
            self.emit(Stop(self.link.attempt))
            self.link_to(Closing(self.link.attempt))

    # -- appends --------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Taken before an offer is made, so that a refusal can go back to it."""
        return Snapshot(
            self.record, self._saved, self._view, self.queue, self.phase, self.count, self.scribe.mark()
        )

    def propose(self, command: int | None, before: Snapshot, *changes: Change, deletes: bool = False) -> int:
        """Append what a client asked for."""
        number = self._append(changes, refusable=True, deletes=deletes)
        self.offer = Offered(number, command, before)
        return number

    def fact(self, *changes: Change) -> int:
        """Append what happened, if anything did."""
        if isinstance(self.phase, Gone):
            return self.last  # nothing may bring the session back
        if self.scribe.drafts or changes or self.record is not self._saved or self._learns:
            return self._append(changes, refusable=False)
        return self.last

    def take_back(self) -> Offered:
        """The offer was refused: restore the state before it."""
        offer, self.offer = self.offer, None
        assert offer is not None
        before = offer.before
        self.record, self._saved, self._view = before.record, before.saved, before.view
        self.queue, self.phase, self.count = before.queue, before.phase, before.count
        self.scribe.restore(before.mark)
        self.last = offer.number - 1
        self._deferred = deque(entry for entry in self._deferred if entry[0] != offer.number)
        return offer

    def take_pieces(self) -> list[Draft] | None:
        """The drafts, if they can go to the log unchanged; None if the machine has to decide something."""
        pen = self.scribe.pen
        if (
            pen.notable
            or pen.requested_end is not None
            or self.offer is not None
            or type(self.phase) in SILENT_PHASES
        ):
            return None
        if pen.used is not self.record.used or self.scribe.spent is not self.record.turn_usage:
            return None
        if self._opens_between_turns:
            return None
        drafts, pen.drafts = pen.drafts, []
        self.count += len(drafts)
        return drafts

    @property
    def _learns(self) -> bool:
        """The agent has reported a new model or title, or what it has spent."""
        record = self.record
        return self.scribe.pen.used is not record.used or self.scribe.spent is not record.turn_usage

    @property
    def _opens_between_turns(self) -> bool:
        """A sub-agent that outlives its turn has begun something, which the next daemon may have to close."""
        return self.record.open_since is None and not self.scribe.nothing_open()

    def _append(self, changes: Iterable[Change], *, refusable: bool, deletes: bool = False) -> int:
        scribe = self.scribe
        written: list[Change] = [*changes, *self._note(scribe.notable)]
        if self._learns:
            self.change(used=scribe.used, turn_usage=scribe.spent)
        self.note_limit()
        drafts = scribe.take()
        if scribe.native_session_id != self.record.native_id:
            self.change(native_id=scribe.native_session_id)
        if self.record.open_since is not None and scribe.nothing_open():
            self.change(open_since=None)
        elif self._opens_between_turns:
            self.change(open_since=self.count + 1)
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
        view = view_of(self.record, (pending.requested for pending in scribe.pending.values()))
        news = None if view == self._view else view
        self._view = view
        self.emit(Append(self.last, drafts, written, news, refusable, blobs, deletes))
        return self.last

    def _note(self, notable: list[tuple[int, Notable]]) -> list[Change]:
        """Update the record to match the events of the next append."""
        changes: list[Change] = []
        id = self.record.session_id
        for index, data in notable:
            record = self.record
            match data:
                case TurnStarted(turn_id):
                    since = record.open_since or self.count + index + 1
                    self.change(turn_id=turn_id, open_since=since, turns=record.turns + 1)
                case TurnEnded(turn_id, metadata):
                    stored = record.native_stored or metadata.stop_reason == "end_turn"
                    usage = record.usage
                    if metadata.usage is not None:
                        usage = (usage or Usage()) + metadata.usage
                    self.change(turn_id=None, native_stored=stored, usage=usage)
                    changes.append(self._booked(turn_id, metadata.usage))
                case PermissionRequested(asked_id):
                    changes.append(AddPending(id, _pending_row(asked_id, "permission", data)))
                case QuestionRequested(asked_id):
                    changes.append(AddPending(id, _pending_row(asked_id, "question", data)))
                case PermissionResolved(asked_id) | QuestionResolved(asked_id):
                    changes.append(ResolvePending(id, asked_id))
                case SessionEnded():
                    self.change(ended=True)
                case ToolAsked(request):
                    changes.append(AddPending(id, PendingRow(request.call_id, "tool", encode(request))))
                case ToolDone(key, call_id, outcome):
                    if call_id is not None:
                        changes.append(ResolvePending(id, call_id))
                    self.instruct(GiveToolResult(key, outcome), after=self.last + 1)
        return changes

    def _booked(self, turn_id: str, usage: Usage | None) -> RecordUsage:
        record, used = self.record, self.scribe.used
        model = record.settings.model or (used.model if used else None)
        spent = usage.bounded() if usage else None
        row = LedgerRow(record.session_id, turn_id, record.agent, model, self.world.now(), spent)
        return RecordUsage(row)

    def note_limit(self) -> None:
        """Announce between turns that a limit is reached. A limit that was raised is forgotten at once."""
        record, reported = self.record, self.record.limit_reached
        reached = None if record.ended else reached_limit(record, self.world.now)
        if (reached and reached.limit) == (reported and reported.limit):
            return
        if reached is not None:
            if record.turn_id is not None:
                return
            self.tell_limit(reached)
        self.change(limit_reached=reached)

    def tell_limit(self, reached: ReachedLimit) -> None:
        self.scribe.status("limit", msgspec.to_builtins(reached), reached.words, source="daemon")

    # -- answers and messages to the agent, released by appends -----------------------------------

    def answer(self, command: int, result: Any = None, *, after: int | None = None) -> None:
        """Answer once this append is written; by default, once everything appended so far is."""
        if command == NO_CALLER:
            return
        number = self.last if after is None else after
        if number <= self.committed:
            self.emit(Answer(command, result))
        else:
            self._deferred.append((number, Answer(command, result)))

    def refuse(self, command: int, problem: SandboxAgentError) -> None:
        """Answer at once: nothing was changed, and the problem reveals nothing that is not yet written."""
        if command != NO_CALLER:
            self.emit(Answer(command, problem))

    def instruct(self, instruction: Instruction, *, after: int) -> None:
        """Tell the agent that is there now, once this append is written."""
        if isinstance(self.link, Open):
            self._deferred.append((after, Instruct(self.link.attempt, instruction)))

    def instruct_now(self, instruction: Instruction) -> None:
        if isinstance(self.link, Open):
            self.emit(Instruct(self.link.attempt, instruction))

    def drop_stale_instructions(self) -> None:
        """Drop messages to the agent that are out of date. A tool's result never is: someone waits for it."""
        self._deferred = deque(
            entry
            for entry in self._deferred
            if isinstance(entry[1], Answer) or isinstance(entry[1].instruction, GiveToolResult)
        )

    def release(self) -> None:
        """Emit everything whose append is committed. Messages to the agent also wait for an open offer: sending may append."""
        kept: deque[tuple[int, Answer | Instruct]] = deque()
        for number, effect in self._deferred:
            if number > self.committed or (self.offer is not None and isinstance(effect, Instruct)):
                kept.append((number, effect))
            elif isinstance(effect, Answer) or (
                isinstance(self.link, Open) and self.link.attempt == effect.attempt
            ):
                self.emit(effect)
        self._deferred = kept

    def give_up_waiting(self, problem: SandboxAgentError) -> None:
        """Answer everyone who waits for an uncommitted fact with this problem. Answers to an offer are settled with the offer."""
        kept: deque[tuple[int, Answer | Instruct]] = deque()
        for number, effect in self._deferred:
            offered = self.offer is not None and number == self.offer.number
            if number > self.committed and isinstance(effect, Answer) and not offered:
                self.emit(Answer(effect.command, problem))
            else:
                kept.append((number, effect))
        self._deferred = kept

    @property
    def has_work(self) -> bool:
        """A queued message can start. A limit that is reached keeps it waiting."""
        return bool(self.queue) and self.startable and self.record.limit_reached is None

    @property
    def has_deferred(self) -> bool:
        return bool(self._deferred)


def _pending_row(id: str, kind: Literal["permission", "question"], asked: AnyData) -> PendingRow:
    return PendingRow(id, kind, encode(asked))
