"""Connections for everything but the writer: made when needed, used by one thread at a time, closed when idle."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from ...errors import Unavailable
from .connection import Address, Connection, has_ended, refusal

IDLE_SECONDS = 60.0

Found = TypeVar("Found")


class Pool:
    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = Lock()
        self._idle: list[tuple[Connection, float]] = []
        """The connection used last is at the end."""
        self._is_closed = False

    def ask(self, question: Callable[[Connection], Found], *, once: bool = False) -> Found:
        """Run a question. If its connection broke while it was idle, it is asked again, unless it must be asked only `once`: then its
        outcome is unknown."""
        while True:
            idle = self._take_idle()
            connection = idle or self._address.connect()
            is_asked = False
            try:
                if idle and once:
                    connection.execute("SELECT")
                is_asked = True
                found = question(connection)
            except psycopg.Error as error:
                may_repeat = idle and connection.closed and not (once and is_asked)
                if once and is_asked and has_ended(error):
                    raise Unavailable(
                        "the database does not answer", retryAfter=1, outcome="unknown"
                    ) from error
                if not may_repeat:
                    raise refusal(error) from error
            else:
                return found
            finally:
                self._put_back(connection)

    def close_idle(self, seconds: float = IDLE_SECONDS) -> None:
        now = time.monotonic()
        while True:
            with self._lock:
                if not self._idle or self._idle[0][1] > now - seconds:
                    return
                connection, _ = self._idle.pop(0)
            connection.close()

    def close(self) -> None:
        self._is_closed = True
        self.close_idle(0)

    def _take_idle(self) -> Connection | None:
        if self._is_closed:
            raise Unavailable("the log is closed")
        with self._lock:
            return self._idle.pop()[0] if self._idle else None

    def _put_back(self, connection: Connection) -> None:
        is_usable = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        if self._is_closed or not is_usable:
            connection.close()
        else:
            with self._lock:
                self._idle.append((connection, time.monotonic()))
