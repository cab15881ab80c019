"""What a store is: one writer, many readers, and transactions that write everything or nothing.

The contract, proven by `sandbox_agent.testing.store_contract`:
- `write` applies all its changes in one transaction and returns when they are durable. When it raises, nothing of them is there:
  `ImpossibleChange` for one that can never be applied, anything else for a reason that may pass, like a full disk.
- A change for a session that is not there does nothing: the session was deleted while the change was on its way.
- Events are append-only; a session's sequences and the log's positions ascend without the store looking at them.
- Reading never blocks writing, and may happen from several threads at once. `write` is called by one thread at a time.
- Bodies and raws come back byte for byte.
- What was written and is gone, because somebody took the files away, is told by `StoreGone` and never by an empty answer.
- Positions are never given twice, also after sessions were deleted and the store was reopened (`position`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct, field

from ..errors import Unavailable
from ..schema.events import Usage
from ..schema.inputs import McpServer, Prompt, Rule, Settings
from ..schema.sessions import Used


class Secrets(Struct, frozen=True, omit_defaults=True):
    """What a session needs and no reader may see."""

    env: dict[str, str] = field(default_factory=dict)
    mcp: dict[str, McpServer] = field(default_factory=dict)


class SessionRecord(Struct, frozen=True, omit_defaults=True):
    """A session as it is stored: never changed, only replaced."""

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
    """The agent has finished a turn, so it must be able to resume; before that, a lost conversation is replaced by a new one."""
    turn_id: str | None = None
    prompted: bool = False
    """A prompt was handed to the agent under this native id, so there may be something to resume."""
    queued: int = 0
    """How many messages wait for their turn."""
    ended: bool = False
    event_count: int = 0
    """How many events the log holds; filled in when the record is read."""
    open_since: int | None = None
    """Sequence from which on something may be open: where recovery begins to read."""
    usage: Usage | None = None
    used: Used | None = None
    """What the agent works with, by its own word: shown where the client chose nothing."""
    rules: tuple[Rule, ...] = ()
    turn_timeout_ms: int | None = None
    folder: str = ""
    """Where the session's files lie: a random name, so that a later session of the same id never sees them."""

    @property
    def active(self) -> bool:
        """Needs attention after a restart."""
        return self.turn_id is not None or self.open_since is not None


class QueuedMessage(Struct, frozen=True, omit_defaults=True):
    turn_id: str
    prompt: Prompt
    created_at: str
    fresh: bool = False
    """Start a new conversation where the agent's own is gone."""


class QueuedHead(Struct, frozen=True):
    """A queued message without its prompt, which may be large."""

    turn_id: str
    created_at: str
    fresh: bool
    size: int
    """Bytes of the whole message as it is stored."""


class PendingRow(Struct, frozen=True):
    """A permission or a question that waits: the `data` of its event, as it was sent."""

    id: str
    kind: Literal["permission", "question"]
    body: bytes


class EventRow(Struct, frozen=True, gc=False):
    position: int
    sequence: int
    body: bytes
    raw: bytes | None = None
    raw_sequence: int | None = None
    """The earlier event whose raw this one shares: one native frame often causes several events."""


class StoredEvent(Struct, frozen=True, gc=False):
    """An event as it is read; `raw` is filled only when asked for."""

    position: int
    sequence: int
    body: bytes
    raw: bytes | None
    is_large: bool = False
    """It was left out, because it alone exceeds the page: read it in slices."""


class KeyRow(Struct, frozen=True):
    """An idempotency key: which turn it made, and from what."""

    digest: bytes
    turn_id: str


# -- changes ----------------------------------------------------------------------------------


class SaveSession(NamedTuple):
    record: SessionRecord


class SaveSecrets(NamedTuple):
    session_id: str
    secrets: Secrets


class DeleteSession(NamedTuple):
    session_id: str


class Announce(NamedTuple):
    """What the readers of all sessions are told of this one, in place of what they were told before."""

    session_id: str
    position: int
    body: bytes


class Bury(NamedTuple):
    """They are told that it is gone, also those who come back later. The oldest of `MOST_TOMBSTONES` go."""

    position: int
    body: bytes


MOST_TOMBSTONES = 100_000


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
    """It was answered: it waits no more, but that it was asked stays known."""

    session_id: str
    id: str


class RememberKey(NamedTuple):
    session_id: str
    key: str
    row: KeyRow


class RememberCalls(NamedTuple):
    session_id: str
    call_ids: Sequence[str]


class Probe(NamedTuple):
    """Writes something small: it fails as long as writing fails."""


# What is written beside or below a session that must be there.
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
Change = SaveSession | DeleteSession | Bury | SessionChange | Probe


class StoreCorrupt(Exception):
    """The store's file is damaged; it was left as it is."""


class StoreTooNew(Exception):
    """The store was written by a newer version of this program."""


class StoreGone(Unavailable):
    """Somebody removed, replaced or changed the store's files while it is open. Nothing is read or written until they are back."""


class ImpossibleChange(Exception):
    """A change that can never be applied, however often it is tried: a fault of ours, not of the disk."""


class Store(ABC):
    """See the module's docstring."""

    identity: str
    """A random name given when the store was made; part of every event id."""

    def warm_up(self) -> None:  # noqa: B027 - most stores need none
        """Called once, on the thread that writes, before anything else: what makes first writes as quick as later ones."""

    @abstractmethod
    def write(self, changes: Iterable[Change]) -> None: ...

    def tidy(self) -> bool:
        """Remove a little of what deleted sessions left behind; True when there is more. Called when nothing waits to be written."""
        return False

    def check(self) -> None:  # noqa: B027 - most stores cannot lose what they hold
        """Raise `StoreGone` when what was written is not there any more, though nobody reads or writes."""

    @abstractmethod
    def position(self) -> int:
        """The highest position ever given."""

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
        """A session's events past a sequence, ascending; at least one if there is one, then bounded in bytes.

        Without `whole`, an event that alone exceeds the bound is not loaded: it comes empty, marked, and ends the page.
        """

    @abstractmethod
    def read_log(self, after: int, limit: int, max_bytes: int, *, whole: bool = True) -> list[StoredEvent]:
        """All sessions' events past a position, ascending, bounded likewise."""

    @abstractmethod
    def news(self, after: int, limit: int) -> list[tuple[int, bytes]]:
        """What was announced of sessions past a position, each with its position, ascending: the latest of each, and tombstones."""

    @abstractmethod
    def read_slice(self, position: int, start: int, size: int, *, raw: bool = False) -> tuple[bytes, int]:
        """Bytes of one event's body, or of its raw, and how many it has; none of none where there is no such thing."""

    @abstractmethod
    def session(self, session_id: str) -> SessionRecord | None:
        """A session's record; its `event_count` is what the log holds, also where the record was saved before."""

    @abstractmethod
    def sessions(self, before: int | None, limit: int) -> list[tuple[int, SessionRecord]]:
        """Newest first, each with an ordinal; `before` is the ordinal the page before ended with."""

    @abstractmethod
    def active_sessions(self) -> list[str]:
        """Sessions to look after when the daemon starts: active ones, and those with a queue or something pending."""

    @abstractmethod
    def folders(self) -> set[str]:
        """The folders that records name."""

    @abstractmethod
    def secrets(self, session_id: str) -> Secrets: ...

    @abstractmethod
    def queue_page(self, session_id: str, after: int, limit: int) -> list[tuple[int, QueuedMessage]]:
        """What waits, oldest first, each with an ordinal; `after` is the ordinal the page before ended with, 0 to begin."""

    @abstractmethod
    def queue_heads(self, session_id: str) -> list[QueuedHead]:
        """All that waits, oldest first; what it costs does not depend on how large the messages are."""

    @abstractmethod
    def queued(self, session_id: str, turn_id: str) -> QueuedMessage | None: ...

    @abstractmethod
    def pending(self, session_id: str) -> list[PendingRow]:
        """What waits for an answer, in the order it was asked."""

    @abstractmethod
    def was_asked(self, session_id: str, id: str) -> bool:
        """Whether this permission or question was ever asked."""

    @abstractmethod
    def key(self, session_id: str, key: str) -> KeyRow | None: ...

    @abstractmethod
    def call_ids(self, session_id: str) -> list[str]: ...

    @abstractmethod
    def size(self) -> int:
        """Bytes the store takes."""

    @abstractmethod
    def close(self) -> None: ...


def bounded(rows: Iterable[StoredEvent], max_bytes: int) -> list[StoredEvent]:
    """Take rows until their bytes reach the bound; always the first, so that reading can go on from it."""
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
