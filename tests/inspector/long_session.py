"""A session with very many events: one that really ran, whose turns are repeated in the store of a stopped daemon."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import structs

from sandbox_agent.store.base import AppendEvents, EventRow, SaveSession
from sandbox_agent.store.sqlite import SqliteStore

SEQUENCE = re.compile(rb'"sequence":\d+')
IDS = re.compile(rb':"(evt_|itm_|turn_|call-)')


def repeat_turns(data_dir: Path, session: str, at_least: int) -> int:
    """Repeat everything after the session's start until there are so many events; how many there are."""
    store = SqliteStore(data_dir / "log.db")
    try:
        record = store.session(session)
        assert record is not None
        turns = [row.body for row in store.read(session, 1, 100_000, 1 << 30)]
        sequence = record.event_count
        rows = []
        for copy in range(-(-(at_least - sequence) // len(turns))):
            for body in turns:
                sequence += 1
                rows.append(EventRow(sequence, _renamed(body, copy, sequence)))
        longer = structs.replace(record, event_count=sequence)
        store.write([AppendEvents(session, rows), SaveSession(longer)])
        return sequence
    finally:
        store.close()


def _renamed(body: bytes, copy: int, sequence: int) -> bytes:
    """The same event under other ids."""
    numbered = SEQUENCE.sub(b'"sequence":%d' % sequence, body, count=1)
    return IDS.sub(rb':"\g<1>%d_' % copy, numbered)
