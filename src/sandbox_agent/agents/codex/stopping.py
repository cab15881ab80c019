"""Stops threads: interrupts the turn, kills the commands that would survive it, and unsubscribes."""

from __future__ import annotations

from collections.abc import Callable

from .awaited import Awaited, Leaving, Nothing, Stopping
from .commands import Command, Interrupt, OnThread
from .thread import Thread


class Stopper:
    def __init__(self, call: Callable[[str, Command, Awaited], None]) -> None:
        self._call = call

    def interrupt(self, thread: Thread) -> None:
        if thread.running:
            params = Interrupt(thread_id=thread.id, turn_id=thread.running)
            self._call("turn/interrupt", params, Stopping(thread))
            self._kill_commands(thread)

    def leave(self, thread: Thread) -> None:
        self._kill_commands(thread)
        self.unsubscribe(thread)

    def unsubscribe(self, thread: Thread) -> None:
        self._call("thread/unsubscribe", OnThread(thread_id=thread.id), Leaving(thread))

    def _kill_commands(self, thread: Thread) -> None:
        """Codex does not end running commands when their turn is interrupted."""
        thread.stops_commands = True
        self._call("thread/backgroundTerminals/clean", OnThread(thread_id=thread.id), Nothing())
