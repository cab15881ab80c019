"""Reads a recording of a real agent and plays the daemon's part in it, without I/O.

The format (docs/recordings.md): one JSON object per line, `{"dir", "t", "msg"}`; `dir` is `in` (client to agent), `out` (agent to
client), `cmd` (a process started), `exit`, `err` (a line of stderr) or `note`. Ids are counted and times come from `t`, so the
same recording always gives the same events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..schema.events import Event
from ..schema.inputs import Settings
from ..schema.world import counted
from .base import (
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
    Wire,
)
from .scribe import Scribe
from .stderr import StderrTail, exit_facts

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Line(Struct, frozen=True):
    dir: Literal["in", "out", "cmd", "exit", "err", "note"]
    t: float
    msg: msgspec.Raw = msgspec.Raw(b"null")


class Recorded(Struct, frozen=True):
    """An event of a recording and the native frame that caused it."""

    event: Event
    raw: bytes | None


_line = msgspec.json.Decoder(Line)


def translate(agent: Agent, lines: Iterable[bytes]) -> Iterator[Recorded]:
    """The universal events of a recording, in the order of their causes."""
    player = _Player(agent)
    for text in lines:
        if text.strip():
            yield from player.play(_line.decode(text))
    yield from player.stop()


class _Session:
    """One conversation of the recording, as the daemon would keep it."""

    def __init__(self, session_id: str, scribe: Scribe) -> None:
        self.session_id = session_id
        self.scribe = scribe
        self.sequence = 0


class _Player:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._now = 0.0
        self._world = counted(lambda: self._now)
        self._sessions: list[_Session] = []
        self._wire: Wire | None = None
        self._named_process = False  # the process was started by a recorded command line
        self._alive = False  # the process has said something
        self._waiting: list[Action] = []  # what a client sent before that
        self._failed: list[tuple[Conversation, str]] = []  # starts that failed; their exit may follow
        self._stderr = StderrTail()

    def play(self, line: Line) -> Iterator[Recorded]:
        self._now = line.t
        match line.dir:
            case "cmd":
                self._process_started(msgspec.json.decode(line.msg, type=list[str]))
            case "in":
                wire = self._current_wire()
                for action in _understood(wire.sent(bytes(line.msg))):
                    self._note(action)
            case "out":
                wire = self._current_wire()
                self._show_life()
                wire.receive(wire.recorded_frame(_frame(line.msg)))
                self._read_notices(wire)
            case "err":
                self._stderr.feed(msgspec.json.decode(line.msg, type=str))
            case "exit":
                self._process_exited(msgspec.json.decode(line.msg, type=dict[str, Any]))
        yield from self._flush()

    def stop(self) -> Iterator[Recorded]:
        """The recording ends: what is open ends as it would when the daemon is restarted."""
        self._show_life()
        self._end_failed(None)
        for session in self._sessions:
            session.scribe.end_turn("outcome_unknown", source="daemon")
            session.scribe.close_background()
        yield from self._flush()

    # -- processes

    def _process_started(self, argv: list[str]) -> None:
        self._new_wire()
        self._named_process = True
        for action in self._current_wire().launched(argv):
            self._note(action)

    def _process_exited(self, facts: dict[str, Any]) -> None:
        exit_code, signal = exit_facts(facts.get("returncode"))
        stderr = self._stderr.read()
        if self._wire is not None:
            if not self._alive and not self._failed:
                self._fail_start(self._wire)
            self._end_failed(exit_code)
            for conversation in self._wire.conversations():
                conversation.scribe.crash(exit_code, signal, stderr)
        self._wire = None
        self._stderr = StderrTail()

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
        self._failed = []

    def _start(self, settings: Settings, native_id: str | None) -> Start:
        """A client begins a conversation: a new session, or the one it names."""
        known = self._known(native_id)
        if known is None:
            scribe = Scribe(self._world)
            known = _Session(f"ses_{len(self._sessions) + 1}", scribe)
            self._sessions.append(known)
            return Start(scribe, settings, self._agent.metadata(None, settings), native_id)
        metadata = self._agent.metadata(None, settings)
        return Start(known.scribe, settings, metadata, native_id, resume=True)

    def _known(self, native_id: str | None) -> _Session | None:
        for session in self._sessions:
            if native_id is not None and session.scribe.native_session_id == native_id:
                return session
        # Recordings without command lines: the next process goes on with the only conversation there is.
        if native_id is None and not self._named_process and not self._agent.capabilities.shared_process:
            return self._sessions[-1] if self._sessions else None
        return None

    # -- what the client did

    def _note(self, action: Action) -> None:
        if isinstance(action, Began):
            if not self._agent.capabilities.shared_process:
                action.conversation.announce("daemon")
        elif self._alive:
            self._apply(action)
        else:
            self._waiting.append(action)

    def _show_life(self) -> None:
        self._alive = True
        for action in self._waiting:
            self._apply(action)
        self._waiting = []

    def _apply(self, action: Action) -> None:
        scribe = action.conversation.scribe
        if any(failed is action.conversation for failed, _ in self._failed):
            return
        match action:
            case Prompted(conversation, prompt):
                conversation.cancelling = False
                scribe.start_turn()
                scribe.user_message(prompt.text, prompt.attachments)
            case Decided(_, key, decision):
                status = {"once": "accept", "always": "accept_for_session", "reject": "reject"}
                scribe.decide(key, status[decision.reply], "client", decision.message)  # type: ignore[arg-type]
            case Answered(_, key, answer):
                scribe.answer(key, answer.answers, "client", answer.message)
            case Cancelled(conversation):
                conversation.cancelling = True

    # -- what became of it

    def _read_notices(self, wire: Wire) -> None:
        for notice in wire.notices:
            match notice:
                case Ready(conversation):
                    conversation.announce("daemon")
                case StartFailed(conversation, message):
                    self._failed.append((conversation, message))
        wire.notices.clear()
        wire.outbox.clear()
        if self._agent.capabilities.shared_process:
            self._end_failed(None)

    def _fail_start(self, wire: Wire) -> None:
        """The process ended without a word: a failed first start, or an error of the turn that resumed it."""
        for conversation in wire.conversations():
            if conversation.resumed:
                self._show_life()
            else:
                self._failed.append((conversation, "the agent could not be started"))

    def _end_failed(self, exit_code: int | None) -> None:
        for conversation, message in self._failed:
            if not conversation.resumed:
                conversation.announce("daemon")
                conversation.scribe.end_session(
                    "error", message=message, exit_code=exit_code, stderr=self._stderr.read()
                )
        self._failed = [] if self._agent.capabilities.shared_process else self._failed

    def _flush(self) -> Iterator[Recorded]:
        time = (EPOCH + timedelta(seconds=self._now)).isoformat(timespec="milliseconds")
        for session in self._sessions:
            for draft in session.scribe.take():
                session.sequence += 1
                event = Event(
                    self._world.make_id("evt"),
                    session.sequence,
                    time.replace("+00:00", "Z"),
                    session.session_id,
                    draft.native_session_id,
                    draft.source,
                    draft.source == "daemon",
                    draft.type,
                    draft.data,
                )
                yield Recorded(event, draft.raw)


def _understood(actions: Iterator[Action]) -> Iterator[Action]:
    """A client may write nonsense: it did nothing then, and what the agent says to it follows."""
    try:
        yield from actions
    except (msgspec.DecodeError, ValueError):
        return


def _frame(message: msgspec.Raw) -> bytes:
    """A line that was not JSON is recorded as a string."""
    raw = bytes(message)
    return msgspec.json.decode(raw, type=str).encode() if raw.startswith(b'"') else raw
