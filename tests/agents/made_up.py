"""Generates values that a JSON schema allows: with and without optional members, and with null where it is
allowed.
"""

from __future__ import annotations

import random
from typing import Any

TOO_DEEP = 8
ANYTHING: tuple[Any, ...] = ({}, "x", 1, None, [1], {"a": {"b": 1}})


class MadeUp:
    """One source of values; the same seed gives the same values."""

    def __init__(self, definitions: dict[str, Any], seed: int) -> None:
        self.chance = random.Random(seed)
        self._definitions = definitions

    def value(self, name: str) -> Any:
        return self._of(self._definitions[name], 0)

    def _of(self, schema: dict[str, Any] | bool, depth: int) -> Any:
        if isinstance(schema, bool):
            return self.chance.choice(ANYTHING)
        if "$ref" in schema:
            return self._of(self._definitions[schema["$ref"].rpartition("/")[2]], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._merged([self._alternative(schema[key], depth)], schema, depth)
        if "allOf" in schema:
            return self._merged([self._of(part, depth + 1) for part in schema["allOf"]], schema, depth)
        return self._typed(schema, depth)

    def _alternative(self, alternatives: list[Any], depth: int) -> Any:
        ends = [each for each in alternatives if each.get("type") == "null"] if depth > TOO_DEEP else []
        return self._of(self.chance.choice(ends or alternatives), depth + 1)

    def _merged(self, values: list[Any], schema: dict[str, Any], depth: int) -> Any:
        if not all(isinstance(value, dict) for value in values):
            return values[0]
        merged = self._object(schema, depth)
        for value in values:
            merged |= value
        return merged

    def _typed(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        match self.chance.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                count = 0 if depth > TOO_DEEP else self.chance.randint(0, 2)
                return [self._of(schema.get("items", True), depth + 1) for _ in range(count)]
            case "string":
                return self.chance.choice(("", "x", "two words"))
            case "integer":
                return self.chance.randint(0, 5)
            case "number":
                return self.chance.choice((0, 1.5))
            case "boolean":
                return self.chance.choice((True, False))
            case "null":
                return None
        return self._object(schema, depth) if "properties" in schema else self.chance.choice(ANYTHING)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        return {
            name: self._of(kind, depth + 1)
            for name, kind in schema.get("properties", {}).items()
            if name in needed or (depth < TOO_DEEP and self.chance.random() < 0.6)
        }
