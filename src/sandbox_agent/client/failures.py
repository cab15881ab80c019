"""Errors of the client, in the same tree as the daemon's problems, and how problems become exceptions.

SandboxAgentError
├── SessionNotFound, Conflict, TokenInvalid, …   the daemon's problems, see `sandbox_agent.errors`
├── UnknownProblem                               a problem that only a newer daemon knows
├── TurnError                                    a turn did not complete; has the transcript so far
│   ├── TurnFailed                               it ended with an error, at a limit, or with an unknown outcome
│   ├── TurnTimeout                              it took longer than your `timeout`, and was cancelled
│   └── AnswerNeeded                             the agent asked, and no one answered
└── ClientError
    ├── DaemonUnreachable                        nothing listens there, or the connection was lost
    ├── DaemonNotStarted                         `start()` failed; its log is in the message
    ├── NoAnswerInTime                           a request took longer than the client's `timeout`
    ├── BadAddress                               the given address is not valid
    ├── BadToken                                 the given token is not valid
    ├── NotADaemon                               another program answered at this address
    ├── IncompatibleDaemon                       this version cannot read the daemon's response
    └── ClientClosed                             the client was used after it was closed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from .. import __version__
from ..errors import ERRORS, URN, RateLimited, SandboxAgentError
from ..schema.events import ErrorCode, StopReason

if TYPE_CHECKING:
    from .asking import Request
    from .transcript import Transcript

MEMBERS = {"type", "title", "status", "detail", "instance"}
"""The members that every problem has; all others are facts of the specific problem."""


class UnknownProblem(SandboxAgentError):
    """A problem of a type that this version does not know."""

    def __init__(self, detail: str, problem: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        super().__init__(detail, **facts)
        self._problem = dict(problem)

    def problem(self, instance: str | None = None) -> dict[str, Any]:
        return self._problem


class ClientError(SandboxAgentError):
    """Something went wrong before the daemon could answer."""

    type, status, title = "client_error", 0, "The client failed"


class DaemonUnreachable(ClientError):
    """No connection to the daemon, or one that was lost."""

    type, title = "daemon_unreachable", "Daemon unreachable"

    def __init__(self, detail: str, *, sent: bool) -> None:
        super().__init__(detail)
        self.sent = sent
        """The request may have reached the daemon."""


class DaemonNotStarted(ClientError):
    type, title = "daemon_not_started", "Daemon not started"


class NoAnswerInTime(ClientError):
    type, title = "no_answer_in_time", "No answer in time"


class BadAddress(ClientError):
    type, title = "bad_address", "Not an address"


class BadToken(ClientError):
    type, title = "bad_token", "Not a token"


class NotADaemon(ClientError):
    type, title = "not_a_daemon", "Not a sandbox-agent daemon"


class IncompatibleDaemon(ClientError):
    type, title = "incompatible_daemon", "Incompatible daemon"


class ClientClosed(ClientError):
    type, title = "client_closed", "Client closed"


class TurnError(SandboxAgentError):
    """A turn did not complete."""

    type, status, title = "turn_error", 0, "Turn not completed"

    def __init__(self, detail: str, transcript: Transcript) -> None:
        super().__init__(detail)
        self.transcript = transcript
        """The transcript so far."""


class TurnFailed(TurnError):
    """The turn ended with the stop reason `error`, `limit` or `outcome_unknown`."""

    type, title = "turn_failed", "Turn failed"

    def __init__(
        self, message: str, code: ErrorCode | None, stop_reason: StopReason, transcript: Transcript
    ) -> None:
        super().__init__(f"{message} (stop reason `{stop_reason}`)", transcript)
        self.message = message
        """The agent's message, if any."""
        self.code = code
        """The code of the error event, e.g. `rate_limited`; None without such an event or code."""
        self.stop_reason = stop_reason


class TurnTimeout(TurnError):
    """The turn took longer than `timeout`."""

    type, title = "turn_timeout", "Turn took too long"


class AnswerNeeded(TurnError):
    """The agent asked for something, and no one answered within `answer_timeout`. The turn continues."""

    type, title = "answer_needed", "Answer needed"

    def __init__(self, detail: str, request: Request, transcript: Transcript) -> None:
        super().__init__(detail, transcript)
        self.request = request
        """The pending request."""


class VersionMismatch(UserWarning):
    """Client and daemon have different versions."""


def error_of(problem: Mapping[str, Any]) -> SandboxAgentError:
    """The exception for a problem, with its facts."""
    name = str(problem.get("type", "")).removeprefix(URN)
    detail = str(problem.get("detail") or problem.get("title") or "the daemon refused")
    facts = {key: value for key, value in problem.items() if key not in MEMBERS}
    kind = ERRORS.get(name)
    error = kind(detail, **facts) if kind else UnknownProblem(detail, problem, facts)
    error.instance = problem.get("instance")
    return error


def error_of_answer(status: int, content: bytes, endpoint: str, retry_after: str = "") -> SandboxAgentError:
    """The exception for an error response."""
    try:
        problem = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        problem = {}
    if not str(problem.get("type")).startswith(URN):
        if status in (502, 503, 504):
            detail = f"{endpoint} answered with status {status}: the daemon behind it cannot be reached"
            return DaemonUnreachable(detail, sent=True)
        return NotADaemon(f"{endpoint} answered with status {status}: it is not a sandbox-agent daemon")
    return error_of(problem | ({"retryAfter": int(retry_after)} if retry_after.isdecimal() else {}))


def unreadable(endpoint: str, version: str | None, reason: Exception) -> ClientError:
    """The exception for a successful response that this client cannot read."""
    if version is None:
        return NotADaemon(f"{endpoint} did not answer like a sandbox-agent daemon: {reason}")
    return IncompatibleDaemon(
        f"the daemon at {endpoint} is version {version} and this client is {__version__}, which cannot read "
        f"its answer ({reason}): install the same version on both sides"
    )


def why_unconnected(error: BaseException | None) -> str | None:
    """Why a connection cannot be made even if a daemon is running: the host's name, or TLS. None for other reasons."""
    import socket
    import ssl  # both are loaded with the HTTP client

    while error is not None and not isinstance(error, socket.gaierror | ssl.SSLError):
        error = error.__cause__ or error.__context__
    return str(error) if error is not None else None


def is_refused_for_now(error: SandboxAgentError) -> bool:
    """The daemon did nothing and asks to retry: it is busy, stopping, or its disk is full."""
    return isinstance(error, RateLimited) or error.problem().get("status") == 503
