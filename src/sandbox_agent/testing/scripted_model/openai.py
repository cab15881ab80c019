"""The error format of both OpenAI APIs."""

from __future__ import annotations

from typing import Any


def error_body(status: int, message: str, code: str) -> dict[str, Any]:
    kind, usual_code = _KINDS.get(status, ("server_error", None))
    return {
        "message": message or kind,
        "type": kind,
        "param": None,
        "code": code or usual_code,
    }


_KINDS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_exceeded", "rate_limit_exceeded"),
    503: ("server_error", "server_is_overloaded"),
    529: ("server_error", "server_is_overloaded"),
}
