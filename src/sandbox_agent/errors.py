"""All errors, as one tree. A class is a problem type; its docstring explains it in docs/errors.mdx, and its facts become
members of the problem.

SandboxAgentError
├── InvalidRequest 400          ├── Conflict 409                ├── RateLimited 429
├── UnsupportedAgent 400        ├── SessionAlreadyExists 409    ├── Internal 500
├── ModeNotSupported 400        ├── PreconditionFailed 412      ├── InstallFailed 500
├── TokenInvalid 401            ├── PayloadTooLarge 413         ├── AgentProcessExited 500
├── PermissionDenied 403        ├── UnsupportedMediaType 415    ├── StreamError 502
├── AgentNotInstalled 404       ├── RangeNotSatisfiable 416     ├── Unavailable 503
├── SessionNotFound 404         ├── MisdirectedHost 421         └── Timeout 504
├── NotFound 404                ├── IdempotencyMismatch 422
├── MethodNotAllowed 405        │                               │
├── DesktopInvalidAction 400    ├── WindowNotFound 404          └── DesktopRuntimeFailed 503
└── AppNotFound 404             └── DesktopRuntimeInactive 409

The problems of the desktop have a member `code`, the same as their type: its published client expects that.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

URN = "urn:sandbox-agent:error:"
UNEXPECTED = "internal error; see the daemon's log for details"
"""The detail of an unexpected error: a traceback may contain what a client must not see."""


class SandboxAgentError(Exception):
    """Base of the tree: RFC 9457 problem details with the facts as extra members."""

    type: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    has_code: ClassVar[bool] = False
    """Whether the problem has a member `code`."""

    def __init__(self, detail: str, **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.instance: str | None = None
        """The path of the request, if the error was sent to a client."""
        self.facts = {name: value for name, value in facts.items() if value is not None}

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait before a retry; 429 and 503 always have it."""
        return self.facts.get("retryAfter", 1) if self.status in (429, 503) else None

    def problem(self, instance: str | None = None) -> dict[str, Any]:
        members = {
            "type": URN + self.type,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if instance or self.instance:
            members["instance"] = instance or self.instance
        if self.has_code:
            members["code"] = self.type
        return members | self.facts


class InvalidRequest(SandboxAgentError):
    """A field, a path or a value is wrong; `field` or `path` names it. Retrying does not help."""

    type, status, title = "invalid_request", 400, "Invalid request"


def found_by_validation(text: str) -> tuple[str, str]:
    """Split msgspec's message into reason and field: "Expected `int` - at `$.port`" is ("expected `int`", "port")."""
    reason, _, place = text.rpartition(" - at ")
    if field := re.fullmatch(r"`\$\.(\w+)`", place):
        return reason[:1].lower() + reason[1:], field[1]
    inside = re.search(r"\$\.(\w+)", place) or re.fullmatch(r"Object missing required field `(\w+)`", text)
    return text, inside[1] if inside else ""


class UnsupportedAgent(SandboxAgentError):
    """No agent has this name; the detail suggests one, or lists them all."""

    type, status, title = "unsupported_agent", 400, "Unsupported agent"


class ModeNotSupported(SandboxAgentError):
    """The agent does not have this mode or permission mode. `GET /v1/agents/{agent}/modes` lists its modes."""

    type, status, title = "mode_not_supported", 400, "Mode not supported"


class TokenInvalid(SandboxAgentError):
    """Send the daemon's token as `Authorization: Bearer …`."""

    type, status, title = "token_invalid", 401, "Token missing or invalid"


class PermissionDenied(SandboxAgentError):
    """The daemon's settings do not allow this: a page from another site (`--cors-allow-origin`), a path outside the roots
    (`--fs-root`), or something disabled with `--no-bypass`, `--no-install` or `--no-processes`.
    """

    type, status, title = "permission_denied", 403, "Permission denied"


class AgentNotInstalled(SandboxAgentError):
    """The agent, or the requested version of it, is missing, and the daemon does not install it."""

    type, status, title = "agent_not_installed", 404, "Agent not installed"


class SessionNotFound(SandboxAgentError):
    """No session has this id. It may have been deleted."""

    type, status, title = "session_not_found", 404, "Session not found"


class NotFound(SandboxAgentError):
    """There is nothing at this path, or no permission, question, process or other resource with this id."""

    type, status, title = "not_found", 404, "Not found"


class MethodNotAllowed(SandboxAgentError):
    """The path exists, but not with this method; `allow` lists the methods."""

    type, status, title = "method_not_allowed", 405, "Method not allowed"


class Conflict(SandboxAgentError):
    """The request does not fit the current state: for example, the permission was already answered, the session has ended, a
    limit is reached, the offset is beyond the log, or another `node` runs the session.
    """

    type, status, title = "conflict", 409, "Conflict"


class SessionAlreadyExists(SandboxAgentError):
    """Choose another id, or let the daemon generate one."""

    type, status, title = "session_already_exists", 409, "Session already exists"


class PreconditionFailed(SandboxAgentError):
    """The file has changed since you read it; `etag` is its current tag."""

    type, status, title = "precondition_failed", 412, "Precondition failed"


class PayloadTooLarge(SandboxAgentError):
    """The body exceeds `--max-body-bytes`, or the upload `--max-upload`."""

    type, status, title = "payload_too_large", 413, "Payload too large"


class UnsupportedMediaType(SandboxAgentError):
    """The body needs another `Content-Type`; the detail names it."""

    type, status, title = "unsupported_media_type", 415, "Unsupported media type"


class RangeNotSatisfiable(SandboxAgentError):
    """The range starts beyond the end of the file; `size` is the file's size."""

    type, status, title = "range_not_satisfiable", 416, "Range not satisfiable"


class MisdirectedHost(SandboxAgentError):
    """The daemon does not answer to the host name in the URL. Start it with `--allow-host`."""

    type, status, title = "misdirected_host", 421, "Host not allowed"


class IdempotencyMismatch(SandboxAgentError):
    """This `Idempotency-Key` was used for another request. Use a new key for a new request."""

    type, status, title = "idempotency_mismatch", 422, "Idempotency key reused with another body"


class RateLimited(SandboxAgentError):
    """Wait for `Retry-After`, then try again: too many wrong tokens, installations or open requests."""

    type, status, title = "rate_limited", 429, "Too many requests"


class Internal(SandboxAgentError):
    """A bug in the daemon. Its log has the details."""

    type, status, title = "internal", 500, "Internal error"


class InstallFailed(SandboxAgentError):
    """The detail lists the sources that were tried, and why each failed."""

    type, status, title = "install_failed", 500, "Install failed"


class AgentProcessExited(SandboxAgentError):
    """The agent could not be started, or stopped unexpectedly; the exit code and the end of its stderr are members."""

    type, status, title = "agent_process_exited", 500, "Agent process exited"


class StreamError(SandboxAgentError):
    """The agent's own server, or another node, closed the connection or gave an unexpected answer."""

    type, status, title = "stream_error", 502, "Agent server failed"


class Unavailable(SandboxAgentError):
    """The log cannot be written, the daemon is stopping, or too many clients are connected. Nothing was done, unless the
    problem has `outcome: "unknown"`. Try again after `Retry-After`.
    """

    type, status, title = "unavailable", 503, "Unavailable"


class Timeout(SandboxAgentError):
    """The agent did not start, or did not list its models, within `--start-seconds`."""

    type, status, title = "timeout", 504, "Agent did not answer in time"


class DesktopInvalidAction(SandboxAgentError):
    """A value is wrong for the desktop, for example coordinates outside of it; `field` names it."""

    type, status, title = "desktop_invalid_action", 400, "Invalid desktop action"
    has_code = True


class AppNotFound(SandboxAgentError):
    """There is no such program on the daemon's machine."""

    type, status, title = "app_not_found", 404, "Program not found"
    has_code = True


class WindowNotFound(SandboxAgentError):
    """No window has this id, or none has the focus."""

    type, status, title = "window_not_found", 404, "Window not found"
    has_code = True


class DesktopRuntimeInactive(SandboxAgentError):
    """Start the desktop first."""

    type, status, title = "desktop_runtime_inactive", 409, "Desktop not started"
    has_code = True


class DesktopRuntimeFailed(SandboxAgentError):
    """The desktop did not start, or one of its programs ended; the detail says why."""

    type, status, title = "desktop_runtime_failed", 503, "Desktop failed"
    has_code = True


ERRORS: dict[str, type[SandboxAgentError]] = {
    error.type: error for error in SandboxAgentError.__subclasses__()
}
