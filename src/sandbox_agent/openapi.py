"""OpenAPI 3.1 of the table of operations, JSON Schema of the events, and an HTML page of both."""

from __future__ import annotations

import functools
import html
from typing import Any

import msgspec

from . import __version__
from .errors import URN, SandboxAgentError
from .ops import OPERATIONS
from .ops.operation import Content, Dialogue, Download, Operation, Stream
from .schema.answers import Progress
from .schema.events import EVENT_TYPES, Event

REF = "#/components/schemas/{name}"
MEDIA = {"json": "application/json", "stream": "text/event-stream", "problem": "application/problem+json"}


@functools.cache
def document() -> dict[str, Any]:
    """The whole OpenAPI document."""
    schemas = _component_schemas()
    paths: dict[str, Any] = {}
    for operation in OPERATIONS.values():
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sandbox-agent",
            "version": __version__,
            "description": "One API for every coding agent.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"header": []}],
        "tags": [{"name": group} for group in dict.fromkeys(name.split(".")[0] for name in OPERATIONS)],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "x-sandbox-token"},
                "query": {"type": "apiKey", "in": "query", "name": "access_token"},
            },
        },
    }


@functools.cache
def event_schema() -> dict[str, Any]:
    """JSON Schema of the events."""
    schemas = _event_schemas("#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sandbox-agent event",
        **schemas.pop("Event"),
        "$defs": schemas,
    }


def _event_schemas(ref: str) -> dict[str, Any]:
    """One envelope per type, and `Event`, the union of them."""
    _, components = msgspec.json.schema_components([Event, *EVENT_TYPES.values()], ref_template=ref)
    envelope = components.pop("Event")
    names = []
    for kind, data in EVENT_TYPES.items():
        name = f"{data.__name__}Envelope"
        names.append(name)
        properties = {
            **envelope["properties"],
            "type": {"const": kind},
            "data": {"$ref": ref.format(name=data.__name__)},
        }
        components[name] = {**envelope, "title": kind, "properties": properties, "required": [*properties]}
    components["Event"] = {"anyOf": [{"$ref": ref.format(name=name)} for name in names]}
    return components


def _component_schemas() -> dict[str, Any]:
    responses = [
        operation.response
        for operation in OPERATIONS.values()
        if operation.response not in (None, Content, Dialogue, Download, Stream)
    ]
    # Two operations may have the same request; its body is one schema.
    bodies = {
        operation.request: _body_struct(operation)
        for operation in OPERATIONS.values()
        if operation.body_fields
    }
    kinds = [*responses, Progress, *bodies.values()]
    _, components = msgspec.json.schema_components(kinds, ref_template=REF)
    components |= _event_schemas(REF)
    components["EventPage"]["properties"]["events"]["items"] = {"$ref": REF.format(name="Event")}
    components["Problem"] = _problem_schema()
    return components


def _body_struct(operation: Operation) -> type[msgspec.Struct]:
    """The request without the fields in the path, the query and the headers."""
    fields = [
        field for field in msgspec.structs.fields(operation.request) if field.name in operation.body_fields
    ]
    declared: list[Any] = []
    for field in fields:
        if field.default_factory is not msgspec.NODEFAULT:
            default: Any = msgspec.field(default_factory=field.default_factory)
        elif field.default is not msgspec.NODEFAULT:
            default = field.default
        else:
            declared.append((field.name, field.type))
            continue
        declared.append((field.name, field.type, default))
    return msgspec.defstruct(
        f"{operation.request.__name__}Body",
        declared,
        rename={field.name: field.encode_name for field in fields},
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _problem_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "title": "Problem",
        "description": "RFC 9457 problem details, with facts as additional members.",
        "properties": {
            "type": {"type": "string", "pattern": f"^{URN}"},
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "instance": text,
        },
        "required": ["type", "title", "status", "detail"],
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.name.split(".")[0]],
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": _responses(operation),
    }
    if operation.description:
        described["description"] = operation.description
    if operation.public:
        described["security"] = []
    elif operation.response in (Stream, Dialogue) or operation.may_stream:
        described["security"] = [{"bearer": []}, {"header": []}, {"query": []}]
    if operation.body_fields:
        name = f"{operation.request.__name__}Body"
        required = bool(schemas[name].get("required"))
        described["requestBody"] = {
            "required": required,
            "content": {MEDIA["json"]: {"schema": {"$ref": REF.format(name=name)}}},
        }
    elif operation.takes_bytes:
        described["requestBody"] = {"required": True, "content": {operation.media_type: {"schema": {}}}}
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = []
    for field in msgspec.structs.fields(operation.request):
        if field.name in operation.path_fields:
            place, name = "path", field.name
        elif field.name in operation.headers:
            place, name = "header", operation.headers[field.name]
        elif field.name in operation.query_fields:
            place, name = "query", field.encode_name
        else:
            continue
        schema = msgspec.json.schema(field.type)
        schema.pop("$defs", None)
        parameter = {"name": name, "in": place, "required": field.required, "schema": schema}
        if description := schema.pop("description", None):
            parameter["description"] = description
        parameters.append(parameter)
    return parameters


def _responses(operation: Operation) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done." if operation.response is None else "The response."}
    if operation.response is Stream:
        good["content"] = {MEDIA["stream"]: {"schema": {"type": "string"}}}
    elif operation.response in (Content, Download):
        good["content"] = {"*/*": {"schema": {}}}
    elif operation.response not in (None, Dialogue):
        (schema,), _ = msgspec.json.schema_components([operation.response], ref_template=REF)
        good["content"] = {MEDIA["json"]: {"schema": schema}}
        if operation.watched or operation.may_stream:
            good["content"][MEDIA["stream"]] = {"schema": {"type": "string"}}
    responses = {str(operation.status): good}
    if operation.response is Download and "range" in operation.headers:
        responses["206"] = {**good, "description": "The range that was asked for."}
        responses["304"] = {"description": "The client has it already."}
    if operation.may_be_empty:
        responses["204"] = {"description": "There are no more events."}
    by_status: dict[int, list[type[SandboxAgentError]]] = {}
    for error in operation.errors:
        by_status.setdefault(error.status, []).append(error)
    for status, errors in sorted(by_status.items()):
        responses[str(status)] = _problem(" or ".join(f"`{error.type}`" for error in errors))
    responses["default"] = _problem("Any other problem, for example with the token, the host or the body.")
    return responses


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": REF.format(name="Problem")}
    return {"description": description, "content": {MEDIA["problem"]: {"schema": schema}}}


# -- the page ---------------------------------------------------------------------------------

STYLE = """\
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; } summary b { display: inline-block; min-width: 4.5rem; }
pre { overflow-x: auto; border-top: 1px solid var(--line); padding-top: .5rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; }
"""


def page() -> str:
    """A self-contained page: every operation with its parameters, bodies and responses."""
    description = document()
    groups: dict[str, list[str]] = {}
    for operation in OPERATIONS.values():
        groups.setdefault(operation.name.split(".")[0], []).append(_operation_html(operation, description))
    body = "".join(f"<h2>{html.escape(group)}</h2>{''.join(rows)}" for group, rows in groups.items())
    types = "".join(
        f"<details><summary><code>{html.escape(name)}</code></summary>{_json_html(schema)}</details>"
        for name, schema in sorted(description["components"]["schemas"].items())
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>sandbox-agent API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs/style.css"></head>'
        f"<body><h1>sandbox-agent {html.escape(__version__)}</h1><p>One API for every coding agent. A readable form of "
        '<a href="/openapi.json">openapi.json</a>.</p>'
        f"{body}<h2>types</h2>{types}</body></html>"
    )


def _operation_html(operation: Operation, description: dict[str, Any]) -> str:
    described = description["paths"][operation.path][operation.method.lower()]
    rows = "".join(
        f"<tr><td><code>{html.escape(parameter['name'])}</code></td><td>{parameter['in']}</td>"
        f"<td>{html.escape(parameter.get('description', ''))}</td></tr>"
        for parameter in described["parameters"]
    )
    body = described.get("requestBody", {}).get("content", {}).get(MEDIA["json"], {}).get("schema")
    if body:
        body = description["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    answers = "".join(
        f"<tr><td><code>{status}</code></td><td>{html.escape(answer['description'])}</td></tr>"
        for status, answer in described["responses"].items()
    )
    return (
        f'<details id="{operation.name}"><summary><b>{operation.method}</b> <code>{html.escape(operation.path)}</code> '
        f"— {html.escape(operation.summary)}</summary><p>{html.escape(operation.description)}</p>"
        f"<table>{rows}</table>{_json_html(body) if body else ''}<table>{answers}</table></details>"
    )


def _json_html(schema: Any) -> str:
    text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
    return f"<pre>{html.escape(text)}</pre>"
