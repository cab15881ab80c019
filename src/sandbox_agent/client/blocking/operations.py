"""Every operation as a method, grouped and named as on the command line."""

# Written by `make gen` from the table of operations.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from ...schema.inputs import Attachment, McpServer, PermissionMode
from ...schema.sessions import SessionInfo
from ..call import Answer, call, new_key, segment
from ..events import Event
from ..misuse import Guard
from ..pages import PageOfEvents, decoded
from .session_list import SessionList
from .stream import all_events

if TYPE_CHECKING:
    from .client import SandboxAgent
    from .session import Session
    from .turn import Turn


class Agents(Guard):
    """Agents: what there is, what is installed, what each offers."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self) -> AgentList:
        """List all agents with their install state, version, credentials and capabilities."""
        return self._client.ask(call("GET", "/v1/agents"), AgentList)

    def install(
        self,
        agent: str,
        *,
        reinstall: bool = False,
        agent_version: str | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Installed:
        """Install an agent, or return where it is installed.

        - `agent`: Name of the agent, e.g. `claude`.
        - `reinstall`: Install again even if it is installed.
        - `agent_version`: Version to install, or `latest`. Default: the installed version, or the tested
          one if none is installed.
        - `on_progress`: Is called with the latest step while it goes on; may be a coroutine function.

        Raises `InvalidRequest`, `UnsupportedAgent`, `PermissionDenied`, `InstallFailed`.
        """
        return self._client.watch(
            call(
                "POST",
                f"/v1/agents/{segment(agent)}/install",
                body={"reinstall": reinstall, "agentVersion": agent_version},
            ),
            Installed,
            on_progress,
        )

    def modes(self, agent: str, *, directory: str | None = None) -> Modes:
        """List an agent's modes in a directory.

        - `agent`: Name of the agent, e.g. `claude`.
        - `directory`: Working directory of the agent (default: the daemon's).

        Raises `InvalidRequest`, `UnsupportedAgent`, `AgentNotInstalled`, `AgentProcessExited`,
        `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}/modes", query={"directory": directory}), Modes
        )

    def models(self, agent: str, *, directory: str | None = None) -> Models:
        """List an agent's models and their variants in a directory.

        - `agent`: Name of the agent, e.g. `claude`.
        - `directory`: Working directory of the agent (default: the daemon's).

        Raises `InvalidRequest`, `UnsupportedAgent`, `AgentNotInstalled`, `AgentProcessExited`,
        `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}/models", query={"directory": directory}), Models
        )


class Sessions(Guard):
    """Sessions: create, look, change, talk, end."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def create(
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
    ) -> Session:
        """Create a session with the given id and start its agent.

        A session whose agent is installed but cannot be started has ended: its problem is raised.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `agent`: Agent to run, e.g. `claude`.
        - `agent_mode`: Mode of the agent: `build` (default), `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: `default` before it writes or runs anything, `acceptEdits`
          not for plain edits inside the directory, `bypass` never; `plan` is read-only.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_version`: Version of the agent to run.
        - `directory`: Absolute path of the working directory (default: the daemon's).
        - `title`: Title to display.
        - `env`: Environment variables for the agent; readable only by the owner, never returned.
        - `mcp`: MCP servers by name.
        - `turn_timeout_ms`: Cancel a turn that takes longer (default: no limit).

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `Timeout`.
        """
        return self._client.create_session(
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

    def new(
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
    ) -> Session:
        """Create a session with a generated id.

        A session whose agent is installed but cannot be started has ended: its problem is raised.

        - `agent`: Agent to run, e.g. `claude`.
        - `agent_mode`: Mode of the agent: `build` (default), `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: `default` before it writes or runs anything, `acceptEdits`
          not for plain edits inside the directory, `bypass` never; `plan` is read-only.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_version`: Version of the agent to run.
        - `directory`: Absolute path of the working directory (default: the daemon's).
        - `title`: Title to display.
        - `env`: Environment variables for the agent; readable only by the owner, never returned.
        - `mcp`: MCP servers by name.
        - `turn_timeout_ms`: Cancel a turn that takes longer (default: no limit).

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `Timeout`.
        """
        return self._client.create_session(
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

    def list(self, *, limit: int = 100, cursor: str | None = None) -> SessionList:
        """List sessions, newest first.

        - `limit`: Sessions per page.
        - `cursor`: `nextCursor` of the previous page.

        Raises `InvalidRequest`.
        """
        return SessionList(self._client, limit, cursor)

    def get(self, session_id: str) -> SessionInfo:
        """Show a session.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}"), SessionInfo)

    def update(
        self,
        session_id: str,
        *,
        title: str | None = None,
        model: str | None = None,
        variant: str | None = None,
        agent_mode: str | None = None,
        permission_mode: PermissionMode | None = None,
    ) -> SessionInfo:
        """Change the title, model, variant or modes of a session; while it runs if the agent supports that.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `title`: Title to display.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_mode`: Mode of the agent: `build` (default), `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: `default` before it writes or runs anything, `acceptEdits`
          not for plain edits inside the directory, `bypass` never; `plan` is read-only.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `SessionNotFound`, `Conflict`, `Unavailable`.
        """
        return self._client.ask(
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

    def delete(self, session_id: str) -> None:
        """Terminate a session and delete it with its events.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        self._client.send(call("DELETE", f"/v1/sessions/{segment(session_id)}", settled=404))

    def send_message(
        self,
        session_id: str,
        message: str,
        *,
        attachments: Sequence[Attachment] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        command: bool = False,
    ) -> SentMessage:
        """Send a message. Returns once it is durable; while a turn runs, it waits in the queue.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `message`: The prompt. On the command line, `-` reads it from stdin.
        - `attachments`: Files to send with the message.
        - `fresh`: Start a new conversation if the agent no longer has this one.
        - `idempotency_key`: A repeated key returns the same turn.
        - `command`: Run the message as a command of the agent, e.g. `/compact`; otherwise it is plain text.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/messages",
                headers={"Idempotency-Key": idempotency_key or new_key()},
                body={"message": message, "attachments": attachments, "fresh": fresh, "command": command},
            ),
            SentMessage,
        )

    def cancel(self, session_id: str) -> None:
        """Cancel the running turn. The next queued message then starts.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/cancel"))

    def terminate(self, session_id: str) -> None:
        """End the session and all its processes.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `Unavailable`.
        """
        self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/terminate"))

    def suspend(self, session_id: str) -> None:
        """Stop the process of an idle agent; the next message resumes the conversation.

        The daemon does the same after `--idle-seconds`. It has no effect while a turn runs or a message is
        queued, or if the agent could not resume the conversation.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        self._client.send(call("POST", f"/v1/sessions/{segment(session_id)}/suspend"))

    def queue(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Queue:
        """List queued messages, oldest first.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `limit`: Most messages to return.
        - `cursor`: `nextCursor` of the previous page.

        Raises `InvalidRequest`, `SessionNotFound`.
        """
        return self._client.ask(
            call(
                "GET", f"/v1/sessions/{segment(session_id)}/queue", query={"limit": limit, "cursor": cursor}
            ),
            Queue,
        )

    def withdraw(self, session_id: str, turn_id: str) -> None:
        """Withdraw a queued message.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `turn_id`: Turn of the queued message.

        Raises `SessionNotFound`, `NotFound`, `Unavailable`.
        """
        self._client.send(
            call("DELETE", f"/v1/sessions/{segment(session_id)}/queue/{segment(turn_id)}", settled=404)
        )

    def commands(self, session_id: str) -> Commands:
        """List the slash commands and prompt templates that the agent offers in the session.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `AgentNotInstalled`,
        `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/commands"), Commands)

    def run_command(
        self,
        session_id: str,
        name: str,
        *,
        arguments: str | None = None,
        fresh: bool = False,
        idempotency_key: str | None = None,
    ) -> SentMessage:
        """Run a command of the agent as a turn. While another turn runs, it waits in the queue.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `name`: Name of the command, without the slash; no spaces.
        - `arguments`: Text after the name.
        - `fresh`: Start a new conversation if the agent no longer has this one.
        - `idempotency_key`: A repeated key returns the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/commands/{segment(name)}",
                headers={"Idempotency-Key": idempotency_key or new_key()},
                body={"arguments": arguments, "fresh": fresh},
            ),
            SentMessage,
        )

    def compact(self, session_id: str, *, idempotency_key: str | None = None) -> SentMessage:
        """Replace the conversation so far with a summary, as a turn. Refused if the agent does not support it.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `idempotency_key`: A repeated key returns the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/compact",
                headers={"Idempotency-Key": idempotency_key or new_key()},
            ),
            SentMessage,
        )

    def events(
        self, session_id: str, *, offset: int = 0, limit: int = 100, include_raw: bool = False
    ) -> PageOfEvents:
        """Read events after an offset, oldest first.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `offset`: Sequence of the last event you have seen.
        - `limit`: Most events to return; a page is also limited in bytes.
        - `include_raw`: Include the native payload of each event.

        Raises `InvalidRequest`, `SessionNotFound`, `Conflict`.
        """
        return decoded(
            self._client.ask(
                call(
                    "GET",
                    f"/v1/sessions/{segment(session_id)}/events",
                    query={"offset": offset, "limit": limit, "includeRaw": include_raw},
                ),
                EventPage,
            )
        )

    def events_sse(self, session_id: str, *, offset: int = 0, include_raw: bool = False) -> Iterator[Event]:
        """Stream events after an offset, then every new one, until the session ends.

        A frame named `end` marks the end of the stream. A reader that already has every event of an ended
        session gets 204.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `offset`: Sequence of the last event you have seen.
        - `include_raw`: Include the native payload of each event.

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
    ) -> Turn:
        """Send a message and stream the events of its turn until it ends.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `message`: The prompt. On the command line, `-` reads it from stdin.
        - `attachments`: Files to send with the message.
        - `fresh`: Start a new conversation if the agent no longer has this one.
        - `idempotency_key`: A repeated key returns the same turn.
        - `command`: Run the message as a command of the agent, e.g. `/compact`; otherwise it is plain text.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self._client.session(session_id).prompt(
            message, attachments=attachments, fresh=fresh, idempotency_key=idempotency_key
        )


class Permissions(Guard):
    """Permissions that agents ask for, and the answers."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self, session_id: str) -> PermissionList:
        """List pending permissions.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(
            call("GET", f"/v1/sessions/{segment(session_id)}/permissions"), PermissionList
        )

    def reply(
        self,
        session_id: str,
        permission_id: str,
        reply: Literal["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"],
        *,
        message: str | None = None,
    ) -> None:
        """Answer a permission. A second answer gets 409.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `permission_id`: Id of the pending permission.
        - `reply`: `once`, `always` (for this session) or `reject`.
        - `message`: Message for the agent.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/permissions/{segment(permission_id)}/reply",
                body={"reply": reply, "message": message},
                settled=409,
            )
        )


class Questions(Guard):
    """Questions that agents ask, and the answers."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self, session_id: str) -> QuestionList:
        """List pending questions.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/questions"), QuestionList)

    def reply(self, session_id: str, question_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question. A second answer gets 409.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `question_id`: Id of the pending question.
        - `answers`: For each question, the chosen labels or free text.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/questions/{segment(question_id)}/reply",
                body={"answers": answers},
                settled=409,
            )
        )

    def reject(self, session_id: str, question_id: str) -> None:
        """Reject a question.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `question_id`: Id of the pending question.

        Raises `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/questions/{segment(question_id)}/reject",
                body={},
                settled=409,
            )
        )


class Attachments(Guard):
    """Files that go with messages, and images that agents make."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def upload(
        self, session_id: str, content: bytes, *, filename: str | None = None, content_type: str | None = None
    ) -> StoredAttachment:
        """Upload a file to use in a message.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `content`: Content of the file; on the command line, its path.
        - `filename`: Name of the file.
        - `content_type`: Media type of the file.

        Raises `InvalidRequest`, `SessionNotFound`, `PayloadTooLarge`, `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/attachments",
                query={"filename": filename},
                content=content,
                headers={"Content-Type": content_type},
            ),
            StoredAttachment,
        )

    def get(self, session_id: str, name: str) -> Answer:
        """Read an attachment.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `name`: Last part of the attachment's path.

        Raises `SessionNotFound`, `NotFound`.
        """
        return self._client.send(
            call("GET", f"/v1/sessions/{segment(session_id)}/attachments/{segment(name)}")
        )


class Events(Guard):
    """The events of all sessions."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def sse(self, *, offset: int | None = None) -> Iterator[Event | SessionInfo]:
        """Stream the events of all sessions, and frames named `session` when a session is created, changed or deleted.

        The stream starts with a frame that has only an id, the current position in the log. A reader that
        loses the connection before the first event resumes from there.

        - `offset`: Position in the log of all sessions (default: the end).

        Raises `InvalidRequest`, `Conflict`.
        """
        return all_events(self._client.transport, offset)


class System(Guard):
    """Whether the daemon lives, is ready, and how it does."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def health(self) -> Health:
        """Check that the daemon is running; returns its version."""
        return self._client.ask(call("GET", "/v1/health"), Health)

    def ready(self) -> Readiness:
        """Check that the daemon accepts work: the log is writable and the daemon is not stopping.

        Raises `Unavailable`.
        """
        return self._client.ask(call("GET", "/v1/ready"), Readiness)

    def metrics(self) -> Answer:
        """Return metrics in Prometheus text format."""
        return self._client.send(call("GET", "/metrics"))


class Operations(Guard):
    """The groups of operations, as members of the client."""

    def __init__(self) -> None:
        client = cast("SandboxAgent", self)
        self.agents = Agents(client)
        self.sessions = Sessions(client)
        self.permissions = Permissions(client)
        self.questions = Questions(client)
        self.attachments = Attachments(client)
        self.events = Events(client)
        self.system = System(client)
