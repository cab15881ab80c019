"""The store interface: one writer, many readers, and atomic transactions.

The contract, tested by `sandbox_agent.testing.store_contract`:
- `write` applies all its changes in one transaction and returns when they are durable. If it raises, none of them is applied:
  `ImpossibleChange` means that one can never be applied, any other error may be temporary, like a full disk.
- A change for a missing session does nothing: the session was deleted while the change was queued.
- Events are append-only. A session's sequences ascend; the store does not check them.
- The store assigns positions. Within a write, events and updates (`Announce`, `Bury`) are numbered without gaps in the order of the
  changes, including those of a missing session. Later writes have higher positions; between two writes there may be gaps.
- Reading never blocks writing, and may happen from several threads at once. `write` is called by one thread at a time.
- Bodies and raw payloads are returned byte for byte.
- If written data is missing because another program removed the files, reads raise `StoreGone` and never return an empty result.
- Positions are never reused, even after sessions were deleted and the store was reopened (`position`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, NamedTuple

from msgspec import Struct, field

from ..errors import Unavailable
from ..schema.events import Usage
from ..schema.inputs import McpServer, Prompt, Rule, Settings
from ..schema.limits import ReachedLimit, SessionLimits
from ..schema.policy import PolicyRule
from ..schema.sessions import Used
from ..schema.skills import Skill
from ..schema.tools import Tool
from ..schema.usage import UsageGroup, UsageSum


class Secrets(Struct, frozen=True, omit_defaults=True):
    """What a session needs and no client may read."""

    env: dict[str, str] = field(default_factory=dict)
    mcp: dict[str, McpServer] = field(default_factory=dict)


class SessionRecord(Struct, frozen=True, omit_defaults=True):
    """A stored session. Immutable: changes replace it."""

    session_id: str
    agent: str
    settings: Settings
    created_at: str
    updated_at: str
    title: str | None = None
    agent_version: str | None = None
    pinned_version: str | None = None
    native_id: str | None = None
    native_stored: bool = False
    """The agent has finished a turn, so it must be able to resume. Before that, a lost conversation is replaced by a new one."""
    turn_id: str | None = None
    prompted: bool = False
    """The agent got a prompt under this native id, so there may be something to resume."""
    queued: int = 0
    """The number of queued messages."""
    ended: bool = False
    event_count: int = 0
    """The number of events in the log; filled in when the record is read."""
    open_since: int | None = None
    """The first sequence at which something may be open: recovery reads from here."""
    usage: Usage | None = None
    """The sum of the turns that have ended."""
    turn_usage: Usage | None = None
    """What the running turn has spent so far."""
    turns: int = 0
    """The number of turns that have started."""
    limits: SessionLimits = SessionLimits()
    limit_reached: ReachedLimit | None = None
    """The limit that keeps further turns from starting, as it was announced."""
    used: Used | None = None
    """What the agent reports to work with; shown unless the client chose something."""
    rules: tuple[Rule, ...] = ()
    """What the client has allowed with "always"."""
    policy: tuple[PolicyRule, ...] = ()
    """The session's own rules."""
    turn_timeout_ms: int | None = None
    skills: tuple[Skill, ...] = ()
    tools: tuple[Tool, ...] = ()
    """Tools of the client that the agent may call."""
    tool_timeout_ms: int | None = None
    """How long a call of one waits for its result; None for the default."""
    desktop: bool = False
    """The agent may use the desktop."""
    folder: str = ""
    """The folder of the session's files: a random name, so that a later session with the same id never sees them."""
    home: str = ""
    """The node whose machine has its workspace; empty if the log is not shared."""
    callers: tuple[str, ...] = ()
    """The folders of the sessions whose agents started this one, the nearest last; none if a client did."""

    @property
    def active(self) -> bool:
        """Needs attention after a restart."""
        return self.turn_id is not None or self.open_since is not None


class QueuedMessage(Struct, frozen=True, omit_defaults=True):
    turn_id: str
    prompt: Prompt
    created_at: str
    fresh: bool = False
    """Start a new conversation if the agent's own is gone."""
    carried: bool = False
    """Resume the conversation stored in the log, even if it lacks the last turns."""


class QueuedHead(Struct, frozen=True):
    """A queued message without its prompt, which may be large."""

    turn_id: str
    created_at: str
    fresh: bool
    size: int
    """Size of the stored message in bytes."""


class PendingRow(Struct, frozen=True):
    """A pending request: the `data` of a permission's or question's event, or the payload of a `tool_request` status."""

    id: str
    kind: Literal["permission", "question", "tool"]
    body: bytes


class EventRow(Struct, frozen=True, gc=False):
    sequence: int
    body: bytes
    raw: bytes | None = None
    raw_sequence: int | None = None
    """The earlier event with the same raw payload: one native frame often causes several events."""


class StoredEvent(Struct, frozen=True, gc=False):
    """An event as read from the store; `raw` is filled only on request."""

    position: int
    sequence: int
    body: bytes
    raw: bytes | None
    is_large: bool = False
    """The content was left out because it exceeds the page on its own: read it in slices."""


class KeyRow(Struct, frozen=True):
    """An idempotency key: the turn it created, and a digest of the request."""

    digest: bytes
    turn_id: str


class LedgerRow(Struct, frozen=True):
    """What a turn has spent. It outlives the session: the money is spent."""

    session_id: str
    turn_id: str
    agent: str
    model: str | None
    ended_at: str
    usage: Usage | None
    """None if the agent reported nothing."""


# -- changes ----------------------------------------------------------------------------------


class SaveSession(NamedTuple):
    record: SessionRecord


class SaveSecrets(NamedTuple):
    session_id: str
    secrets: Secrets


class DeleteSession(NamedTuple):
    session_id: str


class Announce(NamedTuple):
    """The update of a session for the readers of all sessions. It replaces the previous one."""

    session_id: str
    body: bytes


class Bury(NamedTuple):
    """Readers of all sessions learn that it is gone, even if they reconnect later. Beyond `MAX_TOMBSTONES`, the oldest are dropped."""

    body: bytes


MAX_TOMBSTONES = 100_000


class AppendEvents(NamedTuple):
    session_id: str
    rows: Sequence[EventRow]


class Enqueue(NamedTuple):
    session_id: str
    message: QueuedMessage


class Dequeue(NamedTuple):
    session_id: str
    turn_id: str


class AddPending(NamedTuple):
    session_id: str
    row: PendingRow


class ResolvePending(NamedTuple):
    """It was answered and is no longer pending; that it was asked stays on record."""

    session_id: str
    id: str


class RememberKey(NamedTuple):
    session_id: str
    key: str
    row: KeyRow


class RememberCalls(NamedTuple):
    session_id: str
    call_ids: Sequence[str]


class RecordUsage(NamedTuple):
    """Add a turn to the ledger, whether or not its session exists. Beyond `MAX_LEDGER_ROWS`, the oldest are dropped."""

    row: LedgerRow


MAX_LEDGER_ROWS = 1_000_000


class Probe(NamedTuple):
    """A small write, which fails as long as writing fails."""


# Changes that need an existing session.
SessionChange = (
    SaveSecrets
    | AppendEvents
    | Announce
    | Enqueue
    | Dequeue
    | AddPending
    | ResolvePending
    | RememberKey
    | RememberCalls
)
Change = SaveSession | DeleteSession | Bury | RecordUsage | SessionChange | Probe


class StoreCorrupt(Exception):
    """The store's file is damaged; it was left unchanged."""


class StoreTooNew(Exception):
    """The store was written by a newer version of this program."""


class StoreGone(Unavailable):
    """Another program removed, replaced or changed the open store's files. Nothing is read or written until they are back."""


class ImpossibleChange(Exception):
    """A change that can never be applied: an internal error, not a failure of the disk."""


class Store(ABC):
    """See the module's docstring."""

    identity: str
    """A random name from the creation of the store; part of every event id."""
    life: int
    """Tells openings of a store apart: no two that write have the same. Part of every event id."""
    is_shared: ClassVar[bool] = False
    """Several daemons may use it at once: see `SharedStore`."""
    most_events: int | None = None
    """How many events and updates fit into one write."""

    def warm_up(self) -> None:  # noqa: B027 - most stores need none
        """Called once, on the writing thread, before anything else. Makes the first writes as fast as later ones."""

    @abstractmethod
    def write(self, changes: Iterable[Change]) -> int:
        """Apply the changes. Returns the position of the first event or update; if there is none, the number means nothing."""

    def require_place_for(self, secrets: Secrets) -> None:  # noqa: B027 - most stores can keep them
        """Raise `InvalidRequest` if `SaveSecrets` with these could not be applied."""

    def tidy(self) -> bool:
        """Remove some leftovers of deleted sessions; True if there are more. Called while no write is queued."""
        return False

    def check(self) -> None:  # noqa: B027 - most stores cannot lose what they hold
        """Raise `StoreGone` if written data is missing. Called while nothing reads or writes."""

    @abstractmethod
    def position(self) -> int:
        """Where a reader of the whole log starts to wait: no write in the future gets this position or a lower one."""

    @abstractmethod
    def read(
        self,
        session_id: str,
        after: int,
        limit: int,
        max_bytes: int,
        *,
        with_raw: bool = False,
        whole: bool = True,
    ) -> list[StoredEvent]:
        """A session's events after a sequence, ascending: at least one if there is one, then limited in bytes.

        Without `whole`, an event that exceeds the limit on its own is not loaded: it is returned empty and marked, and ends the page.
        """

    @abstractmethod
    def read_log(self, after: int, limit: int, max_bytes: int, *, whole: bool = True) -> list[StoredEvent]:
        """All sessions' events after a position, ascending, with the same limits."""

    @abstractmethod
    def news(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Session updates after a position, ascending, each with its position: the latest of each session, and tombstones."""

    @abstractmethod
    def read_slice(self, position: int, start: int, size: int, *, raw: bool = False) -> tuple[bytes, int]:
        """A slice of an event's body, or of its raw payload, and the total size; empty and 0 if it does not exist."""

    @abstractmethod
    def session(self, session_id: str) -> SessionRecord | None:
        """A session's record. `event_count` is read from the log, even if the record was saved earlier."""

    @abstractmethod
    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        """Newest first, each with an ordinal; `before` is the last ordinal of the previous page."""

    @abstractmethod
    def active_sessions(self) -> list[str]:
        """Sessions to restore when the daemon starts: active ones, and those with queued messages or pending requests."""

    @abstractmethod
    def folders(self) -> set[str]:
        """The folders that records name."""

    @abstractmethod
    def secrets(self, session_id: str) -> Secrets: ...

    @abstractmethod
    def queue_page(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        """Queued messages, oldest first, each with an ordinal; `after` is the last ordinal of the previous page, or 0."""

    @abstractmethod
    def queue_heads(self, session_id: str) -> list[QueuedHead]:
        """All queued messages, oldest first. The cost does not depend on the size of the messages."""

    @abstractmethod
    def queued(self, session_id: str, turn_id: str) -> QueuedMessage | None: ...

    @abstractmethod
    def pending(self, session_id: str) -> list[PendingRow]:
        """Pending requests, oldest first."""

    @abstractmethod
    def was_asked(self, session_id: str, id: str) -> bool:
        """Whether this permission, question or tool call was ever asked."""

    @abstractmethod
    def key(self, session_id: str, key: str) -> KeyRow | None: ...

    @abstractmethod
    def call_ids(self, session_id: str) -> list[str]: ...

    @abstractmethod
    def usage(self, since: str, before: str, by: UsageGroup | None, limit: int) -> list[UsageSum]:
        """What turns that ended in this half-open range of times have spent, by group; None sums up everything.

        Days are ascending, other groups descend by cost, then by tokens.
        """

    @abstractmethod
    def size(self) -> int:
        """Size of the store in bytes."""

    @abstractmethod
    def close(self) -> None: ...


def bounded(rows: Iterable[StoredEvent], max_bytes: int) -> list[StoredEvent]:
    """Take rows up to a limit in bytes, but at least one, so that reading can continue."""
    taken: list[StoredEvent] = []
    size = 0
    for row in rows:
        size += len(row.body) + len(row.raw or b"")
        if taken and (size > max_bytes or row.is_large):
            break
        taken.append(row)
        if row.is_large:
            break
    return taken


def numbers_of(change: Change) -> int:
    """How many positions a change takes."""
    match change:
        case AppendEvents(_, rows):
            return len(rows)
        case Announce() | Bury():
            return 1
    return 0
