"""A session's timers: one of each kind, and none once the session is unloaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..session.effects import Arm, Disarm
from ..session.inputs import TimerKind


class Timers:
    def __init__(self, on_time_out: Callable[[TimerKind, str], None]) -> None:
        self._on_time_out = on_time_out
        self._running: dict[TimerKind, asyncio.TimerHandle] = {}

    def arm(self, effect: Arm) -> None:
        self.disarm(effect)
        loop = asyncio.get_running_loop()
        self._running[effect.kind] = loop.call_later(effect.seconds, self._fire, effect.kind, effect.tag)

    def disarm(self, effect: Arm | Disarm) -> None:
        if timer := self._running.pop(effect.kind, None):
            timer.cancel()

    def cancel_all(self) -> None:
        for timer in self._running.values():
            timer.cancel()
        self._running.clear()

    def _fire(self, kind: TimerKind, tag: str) -> None:
        del self._running[kind]
        self._on_time_out(kind, tag)
