"""Responses of the operations. The daemon encodes them, clients decode them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from .events import PermissionRequested, QuestionRequested
from .features import Capabilities, Command, Mode, Model
from .inputs import Attachment
from .options import ConfigOption
from .sessions import SessionInfo
from .times import Time
from .tools import ToolRequest

# -- agents ---------------------------------------------------------------------------------------


class AgentInfo(Struct, frozen=True, omit_defaults=True, rename="camel"):
    id: str
    installed: bool
    credentials_available: bool
    stability: Literal["stable", "experimental"]
    capabilities: Capabilities
    version: str | None = None
    path: str | None = None
    tested_version: str | None = None
    server_status: dict[str, Any] | None = None
    source: Annotated[str | None, Meta(description="Where the program comes from.")] = None
    size: Annotated[int | None, Meta(description="Size on disk in bytes.")] = None
    config_options: Annotated[
        tuple[ConfigOption, ...] | None,
        Meta(description="What a session may choose, if `config` is set and the agent reports it."),
    ] = None


class AgentList(Struct, frozen=True):
    agents: list[AgentInfo]


class Installed(Struct, frozen=True, rename="camel"):
    already_installed: bool
    version: str | None
    path: str
    source: Annotated[
        str, Meta(description="`built-in`, `folder`, `path` (found); `publisher`, `npm`, `mirror` (fetched).")
    ]


class Progress(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One step of an installation."""

    stage: Annotated[
        Literal["waiting", "asking", "downloading", "unpacking", "checking", "failed"],
        Meta(
            description="`waiting`: another installation of the agent is running. After `failed`, the next source is tried."
        ),
    ]
    source: Annotated[str | None, Meta(description="The source: `publisher`, `npm` or `mirror`.")] = None
    file: Annotated[str | None, Meta(description="The URL of the download.")] = None
    bytes: Annotated[int, Meta(description="Bytes downloaded so far.")] = 0
    total: Annotated[int | None, Meta(description="Total bytes, if known.")] = None
    reason: Annotated[str | None, Meta(description="Why this source failed.")] = None


class Modes(Struct, frozen=True):
    modes: list[Mode]


class Models(Struct, frozen=True, omit_defaults=True, rename="camel"):
    models: list[Model]
    default_model: str | None = None


# -- sessions -------------------------------------------------------------------------------------


class Commands(Struct, frozen=True):
    commands: list[Command]


class CreatedSession(Struct, frozen=True, omit_defaults=True, rename="camel"):
    session_id: str
    healthy: bool = field(default_factory=lambda: True)
    error: dict[str, Any] | None = None
    """The problem that ended the session; absent if it is healthy."""
    native_session_id: str | None = None
    agent_session_id: str | None = None


class SessionPage(Struct, frozen=True, omit_defaults=True, rename="camel"):
    sessions: list[SessionInfo]
    next_cursor: str | None = None


class SentMessage(Struct, frozen=True, rename="camel"):
    turn_id: str
    queued: bool


class QueuedMessageInfo(Struct, frozen=True, rename="camel"):
    turn_id: str
    message: str
    created_at: Time
    attachments: tuple[Attachment, ...]
    client_id: str | None = None


class Queue(Struct, frozen=True, omit_defaults=True, rename="camel"):
    messages: list[QueuedMessageInfo]
    next_cursor: str | None = None


class EventPage(Struct, frozen=True, rename="camel"):
    events: list[msgspec.Raw]
    """The stored events; `decode_event` decodes one."""
    has_more: bool


# -- permissions, questions, attachments ----------------------------------------------------------


class PermissionList(Struct, frozen=True):
    permissions: list[PermissionRequested]


class QuestionList(Struct, frozen=True):
    questions: list[QuestionRequested]


class ToolCallList(Struct, frozen=True, rename="camel"):
    tool_calls: list[ToolRequest]


class StoredAttachment(Struct, frozen=True):
    path: str
    mime: str | None
    size: int


# -- the daemon -----------------------------------------------------------------------------------


class Health(Struct, frozen=True):
    status: Literal["ok"]
    version: str


class Readiness(Struct, frozen=True):
    status: Literal["ready"]
