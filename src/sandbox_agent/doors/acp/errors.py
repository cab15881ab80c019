"""Problems and failed turns as JSON-RPC errors."""

from __future__ import annotations

from ...agents.jsonrpc import INVALID_PARAMS, RpcError
from ...errors import (
    UNEXPECTED,
    InvalidRequest,
    ModeNotSupported,
    SandboxAgentError,
    SessionNotFound,
    UnsupportedAgent,
)
from ...schema.events import ErrorEvent, StopReason
from .frames import INTERNAL_ERROR, RESOURCE_NOT_FOUND


class RequestFailed(Exception):
    """A request that is answered with an error."""

    def __init__(self, error: RpcError) -> None:
        super().__init__(error.message)
        self.error = error


def error_of(problem: SandboxAgentError) -> RpcError:
    code = INTERNAL_ERROR
    if isinstance(problem, SessionNotFound):
        code = RESOURCE_NOT_FOUND
    elif isinstance(problem, InvalidRequest | UnsupportedAgent | ModeNotSupported):
        code = INVALID_PARAMS
    return RpcError(problem.detail, code, problem.problem())


def error_of_turn(reason: StopReason, error: ErrorEvent | None) -> RpcError:
    """Why a turn failed: the agent's error, or what is known without one."""
    if error is None:
        unknown = "the daemon was stopped while the agent worked: the outcome is unknown"
        return RpcError(unknown if reason == "outcome_unknown" else "the turn failed", INTERNAL_ERROR)
    # `errorKind` is the name that clients of other agents know.
    return RpcError(error.message, INTERNAL_ERROR, {"errorKind": error.code, "details": error.details})


UNEXPECTED_ERROR = RpcError(UNEXPECTED, INTERNAL_ERROR)
