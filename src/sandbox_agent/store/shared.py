"""The interface of a store that several daemons share: nodes, the sessions each of them owns, and commands between them.

A node is a running daemon, an incarnation one life of it. Every write is fenced by the incarnation: once it is fenced, nothing that
it writes is stored, whatever its clock says. In addition to the contract of `Store`, tested by
`sandbox_agent.testing.shared_store_contract`:
- `join` comes before the first write, and sets `life`. Reading needs no join.
- A write that changes a session of another owner raises `Fenced` with that session and writes nothing. A session that a write
  creates belongs to its writer.
- If the outcome of a write is unknown, `write` raises `OutcomeUnknown`. The next `write` must have the same changes: it writes them,
  or recognizes that they are written, and returns the same position either way.
- `read_log` and `news` show only what is final, so that nothing ever appears behind a reader. They may lag behind `read`.
- Methods that do not write the log may be called from several threads at once. They raise `Unavailable` if the database cannot be
  reached; each of them may then be called again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from .base import Store, StoredEvent

FileKind = Literal["attachment", "conversation"]
"""Any node may write an attachment, but only the session's owner writes the agent's conversation."""

PART_BYTES = 1 << 20


class Node(Struct, frozen=True):
    """One life of a daemon."""

    incarnation: int
    name: str
    folder: str
    """A random name kept in its data directory: shows whether another node has the same disk."""
    version: str
    started_at: str
    seen_at: str
    """When it last wrote."""
    lease_left: float
    """Seconds, by the clock of the database; negative if the lease is over."""
    writes: int
    """Counts its writes, so it changes as long as the node lives."""
    is_fenced: bool


class Owner(Struct, frozen=True):
    """Where a session runs, and where it is at home."""

    home: str
    """The name of the node whose disk has its workspace and its agent's conversation."""
    node: Node | None
    """The incarnation that runs it, which may be fenced; None if nobody does."""


class Abandoned(Struct, frozen=True):
    """A session that no node runs, and that needs attention."""

    session_id: str
    home: str
    is_open: bool
    """A turn, an item or a request is open."""
    is_queued: bool
    """Messages are waiting."""


class StoredFile(Struct, frozen=True):
    name: str
    size: int


class Command(Struct, frozen=True):
    """An operation that another node asks this one to run."""

    id: int
    session_id: str | None
    operation: str
    request: bytes
    asked_by: int
    """The incarnation that waits for the answer."""


class CommandState(Struct, frozen=True):
    is_taken: bool
    owner_lives: bool
    """Its owner is not fenced, so the answer may still come."""
    is_expired: bool = False
    """Its owner has not renewed it: it does not work on it, perhaps because it never learned that it has taken it."""
    status: int | None = None
    """None until it is answered."""
    answer: bytes = b""


# -- hints ------------------------------------------------------------------------------------


class Appended(Struct, frozen=True):
    """Sessions that have new events: the last sequence of each. Only sessions that were looked up with `heads` are named."""

    heads: dict[str, int]


class CommandsWait(Struct, frozen=True):
    """There is something to take with `take_commands`."""


class CommandAnswered(Struct, frozen=True):
    id: int


class Missed(Struct, frozen=True):
    """The connection is new: anything may have happened before."""


Hint = Appended | CommandsWait | CommandAnswered | Missed


# -- errors -----------------------------------------------------------------------------------


class Fenced(Exception):
    """These sessions belong to another node now; nothing was written."""

    def __init__(self, session_ids: frozenset[str] | None) -> None:
        named = "this node" if session_ids is None else f"sessions {', '.join(sorted(session_ids))}"
        super().__init__(f"{named} cannot write to the log any more: another node has taken over")
        self.session_ids = session_ids
        """None: this incarnation is fenced, and with it everything that it owned."""


class OutcomeUnknown(Exception):
    """The connection broke while a write was on its way: it is stored or it is not. Write the same changes again to find out."""


class LogWentBack(Exception):
    """The database has fewer writes than it acknowledged: it was restored, or a replica that lagged took over. Nothing may be appended."""


class NameTaken(Exception):
    """A live node on another disk has this name."""

    def __init__(self, node: Node) -> None:
        super().__init__(
            f"a node named {node.name} is running with another data directory, and was last seen at {node.seen_at}"
        )
        self.node = node


class SharedStore(Store):
    """See the module's docstring."""

    is_shared = True

    # -- nodes --------------------------------------------------------------------------------

    @abstractmethod
    def join(self, name: str, folder: str, lease_seconds: float, version: str) -> int:
        """Begin a new life under this name, and return its incarnation. Called again after this one was fenced.

        An earlier life of the name is fenced if it used the same folder, whose lock the caller holds, or if its lease is over.
        Otherwise `NameTaken` is raised.
        """

    @abstractmethod
    def leave(self) -> None:
        """Release all sessions and end this life, so that a successor waits for nothing."""

    @abstractmethod
    def nodes(self) -> list[Node]:
        """The nodes that are not fenced, and the last life of every other name."""

    @abstractmethod
    def fence(self, incarnation: int, *, at_once: bool = False) -> bool:
        """Fence a node whose lease is over, or any node `at_once`. Returns whether it is fenced now."""

    # -- ownership ----------------------------------------------------------------------------

    @abstractmethod
    def reserve(self, session_id: str) -> bool:
        """Take the id of a session that is to be created; False if it is taken. Reserving it again is allowed until it is created."""

    @abstractmethod
    def claim(self, session_ids: Iterable[str], *, moves: bool = False) -> set[str]:
        """Become the owner of sessions that nobody runs or whose owner is fenced; returns those that this node owns now.

        With `moves`, this node also becomes their home.
        """

    @abstractmethod
    def release(self, session_ids: Iterable[str]) -> None:
        """Nobody runs these sessions of ours any more."""

    @abstractmethod
    def owner(self, session_id: str) -> Owner | None:
        """None if there is no such session."""

    @abstractmethod
    def abandoned(self) -> list[Abandoned]:
        """Sessions with something open or queued whose owner is fenced. Also those without an owner, if they are at home here or on a
        node that is gone: another node may have closed and released one while this node was starting, and one that leaves releases
        its sessions together with their queues."""

    # -- reading what others write --------------------------------------------------------------

    @abstractmethod
    def heads(self, folders: Mapping[str, str]) -> dict[str, int]:
        """The last sequence of each session, given with its folder, which tells it from a later one with the same id. Sessions that do
        not exist are left out. From now on, hints name them."""

    @abstractmethod
    def read_many(
        self, seen: Mapping[str, int], limit: int, max_bytes: int = 1 << 20
    ) -> dict[str, list[StoredEvent]]:
        """The next events of each session after the sequence seen, at most `limit` of each; sessions without any are left out.

        Beyond `max_bytes` in all, the rest is left out too: compare with `heads`, and use `read` for it.
        """

    @abstractmethod
    def horizon(self) -> int:
        """The highest position up to which the whole log is final."""

    @abstractmethod
    def hints(self) -> Iterator[Hint]:
        """What happens, until the store is closed: blocks, and reconnects. Hints may be lost, so also look from time to time.

        Called by one thread. The first hint is `Missed`.
        """

    # -- files --------------------------------------------------------------------------------

    @abstractmethod
    def put_file(
        self, session_id: str, kind: FileKind, name: str, parts: Iterable[bytes], *, first_part: int = 0
    ) -> bool:
        """Store a file, whole or not at all; False if there is no such session. `Fenced` if only its owner may.

        Each part has `PART_BYTES`, the last one may be shorter. Parts before `first_part` stay as they are; all others are replaced.
        """

    @abstractmethod
    def get_file(self, session_id: str, kind: FileKind, name: str) -> Iterator[bytes]:
        """The parts of a file; none if it does not exist. They are read one by one."""

    @abstractmethod
    def list_files(self, session_id: str, kind: FileKind) -> list[StoredFile]: ...

    # -- commands -----------------------------------------------------------------------------

    @abstractmethod
    def post_command(
        self, owner: int, session_id: str | None, operation: str, request: bytes, seconds: float
    ) -> int:
        """Ask an incarnation to run an operation, unless it cannot begin within this many seconds. Returns the command's id."""

    @abstractmethod
    def take_commands(self, seconds: float) -> list[Command]:
        """The commands for this node that it has not taken yet and that have not expired. They expire after this many seconds."""

    @abstractmethod
    def answer_command(self, id: int, status: int, answer: bytes) -> None: ...

    @abstractmethod
    def answer_of(self, id: int) -> CommandState | None:
        """None if it is not there: a crash of the database empties the table."""

    @abstractmethod
    def withdraw_command(self, id: int) -> bool:
        """Remove a command that was not taken, or whose answer was read. Returns whether it was not taken: then it never will be."""

    @abstractmethod
    def renew_command(self, id: int, seconds: float) -> None:
        """A command that was taken needs this many more seconds."""
