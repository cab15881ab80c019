"""Sessions: create, list, change, prompt and end them."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import os
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    Conflict,
    DesktopRuntimeFailed,
    IdempotencyMismatch,
    InstallFailed,
    InvalidRequest,
    ModeNotSupported,
    NotFound,
    PermissionDenied,
    RateLimited,
    SandboxAgentError,
    SessionAlreadyExists,
    SessionNotFound,
    StreamError,
    Timeout,
    Unavailable,
    UnsupportedAgent,
)
from ..runtime.daemon import Daemon
from ..schema.answers import CreatedSession, Queue, QueuedMessageInfo, SentMessage, SessionPage
from ..schema.ids import random_id
from ..schema.inputs import Attachment, McpServer, PermissionMode, Prompt, Settings
from ..schema.limits import Limits
from ..schema.mcp import McpServerList
from ..schema.policy import MAX_RULES, PolicyRule
from ..schema.sessions import SessionInfo
from ..schema.skills import SkillList, SkillsConfig
from ..schema.tools import Tool
from ..session.admission import Accepted
from ..session.inputs import Cancel, Configure, Delete, Send, Terminate, Withdraw
from ..store.base import Secrets, SessionRecord
from .operation import OPERATIONS, NodeName, operation

SessionId = Annotated[
    str,
    Meta(
        # `$` alone would allow a newline at the end.
        pattern=r"^[A-Za-z0-9._:-]{1,128}$(?!\n)",
        description="The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -",
    ),
]
Name = Annotated[str, Meta(max_length=256)]
WHEN_IT_ASKS = (
    "When the agent asks: with `default`, before it writes or runs anything; with `acceptEdits`, not for plain edits inside the "
    "directory; with `bypass`, never. `plan` is read-only."
)
Fresh = Annotated[bool, Meta(description="Start a new conversation if the agent no longer has this one.")]
IdempotencyKey = Annotated[
    Annotated[str, Meta(min_length=1, max_length=255)] | None,
    Meta(description="A repeated key returns the same turn."),
]


class SessionSettings(Struct, frozen=True, rename="camel", kw_only=True):
    agent: Annotated[str, Meta(description="Agent to run, e.g. `claude`.")]
    agent_mode: Annotated[
        Name | None,
        Meta(description="Mode of the agent: `build` (default), `plan`, or another mode it reports."),
    ] = None
    permission_mode: Annotated[
        PermissionMode,
        Meta(description=WHEN_IT_ASKS),
    ] = "default"
    model: Annotated[Name | None, Meta(description="Model to use.")] = None
    variant: Annotated[Name | None, Meta(description="Variant of the model, e.g. its reasoning effort.")] = (
        None
    )
    agent_version: Annotated[Name | None, Meta(description="Version of the agent to run.")] = None
    directory: Annotated[
        str | None, Meta(description="Absolute path of the working directory (default: the daemon's).")
    ] = None
    title: Annotated[Name | None, Meta(description="Title to display.")] = None
    env: Annotated[
        dict[str, str],
        Meta(description="Environment variables for the agent; readable only by the owner, never returned."),
    ] = field(default_factory=dict)
    mcp: Annotated[dict[str, McpServer], Meta(description="MCP servers by name.")] = field(
        default_factory=dict
    )
    skills: Annotated[
        SkillsConfig | None,
        Meta(description="Skills: directories with a `SKILL.md`, and where they come from."),
    ] = None
    turn_timeout_ms: Annotated[
        Annotated[int, Meta(gt=0)] | None,
        Meta(description="Cancel a turn that takes longer (default: no limit)."),
    ] = None
    policy: Annotated[
        tuple[PolicyRule, ...],
        Meta(max_length=MAX_RULES, description="Rules for what the agent may do, after the operator's."),
    ] = ()
    limits: Annotated[
        Limits | None,
        Meta(
            description="Limits of the session; null removes one. For those not given, the daemon's defaults apply."
        ),
    ] = None
    tools: Annotated[
        tuple[Tool, ...],
        Meta(description="Tools of the client that the agent may call; see `tool-calls`."),
    ] = ()
    tool_timeout_ms: Annotated[
        Annotated[int, Meta(gt=0, le=86_400_000)] | None,
        Meta(description="How long a call to such a tool waits for an answer (default: 10 minutes)."),
    ] = None
    node: Annotated[
        NodeName | None,
        Meta(description="Node that runs the session (default: the one that receives the request)."),
    ] = None
    desktop: Annotated[
        bool, Meta(description="Let the agent look at the desktop and act on it (docs/computer-use.mdx).")
    ] = False


class CreateSession(SessionSettings, frozen=True, kw_only=True):
    session_id: SessionId


class OneSession(Struct, frozen=True, rename="camel"):
    session_id: SessionId


class ListSessions(Struct, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=1000, description="Sessions per page.")] = 100
    cursor: Annotated[str | None, Meta(description="`nextCursor` of the previous page.")] = None


class ReadQueue(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    limit: Annotated[int, Meta(ge=1, le=100, description="Maximum number of messages to return.")] = 50
    cursor: Annotated[str | None, Meta(description="`nextCursor` of the previous page.")] = None


class UpdateSession(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    title: Annotated[Name | None, Meta(description="Title to display.")] = None
    model: Annotated[Name | None, Meta(description="Model to use.")] = None
    variant: Annotated[Name | None, Meta(description="Variant of the model, e.g. its reasoning effort.")] = (
        None
    )
    agent_mode: Annotated[
        Name | None, Meta(description="Mode of the agent: `build`, `plan`, or another mode it reports.")
    ] = None
    permission_mode: Annotated[PermissionMode | None, Meta(description=WHEN_IT_ASKS)] = None
    policy: Annotated[
        Annotated[tuple[PolicyRule, ...], Meta(max_length=MAX_RULES)] | None,
        Meta(description="Replaces the session's rules."),
    ] = None
    limits: Annotated[
        Limits | None, Meta(description="Limits to change; null removes one, the others stay.")
    ] = None


class SendMessage(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    message: Annotated[str, Meta(description="The prompt. On the command line, `-` reads it from stdin.")]
    attachments: Annotated[
        tuple[Attachment, ...], Meta(max_length=100, description="Files to send with the message.")
    ] = ()
    fresh: Fresh = False
    idempotency_key: IdempotencyKey = None
    command: Annotated[
        bool,
        Meta(
            description="Run the message as a command of the agent, e.g. `/compact`; otherwise it is plain text."
        ),
    ] = False
    resume: Annotated[
        Literal["carried"] | None,
        Meta(
            description="`carried`: continue from the conversation stored in the log, even if it lacks the last turns."
        ),
    ] = None
    client_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4096)] | None,
        Meta(description="Your own id for the message; its item has it as `native_item_id`."),
    ] = None


class QueuedTurn(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    turn_id: Annotated[str, Meta(description="Turn of the queued message.")]


class CancelTurn(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    turn_id: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="Cancel only this turn, or withdraw it if it is queued; without effect if it is over."
        ),
    ] = None


CREATE_ERRORS: tuple[type[SandboxAgentError], ...] = (
    InvalidRequest,
    UnsupportedAgent,
    ModeNotSupported,
    PermissionDenied,
    AgentNotInstalled,
    SessionAlreadyExists,
    InstallFailed,
    AgentProcessExited,
    StreamError,
    Unavailable,
    DesktopRuntimeFailed,
    Timeout,
)


@operation(
    "POST",
    "/v1/sessions/{session_id}",
    *CREATE_ERRORS,
    name="sessions.create",
    examples=(
        "sandbox-agent sessions create demo --agent claude --permission-mode acceptEdits",
        "sandbox-agent sessions create --agent mock --env DEBUG=1 --env API_KEY",
        "sandbox-agent sessions create docs --agent codex --mcp files='npx some-server /srv' --mcp web=https://host/mcp",
        "sandbox-agent sessions create pdf --agent claude --skills /srv/skills --skills owner/name",
    ),
    runs="node",
)
async def create(daemon: Daemon, request: CreateSession) -> CreatedSession:
    """Create a session with the given id and start its agent.

    If the agent is installed but does not start, the session is created and ended, and the response has `healthy: false`.
    """
    return await create_session(daemon, request.session_id, request)


@operation("POST", "/v1/sessions", *CREATE_ERRORS, name="sessions.new", runs="node")
async def create_unnamed(daemon: Daemon, request: SessionSettings) -> CreatedSession:
    """Create a session with a generated id."""
    return await create_session(daemon, random_id("ses"), request)


async def create_session(
    daemon: Daemon, session_id: str, request: SessionSettings, callers: tuple[str, ...] = ()
) -> CreatedSession:
    """Create a session for a client, or for the agent of another session, below its `callers`."""
    agent = daemon.agent(request.agent)
    _check_environment(request)
    settings = Settings(
        directory=request.directory or os.getcwd(),
        agent_mode=request.agent_mode or agent.modes[0].id,
        permission_mode=request.permission_mode,
        model=request.model,
        variant=request.variant,
    )
    created = await daemon.create(
        session_id,
        request.agent,
        settings,
        Secrets(request.env, request.mcp),
        title=request.title,
        pinned_version=request.agent_version,
        turn_timeout_ms=request.turn_timeout_ms,
        skills=request.skills.sources if request.skills else (),
        policy=request.policy,
        limits=request.limits,
        tools=request.tools,
        tool_timeout_ms=request.tool_timeout_ms,
        desktop=request.desktop,
        callers=callers,
    )
    native_id, problem = created.native_id, created.problem
    error = problem.problem() if problem else None
    return CreatedSession(session_id, problem is None, error, native_id, native_id)


def _check_environment(request: SessionSettings) -> None:
    for name, value in request.env.items():
        if not name or "=" in name or "\0" in name + value:
            raise InvalidRequest(f"`{name}` is not a valid variable: bad name or value", field="env")


@operation("GET", "/v1/sessions", InvalidRequest, name="sessions.list")
async def list_sessions(daemon: Daemon, request: ListSessions) -> SessionPage:
    """List sessions, newest first."""
    page = await daemon.sessions.page(_cursor(request.cursor), request.limit)
    more = str(page[-1][0]) if len(page) == request.limit else None
    return SessionPage([shown.info for _, shown in page], more)


def _cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isdecimal() or len(cursor) > 18:
        raise InvalidRequest("`cursor` is not the `nextCursor` of a page", field="cursor")
    return int(cursor)


@operation("GET", "/v1/sessions/{session_id}", SessionNotFound, name="sessions.get")
async def get(daemon: Daemon, request: OneSession) -> SessionInfo:
    """Show a session."""
    return (await daemon.sessions.show(request.session_id)).info


@operation(
    "PATCH",
    "/v1/sessions/{session_id}",
    InvalidRequest,
    UnsupportedAgent,
    ModeNotSupported,
    PermissionDenied,
    SessionNotFound,
    Conflict,
    Unavailable,
    name="sessions.update",
    examples=(
        'sandbox-agent sessions update demo --title "Release" --permission-mode plan',
        "sandbox-agent sessions update demo --limits maxCostUsd=5 --limits maxTurns=none",
    ),
)
async def update(daemon: Daemon, request: UpdateSession) -> SessionInfo:
    """Change the title, model, variant, modes, rules or limits of a session; while it runs if the agent supports that.

    Queued messages that a limit kept waiting start as soon as it is raised.
    """
    changes = {
        name: value
        for name in ("title", "model", "variant", "agent_mode", "permission_mode", "policy", "limits")
        if (value := getattr(request, name)) is not None
    }
    chosen = {name: value for name, value in changes.items() if name not in ("title", "policy", "limits")}
    if chosen:
        await _check_change(daemon, request.session_id, chosen)
    await daemon.sessions.ask(request.session_id, lambda id: Configure(id, **changes))
    return (await daemon.sessions.show(request.session_id)).info


async def _check_change(daemon: Daemon, session_id: str, changes: dict[str, Any]) -> None:
    record = (await daemon.sessions.show(session_id)).view.record
    if record.ended:
        raise Conflict("the session has ended", sessionId=session_id)
    settings = msgspec.structs.replace(record.settings, **changes)
    await daemon.check(record, settings, changes)


@operation("DELETE", "/v1/sessions/{session_id}", SessionNotFound, Unavailable, name="sessions.delete")
async def delete(daemon: Daemon, request: OneSession) -> None:
    """Terminate a session and delete it with its events."""
    await daemon.sessions.ask(request.session_id, Delete)


MESSAGE_ERRORS: tuple[type[SandboxAgentError], ...] = (
    InvalidRequest,
    UnsupportedAgent,
    SessionNotFound,
    Conflict,
    IdempotencyMismatch,
    RateLimited,
    Unavailable,
    AgentNotInstalled,
    AgentProcessExited,
    StreamError,
    Timeout,
)


@operation(
    "POST",
    "/v1/sessions/{session_id}/messages",
    *MESSAGE_ERRORS,
    name="sessions.send_message",
    examples=(
        'sandbox-agent sessions send-message demo "hello"',
        "git diff | sandbox-agent sessions send-message demo --attach screenshot.png",
    ),
    status=202,
    headers={"idempotency_key": "Idempotency-Key"},
)
async def send_message(daemon: Daemon, request: SendMessage) -> SentMessage:
    """Send a message. Returns once it is durable; while a turn runs, it waits in the queue."""
    accepted = await accept(daemon, request)
    return SentMessage(accepted.turn_id, accepted.queued)


async def accept(daemon: Daemon, request: SendMessage) -> Accepted:
    """Accept a message for a session of this node."""
    daemon.require_open()
    if not request.message.strip() and not request.attachments:
        raise InvalidRequest("`message` is empty", field="message")
    record = (await daemon.sessions.show(request.session_id)).view.record
    daemon.agent(record.agent)  # fails if the agent is no longer configured
    attachments = await _attached(daemon, record, request)
    prompt = Prompt(request.message, attachments, request.command, request.client_id)
    if prompt.command and not record.ended:
        await _check_command(daemon, record, prompt)
    fresh, key, carried = request.fresh, request.idempotency_key, request.resume == "carried"
    meant = (prompt, fresh, carried) if carried else (prompt, fresh)
    digest = hashlib.sha256(msgspec.json.encode(meant)).digest()
    accepted: Accepted = await daemon.sessions.ask(
        request.session_id, lambda id: Send(id, prompt, fresh, key, digest, carried)
    )
    return accepted


class Delivered(NamedTuple):
    turn_id: str
    may_be_old: bool
    """Whether an earlier message with the same key may have started the turn."""


async def deliver(daemon: Daemon, request: SendMessage) -> Delivered:
    """Send a message to a session of any node."""
    if daemon.cluster is None:
        accepted = await accept(daemon, request)
        return Delivered(accepted.turn_id, accepted.repeated)
    sent: SentMessage = await OPERATIONS["sessions.send_message"].handler(daemon, request)
    return Delivered(sent.turn_id, request.idempotency_key is not None)


async def _check_command(daemon: Daemon, record: SessionRecord, prompt: Prompt) -> None:
    name, _ = prompt.called
    if not prompt.text.startswith("/") or not name:
        raise InvalidRequest("a command starts with `/` and its name", field="message")
    agent = daemon.agent(record.agent)
    always = any(command.name == name for command in agent.commands)
    if not always and all(command.name != name for command in await daemon.commands(record)):
        raise InvalidRequest(f"{agent.title} has no command `/{name}` here", agent=agent.name, command=name)


async def _attached(daemon: Daemon, record: SessionRecord, request: SendMessage) -> tuple[Attachment, ...]:
    """The files of a message. If it is repeated, they may be gone by now."""
    files, given = daemon.attachments, request.attachments
    try:
        # In a thread: a file may have to be fetched from another node.
        paths = [
            await asyncio.to_thread(files.resolve, record.folder, file.path, record.session_id)
            for file in given
        ]
    except InvalidRequest:
        if not await _is_repeated(daemon, request):
            raise
        paths = [files.path_of(record.folder, file.path) for file in given]
    return tuple(_attachment(file, path) for file, path in zip(given, paths, strict=True))


async def _is_repeated(daemon: Daemon, request: SendMessage) -> bool:
    key, store = request.idempotency_key, daemon.log.store
    if key is None:
        return False
    return await daemon.log.look_up(lambda: store.key(request.session_id, key)) is not None


def _attachment(given: Attachment, path: Path) -> Attachment:
    mime = given.mime or mimetypes.guess_type(given.filename or path.name)[0]
    return Attachment(str(path), mime, given.filename)


@operation(
    "POST",
    "/v1/sessions/{session_id}/cancel",
    InvalidRequest,
    SessionNotFound,
    Unavailable,
    name="sessions.cancel",
    body="none",
)
async def cancel(daemon: Daemon, request: CancelTurn) -> None:
    """Cancel the running turn. The next queued message then starts.

    Name the turn if the session has a queue: otherwise, if the turn ends just before your request arrives, you cancel the
    next one.
    """
    await daemon.sessions.ask(request.session_id, lambda id: Cancel(id, request.turn_id))


@operation(
    "POST",
    "/v1/sessions/{session_id}/terminate",
    SessionNotFound,
    Unavailable,
    name="sessions.terminate",
    body="none",
)
async def terminate(daemon: Daemon, request: OneSession) -> None:
    """End the session and all its processes."""
    await daemon.sessions.ask(request.session_id, Terminate)


@operation(
    "POST",
    "/v1/sessions/{session_id}/suspend",
    SessionNotFound,
    name="sessions.suspend",
    body="none",
)
async def suspend(daemon: Daemon, request: OneSession) -> None:
    """Stop the process of an idle agent; the next message resumes the conversation.

    The daemon does the same after `--idle-seconds`. It has no effect while a turn runs or a message is queued, or if the
    agent could not resume the conversation.
    """
    await daemon.sessions.suspend(request.session_id)


@operation("GET", "/v1/sessions/{session_id}/mcp", SessionNotFound, name="sessions.mcp", runs="owner")
async def mcp(daemon: Daemon, request: OneSession) -> McpServerList:
    """List a session's MCP servers, with the state and the tools that its agent reports."""
    return McpServerList(await daemon.sessions.mcp(request.session_id))


@operation("GET", "/v1/sessions/{session_id}/skills", SessionNotFound, name="sessions.skills")
async def skills(daemon: Daemon, request: OneSession) -> SkillList:
    """List a session's skills, with their sources and commits."""
    record = (await daemon.sessions.show(request.session_id)).view.record
    return SkillList(list(record.skills))


@operation("GET", "/v1/sessions/{session_id}/queue", InvalidRequest, SessionNotFound, name="sessions.queue")
async def queue(daemon: Daemon, request: ReadQueue) -> Queue:
    """List queued messages, oldest first."""
    page = await daemon.sessions.queue(request.session_id, _cursor(request.cursor) or 0, request.limit)
    more = str(page[-1][0]) if len(page) == request.limit else None
    return Queue(
        [
            QueuedMessageInfo(
                queued.turn_id,
                queued.prompt.text,
                queued.created_at,
                queued.prompt.attachments,
                queued.prompt.client_id,
            )
            for _, queued in page
        ],
        more,
    )


@operation(
    "DELETE",
    "/v1/sessions/{session_id}/queue/{turn_id}",
    SessionNotFound,
    NotFound,
    Unavailable,
    name="sessions.withdraw",
)
async def withdraw(daemon: Daemon, request: QueuedTurn) -> None:
    """Withdraw a queued message."""
    await daemon.sessions.ask(request.session_id, lambda id: Withdraw(id, request.turn_id))
