"""Calls of a client's tools: list those that wait, and answer them."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from msgspec import Meta, Struct

from ..errors import Conflict, InvalidRequest, NotFound, SessionNotFound, Unavailable
from ..runtime.daemon import Daemon
from ..schema.answers import ToolCallList
from ..schema.tools import ToolImage, ToolOutcome, ToolRequest
from ..session.inputs import ReplyTool
from .operation import operation
from .sessions import OneSession, SessionId

MAX_IMAGES = 20
MAX_OUTPUT = 16 << 20


class ReplyToolCall(Struct, frozen=True, rename="camel"):
    session_id: SessionId
    call_id: Annotated[str, Meta(description="Id of the call.")]
    output: Annotated[
        Annotated[str, Meta(max_length=MAX_OUTPUT)] | None, Meta(description="What the tool returned.")
    ] = None
    error: Annotated[
        Annotated[str, Meta(max_length=MAX_OUTPUT)] | None,
        Meta(description="Why it failed, instead of `output`."),
    ] = None
    images: Annotated[
        tuple[ToolImage, ...], Meta(max_length=MAX_IMAGES, description="Images to return with the output.")
    ] = ()


@operation("GET", "/v1/sessions/{session_id}/tool-calls", SessionNotFound, name="tool_calls.list")
async def tool_calls(daemon: Daemon, request: OneSession) -> ToolCallList:
    """List pending calls to the client's tools."""
    pending = (await daemon.sessions.show(request.session_id)).view.pending
    return ToolCallList([request for request in pending if isinstance(request, ToolRequest)])


@operation(
    "POST",
    "/v1/sessions/{session_id}/tool-calls/{call_id}/reply",
    InvalidRequest,
    SessionNotFound,
    NotFound,
    Conflict,
    Unavailable,
    name="tool_calls.reply",
    examples=(
        "sandbox-agent tool-calls list demo",
        'sandbox-agent tool-calls reply demo call_1 --output "21 degrees"',
        'sandbox-agent tool-calls reply demo call_1 --error "no such city"',
    ),
)
async def reply_tool_call(daemon: Daemon, request: ReplyToolCall) -> None:
    """Answer a call with the tool's output or its error. A second answer gets 409."""
    await daemon.sessions.ask(
        request.session_id, lambda id: ReplyTool(id, request.call_id, _outcome(request))
    )


def _outcome(request: ReplyToolCall) -> ToolOutcome:
    if request.output is not None and request.error is not None:
        raise InvalidRequest("give either `output` or `error`, not both", field="error")
    if request.output is None and request.error is None and not request.images:
        raise InvalidRequest("give the tool's `output`, or its `error`", field="output")
    for image in request.images:
        try:
            base64.b64decode(image.data, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidRequest("an image is not encoded in base64", field="images") from None
    if request.error is not None:
        return ToolOutcome(request.error, failed=True, images=request.images)
    return ToolOutcome(request.output or "", images=request.images)
