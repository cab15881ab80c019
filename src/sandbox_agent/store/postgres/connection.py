"""Connections to the database: how they are made, which servers are refused, and what their errors mean."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ...errors import InvalidRequest, Unavailable
from ..base import ImpossibleChange
from .parameters import register

# It warns of every pipeline that breaks; we report it ourselves.
logging.getLogger("psycopg").setLevel(logging.ERROR)

OLDEST_SERVER = 150000
STATEMENT_MILLISECONDS = 10_000
WRITE_MILLISECONDS = 5_000
LOCK_MILLISECONDS = 3_000
MAX_SCHEMA_BYTES = 40
"""Names of channels have 63 bytes and start with the schema's."""

Connection = psycopg.Connection[tuple]  # type: ignore[type-arg]

# What is wrong is the change: data, constraints, program limits.
_IMPOSSIBLE = ("22", "23", "54")
# The server ended the connection; what it was doing may be done.
_ENDED = ("08", "57P")


class DatabaseUnfit(InvalidRequest):
    """A server that cannot keep what the log promises, or an address that must not be used. The message says what to do."""


class Address:
    """Where the database is. It holds a password, so it is never shown."""

    def __init__(self, url: str) -> None:
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error:
            # The error may quote the password.
            raise InvalidRequest(
                "--database-url is not a valid PostgreSQL URL: expected postgresql://USER@HOST/DATABASE"
            ) from None
        hosts = str(given.get("host") or given.get("hostaddr") or "").split(",")
        if "sslmode" not in given and not all(map(_is_local, hosts)):
            raise DatabaseUnfit(
                "--database-url names another machine but not how to reach it safely: add sslmode=verify-full "
                "(and sslrootcert=FILE), or another sslmode if the network is trusted"
            )
        ours: dict[str, str | int | None] = {
            "connect_timeout": 2,
            "tcp_user_timeout": 5000,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 2,
            "target_session_attrs": "read-write",
            "gssencmode": "disable",
            "application_name": "sandbox-agent",
        }
        self._conninfo = make_conninfo("", **(ours | given))

    def connect(self, milliseconds: int = STATEMENT_MILLISECONDS) -> Connection:
        """A connection in autocommit mode; no statement on it takes longer than this."""
        with refusing():
            connection = psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None)
        try:
            with refusing():
                connection.execute(
                    f"SET statement_timeout = {milliseconds}; SET lock_timeout = {LOCK_MILLISECONDS}; "
                    "SET idle_in_transaction_session_timeout = 5000; SET timezone = 'UTC'"
                )
                # Never less than durable on this server; `remote_apply` is more.
                connection.execute(
                    "SELECT set_config('synchronous_commit', 'on', false) "
                    "WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')"
                )
            connection.prepare_threshold = 0
            register(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def require_fit(connection: Connection) -> None:
    """Refuse a server that cannot keep what the log promises."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise DatabaseUnfit(
            f"the database is PostgreSQL {version // 10000}: version {OLDEST_SERVER // 10000} or newer is needed"
        )
    found = connection.execute(
        "SELECT current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(), current_schema()"
    ).fetchone()
    assert found is not None
    fsync, full_page_writes, is_replica, schema = found
    for name, value in (("fsync", fsync), ("full_page_writes", full_page_writes)):
        if value != "on":
            raise DatabaseUnfit(
                f"the database runs with {name} = {value}, so a crash of its machine loses events: turn it on"
            )
    if is_replica:
        raise DatabaseUnfit(
            "the database is a replica, which cannot be written: use the address of the primary"
        )
    if schema is None:
        raise DatabaseUnfit("the schema of --database-url does not exist: create it with CREATE SCHEMA")
    if len(schema.encode()) > MAX_SCHEMA_BYTES:
        raise DatabaseUnfit(
            f"the name of the schema is longer than {MAX_SCHEMA_BYTES} bytes: choose a shorter one"
        )


@contextmanager
def refusing() -> Iterator[None]:
    """Turn errors of a single statement into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise refusal(error) from error


def refusal(error: psycopg.Error) -> Exception:
    """What an error means if none of the statement is in the database."""
    state = error.sqlstate or ""
    if state.startswith(_IMPOSSIBLE) or isinstance(error, psycopg.DataError):
        return ImpossibleChange(f"{type(error).__name__}: {_message_of(error)}")
    return Unavailable(f"the database cannot be used: {_message_of(error)}", retryAfter=5)


def has_ended(error: psycopg.Error) -> bool:
    """The connection is gone, and with it the answer to what was sent."""
    state = error.sqlstate
    return (
        state.startswith(_ENDED) and state != "57014"
        if state
        else isinstance(error, psycopg.OperationalError)
    )


def _message_of(error: psycopg.Error) -> str:
    """The message in one line, without the password, which libpq never shows, and without details, which may hold content."""
    return re.sub(r"\s+", " ", error.diag.message_primary or str(error)).strip() or type(error).__name__


def _is_local(host: str) -> bool:
    return host in ("", "localhost", "::1") or host.startswith(("/", "@", "127."))
