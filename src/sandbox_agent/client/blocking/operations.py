"""Every operation as a method, grouped and named as on the command line."""

# Written by `make gen` from the table of operations.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ...schema.answers import (
    AgentInfo,
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
    ToolCallList,
)
from ...schema.changes import ChangeList, Reverted
from ...schema.desktop import (
    ClipboardText,
    DesktopDone,
    DesktopStatus,
    DisplayInfo,
    KeyModifiers,
    LaunchedApp,
    MousePosition,
    OpenedTarget,
    RecordingInfo,
    RecordingList,
    StreamStatus,
    WindowInfo,
    WindowList,
)
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
from ...schema.limits import Limits
from ...schema.mcp import McpServerList
from ...schema.nodes import NodeList
from ...schema.policy import PolicyList, PolicyRule, PolicyVerdict
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
from ...schema.skills import SkillList, SkillsConfig, SkillSource
from ...schema.tools import ToolImage
from ...schema.usage import UsageReport
from ..call import Answer, call, new_key, segment
from ..events import Event
from ..function_tool import ToolSource
from ..misuse import Guard
from ..pages import PageOfEvents, decoded
from .session_list import SessionList
from .stream import all_events, file_changes, log_entries
from .terminal import Terminal
from .transfer import Content, Download, pieces_of

if TYPE_CHECKING:
    from .client import SandboxAgent
    from .session import Session
    from .turn import Turn


class Agents(Guard):
    """List and install agents."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self, *, config: bool = False, no_cache: bool = False) -> AgentList:
        """List all agents with their install state, version, credentials and capabilities.

        - `config`: Include what a session may choose: models, modes, variants, permissions.
        - `no_cache`: Accepted for older clients. It has no effect.
        """
        return self._client.ask(
            call("GET", "/v1/agents", query={"config": config, "noCache": no_cache}), AgentList
        )

    def get(self, agent: str, *, config: bool = False, no_cache: bool = False) -> AgentInfo:
        """Show an agent with its install state, version, credentials and capabilities.

        - `agent`: Name of the agent, e.g. `claude`.
        - `config`: Include what a session may choose: models, modes, variants, permissions.
        - `no_cache`: Accepted for older clients. It has no effect.

        Raises `UnsupportedAgent`.
        """
        return self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}", query={"config": config, "noCache": no_cache}),
            AgentInfo,
        )

    def install(
        self,
        agent: str,
        *,
        reinstall: bool = False,
        agent_version: str | None = None,
        keep_default: bool = False,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Installed:
        """Install an agent, or return where it is installed.

        - `agent`: Name of the agent, e.g. `claude`.
        - `reinstall`: Install again even if it is installed.
        - `agent_version`: Version to install, or `latest`. Default: the installed version, or the tested
          one if none is installed.
        - `keep_default`: Leave the default version as it is: only sessions with this `agentVersion` use the
          new one.
        - `on_progress`: Called with each step; may be a coroutine function.

        Raises `InvalidRequest`, `UnsupportedAgent`, `PermissionDenied`, `InstallFailed`.
        """
        return self._client.watch(
            call(
                "POST",
                f"/v1/agents/{segment(agent)}/install",
                body={"reinstall": reinstall, "agentVersion": agent_version, "keepDefault": keep_default},
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

    def commands(self, agent: str, *, directory: str | None = None) -> Commands:
        """List the slash commands and prompt templates that a new session in a directory would have.

        - `agent`: Name of the agent, e.g. `claude`.
        - `directory`: Working directory of the agent (default: the daemon's).

        Raises `InvalidRequest`, `UnsupportedAgent`, `AgentNotInstalled`, `AgentProcessExited`,
        `StreamError`, `Timeout`.
        """
        return self._client.ask(
            call("GET", f"/v1/agents/{segment(agent)}/commands", query={"directory": directory}), Commands
        )


class Sessions(Guard):
    """Create, prompt, read and end sessions."""

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
        skills: SkillsConfig | None = None,
        turn_timeout_ms: int | None = None,
        policy: Sequence[PolicyRule] = (),
        limits: Limits | None = None,
        tools: Sequence[ToolSource] = (),
        tool_timeout_ms: int | None = None,
        node: str | None = None,
        desktop: bool = False,
    ) -> Session:
        """Create a session with the given id and start its agent.

        Raises the problem if the agent is installed but does not start.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `agent`: Agent to run, e.g. `claude`.
        - `agent_mode`: Mode of the agent: `build` (default), `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: with `default`, before it writes or runs anything; with
          `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-
          only.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_version`: Version of the agent to run.
        - `directory`: Absolute path of the working directory (default: the daemon's).
        - `title`: Title to display.
        - `env`: Environment variables for the agent; readable only by the owner, never returned.
        - `mcp`: MCP servers by name.
        - `skills`: Skills: directories with a `SKILL.md`, and where they come from.
        - `turn_timeout_ms`: Cancel a turn that takes longer (default: no limit).
        - `policy`: Rules for what the agent may do, after the operator's.
        - `limits`: Limits of the session; null removes one. For those not given, the daemon's defaults
          apply.
        - `tools`: Tools of the client that the agent may call; see `tool-calls`.
        - `tool_timeout_ms`: How long a call to such a tool waits for an answer (default: 10 minutes).
        - `node`: Node that runs the session (default: the one that receives the request).
        - `desktop`: Let the agent look at the desktop and act on it (docs/computer-use.mdx).

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `DesktopRuntimeFailed`, `Timeout`.
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
                "skills": skills,
                "turnTimeoutMs": turn_timeout_ms,
                "policy": policy,
                "limits": limits,
                "tools": tools,
                "toolTimeoutMs": tool_timeout_ms,
                "node": node,
                "desktop": desktop,
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
        skills: SkillsConfig | None = None,
        turn_timeout_ms: int | None = None,
        policy: Sequence[PolicyRule] = (),
        limits: Limits | None = None,
        tools: Sequence[ToolSource] = (),
        tool_timeout_ms: int | None = None,
        node: str | None = None,
        desktop: bool = False,
    ) -> Session:
        """Create a session with a generated id.

        Raises the problem if the agent is installed but does not start.

        - `agent`: Agent to run, e.g. `claude`.
        - `agent_mode`: Mode of the agent: `build` (default), `plan`, or another mode it reports.
        - `permission_mode`: When the agent asks: with `default`, before it writes or runs anything; with
          `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-
          only.
        - `model`: Model to use.
        - `variant`: Variant of the model, e.g. its reasoning effort.
        - `agent_version`: Version of the agent to run.
        - `directory`: Absolute path of the working directory (default: the daemon's).
        - `title`: Title to display.
        - `env`: Environment variables for the agent; readable only by the owner, never returned.
        - `mcp`: MCP servers by name.
        - `skills`: Skills: directories with a `SKILL.md`, and where they come from.
        - `turn_timeout_ms`: Cancel a turn that takes longer (default: no limit).
        - `policy`: Rules for what the agent may do, after the operator's.
        - `limits`: Limits of the session; null removes one. For those not given, the daemon's defaults
          apply.
        - `tools`: Tools of the client that the agent may call; see `tool-calls`.
        - `tool_timeout_ms`: How long a call to such a tool waits for an answer (default: 10 minutes).
        - `node`: Node that runs the session (default: the one that receives the request).
        - `desktop`: Let the agent look at the desktop and act on it (docs/computer-use.mdx).

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `AgentNotInstalled`, `SessionAlreadyExists`, `InstallFailed`, `AgentProcessExited`, `StreamError`,
        `Unavailable`, `DesktopRuntimeFailed`, `Timeout`.
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
                "skills": skills,
                "turnTimeoutMs": turn_timeout_ms,
                "policy": policy,
                "limits": limits,
                "tools": tools,
                "toolTimeoutMs": tool_timeout_ms,
                "node": node,
                "desktop": desktop,
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
        policy: Sequence[PolicyRule] | None = None,
        limits: Limits | None = None,
    ) -> SessionInfo:
        """Change the title, model, variant, modes, rules or limits of a session; while it runs if the agent supports that.

        Queued messages that a limit kept waiting start as soon as it is raised.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
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
                    "policy": policy,
                    "limits": limits,
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
        resume: Literal["carried"] | None = None,
        client_id: str | None = None,
    ) -> SentMessage:
        """Send a message. Returns once it is durable; while a turn runs, it waits in the queue.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
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
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/messages",
                headers={"Idempotency-Key": idempotency_key or new_key()},
                body={
                    "message": message,
                    "attachments": attachments,
                    "fresh": fresh,
                    "command": command,
                    "resume": resume,
                    "clientId": client_id,
                },
            ),
            SentMessage,
        )

    def cancel(self, session_id: str, *, turn_id: str | None = None) -> None:
        """Cancel the running turn. The next queued message then starts.

        Name the turn if the session has a queue: otherwise, if the turn ends just before your request
        arrives, you cancel the next one.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `turn_id`: Cancel only this turn, or withdraw it if it is queued; without effect if it is over.

        Raises `InvalidRequest`, `SessionNotFound`, `Unavailable`.
        """
        self._client.send(
            call("POST", f"/v1/sessions/{segment(session_id)}/cancel", query={"turnId": turn_id})
        )

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

    def mcp(self, session_id: str) -> McpServerList:
        """List a session's MCP servers, with the state and the tools that its agent reports.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/mcp"), McpServerList)

    def skills(self, session_id: str) -> SkillList:
        """List a session's skills, with their sources and commits.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/skills"), SkillList)

    def queue(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Queue:
        """List queued messages, oldest first.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `limit`: Maximum number of messages to return.
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
        - `limit`: Maximum number of events to return; a page is also limited in bytes.
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
        resume: Literal["carried"] | None = None,
        client_id: str | None = None,
    ) -> Turn:
        """Send a message and stream the events of its turn until it ends.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
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
        return self._client.session(session_id).prompt(
            message, attachments=attachments, fresh=fresh, idempotency_key=idempotency_key
        )


class Permissions(Guard):
    """List and answer pending permissions."""

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

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `NotFound`, `Conflict`,
        `Unavailable`.
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
    """List and answer pending questions."""

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


class Policy(Guard):
    """Show rules for what agents may do, and try them out."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def show(self, session_id: str) -> PolicyList:
        """Show the rules of a session: the operator's, then its own.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/policy"), PolicyList)

    def test(
        self,
        agent: str,
        input: Any,
        *,
        tool: str | None = None,
        kind: Literal["command", "edit", "read", "search", "fetch", "mcp", "task", "other"] | None = None,
        directory: str | None = None,
        permission_mode: PermissionMode = "default",
        policy: Sequence[PolicyRule] = (),
    ) -> PolicyVerdict:
        """Show what would happen to an agent's request, and which rule decides. Nothing is run.

        Rules do not stop an agent that does not ask: docs/permissions.mdx says what each agent asks for.

        - `agent`: Agent that would make the request, e.g. `claude`.
        - `input`: Input of the tool as JSON, or just its command, file or URL as text.
        - `tool`: The agent's name for the tool, e.g. `Bash`.
        - `kind`: What the tool does, if `tool` is not given.
        - `directory`: Directory of the session (default: the daemon's).
        - `permission_mode`: When the agent asks: with `default`, before it writes or runs anything; with
          `acceptEdits`, not for plain edits inside the directory; with `bypass`, never. `plan` is read-
          only.
        - `policy`: Rules of the session, after the operator's.

        Raises `InvalidRequest`, `UnsupportedAgent`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/policy/test",
                body={
                    "agent": agent,
                    "input": input,
                    "tool": tool,
                    "kind": kind,
                    "directory": directory,
                    "permissionMode": permission_mode,
                    "policy": policy,
                },
            ),
            PolicyVerdict,
        )


class ToolCalls(Guard):
    """List and answer calls to a client's tools."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self, session_id: str) -> ToolCallList:
        """List pending calls to the client's tools.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/tool-calls"), ToolCallList)

    def reply(
        self,
        session_id: str,
        call_id: str,
        *,
        output: str | None = None,
        error: str | None = None,
        images: Sequence[ToolImage] = (),
    ) -> None:
        """Answer a call with the tool's output or its error. A second answer gets 409.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `call_id`: Id of the call.
        - `output`: What the tool returned.
        - `error`: Why it failed, instead of `output`.
        - `images`: Images to return with the output.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/tool-calls/{segment(call_id)}/reply",
                body={"output": output, "error": error, "images": images},
                settled=409,
            )
        )


class Attachments(Guard):
    """Upload and read files for messages."""

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
    """Follow the events of all sessions."""

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


class Changes(Guard):
    """Show and revert what a session has changed in its directory."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self, session_id: str) -> ChangeList:
        """List the files that changed in the session's directory since the session began.

        In a git repository, the directory is compared with a snapshot from the beginning, including
        uncommitted changes. Elsewhere, the list has the changes that the agent reported. Files ignored by
        .gitignore are skipped. Binary files and files over 4 MiB are listed with their size only.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `SessionNotFound`, `InvalidRequest`, `PermissionDenied`, `Unavailable`.
        """
        return self._client.ask(call("GET", f"/v1/sessions/{segment(session_id)}/changes"), ChangeList)

    def revert(
        self,
        session_id: str,
        *,
        paths: Sequence[str] | None = None,
        all: bool = False,
        etags: Mapping[str, str] | None = None,
    ) -> Reverted:
        """Restore files to their state at the beginning of the session. `undo` reverses it.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -
        - `paths`: Files to revert, as listed by `changes`; or use `all`.
        - `all`: Revert every changed file.
        - `etags`: Tags from `changes`, by path. If a file has another tag by now, the request is refused.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/sessions/{segment(session_id)}/changes/revert",
                body={"paths": paths, "all": all, "etags": etags},
            ),
            Reverted,
        )

    def undo(self, session_id: str) -> Reverted:
        """Undo the last revert.

        - `session_id`: The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return self._client.ask(
            call("POST", f"/v1/sessions/{segment(session_id)}/changes/undo", body={}), Reverted
        )


class Config(Guard):
    """MCP servers and skills for all sessions of a directory."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def get_mcp(self, directory: str, mcp_name: str, *, node: str | None = None) -> McpServer:
        """Show an MCP server of a directory.

        - `directory`: Absolute path of the directory.
        - `mcp_name`: Name of the MCP server.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call("GET", "/v1/config/mcp", query={"directory": directory, "mcpName": mcp_name, "node": node}),
            McpServer,
        )

    def set_mcp(
        self,
        directory: str,
        mcp_name: str,
        *,
        type: Literal["local", "stdio", "remote", "http"] | None = None,
        command: str | None = None,
        args: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        url: str | None = None,
        transport: Literal["http", "sse"] | None = None,
        headers: Mapping[str, str] | None = None,
        env_headers: Mapping[str, str] | None = None,
        bearer_token_env_var: str | None = None,
        enabled: bool | None = None,
        timeout_ms: int | None = None,
        oauth: Mapping[str, str] | None = None,
        node: str | None = None,
    ) -> None:
        """Add an MCP server to a directory, or replace it.

        Sessions that are created in the directory from then on get it, unless they have a server of that
        name.

        - `directory`: Absolute path of the directory.
        - `mcp_name`: Name of the MCP server.
        - `type`: `local` with `command`, or `remote` with `url`.
        - `command`: Program of a local server.
        - `args`: Arguments of the program.
        - `env`: Environment variables of the program.
        - `cwd`: Working directory of the program, relative to the session's.
        - `url`: URL of a remote server.
        - `transport`: How to talk to the URL (default: `http`).
        - `headers`: Headers for the URL.
        - `env_headers`: Headers whose values are in variables.
        - `bearer_token_env_var`: Variable with the token for the header `Authorization`.
        - `enabled`: `false` leaves the server out.
        - `timeout_ms`: How long a tool call may take, if the agent lets clients choose it.
        - `oauth`: Not supported: send a token in a header.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `Conflict`, `PayloadTooLarge`, `Unavailable`.
        """
        self._client.send(
            call(
                "PUT",
                "/v1/config/mcp",
                query={"directory": directory, "mcpName": mcp_name, "node": node},
                body={
                    "type": type,
                    "command": command,
                    "args": args,
                    "env": env,
                    "cwd": cwd,
                    "url": url,
                    "transport": transport,
                    "headers": headers,
                    "envHeaders": env_headers,
                    "bearerTokenEnvVar": bearer_token_env_var,
                    "enabled": enabled,
                    "timeoutMs": timeout_ms,
                    "oauth": oauth,
                },
            )
        )

    def delete_mcp(self, directory: str, mcp_name: str, *, node: str | None = None) -> None:
        """Remove an MCP server from a directory. Sessions that have it keep it.

        - `directory`: Absolute path of the directory.
        - `mcp_name`: Name of the MCP server.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `Unavailable`, `Conflict`.
        """
        self._client.send(
            call(
                "DELETE",
                "/v1/config/mcp",
                query={"directory": directory, "mcpName": mcp_name, "node": node},
                settled=404,
            )
        )

    def get_skills(self, directory: str, skill_name: str, *, node: str | None = None) -> SkillsConfig:
        """Show one entry of a directory's skills.

        - `directory`: Absolute path of the directory.
        - `skill_name`: Name of the entry.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "GET",
                "/v1/config/skills",
                query={"directory": directory, "skillName": skill_name, "node": node},
            ),
            SkillsConfig,
        )

    def set_skills(
        self, directory: str, skill_name: str, sources: Sequence[SkillSource], *, node: str | None = None
    ) -> None:
        """Add skills to a directory, or replace them.

        Sessions that are created in the directory from then on get them. Their sources are read at that
        time.

        - `directory`: Absolute path of the directory.
        - `skill_name`: Name of the entry.
        - `sources`: Where the skills come from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `Conflict`, `PayloadTooLarge`, `Unavailable`.
        """
        self._client.send(
            call(
                "PUT",
                "/v1/config/skills",
                query={"directory": directory, "skillName": skill_name, "node": node},
                body={"sources": sources},
            )
        )

    def delete_skills(self, directory: str, skill_name: str, *, node: str | None = None) -> None:
        """Remove skills from a directory. Sessions that have them keep them.

        - `directory`: Absolute path of the directory.
        - `skill_name`: Name of the entry.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `Unavailable`, `Conflict`.
        """
        self._client.send(
            call(
                "DELETE",
                "/v1/config/skills",
                query={"directory": directory, "skillName": skill_name, "node": node},
                settled=404,
            )
        )


class Fs(Guard):
    """List, read, write, search and watch files on the daemon's machine."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def entries(
        self,
        *,
        path: str | None = None,
        session_id: str | None = None,
        limit: int = 1000,
        cursor: str | None = None,
        node: str | None = None,
    ) -> EntryPage:
        """List a directory, sorted by name: all entries as a list, or pages with `limit`.

        - `path`: Directory (default: the one that relative paths start from).
        - `session_id`: Session whose directory relative paths start from.
        - `limit`: Entries per page. Without it, the response is a list of all entries.
        - `cursor`: `nextCursor` of the previous page.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call(
                "GET",
                "/v1/fs/entries",
                query={"path": path, "sessionId": session_id, "limit": limit, "cursor": cursor, "node": node},
            ),
            EntryPage,
        )

    def stat(self, path: str, *, session_id: str | None = None, node: str | None = None) -> FileStat:
        """Show the type, size and times of a path.

        - `path`: Absolute path, or relative to the session's directory (without a session: to the daemon
          user's home).
        - `session_id`: Session whose directory relative paths start from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call("GET", "/v1/fs/stat", query={"path": path, "sessionId": session_id, "node": node}), FileStat
        )

    def read(
        self, path: str, *, session_id: str | None = None, range: str | None = None, node: str | None = None
    ) -> Download:
        """Read a file or a range of it.

        - `path`: Absolute path, or relative to the session's directory (without a session: to the daemon
          user's home).
        - `session_id`: Session whose directory relative paths start from.
        - `range`: Part of the file, e.g. `bytes=0-99`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`,
        `RangeNotSatisfiable`, `Conflict`.
        """
        return Download(
            self._client.transport,
            call(
                "GET",
                "/v1/fs/file",
                query={"path": path, "sessionId": session_id, "node": node},
                headers={"Range": range},
            ),
        )

    def download(
        self,
        *,
        path: str | None = None,
        session_id: str | None = None,
        format: Literal["tar", "zip"] = "tar",
        node: str | None = None,
    ) -> Download:
        """Download a directory as an archive, packed while it is sent.

        Links are packed as links. Sockets, pipes, devices, files that the daemon cannot read and the
        daemon's own files are left out.

        - `path`: Directory (default: the one that relative paths start from).
        - `session_id`: Session whose directory relative paths start from.
        - `format`: Format of the archive.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return Download(
            self._client.transport,
            call(
                "GET",
                "/v1/fs/download",
                query={"path": path, "sessionId": session_id, "format": format, "node": node},
            ),
        )

    def search(
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
        node: str | None = None,
    ) -> SearchResult:
        """Search names and contents below a directory. `truncated` means that there may be more matches.

        Binary files, and files beyond their first 64 MiB, are not searched.

        - `path`: Directory (default: the one that relative paths start from).
        - `session_id`: Session whose directory relative paths start from.
        - `glob`: Names to match, as in .gitignore: `*.py` at any depth, `src/**/test_*`.
        - `text`: Text to find; every line that contains it is a match.
        - `regex`: Python regular expression to find, instead of `text`.
        - `ignore_case`: Ignore case.
        - `ignored`: Include files ignored by .gitignore.
        - `limit`: Maximum number of matches to return.
        - `timeout_ms`: Time limit in milliseconds.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
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
                    "node": node,
                },
            ),
            SearchResult,
        )

    def watch(
        self, *, path: str | None = None, session_id: str | None = None, node: str | None = None
    ) -> Iterator[FileChange | None]:
        """Stream changes below a directory, starting now.

        Each frame is a change: `path`, `change` (`created`, `modified`, `deleted`) and `entryType`. A frame
        named `lost` means that changes are missing, because there were too many at once or there are too
        many directories: read the directory again.

        - `path`: Directory (default: the one that relative paths start from).
        - `session_id`: Session whose directory relative paths start from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return file_changes(self._client.transport, path, session_id)

    def write(
        self,
        path: str,
        content: Content,
        *,
        session_id: str | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        node: str | None = None,
    ) -> FileWritten:
        """Write a file atomically. Creates missing directories, follows links and keeps the mode.

        - `path`: Absolute path, or relative to the session's directory (without a session: to the daemon
          user's home).
        - `content`: Content of the file; on the command line, the path of a local file.
        - `session_id`: Session whose directory relative paths start from.
        - `if_match`: Write only if the file still has this tag; `*` writes only if the file exists.
        - `if_none_match`: `*` writes only if there is no such file; a tag, only if the file no longer has
          it.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `PreconditionFailed`,
        `PayloadTooLarge`, `Conflict`.
        """
        return self._client.ask(
            call(
                "PUT",
                "/v1/fs/file",
                query={"path": path, "sessionId": session_id, "node": node},
                content=pieces_of(content),
                headers={
                    "If-Match": if_match,
                    "If-None-Match": if_none_match,
                    "Content-Type": "application/octet-stream",
                },
            ),
            FileWritten,
        )

    def delete(
        self, path: str, *, session_id: str | None = None, recursive: bool = False, node: str | None = None
    ) -> FileAction:
        """Delete a file, a link (not its target) or a directory.

        - `path`: Absolute path, or relative to the session's directory (without a session: to the daemon
          user's home).
        - `session_id`: Session whose directory relative paths start from.
        - `recursive`: Also delete a directory that is not empty.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call(
                "DELETE",
                "/v1/fs/entry",
                query={"path": path, "sessionId": session_id, "recursive": recursive, "node": node},
                settled=404,
            ),
            FileAction,
        )

    def mkdir(self, path: str, *, session_id: str | None = None, node: str | None = None) -> FileAction:
        """Create a directory and its parents. It may already exist.

        - `path`: Absolute path, or relative to the session's directory (without a session: to the daemon
          user's home).
        - `session_id`: Session whose directory relative paths start from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call("POST", "/v1/fs/mkdir", query={"path": path, "sessionId": session_id, "node": node}),
            FileAction,
        )

    def move(
        self,
        source: str,
        target: str,
        *,
        overwrite: bool | None = None,
        session_id: str | None = None,
        node: str | None = None,
    ) -> FileMoved:
        """Move a file, a link (not its target) or a directory within a file system.

        - `source`: Path to move.
        - `target`: New path. Missing directories are created.
        - `overwrite`: Replace an existing target.
        - `session_id`: Session whose directory relative paths start from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/fs/move",
                query={"node": node},
                body={"from": source, "to": target, "overwrite": overwrite, "sessionId": session_id},
            ),
            FileMoved,
        )

    def upload_batch(
        self,
        content: Content,
        *,
        path: str | None = None,
        session_id: str | None = None,
        node: str | None = None,
    ) -> Unpacked:
        """Upload a tar archive and unpack it into a directory.

        An archive with anything outside the directory is refused before anything is written: `..`, absolute
        names, links that point outside, names that pass through a link, devices.

        - `content`: A tar archive; on the command line, the path of a local file.
        - `path`: Directory to unpack into; created if it does not exist.
        - `session_id`: Session whose directory relative paths start from.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Unavailable`, `PayloadTooLarge`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/fs/upload-batch",
                query={"path": path, "sessionId": session_id, "node": node},
                content=pieces_of(content),
                headers={"Content-Type": "application/x-tar"},
            ),
            Unpacked,
        )


class Processes(Guard):
    """Run processes and terminals on the daemon's machine."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(
        self, *, owner: Literal["user", "desktop", "system"] | None = None, node: str | None = None
    ) -> ProcessList:
        """List running and ended processes.

        - `owner`: Only processes of this owner.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `InvalidRequest`, `Conflict`.
        """
        return self._client.ask(
            call("GET", "/v1/processes", query={"owner": owner, "node": node}), ProcessList
        )

    def create(
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
        node: str | None = None,
    ) -> ProcessInfo:
        """Start a process that runs until it exits, is stopped, or the daemon stops.

        When its program exits, everything it started ends too.

        - `command`: Program to run: a path, or a name to find on PATH.
        - `args`: Arguments of the program.
        - `cwd`: Working directory (default: the daemon's).
        - `env`: Environment variables in addition to the daemon's.
        - `tty`: Run it in a terminal.
        - `cols`: Columns of the terminal.
        - `rows`: Rows of the terminal.
        - `interactive`: Mark the process as interactive; it accepts input either way.
        - `hold`: Keep all unread output: when the log is full, the process waits until a reader follows it.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/processes",
                query={"node": node},
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

    def run(
        self,
        command: str,
        *,
        args: Sequence[str] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_ms: int | None = None,
        max_output_bytes: int | None = None,
        node: str | None = None,
    ) -> ProcessRun:
        """Run a program to completion and return its output.

        Its input is empty. At the time limit it is killed, with everything it started.

        - `command`: Program to run: a path, or a name to find on PATH.
        - `args`: Arguments of the program.
        - `cwd`: Working directory (default: the daemon's).
        - `env`: Environment variables in addition to the daemon's.
        - `timeout_ms`: Time limit in milliseconds; `config` has the default and the maximum.
        - `max_output_bytes`: Bytes of each stream to keep; `config` has the maximum.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/processes/run",
                query={"node": node},
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

    def config(self, *, node: str | None = None) -> ProcessConfig:
        """Show the limits of processes.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/processes/config", query={"node": node}), ProcessConfig)

    def configure(
        self,
        max_concurrent_processes: int,
        default_run_timeout_ms: int,
        max_run_timeout_ms: int,
        max_output_bytes: int,
        max_log_bytes_per_process: int,
        max_input_bytes_per_request: int,
        *,
        node: str | None = None,
    ) -> ProcessConfig:
        """Replace the limits of processes. They apply to processes started from now on.

        - `max_concurrent_processes`: The maximum number of running processes; `run` does not count.
        - `default_run_timeout_ms`: How long `run` waits by default.
        - `max_run_timeout_ms`: The longest timeout that `run` accepts.
        - `max_output_bytes`: Bytes of each stream that `run` keeps.
        - `max_log_bytes_per_process`: Bytes of output kept for each process; the oldest are dropped.
        - `max_input_bytes_per_request`: Bytes that one request may write to a process.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/processes/config",
                query={"node": node},
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

    def get(self, process_id: str, *, node: str | None = None) -> ProcessInfo:
        """Show a process.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call("GET", f"/v1/processes/{segment(process_id)}", query={"node": node}), ProcessInfo
        )

    def delete(self, process_id: str, *, node: str | None = None) -> None:
        """Delete an ended process and its output.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call("DELETE", f"/v1/processes/{segment(process_id)}", query={"node": node}, settled=404)
        )

    def stop(self, process_id: str, *, wait_ms: int | None = None, node: str | None = None) -> ProcessInfo:
        """Send SIGTERM to a process and wait for its exit. A process that ignores it keeps running.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `wait_ms`: How long to wait for the exit, in milliseconds (default 2000).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST", f"/v1/processes/{segment(process_id)}/stop", query={"waitMs": wait_ms, "node": node}
            ),
            ProcessInfo,
        )

    def kill(self, process_id: str, *, wait_ms: int | None = None, node: str | None = None) -> ProcessInfo:
        """Kill a process and everything it started (SIGKILL).

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `wait_ms`: How long to wait for the exit, in milliseconds (default 2000).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST", f"/v1/processes/{segment(process_id)}/kill", query={"waitMs": wait_ms, "node": node}
            ),
            ProcessInfo,
        )

    def logs(
        self,
        process_id: str,
        *,
        stream: LogStream | None = None,
        since: int = 0,
        tail: int | None = None,
        node: str | None = None,
    ) -> ProcessLogs:
        """Read the output of a process, or follow it.

        A stream has frames named `log`, with the sequence of the entry as id, and ends with one named
        `end`. A reader that already has all output of an ended process gets 204.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `stream`: Output to read (default: both streams, or the terminal's).
        - `since`: Sequence of the last entry you have seen.
        - `tail`: Only this many entries from the end.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "GET",
                f"/v1/processes/{segment(process_id)}/logs",
                query={"stream": stream, "since": since, "tail": tail, "node": node},
            ),
            ProcessLogs,
        )

    def follow_logs(
        self,
        process_id: str,
        *,
        stream: LogStream | None = None,
        since: int = 0,
        tail: int | None = None,
        node: str | None = None,
    ) -> Iterator[LogEntry]:
        """Read the output of a process, or follow it.

        A stream has frames named `log`, with the sequence of the entry as id, and ends with one named
        `end`. A reader that already has all output of an ended process gets 204.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `stream`: Output to read (default: both streams, or the terminal's).
        - `since`: Sequence of the last entry you have seen.
        - `tail`: Only this many entries from the end.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return log_entries(self._client.transport, process_id, stream, since, tail)

    def input(
        self,
        process_id: str,
        data: str,
        *,
        encoding: str | None = None,
        eof: bool = False,
        node: str | None = None,
    ) -> BytesWritten:
        """Write to the input of a process and wait until it is accepted.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `data`: Data to write.
        - `encoding`: Encoding of `data`: `base64` (default), `utf8` or `text`.
        - `eof`: Close the input afterwards; a terminal gets Ctrl-D.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`, `PayloadTooLarge`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/processes/{segment(process_id)}/input",
                query={"node": node},
                body={"data": data, "encoding": encoding, "eof": eof},
                repeatable=False,
            ),
            BytesWritten,
        )

    def resize(self, process_id: str, cols: int, rows: int, *, node: str | None = None) -> TerminalSize:
        """Resize the terminal of a process.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `cols`: Columns.
        - `rows`: Rows.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/processes/{segment(process_id)}/terminal/resize",
                query={"node": node},
                body={"cols": cols, "rows": rows},
            ),
            TerminalSize,
        )

    def terminal(self, process_id: str, *, node: str | None = None) -> Terminal:
        """Use the terminal of a process over a WebSocket.

        The recent output is sent first. Several clients may watch and type at once.

        - `process_id`: Id of the process, e.g. `proc_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `InvalidRequest`, `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return Terminal(self._client.transport, process_id)


class Nodes(Guard):
    """List the daemons that share the log, and fence one."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def list(self) -> NodeList:
        """List the nodes that share the log. Without a shared log, that is only this daemon.

        Raises `Unavailable`.
        """
        return self._client.ask(call("GET", "/v1/nodes"), NodeList)

    def fence(self, name: str) -> None:
        """Fence a node at once, instead of waiting for its lease: nothing it writes from now on is accepted.

        This is always safe for the log. If the node still runs, its agents keep running until it notices,
        so make sure that it is gone before others continue its sessions.

        - `name`: Name of a node: 1 to 64 of A-Z a-z 0-9 . _ -

        Raises `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(call("POST", f"/v1/nodes/{segment(name)}/fence"))


class Desktop(Guard):
    """A virtual desktop on the daemon's machine: look at it, act on it, record it."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def status(self, *, node: str | None = None) -> DesktopStatus:
        """Show the desktop's state: what is missing, what runs, and why it stopped.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/status", query={"node": node}), DesktopStatus)

    def start(
        self,
        *,
        width: int | None = None,
        height: int | None = None,
        dpi: int | None = None,
        display_num: int | None = None,
        recording_fps: int | None = None,
        state_dir: str | None = None,
        stream_frame_rate: int | None = None,
        stream_video_codec: str | None = None,
        stream_audio_codec: str | None = None,
        webrtc_port_range: str | None = None,
        node: str | None = None,
    ) -> DesktopStatus:
        """Start the desktop. If it is already running, nothing changes.

        - `width`: Width in pixels (default 1280).
        - `height`: Height in pixels (default 800).
        - `dpi`: Dots per inch (default 96).
        - `display_num`: Display number (default: a free one).
        - `recording_fps`: Frames per second of recordings that do not set their own (default 15).
        - `state_dir`: Has no effect: files are in the data directory.
        - `stream_frame_rate`: Has no effect: it is for WebRTC.
        - `stream_video_codec`: Has no effect: it is for WebRTC.
        - `stream_audio_codec`: Has no effect: it is for WebRTC.
        - `webrtc_port_range`: Has no effect: it is for WebRTC.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/start",
                query={"node": node},
                body={
                    "width": width,
                    "height": height,
                    "dpi": dpi,
                    "displayNum": display_num,
                    "recordingFps": recording_fps,
                    "stateDir": state_dir,
                    "streamFrameRate": stream_frame_rate,
                    "streamVideoCodec": stream_video_codec,
                    "streamAudioCodec": stream_audio_codec,
                    "webrtcPortRange": webrtc_port_range,
                },
                repeatable=False,
            ),
            DesktopStatus,
        )

    def stop(self, *, node: str | None = None) -> DesktopStatus:
        """Stop the desktop and every program that was started on it.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Unavailable`, `Conflict`.
        """
        return self._client.ask(call("POST", "/v1/desktop/stop", query={"node": node}), DesktopStatus)

    def info(self, *, node: str | None = None) -> DisplayInfo:
        """Show the display and its size.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/display/info", query={"node": node}), DisplayInfo)

    def screenshot(
        self,
        *,
        format: Literal["png", "jpeg", "webp"] | None = None,
        quality: int | None = None,
        scale: float | None = None,
        show_cursor: bool | None = None,
        node: str | None = None,
    ) -> Answer:
        """Take a screenshot of the whole desktop.

        - `format`: Format of the picture (default: png).
        - `quality`: Quality of jpeg and webp (default 85).
        - `scale`: Size of the picture (default 1).
        - `show_cursor`: Draw the mouse cursor.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.send(
            call(
                "GET",
                "/v1/desktop/screenshot",
                query={
                    "format": format,
                    "quality": quality,
                    "scale": scale,
                    "showCursor": show_cursor,
                    "node": node,
                },
            )
        )

    def region(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        *,
        format: Literal["png", "jpeg", "webp"] | None = None,
        quality: int | None = None,
        scale: float | None = None,
        show_cursor: bool | None = None,
        node: str | None = None,
    ) -> Answer:
        """Take a screenshot of a part of the desktop.

        - `x`: Pixels from the left edge.
        - `y`: Pixels from the top edge.
        - `width`: Width in pixels.
        - `height`: Height in pixels.
        - `format`: Format of the picture (default: png).
        - `quality`: Quality of jpeg and webp (default 85).
        - `scale`: Size of the picture (default 1).
        - `show_cursor`: Draw the mouse cursor.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.send(
            call(
                "GET",
                "/v1/desktop/screenshot/region",
                query={
                    "x": x,
                    "y": y,
                    "width": width,
                    "height": height,
                    "format": format,
                    "quality": quality,
                    "scale": scale,
                    "showCursor": show_cursor,
                    "node": node,
                },
            )
        )

    def mouse(self, *, node: str | None = None) -> MousePosition:
        """Show where the mouse is.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `Conflict`.
        """
        return self._client.ask(
            call("GET", "/v1/desktop/mouse/position", query={"node": node}), MousePosition
        )

    def move(self, x: int, y: int, *, node: str | None = None) -> MousePosition:
        """Move the mouse.

        - `x`: Pixels from the left edge.
        - `y`: Pixels from the top edge.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/move",
                query={"node": node},
                body={"x": x, "y": y},
                repeatable=False,
            ),
            MousePosition,
        )

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Literal["left", "middle", "right"] | None = None,
        click_count: int | None = None,
        node: str | None = None,
    ) -> MousePosition:
        """Move the mouse and click.

        - `x`: Pixels from the left edge.
        - `y`: Pixels from the top edge.
        - `button`: Mouse button (default: left).
        - `click_count`: 2 is a double click (default 1).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/click",
                query={"node": node},
                body={"x": x, "y": y, "button": button, "clickCount": click_count},
                repeatable=False,
            ),
            MousePosition,
        )

    def mouse_down(
        self,
        *,
        x: int | None = None,
        y: int | None = None,
        button: Literal["left", "middle", "right"] | None = None,
        node: str | None = None,
    ) -> MousePosition:
        """Press a mouse button and hold it.

        - `x`: Where to move first.
        - `y`: Where to move first.
        - `button`: Mouse button (default: left).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/down",
                query={"node": node},
                body={"x": x, "y": y, "button": button},
                repeatable=False,
            ),
            MousePosition,
        )

    def mouse_up(
        self,
        *,
        x: int | None = None,
        y: int | None = None,
        button: Literal["left", "middle", "right"] | None = None,
        node: str | None = None,
    ) -> MousePosition:
        """Release a mouse button.

        - `x`: Where to move first.
        - `y`: Where to move first.
        - `button`: Mouse button (default: left).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/up",
                query={"node": node},
                body={"x": x, "y": y, "button": button},
                repeatable=False,
            ),
            MousePosition,
        )

    def drag(
        self,
        start_x: int,
        start_y: int,
        end_x: int,
        end_y: int,
        *,
        button: Literal["left", "middle", "right"] | None = None,
        node: str | None = None,
    ) -> MousePosition:
        """Press a button at one place and release it at another.

        - `start_x`: Pixels from the left edge.
        - `start_y`: Pixels from the top edge.
        - `end_x`: Pixels from the left edge.
        - `end_y`: Pixels from the top edge.
        - `button`: Mouse button (default: left).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/drag",
                query={"node": node},
                body={"startX": start_x, "startY": start_y, "endX": end_x, "endY": end_y, "button": button},
                repeatable=False,
            ),
            MousePosition,
        )

    def scroll(
        self,
        x: int,
        y: int,
        *,
        delta_x: int | None = None,
        delta_y: int | None = None,
        node: str | None = None,
    ) -> MousePosition:
        """Move the mouse and turn its wheel.

        - `x`: Pixels from the left edge.
        - `y`: Pixels from the top edge.
        - `delta_x`: Steps of the wheel.
        - `delta_y`: Steps of the wheel.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/mouse/scroll",
                query={"node": node},
                body={"x": x, "y": y, "deltaX": delta_x, "deltaY": delta_y},
                repeatable=False,
            ),
            MousePosition,
        )

    def type(self, text: str, *, delay_ms: int | None = None, node: str | None = None) -> DesktopDone:
        """Type text into the window that has the focus.

        - `text`: Text in any script; a line feed is Return.
        - `delay_ms`: Milliseconds between two characters (default 5).
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/keyboard/type",
                query={"node": node},
                body={"text": text, "delayMs": delay_ms},
                repeatable=False,
            ),
            DesktopDone,
        )

    def press(
        self, key: str, *, modifiers: KeyModifiers | None = None, node: str | None = None
    ) -> DesktopDone:
        """Press and release a key, or several together.

        - `key`: A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`.
        - `modifiers`: Modifier keys to hold.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/keyboard/press",
                query={"node": node},
                body={"key": key, "modifiers": modifiers},
                repeatable=False,
            ),
            DesktopDone,
        )

    def key_down(self, key: str, *, node: str | None = None) -> DesktopDone:
        """Press a key and hold it.

        - `key`: A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST", "/v1/desktop/keyboard/down", query={"node": node}, body={"key": key}, repeatable=False
            ),
            DesktopDone,
        )

    def key_up(self, key: str, *, node: str | None = None) -> DesktopDone:
        """Release a key.

        - `key`: A key, e.g. `a`, `Return`, `F5`, or several: `ctrl+c`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST", "/v1/desktop/keyboard/up", query={"node": node}, body={"key": key}, repeatable=False
            ),
            DesktopDone,
        )

    def windows(self, *, node: str | None = None) -> WindowList:
        """List the visible windows.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/windows", query={"node": node}), WindowList)

    def focused(self, *, node: str | None = None) -> WindowInfo:
        """Show the window that has the focus.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `WindowNotFound`,
        `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/windows/focused", query={"node": node}), WindowInfo)

    def focus(self, window_id: str, *, node: str | None = None) -> WindowInfo:
        """Raise a window and give it the focus.

        - `window_id`: Id of the window.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `WindowNotFound`,
        `Conflict`.
        """
        return self._client.ask(
            call("POST", f"/v1/desktop/windows/{segment(window_id)}/focus", query={"node": node}), WindowInfo
        )

    def move_window(self, window_id: str, x: int, y: int, *, node: str | None = None) -> WindowInfo:
        """Move a window.

        - `window_id`: Id of the window.
        - `x`: Left edge of its content.
        - `y`: Top edge of its content.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `WindowNotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/desktop/windows/{segment(window_id)}/move",
                query={"node": node},
                body={"x": x, "y": y},
                repeatable=False,
            ),
            WindowInfo,
        )

    def resize_window(
        self, window_id: str, width: int, height: int, *, node: str | None = None
    ) -> WindowInfo:
        """Resize a window.

        - `window_id`: Id of the window.
        - `width`: Width of its content.
        - `height`: Height of its content.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `WindowNotFound`, `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                f"/v1/desktop/windows/{segment(window_id)}/resize",
                query={"node": node},
                body={"width": width, "height": height},
                repeatable=False,
            ),
            WindowInfo,
        )

    def clipboard(
        self, *, selection: Literal["clipboard", "primary"] | None = None, node: str | None = None
    ) -> ClipboardText:
        """Read the clipboard's text.

        - `selection`: `clipboard` (default), or `primary`: the current selection.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `PayloadTooLarge`, `Conflict`.
        """
        return self._client.ask(
            call("GET", "/v1/desktop/clipboard", query={"selection": selection, "node": node}), ClipboardText
        )

    def set_clipboard(
        self, text: str, *, selection: Literal["clipboard", "primary"] | None = None, node: str | None = None
    ) -> DesktopDone:
        """Copy text to the clipboard.

        - `text`: Text to copy.
        - `selection`: `clipboard` (default) or `primary`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/clipboard",
                query={"node": node},
                body={"text": text, "selection": selection},
                repeatable=False,
            ),
            DesktopDone,
        )

    def launch(
        self,
        app: str,
        *,
        args: Sequence[str] | None = None,
        wait: bool | None = None,
        node: str | None = None,
    ) -> LaunchedApp:
        """Start a program on the desktop. It runs as a process with the owner `desktop`, and ends with the desktop.

        - `app`: Program: a path, or a name to find on PATH.
        - `args`: Its arguments.
        - `wait`: Wait for its first window.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`, `Unavailable`, `AppNotFound`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/launch",
                query={"node": node},
                body={"app": app, "args": args, "wait": wait},
                repeatable=False,
            ),
            LaunchedApp,
        )

    def open(self, target: str, *, node: str | None = None) -> OpenedTarget:
        """Open a file or a URL with the machine's default program for it.

        - `target`: Absolute path of a file, or a URL.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call("POST", "/v1/desktop/open", query={"node": node}, body={"target": target}, repeatable=False),
            OpenedTarget,
        )

    def record(self, *, fps: int | None = None, node: str | None = None) -> RecordingInfo:
        """Start recording the desktop. There is at most one recording at a time.

        - `fps`: Frames per second.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `DesktopInvalidAction`, `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`,
        `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call(
                "POST",
                "/v1/desktop/recording/start",
                query={"node": node},
                body={"fps": fps},
                repeatable=False,
            ),
            RecordingInfo,
        )

    def stop_recording(self, *, node: str | None = None) -> RecordingInfo:
        """Finish the recording.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`, `Unavailable`.
        """
        return self._client.ask(
            call("POST", "/v1/desktop/recording/stop", query={"node": node}), RecordingInfo
        )

    def recordings(self, *, node: str | None = None) -> RecordingList:
        """List the recordings, oldest first.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/recordings", query={"node": node}), RecordingList)

    def recording(self, recording_id: str, *, node: str | None = None) -> RecordingInfo:
        """Show a recording.

        - `recording_id`: Id of the recording, e.g. `rec_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return self._client.ask(
            call("GET", f"/v1/desktop/recordings/{segment(recording_id)}", query={"node": node}),
            RecordingInfo,
        )

    def download_recording(self, recording_id: str, *, node: str | None = None) -> Download:
        """Download a finished recording (MP4).

        - `recording_id`: Id of the recording, e.g. `rec_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `NotFound`, `Conflict`.
        """
        return Download(
            self._client.transport,
            call("GET", f"/v1/desktop/recordings/{segment(recording_id)}/download", query={"node": node}),
        )

    def delete_recording(self, recording_id: str, *, node: str | None = None) -> None:
        """Delete a finished recording.

        - `recording_id`: Id of the recording, e.g. `rec_1`.
        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.send(
            call(
                "DELETE", f"/v1/desktop/recordings/{segment(recording_id)}", query={"node": node}, settled=404
            )
        )

    def stream(self, *, node: str | None = None) -> StreamStatus:
        """Show whether the live view is on, and how many viewers it has.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`.
        """
        return self._client.ask(call("GET", "/v1/desktop/stream/status", query={"node": node}), StreamStatus)

    def start_stream(self, *, node: str | None = None) -> StreamStatus:
        """Turn the live view on: viewers connect to the WebSocket `/v1/desktop/stream/rfb`, which speaks RFB (VNC).

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `DesktopRuntimeInactive`, `DesktopRuntimeFailed`, `Conflict`,
        `Unavailable`.
        """
        return self._client.ask(call("POST", "/v1/desktop/stream/start", query={"node": node}), StreamStatus)

    def stop_stream(self, *, node: str | None = None) -> StreamStatus:
        """Turn the live view off. Viewers are disconnected.

        - `node`: Node that the request is meant for; other nodes refuse it (default: any).

        Raises `PermissionDenied`, `Conflict`.
        """
        return self._client.ask(call("POST", "/v1/desktop/stream/stop", query={"node": node}), StreamStatus)


class Usage(Guard):
    """Show what turns have spent."""

    def __init__(self, client: SandboxAgent) -> None:
        self._client = client

    def get(
        self,
        *,
        by: Literal["agent", "model", "session", "day"] = "day",
        since: str | None = None,
        until: str | None = None,
    ) -> UsageReport:
        """Sum up tokens and cost, as the agents reported them.

        Unknown is not zero: `turnsWithoutCost` says how many turns a sum leaves out, and a sum without any
        known value is absent. Turns of deleted sessions are included.

        - `by`: How to group the turns.
        - `since`: Only turns that ended at this time or later: ISO 8601, UTC unless it has an offset.
        - `until`: Only turns that ended before this time.

        Raises `InvalidRequest`, `Unavailable`.
        """
        return self._client.ask(
            call("GET", "/v1/usage", query={"by": by, "from": since, "to": until}), UsageReport
        )


class System(Guard):
    """Health and metrics of the daemon."""

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
    """The groups of operations, as attributes of the client."""

    def __init__(self) -> None:
        client = cast("SandboxAgent", self)
        self.agents = Agents(client)
        self.sessions = Sessions(client)
        self.permissions = Permissions(client)
        self.questions = Questions(client)
        self.policy = Policy(client)
        self.tool_calls = ToolCalls(client)
        self.attachments = Attachments(client)
        self.events = Events(client)
        self.changes = Changes(client)
        self.config = Config(client)
        self.fs = Fs(client)
        self.processes = Processes(client)
        self.nodes = Nodes(client)
        self.desktop = Desktop(client)
        self.usage = Usage(client)
        self.system = System(client)
