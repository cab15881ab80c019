"""Frames of the Model Context Protocol, as a server reads and writes them. Only the fields we use are declared.

Up to version 2025-11-25, a client begins with `initialize`. Since 2026-07-28 the protocol is stateless: each request names its version,
and each result says what kind of result it is.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ...agents.jsonrpc import RpcError

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_VERSIONS = ("2026-07-28",)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

Token = str | int


class Read(Struct, frozen=True, rename="camel"):
    """Something that a client sends."""


class Written(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """Something that we send. Fields that are always sent have no default."""


class _Unreadable(Struct, frozen=True):
    """The answer to a message whose request is not known."""

    error: RpcError
    jsonrpc: Literal["2.0"] = "2.0"
    id: None = None


def unreadable(error: Exception) -> bytes:
    return msgspec.json.encode(_Unreadable(RpcError(f"not a JSON-RPC message: {error}", PARSE_ERROR)))


# -- parameters of a client's messages ------------------------------------------------------------


class Meta(Read, frozen=True):
    progress_token: Token | None = None
    version: str | None = field(name="io.modelcontextprotocol/protocolVersion", default=None)


class Params(Read, frozen=True):
    meta: Meta = field(name="_meta", default_factory=Meta)


class Initialize(Read, frozen=True):
    protocol_version: str = ""


class CallTool(Params, frozen=True):
    name: str = ""
    arguments: Raw = Raw(b"{}")


class Cancelled(Read, frozen=True):
    request_id: Token | None = None


# -- results --------------------------------------------------------------------------------------


class Info(Written, frozen=True, kw_only=True):
    name: str
    version: str


class Capabilities(Written, frozen=True, kw_only=True):
    tools: dict[str, bool]


class Result(Written, frozen=True, kw_only=True):
    result_type: Literal["complete"] | UnsetType = UNSET
    """Only in stateless versions."""


class Lasting(Result, frozen=True, kw_only=True):
    """A result that says how long it may be cached, in stateless versions."""

    ttl_ms: int | UnsetType = UNSET
    cache_scope: Literal["private", "public"] | UnsetType = UNSET


class Initialized(Result, frozen=True, kw_only=True):
    protocol_version: str
    capabilities: Capabilities
    server_info: Info
    instructions: str


class Discovered(Lasting, frozen=True, kw_only=True):
    supported_versions: tuple[str, ...]
    capabilities: Capabilities
    server_info: Info
    instructions: str


class Annotations(Written, frozen=True, kw_only=True):
    read_only_hint: bool
    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool


class ListedTool(Written, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    input_schema: dict[str, Any]  # JSON Schema
    output_schema: dict[str, Any]
    annotations: Annotations


class ToolList(Lasting, frozen=True, kw_only=True):
    tools: tuple[ListedTool, ...]


class TextContent(Written, frozen=True, kw_only=True):
    type: Literal["text"]
    text: str


class Called(Result, frozen=True, kw_only=True):
    content: tuple[TextContent, ...]
    is_error: bool
    structured_content: Raw | UnsetType = UNSET


class Progress(Written, frozen=True, kw_only=True):
    progress_token: Token
    progress: int
    message: str


class VersionError(Written, frozen=True, kw_only=True):
    supported: tuple[str, ...]
    requested: str
