"""The MCP servers of a session: what a client configured, checked and made ready for the agent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

import msgspec

from ..agents.base import Agent
from ..errors import InvalidRequest
from ..schema.inputs import McpServer
from ..schema.mcp import McpServerInfo, McpState
from ..schema.tools import CLIENT_SERVER

_LOCAL, _REMOTE = ("local", "stdio"), ("remote", "http")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
PROGRAM = "sandbox-agent"
_IN_FOLDER = 'cd -- "$1" && shift && exec "$@"'


def granted(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The daemon's variables that the operator lets MCP servers use (`--mcp-env`)."""
    return {name: environ[name] for name in names if name in environ}


def is_own_server(server: McpServer) -> bool:
    """Whether it is `sandbox-agent mcp`, by which the agent reaches this daemon: it gets a socket of its own instead."""
    return (
        server.command is not None
        and os.path.basename(server.command) == PROGRAM
        and server.args[:1] == ("mcp",)
    )


def check_server(name: str, server: McpServer) -> None:
    """Refuse what can never work."""
    if is_own_server(server) and (len(server.args) > 1 or server.env or server.cwd):
        raise _refusal(
            name, "is this daemon's own: in a session, `sandbox-agent mcp` takes no other arguments"
        )
    if name == CLIENT_SERVER:
        raise InvalidRequest(f"`{name}` is the name of the server for `tools`", field="mcp")
    if not name or not name.isprintable():
        raise _refusal(name, "has a name that cannot be printed")
    if (server.command is None) == (server.url is None):
        raise _refusal(name, "needs either `command` or `url`")
    if server.type is not None and server.type not in (_LOCAL if server.command is not None else _REMOTE):
        raise _refusal(
            name, f"of type `{server.type}` needs `{'command' if server.type in _LOCAL else 'url'}`"
        )
    remote = {
        "headers": server.headers,
        "envHeaders": server.env_headers,
        "bearerTokenEnvVar": server.bearer_token_env_var,
        "transport": server.transport,
    }
    local = {"args": server.args, "env": server.env, "cwd": server.cwd}
    beside = remote if server.command is not None else local
    if misplaced := [field for field, value in beside.items() if value]:
        raise _refusal(
            name, f"cannot have `{misplaced[0]}`: it is {'local' if beside is remote else 'remote'}"
        )
    if bad := [header for header in (*server.headers, *server.env_headers) if not _HEADER.fullmatch(header)]:
        raise _refusal(name, f"has the header `{bad[0]}`, which is not a valid header name")
    texts = [server.command or "", server.url or "", server.cwd or "", *server.args]
    texts += [text for pair in (*server.env.items(), *server.headers.items()) for text in pair]
    if any("\0" in text for text in texts):
        raise _refusal(name, "has a NUL character")


def servers_for(
    agent: Agent, servers: Mapping[str, McpServer], directory: str, environ: Mapping[str, str]
) -> dict[str, McpServer]:
    """The servers that are enabled, with the headers and commands that the agent gets."""
    return {
        name: _ready(agent, name, server, directory, environ)
        for name, server in servers.items()
        if server.enabled is not False
    }


def _ready(
    agent: Agent, name: str, server: McpServer, directory: str, environ: Mapping[str, str]
) -> McpServer:
    check_server(name, server)
    if server.transport == "sse" and not agent.reaches_sse:
        raise _refusal(name, f"has the transport `sse`, which {agent.title} does not support")
    plain = McpServer(
        server.command,
        server.args,
        server.env,
        server.url,
        {**server.headers, **_headers_from(name, server, environ)},
        timeout_ms=server.timeout_ms,
        transport=server.transport,
    )
    if server.cwd is None or server.command is None:
        return plain
    # Most agents start a server in the session's directory and take no other.
    folder = os.path.join(directory, server.cwd)
    arguments = ("-c", _IN_FOLDER, "sh", folder, server.command, *server.args)
    return msgspec.structs.replace(plain, command="/bin/sh", args=arguments)


def _headers_from(name: str, server: McpServer, environ: Mapping[str, str]) -> dict[str, str]:
    headers = {header: _variable(name, variable, environ) for header, variable in server.env_headers.items()}
    if (token := server.bearer_token_env_var) is not None:
        headers["Authorization"] = f"Bearer {_variable(name, token, environ)}"
    return headers


def _variable(name: str, variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable)
    if value is None:
        raise _refusal(
            name,
            f"needs the variable `{variable}`: set it in the session's `env`, or start the daemon with `--mcp-env {variable}`",
        )
    if not value.isprintable():
        raise _refusal(name, f"needs the variable `{variable}`, whose value cannot be sent in a header")
    return value


def listed(servers: Mapping[str, McpServer], states: Mapping[str, McpState]) -> list[McpServerInfo]:
    """What clients see of a session's servers."""
    disabled = {name: McpState("disabled") for name, server in servers.items() if server.enabled is False}
    return [
        McpServerInfo(name=name, state=state.state, error=state.error, tools=state.tools)
        for name in servers
        for state in [disabled.get(name) or states.get(name, McpState())]
    ]


def _refusal(name: str, reason: str) -> InvalidRequest:
    return InvalidRequest(f"MCP server `{name}` {reason}", field="mcp", server=name)
