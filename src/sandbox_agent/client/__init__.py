"""The Python SDK: a blocking client and an async one, with the same methods.

All public names are listed here, and can be imported from `sandbox_agent`.
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
from ..schema.answers import Progress
from ..schema.events import (
    AgentUnparsed,
    ErrorEvent,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionMetadata,
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
from ..schema.inputs import Answer, Attachment, Decision, McpServer, Reply
from ..schema.items import FileRef, Image, Item, Json, Reasoning, StatusPart, Text, ToolCall, ToolResult
from ..schema.limits import Limits, ReachedLimit, SessionLimits
from ..schema.nodes import NodeInfo, NodeList
from ..schema.policy import PolicyRule
from ..schema.sessions import SessionInfo
from ..schema.skills import SkillsConfig, SkillSource
from ..schema.tools import Tool as ToolSpec
from ..schema.tools import ToolImage, ToolRequest
from ..schema.usage import UsageReport, UsageSum
from .asking import OnPermission, OnQuestion, PermissionAnswer, QuestionAnswer
from .blocking.client import SandboxAgent
from .blocking.session import Session
from .blocking.transfer import Download
from .blocking.turn import Turn
from .call import Address
from .events import Event, UnknownEvent
from .failures import (
    AnswerNeeded,
    BadAddress,
    BadToken,
    ClientClosed,
    ClientError,
    DaemonNotStarted,
    DaemonUnreachable,
    IncompatibleDaemon,
    NoAnswerInTime,
    NotADaemon,
    TurnError,
    TurnFailed,
    TurnTimeout,
    UnknownProblem,
    VersionMismatch,
)
from .function_tool import FunctionTool, ToolSource
from .raw import RawResponse
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
    "AnswerNeeded",
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
    "FunctionTool",
    "IdempotencyMismatch",
    "Image",
    "IncompatibleDaemon",
    "InstallFailed",
    "Internal",
    "InvalidRequest",
    "Item",
    "ItemCompleted",
    "ItemDelta",
    "ItemStarted",
    "Json",
    "Limits",
    "McpServer",
    "Message",
    "MethodNotAllowed",
    "MisdirectedHost",
    "ModeNotSupported",
    "NoAnswerInTime",
    "NodeInfo",
    "NodeList",
    "NotADaemon",
    "NotFound",
    "OnPermission",
    "OnQuestion",
    "PayloadTooLarge",
    "PermissionAnswer",
    "PermissionDenied",
    "PermissionMetadata",
    "PermissionRequested",
    "PermissionResolved",
    "PolicyRule",
    "PreconditionFailed",
    "Progress",
    "QuestionAnswer",
    "QuestionRequested",
    "QuestionResolved",
    "RangeNotSatisfiable",
    "RateLimited",
    "RawResponse",
    "ReachedLimit",
    "Reasoning",
    "Reply",
    "Retry",
    "SandboxAgent",
    "SandboxAgentError",
    "Session",
    "SessionAlreadyExists",
    "SessionEnded",
    "SessionInfo",
    "SessionLimits",
    "SessionNotFound",
    "SessionStarted",
    "SkillSource",
    "SkillsConfig",
    "StatusPart",
    "StreamError",
    "Text",
    "Timeout",
    "TokenInvalid",
    "Tool",
    "ToolCall",
    "ToolImage",
    "ToolRequest",
    "ToolResult",
    "ToolSource",
    "ToolSpec",
    "Transcript",
    "Turn",
    "TurnEnded",
    "TurnError",
    "TurnFailed",
    "TurnStarted",
    "TurnTimeout",
    "Unavailable",
    "UnknownEvent",
    "UnknownProblem",
    "UnsupportedAgent",
    "UnsupportedMediaType",
    "Usage",
    "UsageReport",
    "UsageSum",
    "VersionMismatch",
]


def __getattr__(name: str) -> object:
    """Import the async client on first use: asyncio takes longer to import than everything else here."""
    if name not in ("AsyncDownload", "AsyncSandboxAgent", "AsyncSession", "AsyncTurn"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .aio import client, session, transfer, turn

    globals().update(
        AsyncDownload=transfer.AsyncDownload,
        AsyncSandboxAgent=client.AsyncSandboxAgent,
        AsyncSession=session.AsyncSession,
        AsyncTurn=turn.AsyncTurn,
    )
    return globals()[name]
