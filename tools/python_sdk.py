"""Generates the methods of the Python SDK from the table of operations, and the blocking client from the async one."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, NamedTuple

import msgspec

from sandbox_agent.ops import GROUPS, OPERATIONS, Operation
from sandbox_agent.ops.operation import Content, Dialogue, Download, Incoming, Stream
from sandbox_agent.schema import (
    answers,
    changes,
    desktop,
    files,
    inputs,
    mcp,
    nodes,
    policy,
    processes,
    skills,
    tools,
    usage,
)
from sandbox_agent.schema.answers import CreatedSession, EventPage, Progress

CLIENT = Path(__file__).parents[1] / "src" / "sandbox_agent" / "client"
NOTE = "# Written by `make gen` from the table of operations.\n"

# -- the table of operations ----------------------------------------------------------------------

STREAMS = {
    "sessions.events_sse": (
        "AsyncIterator[Event]",
        "self._client.session(session_id).events(offset=offset, follow=True, include_raw=include_raw)",
    ),
    "sessions.stream_message": (
        "AsyncTurn",
        "self._client.session(session_id).prompt(message, attachments=attachments, fresh=fresh, "
        "idempotency_key=idempotency_key)",
    ),
    "processes.logs": (
        "AsyncIterator[LogEntry]",
        "log_entries(self._client.transport, process_id, stream, since, tail)",
    ),
    "processes.terminal": ("AsyncTerminal", "AsyncTerminal(self._client.transport, process_id)"),
    "fs.watch": (
        "AsyncIterator[FileChange | None]",
        "file_changes(self._client.transport, path, session_id)",
    ),
    "events.sse": ("AsyncIterator[Event | SessionInfo]", "all_events(self._client.transport, offset)"),
}
"""The return type and the expression of methods that follow a stream or open a terminal."""

ONCE = {
    "processes.create",
    "processes.run",
    "processes.input",
    *(op.name for op in OPERATIONS.values() if op.name.startswith("desktop.") and op.body == "json"),
}
"""Operations that must not be retried after a lost response: they may have been carried out."""

LISTED = {"sessions.list": ("AsyncSessionList", "AsyncSessionList(self._client, limit, cursor)")}
"""The return type and the expression of methods that iterate over pages."""

BY_HAND = {
    "sessions.create",
    "sessions.new",
    "sessions.events",
    "sessions.events_sse",
    "sessions.stream_message",
}
"""Operations that a session handle has under other names: `prompt()` and `events()`."""

NOT_PARAMETERS = {"last_event_id", "follow", "if_range"}
"""Fields that are not parameters: set by a stream, replaced by a separate method, or for caches."""

ALWAYS_PAGED = {"fs.entries": ("EntryPage", "limit", "1000")}
"""Fields that are always sent, because without them the response is not a page."""

GENERATED = {"idempotency_key": "idempotency_key or new_key()"}
"""Fields with a generated default."""

SETTLED = {
    "permissions.reply": 409,
    "questions.reply": 409,
    "questions.reject": 409,
    "tool_calls.reply": 409,
}
"""The status of a retry whose first attempt succeeded. Deletes get 404."""

UNHEALTHY = "Raises the problem if the agent is installed but does not start."
"""How a session handle treats `healthy: false`."""

ON_PROGRESS = "Called with each step; may be a coroutine function."

ALIASES = {
    inputs.PermissionMode: "PermissionMode",
    processes.LogStream: "LogStream",
    Incoming: "AsyncContent",
    tools.Tool: "ToolSource",
}


class Parameter(NamedTuple):
    name: str
    type: str
    default: str | None
    text: str
    in_path: bool

    @property
    def declared(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default is not None else "")


def operations() -> str:
    """The source of `aio/operations.py`."""
    classes = "\n\n".join(_resource(group, about) for group, about in GROUPS.items())
    made = "\n".join(f"        self.{group} = {_class(group)}(self)" for group in GROUPS)
    return _formatted(f'''\
"""Every operation as a method, grouped and named as on the command line."""

{NOTE}
from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

{_imports()}
from ..call import Answer, call, new_key, segment
from ..events import Event
from ..misuse import AsyncGuard
from ..pages import PageOfEvents, decoded
from .session_list import AsyncSessionList
from .stream import all_events, file_changes, log_entries
from .terminal import AsyncTerminal
from .transfer import AsyncContent, AsyncDownload, pieces_of

if TYPE_CHECKING:
    from .client import AsyncSandboxAgent
    from .session import AsyncSession
    from .turn import AsyncTurn

{classes}


class AsyncOperations(AsyncGuard):
    """The groups of operations, as attributes of the client."""

    def __init__(self) -> None:
        client = cast("AsyncSandboxAgent", self)
{made.replace("(self)", "(client)")}
''')


def session_operations() -> str:
    """The source of `aio/session_operations.py`."""
    of_session = [
        op for op in OPERATIONS.values() if "session_id" in op.path_fields and op.name not in BY_HAND
    ]
    groups = dict.fromkeys(_group(op) for op in of_session)
    classes = "\n\n".join(_bound_class(group, of_session) for group in groups if group != "sessions")
    methods = "\n".join(_bound_method(op) for op in of_session if _group(op) == "sessions")
    made = "\n".join(
        f"        self.{group} = {_bound_name(group)}(client, session_id)"
        for group in groups
        if group != "sessions"
    )
    return _formatted(f'''\
"""The operations of one session, without its id."""

{NOTE}
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

{_imports()}
from ..call import Answer
from ..misuse import AsyncGuard

if TYPE_CHECKING:
    from .client import AsyncSandboxAgent

{classes}


class AsyncSessionOperations(AsyncGuard):
    """The operations of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self.client = client
        self.id = session_id
{made}

{methods}
''')


def _imports() -> str:
    responses = [Progress, *(op.response for op in OPERATIONS.values() if isinstance(op.response, type))]

    def declared_in(module: ModuleType) -> str:
        return ", ".join(sorted({kind.__name__ for kind in responses if kind.__module__ == module.__name__}))

    return (
        f"from ...schema.answers import {declared_in(answers)}\n"
        f"from ...schema.changes import {declared_in(changes)}\n"
        f"from ...schema.desktop import KeyModifiers, {declared_in(desktop)}\n"
        f"from ...schema.files import EntryPage, FileChange, {declared_in(files)}\n"
        f"from ...schema.processes import LogEntry, LogStream, {declared_in(processes)}\n"
        f"from ...schema.nodes import {declared_in(nodes)}\n"
        f"from ...schema.policy import PolicyRule, {declared_in(policy)}\n"
        "from ...schema.inputs import Attachment, McpServer, PermissionMode\n"
        "from ...schema.limits import Limits\n"
        f"from ...schema.mcp import {declared_in(mcp)}\n"
        "from ...schema.sessions import SessionInfo\n"
        f"from ...schema.skills import SkillSource, {declared_in(skills)}\n"
        f"from ...schema.usage import {declared_in(usage)}\n"
        "from ...schema.tools import ToolImage\n"
        "from ..function_tool import ToolSource\n"
    )


def _resource(group: str, about: str) -> str:
    methods = "\n".join(text for op in OPERATIONS.values() if _group(op) == group for text in _methods(op))
    return f'''
class {_class(group)}(AsyncGuard):
    """{about}"""

    def __init__(self, client: AsyncSandboxAgent) -> None:
        self._client = client

{methods}'''


def _methods(op: Operation) -> Iterator[str]:
    """One method, or two if the response may be a stream."""
    yield _method(op)
    if op.may_stream:
        verb = op.name.split(".")[1]
        yield _method(msgspec.structs.replace(op, response=Stream)).replace(
            f"def {verb}(", f"def follow_{verb}(", 1
        )


def _method(op: Operation) -> str:
    parameters = list(_parameters(op))
    returned, body = _body(op, parameters)
    prefix = "" if op.response in (Stream, Dialogue, Download) or op.name in LISTED else "async "
    verb = op.name.split(".")[1]
    return (
        f"    {prefix}def {verb}({_signature(parameters)}) -> {returned}:\n"
        f"{_docstring(op, parameters)}\n"
        f"        return {body}\n"
        if returned != "None"
        else f"    {prefix}def {verb}({_signature(parameters)}) -> None:\n"
        f"{_docstring(op, parameters)}\n"
        f"        {body}\n"
    )


def _body(op: Operation, parameters: list[Parameter]) -> tuple[str, str]:
    """The return type and the expression of a method."""
    if op.response in (Stream, Dialogue):
        return STREAMS[op.name]
    if op.name in LISTED:
        return LISTED[op.name]
    if op.response is CreatedSession:
        name = "session_id" if any(parameter.in_path for parameter in parameters) else "None"
        return "AsyncSession", f"await self._client.create_session({name}, {_fields(op, op.body_fields)})"
    request = _request(op)
    if op.response is Download:
        return "AsyncDownload", f"AsyncDownload(self._client.transport, {request})"
    if op.name in ALWAYS_PAGED:
        page, _, _ = ALWAYS_PAGED[op.name]
        return page, f"await self._client.ask({request}, {page})"
    if op.response is EventPage:
        return "PageOfEvents", f"decoded(await self._client.ask({request}, EventPage))"
    if op.response is None:
        return "None", f"await self._client.send({request})"
    if op.response is Content:
        return "Answer", f"await self._client.send({request})"
    if op.watched:
        return _spelled(
            op.response
        ), f"await self._client.watch({request}, {_spelled(op.response)}, on_progress)"
    return _spelled(op.response), f"await self._client.ask({request}, {_spelled(op.response)})"


def _is_parameter(op: Operation, field: str) -> bool:
    is_for_caches = field == "if_none_match" and op.method == "GET"
    return field not in NOT_PARAMETERS and not is_for_caches


def _request(op: Operation) -> str:
    path = re.sub(r"{(\w+)}", r"{segment(\1)}", op.path)
    words = [repr(op.method), f'f"{path}"' if op.path_fields else f'"{path}"']
    asked = tuple(name for name in op.query_fields if _is_parameter(op, name))
    words += [f"query={_fields(op, asked)}"] if asked else []
    headers = {
        GENERATED.get(name, name): header for name, header in op.headers.items() if _is_parameter(op, name)
    }
    if op.body == "bytes":
        headers["content_type"] = "Content-Type"
        words.append("content=content")
    elif op.body == "stream":
        headers[repr(op.media_type)] = "Content-Type"
        words.append("content=pieces_of(content)")
    if headers:
        words.append(f"headers={{{', '.join(f'{header!r}: {field}' for field, header in headers.items())}}}")
    words += [f"body={_fields(op, op.body_fields)}"] if op.body == "json" else []
    settled = 404 if op.method == "DELETE" else SETTLED.get(op.name)
    words += [f"settled={settled}"] if settled else []
    words += ["repeatable=False"] if op.name in ONCE else []
    return f"call({', '.join(words)})"


def _fields(op: Operation, names: tuple[str, ...]) -> str:
    wire = {field.name: field.encode_name for field in msgspec.structs.fields(op.request)}
    return "{" + ", ".join(f'"{wire[name]}": {name}' for name in names) + "}"


# -- bound to a session ---------------------------------------------------------------------------


def _bound_class(group: str, of_session: list[Operation]) -> str:
    methods = "\n".join(
        _bound_method(op, "_client", "_session_id") for op in of_session if _group(op) == group
    )
    return f'''
class {_bound_name(group)}(AsyncGuard):
    """{GROUPS[group].removesuffix(".")} of one session."""

    def __init__(self, client: AsyncSandboxAgent, session_id: str) -> None:
        self._client = client
        self._session_id = session_id

{methods}'''


def _bound_method(op: Operation, client: str = "client", session_id: str = "id") -> str:
    parameters = [parameter for parameter in _parameters(op) if parameter.name != "session_id"]
    returned, _ = _body(op, parameters)
    passed = [
        f"self.{session_id}",
        *(
            parameter.name if parameter.default is None else f"{parameter.name}={parameter.name}"
            for parameter in parameters
        ),
    ]
    result = "return " if returned != "None" else ""
    verb = op.name.split(".")[1]
    return (
        f"    async def {verb}({_signature(parameters)}) -> {returned}:\n"
        f"{_docstring(op, parameters)}\n"
        f"        {result}await self.{client}.{op.name}({', '.join(passed)})\n"
    )


# -- parameters -----------------------------------------------------------------------------------


def _parameters(op: Operation) -> Iterator[Parameter]:
    """Path parameters first, then required ones, then optional ones."""
    hints = typing.get_type_hints(op.request)
    found = []
    for field in msgspec.structs.fields(op.request):
        if not _is_parameter(op, field.name):
            continue
        type, default = _type(hints[field.name]), None
        if not field.required:
            default = _default(field)
            if op.name in ALWAYS_PAGED and field.name == ALWAYS_PAGED[op.name][1]:
                type, default = type.removesuffix(" | None"), ALWAYS_PAGED[op.name][2]
            if default == "None" and not type.endswith("| None"):
                type += " | None"
        if op.name == "sessions.create" and field.name == "session_id":
            type, default = "str | None", "None"  # generated when absent
        in_path = field.name in op.path_fields
        found.append(Parameter(field.name, type, default, _described(op, field), in_path))
    if op.watched:
        found.append(
            Parameter("on_progress", "Callable[[Progress], object] | None", "None", ON_PROGRESS, False)
        )
    yield from sorted(found, key=lambda parameter: (not parameter.in_path, parameter.default is not None))


def _signature(parameters: list[Parameter]) -> str:
    """Required parameters may be positional; all others are keyword-only."""
    words, by_name = ["self"], False
    for parameter in parameters:
        optional_before = any(
            other.default is not None for other in parameters[: parameters.index(parameter)]
        )
        if not by_name and not parameter.in_path and (parameter.default is not None or optional_before):
            words.append("*")
            by_name = True
        words.append(parameter.declared)
    return ", ".join(words)


def _type(hint: Any) -> str:
    """The annotation of a parameter; wider than the field if the value is only read."""
    if hint in ALIASES:
        return ALIASES[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (UnionType, typing.Union):
        inner = " | ".join(_type(argument) for argument in arguments if argument is not NoneType)
        return inner + (" | None" if NoneType in arguments else "")
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is tuple:
        return f"Sequence[{_type(arguments[0])}]"
    if origin is dict:
        return f"Mapping[{_type(arguments[0])}, {_type(arguments[1])}]"
    return _spelled(hint)


def _default(field: msgspec.structs.FieldInfo) -> str:
    return "None" if field.default is msgspec.NODEFAULT else repr(field.default)


def _described(op: Operation, field: msgspec.structs.FieldInfo) -> str:
    """A field's description, or that of a field of the same name in another operation."""
    requests = [op.request, *(other.request for other in OPERATIONS.values())]
    similar = (
        other for request in requests for other in msgspec.structs.fields(request) if other.name == field.name
    )
    texts = (note.description for other in similar for note in _notes(other.type) if note.description)
    return next(texts, "")


def _notes(hint: Any) -> Iterator[msgspec.Meta]:
    for note in getattr(hint, "__metadata__", ()):
        if isinstance(note, msgspec.Meta):
            yield note
    for inner in typing.get_args(hint):
        yield from _notes(inner)


def _docstring(op: Operation, parameters: list[Parameter]) -> str:
    lines = [op.summary]
    # The SDK has its own way to follow progress.
    text = "" if op.watched else op.description
    description = UNHEALTHY if op.response is CreatedSession else text
    lines += ["", *textwrap.wrap(description, 100)] if description else []
    listed = [f"- `{parameter.name}`: {parameter.text}" for parameter in parameters if parameter.text]
    lines += (
        ["", *(line for text in listed for line in textwrap.wrap(text, 100, subsequent_indent="  "))]
        if listed
        else []
    )
    if op.errors:
        raised = "Raises " + ", ".join(f"`{error.__name__}`" for error in op.errors) + "."
        lines += ["", *textwrap.wrap(raised, 100)]
    if len(lines) == 1:
        return f'        """{lines[0]}"""'
    text = "\n".join(f"        {line}".rstrip() for line in lines)
    return f'        """{text.lstrip()}\n        """'


def _group(op: Operation) -> str:
    return op.name.split(".")[0]


def _class(group: str) -> str:
    return f"Async{_camel(group)}"


def _bound_name(group: str) -> str:
    return f"AsyncSession{_camel(group)}"


def _spelled(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))


# -- the blocking client -----------------------------------------------------------------------------

WORDS = [
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAwaitable\[T\]", "T"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\ba(next|closing|close|read)\b", r"\1"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\bwebsockets\.asyncio\b", "websockets.sync"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\benter_async_context\b", "enter_context"),
    (r"\basyncio\b", "time"),
    (r"\bin_thread\b", "at_once"),
    (r"\bin_loop\b", "in_own_loop"),
    (r"\bawaited\b", "awaited_here"),
]
"""Replacements that turn async code into blocking code, applied in order."""

MODULES = (
    "client",
    "ending",
    "operations",
    "prompt",
    "respondent",
    "session",
    "session_list",
    "session_operations",
    "stream",
    "terminal",
    "transfer",
    "transport",
    "turn",
)
"""The modules of `aio/` and `blocking/`."""


def blocking_form(source: str, name: str) -> str:
    """The blocking form of an async module."""
    for pattern, replacement in WORDS:
        source = re.sub(pattern, replacement, source)
    note = f"# Written by `make gen` from aio/{name}.py.\n"
    if NOTE not in source:
        source = source.replace("\nfrom __future__", f"\n{note}\nfrom __future__", 1)
    return _formatted(source.replace("import time\nimport time\n", "import time\n"))


def blocking_module(name: str) -> str:
    """The source of a module in `blocking/`."""
    written = {"operations": operations, "session_operations": session_operations}
    render = written.get(name)
    return blocking_form(render() if render else (CLIENT / "aio" / f"{name}.py").read_text(), name)


def _formatted(source: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--fix", "--quiet", "--select", "I,F401"], ["format", "--quiet"]):
        source = subprocess.run(
            [*ruff, *arguments, "-"], input=source, capture_output=True, text=True, check=True
        ).stdout
    return source


def _camel(group: str) -> str:
    return "".join(word.capitalize() for word in group.split("_"))
