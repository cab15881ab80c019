"""Classifies a failed model call by the text in which an agent reports it.

Pi and Amp pass on the provider's answer: `429: {json}`, `500 {json}`, or plain text.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from ..schema.events import ErrorCode

_STATUS = re.compile(r"^\s*(?:HTTP )?([45]\d\d)\b[:\s]*")
_CODES: dict[int, ErrorCode] = {
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    413: "context_too_long",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
# The order matters: wordings that are more precise than the status come first.
_WORDS: dict[str, ErrorCode] = {
    r"context (limit|window|length)|(prompt|input|request) is too (long|large)|maximum context|too many tokens": "context_too_long",
    r"model.{0,80}(not found|does not exist|unknown)|unknown model|no such model": "model_not_found",
    r"refus(al|ed to)|content.?filter": "refusal",
}
_WORDS_WITHOUT_STATUS: dict[str, ErrorCode] = {
    r"unauthori[sz]ed|authenticat|api.?key|key is (wrong|invalid|missing)|access token|credential|not logged in": "authentication_failed",
    r"rate.?limit|too many requests|quota": "rate_limited",
    r"overloaded|capacity|unavailable": "overloaded",
    r"terminated|fetch failed|network|socket|connection|ECONN|ENOTFOUND|EAI_AGAIN|timed? ?out": "connection_failed",
    r"internal (server )?error|server error|bad gateway": "server_error",
}


class Failure(Struct, frozen=True):
    """A failed model call: our code for it, and the provider's own code and status."""

    message: str
    code: ErrorCode
    details: dict[str, Any] | None = None


class _Body(Struct):
    """The fields of a provider's error body, at its top level or under `error`."""

    type: str | None = None
    code: str | int | None = None
    status: str | None = None
    error: _Body | None = None


def is_too_long(message: str) -> bool:
    """Whether a provider reports that the input exceeds the model's context."""
    return _code(message, None) == "context_too_long"


def read_failure(message: str) -> Failure:
    """The failure that an agent reports in this text."""
    match = _STATUS.match(message)
    status = int(match[1]) if match else None
    details = _provider_details(message[match.end() :] if match else message)
    if status is not None:
        details["status"] = status
    return Failure(message, _code(message, status), details or None)


def _code(message: str, status: int | None) -> ErrorCode:
    if code := _worded(message, _WORDS):
        return code
    if status is not None:
        return _CODES.get(status, "server_error" if status >= 500 else "invalid_request")
    return _worded(message, _WORDS_WITHOUT_STATUS) or "agent_error"


def _worded(message: str, words: dict[str, ErrorCode]) -> ErrorCode | None:
    return next((code for pattern, code in words.items() if re.search(pattern, message, re.IGNORECASE)), None)


def _provider_details(text: str) -> dict[str, Any]:
    if not text.startswith("{"):
        return {}
    try:
        body = msgspec.json.decode(text, type=_Body)
    except msgspec.DecodeError:
        return {}
    error = body.error or body
    facts = {"code": error.code, "type": error.type, "provider_status": error.status}
    return {name: value for name, value in facts.items() if value is not None}
