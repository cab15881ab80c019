"""Copies a log into another store, continues a copy that was interrupted, and verifies the result.

A copy goes session by session, oldest first. Within a session its events come first, then what is kept besides them, so an interrupted
copy is a prefix of its source; a target that holds anything else is refused before anything is written. Until the copy is verified, the
target is marked, and no daemon opens it. Each event is read once from both stores: the digests of both are computed on the way.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
from msgspec import Struct

from ..errors import Conflict
from .base import (
    AddPending,
    Announce,
    AppendEvents,
    Bury,
    Change,
    Enqueue,
    EventRow,
    LedgerRow,
    QueuedMessage,
    RecordUsage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    SessionRecord,
)
from .copyable import CopyableStore, Remembered

if TYPE_CHECKING:
    from hashlib import _Hash

PAGE_ROWS = 1_000
PAGE_BYTES = 4 << 20
STATE_CHANGES = 50
"""How many changes besides events go into one write: a queued message may be large."""

Row = TypeVar("Row")


class NotAPrefix(Conflict):
    """The target holds something that the source does not."""


class CopyDiffers(Conflict):
    """What was written is not what was read: one of the logs was changed in the meantime, or is damaged."""


class CopiedSession(Struct, frozen=True, rename="camel"):
    session_id: str
    events: int
    sha256: str
    """Of its events: sequence, body, raw payload."""
    files: int = 0


class Copied(Struct, frozen=True, rename="camel"):
    """What both logs hold."""

    sessions: list[CopiedSession]
    events: int
    turns: int
    """Rows of the ledger."""
    tombstones: int
    files: int
    homes: dict[str, int]
    """How many sessions were at home on which node; their workspaces and conversations are still there."""


class SessionFiles(Protocol):
    """The files of sessions, on both sides."""

    def copy(self, record: SessionRecord) -> int:
        """Copy and verify the files of a session, except those that are there; returns how many it has."""


class Copy:
    def __init__(
        self,
        source: CopyableStore,
        target: CopyableStore,
        files: SessionFiles,
        home: str,
        tell: Callable[[int, int], None],
    ) -> None:
        """`home` is the node to which the sessions belong in the target; `tell` gets the events that are copied, and all."""
        self._source = source
        self._target = target
        self._files = files
        self._home = home
        self._tell = tell
        self._found: list[SessionRecord] = []
        """What the source holds, oldest first."""
        self._records: dict[str, SessionRecord] = {}
        """What the target is to hold, oldest first."""
        self._compared: dict[str, tuple[int, _Hash]] = {}
        """How far events of both were compared, and their digest."""
        self._done = self._total = 0

    def require_prefix(self) -> None:
        """Refuse a target that holds anything else than a part of the source. Nothing is written."""
        self._found = _oldest_first(self._source)
        self._records = {record.session_id: self._moved(record) for record in self._found}
        self._total = sum(record.event_count for record in self._found)
        self._require_prefix()

    def run(self, name: str) -> Copied:
        """Copy everything, after `require_prefix`, and leave the target marked. `name` tells people which log the source is."""
        self._target.mark_copy(f"{name} ({self._source.identity})")
        sessions = [self._copy_session(record) for record in self._records.values()]
        turns = self._copy_rows(_ledger, RecordUsage)
        tombstones = self._copy_rows(_tombstones, Bury)
        self._verify_lists()
        return Copied(
            sessions,
            sum(session.events for session in sessions),
            turns,
            tombstones,
            sum(session.files for session in sessions),
            dict(Counter(record.home for record in self._found if record.home)),
        )

    # -- what is there ------------------------------------------------------------------------

    def _require_prefix(self) -> None:
        marked = self._target.copied_from()
        if marked is not None and not marked.endswith(f"({self._source.identity})"):
            raise NotAPrefix(f"the target is an unfinished copy of another log, {marked}: empty it first")
        for kept in _oldest_first(self._target):
            record = self._records.get(kept.session_id)
            if record is None:
                raise _not_a_prefix(f"session {kept.session_id}, which is not in the source")
            if kept.event_count > record.event_count:
                raise _not_a_prefix(f"more events of session {kept.session_id} than the source")
            self._compare(kept)
        for rows in (_ledger, _tombstones):
            _common(rows(self._source), rows(self._target))

    def _compare(self, kept: SessionRecord) -> None:
        """Compare the events that both have, and the messages."""
        id = kept.session_id
        digest, of_target = hashlib.sha256(), hashlib.sha256()
        for row in islice(_events(self._source, id), kept.event_count):
            _feed(digest, row)
        for row in _events(self._target, id):
            _feed(of_target, row)
        if digest.digest() != of_target.digest():
            raise _not_a_prefix(f"other events of session {id} than the source")
        wanted = [head.turn_id for head in self._source.queue_heads(id)]
        queued = [head.turn_id for head in self._target.queue_heads(id)]
        if queued != wanted[: len(queued)]:
            raise _not_a_prefix(f"other queued messages of session {id} than the source")
        self._compared[id] = kept.event_count, digest

    def _moved(self, record: SessionRecord) -> SessionRecord:
        return msgspec.structs.replace(record, home=self._home)

    # -- copying ------------------------------------------------------------------------------

    def _copy_session(self, record: SessionRecord) -> CopiedSession:
        id = record.session_id
        head, digest = self._compared.get(id) or (0, hashlib.sha256())
        self._count(head)
        kept = self._source.remembered(id)
        begun: list[Change] = [SaveSession(record), SaveSecrets(id, self._source.secrets(id))]
        if kept.announced is not None:
            begun.append(Announce(id, kept.announced))
        self._target.write(begun)
        written = digest.copy()
        for page in _event_pages(self._source, id, head):
            self._target.write([AppendEvents(id, page)])
            for row in page:
                _feed(digest, row)
            self._count(len(page))
        for changes in _chunks(self._state(id), STATE_CHANGES):
            self._target.write(changes)
        for row in _events(self._target, id, head):
            _feed(written, row)
        if written.digest() != digest.digest():
            raise CopyDiffers(f"the events of session {id} differ after they were copied", sessionId=id)
        self._verify_state(record)
        return CopiedSession(id, record.event_count, digest.hexdigest(), self._files.copy(record))

    def _state(self, id: str) -> Iterator[Change]:
        """What is kept of a session besides its events. Applying it again changes nothing."""
        source = self._source
        kept = source.remembered(id)
        for row in kept.answered:
            yield AddPending(id, row)
            yield ResolvePending(id, row.id)
        for row in source.pending(id):
            yield AddPending(id, row)
        for key, key_row in kept.keys:
            yield RememberKey(id, key, key_row)
        for call_ids in _chunks(source.call_ids(id), PAGE_ROWS):
            yield RememberCalls(id, call_ids)
        queued = {head.turn_id for head in self._target.queue_heads(id)}
        for message in _queue(source, id):
            if message.turn_id not in queued:
                yield Enqueue(id, message)

    def _copy_rows(
        self,
        rows: Callable[[CopyableStore], Iterator[Row]],
        change: Callable[[Row], Change],
    ) -> int:
        there = _common(rows(self._source), rows(self._target))
        for chunk in _chunks(islice(rows(self._source), there, None), PAGE_ROWS):
            self._target.write(map(change, chunk))
            there += len(chunk)
        return there

    def _count(self, events: int) -> None:
        self._done += events
        self._tell(self._done, self._total)

    # -- verifying ----------------------------------------------------------------------------

    def _verify_state(self, record: SessionRecord) -> None:
        id, source, target = record.session_id, self._source, self._target
        same = (
            target.session(id) == record
            and target.secrets(id) == source.secrets(id)
            and _sorted(target.remembered(id)) == _sorted(source.remembered(id))
            and target.pending(id) == source.pending(id)
            and set(target.call_ids(id)) == set(source.call_ids(id))
            and all(a == b for a, b in zip_longest(_queue(target, id), _queue(source, id)))
        )
        if not same:
            raise CopyDiffers(f"the state of session {id} differs after it was copied", sessionId=id)

    def _verify_lists(self) -> None:
        wanted = list(self._records.values())
        if [self._moved(record) for record in _oldest_first(self._source)] != wanted:
            raise CopyDiffers("the source was changed while it was copied: copy again")
        if _oldest_first(self._target) != wanted:
            raise CopyDiffers("the target was changed while it was written: copy again")
        for rows in (_ledger, _tombstones):
            if sum(1 for _ in rows(self._source)) != _common(rows(self._source), rows(self._target)):
                raise CopyDiffers("the target lacks some of what was written: copy again")


def _not_a_prefix(what: str) -> NotAPrefix:
    return NotAPrefix(f"the target holds {what}: copy into an empty log, or into an unfinished copy")


# -- reading everything -------------------------------------------------------------------------


def _oldest_first(store: CopyableStore) -> list[SessionRecord]:
    found: list[SessionRecord] = []
    before: int | None = None
    while page := store.sessions(before, PAGE_ROWS):
        found += [record for _, record in page]
        before = page[-1][0]
    return found[::-1]


def _events(store: CopyableStore, id: str, after: int = 0) -> Iterator[EventRow]:
    for page in _event_pages(store, id, after):
        yield from page


def _event_pages(store: CopyableStore, id: str, after: int) -> Iterator[list[EventRow]]:
    while page := store.event_rows(id, after, PAGE_ROWS, PAGE_BYTES):
        yield page
        after = page[-1].sequence


def _queue(store: CopyableStore, id: str) -> Iterator[QueuedMessage]:
    after = 0
    while page := store.queue_page(id, after, 1):
        after = page[-1][0]
        yield page[-1][1]


def _ledger(store: CopyableStore) -> Iterator[LedgerRow]:
    after = 0
    while page := store.ledger_rows(after, PAGE_ROWS):
        after = page[-1][0]
        for _, row in page:
            # PostgreSQL cannot hold a NUL in the name of a model.
            model = row.model.replace("\0", "\ufffd") if row.model is not None else None
            yield msgspec.structs.replace(row, model=model)


def _tombstones(store: CopyableStore) -> Iterator[bytes]:
    after = 0
    while page := store.tombstones(after, PAGE_ROWS):
        after = page[-1][0]
        for _, news in page:
            yield news


# -- comparing ----------------------------------------------------------------------------------


def _feed(digest: _Hash, row: EventRow) -> None:
    """Add an event, with lengths, so that no two different ones look the same."""
    raw = b"-" if row.raw is None else row.raw
    head = f"{row.sequence} {row.raw_sequence} {len(row.body)} {-1 if row.raw is None else len(raw)}\n"
    digest.update(head.encode())
    digest.update(row.body)
    digest.update(raw)


def _common(source: Iterator[Row], target: Iterator[Row]) -> int:
    """How many rows the target has; `NotAPrefix` if they are not the first ones of the source."""
    count = 0
    for row in target:
        if next(source, None) != row:
            raise _not_a_prefix("turns or deleted sessions that are not in the source")
        count += 1
    return count


def _sorted(kept: Remembered) -> Remembered:
    answered = sorted(kept.answered, key=lambda row: row.id)
    return Remembered(kept.announced, answered, sorted(kept.keys, key=lambda each: each[0]))


def _chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
