"""Bodies of requests to an OpenCode server and of its answers. Only what we write or read."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Raw, Struct

from .messages import AnyMessage

# -- answers ----------------------------------------------------------------------------------


class Listed(Struct, frozen=True):
    """One entry of `GET /session/{id}/message`."""

    info: AnyMessage
    parts: tuple[Raw, ...] = ()


class AgentInfo(Struct, frozen=True):
    name: str
    mode: str = "primary"
    description: str = ""
    hidden: bool = False


class Limit(Struct, frozen=True):
    context: float = 0
    """How many tokens fit; 0 if unknown."""


class ModelInfo(Struct, frozen=True):
    name: str | None = None
    variants: dict[str, Any] = {}
    limit: Limit = Limit()


class Provider(Struct, frozen=True):
    id: str
    models: dict[str, ModelInfo] = {}


class Providers(Struct, frozen=True):
    providers: tuple[Provider, ...] = ()
    default: dict[str, str] = {}


class Config(Struct, frozen=True):
    model: str | None = None


class CommandInfo(Struct, frozen=True):
    name: str
    description: str | None = None
    hints: tuple[str, ...] = ()
    """The placeholders for arguments in its template, e.g. `$ARGUMENTS`."""


class SessionNow(Struct, frozen=True):
    """The part of `GET /session/{id}` with its model and agent; null before its first prompt."""

    model: SessionModel | None = None


class McpStatus(Struct, frozen=True):
    status: str = ""
    error: str | None = None


# -- bodies that a client writes, read back ---------------------------------------------------


class PermissionRule(Struct, frozen=True):
    permission: str
    pattern: str
    action: Literal["allow", "ask", "deny"]


class SessionModel(Struct, frozen=True, omit_defaults=True):
    id: str
    providerID: str
    variant: str | None = None


class CreateBody(Struct, frozen=True, omit_defaults=True):
    title: str | None = None
    agent: str | None = None
    model: SessionModel | None = None
    permission: tuple[PermissionRule, ...] = ()


class PromptModel(Struct, frozen=True):
    providerID: str
    modelID: str


class TextInput(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class FileInput(Struct, frozen=True, omit_defaults=True, tag_field="type", tag="file"):
    url: str
    mime: str
    filename: str | None = None


class AgentInput(Struct, frozen=True, tag_field="type", tag="agent"):
    name: str


class SubtaskInput(Struct, frozen=True, tag_field="type", tag="subtask"):
    prompt: str


AnyInput = TextInput | FileInput | AgentInput | SubtaskInput


class PromptBody(Struct, frozen=True, omit_defaults=True):
    parts: tuple[AnyInput, ...] = ()
    messageID: str | None = None
    model: PromptModel | None = None
    agent: str | None = None
    variant: str | None = None
    noReply: bool = False


class CommandBody(Struct, frozen=True, omit_defaults=True):
    command: str
    arguments: str | None = None
    messageID: str | None = None
    agent: str | None = None
    model: str | None = None
    variant: str | None = None


class ReplyBody(Struct, frozen=True, omit_defaults=True):
    reply: Literal["once", "always", "reject"]
    message: str | None = None


class OldReplyBody(Struct, frozen=True):
    response: Literal["once", "always", "reject"]


class AnswersBody(Struct, frozen=True):
    answers: tuple[tuple[str, ...], ...]
