"""Translates failures. OpenCode's error names are generic: often only the text is specific."""

from __future__ import annotations

import re

from msgspec import structs

from ...schema.events import ErrorCode
from ..failures import Failure, read_failure
from .messages import NativeError

ABORTED = "MessageAbortedError"
OUTPUT_LENGTH = "MessageOutputLengthError"
OVERFLOW = "ContextOverflowError"

_BY_NAME: dict[str, ErrorCode] = {
    "ProviderAuthError": "authentication_failed",
    OVERFLOW: "context_too_long",
    "ContentFilterError": "refusal",
    "BadRequest": "invalid_request",
    "NotFoundError": "invalid_request",
}
_NOT_THERE = re.compile(r"^(agent|command) not found", re.IGNORECASE)
_STACK = re.compile(r"\n\s+at ")


def failure_of(error: NativeError) -> Failure:
    data = error.data
    message = data.message or error.name
    read = read_failure(message if data.statusCode is None else f"{data.statusCode} {message}")
    facts = {"name": error.name, "status": data.statusCode, "response": data.responseBody}
    details = {name: fact for name, fact in facts.items() if fact is not None}
    return structs.replace(read, message=message, code=_code(error) or read.code, details=details)


def is_stack_trace(error: NativeError) -> bool:
    """An asynchronous prompt that fails is reported twice, the second time with the server's stack trace."""
    return error.name == "UnknownError" and _STACK.search(error.data.message) is not None


def _code(error: NativeError) -> ErrorCode | None:
    if _NOT_THERE.match(error.data.message):
        return "invalid_request"
    if error.name == "APIError" and error.data.statusCode is None:
        return "connection_failed"  # No answer, so no status.
    return _BY_NAME.get(error.name)
