"""The PostgreSQL store: opens a log, refuses a server it cannot trust, and lets a node join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...errors import InvalidRequest
from ..base import Change, Secrets, StoredEvent, StoreGone
from ..shared import Hint
from .connection import Address, Connection, refusing, require_fit
from .copies import Copies
from .listener import Listener
from .migrate import MIGRATIONS, migrate, migrations
from .parameters import Numbers
from .pool import Pool
from .reader import _HEAD, known
from .secrets import Seal
from .upkeep import Upkeep
from .writer import MAX_EVENTS, Life, Writer


class PostgresStore(Copies):
    """Queries come from `Reader`, nodes from `Nodes`, files from `Files`; changes go through its `Writer`."""

    most_events = MAX_EVENTS

    def __init__(
        self, url: str, seal: Seal, listen_url: str | None = None, folder: Path = MIGRATIONS
    ) -> None:
        """`folder` has the migrations that this program knows."""
        files = migrations(folder)
        self._knows = len(files)
        address = Address(url)
        listen_address = Address(listen_url) if listen_url is not None else address
        with address.connect() as connection, refusing():
            require_fit(connection)
            migrate(connection, files)
            self.identity, self._schema = _raised(connection)
        self.life = 0
        super().__init__(Pool(address), seal)
        self._writer = Writer(address, self._schema, seal)
        self._listener = Listener(listen_address, self._schema, self._notify)
        self._upkeep = Upkeep(self._pool)
        self._begin_day()

    def join(self, name: str, folder: str, lease_seconds: float, version: str) -> int:
        incarnation = self._join(name, folder, lease_seconds, version)
        self._life = life = Life(incarnation, lease_seconds)
        self.life = incarnation
        self._writer.begin(life)
        self._listener.life = life
        return incarnation

    def reserve(self, session_id: str) -> bool:
        self._writer.forget([session_id])
        return super().reserve(session_id)

    def claim(self, session_ids: Iterable[str], *, moves: bool = False) -> set[str]:
        claimed = super().claim(session_ids, moves=moves)
        self._writer.forget(claimed)
        return claimed

    def write(self, changes: Iterable[Change]) -> int:
        return self._writer.write(changes)

    def require_place_for(self, secrets: Secrets) -> None:
        if secrets != Secrets() and not self._seal.is_there:
            raise InvalidRequest(
                "this daemon cannot store `env` and `mcp` of a session: start it with --secrets-key-file, "
                "because PostgreSQL stores them only encrypted"
            )

    def tidy(self) -> bool:
        self._pool.close_idle()
        if self._upkeep.is_due():
            self._begin_day()
            self._upkeep.drop_empty_months()
        if self._writer.has_leftovers:
            self._writer.has_leftovers = self._upkeep.remove_some()
        return self._writer.has_leftovers

    def check(self) -> None:
        life = self._life
        if life is None:
            return
        acknowledged = life.writes
        rows = self._rows("SELECT writes FROM nodes WHERE incarnation = %(me)s", me=life.incarnation)
        if not rows or rows[0][0] < acknowledged:
            raise StoreGone("the database does not hold what it acknowledged")

    def heads(self, folders: Mapping[str, str]) -> dict[str, int]:
        rows = self._rows(
            f"SELECT s.session_id, s.ordinal, coalesce({_HEAD}, 0) "
            "FROM unnest(%(sessions)s::text[], %(folders)s::text[]) AS w (session_id, folder) "
            "JOIN sessions s ON s.session_id = w.session_id AND coalesce(s.folder, '') = w.folder WHERE s.record IS NOT NULL",
            sessions=[known(session_id) for session_id in folders],
            folders=list(folders.values()),
        )
        for session_id, ordinal, _ in rows:
            self._listener.watch(ordinal, session_id)
        return {session_id: head for session_id, _, head in rows}

    def read_many(
        self, seen: Mapping[str, int], limit: int, max_bytes: int = 1 << 20
    ) -> dict[str, list[StoredEvent]]:
        rows = self._rows(
            "SELECT session_id, position, sequence, body FROM ("
            "SELECT s.session_id, e.*, sum(octet_length(e.body)) OVER (ORDER BY w.place, e.sequence) AS total "
            "FROM unnest(%(sessions)s::text[], %(seen)s) WITH ORDINALITY AS w (session_id, seen, place) "
            "JOIN sessions s ON s.session_id = w.session_id AND s.record IS NOT NULL, "
            "LATERAL (SELECT e.position, e.sequence, e.body FROM events e WHERE e.era = s.era AND e.session = s.ordinal "
            "AND e.sequence > w.seen ORDER BY e.sequence LIMIT %(limit)s) e) found "
            "WHERE total <= %(max_bytes)s ORDER BY session_id, sequence",
            sessions=[known(session_id) for session_id in seen],
            seen=Numbers(list(seen.values())),
            limit=limit,
            max_bytes=max_bytes,
        )
        found: dict[str, list[StoredEvent]] = {}
        for session_id, position, sequence, body in rows:
            found.setdefault(session_id, []).append(StoredEvent(position, sequence, body, None))
        return found

    def hints(self) -> Iterator[Hint]:
        return self._listener.hints()

    def close(self) -> None:
        self._listener.close()
        self._writer.close()
        self._pool.close()

    def _notify(self, channel: str, payload: str) -> None:
        self._rows("SELECT pg_notify(%(channel)s, %(payload)s)", channel=channel, payload=payload)

    def _begin_day(self) -> None:
        self._era = self._writer.era = self._upkeep.month()


def _raised(connection: Connection) -> tuple[str, str]:
    """Identity and schema. The server's transaction ids may lie behind the log's positions, if the log was loaded into a new server."""
    with connection.transaction():
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' positions', 0))"
        )
        # Compared with the next transaction: the oldest running one is behind on every busy server, and raising the base then would
        # move the horizon past what that one is writing.
        connection.execute(
            "UPDATE meta SET value = value::bigint + missing FROM (SELECT max(position) + 4096 - "
            "((pg_snapshot_xmax(pg_current_snapshot())::text::bigint << 12) + "
            "(SELECT value::bigint FROM meta WHERE name = 'position_base')) AS missing FROM nodes) behind "
            "WHERE name = 'position_base' AND missing > 0"
        )
        row = connection.execute(
            "SELECT value, current_schema() FROM meta WHERE name = 'identity'"
        ).fetchone()
    assert row is not None
    return row
