"""The `Operation` type, and the decorator that adds one to the table."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import operator
import re
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from ..errors import (
    UNEXPECTED,
    Conflict,
    DesktopInvalidAction,
    Internal,
    InvalidRequest,
    SandboxAgentError,
    found_by_validation,
)
from ..processes.following import LogFollowing
from ..processes.terminal import Viewer
from ..runtime.daemon import Daemon
from ..runtime.following import Following
from .groups import GROUPS

logger = logging.getLogger("sandbox_agent.ops")

Result = TypeVar("Result")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = Literal["json", "bytes", "stream", "none"]
BYTES = "application/octet-stream"


class Content(Struct, frozen=True):
    """A response that is not JSON."""

    body: bytes
    media_type: str


class Incoming:
    """A request body that is read piece by piece while it arrives."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], media_type: str) -> None:
        self.pieces = pieces
        self.media_type = media_type


class Download(Struct, frozen=True):
    """A response that is sent piece by piece as a file, which browsers save instead of showing."""

    media_type: str
    filename: str
    pieces: AsyncGenerator[bytes, None]
    length: int | None = None
    """Number of bytes; None if it is not known in advance."""
    headers: tuple[tuple[str, str], ...] = ()
    status: int = 200


class Stream(Struct, frozen=True):
    """A streamed response: a reader of the log, or pieces of SSE text, with None where a keep-alive is due."""

    pieces: Following | LogFollowing | AsyncGenerator[bytes | None, None]
    retries: bool = True
    """Whether the stream begins by telling its reader when to reconnect. Not every parser accepts a frame without data."""


class Dialogue(Struct, frozen=True):
    """A WebSocket."""

    viewer: Viewer


class Watched(Struct, Generic[Result], frozen=True):
    """A slow response. A client that accepts a stream sees the steps; others wait for the result."""

    result: asyncio.Future[Result]
    steps: AsyncGenerator[Struct | None, None]

    def stream(self) -> Stream:
        """Frames named `progress`, then one named `result` or `problem`."""
        return Stream(self._frames())

    async def _frames(self) -> AsyncGenerator[bytes | None, None]:
        try:
            async for step in self.steps:
                yield None if step is None else _frame("progress", step)
            last = _frame("result", await asyncio.shield(self.result))
        except SandboxAgentError as error:
            last = _frame("problem", error.problem())
        except Exception:
            # If the stream simply stopped, the reader could not tell why.
            logger.exception("a streamed operation failed")
            last = _frame("problem", Internal(UNEXPECTED).problem())
        yield last


def _frame(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(data))


class Nothing(Struct, frozen=True):
    """The request of an operation without arguments."""


NodeName = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$(?!\n)", description="Name of a node: 1 to 64 of A-Z a-z 0-9 . _ -"),
]


class OnNode(Struct, frozen=True, kw_only=True):
    """The request of an operation on the machine of a node."""

    node: Annotated[
        NodeName | None,
        Meta(description="Node that the request is meant for; other nodes refuse it (default: any)."),
    ] = None


Handler = Callable[[Daemon, Any], Awaitable[Any]]
Runs = Literal["here", "anywhere", "owner", "node"]
"""Which node carries out an operation if several share the log: `here` the one that was asked, because it concerns its own machine;
`anywhere` the same, because all nodes read the same log; `owner` the one that runs the session; `node` the one that the request names."""

OWNER_GROUPS = frozenset({"changes", "tool_calls", "fs"})
"""Groups that concern the machine of a session, even if they only read."""


class Operation(Struct, frozen=True, dict=True):
    """One row of the table. Every request uses the derived properties, so they are cached."""

    name: str
    """`group.verb`, as in the CLI."""
    method: Method
    path: str
    request: type[Struct]
    response: Any
    """A Struct, a union or list of them, None for an empty response, `Content`, `Download`, `Stream` or `Dialogue`."""
    here: Handler
    """Carries it out on this node."""
    errors: tuple[type[SandboxAgentError], ...]
    summary: str
    description: str
    status: int
    public: bool
    body: Body
    media_type: str
    """The media type of a body that is bytes."""
    query: tuple[str, ...]
    headers: Mapping[str, str]
    """Fields sent as headers, with the name of the header."""
    aliases: tuple[str, ...]
    words: tuple[str, ...]
    """Fields that are positional arguments on the command line, in addition to those in the path."""
    examples: tuple[str, ...]
    """Shell lines for the command's help."""
    watched: bool
    """The response is slow and its steps can be streamed."""
    may_be_empty: bool
    """The response may be empty: 204."""
    may_stream: bool
    """The client can ask for a stream instead."""
    runs: Runs

    def handler(self, daemon: Daemon, request: Any) -> Awaitable[Any]:
        """Carry it out, on this node or on the one that it concerns."""
        if isinstance(request, OnNode) and request.node is not None:
            daemon.require_node(request.node)
        if daemon.cluster is None:
            return self.here(daemon, request)
        return daemon.cluster.carry_out(daemon, self, request)

    @functools.cached_property
    def path_fields(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))

    @property
    def takes_bytes(self) -> bool:
        return self.body in ("bytes", "stream")

    @functools.cached_property
    def query_fields(self) -> tuple[str, ...]:
        """Fields in the query: all of them if there is no JSON body."""
        if self.body == "json":
            return self.query
        elsewhere = {*self.path_fields, *self.headers, "content", "content_type"}
        return tuple(name for name in self.request.__struct_fields__ if name not in elsewhere)

    @functools.cached_property
    def query_names(self) -> frozenset[str]:
        """Every spelling of the fields in the query."""
        return frozenset(name for name, field in _fields(self.request).items() if field in self.query_fields)

    @functools.cached_property
    def body_fields(self) -> tuple[str, ...]:
        if self.body != "json":
            return ()
        elsewhere = {*self.path_fields, *self.headers, *self.query}
        return tuple(name for name in self.request.__struct_fields__ if name not in elsewhere)

    def parse(self, values: Mapping[str, Any], *, strict: bool) -> Any:
        """Build the request from loose values. Fields may be in camelCase or snake_case; unknown fields are refused."""
        spelled = _spellings(self.request)
        fields: dict[str, Any] = {}
        for name, value in values.items():
            field = spelled.get(name)
            if field is None:
                raise InvalidRequest(f"unknown field `{name}`", field=name)
            if field in fields:
                raise InvalidRequest(f"`{name}` is given twice", field=name)
            fields[field] = value
        try:
            return msgspec.convert(fields, self.request, strict=strict)
        except msgspec.ValidationError as error:
            raise self._refusal(str(error)) from None

    def _refusal(self, text: str) -> SandboxAgentError:
        # Clients of the desktop know another problem for a bad value.
        problem = DesktopInvalidAction if DesktopInvalidAction in self.errors else InvalidRequest
        reason, name = found_by_validation(text)
        if " matching regex " in reason:
            # Say what is allowed in words rather than as a regular expression.
            return problem(f"invalid `{name}`. {_description(self.request, name)}", field=name)
        return problem(reason if reason == text else f"`{name}`: {reason}", field=name or None)


def _place_of(name: str, method: Method, request: type[Struct]) -> Runs:
    if "session_id" not in request.__struct_fields__:
        return "here"
    return "anywhere" if method == "GET" and name.partition(".")[0] not in OWNER_GROUPS else "owner"


def _description(request: type[Struct], name: str) -> str:
    field = next(field for field in msgspec.structs.fields(request) if field.encode_name == name)
    return next((str(note.description) for note in field.type.__metadata__ if note.description), "")


@functools.cache
def _spellings(request: type[Struct]) -> dict[str, str]:
    """Every spelling of a field -> the spelling that msgspec expects."""
    spelled = {}
    for field in msgspec.structs.fields(request):
        spelled[field.name] = spelled[field.encode_name] = field.encode_name
    return spelled


@functools.cache
def _fields(request: type[Struct]) -> dict[str, str]:
    """Every spelling of a field -> its name."""
    fields = msgspec.structs.fields(request)
    return {spelling: field.name for field in fields for spelling in (field.name, field.encode_name)}


OPERATIONS: dict[str, Operation] = {}


def operation(
    method: Method,
    path: str,
    *errors: type[SandboxAgentError],
    name: str,
    status: int = 200,
    public: bool = False,
    body: Body | None = None,
    media_type: str = BYTES,
    query: tuple[str, ...] = (),
    headers: Mapping[str, str] | None = None,
    aliases: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
    examples: tuple[str, ...] = (),
    runs: Runs | None = None,
) -> Callable[[Handler], Handler]:
    """Declare an operation. Its types come from the handler's annotations, its help from the docstring."""

    if name.partition(".")[0] not in GROUPS:
        raise ValueError(f"{name}: add its group to ops/groups.py")

    def declare(handler: Handler) -> Handler:
        hints = typing.get_type_hints(handler)
        response = hints["return"]
        watched = typing.get_origin(response) is Watched
        if watched:
            (response,) = typing.get_args(response)
        nothing = response is type(None)
        choices = typing.get_args(response) if typing.get_origin(response) is UnionType else ()
        may_be_empty = type(None) in choices
        may_stream = Stream in choices[1:]
        if choices:
            beside = {type(None), *((Stream,) if may_stream else ())}
            response = functools.reduce(operator.or_, (choice for choice in choices if choice not in beside))
        request = hints["request"]
        by_query = (*query, "node") if issubclass(request, OnNode) else query
        text = inspect.getdoc(handler) or ""
        summary, _, rest = text.partition("\n")
        OPERATIONS[name] = Operation(
            name=name,
            method=method,
            path=path,
            request=request,
            response=None if nothing else response,
            here=handler,
            # A node that is not the one the request is meant for says so.
            errors=(*errors, Conflict) if issubclass(request, OnNode) and Conflict not in errors else errors,
            summary=summary,
            description=rest.strip(),
            status=204 if nothing else 101 if response is Dialogue else status,
            public=public,
            body=body or ("none" if method in ("GET", "DELETE") else "json"),
            media_type=media_type,
            query=by_query,
            headers=headers or {},
            aliases=aliases,
            words=words,
            examples=examples,
            watched=watched,
            may_be_empty=may_be_empty,
            may_stream=may_stream,
            runs=runs or _place_of(name, method, request),
        )
        return handler

    return declare
