"""One turn of `run`: follows it to its end, shows it, and answers its requests."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from ..schema.events import (
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    decode_event,
)
from ..schema.inputs import Answer, Decision
from ..schema.items import Item, Json, StatusPart
from .asking import ask_permission, ask_question
from .failures import INTERRUPTED, CommandFailed, ProblemAnswered
from .log_watch import LogWatch
from .narration import Narrator, View, summary
from .output import console, say, write_line
from .remote import Remote, call, session_path
from .views import PlainView, SilentView, TerminalView

Answered = TypeVar("Answered")
NO_TERMINAL = "nobody to ask, because this is not a terminal"
CANCELLING = "cancelling (press Ctrl-C again to exit at once)"
CANCEL_SECONDS = 10.0
"""How long a turn may take to end after its timeout."""


class Turn:
    """Follows one turn, shows it, and answers its requests."""

    def __init__(
        self, remote: Remote, session_id: str, turn_id: str, *, as_events: bool, timeout: float | None
    ) -> None:
        self._remote = remote
        self._session_id = session_id
        self._turn_id = turn_id
        self._as_events = as_events
        self._timeout = timeout
        self._terminal = console()
        self._asks = sys.stdin.isatty() and sys.stdout.isatty() and not as_events
        self._view = self._choose_view()
        self._narrator = Narrator(self._view)
        self._watch = LogWatch(remote.address)
        self._started = False
        self._interrupts = 0
        self._timed_out = False
        self._asking = False
        self.was_logged_in = True
        """False once the agent has reported that its key or login is missing or wrong."""

    def _choose_view(self) -> View:
        if self._as_events:
            return SilentView()
        return TerminalView(self._terminal) if sys.stdout.isatty() else PlainView()

    def follow(self, seen: int) -> int:
        """Show the turn from start to end. Returns the exit code."""
        before = {
            signal.SIGINT: signal.signal(signal.SIGINT, self._interrupt),
            signal.SIGALRM: signal.signal(signal.SIGALRM, self._alarm),
        }
        if self._timeout is not None:
            signal.setitimer(signal.ITIMER_REAL, self._timeout)
        try:
            with self._watch:
                return self._follow(seen)
        except (OSError, SystemExit):
            # Nobody sees the rest: the output cannot be written, or the command is ending.
            self._cancel()
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._view.close()

    def _follow(self, seen: int) -> int:
        request = call("GET", session_path(self._session_id, "events", "sse"), query={"offset": seen})
        for frame in self._remote.follow(request):
            event = decode_event(frame.data)
            match event.data:
                case TurnStarted(turn_id) if turn_id == self._turn_id:
                    self._started = True
                case ItemCompleted(item) if self._is_withdrawal(item):
                    return self._withdrawn()
            if not self._started and not isinstance(event.data, SessionEnded):
                continue
            if self._as_events:
                write_line(frame.data)
            ended = self._handle(event)
            if ended is not None:
                return ended
        raise CommandFailed("the stream ended before the turn did")

    def _is_withdrawal(self, item: Item) -> bool:
        match item.content:
            case (StatusPart("queue"), Json({"turn_id": turn_id, "state": "withdrawn"})):
                return bool(turn_id == self._turn_id)
        return False

    def _handle(self, event: Event) -> int | None:
        """Show an event and answer it. Returns the exit code if it is the last one."""
        self._narrator.handle(event)
        match event.data:
            case PermissionRequested() as request:
                self._decide(request)
            case QuestionRequested() as question:
                self._answer(question)
            case ErrorEvent(code="authentication_failed"):
                self.was_logged_in = False
            case TurnEnded(turn_id) as ended if turn_id == self._turn_id:
                return self._end(ended)
            case SessionEnded(reason):
                return 0 if reason == "completed" else 1
        return None

    def _end(self, ended: TurnEnded) -> int:
        if not self._as_events:
            self._view.close()
            self._view.notice(summary(ended))
        if self._timed_out:
            raise self._too_late()
        if self._interrupts:
            return INTERRUPTED
        return 0 if ended.metadata.stop_reason == "end_turn" else 1

    def _withdrawn(self) -> int:
        if self._timed_out:
            raise self._too_late()
        if self._interrupts:
            return INTERRUPTED
        raise CommandFailed("the message was withdrawn from the queue")

    def _too_late(self) -> CommandFailed:
        return CommandFailed(f"the turn took longer than {self._timeout:g} s and was cancelled")

    # -- requests --

    def _decide(self, request: PermissionRequested) -> None:
        if self._asks:
            decision = self._on_terminal(lambda: ask_permission(request, self._terminal, input))
        else:
            decision = Decision("reject", NO_TERMINAL)
            say(f"rejected {request.action}: {NO_TERMINAL} (see --permission-mode)")
        if decision is not None:
            body = {"reply": decision.reply, "message": decision.message}
            self._reply(("permissions", request.permission_id, "reply"), body)

    def _answer(self, request: QuestionRequested) -> None:
        if self._asks:
            answer = self._on_terminal(lambda: ask_question(request, self._terminal, input))
        else:
            answer = Answer(None)
            say(f"rejected a question: {NO_TERMINAL}")
        if answer is not None and answer.answers is None:
            self._reply(("questions", request.question_id, "reject"), {})
        elif answer is not None:
            self._reply(("questions", request.question_id, "reply"), {"answers": answer.answers})

    def _on_terminal(self, ask: Callable[[], Answered]) -> Answered | None:
        """Ask the user. None after Ctrl-C, which cancels the turn, and with it the request."""
        self._view.close()
        self._asking = True
        try:
            return ask()
        except KeyboardInterrupt:
            self._terminal.print()
            say(CANCELLING)
            self._cancel()
            return None
        finally:
            self._asking = False

    def _reply(self, path: tuple[str, ...], body: dict[str, Any]) -> None:
        try:
            self._remote.post(session_path(self._session_id, *path), body)
        except ProblemAnswered as problem:
            if problem.status not in (404, 409):
                raise
            say("another client has already answered")

    # -- signals --

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C cancels the turn and shows its end; the second exits."""
        self._interrupts += 1
        if self._asking or self._interrupts > 1:
            raise KeyboardInterrupt
        say_later(CANCELLING, self._cancel)

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        """The log cannot be written, or the time is up; the turn then gets a few seconds to end."""
        if self._watch.failure is not None:
            raise CommandFailed(self._watch.failure)
        if self._timed_out:
            raise self._too_late()
        self._timed_out = True
        signal.setitimer(signal.ITIMER_REAL, CANCEL_SECONDS)
        if self._asking:
            raise KeyboardInterrupt
        say_later("timeout reached, cancelling", self._cancel)

    def _cancel(self) -> None:
        """Cancel this turn only: if it is still queued, withdraw it."""
        # A separate connection, because the other one may be in use.
        with contextlib.suppress(CommandFailed), Remote(self._remote.address) as remote:
            path = session_path(self._session_id, "cancel")
            remote.send(call("POST", path, query={"turnId": self._turn_id}))


def say_later(text: str, then: Callable[[], None]) -> None:
    """Print outside the signal handler, which may have interrupted a write to the terminal."""

    def work() -> None:
        say(text)
        then()

    threading.Thread(target=work, daemon=True).start()
