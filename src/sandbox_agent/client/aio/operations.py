"""Every operation as a method, grouped and named as on the command line."""

# Written by `make gen` from the table of operations.

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from ...schema.answers import (
    AgentList,
    Commands,
    EventPage,
    Health,
    Installed,
    Models,
    Modes,
    PermissionList,
    Progress,
    QuestionList,
    Queue,
    Readiness,
    SentMessage,
    StoredAttachment,
)
from ...schema.changes import ChangeList, Reverted
from ...schema.files import (
    EntryPage,
    FileAction,
    FileChange,
    FileMoved,
    FileStat,
    FileWritten,
    SearchResult,
    Unpacked,
)
from ...schema.inputs import Attachment, McpServer, PermissionMode
from ...schema.processes import (
    BytesWritten,
    LogEntry,
    LogStream,
    ProcessConfig,
    ProcessInfo,
    ProcessList,
    ProcessLogs,
    ProcessRun,
    TerminalSize,
)
from ...schema.sessions import SessionInfo
from ..call import Answer, call, new_key, segment
from ..events import Event
from ..misuse import AsyncGuard
from ..pages import PageOfEvents, decoded
from .session_list import AsyncSessionList
from .stream import all_events, file_changes, log_entries
from .terminal import AsyncTerminal
from .transfer import AsyncContent, AsyncDownload, pieces_of

if TYPE_CHECKING:
    from .client import AsyncSandboxAgent
    from .session import AsyncSession
    from .turn import AsyncTurn


class AsyncAgents(AsyncGuard):
    """Agents: what there is, what is installed, what each offers."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def list(self) -> AgentList:
        """List the agents: installed or not, version, credentials, capabilities."""
        return await self._client.ask(call("GET", "/v1/agents"), AgentList)

    async def install(
        self,
        agent: str,
        *,
        reinstall: bool = False,
        agent_version: str | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Installed:
        """Install an agent, or say where it is.

        - `agent`: Which agent, e.g. `claude`.
        - `reinstall`: Install again even if it is there.
        - `agent_version`: Version to install, or `latest`. Without one any that is there will do, and the
          tested one is fetched.
        - `on_progress`: Is called with the latest step while it goes on; may be a coroutine function.

        Raises `InvalidRequest`, `UnsupportedAgent`, `PermissionDenied`, `InstallFailed`.
        """
        return await self._client.watch(
            call(
                "POST",
                f"/v1/agents/{segment(agent)}/install",
                body={"reinstall": reinstall, "agentVersion": agent_version},
            ),
            Installed,
            on_progress,
        )

    async def modes(self, agent: str, *, directory: str | None = None) -> Modes:
        """List an agent's modes in a directory.

        - `agent`: Which agent, e.g. `claude`.
        - `directory`: Where the agent would run; the daemon's own folder when absent.

        Raises `InvalidRequest`, `UnsupportedAgent`, `AgentNotInstalled`, `AgentProcessExited`,
        `StreamError`, `Timeout`.
        """
        return await self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}/modes", query={"directory": directory}), Modes
        )

    async def models(self, agent: str, *, directory: str | None = None) -> Models:
        """List an agent's models and their variants in a directory.

        - `agent`: Which agent, e.g. `claude`.
        - `directory`: Where the agent would run; the daemon's own folder when absent.

        Raises `InvalidRequest`, `UnsupportedAgent`, `AgentNotInstalled`, `AgentProcessExited`,
        `StreamError`, `Timeout`.
        """
        return await self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}/models", query={"directory": directory}), Models
        )


class AsyncSessions(AsyncGuard):
    """Sessions: create, look, change, talk, end."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def create(
        self,
        session_id: str | None = None,
        *,
        agent: str,
        agent_mode: str | None = None,
        permission_mode: PermissionMode = "default",
        model: str | None = None,
        variant: str | None = None,
        agent_version: str | None = None,
        directory: str | None = None,
        title: str | None = None,
        env: Mapping[str, str] | None = None,
        mcp: Mapping[str, McpServer] | None = None,
        turn_timeout_ms: int | None = None,
    ) -> AsyncSession:
        """Create a session under an id of yours and start its agent.

        A session whose agent is installed but cannot be started has ended: its problem is raised.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `agent`: Which agent to run, e.g. `claude`.
        - `agent_mode`: What it does: `build` (default), `plan`, or one it reports.
        - `permission_mode`: What it may do: `default` asks before it writes or runs, `acceptEdits` does not
          ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing.
        - `model`: The model behind it.
        - `variant`: A variant of the model, e.g. its reasoning effort.
        - `agent_version`: Which version of the agent to run.
        - `directory`: Absolute path it works in; the daemon's own folder when absent.
        - `title`: A name to show.
        - `env`: Variables for the agent; stored for the owner alone, never returned.
        - `mcp`: MCP servers by name.
        - `turn_timeout_ms`: End a turn that takes longer; off when absent.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `Timeout`.
        """
        return await self._client.create_session(
            session_id,
            {
                "agent": agent,
                "agentMode": agent_mode,
                "permissionMode": permission_mode,
                "model": model,
                "variant": variant,
                "agentVersion": agent_version,
                "directory": directory,
                "title": title,
                "env": env,
                "mcp": mcp,
                "turnTimeoutMs": turn_timeout_ms,
            },
        )

    async def new(
        self,
        agent: str,
        *,
        agent_mode: str | None = None,
        permission_mode: PermissionMode = "default",
        model: str | None = None,
        variant: str | None = None,
        agent_version: str | None = None,
        directory: str | None = None,
        title: str | None = None,
        env: Mapping[str, str] | None = None,
        mcp: Mapping[str, McpServer] | None = None,
        turn_timeout_ms: int | None = None,
    ) -> AsyncSession:
        """Create a session under an id that the daemon makes.

        A session whose agent is installed but cannot be started has ended: its problem is raised.

        - `agent`: Which agent to run, e.g. `claude`.
        - `agent_mode`: What it does: `build` (default), `plan`, or one it reports.
        - `permission_mode`: What it may do: `default` asks before it writes or runs, `acceptEdits` does not
          ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing.
        - `model`: The model behind it.
        - `variant`: A variant of the model, e.g. its reasoning effort.
        - `agent_version`: Which version of the agent to run.
        - `directory`: Absolute path it works in; the daemon's own folder when absent.
        - `title`: A name to show.
        - `env`: Variables for the agent; stored for the owner alone, never returned.
        - `mcp`: MCP servers by name.
        - `turn_timeout_ms`: End a turn that takes longer; off when absent.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `Timeout`.
        """
        return await self._client.create_session(
            None,
            {
                "agent": agent,
                "agentMode": agent_mode,
                "permissionMode": permission_mode,
                "model": model,
                "variant": variant,
                "agentVersion": agent_version,
                "directory": directory,
                "title": title,
                "env": env,
                "mcp": mcp,
                "turnTimeoutMs": turn_timeout_ms,
            },
        )

    def list(self, *, limit: int = 100, cursor: str | None = None) -> AsyncSessionList:
        """List sessions, newest first.

        - `limit`: How many to a page.
        - `cursor`: `nextCursor` of the page before.

        Raises `InvalidRequest`.
        """
        return AsyncSessionList(self._client, limit, cursor)

    async def get(self, session_id: str) -> SessionInfo:
        """Show a session.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return await self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}"), SessionInfo)

    async def update(
        self,
        session_id: str,
        *,
        title: str | None = None,
        model: str | None = None,
        variant: str | None = None,
        agent_mode: str | None = None,
        permission_mode: PermissionMode | None = None,
    ) -> SessionInfo:
        """Rename a session, or switch its model, variant or modes; at run time where the agent can.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `title`: A name to show.
        - `model`: The model behind it.
        - `variant`: A variant of the model, e.g. its reasoning effort.
        - `agent_mode`: What it does: `build` (default), `plan`, or one it reports.
        - `permission_mode`: What it may do: `default` asks before it writes or runs, `acceptEdits` does not
          ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `SessionNotFound`, `Conflict`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "PATCH",
                f"/v1/sessions/{segment(session_id)}",
                body={
                    "title": title,
                    "model": model,
                    "variant": variant,
                    "agentMode": agent_mode,
                    "permissionMode": permission_mode,
                },
            ),
            SessionInfo,
        )

    async def delete(self, session_id: str) -> None:
        """Terminate a session and forget it.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        await self._client.send(call("DELETE", f"/v1/sessions/{segment(session_id)}", settled=404))

    async def send_message(
        self,
        session_id: str,
        message: str,
        *,
        attachments: Sequence[Attachment] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        command: bool = False,
    ) -> SentMessage:
        """Send a message; answered as soon as it is durable. While a turn runs it waits in the queue.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `message`: The prompt; on the command line `-` reads it from stdin.
        - `attachments`: Files that go with it.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn.
        - `command`: The message is a command of the agent, e.g. `/compact`. Else a `/` is text.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/messages",
                headers={"Idempotency-Key": idempotency_key or new_key()},
                body={"message": message, "attachments": attachments, "fresh": fresh, "command": command},
            ),
            SentMessage,
        )

    async def cancel(self, session_id: str) -> None:
        """End the running turn and keep the session; the next queued message then starts.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        await self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/cancel"))

    async def terminate(self, session_id: str) -> None:
        """End the session and every process it started.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        await self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/terminate"))

    async def suspend(self, session_id: str) -> None:
        """Stop the process of an idle agent; the next message resumes the conversation.

        The daemon does the same after `--idle-seconds`. Nothing happens while a turn runs or a message
        waits, nor to an agent that could not go on with its conversation.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        await self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/suspend"))

    async def queue(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Queue:
        """Show the messages that wait, oldest first.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `limit`: How many at most.
        - `cursor`: `nextCursor` of the page before.

        Raises `InvalidRequest`, `SessionNotFound`.
        """
        return await self._client.ask(
            call(
                "GET", f"/v1/sessions/{segment(session_id)}/queue", query={"limit": limit, "cursor": cursor}
            ),
            Queue,
        )

    async def withdraw(self, session_id: str, turn_id: str) -> None:
        """Withdraw a message that waits.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `turn_id`: The turn that waits.

        Raises `SessionNotFound`, `NotFound`, `Unavailable`.
        """
        await self._client.send(
            call("DELETE", f"/v1/sessions/{segment(session_id)}/queue/{segment(turn_id)}", settled=404)
        )

    async def commands(self, session_id: str) -> Commands:
        """List the slash commands and prompt templates that the agent offers in this session.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `AgentNotInstalled`,
        `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/commands"), Commands)

    async def run_command(
        self,
        session_id: str,
        name: str,
        *,
        arguments: str | None = None,
        fresh: bool = False,
        idempotency_key: str | None = None,
    ) -> SentMessage:
        """Run a command of the agent as a turn. Like a message, it waits in the queue while another turn runs.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `name`: The command's name, without its slash and without spaces.
        - `arguments`: What follows the name.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/commands/{segment(name)}",
                headers={"Idempotency-Key": idempotency_key or new_key()},
                body={"arguments": arguments, "fresh": fresh},
            ),
            SentMessage,
        )

    async def compact(self, session_id: str, *, idempotency_key: str | None = None) -> SentMessage:
        """Replace the conversation so far by a summary of it, as a turn. Refused where the agent cannot do so on request.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `idempotency_key`: The same key gives the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/compact",
                headers={"Idempotency-Key": idempotency_key or new_key()},
            ),
            SentMessage,
        )

    async def events(
        self, session_id: str, *, offset: int = 0, limit: int = 100, include_raw: bool = False
    ) -> PageOfEvents:
        """Read events after an offset, oldest first.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `offset`: Sequence of the last event already seen.
        - `limit`: How many at most; a page is also bounded in bytes.
        - `include_raw`: Give each event the native payload that caused it.

        Raises `InvalidRequest`, `SessionNotFound`, `Conflict`.
        """
        return decoded(
            await self._client.ask(
                call(
                    "GET",
                    f"/v1/sessions/{segment(session_id)}/events",
                    query={"offset": offset, "limit": limit, "includeRaw": include_raw},
                ),
                EventPage,
            )
        )

    def events_sse(
        self, session_id: str, *, offset: int = 0, include_raw: bool = False
    ) -> AsyncIterator[Event]:
        """Stream events after an offset, then every new one, until the session ends.

        A frame named `end` says that there is nothing more to come. A reader that has everything of an
        ended session gets 204.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `offset`: Sequence of the last event already seen.
        - `include_raw`: Give each event the native payload that caused it.

        Raises `InvalidRequest`, `SessionNotFound`, `Conflict`.
        """
        return self._client.session(session_id).events(offset=offset, follow=True, include_raw=include_raw)

    def stream_message(
        self,
        session_id: str,
        message: str,
        *,
        attachments: Sequence[Attachment] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        command: bool = False,
    ) -> AsyncTurn:
        """Send a message and stream the events of its turn until it ends.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `message`: The prompt; on the command line `-` reads it from stdin.
        - `attachments`: Files that go with it.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn.
        - `command`: The message is a command of the agent, e.g. `/compact`. Else a `/` is text.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.session(session_id).prompt(
            message, attachments=attachments, fresh=fresh, idempotency_key=idempotency_key
        )


class AsyncPermissions(AsyncGuard):
    """Permissions that agents ask for, and the answers."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def list(self, session_id: str) -> PermissionList:
        """Show the permissions that wait for an answer.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return await self._client.ask(
            call("GET", f"/v1/sessions/{segment(session_id)}/permissions"), PermissionList
        )

    async def reply(
        self,
        session_id: str,
        permission_id: str,
        reply: Literal["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"],
        *,
        message: str | None = None,
    ) -> None:
        """Answer a permission; the second answer gets a conflict.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `permission_id`: The permission that waits.
        - `reply`: `once`, `always` (for this session) or `reject`.
        - `message`: Something to tell the agent with it.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/permissions/{segment(permission_id)}/reply",
                body={"reply": reply, "message": message},
                settled=409,
            )
        )


class AsyncQuestions(AsyncGuard):
    """Questions that agents ask, and the answers."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def list(self, session_id: str) -> QuestionList:
        """Show the questions that wait for an answer.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return await self._client.ask(
            call("GET", f"/v1/sessions/{segment(session_id)}/questions"), QuestionList
        )

    async def reply(self, session_id: str, question_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question; the second answer gets a conflict.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `question_id`: The question that waits.
        - `answers`: Per question the chosen labels; free text is allowed.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/questions/{segment(question_id)}/reply",
                body={"answers": answers},
                settled=409,
            )
        )

    async def reject(self, session_id: str, question_id: str) -> None:
        """Refuse to answer a question.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `question_id`: The question that waits.

        Raises `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/questions/{segment(question_id)}/reject",
                body={},
                settled=409,
            )
        )


class AsyncAttachments(AsyncGuard):
    """Files that go with messages, and images that agents make."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def upload(
        self, session_id: str, content: bytes, *, filename: str | None = None, content_type: str | None = None
    ) -> StoredAttachment:
        """Upload a file for use in a message.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `content`: The file's bytes; on the command line, its path.
        - `filename`: The file's name.
        - `content_type`: Its media type.

        Raises `InvalidRequest`, `SessionNotFound`, `PayloadTooLarge`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/attachments",
                query={"filename": filename},
                content=content,
                headers={"Content-Type": content_type},
            ),
            StoredAttachment,
        )

    async def get(self, session_id: str, name: str) -> Answer:
        """Read an attachment back.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `name`: The last part of the attachment's path.

        Raises `SessionNotFound`, `NotFound`.
        """
        return await self._client.send(
            call("GET", f"/v1/sessions/{segment(session_id)}/attachments/{segment(name)}")
        )


class AsyncEvents(AsyncGuard):
    """The events of all sessions."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    def sse(self, *, offset: int | None = None) -> AsyncIterator[Event | SessionInfo]:
        """Stream the events of all sessions, and frames named `session` when one is created, changed or deleted.

        The stream begins with an id alone: where the log is. A reader that is cut off before the first
        event goes on from there.

        - `offset`: Position in the whole log; now when absent.

        Raises `InvalidRequest`, `Conflict`.
        """
        return all_events(self._client.transport, offset)


class AsyncChanges(AsyncGuard):
    """What sessions have changed in their directories, and the way back."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def list(self, session_id: str) -> ChangeList:
        """Show what has changed in the session's directory since the session began, file by file.

        In a git repository the directory is compared with a snapshot of its beginning, uncommitted changes
        included. Elsewhere the changes are those that the agent told. What .gitignore leaves out is not
        looked at. Binary files, and those above 4 MiB, are told by their size only.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `InvalidRequest`, `PermissionDenied`, `Unavailable`.
        """
        return await self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/changes"), ChangeList)

    async def revert(
        self,
        session_id: str,
        *,
        paths: Sequence[str] | None = None,
        all: bool = False,
        etags: Mapping[str, str] | None = None,
    ) -> Reverted:
        """Give files back as they were when the session began. `undo` brings back what was overwritten or removed.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `paths`: Which files, as `changes` names them; or say `all`.
        - `all`: Every file that has changed.
        - `etags`: By path, the tags that `changes` showed: a file that has another by now is refused.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/changes/revert",
                body={"paths": paths, "all": all, "etags": etags},
            ),
            Reverted,
        )

    async def undo(self, session_id: str) -> Reverted:
        """Take the last revert back.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return await self._client.ask(
            call("POST", f"/v1/sessions/{segment(session_id)}/changes/undo", body={}), Reverted
        )


class AsyncFs(AsyncGuard):
    """Files of the daemon's machine."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def entries(
        self,
        *,
        path: str | None = None,
        session_id: str | None = None,
        limit: int = 1000,
        cursor: str | None = None,
    ) -> EntryPage:
        """List a folder, sorted by name: all of it as a list, or with `limit` page by page.

        - `path`: The folder; the one that relative paths start from when absent.
        - `session_id`: The session whose directory relative paths start from.
        - `limit`: How many to answer with, as a page; without it, all of them as a list.
        - `cursor`: `nextCursor` of the page before.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "GET",
                "/v1/fs/entries",
                query={"path": path, "sessionId": session_id, "limit": limit, "cursor": cursor},
            ),
            EntryPage,
        )

    async def stat(self, path: str, *, session_id: str | None = None) -> FileStat:
        """Show what a path leads to.

        - `path`: Absolute, or relative to the session's directory; without a session, to the daemon user's
          home.
        - `session_id`: The session whose directory relative paths start from.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call("GET", "/v1/fs/stat", query={"path": path, "sessionId": session_id}), FileStat
        )

    def read(self, path: str, *, session_id: str | None = None, range: str | None = None) -> AsyncDownload:
        """Read a file, or a range of it.

        - `path`: Absolute, or relative to the session's directory; without a session, to the daemon user's
          home.
        - `session_id`: The session whose directory relative paths start from.
        - `range`: A part of the file, e.g. `bytes=0-99`.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`,
        `RangeNotSatisfiable`.
        """
        return AsyncDownload(
            self._client.transport,
            call(
                "GET", "/v1/fs/file", query={"path": path, "sessionId": session_id}, headers={"Range": range}
            ),
        )

    def download(
        self, *, path: str | None = None, session_id: str | None = None, format: Literal["tar", "zip"] = "tar"
    ) -> AsyncDownload:
        """Download a folder as an archive, packed while it is sent.

        Links are packed as links. Sockets, pipes, devices, what the daemon's user cannot read and the
        daemon's own files are left out.

        - `path`: The folder; the one that relative paths start from when absent.
        - `session_id`: The session whose directory relative paths start from.
        - `format`: The kind of archive.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return AsyncDownload(
            self._client.transport,
            call("GET", "/v1/fs/download", query={"path": path, "sessionId": session_id, "format": format}),
        )

    async def search(
        self,
        *,
        path: str | None = None,
        session_id: str | None = None,
        glob: str | None = None,
        text: str | None = None,
        regex: str | None = None,
        ignore_case: bool = False,
        ignored: bool = False,
        limit: int = 200,
        timeout_ms: int = 10000,
    ) -> SearchResult:
        """Search names and contents below a folder. `truncated` says that there may be more.

        Binary files, and what is past the first 64 MiB of a file, are not searched.

        - `path`: The folder; the one that relative paths start from when absent.
        - `session_id`: The session whose directory relative paths start from.
        - `glob`: Which names, as in .gitignore: `*.py` at any depth, `src/**/test_*`.
        - `text`: Only files that hold this text; each line that does is a hit.
        - `regex`: The same with a regular expression, as Python has them.
        - `ignore_case`: Take a and A for the same.
        - `ignored`: Also what .gitignore leaves out.
        - `limit`: How many hits at most.
        - `timeout_ms`: How long to search at most.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "GET",
                "/v1/fs/search",
                query={
                    "path": path,
                    "sessionId": session_id,
                    "glob": glob,
                    "text": text,
                    "regex": regex,
                    "ignoreCase": ignore_case,
                    "ignored": ignored,
                    "limit": limit,
                    "timeoutMs": timeout_ms,
                },
            ),
            SearchResult,
        )

    def watch(
        self, *, path: str | None = None, session_id: str | None = None
    ) -> AsyncIterator[FileChange | None]:
        """Stream the changes below a folder from now on.

        Each frame is a change: `path`, `change` (`created`, `modified`, `deleted`) and `entryType`. A frame
        named `lost` says that not every change is told, because there were too many at once or there are
        too many folders: look again at what you show.

        - `path`: The folder; the one that relative paths start from when absent.
        - `session_id`: The session whose directory relative paths start from.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return file_changes(self._client.transport, path, session_id)

    async def write(
        self, path: str, content: AsyncContent, *, session_id: str | None = None, if_match: str | None = None
    ) -> FileWritten:
        """Write a file, whole or not at all. Missing folders are made; a link's target is written, and its mode kept.

        - `path`: Absolute, or relative to the session's directory; without a session, to the daemon user's
          home.
        - `content`: The file's bytes; on the command line, the path of a file here.
        - `session_id`: The session whose directory relative paths start from.
        - `if_match`: Write only where the file still has this tag; `*`: only where there is one.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `PreconditionFailed`,
        `PayloadTooLarge`.
        """
        return await self._client.ask(
            call(
                "PUT",
                "/v1/fs/file",
                query={"path": path, "sessionId": session_id},
                content=pieces_of(content),
                headers={"If-Match": if_match, "Content-Type": "application/octet-stream"},
            ),
            FileWritten,
        )

    async def delete(
        self, path: str, *, session_id: str | None = None, recursive: bool = False
    ) -> FileAction:
        """Delete a file, a link itself, or a folder.

        - `path`: Absolute, or relative to the session's directory; without a session, to the daemon user's
          home.
        - `session_id`: The session whose directory relative paths start from.
        - `recursive`: Also a folder that is not empty.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "DELETE",
                "/v1/fs/entry",
                query={"path": path, "sessionId": session_id, "recursive": recursive},
                settled=404,
            ),
            FileAction,
        )

    async def mkdir(self, path: str, *, session_id: str | None = None) -> FileAction:
        """Make a folder and those above it; one that exists is fine.

        - `path`: Absolute, or relative to the session's directory; without a session, to the daemon user's
          home.
        - `session_id`: The session whose directory relative paths start from.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call("POST", "/v1/fs/mkdir", query={"path": path, "sessionId": session_id}), FileAction
        )

    async def move(
        self, source: str, target: str, *, overwrite: bool | None = None, session_id: str | None = None
    ) -> FileMoved:
        """Move a file, a link itself, or a folder to another path on the same file system.

        - `source`: What to move.
        - `target`: Its new path. Folders that are missing are made.
        - `overwrite`: Replace what is there.
        - `session_id`: The session whose directory relative paths start from.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                "/v1/fs/move",
                body={"from": source, "to": target, "overwrite": overwrite, "sessionId": session_id},
            ),
            FileMoved,
        )

    async def upload_batch(
        self, content: AsyncContent, *, path: str | None = None, session_id: str | None = None
    ) -> Unpacked:
        """Upload a tar archive and unpack it to a folder.

        An archive that names anything outside of the folder is refused before anything is written: `..`,
        absolute names, links that leave, names that lead through a link, devices.

        - `content`: A tar archive; on the command line, the path of one here.
        - `path`: The folder to unpack to; it is made.
        - `session_id`: The session whose directory relative paths start from.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `PayloadTooLarge`.
        """
        return await self._client.ask(
            call(
                "POST",
                "/v1/fs/upload-batch",
                query={"path": path, "sessionId": session_id},
                content=pieces_of(content),
                headers={"Content-Type": "application/x-tar"},
            ),
            Unpacked,
        )


class AsyncProcesses(AsyncGuard):
    """Processes of the sandbox, and terminals."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def list(self, *, owner: Literal["user", "desktop", "system"] | None = None) -> ProcessList:
        """List the processes: those that run, and those that have ended.

        - `owner`: Only those that this owner started.

        Raises `PermissionDenied`, `InvalidRequest`.
        """
        return await self._client.ask(call("GET", "/v1/processes", query={"owner": owner}), ProcessList)

    async def create(
        self,
        command: str,
        *,
        args: Sequence[str] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        tty: bool = False,
        cols: int = 80,
        rows: int = 24,
        interactive: bool = False,
        hold: bool = False,
    ) -> ProcessInfo:
        """Start a process that runs until it ends, is ended, or the daemon stops.

        When its program exits, whatever it started and left behind ends, too.

        - `command`: The program: a path, or a name that is looked for on PATH.
        - `args`: Its arguments.
        - `cwd`: Where it runs; the daemon's own folder when absent.
        - `env`: Variables besides the daemon's own.
        - `tty`: Run it on a terminal of its own.
        - `cols`: Columns of the terminal.
        - `rows`: Rows of the terminal.
        - `interactive`: Say that somebody will type; input is taken either way.
        - `hold`: Drop no output that nobody has read: when the log is full, the process waits for a reader
          who follows it.

        Raises `InvalidRequest`, `PermissionDenied`, `Conflict`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                "/v1/processes",
                body={
                    "command": command,
                    "args": args,
                    "cwd": cwd,
                    "env": env,
                    "tty": tty,
                    "cols": cols,
                    "rows": rows,
                    "interactive": interactive,
                    "hold": hold,
                },
                repeatable=False,
            ),
            ProcessInfo,
        )

    async def run(
        self,
        command: str,
        *,
        args: Sequence[str] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_ms: int | None = None,
        max_output_bytes: int | None = None,
    ) -> ProcessRun:
        """Run a program to its end, and answer with what it wrote.

        Its input is empty. At the time limit it is killed, with everything that it started.

        - `command`: The program: a path, or a name that is looked for on PATH.
        - `args`: Its arguments.
        - `cwd`: Where it runs; the daemon's own folder when absent.
        - `env`: Variables besides the daemon's own.
        - `timeout_ms`: When to kill it, in milliseconds; `config` has the usual and the largest.
        - `max_output_bytes`: How much of each stream to keep; `config` has the largest.

        Raises `InvalidRequest`, `PermissionDenied`, `Conflict`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                "/v1/processes/run",
                body={
                    "command": command,
                    "args": args,
                    "cwd": cwd,
                    "env": env,
                    "timeoutMs": timeout_ms,
                    "maxOutputBytes": max_output_bytes,
                },
                repeatable=False,
            ),
            ProcessRun,
        )

    async def config(self) -> ProcessConfig:
        """Show the limits of processes.

        Raises `PermissionDenied`.
        """
        return await self._client.ask(call("GET", "/v1/processes/config"), ProcessConfig)

    async def configure(
        self,
        max_concurrent_processes: int,
        default_run_timeout_ms: int,
        max_run_timeout_ms: int,
        max_output_bytes: int,
        max_log_bytes_per_process: int,
        max_input_bytes_per_request: int,
    ) -> ProcessConfig:
        """Set the limits of processes: all of them. They hold for what is started from now on.

        - `max_concurrent_processes`: How many processes may run at once; `run` does not count.
        - `default_run_timeout_ms`: How long `run` waits when nothing else is said.
        - `max_run_timeout_ms`: How long `run` may be told to wait.
        - `max_output_bytes`: How much of each stream `run` keeps.
        - `max_log_bytes_per_process`: How much output of a process is kept; the oldest goes.
        - `max_input_bytes_per_request`: How much may be written to a process at once.

        Raises `InvalidRequest`, `PermissionDenied`, `Unavailable`.
        """
        return await self._client.ask(
            call(
                "POST",
                "/v1/processes/config",
                body={
                    "maxConcurrentProcesses": max_concurrent_processes,
                    "defaultRunTimeoutMs": default_run_timeout_ms,
                    "maxRunTimeoutMs": max_run_timeout_ms,
                    "maxOutputBytes": max_output_bytes,
                    "maxLogBytesPerProcess": max_log_bytes_per_process,
                    "maxInputBytesPerRequest": max_input_bytes_per_request,
                },
            ),
            ProcessConfig,
        )

    async def get(self, process_id: str) -> ProcessInfo:
        """Show a process.

        - `process_id`: Which process, e.g. `proc_1`.

        Raises `PermissionDenied`, `NotFound`.
        """
        return await self._client.ask(call("GET", f"/v1/processes/{segment(process_id)}"), ProcessInfo)

    async def delete(self, process_id: str) -> None:
        """Forget a process that has ended, and what it wrote.

        - `process_id`: Which process, e.g. `proc_1`.

        Raises `PermissionDenied`, `NotFound`, `Conflict`, `Unavailable`.
        """
        await self._client.send(call("DELETE", f"/v1/processes/{segment(process_id)}", settled=404))

    async def stop(self, process_id: str, *, wait_ms: int | None = None) -> ProcessInfo:
        """Ask a process to end (SIGTERM), and wait for that. One that does not care goes on.

        - `process_id`: Which process, e.g. `proc_1`.
        - `wait_ms`: How long to wait for the exit, in milliseconds; 2000 when absent.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`.
        """
        return await self._client.ask(
            call("POST", f"/v1/processes/{segment(process_id)}/stop", query={"waitMs": wait_ms}), ProcessInfo
        )

    async def kill(self, process_id: str, *, wait_ms: int | None = None) -> ProcessInfo:
        """End a process and everything that it started (SIGKILL).

        - `process_id`: Which process, e.g. `proc_1`.
        - `wait_ms`: How long to wait for the exit, in milliseconds; 2000 when absent.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`.
        """
        return await self._client.ask(
            call("POST", f"/v1/processes/{segment(process_id)}/kill", query={"waitMs": wait_ms}), ProcessInfo
        )

    async def logs(
        self, process_id: str, *, stream: LogStream | None = None, since: int = 0, tail: int | None = None
    ) -> ProcessLogs:
        """Read what a process wrote, or follow it.

        A stream has frames named `log`, with the sequence of the entry as id, and ends with one named
        `end`. A reader that comes back with everything of a process that has ended gets 204.

        - `process_id`: Which process, e.g. `proc_1`.
        - `stream`: Which output; both, or the terminal's, when absent.
        - `since`: Sequence of the last entry already seen.
        - `tail`: Only the last so many entries.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`.
        """
        return await self._client.ask(
            call(
                "GET",
                f"/v1/processes/{segment(process_id)}/logs",
                query={"stream": stream, "since": since, "tail": tail},
            ),
            ProcessLogs,
        )

    def follow_logs(
        self, process_id: str, *, stream: LogStream | None = None, since: int = 0, tail: int | None = None
    ) -> AsyncIterator[LogEntry]:
        """Read what a process wrote, or follow it.

        A stream has frames named `log`, with the sequence of the entry as id, and ends with one named
        `end`. A reader that comes back with everything of a process that has ended gets 204.

        - `process_id`: Which process, e.g. `proc_1`.
        - `stream`: Which output; both, or the terminal's, when absent.
        - `since`: Sequence of the last entry already seen.
        - `tail`: Only the last so many entries.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`.
        """
        return log_entries(self._client.transport, process_id, stream, since, tail)

    async def input(
        self, process_id: str, data: str, *, encoding: str | None = None, eof: bool = False
    ) -> BytesWritten:
        """Write to the input of a process, and wait until it is taken.

        - `process_id`: Which process, e.g. `proc_1`.
        - `data`: What to write.
        - `encoding`: How `data` is spelled: `base64` (when absent), `utf8` or `text`.
        - `eof`: Close the input behind it; a terminal gets Ctrl-D.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`, `PayloadTooLarge`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/processes/{segment(process_id)}/input",
                body={"data": data, "encoding": encoding, "eof": eof},
                repeatable=False,
            ),
            BytesWritten,
        )

    async def resize(self, process_id: str, cols: int, rows: int) -> TerminalSize:
        """Give the terminal of a process another size.

        - `process_id`: Which process, e.g. `proc_1`.
        - `cols`: Columns.
        - `rows`: Rows.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return await self._client.ask(
            call(
                "POST",
                f"/v1/processes/{segment(process_id)}/terminal/resize",
                body={"cols": cols, "rows": rows},
            ),
            TerminalSize,
        )

    def terminal(self, process_id: str) -> AsyncTerminal:
        """Look at the terminal of a process and type into it, over a WebSocket.

        The recent output comes first. Several may look at once, and all may type.

        - `process_id`: Which process, e.g. `proc_1`.

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return AsyncTerminal(self._client.transport, process_id)


class AsyncSystem(AsyncGuard):
    """Whether the daemon lives, is ready, and how it does."""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

    async def health(self) -> Health:
        """Say that the daemon lives, and its version."""
        return await self._client.ask(call("GET", "/v1/health"), Health)

    async def ready(self) -> Readiness:
        """Say whether new work is taken: the log can be written and the daemon is not stopping.

        Raises `Unavailable`.
        """
        return await self._client.ask(call("GET", "/v1/ready"), Readiness)

    async def metrics(self) -> Answer:
        """Give figures in Prometheus' text format."""
        return await self._client.send(call("GET", "/metrics"))


class AsyncOperations(AsyncGuard):
    """The groups of operations, as members of the client."""

    def __init__(self) -> None:
        client = cast("AsyncSandboxAgent", self)
        self.agents = AsyncAgents(client)
        self.sessions = AsyncSessions(client)
        self.permissions = AsyncPermissions(client)
        self.questions = AsyncQuestions(client)
        self.attachments = AsyncAttachments(client)
        self.events = AsyncEvents(client)
        self.changes = AsyncChanges(client)
        self.fs = AsyncFs(client)
        self.processes = AsyncProcesses(client)
        self.system = AsyncSystem(client)
