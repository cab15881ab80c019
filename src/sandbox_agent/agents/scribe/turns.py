"""A session's life and its turns: every turn that starts ends, and closes what it left open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ...schema.events import (
    SessionEnded,
    SessionMetadata,
    SessionStarted,
    Source,
    Stderr,
    StopReason,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
)
from .calls import Calls
from .drafts import Turn
from .open_items import OpenCall, OpenText
from .pen import Pen
from .requests import Requests
from .texts import Texts

UNANSWERED = "not answered before the turn ended"


class Turns:
    def __init__(self, pen: Pen, texts: Texts, calls: Calls, requests: Requests) -> None:
        self._pen = pen
        self._texts = texts
        self._calls = calls
        self._requests = requests

    def start_session(self, metadata: SessionMetadata, source: Source = "daemon") -> None:
        self._pen.write(SessionStarted(metadata), source)

    def agent_left(self, reason: Literal["completed", "error", "terminated"], by: Source = "agent") -> None:
        """The agent has ended the conversation: nothing more will follow."""
        pen = self._pen
        if not pen.ended and pen.requested_end is None:
            pen.requested_end = SessionEnded(reason, by)
            pen.touch()

    def end_session(
        self,
        reason: Literal["completed", "error", "terminated"],
        *,
        by: Source = "daemon",
        message: str | None = None,
        exit_code: int | None = None,
        stderr: Stderr | None = None,
    ) -> None:
        """End the session and everything open in it. Nothing is written afterwards."""
        if self._pen.ended:
            return
        if self._pen.turn:
            self.end_turn("error" if reason == "error" else "interrupted", source="daemon")
        self.close_background()
        self._pen.write(SessionEnded(reason, by, message, exit_code, stderr), by)
        self._pen.ended = True

    def start_turn(
        self,
        turn_id: str | None = None,
        *,
        source: Source = "daemon",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Open a turn; one that is already open continues."""
        pen = self._pen
        if pen.turn is None and not pen.ended:
            turn = Turn(turn_id or pen.make_id("turn"), pen.world.clock())
            pen.write(TurnStarted(turn.id, metadata=metadata), source)
            pen.turn = turn
            self._requests.begin_turn()

    def spend(self, total: Usage | None) -> None:
        """Report what the open turn has spent so far, all of it. Budgets are checked with every report."""
        pen = self._pen
        if pen.turn is not None and total is not None and total != pen.turn.spent:
            pen.turn.spent = total
            pen.touch()

    def end_turn(
        self,
        stop_reason: StopReason,
        usage: Usage | None = None,
        *,
        duration_ms: int | None = None,
        source: Source = "agent",
    ) -> None:
        """Close what the turn left open, then the turn. Does nothing without an open turn.

        Without `usage`, the turn has spent what was reported while it ran.
        """
        pen, turn = self._pen, self._pen.turn
        if turn is None:
            return
        self._requests.withdraw_all(UNANSWERED)
        self._fail_open(lambda item: not item.outlives_turn)
        if duration_ms is None:
            duration_ms = round((pen.world.clock() - turn.began) * 1000)
        waiting_ms = min(duration_ms, round(self._requests.waited.seconds * 1000))
        reason = turn.stop_reason or stop_reason
        usage = turn.spent if usage is None else usage
        pen.write(TurnEnded(turn.id, TurnMetadata(reason, duration_ms, usage, waiting_ms)), source)
        pen.turn = None

    def crash(
        self, exit_code: int | None, signal: str | None, stderr: Stderr | None, message: str = ""
    ) -> None:
        """The agent's process exited unexpectedly: an error of the open turn, nothing between turns."""
        if self._pen.turn:
            how = signal or f"exit code {exit_code}"
            details = {"exit_code": exit_code, "signal": signal, "stderr": stderr}
            self._pen.error(
                message or f"the agent's process exited ({how})",
                "agent_process_exited",
                details,
                source="daemon",
            )
            self.end_turn("error", source="daemon")
        self.close_background()

    def close_background(self) -> None:
        """Close what may outlive a turn, because the process or the session ends."""
        self._requests.withdraw_all(UNANSWERED)
        self._fail_open(lambda item: True)

    def nothing_open(self) -> bool:
        return self._pen.turn is None and not (self._texts.open or self._calls.open or self._requests.pending)

    def abandon(self, key: str) -> None:
        """The agent abandoned this message or call (retry, steer, refusal): it fails with the text streamed
        so far.
        """
        if key in self._texts.open:
            self._texts.abandon(key)
        else:
            self._calls.abandon_call(key)

    def _fail_open(self, chosen: Callable[[OpenText | OpenCall], bool]) -> None:
        for key, open_text in list(self._texts.open.items()):
            if chosen(open_text):
                self._texts.abandon(key)
        for key, call in list(self._calls.open.items()):
            if chosen(call):
                self._calls.abandon_call(key)
