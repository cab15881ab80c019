"""Tools that live in the client: what it offers, what the agent asks of them, and what they return."""

from __future__ import annotations

import base64
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from .items import Item, Json, StatusPart

TOOL_REQUEST = "tool_request"
"""The label of the status item that says that a client has to answer a call."""


class Tool(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A function of the client that the agent may call."""

    name: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)", description="1 to 64 of A-Z a-z 0-9 _ -"),
    ]
    description: Annotated[
        str, Meta(max_length=16_384, description="What it does and when to call it, for the model.")
    ] = ""
    input_schema: Annotated[
        dict[str, Any], Meta(description="JSON Schema of its arguments, which are an object.")
    ] = field(default_factory=lambda: {"type": "object", "properties": {}})


class ToolRequest(Struct, frozen=True):
    """A call to a client's tool that waits for its result."""

    call_id: str
    name: str
    arguments: Any  # an object that matches the tool's schema


def tool_request_in(item: Item) -> ToolRequest | None:
    """The call that an item asks a client to answer, if it is such an item."""
    match item.content:
        case (StatusPart(label), Json(payload)) if label == TOOL_REQUEST:
            return msgspec.convert(payload, ToolRequest)
    return None


class ToolImage(Struct, frozen=True):
    data: Annotated[str, Meta(description="The image, encoded in base64.")]
    mime: Annotated[
        str, Meta(pattern=r"^image/[a-z0-9.+-]{1,64}$(?!\n)", description="Media type, e.g. `image/png`.")
    ] = field(default_factory=lambda: "image/png")

    @classmethod
    def of(cls, content: bytes, mime: str = "image/png") -> ToolImage:
        return cls(base64.b64encode(content).decode(), mime)


class ToolOutcome(Struct, frozen=True, omit_defaults=True):
    """What a call to a client's tool returned; `failed` if the output is an error."""

    output: str
    failed: bool = False
    images: tuple[ToolImage, ...] = ()


CLIENT_SERVER = "client_tools"
"""The MCP server through which agents call a client's tools. No other server may have this name."""
