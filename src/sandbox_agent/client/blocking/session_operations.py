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
)
from ...schema.changes import ChangeList, Reverted
from ...schema.inputs import Attachment, PermissionMode
from ...schema.sessions import SessionInfo
from ..call import Answer
from ..misuse import Guard

if TYPE_CHECKING:
    from .client import SandboxAgent


class SessionPermissions(Guard):
    """Permissions that agents ask for, and the answers, of one session."""

    def __init__(self, client: SandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def list(self) -> PermissionList:
        """Show the permissions that wait for an answer.

        Raises `SessionNotFound`.
        """
        return self._client.permissions.list(self._session_id)

    def reply(
        self,
        permission_id: str,
        reply: Literal["once", "always", "reject", "accept", "accept_for_session", "approved", "denied"],
        *,
        message: str | None = None,
    ) -> None:
        """Answer a permission; the second answer gets a conflict.

        - `permission_id`: The permission that waits.
        - `reply`: `once`, `always` (for this session) or `reject`.
        - `message`: Something to tell the agent with it.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.permissions.reply(self._session_id, permission_id, reply, message=message)


class SessionQuestions(Guard):
    """Questions that agents ask, and the answers, of one session."""

    def __init__(self, client: SandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def list(self) -> QuestionList:
        """Show the questions that wait for an answer.

        Raises `SessionNotFound`.
        """
        return self._client.questions.list(self._session_id)

    def reply(self, question_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question; the second answer gets a conflict.

        - `question_id`: The question that waits.
        - `answers`: Per question the chosen labels; free text is allowed.

        Raises `InvalidRequest`, `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.questions.reply(self._session_id, question_id, answers)

    def reject(self, question_id: str) -> None:
        """Refuse to answer a question.

        - `question_id`: The question that waits.

        Raises `SessionNotFound`, `NotFound`, `Conflict`, `Unavailable`.
        """
        self._client.questions.reject(self._session_id, question_id)


class SessionAttachments(Guard):
    """Files that go with messages, and images that agents make, of one session."""

    def __init__(self, client: SandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def upload(
        self, content: bytes, *, filename: str | None = None, content_type: str | None = None
    ) -> StoredAttachment:
        """Upload a file for use in a message.

        - `content`: The file's bytes; on the command line, its path.
        - `filename`: The file's name.
        - `content_type`: Its media type.

        Raises `InvalidRequest`, `SessionNotFound`, `PayloadTooLarge`, `Unavailable`.
        """
        return self._client.attachments.upload(
            self._session_id, content, filename=filename, content_type=content_type
        )

    def get(self, name: str) -> Answer:
        """Read an attachment back.

        - `name`: The last part of the attachment's path.

        Raises `SessionNotFound`, `NotFound`.
        """
        return self._client.attachments.get(self._session_id, name)


class SessionChanges(Guard):
    """What sessions have changed in their directories, and the way back, of one session."""

    def __init__(self, client: SandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

    def list(self) -> ChangeList:
        """Show what has changed in the session's directory since the session began, file by file.

        In a git repository the directory is compared with a snapshot of its beginning, uncommitted changes
        included. Elsewhere the changes are those that the agent told. What .gitignore leaves out is not
        looked at. Binary files, and those above 4 MiB, are told by their size only.

        Raises `SessionNotFound`, `InvalidRequest`, `PermissionDenied`, `Unavailable`.
        """
        return self._client.changes.list(self._session_id)

    def revert(
        self, *, paths: Sequence[str] | None = None, all: bool = False, etags: Mapping[str, str] | None = None
    ) -> Reverted:
        """Give files back as they were when the session began. `undo` brings back what was overwritten or removed.

        - `paths`: Which files, as `changes` names them; or say `all`.
        - `all`: Every file that has changed.
        - `etags`: By path, the tags that `changes` showed: a file that has another by now is refused.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return self._client.changes.revert(self._session_id, paths=paths, all=all, etags=etags)

    def undo(self) -> Reverted:
        """Take the last revert back.

        Raises `InvalidRequest`, `PermissionDenied`, `SessionNotFound`, `Conflict`, `PreconditionFailed`,
        `Unavailable`.
        """
        return self._client.changes.undo(self._session_id)


class SessionOperations(Guard):
    """What can be done with one session."""

    def __init__(self, client: SandboxAgent, session_id: str) -> None:
        self.client = client
        self.id = session_id
        self.permissions = SessionPermissions(client, session_id)
        self.questions = SessionQuestions(client, session_id)
        self.attachments = SessionAttachments(client, session_id)
        self.changes = SessionChanges(client, session_id)

    def get(self) -> SessionInfo:
        """Show a session.

        Raises `SessionNotFound`.
        """
        return self.client.sessions.get(self.id)

    def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        variant: str | None = None,
        agent_mode: str | None = None,
        permission_mode: PermissionMode | None = None,
    ) -> SessionInfo:
        """Rename a session, or switch its model, variant or modes; at run time where the agent can.

        - `title`: A name to show.
        - `model`: The model behind it.
        - `variant`: A variant of the model, e.g. its reasoning effort.
        - `agent_mode`: What it does: `build` (default), `plan`, or one it reports.
        - `permission_mode`: What it may do: `default` asks before it writes or runs, `acceptEdits` does not
          ask for plain edits inside the directory, `plan` is read-only, `bypass` asks nothing.

        Raises `InvalidRequest`, `UnsupportedAgent`, `ModeNotSupported`, `PermissionDenied`,
        `SessionNotFound`, `Conflict`, `Unavailable`.
        """
        return self.client.sessions.update(
            self.id,
            title=title,
            model=model,
            variant=variant,
            agent_mode=agent_mode,
            permission_mode=permission_mode,
        )

    def delete(self) -> None:
        """Terminate a session and forget it.

        Raises `SessionNotFound`, `Unavailable`.
        """
        self.client.sessions.delete(self.id)

    def send_message(
        self,
        message: str,
        *,
        attachments: Sequence[Attachment] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        command: bool = False,
    ) -> SentMessage:
        """Send a message; answered as soon as it is durable. While a turn runs it waits in the queue.

        - `message`: The prompt; on the command line `-` reads it from stdin.
        - `attachments`: Files that go with it.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn.
        - `command`: The message is a command of the agent, e.g. `/compact`. Else a `/` is text.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self.client.sessions.send_message(
            self.id,
            message,
            attachments=attachments,
            fresh=fresh,
            idempotency_key=idempotency_key,
            command=command,
        )

    def cancel(self) -> None:
        """End the running turn and keep the session; the next queued message then starts.

        Raises `SessionNotFound`, `Unavailable`.
        """
        self.client.sessions.cancel(self.id)

    def terminate(self) -> None:
        """End the session and every process it started.

        Raises `SessionNotFound`, `Unavailable`.
        """
        self.client.sessions.terminate(self.id)

    def suspend(self) -> None:
        """Stop the process of an idle agent; the next message resumes the conversation.

        The daemon does the same after `--idle-seconds`. Nothing happens while a turn runs or a message
        waits, nor to an agent that could not go on with its conversation.

        Raises `SessionNotFound`.
        """
        self.client.sessions.suspend(self.id)

    def queue(self, *, limit: int = 50, cursor: str | None = None) -> Queue:
        """Show the messages that wait, oldest first.

        - `limit`: How many at most.
        - `cursor`: `nextCursor` of the page before.

        Raises `InvalidRequest`, `SessionNotFound`.
        """
        return self.client.sessions.queue(self.id, limit=limit, cursor=cursor)

    def withdraw(self, turn_id: str) -> None:
        """Withdraw a message that waits.

        - `turn_id`: The turn that waits.

        Raises `SessionNotFound`, `NotFound`, `Unavailable`.
        """
        self.client.sessions.withdraw(self.id, turn_id)

    def commands(self) -> Commands:
        """List the slash commands and prompt templates that the agent offers in this session.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `AgentNotInstalled`,
        `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self.client.sessions.commands(self.id)

    def run_command(
        self,
        name: str,
        *,
        arguments: str | None = None,
        fresh: bool = False,
        idempotency_key: str | None = None,
    ) -> SentMessage:
        """Run a command of the agent as a turn. Like a message, it waits in the queue while another turn runs.

        - `name`: The command's name, without its slash and without spaces.
        - `arguments`: What follows the name.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self.client.sessions.run_command(
            self.id, name, arguments=arguments, fresh=fresh, idempotency_key=idempotency_key
        )

    def compact(self, *, idempotency_key: str | None = None) -> SentMessage:
        """Replace the conversation so far by a summary of it, as a turn. Refused where the agent cannot do so on request.

        - `idempotency_key`: The same key gives the same turn.

        Raises `InvalidRequest`, `UnsupportedAgent`, `SessionNotFound`, `Conflict`, `IdempotencyMismatch`,
        `RateLimited`, `Unavailable`, `AgentNotInstalled`, `AgentProcessExited`, `StreamError`, `Timeout`.
        """
        return self.client.sessions.compact(self.id, idempotency_key=idempotency_key)
