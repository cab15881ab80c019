"""Hints: what other nodes have written, and what they ask. They wake readers, and nothing depends on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
from psycopg import sql

from ...errors import Unavailable
from ..shared import Appended, CommandAnswered, CommandsWait, Hint, Missed
from .commands import channel_of
from .connection import Address, Connection
from .writer import Life

MOST_WATCHED = 100_000
"""The number of sessions whose ordinal is kept. Beyond it they are forgotten, and come back when their heads are looked up again."""
LOOK_SECONDS = 0.5
"""How often a wait for hints looks whether it should end."""
RETRY_SECONDS = 0.25


class Listener:
    def __init__(self, address: Address, schema: str) -> None:
        self._address = address
        self._schema = schema
        self._closed = threading.Event()
        self._watched: dict[int, str] = {}
        self.life: Life | None = None

    def watch(self, ordinal: int, session_id: str) -> None:
        if len(self._watched) >= MOST_WATCHED:
            self._watched.clear()
        self._watched[ordinal] = session_id

    def close(self) -> None:
        self._closed.set()

    def hints(self) -> Iterator[Hint]:
        while not self._closed.is_set():
            try:
                with self._address.connect() as connection:
                    yield from self._heard(connection)
            except (psycopg.Error, Unavailable):
                self._closed.wait(RETRY_SECONDS)

    def _heard(self, connection: Connection) -> Iterator[Hint]:
        """Everything that this connection hears, until it breaks, falls silent, or belongs to an earlier life."""
        life = self.life
        channels = [f"{self._schema}_log"]
        if life is not None:
            channels.append(channel_of(self._schema, life.incarnation))
        for channel in channels:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        yield Missed()
        heard_at = time.monotonic()
        while not self._closed.is_set() and self.life is life:
            for notice in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                heard_at = time.monotonic()
                if (hint := self._understood(notice.payload)) is not None:
                    yield hint
            # Our own writes hint too, so silence means that the connection is dead, though nobody has said so.
            if life is not None and time.monotonic() - heard_at > life.lease_seconds:
                return

    def _understood(self, payload: str) -> Hint | None:
        match payload.split():
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
