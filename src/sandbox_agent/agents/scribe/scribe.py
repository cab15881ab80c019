"""The scribe writes a session's events so that the rules of the contract hold, whatever the agent says.

Adapters tell it what they see in the agent's own words ("text for block 3", "call 7 has its result", "the
turn is over") under keys of their choice; the scribe opens, closes, pairs and numbers. It is pure: ids and
the clock are given to it, and what it writes waits in `drafts` until the log takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from ...schema.ids import MakeId
from .drafts import Turn
from .open_items import OpenCall, OpenText
from .requests import Requests


class Scribe(Requests):
    """Writes the events of one session: its life and its turns, on top of messages, tools and requests."""

    def __init__(
        self,
        make_id: MakeId,
        clock: Callable[[], float],
        used_call_ids: Iterable[str] = (),
        image_folder: str = "",
    ) -> None:
        super().__init__(make_id, clock, used_call_ids, image_folder)
        self.started = False

    def start_session(self, metadata: SessionMetadata, source: Source = "daemon") -> None:
        self.started = True
        self._write(SessionStarted(metadata), source)

    def end_session(
        self,
        reason: Literal["completed", "error", "terminated"],
        *,
        by: Source = "daemon",
        message: str | None = None,
        exit_code: int | None = None,
        stderr: Stderr | None = None,
    ) -> None:
        """End the session and all that is open in it. Nothing is written afterwards."""
        if self.ended:
            return
        if self.turn:
            self.end_turn("error" if reason == "error" else "interrupted", source="daemon")
        self.close_background()
        self._write(SessionEnded(reason, by, message, exit_code, stderr), by)
        self.ended = True

    def start_turn(
        self,
        turn_id: str | None = None,
        *,
        source: Source = "daemon",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Open a turn; one that is open already goes on."""
        if self.turn is None:
            self.turn = Turn(turn_id or self._make_id("turn"), self._clock())
            self._write(TurnStarted(self.turn.id, metadata=metadata), source)

    def end_turn(
        self,
        stop_reason: StopReason,
        usage: Usage | None = None,
        *,
        duration_ms: int | None = None,
        source: Source = "agent",
    ) -> None:
        """Close what the turn left open, then the turn. Without an open turn this does nothing."""
        turn = self.turn
        if turn is None:
            return
        for key in list(self.pending):
            self._reject_unanswered(key)
        self._fail_open(lambda item: not item.outlives_turn)
        if duration_ms is None:
            duration_ms = round((self._clock() - turn.began) * 1000)
        reason = turn.stop_reason or stop_reason
        self._write(TurnEnded(turn.id, TurnMetadata(reason, duration_ms, usage)), source)
        self.turn = None

    def crash(
        self, exit_code: int | None, signal: str | None, stderr: Stderr | None, message: str = ""
    ) -> None:
        """The agent's process is gone by itself: an error of the open turn, nothing between turns."""
        if self.turn:
            how = signal or f"exit code {exit_code}"
            details = {"exit_code": exit_code, "signal": signal, "stderr": stderr}
            self.error(
                message or f"the agent's process exited ({how})",
                "agent_process_exited",
                details,
                source="daemon",
            )
            self.end_turn("error", source="daemon")
        self.close_background()

    def close_background(self) -> None:
        """Close what may outlive a turn, because the process or the session ends."""
        for key in list(self.pending):
            self._reject_unanswered(key)
        self._fail_open(lambda item: True)

    def nothing_open(self) -> bool:
        return self.turn is None and not (self._texts or self._calls or self.pending)

    def _fail_open(self, chosen: Callable[[OpenText | OpenCall], bool]) -> None:
        for key, open_text in list(self._texts.items()):
            if chosen(open_text):
                self.abandon(key)
        for key, call in list(self._calls.items()):
            if chosen(call):
                self.abandon_call(key)

    def abandon(self, key: str) -> None:
        """The agent gave this message or call up (retry, steer, refusal): it fails, holding what was streamed."""
        if open_text := self._texts.get(key):
            self._abandon_text(key, open_text)
        else:
            self.abandon_call(key)
