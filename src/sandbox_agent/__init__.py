"""One API for every coding agent.

This is what programs use: `SandboxAgent` and `AsyncSandboxAgent`, the events and the errors. A name is loaded when it is
first used, so that the import costs nothing and never loads the daemon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import (
        Address,
        Answer,
        AsyncSandboxAgent,
        AsyncSession,
        AsyncTurn,
        Attachment,
        BadAddress,
        ClientClosed,
        ClientError,
        DaemonNotStarted,
        DaemonUnreachable,
        Decision,
        Event,
        McpServer,
        Message,
        NoAnswerInTime,
        NotADaemon,
        PermissionRequested,
        QuestionRequested,
        Retry,
        SandboxAgent,
        Session,
        SessionInfo,
        Tool,
        Transcript,
        Turn,
        Unanswered,
        UnknownProblem,
        Usage,
        VersionMismatch,
    )
    from .errors import SandboxAgentError

__version__ = "0.1.0"

__all__ = [
    "Address",
    "Answer",
    "AsyncSandboxAgent",
    "AsyncSession",
    "AsyncTurn",
    "Attachment",
    "BadAddress",
    "ClientClosed",
    "ClientError",
    "DaemonNotStarted",
    "DaemonUnreachable",
    "Decision",
    "Event",
    "McpServer",
    "Message",
    "NoAnswerInTime",
    "NotADaemon",
    "PermissionRequested",
    "QuestionRequested",
    "Retry",
    "SandboxAgent",
    "SandboxAgentError",
    "Session",
    "SessionInfo",
    "Tool",
    "Transcript",
    "Turn",
    "Unanswered",
    "UnknownProblem",
    "Usage",
    "VersionMismatch",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import client

    globals()[name] = found = getattr(client, name)
    return found


def __dir__() -> list[str]:
    return __all__
