"""JSON Schemas of structs in a form that every host accepts: no `$ref`, and no `null` for a field that may be absent."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


def plain_schema(struct: type[Struct]) -> dict[str, Any]:
    (schema,), definitions = msgspec.json.schema_components([struct], ref_template="{name}")
    plain: dict[str, Any] = _plain(schema, definitions)
    return plain


def _plain(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_plain(inner, definitions) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        beside = {name: inner for name, inner in value.items() if name != "$ref"}
        return _plain({**definitions[value["$ref"]], **beside}, definitions)
    if "properties" in value:
        properties = {name: _plain(inner, definitions) for name, inner in value["properties"].items()}
        kept = {name: value[name] for name in ("type", "required", "additionalProperties") if name in value}
        return {**kept, "properties": properties}
    if "anyOf" in value:
        choices = [choice for choice in value["anyOf"] if choice != {"type": "null"}]
        if len(choices) == 1:
            beside = {name: inner for name, inner in value.items() if name not in ("anyOf", "default")}
            return _plain({**choices[0], **beside}, definitions)
    if "enum" in value:
        # Some hosts want the type of everything.
        value = {"type": "string", **value, "enum": [word for word in value["enum"] if word is not None]}
    return {
        name: _plain(inner, definitions)
        for name, inner in value.items()
        if name != "title" and (name, inner) != ("default", None)
    }
