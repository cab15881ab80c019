"""The sessions of a daemon, page by page."""

# Written by `make gen` from aio/session_list.py.

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ...schema.answers import SessionPage
from ...schema.sessions import SessionInfo
from ..call import call
from ..misuse import Guard

if TYPE_CHECKING:
    from .client import SandboxAgent


class SessionList(Guard):
    """Iterate over it to get all sessions, fetched as you go; `page()` is one request."""

    def __init__(self, client: SandboxAgent, limit: int, cursor: str | None) -> None:
        self._client = client
        self._limit = limit
        self._cursor = cursor

    def __iter__(self) -> Generator[SessionInfo, None]:
        cursor, more = self._cursor, True
        while more:
            page = self._page_at(cursor)
            for info in page.sessions:
                yield info
            cursor = page.next_cursor
            more = cursor is not None

    def page(self) -> SessionPage:
        """The first page, with the cursor of the next one."""
        return self._page_at(self._cursor)

    def _page_at(self, cursor: str | None) -> SessionPage:
        request = call("GET", "/v1/sessions", query={"limit": self._limit, "cursor": cursor})
        return self._client.ask(request, SessionPage)
