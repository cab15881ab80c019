"""Sessions, messages and events to write, and everything that can be read back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...schema.events import Usage
from ...schema.inputs import Attachment, McpServer, Prompt, Rule, Settings
from ...schema.limits import ReachedLimit, SessionLimits
from ...store.base import (
    AddPending,
    AppendEvents,
    Change,
    Enqueue,
    EventRow,
    KeyRow,
    PendingRow,
    QueuedMessage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSecrets,
    SaveSession,
    Secrets,
    SessionRecord,
    Store,
    StoredEvent,
)

TIME = "2026-01-01T00:00:00.000Z"
PLENTY = 1 << 30
SECRETS = Secrets(
    env={"KEY": "hunter2"}, mcp={"tools": McpServer(url="https://tools.example", headers={"a": "b"})}
)


def record(session_id: str, **facts: Any) -> SessionRecord:
    return SessionRecord(session_id, "mock", Settings("/tmp"), TIME, TIME, **facts)


def full_record(session_id: str, event_count: int) -> SessionRecord:
    """A record in which no field has its default."""
    return SessionRecord(
        session_id,
        "mock",
        Settings("/tmp", "plan", "acceptEdits", "large", "high", {"tools": McpServer("run", ("-x",))}),
        TIME,
        "2026-01-02T00:00:00.000Z",
        title="Títle \u2028 \x00",
        agent_version="1.2.3",
        pinned_version="1.2",
        native_id="native",
        native_stored=True,
        turn_id="turn_1",
        prompted=True,
        ended=True,
        event_count=event_count,
        open_since=3,
        usage=Usage(input_tokens=1, cost_usd=0.25),
        rules=(Rule("bash", "git ", prefix=True),),
        turn_timeout_ms=1000,
        turn_usage=Usage(output_tokens=2),
        turns=4,
        limits=SessionLimits(max_turns=4, max_cost_usd=0.5),
        limit_reached=ReachedLimit("maxTurns", 4, 4),
        folder=f"files-of-{session_id}",
    )


def message(turn_id: str) -> QueuedMessage:
    return QueuedMessage(
        turn_id, Prompt(f"do {turn_id}", (Attachment("/a", "text/plain", "a"),)), TIME, fresh=True
    )


def pending(id: str) -> PendingRow:
    return PendingRow(id, "question" if id.startswith("q") else "permission", f'{{"id": "{id}"}}'.encode())


def rows(sequences: Iterable[int]) -> list[EventRow]:
    return [EventRow(sequence, b"body %d" % sequence) for sequence in sequences]


def filled(session_id: str, events: int) -> list[Change]:
    """A session with data of every kind."""
    return [
        SaveSession(full_record(session_id, events)),
        SaveSecrets(session_id, SECRETS),
        AppendEvents(session_id, rows(range(1, events + 1))),
        Enqueue(session_id, message("turn_1")),
        Enqueue(session_id, message("turn_2")),
        AddPending(session_id, pending("perm_1")),
        AddPending(session_id, pending("q_1")),
        ResolvePending(session_id, "q_1"),
        RememberKey(session_id, "key", KeyRow(b"\x00digest", "turn_1")),
        RememberCalls(session_id, ["call_1", "call_2"]),
    ]


def queue(store: Store, session_id: str) -> list[QueuedMessage]:
    return [queued for _, queued in store.queue_page(session_id, 0, 1000)]


def contents(store: Store, *session_ids: str) -> dict[str, object]:
    """Everything a reader can find out."""
    return {
        "log": store.read_log(0, 1000, PLENTY),
        "sessions": store.sessions(None, 1000),
        "active": sorted(store.active_sessions()),
        "folders": store.folders(),
    } | {session_id: contents_of(store, session_id) for session_id in session_ids}


def unplaced(events: Iterable[StoredEvent]) -> list[StoredEvent]:
    """The events without their positions, which differ from store to store."""
    return [msgspec.structs.replace(event, position=0) for event in events]


def contents_of(store: Store, session_id: str) -> tuple[object, ...]:
    return (
        store.session(session_id),
        unplaced(store.read(session_id, 0, 1000, PLENTY, with_raw=True)),
        store.secrets(session_id),
        queue(store, session_id),
        store.pending(session_id),
        [id for id in ("perm_1", "q_1", "q_2") if store.was_asked(session_id, id)],
        store.key(session_id, "key"),
        sorted(store.call_ids(session_id)),
    )


NOTHING: tuple[object, ...] = (None, [], Secrets(), [], [], [], None, [])
