"""The error tree is the contract's table."""

from __future__ import annotations

import re

import msgspec
import pytest

from sandbox_agent import errors
from sandbox_agent.errors import (
    ERRORS,
    AgentProcessExited,
    RateLimited,
    SandboxAgentError,
    SessionNotFound,
    Unavailable,
)
from sandbox_agent.schema.events import Stderr

TABLE = {
    "invalid_request": 400,
    "unsupported_agent": 400,
    "mode_not_supported": 400,
    "token_invalid": 401,
    "permission_denied": 403,
    "agent_not_installed": 404,
    "session_not_found": 404,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "session_already_exists": 409,
    "precondition_failed": 412,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "range_not_satisfiable": 416,
    "misdirected_host": 421,
    "idempotency_mismatch": 422,
    "rate_limited": 429,
    "internal": 500,
    "install_failed": 500,
    "agent_process_exited": 500,
    "stream_error": 502,
    "unavailable": 503,
    "timeout": 504,
    "desktop_invalid_action": 400,
    "app_not_found": 404,
    "window_not_found": 404,
    "desktop_runtime_inactive": 409,
    "desktop_runtime_failed": 503,
}


def test_every_problem_type_has_its_status() -> None:
    assert {name: error.status for name, error in ERRORS.items()} == TABLE


def test_a_class_is_named_as_its_problem_type() -> None:
    assert {error.__name__: name.title().replace("_", "") for name, error in ERRORS.items()} == {
        error.__name__: error.__name__ for error in ERRORS.values()
    }


def test_every_problem_is_explained() -> None:
    assert [name for name, error in ERRORS.items() if not error.__doc__] == []


def test_the_drawn_tree_is_the_real_one() -> None:
    drawn = re.findall(r"[├└]── (\w+) (\d+)", errors.__doc__ or "")
    assert sorted(drawn) == sorted((error.__name__, str(error.status)) for error in ERRORS.values())


def test_a_problem_carries_its_facts_as_members() -> None:
    stderr = Stderr(False, "boom", total_lines=1)
    error = AgentProcessExited("it exited", agent="mock", exitCode=3, stderr=stderr, sessionId=None)
    assert msgspec.json.decode(msgspec.json.encode(error.problem("/v1/sessions/a"))) == {
        "type": "urn:sandbox-agent:error:agent_process_exited",
        "title": "Agent process exited",
        "status": 500,
        "detail": "it exited",
        "instance": "/v1/sessions/a",
        "agent": "mock",
        "exitCode": 3,
        "stderr": {"truncated": False, "head": "boom", "total_lines": 1},
    }


def test_a_problem_without_an_instance_has_no_such_member() -> None:
    assert SessionNotFound("no session a").problem() == {
        "type": "urn:sandbox-agent:error:session_not_found",
        "title": "Session not found",
        "status": 404,
        "detail": "no session a",
    }


@pytest.mark.parametrize(
    "error, seconds",
    [
        (Unavailable("later", retryAfter=5), 5),
        (Unavailable("later"), 1),
        (RateLimited("slower"), 1),
        (SessionNotFound("never", retryAfter=5), None),
    ],
)
def test_only_429_and_503_say_when_to_try_again(error: SandboxAgentError, seconds: int | None) -> None:
    assert error.retry_after == seconds


def test_an_error_reads_as_its_detail() -> None:
    assert str(SessionNotFound("no session a", sessionId="a")) == "no session a"
