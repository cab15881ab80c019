"""The reference pages that come from the daemon's tables: operations, problems and settings."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import FieldInfo

from sandbox_agent.config import PREFIX, Config
from sandbox_agent.errors import ERRORS, URN, SandboxAgentError
from sandbox_agent.ops import OPERATIONS, Operation
from sandbox_agent.ops.groups import GROUPS

from .mdx import anchor, folded, page, prose

CONTENT = {"content": "the body", "content_type": "`Content-Type` (header)"}
"""The fields of a request whose body is not JSON."""


def http_api() -> str:
    head = (
        "Each operation is an HTTP route, a [command](/cli) (`sandbox-agent GROUP VERB`), a method of the SDKs and an "
        "entry in [`openapi.json`](/openapi.json). A running daemon serves this list at `/docs` and `/openapi.json`. "
        "Fields are members of the JSON body unless they are marked otherwise, and may be spelled `agentMode` or "
        "`agent_mode`. Problems are explained under [Errors](/errors).\n"
    )
    sections = [head]
    for group, about in GROUPS.items():
        operations = [
            operation for operation in OPERATIONS.values() if operation.name.partition(".")[0] == group
        ]
        sections += [f"## {group}\n", f"{about}\n", *map(_operation, operations)]
    return page("HTTP API", "Every operation: route, fields and problems.", "\n".join(sections))


def _operation(operation: Operation) -> str:
    fields = [
        f"- {_named(operation, field)}: {prose(description(field.type))}".removesuffix(": ")
        for field in msgspec.structs.fields(operation.request)
    ]
    problems = ", ".join(f"[`{error.type}`](/errors#{error.type})" for error in operation.errors)
    return folded(
        operation.name,
        anchor(operation.name),
        f"`{operation.method} {operation.path}`",
        prose(operation.summary),
        prose(operation.description),
        "\n".join(fields),
        f"Problems: {problems}." if problems else "",
    )


def _named(operation: Operation, field: FieldInfo) -> str:
    """A field's name over HTTP, and where to send it."""
    if field.name in operation.path_fields:
        return f"`{field.name}` (path)"
    if field.name in operation.headers:
        return f"`{operation.headers[field.name]}` (header)"
    if operation.takes_bytes and field.name in CONTENT:
        return CONTENT[field.name]
    notes = [
        *(["query"] if field.name in operation.query_fields else []),
        *(["required"] if field.required else []),
    ]
    return f"`{field.encode_name}`" + (f" ({', '.join(notes)})" if notes else "")


def errors() -> str:
    rows = [
        f"## {name}\n\n`{URN}{name}`, HTTP {error.status}: {prose(error.title)}.\n\n{prose(_explained(error))}\n"
        for name, error in ERRORS.items()
    ]
    head = (
        "Every 4xx and 5xx is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, "
        "`instance`, and facts as additional members. 429 and 503 have a `Retry-After` header.\n"
    )
    return page("Errors", "Problem types: their HTTP status, and what to do.", "\n".join([head, *rows]))


def _explained(error: type[SandboxAgentError]) -> str:
    return " ".join((error.__doc__ or "").split())


def settings() -> str:
    head = "Flags of `sandbox-agent server`. A flag takes precedence over its variable.\n"
    return page("Settings", "Every setting of the daemon.", "\n".join([head, *_settings()]))


def _settings() -> Iterator[str]:
    for field in msgspec.structs.fields(Config):
        variable = PREFIX + field.name.upper()
        default = "" if field.default in (None, (), False) else f" Default `{field.default}`."
        yield f"## {flag(field.name)}\n\n`{variable}`. {prose(description(field.type))}{default}\n"


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def description(kind: object) -> str:
    """What an annotation says about a field."""
    texts = [note.description for note in getattr(kind, "__metadata__", ()) if isinstance(note, msgspec.Meta)]
    return next((text for text in texts if text), "")
