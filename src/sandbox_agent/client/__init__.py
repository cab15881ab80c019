"""The Python SDK: a client that waits and one that is awaited, with the same methods."""

from __future__ import annotations

from ..errors import SandboxAgentError
from ..schema.events import Event, PermissionRequested, QuestionRequested, Usage
from ..schema.inputs import Answer, Attachment, Decision, McpServer
from ..schema.sessions import SessionInfo
from .aio.client import AsyncSandboxAgent
from .aio.session import AsyncSession
from .aio.turn import AsyncTurn
from .asking import OnPermission, OnQuestion
from .blocking.client import SandboxAgent
from .blocking.session import Session
from .blocking.turn import Turn
from .call import Address
from .failures import (
    BadAddress,
    ClientClosed,
    ClientError,
    DaemonNotStarted,
    DaemonUnreachable,
    NoAnswerInTime,
    NotADaemon,
    Unanswered,
    UnknownProblem,
    VersionMismatch,
)
from .retry import Retry
from .transcript import Message, Tool, Transcript

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
    "OnPermission",
    "OnQuestion",
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
]
