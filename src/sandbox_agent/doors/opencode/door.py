"""The door: finds the handler of a request, and says what is wrong in OpenCode's words."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from ...errors import MethodNotAllowed, NotFound, SandboxAgentError
from ...ops.operation import Stream
from ...runtime.daemon import Daemon
from .catalogue import Catalogue, Provider
from .operations import Operations
from .request import ROUTES, Empty, Request, directory_of
from .stream import EventStream

NAMES = {401: "UnauthorizedError", 403: "ForbiddenError", 404: "NotFoundError", 409: "ConflictError"}
STREAMS = {"/event": False, "/global/event": True}


class Door:
    def __init__(self, daemon: Daemon) -> None:
        self.operations = Operations(daemon)
        self.catalogue = Catalogue(self.operations)

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
            return Stream(EventStream(self.operations, self.catalogue, is_global=STREAMS[path]).frames())
        allowed = []
        for route in ROUTES:
            if found := route.pattern.fullmatch(path):
                allowed.append(route.method)
                if route.method == method:
                    body = await read_body()
                    directory = directory_of(query, headers)
                    request = Request(found.groupdict(), query, directory, body, gone)
                    return await route.handler(self, request)
        if allowed:
            raise MethodNotAllowed(f"{path} takes {', '.join(allowed)}", allow=allowed)
        raise NotFound(f"there is nothing at {path}")


class _AgentDoor(Door):
    def __init__(self, door: Door, agent: str) -> None:
        door.operations.title(agent)  # fails if there is no such agent
        self.operations = door.operations
        self.catalogue = door.catalogue
        self._agent = agent

    async def default_agent(self) -> str:
        return self._agent


@functools.cache
def _load_routes() -> None:
    """The modules declare their routes when they are loaded."""
    from . import approvals, conversation, prompts, surroundings  # noqa: F401


def in_their_words(error: SandboxAgentError) -> SandboxAgentError:
    """Add the members that OpenCode clients read from an error."""
    error.facts |= {
        "name": NAMES.get(error.status, "BadRequestError" if error.status < 500 else "UnknownError"),
        "data": {"message": error.detail},
    }
    return error


__all__ = ["Door", "Empty", "in_their_words"]
