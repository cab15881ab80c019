"""MCP servers and skills of a directory: every session that is created in it gets them."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from ..errors import Conflict, InvalidRequest, NotFound, PayloadTooLarge, Unavailable
from ..runtime.choices import check_absolute, check_directory
from ..runtime.daemon import Daemon
from ..runtime.directories import DirectoryConfig
from ..runtime.mcp import check_server
from ..schema.inputs import McpServer
from ..schema.skills import SkillsConfig, Sources
from .operation import OnNode, operation

ConfiguredDirectory = Annotated[
    str, Meta(min_length=1, max_length=4_096, description="Absolute path of the directory.")
]
McpName = Annotated[str, Meta(min_length=1, max_length=128, description="Name of the MCP server.")]
SkillName = Annotated[str, Meta(min_length=1, max_length=128, description="Name of the entry.")]
Pairs = dict[str, str] | None
Entry = TypeVar("Entry")


class OneMcp(OnNode, frozen=True, rename="camel"):
    directory: ConfiguredDirectory
    mcp_name: McpName


class OneSkills(OnNode, frozen=True, rename="camel"):
    directory: ConfiguredDirectory
    skill_name: SkillName


class SetMcp(OnNode, frozen=True, rename="camel"):
    """An `McpServer` in whose body `null` means "not set"."""

    directory: ConfiguredDirectory
    mcp_name: McpName
    type: Annotated[
        Literal["local", "stdio", "remote", "http"] | None,
        Meta(description="`local` with `command`, or `remote` with `url`."),
    ] = None
    command: Annotated[str | None, Meta(description="Program of a local server.")] = None
    args: Annotated[tuple[str, ...] | None, Meta(description="Arguments of the program.")] = None
    env: Annotated[Pairs, Meta(description="Environment variables of the program.")] = None
    cwd: Annotated[
        str | None, Meta(description="Working directory of the program, relative to the session's.")
    ] = None
    url: Annotated[str | None, Meta(description="URL of a remote server.")] = None
    transport: Annotated[
        Literal["http", "sse"] | None, Meta(description="How to talk to the URL (default: `http`).")
    ] = None
    headers: Annotated[Pairs, Meta(description="Headers for the URL.")] = None
    env_headers: Annotated[Pairs, Meta(description="Headers whose values are in variables.")] = None
    bearer_token_env_var: Annotated[
        str | None, Meta(description="Variable with the token for the header `Authorization`.")
    ] = None
    enabled: Annotated[bool | None, Meta(description="`false` leaves the server out.")] = None
    timeout_ms: Annotated[
        Annotated[int, Meta(gt=0, le=86_400_000)] | None,
        Meta(description="How long a tool call may take, if the agent lets clients choose it."),
    ] = None
    oauth: Annotated[
        dict[str, str] | None,
        Meta(description="Not supported: send a token in a header."),
    ] = None

    def server(self) -> McpServer:
        kind: Literal["local", "remote"] = "remote" if self.url is not None else "local"
        given = {
            name: value for name in McpServer.__struct_fields__ if (value := getattr(self, name)) is not None
        }
        return McpServer(**{"type": kind, **given})


class SetSkills(OnNode, frozen=True, rename="camel"):
    directory: ConfiguredDirectory
    skill_name: SkillName
    sources: Sources


@operation(
    "GET", "/v1/config/mcp", InvalidRequest, NotFound, name="config.get_mcp", words=("directory", "mcp_name")
)
async def get_mcp(daemon: Daemon, request: OneMcp) -> McpServer:
    """Show an MCP server of a directory."""
    check_absolute(request.directory)
    config = await daemon.directories.read(request.directory)
    return _found(config.mcp.get(request.mcp_name), "MCP server", request.mcp_name, request.directory)


@operation(
    "PUT",
    "/v1/config/mcp",
    InvalidRequest,
    Conflict,
    PayloadTooLarge,
    Unavailable,
    name="config.set_mcp",
    query=("directory", "mcp_name"),
    words=("directory", "mcp_name"),
    examples=(
        "sandbox-agent config set-mcp /srv/app files --command npx --args=-y --args=some-server",
        "sandbox-agent config set-mcp /srv/app web --url https://host/mcp --bearer-token-env-var WEB_TOKEN",
    ),
)
async def set_mcp(daemon: Daemon, request: SetMcp) -> None:
    """Add an MCP server to a directory, or replace it.

    Sessions that are created in the directory from then on get it, unless they have a server of that name.
    """
    check_directory(request.directory)
    if request.oauth is not None:
        raise InvalidRequest("`oauth` is not supported: send a token with `bearerTokenEnvVar`", field="oauth")
    server = request.server()
    check_server(request.mcp_name, server)

    def add(config: DirectoryConfig) -> DirectoryConfig:
        return msgspec.structs.replace(config, mcp={**config.mcp, request.mcp_name: server})

    await daemon.directories.change(request.directory, add)


@operation(
    "DELETE",
    "/v1/config/mcp",
    InvalidRequest,
    Unavailable,
    name="config.delete_mcp",
    words=("directory", "mcp_name"),
)
async def delete_mcp(daemon: Daemon, request: OneMcp) -> None:
    """Remove an MCP server from a directory. Sessions that have it keep it."""
    check_absolute(request.directory)

    def remove(config: DirectoryConfig) -> DirectoryConfig:
        return msgspec.structs.replace(config, mcp=_without(config.mcp, request.mcp_name))

    await daemon.directories.change(request.directory, remove)


@operation(
    "GET",
    "/v1/config/skills",
    InvalidRequest,
    NotFound,
    name="config.get_skills",
    words=("directory", "skill_name"),
)
async def get_skills(daemon: Daemon, request: OneSkills) -> SkillsConfig:
    """Show one entry of a directory's skills."""
    check_absolute(request.directory)
    config = await daemon.directories.read(request.directory)
    return _found(
        config.skills.get(request.skill_name), "entry of skills", request.skill_name, request.directory
    )


@operation(
    "PUT",
    "/v1/config/skills",
    InvalidRequest,
    Conflict,
    PayloadTooLarge,
    Unavailable,
    name="config.set_skills",
    query=("directory", "skill_name"),
    words=("directory", "skill_name"),
    examples=("sandbox-agent config set-skills /srv/app house --source /srv/skills --source owner/name",),
)
async def set_skills(daemon: Daemon, request: SetSkills) -> None:
    """Add skills to a directory, or replace them.

    Sessions that are created in the directory from then on get them. Their sources are read at that time.
    """
    check_directory(request.directory)

    def add(config: DirectoryConfig) -> DirectoryConfig:
        skills = {**config.skills, request.skill_name: SkillsConfig(request.sources)}
        return msgspec.structs.replace(config, skills=skills)

    await daemon.directories.change(request.directory, add)


@operation(
    "DELETE",
    "/v1/config/skills",
    InvalidRequest,
    Unavailable,
    name="config.delete_skills",
    words=("directory", "skill_name"),
)
async def delete_skills(daemon: Daemon, request: OneSkills) -> None:
    """Remove skills from a directory. Sessions that have them keep them."""
    check_absolute(request.directory)

    def remove(config: DirectoryConfig) -> DirectoryConfig:
        return msgspec.structs.replace(config, skills=_without(config.skills, request.skill_name))

    await daemon.directories.change(request.directory, remove)


def _found(entry: Entry | None, what: str, name: str, directory: str) -> Entry:
    if entry is None:
        raise NotFound(f"{directory} has no {what} `{name}`", directory=directory, name=name)
    return entry


def _without(entries: dict[str, Entry], name: str) -> dict[str, Entry]:
    return {each: entry for each, entry in entries.items() if each != name}
