"""Replays a recording of a real agent to the session machine, which decides as it would in the daemon.

The player stands in for the runtime: a wire for each recorded process, a log that commits immediately, and the recording's clock.
Ids are counted, so a recording always gives the same events. Messages to the agent are not sent: the recording holds what was sent.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from ..agents.base import (
    Action,
    Agent,
    Answered,
    Began,
    Cancelled,
    Conversation,
    Decided,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wait,
    Wire,
)
from ..agents.recording import Line, decode_line
from ..agents.scribe import Draft
from ..agents.stderr import StderrTail
from ..errors import AgentProcessExited
from ..schema.events import Event
from ..schema.exits import exit_facts
from ..schema.inputs import Settings
from ..schema.world import counted
from ..store.base import Enqueue, QueuedMessage, Secrets, SessionRecord
from . import effects, inputs
from .core import Limits
from .machine import Machine
from .phases import Cancelling, New, Opening, Reopening, Running

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Played(Struct, frozen=True):
    """An event of a recording and the native frame that caused it."""

    event: Event
    raw: bytes | None


def translate(agent: Agent, lines: Iterable[bytes]) -> Iterator[Played]:
    """The universal events of a recording, in the order of their causes."""
    player = _Player(agent)
    for text in lines:
        if text.strip():
            yield from player.play(decode_line(text))
    yield from player.stop()


class _Session:
    """One conversation of the recording: its machine and a minimal log."""

    def __init__(self, session_id: str, machine: Machine) -> None:
        self.session_id = session_id
        self.machine = machine
        self.conversation: Conversation | None = None
        self.failure: tuple[str, bool] | None = None
        """Why the agent could not start, and whether the conversation is gone; its exit may follow."""
        self.sequence = 0
        self.attempt = 1
        self.queued: dict[str, QueuedMessage] = {}

    @property
    def is_new(self) -> bool:
        return isinstance(self.machine.core.phase, New)


class _Player:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._now = 0.0
        self._world = counted(lambda: self._now, self._time)
        self._sessions: list[_Session] = []
        self._played: list[Played] = []
        self._commands = 0
        self._wire: Wire | None = None
        self._named_process = False  # the recording holds the process's command line
        self._alive = False  # the process has said something
        self._waiting: list[Action] = []  # actions of the client before that
        self._stderr = StderrTail()
        self._waits: dict[Conversation, float] = {}  # when each delay ends

    def play(self, line: Line) -> list[Played]:
        self._end_waits(line.t)
        self._now = line.t
        match line.dir:
            case "cmd":
                self._process_started(msgspec.json.decode(line.msg, type=list[str]))
            case "in":
                wire = self._current_wire()
                for action in _understood(wire.sent(bytes(line.msg))):
                    self._visit(wire)
                    self._note(action)
                self._visit(wire)
            case "out":
                self._handle(self._current_wire(), line.frame)
            case "err":
                self._stderr.feed(msgspec.json.decode(line.msg, type=str))
            case "exit":
                self._process_exited(msgspec.json.decode(line.msg, type=dict[str, Any]))
        return self._take()

    def stop(self) -> list[Played]:
        """The recording ends, as if the daemon stopped."""
        self._come_alive()
        self._end_waits(math.inf)
        for session in self._sessions:
            self._fail_start(session, None)
            self._step(session, inputs.Rest(self._command()))
        return self._take()

    def _end_waits(self, now: float) -> None:
        """End the delays that expire before the next line."""
        for conversation, until in list(self._waits.items()):
            if until <= now and self._wire is not None:
                del self._waits[conversation]
                self._now = until
                self._wire.waited(conversation)
                self._visit(self._wire)

    def _take(self) -> list[Played]:
        played, self._played = self._played, []
        return played

    # -- processes ------------------------------------------------------------------------------

    def _process_started(self, argv: list[str]) -> None:
        self._new_wire()
        self._named_process = True
        for action in self._current_wire().launched(argv):
            self._note(action)

    def _process_exited(self, facts: dict[str, Any]) -> None:
        code, signal = exit_facts(facts.get("returncode"))
        for conversation in self._wire.conversations() if self._wire is not None else ():
            session = self._session_of(conversation)
            if not self._alive and session.failure is None:
                session.failure = ("the agent could not be started", False)
            if not self._alive and not session.is_new:
                self._apply_waiting()  # it was resumed, so the failure belongs to the turn
            if not self._fail_start(session, code):
                self._step(session, inputs.Dying(session.attempt))
                self._step(session, inputs.Exited(session.attempt, code, signal, self._stderr.read()))
        self._wire = None
        self._waits.clear()
        self._stderr = StderrTail()

    def _fail_start(self, session: _Session, code: int | None) -> bool:
        """Whether a start was under way and has failed."""
        failure, session.failure = session.failure, None
        if failure is None or not isinstance(session.machine.core.link, Opening):
            return False
        message, gone = failure
        problem = AgentProcessExited(
            message, agent=self._agent.name, exitCode=code, stderr=self._stderr.read()
        )
        self._step(session, inputs.OpenFailed(session.attempt, problem, exited=True, gone=gone))
        return True

    def _current_wire(self) -> Wire:
        if self._wire is None:
            self._new_wire()
        assert self._wire is not None
        return self._wire

    def _new_wire(self) -> None:
        self._wire = wire = self._agent.wire(self._world)
        wire.recorded_start = self._start
        self._named_process = False
        self._alive = False
        self._waiting = []

    def _start(self, settings: Settings, native_id: str | None) -> Start:
        """A client begins a conversation: a new session, or the one it names."""
        known = self._known(native_id)
        resume = known is not None
        if known is None:
            known = self._create(settings, native_id)
        metadata = self._agent.metadata(None, settings)
        return Start(known.machine.core.scribe, settings, metadata, native_id, resume)

    def _create(self, settings: Settings, native_id: str | None) -> _Session:
        name, moment = f"ses_{len(self._sessions) + 1}", self._time()
        record = SessionRecord(name, self._agent.name, settings, moment, moment, native_id=native_id)
        create = inputs.Create(self._command(), Secrets())
        machine = Machine.create(self._agent, record, create, self._world, Limits())
        session = _Session(name, machine)
        self._sessions.append(session)
        self._carry_out(session, machine.begin())
        return session

    def _known(self, native_id: str | None) -> _Session | None:
        for session in self._sessions:
            if native_id is not None and session.machine.core.scribe.native_session_id == native_id:
                return session
        # In recordings without command lines, the next process continues the last conversation.
        begins = self._wire is None or not list(self._wire.conversations())
        own_process = not self._agent.capabilities.shared_process
        if native_id is None and begins and own_process and not self._named_process:
            return self._sessions[-1] if self._sessions else None
        return None

    def _session_of(self, conversation: Conversation) -> _Session:
        return next(
            session for session in self._sessions if session.machine.core.scribe is conversation.scribe
        )

    # -- what the client did ----------------------------------------------------------------------

    def _note(self, action: Action) -> None:
        session = self._session_of(action.conversation)
        session.conversation = action.conversation
        if isinstance(action, Began):
            pass
        elif self._alive:
            self._apply(session, action)
        else:
            self._waiting.append(action)

    def _come_alive(self) -> None:
        self._alive = True
        self._apply_waiting()

    def _apply_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            self._apply(self._session_of(action.conversation), action)

    def _apply(self, session: _Session, action: Action) -> None:
        if session.failure is not None and session.is_new:
            return
        self._make_ready(session)
        core = session.machine.core
        match action:
            case Prompted(_, prompt) if isinstance(core.phase, Running | Cancelling | Reopening):
                self._step(session, inputs.Steered(prompt))
            case Prompted(_, prompt):
                self._step(session, inputs.Send(self._command(), prompt))
            case Decided(_, key, decision) if pending := core.scribe.pending.get(key):
                self._step(session, inputs.Decide(self._command(), pending.id, decision))
            case Answered(_, key, answer) if pending := core.scribe.pending.get(key):
                self._step(session, inputs.Reply(self._command(), pending.id, answer))
            case Cancelled():
                self._step(session, inputs.Cancel(self._command()))

    def _make_ready(self, session: _Session) -> None:
        if isinstance(session.machine.core.link, Opening) and self._alive:
            self._step(session, inputs.Ready(session.attempt))

    # -- what the agent said ----------------------------------------------------------------------

    def _handle(self, wire: Wire, frame: bytes) -> None:
        self._come_alive()
        wire.receive(wire.recorded_frame(frame))
        wire.outbox.clear()
        notices, wire.notices = wire.notices, []
        for notice in notices:
            if isinstance(notice, StartFailed):
                session = self._session_of(notice.conversation)
                session.failure = (notice.message, notice.gone)
                if self._agent.capabilities.shared_process:
                    self._fail_start(session, None)
            elif isinstance(notice, Ready):
                self._make_ready(self._session_of(notice.conversation))
            elif isinstance(notice, Wait):
                self._waits[notice.conversation] = self._now + notice.seconds
        for session in self._sessions:
            if session.is_new and self._has_begun(session):
                self._make_ready(session)
        self._visit(wire)

    def _visit(self, wire: Wire) -> None:
        """Take what the wire wrote."""
        touched, wire.frame.touched = wire.frame.touched, []
        for scribe in touched:
            session = next(session for session in self._sessions if session.machine.core.scribe is scribe)
            pieces = session.machine.core.take_pieces()
            if pieces is None:
                self._step(session, inputs.OUTPUT_READY)
            else:
                self._write(session, pieces)

    def _has_begun(self, session: _Session) -> bool:
        """For a process of its own, the first frame counts as ready where the agent does not announce it."""
        if session.failure is not None:
            return False
        return session.machine.core.scribe.started or not self._agent.capabilities.shared_process

    # -- the world around the machine -------------------------------------------------------------

    def _step(self, session: _Session, input: inputs.Input) -> None:
        self._carry_out(session, session.machine.step(input))

    def _carry_out(self, session: _Session, emitted: list[effects.Effect]) -> None:
        """Commit every append immediately and carry out everything that follows."""
        todo: deque[effects.Effect] = deque(emitted)
        while todo:
            if (input := self._do(session, todo.popleft())) is not None:
                todo.extend(session.machine.step(input))

    def _do(self, session: _Session, effect: effects.Effect) -> inputs.Input | None:
        match effect:
            case effects.Append(number, drafts, changes):
                self._write(session, drafts)
                queued = [change.message for change in changes if isinstance(change, Enqueue)]
                session.queued |= {message.turn_id: message for message in queued}
                return inputs.Committed(number)
            case effects.Connect(attempt):
                session.attempt = attempt
                return inputs.Ready(attempt) if self._alive and not session.is_new else None
            case effects.Stop(attempt):
                return inputs.Closed(attempt)
            case effects.Load(turn):
                return inputs.Loaded(turn, session.queued.pop(turn, None))
            case effects.LookUpAsked(command, id):
                return inputs.AskedBefore(command, id, known=True)
            case effects.Instruct(_, instruction) if session.conversation is not None:
                if isinstance(instruction, effects.GivePrompt | effects.Interrupt):
                    session.conversation.cancelling = isinstance(instruction, effects.Interrupt)
        return None

    def _write(self, session: _Session, drafts: Iterable[Draft]) -> None:
        for draft in drafts:
            session.sequence += 1
            event = Event(
                self._world.make_id("evt"),
                session.sequence,
                self._time(),
                session.session_id,
                draft.native_session_id,
                draft.source,
                draft.source == "daemon",
                draft.type,
                draft.data,
            )
            self._played.append(Played(event, draft.raw))

    def _command(self) -> int:
        self._commands += 1
        return self._commands

    def _time(self) -> str:
        moment = (EPOCH + timedelta(seconds=self._now)).isoformat(timespec="milliseconds")
        return moment.replace("+00:00", "Z")


def _understood(actions: Iterator[Action]) -> Iterator[Action]:
    """A client may send malformed input: it has no effect, and the agent's response follows in the recording."""
    try:
        yield from actions
    except (msgspec.DecodeError, ValueError):
        return
