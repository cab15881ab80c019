"""What an error of the protocol means."""

from __future__ import annotations

import re
from typing import Any

from ...schema.events import ErrorCode
from ..failures import Failure, read_failure
from .frames import AUTHENTICATION_REQUIRED, RpcError

_CODES: dict[int | None, ErrorCode] = {
    AUTHENTICATION_REQUIRED: "authentication_failed",
    -32600: "invalid_request",
    -32602: "invalid_request",
    -32002: "invalid_request",
}
_KINDS: dict[str, ErrorCode] = {
    "authentication_failed": "authentication_failed",
    "oauth_org_not_allowed": "authentication_failed",
    "rate_limit": "rate_limited",
    "overloaded": "overloaded",
    "invalid_request": "invalid_request",
    "model_not_found": "model_not_found",
    "transport_lost": "connection_failed",
}
"""`data.errorKind` of the agents that tell it."""

_WRAPPING = re.compile(r"^(?:Internal error|Invalid params|API Error): ")


def failure_of(error: RpcError) -> Failure:
    """Our code for an error, and the agent's own in the details."""
    said = _unwrapped(text_of(error))
    read = read_failure(said)
    kind = error.data.get("errorKind") if isinstance(error.data, dict) else None
    code = read.code
    if code in ("agent_error", "invalid_request", "server_error"):
        code = _KINDS.get(kind, code) if isinstance(kind, str) else code
    if code == "agent_error":
        code = _CODES.get(error.code, code)
    details: dict[str, Any] = {**(read.details or {}), "code": error.code}
    if error.data is not None:
        details["data"] = error.data
    return Failure(said, code, details)


def text_of(error: RpcError) -> str:
    """The message, with what the agent adds where the message itself says nothing."""
    more = error.data.get("details") if isinstance(error.data, dict) else error.data
    if isinstance(more, str) and more and more not in error.message:
        return f"{error.message}: {more}" if error.message else more
    return error.message or "the agent reports an error without words"


def _unwrapped(text: str) -> str:
    while found := _WRAPPING.match(text):
        text = text[found.end() :]
    return text
