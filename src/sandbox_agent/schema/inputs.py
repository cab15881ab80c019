"""What a client sends to an agent: prompts, settings, answers."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .skills import SessionSkills

PermissionMode = Literal["default", "acceptEdits", "plan", "bypass"]
Reply = Literal["once", "always", "reject"]


class Attachment(Struct, frozen=True, omit_defaults=True, rename="camel"):
    path: Annotated[
        str, Meta(description="A path on the daemon's machine, or the path returned by an upload.")
    ]
    mime: Annotated[str | None, Meta(description="Media type; guessed from the name if absent.")] = None
    filename: Annotated[str | None, Meta(description="The name to show.")] = None


class McpServer(Struct, frozen=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """An MCP server: a command to run, or a URL to reach."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    type: Annotated[
        Literal["local", "stdio", "remote", "http"] | None,
        Meta(description="`local` (or `stdio`) with `command`, `remote` (or `http`) with `url`; optional."),
    ] = None
    cwd: Annotated[
        str | None, Meta(description="Working directory of the command, relative to the session's.")
    ] = None
    enabled: Annotated[bool | None, Meta(description="`false` leaves the server out.")] = None
    timeout_ms: Annotated[
        Annotated[int, Meta(gt=0, le=86_400_000)] | None,
        Meta(description="How long a tool call may take, if the agent lets clients choose it."),
    ] = None
    transport: Annotated[
        Literal["http", "sse"] | None, Meta(description="How to talk to the URL (default: `http`).")
    ] = None
    bearer_token_env_var: Annotated[
        str | None, Meta(description="Variable with the token for the header `Authorization`.")
    ] = None
    env_headers: Annotated[
        dict[str, str], Meta(description="Headers whose values are in variables: header to variable.")
    ] = field(default_factory=dict)


class Rule(Struct, frozen=True, omit_defaults=True):
    """What "always" remembers: a tool, and the text of its call or a prefix of it."""

    tool: str
    text: str | None = None
    prefix: bool = False

    def covers(self, other: Rule) -> bool:
        if self.tool != other.tool:
            return False
        if self.text is None or self.text == other.text:
            return True
        return self.prefix and other.text is not None and other.text.startswith(self.text)


class Prompt(Struct, frozen=True, omit_defaults=True):
    text: str
    attachments: tuple[Attachment, ...] = ()
    command: bool = False
    """The text is a command with its arguments. Otherwise a leading `/` has no meaning."""
    client_id: str | None = None
    """The client's own id of the message."""

    @property
    def called(self) -> tuple[str, str]:
        """The name of the command, and its arguments."""
        name, *rest = re.split(r"\s+", self.text.removeprefix("/"), maxsplit=1)
        return name, rest[0] if rest else ""


class Decision(Struct, frozen=True, omit_defaults=True):
    """The answer to a permission request."""

    reply: Reply
    message: str | None = None


class Answer(Struct, frozen=True, omit_defaults=True):
    """The answer to a question: the chosen labels for each question; None rejects it."""

    answers: tuple[tuple[str, ...], ...] | None
    message: str | None = None


class Settings(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The settings of a conversation."""

    directory: str
    agent_mode: str = "build"
    permission_mode: PermissionMode = "default"
    model: str | None = None
    variant: str | None = None
    mcp: dict[str, McpServer] = field(default_factory=dict)
    skills: SessionSkills | None = None
