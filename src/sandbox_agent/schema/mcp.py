"""What agents say about their MCP servers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Condition = Literal["connected", "failed", "pending", "needs_auth", "disabled", "unknown"]


class McpState(Struct, frozen=True, omit_defaults=True):
    state: Annotated[
        Condition,
        Meta(
            description="`unknown` if the agent has not reported it, does not report it, or is not running."
        ),
    ] = field(default_factory=lambda: "unknown")  # a factory: it is always on the wire
    error: Annotated[str | None, Meta(description="Why it failed.")] = None
    tools: Annotated[
        tuple[str, ...] | None, Meta(description="Names of its tools, if the agent reports them.")
    ] = None


class McpServerInfo(McpState, frozen=True, omit_defaults=True, kw_only=True):
    """An MCP server of a session."""

    name: str


class McpServerList(Struct, frozen=True):
    servers: list[McpServerInfo]


_CONDITIONS: dict[str, Condition] = {
    "connected": "connected",
    "ready": "connected",
    "failed": "failed",
    "cancelled": "failed",
    "pending": "pending",
    "starting": "pending",
    "needs-auth": "needs_auth",
    "needs_auth": "needs_auth",
    "needs_client_registration": "needs_auth",
    "disabled": "disabled",
}


def condition_of(native: str | None) -> Condition:
    """The condition in an agent's own word."""
    return _CONDITIONS.get(native or "", "unknown")
