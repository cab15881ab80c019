"""An agent's commands: list them and run one. A command is sent as a message and runs as a turn."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    InvalidRequest,
    SessionNotFound,
    StreamError,
    Timeout,
    UnsupportedAgent,
)
from ..runtime.daemon import Daemon
from ..schema.answers import Commands, SentMessage
from ..schema.features import COMPACT
from .operation import operation
from .sessions import (
    MESSAGE_ERRORS,
    Fresh,
    IdempotencyKey,
    OneSession,
    SendMessage,
    SessionId,
    send_message,
)


class RunCommand(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    name: Annotated[
        str,
        Meta(
            pattern=r"^[^\s/][^\s]{0,255}$(?!\n)",
            description="Name of the command, without the slash; no spaces.",
        ),
    ]
    arguments: Annotated[str | None, Meta(description="Text after the name.")] = None
    fresh: Fresh = False
    idempotency_key: IdempotencyKey = None


class Compact(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    idempotency_key: IdempotencyKey = None


@operation(
    "GET",
    "/v1/sessions/{session_id}/commands",
    InvalidRequest,
    UnsupportedAgent,
    SessionNotFound,
    AgentNotInstalled,
    AgentProcessExited,
    StreamError,
    Timeout,
    name="sessions.commands",
    runs="owner",
)
async def list_commands(daemon: Daemon, request: OneSession) -> Commands:
    """List the slash commands and prompt templates that the agent offers in the session."""
    record = (await daemon.sessions.show(request.session_id)).view.record
    return Commands(list(await daemon.commands(record)))


@operation(
    "POST",
    "/v1/sessions/{session_id}/commands/{name}",
    *MESSAGE_ERRORS,
    name="sessions.run_command",
    status=202,
    headers={"idempotency_key": "Idempotency-Key"},
)
async def run_command(daemon: Daemon, request: RunCommand) -> SentMessage:
    """Run a command of the agent as a turn. While another turn runs, it waits in the queue."""
    text = f"/{request.name} {request.arguments or ''}".rstrip()
    message = SendMessage(
        request.session_id,
        text,
        fresh=request.fresh,
        idempotency_key=request.idempotency_key,
        command=True,
    )
    sent: SentMessage = await send_message(daemon, message)
    return sent


@operation(
    "POST",
    "/v1/sessions/{session_id}/compact",
    *MESSAGE_ERRORS,
    name="sessions.compact",
    status=202,
    body="none",
    headers={"idempotency_key": "Idempotency-Key"},
)
async def compact(daemon: Daemon, request: Compact) -> SentMessage:
    """Replace the conversation so far with a summary, as a turn. Refused if the agent does not support it."""
    message = SendMessage(
        request.session_id,
        f"/{COMPACT.name}",
        idempotency_key=request.idempotency_key,
        command=True,
    )
    sent: SentMessage = await send_message(daemon, message)
    return sent
