"""The machine: one object that decides everything about one session, and does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..agents.base import Agent
from ..agents.scribe import Scribe
from ..schema.world import World
from ..store.base import SessionRecord
from . import admission, enforcement, life, link, requests, tools, turns
from .core import Core, Limits
from .effects import Effect
from .inputs import (
    AskedBefore,
    Broken,
    Cancel,
    Closed,
    Committed,
    Configure,
    Create,
    Decide,
    Delete,
    DeliveryFailed,
    Drain,
    Dying,
    Exited,
    Input,
    KeyFound,
    Leaving,
    Loaded,
    NotCarried,
    OpenFailed,
    OutputReady,
    Ready,
    Refused,
    Replay,
    Reply,
    ReplyTool,
    Rest,
    Restored,
    Send,
    Stale,
    Stalled,
    Steered,
    Terminate,
    Timer,
    TimerKind,
    ToolCalled,
    ToolGivenUp,
    ToolUnannounced,
    Undelivered,
    Withdraw,
)
from .phases import Absent, Deleting, Ended, Ending, Gone, Handing, Idle, New, Resting
from .restore import Restore


class Machine:
    def __init__(self, core: Core) -> None:
        self.core = core
        self._restore: Restore | None = None

    @classmethod
    def create(
        cls,
        agent: Agent,
        record: SessionRecord,
        create: Create,
        world: World,
        limits: Limits,
        image_folder: str = "",
    ) -> Machine:
        """A new session. It exists once its agent is ready and the log holds it."""
        scribe = Scribe(world, (), image_folder)
        scribe.native_session_id = record.native_id
        core = Core(agent, record, scribe, New(create), world, limits)
        link.connect(core)
        if not agent.capabilities.shared_process:
            life.announce(core)
        return cls(core)

    @classmethod
    def load(
        cls,
        agent: Agent,
        record: SessionRecord,
        call_ids: Iterable[str],
        world: World,
        limits: Limits,
        image_folder: str = "",
    ) -> Machine:
        """A stored session. Feed it `Replay` for whatever may be open, then `Restored`."""
        scribe = Scribe(world, call_ids, image_folder)
        scribe.native_session_id = record.native_id
        scribe.started = record.event_count > 0
        scribe.pen.ended = record.ended
        machine = cls(Core(agent, record, scribe, Ended() if record.ended else Idle(), world, limits))
        machine._restore = Restore(machine.core)
        return machine

    def begin(self) -> list[Effect]:
        """The first effects of a new session."""
        return self.core.take_effects()

    def step(self, input: Input) -> list[Effect]:
        """Process one input and return its effects. While an offer is open, most inputs wait."""
        core = self.core
        kind = type(input)
        if core.offer is None or kind in AT_ONCE or _is_noted(core, input):
            self._handle(input)
        else:
            if kind in STOPS_AT_ONCE:
                life.stop_at_once(core)
            core.inbox.append(input)
        self._settle()
        return core.take_effects()

    def _handle(self, input: Input) -> None:
        core = self.core
        if type(core.phase) in TOO_LATE and isinstance(input, COMMANDS):
            life.turn_away(core, input)
        elif (handler := HANDLERS.get(type(input))) is not None:
            handler(core, input)
        else:
            self._learn(input)

    def _learn(self, input: Input) -> None:
        """Restore what an earlier daemon left."""
        assert self._restore is not None
        if isinstance(input, Replay):
            self._restore.replay(input)
        else:
            assert isinstance(input, Restored)
            self._restore.finish(input)
            self._restore = None

    def _settle(self) -> None:
        """Do everything that has become possible."""
        core = self.core
        while True:
            core.release()
            if core.offer is not None or self._restore is not None:
                return
            advance = ADVANCE.get(type(core.phase))
            if advance is not None and advance(core, core.phase):
                continue
            if core.inbox:
                self._handle(core.inbox.popleft())
            elif not (enforcement.enforce(core) or admission.admit_next(core) or link.proceed(core)):
                core.release()
                return

    # -- what the runtime asks ------------------------------------------------------------------

    @property
    def holding(self) -> bool:
        """The agent's output must wait."""
        return self.core.holding

    @property
    def at_rest(self) -> bool:
        """The store holds the whole state of the session, so this object can be dropped."""
        core = self.core
        return (
            isinstance(core.phase, Idle | Ended | Gone)
            and isinstance(core.link, Absent)
            and core.offer is None
            and not (core.has_deferred or core.sends or core.inbox or core.has_work)
            and core.last == core.committed
            and core.scribe.nothing_open()
        )


def _is_noted(core: Core, input: Input) -> bool:
    """Handled while an offer is open: a cancel of the turn being written, and the patience timer, which must not wait for a slow disk."""
    if isinstance(input, Timer):
        return input.kind == "patience"
    return (
        isinstance(input, Cancel)
        and isinstance(core.phase, Handing)
        and input.turn in (None, core.phase.turn)
    )


def _committed(core: Core, news: Committed) -> None:
    core.committed = max(core.committed, news.number)
    if core.offer is not None and core.offer.number <= core.committed:
        core.offer = None
        if isinstance(core.phase, Deleting):
            life.deleted(core)
        elif isinstance(core.phase, Idle):
            turns.answer_cancels(core)  # their message was withdrawn


def _refused(core: Core, news: Refused) -> None:
    """Undo the refused offer and answer its command with the problem."""
    if core.offer is None or core.offer.number != news.number:
        return
    phase = core.phase
    offer = core.take_back()
    if offer.command is not None:
        core.refuse(offer.command, news.problem)
    if isinstance(phase, Deleting):
        life.refuse_end_commands(core, news.problem)
    elif isinstance(phase, Handing) and phase.number == offer.number:
        turns.answer_cancels(core)  # nothing runs
    if isinstance(core.phase, New):
        life.create_refused(core)


def _timer(core: Core, timer: Timer) -> None:
    TIMERS[timer.kind](core, timer)


Handler = Callable[[Core, Any], None]

HANDLERS: dict[type[Any], Handler] = {
    Send: admission.send,
    Withdraw: admission.withdraw,
    Configure: admission.configure,
    KeyFound: admission.key_found,
    Cancel: turns.cancel,
    Loaded: turns.loaded,
    OutputReady: turns.output_ready,
    Broken: turns.broken,
    Steered: turns.steered,
    DeliveryFailed: turns.delivery_failed,
    Decide: requests.decide,
    Reply: requests.reply,
    AskedBefore: requests.asked_before,
    ReplyTool: tools.reply,
    ToolCalled: tools.called,
    ToolUnannounced: tools.unannounced,
    ToolGivenUp: tools.given_up,
    Ready: link.ready,
    OpenFailed: link.open_failed,
    Leaving: link.leaving,
    Undelivered: link.undelivered,
    Stale: link.stale,
    Dying: link.dying,
    Exited: link.exited,
    Closed: link.closed,
    NotCarried: link.not_carried,
    Terminate: life.terminate,
    Delete: life.terminate,
    Drain: life.drain,
    Rest: life.rest,
    Stalled: life.stalled,
    Committed: _committed,
    Refused: _refused,
    Timer: _timer,
}

TIMERS: dict[TimerKind, Handler] = {
    "turn": enforcement.turn_time_ran_out,
    "session": enforcement.session_time_ran_out,
    "cancel": turns.cancel_ran_out,
    "patience": life.patience_ran_out,
    "idle": link.idled,
}

AT_ONCE = frozenset({Committed, Refused, Stalled, Dying, Send, Drain})
"""Handled even while an offer is open: these settle the offer, or change nothing that the offer could undo."""

ADVANCE: dict[type[Any], Callable[[Core, Any], bool]] = {
    Handing: turns.hand_over,
    Ending: life.finish_ending,
    Resting: life.finish_resting,
}
"""Phases that wait for an append to be written, with the function that continues them. It returns whether it did."""

TOO_LATE = frozenset({Gone, Resting})

COMMANDS = (Send, Withdraw, Cancel, Decide, Reply, ReplyTool, Configure, Terminate, Delete)

STOPS_AT_ONCE = frozenset({Terminate, Delete, Rest})
