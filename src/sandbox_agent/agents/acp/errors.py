"""What a protocol error means."""

from __future__ import annotations

import re
from typing import Any, get_args

from ...schema.events import ErrorCode
from ..failures import Failure, read_failure
from ..jsonrpc import RpcError
from .frames import AUTHENTICATION_REQUIRED, RESOURCE_NOT_FOUND

_CODES: dict[int | None, ErrorCode] = {
    AUTHENTICATION_REQUIRED: "authentication_failed",
    -32600: "invalid_request",
    -32602: "invalid_request",
    RESOURCE_NOT_FOUND: "invalid_request",
}
_KINDS: dict[str, ErrorCode] = {
    **{code: code for code in get_args(ErrorCode)},  # what this daemon sends as an agent
    "authentication_failed": "authentication_failed",
    "oauth_org_not_allowed": "authentication_failed",
    "rate_limit": "rate_limited",
    "overloaded": "overloaded",
    "invalid_request": "invalid_request",
    "model_not_found": "model_not_found",
    "transport_lost": "connection_failed",
}
"""Values of `data.errorKind`, for agents that send it."""

# Some agents do not use the dedicated error code. The text must name the session, because a model or a
# program can be missing, too.
_MISSING = re.compile(
    r"not ?found|no such|not exist|not find|\bno (?:\w+ ){1,3}found|unknown session|invalid session id", re.I
)
_CONVERSATION = re.compile(r"session|conversation|thread|rollout", re.I)
_WRAPPING = re.compile(r"^(?:Internal error|Invalid params|API Error): ")


def failure_of(error: RpcError) -> Failure:
    """Our code for an error, with the agent's own in the details."""
    message = _unwrapped(text_of(error))
    read = read_failure(message)
    kind = error.data.get("errorKind") if isinstance(error.data, dict) else None
    code = read.code
    if code in ("agent_error", "invalid_request", "server_error"):
        code = _KINDS.get(kind, code) if isinstance(kind, str) else code
    if code == "agent_error":
        code = _CODES.get(error.code, code)
    details: dict[str, Any] = {**(read.details or {}), "code": error.code}
    if error.data is not None:
        details["data"] = error.data
    return Failure(message, code, details)


def says_gone(error: RpcError, native_id: str | None) -> bool:
    """Whether the agent says that the conversation to resume does not exist, rather than that it is
    unavailable for now.
    """
    if error.code == RESOURCE_NOT_FOUND:
        return True
    message = text_of(error)
    names_it = _CONVERSATION.search(message) or (native_id and native_id in message)
    return bool(names_it and _MISSING.search(message))


def text_of(error: RpcError) -> str:
    """The message, with the agent's details where the message itself is generic."""
    more = error.data.get("details") if isinstance(error.data, dict) else error.data
    if isinstance(more, str) and more and more not in error.message:
        return f"{error.message}: {more}" if error.message else more
    return error.message or "the agent reports an error without a message"


def _unwrapped(text: str) -> str:
    while match := _WRAPPING.match(text):
        text = text[match.end() :]
    return text
