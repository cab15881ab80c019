"""The operations of one session, without its id."""

# Written by `make gen` from the table of operations.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ...schema.answers import (
    Commands,
    PermissionList,
    QuestionList,
    Queue,
    SentMessage,
    StoredAttachment,
    ToolCallList,
)
from ...schema.changes import ChangeList, Reverted
from ...schema.inputs import Attachment, PermissionMode
from ...schema.limits import Limits
from ...schema.mcp import McpServerList
from ...schema.policy import PolicyList, PolicyRule
from ...schema.sessions import SessionInfo
from ...schema.skills import SkillList
from ...schema.tools import ToolImage
from ..call import Answer
from ..misuse import AsyncGuard

if TYPE_CHECKING:
    from .client import AsyncSandboxAgent


class AsyncSessionPermissions(AsyncGuard):
    """List and answer pending permissions of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def list(self) -> PermissionList:
        """List pending permissions.

        Raises `SessionNotFound`.
        """
        return await self._client.permissions.list(self._session_id)

    async def reply(
        self,
        permission_id: str,
        reply: Literal["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"],
        *,
        message: str | None = None,
    ) -> None:
        """Answer a permission. A second answer gets 409.

        - `permission_id`: Id of the pending permission.
        - `reply`: `once`, `always` (for this session) or `reject`.
        - `message`: Message for the agent.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `NotFound`, `Conflict`,
        `Unavailable`.
        """
        await self._client.permissions.reply(self._session_id, permission_id, reply, message=message)


class AsyncSessionQuestions(AsyncGuard):
    """List and answer pending questions of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def list(self) -> QuestionList:
        """List pending questions.

        Raises `SessionNotFound`.
        """
        return await self._client.questions.list(self._session_id)

    async def reply(self, question_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question. A second answer gets 409.

        - `question_id`: Id of the pending question.
        - `answers`: For each question, the chosen labels or free text.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.questions.reply(self._session_id, question_id, answers)

    async def reject(self, question_id: str) -> None:
        """Reject a question.

        - `question_id`: Id of the pending question.

        Raises `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.questions.reject(self._session_id, question_id)


class AsyncSessionAttachments(AsyncGuard):
    """Upload and read files for messages of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def upload(
        self, content: bytes, *, filename: str | None = None, content_type: str | None = None
    ) -> StoredAttachment:
        """Upload a file to use in a message.

        - `content`: Content of the file; on the command line, its path.
        - `filename`: Name of the file.
        - `content_type`: Media type of the file.

        Raises `InvalidRequest`, `SessionNotFound`, `PayloadTooLarge`, `Unavailable`.
        """
        return await self._client.attachments.upload(
            self._session_id, content, filename=filename, content_type=content_type
        )

    async def get(self, name: str) -> Answer:
        """Read an attachment.

        - `name`: Last part of the attachment's path.

        Raises `SessionNotFound`, `NotFound`.
        """
        return await self._client.attachments.get(self._session_id, name)


class AsyncSessionChanges(AsyncGuard):
    """Show and revert what a session has changed in its directory of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def list(self) -> ChangeList:
        """List the files that changed in the session's directory since the session began.

        In a git repository, the directory is compared with a snapshot from the beginning, including
        uncommitted changes. Elsewhere, the list has the changes that the agent reported. Files ignored by
        .gitignore are skipped. Binary files and files over 4 MiB are listed with their size only.

        Raises `SessionNotFound`, `InvalidRequest`, `PermissionDenied`, `Unavailable`.
        """
        return await self._client.changes.list(self._session_id)

    async def revert(
        self, *, paths: Sequence[str] | None = None, all: bool = False, etags: Mapping[str, str] | None = None
    ) -> Reverted:
        """Restore files to their state at the beginning of the session. `undo` reverses it.

        - `paths`: Files to revert, as listed by `changes`; or use `all`.
        - `all`: Revert every changed file.
        - `etags`: Tags from `changes`, by path. If a file has another tag by now, the request is refused.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return await self._client.changes.revert(self._session_id, paths=paths, all=all, etags=etags)

    async def undo(self) -> Reverted:
        """Undo the last revert.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return await self._client.changes.undo(self._session_id)


class AsyncSessionPolicy(AsyncGuard):
    """Show rules for what agents may do, and try them out of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def show(self) -> PolicyList:
        """Show the rules of a session: the operator's, then its own.

        Raises `SessionNotFound`.
        """
        return await self._client.policy.show(self._session_id)


class AsyncSessionToolCalls(AsyncGuard):
    """List and answer calls to a client's tools of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    async def list(self) -> ToolCallList:
        """List pending calls to the client's tools.

        Raises `SessionNotFound`.
        """
        return await self._client.tool_calls.list(self._session_id)

    async def reply(
        self,
        call_id: str,
        *,
        output: str | None = None,
        error: str | None = None,
        images: Sequence[ToolImage] = (),
    ) -> None:
        """Answer a call with the tool's output or its error. A second answer gets 409.

        - `call_id`: Id of the call.
        - `output`: What the tool returned.
        - `error`: Why it failed, instead of `output`.
        - `images`: Images to return with the output.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.tool_calls.reply(
            self._session_id, call_id, output=output, error=error, images=images
        )


class AsyncSessionOperations(AsyncGuard):
    """The operations of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self.client = client
        self.id = session_id
        self.permissions = AsyncSessionPermissions(client, session_id)
        self.questions = AsyncSessionQuestions(client, session_id)
        self.attachments = AsyncSessionAttachments(client, session_id)
        self.changes = AsyncSessionChanges(client, session_id)
        self.policy = AsyncSessionPolicy(client, session_id)
        self.tool_calls = AsyncSessionToolCalls(client, session_id)

    async def get(self) -> SessionInfo:
        """Show a session.

        Raises `SessionNotFound`.
        """
        return await self.client.sessions.get(self.id)

    async def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        variant: str | None = None,
        agent_mode: str | None = None,
        permission_mode: PermissionMode | None = None,
        policy: Sequence[PolicyRule] | None = None,
        limits: Limits | None = None,
    ) -> SessionInfo:
        """Change the title, model, variant, modes, rules or limits of a session; while it runs if the agent supports that.

        Queued messages that a limit kept waiting start as soon as it is raised.

        - `title`: Title to display.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_mode`: Mode of the agent: `build`, `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: with `default`, before it writes or runs anything; with
          `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-
          only.
        - `policy`: Replaces the session's rules.
        - `limits`: Limits to change; null removes one, the others stay.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `SessionNotFound`, `Conflict`, `Unavailable`.
        """
        return await self.client.sessions.update(
            self.id,
            title=title,
            model=model,
            variant=variant,
            agent_mode=agent_mode,
            permission_mode=permission_mode,
            policy=policy,
            limits=limits,
        )

    async def delete(self) -> None:
        """Terminate a session and delete it with its events.

        Raises `SessionNotFound`, `Unavailable`.
        """
        await self.client.sessions.delete(self.id)

    async def send_message(
        self,
        message: str,
        *,
        attachments: Sequence[Attachment] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        command: bool = False,
        resume: Literal["carried"] | None = None,
        client_id: str | None = None,
    ) -> SentMessage:
        """Send a message. Returns once it is durable; while a turn runs, it waits in the queue.

        - `message`: The prompt. On the command line, `-` reads it from stdin.
        - `attachments`: Files to send with the message.
        - `fresh`: Start a new conversation if the agent no longer has this one.
        - `idempotency_key`: A repeated key returns the same turn.
        - `command`: Run the message as a command of the agent, e.g. `/compact`; otherwise it is plain text.
        - `resume`: `carried`: continue from the conversation stored in the log, even if it lacks the last
          turns.
        - `client_id`: Your own id for the message; its item has it as `native_item_id`.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self.client.sessions.send_message(
            self.id,
            message,
            attachments=attachments,
            fresh=fresh,
            idempotency_key=idempotency_key,
            command=command,
            resume=resume,
            client_id=client_id,
        )

    async def cancel(self, *, turn_id: str | None = None) -> None:
        """Cancel the running turn. The next queued message then starts.

        Name the turn if the session has a queue: otherwise, if the turn ends just before your request
        arrives, you cancel the next one.

        - `turn_id`: Cancel only this turn, or withdraw it if it is queued; without effect if it is over.

        Raises `InvalidRequest`, `SessionNotFound`, `Unavailable`.
        """
        await self.client.sessions.cancel(self.id, turn_id=turn_id)

    async def terminate(self) -> None:
        """End the session and all its processes.

        Raises `SessionNotFound`, `Unavailable`.
        """
        await self.client.sessions.terminate(self.id)

    async def suspend(self) -> None:
        """Stop the process of an idle agent; the next message resumes the conversation.

        The daemon does the same after `--idle-seconds`. It has no effect while a turn runs or a message is
        queued, or if the agent could not resume the conversation.

        Raises `SessionNotFound`.
        """
        await self.client.sessions.suspend(self.id)

    async def mcp(self) -> McpServerList:
        """List a session's MCP servers, with the state and the tools that its agent reports.

        Raises `SessionNotFound`.
        """
        return await self.client.sessions.mcp(self.id)

    async def skills(self) -> SkillList:
        """List a session's skills, with their sources and commits.

        Raises `SessionNotFound`.
        """
        return await self.client.sessions.skills(self.id)

    async def queue(self, *, limit: int = 50, cursor: str | None = None) -> Queue:
        """List queued messages, oldest first.

        - `limit`: Maximum number of messages to return.
        - `cursor`: `nextCursor` of the previous page.

        Raises `InvalidRequest`, `SessionNotFound`.
        """
        return await self.client.sessions.queue(self.id, limit=limit, cursor=cursor)

    async def withdraw(self, turn_id: str) -> None:
        """Withdraw a queued message.

        - `turn_id`: Turn of the queued message.

        Raises `SessionNotFound`, `NotFound`, `Unavailable`.
        """
        await self.client.sessions.withdraw(self.id, turn_id)

    async def commands(self) -> Commands:
        """List the slash commands and prompt templates that the agent offers in the session.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `AgentNotInstalled`,
        `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self.client.sessions.commands(self.id)

    async def run_command(
        self,
        name: str,
        *,
        arguments: str | None = None,
        fresh: bool = False,
        idempotency_key: str | None = None,
    ) -> SentMessage:
        """Run a command of the agent as a turn. While another turn runs, it waits in the queue.

        - `name`: Name of the command, without the slash; no spaces.
        - `arguments`: Text after the name.
        - `fresh`: Start a new conversation if the agent no longer has this one.
        - `idempotency_key`: A repeated key returns the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self.client.sessions.run_command(
            self.id, name, arguments=arguments, fresh=fresh, idempotency_key=idempotency_key
        )

    async def compact(self, *, idempotency_key: str | None = None) -> SentMessage:
        """Replace the conversation so far with a summary, as a turn. Refused if the agent does not support it.

        - `idempotency_key`: A repeated key returns the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self.client.sessions.compact(self.id, idempotency_key=idempotency_key)
