"""The schema of a file: creates, migrates and checks it, and reads and writes `meta`."""

from __future__ import annotations

from pathlib import Path

import apsw

from ..base import StoreTooNew

# A full check reads the whole file; above this size it would make the start slow.
CHECK_BELOW_BYTES = 64 << 20


def migrations() -> list[str]:
    """The SQL files in order. The schema version is the number of files that have run."""
    return [file.read_text() for file in sorted(Path(__file__).with_name("migrations").glob("*.sql"))]


def migrate(connection: apsw.Connection, path: Path) -> None:
    known = migrations()
    version = int(connection.pragma("user_version"))
    if version > len(known):
        raise StoreTooNew(
            f"{path} has schema {version}, this version of sandbox-agent knows up to {len(known)}: "
            "use a newer sandbox-agent, or another --data-dir."
        )
    for number, sql in enumerate(known[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(sql)
        connection.pragma("user_version", number)
        connection.execute("COMMIT")


def require_sound(connection: apsw.Connection, path: Path) -> None:
    if path.stat().st_size < CHECK_BELOW_BYTES:
        verdict = next(iter(connection.execute("PRAGMA quick_check(1)")))[0]
        if verdict != "ok":
            raise apsw.CorruptError(verdict)


def highest_position(connection: apsw.Connection) -> int:
    """The highest position ever assigned to an event or an update."""
    found = connection.execute(
        "SELECT max(position) FROM events UNION ALL SELECT max(news_position) FROM sessions "
        "UNION ALL SELECT max(position) FROM tombstones "
        "UNION ALL SELECT value FROM meta WHERE name = 'position'"
    )
    return max(int(position or 0) for (position,) in found)


def life_before(connection: apsw.Connection) -> int:
    """The number of the last opening that wrote."""
    return next(
        (int(life) for (life,) in connection.execute("SELECT value FROM meta WHERE name = 'life'")), 0
    )


def meta(connection: apsw.Connection, name: str, otherwise: str) -> str:
    """The value stored under a name. If there is none, the given value is stored."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE name = ?", (name,)):
        return str(value)
    set_meta(connection, name, otherwise)
    return otherwise


def set_meta(connection: apsw.Connection, name: str, value: str | int) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))
