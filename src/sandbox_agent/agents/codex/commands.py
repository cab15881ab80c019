"""The parameters of our requests to `codex app-server`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from .frames import UserInput


class Command(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Parameters of a request we send; also read back from recordings, where clients leave out more."""


class ClientInfo(Command, frozen=True, kw_only=True):
    name: str
    title: str
    version: str


class ClientCapabilities(Command, frozen=True, kw_only=True):
    # Plan mode and the list of background commands need it. A factory: `true` must be on the wire.
    experimental_api: bool = field(default_factory=lambda: True)
    opt_out_notification_methods: tuple[str, ...] = ()


class Initialize(Command, frozen=True, kw_only=True):
    client_info: ClientInfo
    capabilities: ClientCapabilities


class McpConfig(Struct, frozen=True, omit_defaults=True):
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str | None = None
    http_headers: dict[str, str] = {}
    tool_timeout_sec: float | None = None


class ThreadConfig(Struct, frozen=True, omit_defaults=True):
    """Overrides of the user's config.toml for one thread."""

    mcp_servers: dict[str, McpConfig] = {}
    model_reasoning_effort: str | None = None


class RootPlace(Command, frozen=True, kw_only=True):
    path: str
    # A factory: both must be on the wire.
    type: str = field(default_factory=lambda: "environment")
    environment_id: str = field(default_factory=lambda: "local")


class CapabilityRoot(Command, frozen=True, kw_only=True):
    """A folder with `skills/<name>/SKILL.md`."""

    id: str
    location: RootPlace


class OpenThread(Command, frozen=True, kw_only=True):
    """`thread/start` and, with `thread_id`, `thread/resume`."""

    thread_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    approval_policy: Any = None  # a name, or an object with finer switches
    sandbox: str | None = None
    config: ThreadConfig | None = None
    selected_capability_roots: tuple[CapabilityRoot, ...] = ()
    exclude_turns: bool = False


class SandboxPolicy(Command, frozen=True, kw_only=True):
    type: Literal["dangerFullAccess", "readOnly"]


class CollaborationSettings(Struct, frozen=True):
    model: str
    reasoning_effort: str | None = None
    developer_instructions: str | None = None


class CollaborationMode(Struct, frozen=True):
    mode: Literal["plan", "default"]
    settings: CollaborationSettings


class StartTurn(Command, frozen=True, kw_only=True):
    thread_id: str
    input: tuple[UserInput, ...] = ()
    model: str | None = None
    effort: str | None = None
    approval_policy: str | None = None
    sandbox_policy: SandboxPolicy | None = None
    collaboration_mode: CollaborationMode | None = None


class Interrupt(Command, frozen=True, kw_only=True):
    thread_id: str
    turn_id: str


class OnThread(Command, frozen=True, kw_only=True):
    thread_id: str


class ListModels(Command, frozen=True, kw_only=True):
    cursor: str | None = None
