"""Calls operations as a request would, with the same checks."""

from __future__ import annotations

from typing import Any

from ..errors import ERRORS, URN, Internal
from ..ops import OPERATIONS
from ..runtime.daemon import Daemon
from ..schema.answers import CreatedSession


async def call(daemon: Daemon, operation_name: str, /, **values: object) -> Any:
    """What the operation answers. Values that are None are left out."""
    operation = OPERATIONS[operation_name]
    given = {field: value for field, value in values.items() if value is not None}
    return await operation.handler(daemon, operation.parse(given, strict=True))


def require_started(created: CreatedSession) -> CreatedSession:
    """Raises why the agent of a new session did not start."""
    if created.healthy:
        return created
    problem = created.error or {}
    kind = ERRORS.get(str(problem.get("type")).removeprefix(URN), Internal)
    raise kind(str(problem.get("detail")), sessionId=created.session_id)
