"""Restoring a session after a restart: close what was open, and continue with the queue."""

from __future__ import annotations

from ..agents.scribe import Recovery
from ..store.base import Change, ResolvePending
from . import life
from .core import Core
from .inputs import Replay, Restored


class Restore:
    """What an earlier daemon left of the session, read from the log page by page."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._recovery = Recovery(core.scribe)

    def replay(self, page: Replay) -> None:
        self._recovery.read(page.events)

    def finish(self, news: Restored) -> None:
        core = self._core
        core.startable = news.startable
        core.queue = news.queue
        id = core.record.session_id
        open_ids = {pending.id for pending in core.scribe.pending.values()}
        changes: list[Change] = [ResolvePending(id, asked) for asked in news.pending if asked not in open_ids]
        # No process is left, so all background work has ended with the turn.
        core.scribe.close_background()
        core.scribe.spend(core.record.turn_usage)
        core.scribe.end_turn("outcome_unknown", source="daemon")
        if core.record.native_id is None and not core.record.ended:
            # An older daemon was killed before it chose one.
            core.scribe.native_session_id = core.agent.choose_native_id(core.world)
        life.announce(core)
        if core.record.turn_id is not None:
            core.change(turn_id=None)
        core.fact(*changes)
