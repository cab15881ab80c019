"""What an agent can do, as shown by `GET /v1/agents` and the coverage matrix."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Capabilities(Struct, frozen=True, rename="camel"):
    """One flag per feature; false unless the adapter says otherwise."""

    text_messages: bool = False
    tool_calls: bool = False
    tool_results: bool = False
    questions: bool = False
    permissions: bool = False
    plan_mode: bool = False
    images: bool = False
    file_attachments: bool = False
    session_lifecycle: bool = False
    error_events: bool = False
    reasoning: bool = False
    command_execution: bool = False
    file_changes: bool = False
    mcp_tools: bool = False
    streaming_deltas: bool = False
    item_started: bool = False
    variants: bool = False
    status: bool = False
    shared_process: bool = False


class Mode(Struct, frozen=True):
    id: str
    name: str
    description: str = ""


class Model(Struct, frozen=True, omit_defaults=True, rename="camel"):
    id: str
    name: str | None = None
    variants: tuple[str, ...] | None = None
    default_variant: str | None = None


class Command(Struct, frozen=True, omit_defaults=True):
    """A slash command or a prompt template that an agent offers."""

    name: Annotated[str, Meta(description="Without the slash.")]
    description: str = ""
    arguments: Annotated[str, Meta(description="What may follow the name, as the agent describes it.")] = ""


COMPACT = Command("compact", "Replace the conversation so far with a summary.")


class Catalogue(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What an agent offers in a directory: models, modes and commands."""

    models: tuple[Model, ...] = ()
    modes: tuple[Mode, ...] = ()
    default_model: str | None = None
    commands: tuple[Command, ...] = ()
