"""What went wrong, in the words of the contract. OpenCode's error names say little: often only the text tells."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from ...schema.events import ErrorCode
from .native import NativeError

ABORTED = "MessageAbortedError"
OUTPUT_LENGTH = "MessageOutputLengthError"
OVERFLOW = "ContextOverflowError"
FILTERED = "ContentFilterError"

_BY_NAME: dict[str, ErrorCode] = {
    "ProviderAuthError": "authentication_failed",
    "ProviderModelNotFoundError": "model_not_found",
    OVERFLOW: "context_too_long",
    FILTERED: "refusal",
    "BadRequest": "invalid_request",
    "NotFoundError": "invalid_request",
}
_BY_STATUS: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "authentication_failed",
    402: "authentication_failed",
    403: "authentication_failed",
    404: "invalid_request",
    408: "connection_failed",
    413: "context_too_long",
    422: "invalid_request",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_BY_TEXT: tuple[tuple[re.Pattern[str], ErrorCode], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)  # type: ignore[misc]
    for pattern, code in (
        (r"model not found|model .*(does not exist|not found)|no such model", "model_not_found"),
        (r"agent not found|command not found", "invalid_request"),
        (
            r"context.{0,20}(length|window|limit)|too many tokens|prompt is too long|too large to compact",
            "context_too_long",
        ),
        (r"overloaded", "overloaded"),
        (r"rate.?limit|quota|too many requests", "rate_limited"),
        (r"api.?key|unauthori[sz]ed|authenticat|credential", "authentication_failed"),
        (
            r"unable to connect|econn|enotfound|etimedout|fetch failed|socket|network|connection (error|refused)",
            "connection_failed",
        ),
    )
)
_STACK = re.compile(r"\n\s+at ")


class Failure(Struct, frozen=True):
    message: str
    code: ErrorCode
    details: dict[str, Any]


def failure_of(error: NativeError) -> Failure:
    data = error.data
    details = {"name": error.name, "status": data.statusCode, "response": data.responseBody}
    told = {key: value for key, value in details.items() if value is not None}
    return Failure(data.message or error.name, _code(error), told)


def is_stack_trace(error: NativeError) -> bool:
    """An asynchronous prompt that fails is told twice, the second time with the server's stack trace."""
    return error.name == "UnknownError" and _STACK.search(error.data.message) is not None


def _code(error: NativeError) -> ErrorCode:
    if code := _BY_NAME.get(error.name):
        return code
    by_text = next((code for pattern, code in _BY_TEXT if pattern.search(error.data.message)), None)
    status = error.data.statusCode
    if status is None:
        return by_text or ("connection_failed" if error.name == "APIError" else "agent_error")
    if status in (400, 404) and by_text in ("model_not_found", "context_too_long"):
        return by_text
    return _BY_STATUS.get(status, "server_error" if status >= 500 else "agent_error")
