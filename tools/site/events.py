"""The reference page of events: the members of every type, from the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sandbox_agent.openapi import event_schema

from .mdx import anchor, folded, page, prose, slug

Schema = dict[str, Any]


def render() -> str:
    schema = event_schema()
    shapes: dict[str, Schema] = schema["$defs"]
    events = [shapes[_name(member)] for member in schema["anyOf"]]
    parts = dict.fromkeys(name for event in events for name in _used(event["properties"]["data"], shapes))
    sections = [
        "Every event has the envelope and one of these types as its `data`. "
        "[Session transcript schema](/session-transcript-schema) explains what they mean and in which order they occur. "
        "[`events.schema.json`](/events.schema.json) is the same list as JSON Schema.\n",
        "## Envelope\n",
        _table(_envelope(events[0]), events[0]),
        "\n## Types\n",
        *(
            folded(
                event["title"],
                anchor(event["title"]),
                *_described(_resolved(event["properties"]["data"], shapes)),
                f"[What it means](/session-transcript-schema#{slug(event['title'])})",
            )
            for event in events
        ),
        "## Parts\n",
        *(
            folded(name, anchor(name), *_described(shapes[name]))
            for name in sorted(parts)
            if "properties" in shapes[name]
        ),
    ]
    return page("Events", "The members of every event.", "\n".join(sections))


def _envelope(event: Schema) -> dict[str, Schema]:
    """What all events have in common."""
    members = {name: member for name, member in event["properties"].items() if name != "data"}
    return {**members, "type": {"type": "string", "description": "One of the types below."}}


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _resolved(schema: Schema, shapes: dict[str, Schema]) -> Schema:
    return shapes[_name(schema)] if "$ref" in schema else schema


def _used(schema: Schema, shapes: dict[str, Schema], below: bool = False) -> Iterator[str]:
    """The shapes that a type consists of, without the data itself."""
    if "$ref" in schema:
        name = _name(schema)
        if below:
            yield name
        yield from _used(shapes[name], shapes, True)
    for member in (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")):
        if isinstance(member, dict):
            yield from _used(member, shapes, True)


def _described(schema: Schema) -> tuple[str, str]:
    text = prose(str(schema.get("description", "")))
    return text, _table(schema["properties"], schema) if schema.get("properties") else "It has no members."


def _table(properties: dict[str, Schema], owner: Schema) -> str:
    required = owner.get("required", ())
    rows = [
        f"| `{name}` | {_kind(member)} | {'always' if name in required else 'if known'} | {prose(_text(member))} |"
        for name, member in properties.items()
    ]
    return "\n".join(["| member | type | present | |", "|---|---|---|---|", *rows])


def _text(schema: Schema) -> str:
    return str(schema.get("description", "")).replace("\n", " ")


def _kind(schema: Schema) -> str:
    if "$ref" in schema:
        name = _name(schema)
        return f"[{name}](#{anchor(name)})"
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(
            f"`{json.dumps(value) if not isinstance(value, str) else value}`" for value in values
        )
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_kind, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}" if schema.get("items") else "list"
    return str(schema.get("type", "any"))
