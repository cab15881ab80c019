"""Hints: what other nodes have written, and what they ask. They wake readers, and nothing depends on them.

Behind a transaction pooler, LISTEN succeeds but no notification arrives. So a new connection is tested with a notification from
another one; if it does not arrive, `Missed` is sent four times a second, and readers poll.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

import psycopg
from psycopg import sql

from ...errors import Unavailable
from ..shared import Appended, CommandAnswered, CommandsWait, Hint, Missed
from .commands import channel_of
from .connection import Address, Connection
from .writer import Life

MAX_WATCHED = 100_000
"""The number of sessions whose ordinal is kept. Beyond it they are forgotten, and come back when their heads are looked up again."""
LOOK_SECONDS = 0.5
"""How often a wait for hints looks whether it should end."""
RETRY_SECONDS = 0.25
TEST_SECONDS = 2.0
"""How long the notification of a test may take."""
RETEST_SECONDS = 10.0
"""How long to poll before a connection without notifications is tested again."""

logger = logging.getLogger("sandbox_agent.store")

Notify = Callable[[str, str], None]
"""Sends a notification on another connection: channel and payload."""


class Listener:
    def __init__(self, address: Address, schema: str, notify: Notify) -> None:
        self._address = address
        self._notify = notify
        self._has_warned = False
        self._schema = schema
        self._closed = threading.Event()
        self._watched: dict[int, str] = {}
        self.life: Life | None = None

    def watch(self, ordinal: int, session_id: str) -> None:
        if len(self._watched) >= MAX_WATCHED:
            self._watched.clear()
        self._watched[ordinal] = session_id

    def close(self) -> None:
        self._closed.set()

    def hints(self) -> Iterator[Hint]:
        while not self._closed.is_set():
            try:
                with self._address.connect() as connection:
                    yield from self._hints(connection)
            except (psycopg.Error, Unavailable):
                self._closed.wait(RETRY_SECONDS)

    def _hints(self, connection: Connection) -> Iterator[Hint]:
        """Everything that this connection receives, until it breaks, falls silent, or belongs to an earlier life."""
        life = self.life
        channels = [f"{self._schema}_log"]
        if life is not None:
            channels.append(channel_of(self._schema, life.incarnation))
        for channel in channels:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        yield Missed()
        with contextlib.suppress(Unavailable):
            self._notify(channels[0], "test")
        begun = time.monotonic()
        notified_at: float | None = None
        while not self._closed.is_set() and self.life is life:
            for notice in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                notified_at = time.monotonic()
                hint = None
                with contextlib.suppress(ValueError):  # a later release may have other hints
                    hint = self._understood(notice.payload)
                if hint is not None:
                    yield hint
            now = time.monotonic()
            if notified_at is None:
                if now - begun > TEST_SECONDS:
                    yield from self._look()
                    return
            # Our own writes hint too, so silence means that the connection is dead, even if nothing has reported it.
            elif life is not None and now - notified_at > life.lease_seconds:
                return

    def _look(self) -> Iterator[Hint]:
        """Polls while no notifications arrive."""
        if not self._has_warned and not self._closed.is_set():
            self._has_warned = True
            logger.warning(
                "the database's notifications do not arrive, as happens behind a transaction pooler: polling every %d ms; "
                "set a direct connection with --database-listen-url",
                RETRY_SECONDS * 1000,
            )
        deadline = time.monotonic() + RETEST_SECONDS
        while time.monotonic() < deadline and not self._closed.wait(RETRY_SECONDS):
            yield Missed()

    def _understood(self, payload: str) -> Hint | None:
        match payload.split():
            case ["test"]:
                return None  # this one's or another's
            case ["commands"]:
                return CommandsWait()
            case ["answer", id]:
                return CommandAnswered(int(id))
            case [_, *heads]:
                pairs = (head.partition(":") for head in heads)
                known = {
                    session_id: int(sequence)
                    for ordinal, _, sequence in pairs
                    if (session_id := self._watched.get(int(ordinal))) is not None
                }
                return Appended(known) if known else None
        return None
