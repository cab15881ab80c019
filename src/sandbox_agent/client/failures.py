"""What goes wrong on this side, in the same tree as the daemon's problems, and how those are raised here.

SandboxAgentError
├── SessionNotFound, Conflict, TokenInvalid, …   the daemon's problems, see `sandbox_agent.errors`
├── UnknownProblem                               a problem that only a newer daemon knows
└── ClientError
    ├── DaemonUnreachable                        nobody listens there, or the connection was lost
    ├── DaemonNotStarted                         `start()` failed; its log is in the message
    ├── NoAnswerInTime                           your own `timeout` ran out
    ├── BadAddress                               what was given is no address at all
    ├── BadToken                                 what was given cannot be a token
    ├── NotADaemon                               something else answered at this address
    └── ClientClosed                             the client was used after its end
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import ERRORS, URN, RateLimited, SandboxAgentError

MEMBERS = {"type", "title", "status", "detail", "instance"}
"""What every problem has; everything else is a fact of this one."""


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


class ClientClosed(ClientError):
    type, title = "client_closed", "Client closed"


class VersionMismatch(UserWarning):
    """Client and daemon are of different versions."""


class Unanswered(UserWarning):
    """The agent waits for an answer that nobody gives."""


def error_of(problem: Mapping[str, Any]) -> SandboxAgentError:
    """The exception of a problem, with its facts."""
    name = str(problem.get("type", "")).removeprefix(URN)
    detail = str(problem.get("detail") or problem.get("title") or "the daemon refused")
    facts = {key: value for key, value in problem.items() if key not in MEMBERS}
    kind = ERRORS.get(name)
    error = kind(detail, **facts) if kind else UnknownProblem(detail, problem, facts)
    error.instance = problem.get("instance")
    return error


def error_of_answer(status: int, content: bytes, endpoint: str, retry_after: str = "") -> SandboxAgentError:
    """The exception of an answer that is not a success."""
    try:
        problem = msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.DecodeError:
        problem = {}
    if not str(problem.get("type")).startswith(URN):
        if status in (502, 503, 504):
            told = f"{endpoint} answered with status {status}: the daemon behind it cannot be reached"
            return DaemonUnreachable(told, sent=True)
        return NotADaemon(f"{endpoint} answered with status {status}: that is no sandbox-agent daemon")
    return error_of(problem | ({"retryAfter": int(retry_after)} if retry_after.isdecimal() else {}))


def is_refused_for_now(error: SandboxAgentError) -> bool:
    """The daemon did nothing and asks to come again: it is busy, stopping, or its disk is full."""
    return isinstance(error, RateLimited) or error.problem().get("status") == 503
