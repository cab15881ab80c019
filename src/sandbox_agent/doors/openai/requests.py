"""The bodies that clients send. Members that have no meaning for an agent, such as `temperature`, are ignored; those that a client
relies on, such as `tools`, are refused."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...errors import InvalidRequest, found_by_validation
from ..exchange import DoorRequest

Body = TypeVar("Body", bound=Struct)


class ImageUrl(Struct, frozen=True):
    url: str


class File(Struct, frozen=True):
    file_data: str | None = None
    filename: str | None = None


class Part(Struct, frozen=True):
    """A part of a message in either API; `type` says which members it has."""

    type: str
    text: str = ""
    refusal: str = ""
    image_url: str | ImageUrl | None = None
    file: File | None = None
    file_data: str | None = None
    filename: str | None = None


class InputMessage(Struct, frozen=True):
    role: str = ""
    content: str | tuple[Part, ...] | None = None
    type: str = "message"
    id: str | None = None


class Format(Struct, frozen=True):
    type: str = "text"


class TextOptions(Struct, frozen=True):
    format: Format | None = None


class NewResponse(Struct, frozen=True):
    model: str
    input: str | tuple[InputMessage, ...]
    instructions: str | None = None
    previous_response_id: str | None = None
    stream: bool | None = None
    background: bool | None = None
    text: TextOptions | None = None
    # What cannot be done is refused, whatever it contains.
    tools: tuple[Any, ...] | None = None
    conversation: Any = None
    prompt: Any = None

    def check(self) -> None:
        if self.tools:
            raise InvalidRequest(NO_TOOLS, field="tools")
        if self.text and self.text.format and self.text.format.type != "text":
            raise InvalidRequest(NO_SCHEMA, field="text.format")
        if self.conversation is not None:
            raise InvalidRequest("continue with `previous_response_id` instead", field="conversation")
        if self.prompt is not None:
            raise InvalidRequest("there are no stored prompts: send `input`", field="prompt")


class StreamOptions(Struct, frozen=True):
    include_usage: bool | None = None


class Metadata(Struct, frozen=True):
    session_id: str | None = None


class NewCompletion(Struct, frozen=True):
    model: str
    messages: tuple[InputMessage, ...]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: Metadata | None = None
    n: int | None = None
    response_format: Format | None = None
    tools: tuple[Any, ...] | None = None
    functions: tuple[Any, ...] | None = None

    def check(self) -> None:
        if self.tools or self.functions:
            raise InvalidRequest(NO_TOOLS, field="tools" if self.tools else "functions")
        if self.n not in (None, 1):
            raise InvalidRequest("an agent gives one answer: `n` must be 1", field="n")
        if self.response_format and self.response_format.type != "text":
            raise InvalidRequest(NO_SCHEMA, field="response_format")


NO_TOOLS = "an agent has tools of its own and cannot call those of the client"
NO_SCHEMA = "an agent answers in text: no other format can be required"


async def read(request: DoorRequest, type: type[Body]) -> tuple[Body, bytes]:
    """The body, decoded and as it was sent."""
    body = await request.json_body()
    try:
        return msgspec.json.decode(body, type=type), body
    except msgspec.ValidationError as error:
        reason, name = found_by_validation(str(error))
        raise InvalidRequest(f"`{name}`: {reason}" if name else reason, field=name or None) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"the body is not JSON: {error}") from None
