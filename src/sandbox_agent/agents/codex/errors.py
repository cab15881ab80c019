"""Translates codex's failures to ours."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...schema.events import ErrorCode, StopReason
from ..failures import is_too_long
from .frames import TurnError

_CODES: dict[str, ErrorCode] = {
    "contextWindowExceeded": "context_too_long",
    "usageLimitExceeded": "rate_limited",
    "rateLimitExceeded": "rate_limited",
    "flexUnavailable": "overloaded",
    "serverOverloaded": "overloaded",
    "policyCapacityUnavailable": "overloaded",
    "modelNotFound": "model_not_found",
    "cyberPolicy": "refusal",
    "misalignmentPolicyViolation": "refusal",
    "internalServerError": "server_error",
    "unauthorized": "authentication_failed",
    "badRequest": "invalid_request",
    # These carry a status if there was an answer at all.
    "httpConnectionFailed": "connection_failed",
    "responseStreamConnectionFailed": "connection_failed",
    "responseStreamDisconnected": "connection_failed",
    "responseTooManyFailedAttempts": "connection_failed",
}

# Codex has no name for these ("other"); only the message identifies them.
_MESSAGES: tuple[tuple[str, ErrorCode], ...] = (
    ("Missing environment variable", "authentication_failed"),
    ("reason: content_filter", "refusal"),
    ("stream closed before", "connection_failed"),
    ("idle timeout", "connection_failed"),
    ("error sending request", "connection_failed"),
    ("Transport error", "connection_failed"),
    # The stream was fine, and the model API reported its failure in it.
    ("stream disconnected", "server_error"),
    ("invalid_request_error", "invalid_request"),
)


class Failure(Struct, frozen=True):
    message: str
    code: ErrorCode
    stop_reason: StopReason
    details: dict[str, Any]


class _ApiError(Struct, frozen=True):
    message: str


class _ApiBody(Struct, frozen=True):
    error: _ApiError


def failure_of(error: TurnError) -> Failure:
    name, status = _named(error.codex_error_info)
    code = _by_status(status) or _CODES.get(name) or _by_message(error.message)
    if code == "invalid_request" and is_too_long(error.message):
        code = "context_too_long"
    details: dict[str, Any] = {"codexErrorInfo": error.codex_error_info}
    if status is not None:
        details["status"] = status
    if error.additional_details:
        details["additionalDetails"] = error.additional_details
    return Failure(_readable(error.message), code, _stop_reason(name, code, error.message), details)


def _named(info: Any) -> tuple[str, int | None]:
    """Codex names a failure by a string, or by an object with one key that may hold an HTTP status."""
    if isinstance(info, str):
        return info, None
    if isinstance(info, dict) and info:
        name, facts = next(iter(info.items()))
        status = facts.get("httpStatusCode") if isinstance(facts, dict) else None
        return str(name), status if isinstance(status, int) else None
    return "other", None


def _by_status(status: int | None) -> ErrorCode | None:
    match status:
        case None:
            return None
        case 401 | 403:
            return "authentication_failed"
        case 429:
            return "rate_limited"
        case 503 | 529:
            return "overloaded"
        case _ if status >= 500:
            return "server_error"
        case _ if status >= 400:
            return "invalid_request"
    return None


def _by_message(message: str) -> ErrorCode:
    return next((code for part, code in _MESSAGES if part in message), "agent_error")


def _stop_reason(name: str, code: ErrorCode, message: str) -> StopReason:
    if "reason: max_output_tokens" in message:
        return "max_tokens"
    if name == "sessionBudgetExceeded":
        return "limit"
    return "refusal" if code == "refusal" else "error"


def _readable(message: str) -> str:
    """Codex reports a refused request as the raw body of the model API's answer."""
    try:
        return msgspec.json.decode(message, type=_ApiBody).error.message
    except msgspec.DecodeError:
        return message
