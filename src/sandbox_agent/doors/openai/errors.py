"""Problems in the form of OpenAI's errors.

Clients of this API retry after 408, 409, 429 and 5xx. So a turn that ran and failed gets none of those codes, and the header
`x-should-retry` says whether another attempt can succeed.
"""

from __future__ import annotations

import msgspec

from ...errors import SandboxAgentError
from .shapes import ErrorBody

KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
RETRIED = (429, 503, 504)
PARAMS = {
    "agent": "model",
    "variant": "model",
    "permissionMode": "x-permission-mode",
    "directory": "x-directory",
    "sessionId": "x-session-id",
}
"""Fields of our API, with the name that each has in OpenAI's."""


class TurnFailed(SandboxAgentError):
    """The prompt has been run: sending it again would run it once more."""

    type, status, title = "turn_failed", 422, "Turn failed"


def error_body(error: SandboxAgentError) -> ErrorBody:
    field = error.facts.get("field") or ("model" if error.type == "unsupported_agent" else None)
    return ErrorBody(
        error.detail,
        KINDS.get(error.status, "invalid_request_error" if error.status < 500 else "server_error"),
        PARAMS.get(field, field) if isinstance(field, str) else None,
        str(error.facts.get("code") or error.type),
    )


def as_openai_error(error: SandboxAgentError) -> SandboxAgentError:
    """Add the member that OpenAI's clients read from an error."""
    error.facts |= {"error": msgspec.to_builtins(error_body(error))}
    return error


def retry_header(error: SandboxAgentError) -> tuple[bytes, bytes]:
    return b"x-should-retry", b"true" if error.status in RETRIED else b"false"
