"""What a client asks besides sessions: configuration, providers, agents, project, files. Most of it is fixed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from ... import __version__
from ...errors import InvalidRequest
from .catalogue import DEFAULT, OfferedAgent, OfferedCommand, Provider
from .door import Door
from .ids import PROJECT
from .request import Request, route
from .shapes import Shape

MAX_FOUND = 200


class Health(Struct, frozen=True):
    healthy: bool
    version: str


@route("GET", "/global/health", "/api/health")
async def health(door: Door, request: Request) -> Health:
    return Health(True, __version__)


class Configuration(Struct, frozen=True):
    model: str
    share: str = "disabled"
    autoupdate: bool = False
    plugin: tuple[str, ...] = ()


@route("GET", "/config", "/global/config")
async def config(door: Door, request: Request) -> Configuration:
    """Sharing is disabled, so clients hide it."""
    return Configuration(f"{await door.default_agent()}/{DEFAULT}")


class Providers(Struct, frozen=True):
    providers: list[Provider]
    default: dict[str, str]


class AllProviders(Struct, frozen=True):
    all: list[Provider]
    default: dict[str, str]
    connected: list[str]


@route("GET", "/config/providers")
async def config_providers(door: Door, request: Request) -> Providers:
    found = await door.providers(request.directory)
    return Providers(found, {provider.id: DEFAULT for provider in found})


@route("GET", "/provider")
async def providers(door: Door, request: Request) -> AllProviders:
    found = await door.providers(request.directory)
    connected = await door.catalogue.connected()
    return AllProviders(found, {provider.id: DEFAULT for provider in found}, connected)


@route("GET", "/agent")
async def agents(door: Door, request: Request) -> list[OfferedAgent]:
    return await door.catalogue.modes(request.directory)


@route("GET", "/command")
async def commands(door: Door, request: Request) -> list[OfferedCommand]:
    return await door.catalogue.commands(request.directory, door.agent)


# -- what the daemon does not have ------------------------------------------------------------


@route("GET", "/provider/auth", "/mcp", "/experimental/resource")
async def empty_object(door: Door, request: Request) -> dict[str, Any]:
    return {}


@route(
    "GET",
    "/lsp",
    "/formatter",
    "/skill",
    "/experimental/workspace",
    "/experimental/workspace/status",
)
async def empty_list(door: Door, request: Request) -> list[Any]:
    return []


@route("GET", "/experimental/capabilities")
async def capabilities(door: Door, request: Request) -> dict[str, Any]:
    return {"backgroundSubagents": False}


@route("GET", "/experimental/console")
async def console(door: Door, request: Request) -> dict[str, Any]:
    return {"consoleManagedProviders": [], "switchableOrgCount": 0}


@route("POST", "/log", "/instance/dispose", "/global/dispose")
async def nothing_to_do(door: Door, request: Request) -> bool:
    return True


@route("PATCH", "/config", "/global/config")
@route("PUT", "/auth/{id}")
async def no_settings(door: Door, request: Request) -> None:
    raise InvalidRequest("this server takes no settings: configure the agents themselves")


# -- the project ------------------------------------------------------------------------------


class Paths(Struct, frozen=True):
    home: str
    state: str
    config: str
    worktree: str
    directory: str


@route("GET", "/path")
async def path(door: Door, request: Request) -> Paths:
    home, folder = str(Path.home()), str(door.operations.config.data_path)
    return Paths(home, folder, folder, request.directory, request.directory)


class ProjectTime(Struct, frozen=True):
    created: int = 0
    updated: int = 0


class Project(Struct, frozen=True):
    id: str
    worktree: str
    vcs: str = "git"
    time: ProjectTime = ProjectTime()
    sandboxes: tuple[str, ...] = ()


@route("GET", "/project/current")
async def project(door: Door, request: Request) -> Project:
    return Project(PROJECT, request.directory)


@route("GET", "/project")
async def projects(door: Door, request: Request) -> list[Project]:
    return [Project(PROJECT, request.directory)]


class Folder(Struct, frozen=True):
    directory: str


@route("GET", "/project/{id}/directories")
async def directories(door: Door, request: Request) -> list[Folder]:
    return [Folder(request.directory)]


class Location(Shape, frozen=True):
    directory: str
    project: dict[str, str]


class Located(Shape, frozen=True):
    location: Location
    data: list[Any]  # depends on the route


def _location(directory: str) -> Location:
    return Location(directory=directory, project={"id": PROJECT, "directory": directory})


@route("GET", "/api/location")
async def location(door: Door, request: Request) -> Location:
    return _location(request.directory)


@route("GET", "/api/reference", "/api/skill", "/api/integration", "/api/command")
async def located_nothing(door: Door, request: Request) -> Located:
    return Located(location=_location(request.directory), data=[])


class Branch(Shape, frozen=True):
    branch: str | None = None


@route("GET", "/vcs")
async def vcs(door: Door, request: Request) -> Branch:
    """The branch that is checked out, from git's own file."""
    head = await door.operations.beginning_of(os.path.join(request.directory, ".git", "HEAD"))
    _, is_branch, name = head.decode(errors="replace").strip().partition("ref: refs/heads/")
    return Branch(branch=name if is_branch else None)


# -- files ------------------------------------------------------------------------------------


class Found(Struct, frozen=True):
    path: str
    type: str


@route("GET", "/api/fs/find")
async def find(door: Door, request: Request) -> Located:
    found = [
        Found(os.path.relpath(path, request.directory), type) for path, type in await _found(door, request)
    ]
    return Located(location=_location(request.directory), data=found)


@route("GET", "/find/file")
async def find_file(door: Door, request: Request) -> list[str]:
    return [os.path.relpath(path, request.directory) for path, _ in await _found(door, request)]


async def _found(door: Door, request: Request) -> list[tuple[str, str]]:
    limit = min(request.number("limit") or 20, MAX_FOUND)
    # Characters that have a meaning in a pattern stand for themselves.
    query = "".join(f"[{char}]" if char in "*?[" else char for char in request.query.get("query", ""))
    found = await door.operations.search(request.directory, f"*{query}*" if query else "*", limit)
    return [
        (os.path.join(request.directory, hit.path), "directory" if hit.entry_type == "directory" else "file")
        for hit in found.hits
    ]
