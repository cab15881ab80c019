"""The Python SDK: a blocking client and an async one, with the same methods.

Everything that a program needs is listed here, and can be imported from `sandbox_agent` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    Conflict,
    IdempotencyMismatch,
    InstallFailed,
    Internal,
    InvalidRequest,
    MethodNotAllowed,
    MisdirectedHost,
    ModeNotSupported,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    PreconditionFailed,
    RangeNotSatisfiable,
    RateLimited,
    SandboxAgentError,
    SessionAlreadyExists,
    SessionNotFound,
    StreamError,
    Timeout,
    TokenInvalid,
    Unavailable,
    UnsupportedAgent,
    UnsupportedMediaType,
)
from ..schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from ..schema.files import FileChange, FileEntry, FileStat
from ..schema.inputs import Answer, Attachment, Decision, McpServer
from ..schema.items import FileRef, Image, Item, Json, Reasoning, StatusPart, Text, ToolCall, ToolResult
from ..schema.sessions import SessionInfo
from .asking import OnPermission, OnQuestion
from .blocking.client import SandboxAgent
from .blocking.session import Session
from .blocking.transfer import Download
from .blocking.turn import Turn
from .call import Address
from .failures import (
    BadAddress,
    BadToken,
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

if TYPE_CHECKING:
    from .aio.client import AsyncSandboxAgent
    from .aio.session import AsyncSession
    from .aio.transfer import AsyncDownload
    from .aio.turn import AsyncTurn

__all__ = [
    "Address",
    "AgentNotInstalled",
    "AgentProcessExited",
    "AgentUnparsed",
    "Answer",
    "AsyncDownload",
    "AsyncSandboxAgent",
    "AsyncSession",
    "AsyncTurn",
    "Attachment",
    "BadAddress",
    "BadToken",
    "ClientClosed",
    "ClientError",
    "Conflict",
    "DaemonNotStarted",
    "DaemonUnreachable",
    "Decision",
    "Download",
    "ErrorEvent",
    "Event",
    "FileChange",
    "FileEntry",
    "FileRef",
    "FileStat",
    "IdempotencyMismatch",
    "Image",
    "InstallFailed",
    "Internal",
    "InvalidRequest",
    "Item",
    "ItemCompleted",
    "ItemDelta",
    "ItemStarted",
    "Json",
    "McpServer",
    "Message",
    "MethodNotAllowed",
    "MisdirectedHost",
    "ModeNotSupported",
    "NoAnswerInTime",
    "NotADaemon",
    "NotFound",
    "OnPermission",
    "OnQuestion",
    "PayloadTooLarge",
    "PermissionDenied",
    "PermissionRequested",
    "PermissionResolved",
    "PreconditionFailed",
    "QuestionRequested",
    "QuestionResolved",
    "RangeNotSatisfiable",
    "RateLimited",
    "Reasoning",
    "Retry",
    "SandboxAgent",
    "SandboxAgentError",
    "Session",
    "SessionAlreadyExists",
    "SessionEnded",
    "SessionInfo",
    "SessionNotFound",
    "SessionStarted",
    "StatusPart",
    "StreamError",
    "Text",
    "Timeout",
    "TokenInvalid",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Transcript",
    "Turn",
    "TurnEnded",
    "TurnStarted",
    "Unanswered",
    "Unavailable",
    "UnknownProblem",
    "UnsupportedAgent",
    "UnsupportedMediaType",
    "Usage",
    "VersionMismatch",
]


def __getattr__(name: str) -> object:
    """What is awaited is loaded when it is asked for: asyncio takes longer to load than everything else here."""
    if name not in ("AsyncSandboxAgent", "AsyncSession", "AsyncTurn"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .aio import client, session, turn

    globals().update(
        AsyncSandboxAgent=client.AsyncSandboxAgent,
        AsyncSession=session.AsyncSession,
        AsyncTurn=turn.AsyncTurn,
    )
    return globals()[name]
