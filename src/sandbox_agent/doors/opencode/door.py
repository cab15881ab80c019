"""The door: finds the handler of a request, and says what is wrong in OpenCode's words."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from ...errors import MethodNotAllowed, NotFound, SandboxAgentError
from ...ops.operation import Stream
from ...runtime.daemon import Daemon
from .catalogue import Catalogue, Provider
from .diffs import RecentlyViewed
from .operations import Operations
from .readers import Readers
from .request import ROUTES, Empty, Request, Route, directory_of
from .stream import EventStream

NAMES = {401: "UnauthorizedError", 403: "ForbiddenError", 404: "NotFoundError", 409: "ConflictError"}
STREAMS = {"/event": False, "/global/event": True}


class Door:
    agent: str | None = None
    """The agent that the address of the door names."""

    def __init__(self, daemon: Daemon) -> None:
        self.operations = Operations(daemon)
        self.catalogue = Catalogue(self.operations)
        self.readers = Readers()
        self.recently_viewed = RecentlyViewed()

    def for_agent(self, agent: str) -> Door:
        """The same door with another default agent."""
        return _AgentDoor(self, agent)

    async def default_agent(self) -> str:
        return await self.catalogue.best()

    async def providers(self, directory: str) -> list[Provider]:
        return await self.catalogue.providers(directory)

    async def answer(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        headers: dict[bytes, bytes],
        read_body: Callable[[], Awaitable[bytes]],
        gone: Callable[[], Awaitable[None]],
    ) -> Any:
        """What the client gets: a stream, `Empty`, or something to encode."""
        _load_routes()
        if path in STREAMS and method == "GET":
            self.readers.require_room()
            return Stream(EventStream(self, is_global=STREAMS[path]).frames())
        allowed = []
        for route in ROUTES:
            if found := route.pattern.fullmatch(path):
                allowed.append(route.method)
                if route.method == method:
                    body = await read_body()
                    directory = directory_of(query, headers)
                    request = Request(found.groupdict(), query, directory, body, gone)
                    return await self._carried_out(route, request)
        if allowed:
            raise MethodNotAllowed(f"{path} supports {', '.join(allowed)}", allow=allowed)
        raise NotFound(f"there is nothing at {path}")

    async def _carried_out(self, route: Route, request: Request) -> Any:
        try:
            return await route.handler(self, request)
        except SandboxAgentError as error:
            if route.hides_errors:
                self.readers.show(error.detail)
            raise


class _AgentDoor(Door):
    def __init__(self, door: Door, agent: str) -> None:
        door.operations.title(agent)  # fails if there is no such agent
        self.operations = door.operations
        self.catalogue = door.catalogue
        self.readers = door.readers
        self.recently_viewed = door.recently_viewed
        self.agent = agent

    async def default_agent(self) -> str:
        assert self.agent is not None
        return self.agent


@functools.cache
def _load_routes() -> None:
    """The modules declare their routes when they are loaded."""
    from . import approvals, conversation, prompts, surroundings  # noqa: F401


def as_opencode_error(error: SandboxAgentError) -> SandboxAgentError:
    """Add the members that OpenCode clients read from an error."""
    error.facts |= {
        "name": NAMES.get(error.status, "BadRequestError" if error.status < 500 else "UnknownError"),
        "data": {"message": error.detail},
    }
    return error


__all__ = ["Door", "Empty", "as_opencode_error"]
