"""The sessions of a daemon, page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from ...schema.answers import SessionPage
from ...schema.sessions import SessionInfo
from ..call import call
from ..misuse import AsyncGuard

if TYPE_CHECKING:
    from .client import AsyncSandboxAgent


class AsyncSessionList(AsyncGuard):
    """Iterate over it to get all sessions, fetched as you go; `page()` is one request."""

    def __init__(self, client: AsyncSandboxAgent, limit: int, cursor: str | None) -> None:
        self._client = client
        self._limit = limit
        self._cursor = cursor

    async def __aiter__(self) -> AsyncGenerator[SessionInfo, None]:
        cursor, more = self._cursor, True
        while more:
            page = await self._page_at(cursor)
            for info in page.sessions:
                yield info
            cursor = page.next_cursor
            more = cursor is not None

    async def page(self) -> SessionPage:
        """The first page, with the cursor of the next one."""
        return await self._page_at(self._cursor)

    async def _page_at(self, cursor: str | None) -> SessionPage:
        request = call("GET", "/v1/sessions", query={"limit": self._limit, "cursor": cursor})
        return await self._client.ask(request, SessionPage)
