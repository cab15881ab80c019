"""The schemas of a client's tools: what may be declared, and whether a call's arguments match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..errors import InvalidRequest
from ..schema.tools import Tool

MAX_TOOLS = 128
MAX_SCHEMA_BYTES = 256 << 10
"""For all schemas of a session together."""


class ToolSchemas:
    """Compiled once for each process of an agent. `jsonschema_rs` matches patterns in linear time, so none of them can stall the daemon."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        import jsonschema_rs  # 15 MB that most daemons never need

        self._validators: dict[str, Any] = {}
        for tool in tools:
            try:
                validator = jsonschema_rs.validator_for(
                    tool.input_schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
                )
            except Exception as error:
                raise InvalidRequest(
                    f"the schema of tool `{tool.name}` is not valid: {str(error).splitlines()[0]}",
                    field="tools",
                ) from None
            self._validators[tool.name] = validator

    def problem_with(self, name: str, arguments: object) -> str | None:
        """Why this call cannot be passed on, in words for the model; None if it can."""
        validator = self._validators.get(name)
        if validator is None:
            return f"there is no tool `{name}`"
        if not isinstance(arguments, dict):
            return "the arguments are not an object"
        error = next(validator.iter_errors(arguments), None)
        if error is None:
            return None
        path = "/".join(str(step) for step in error.instance_path)
        return f"the arguments do not match the tool's schema: {f'{path}: ' if path else ''}{error.message[:500]}"


def _refuse(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}, and only references within it are followed")


def check_tools(tools: Sequence[Tool]) -> None:
    """Refuse tools that could not be offered to an agent."""
    if len(tools) > MAX_TOOLS:
        raise InvalidRequest(
            f"there are {len(tools)} tools; a session can have at most {MAX_TOOLS}", field="tools"
        )
    names = [tool.name for tool in tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidRequest(f"two tools are called `{twice}`", field="tools")
    if len(msgspec.json.encode([tool.input_schema for tool in tools])) > MAX_SCHEMA_BYTES:
        raise InvalidRequest(f"the schemas are larger than {MAX_SCHEMA_BYTES >> 10} KiB", field="tools")
    for tool in tools:
        if tool.input_schema.get("type", "object") != "object":
            raise InvalidRequest(f"the arguments of tool `{tool.name}` must be an object", field="tools")
    ToolSchemas(tools)
