"""The OpenAI Chat Completions API; thinking is in `reasoning_content`, as open models send it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from .model_request import Entry, ModelRequest, Role, Schema, Tool
from .openai import error_body
from .steps import Cut, Delay, Reply, StreamError, Text, Thinking, ToolUse, Usage
from .wire import Frame, data_url_type, event, pieces, split

CALL_ID_PREFIX = "call"


class ImageUrl(Struct):
    url: str = ""


class ContentPart(Struct):
    type: str = ""
    text: str = ""
    image_url: ImageUrl | None = None


class CallMade(Struct):
    id: str = ""


class Message(Struct):
    role: str
    content: str | list[ContentPart] | None = None
    tool_calls: list[CallMade] | None = None


class Function(Struct):
    name: str = ""
    parameters: Schema | None = None


class ToolDefinition(Struct):
    function: Function = field(default_factory=Function)


class Body(Struct):
    model: str
    messages: list[Message]
    tools: list[ToolDefinition] | None = None
    stream: bool = False
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None


def read(body: bytes) -> ModelRequest:
    request = msgspec.json.decode(body, type=Body)
    functions = [tool.function for tool in request.tools or ()]
    return ModelRequest(
        wire="chat",
        model=request.model,
        stream=request.stream,
        history=tuple(_entry(message) for message in request.messages),
        tools=tuple(Tool(function.name, schema=function.parameters or Schema()) for function in functions),
        effort=request.reasoning_effort,
        max_tokens=request.max_completion_tokens or request.max_tokens,
    )


def _entry(message: Message) -> Entry:
    content = message.content
    parts = [ContentPart(text=content)] if isinstance(content, str) else content or []
    return Entry(
        _ROLES.get(message.role, "user"),
        tuple(part.text for part in parts if part.text),
        tuple(data_url_type(part.image_url.url) for part in parts if part.image_url),
        tuple(call.id for call in message.tool_calls or ()),
    )


_ROLES: dict[str, Role] = {
    "developer": "system",
    "system": "system",
    "assistant": "assistant",
    "tool": "tool",
}


def stream(reply: Reply) -> Iterator[Frame]:
    yield _chunk(reply, {"role": "assistant", "content": ""})
    calls = 0
    for part in reply.parts:
        match part:
            case Delay():
                yield part
            case Cut():
                yield part
                return
            case StreamError(status, message, code):
                yield event(problem(status, message, code))
                return
            case Text():
                yield from _text_frames(reply, "content", pieces(part))
            case Thinking():
                yield from _text_frames(reply, "reasoning_content", pieces(part))
            case ToolUse():
                yield from _called(reply, part, calls)
                calls += 1
    yield _chunk(reply, {}, finish=_FINISH[reply.stop])
    yield event(_envelope(reply, "chat.completion.chunk") | {"choices": [], "usage": _usage(reply.usage)})
    yield b"data: [DONE]\n\n"


def whole(reply: Reply) -> dict[str, Any]:
    calls = [_call(part) for part in reply.parts if isinstance(part, ToolUse)]
    message = {
        "role": "assistant",
        "content": "".join(part.text for part in reply.parts if isinstance(part, Text)) or None,
        **({"tool_calls": calls} if calls else {}),
    }
    return _envelope(reply, "chat.completion") | {
        "choices": [{"index": 0, "message": message, "finish_reason": _FINISH[reply.stop]}],
        "usage": _usage(reply.usage),
    }


def problem(status: int, message: str, code: str) -> dict[str, Any]:
    return {"error": error_body(status, message, code)}


_FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def _envelope(reply: Reply, object: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.id}", "object": object, "created": 0, "model": reply.model}


def _chunk(reply: Reply, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event(_envelope(reply, "chat.completion.chunk") | {"choices": [choice]})


def _text_frames(reply: Reply, member: str, texts: Iterable[str | Delay]) -> Iterator[Frame]:
    for text in texts:
        yield text if isinstance(text, Delay) else _chunk(reply, {member: text})


def _called(reply: Reply, use: ToolUse, index: int) -> Iterator[Frame]:
    call = _call(use)
    arguments = call["function"]["arguments"]
    call["function"]["arguments"] = ""
    yield _chunk(reply, {"tool_calls": [{"index": index, **call}]})
    for piece in split(arguments, 24):
        yield _chunk(reply, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _call(use: ToolUse) -> dict[str, Any]:
    arguments = msgspec.json.encode(use.arguments).decode()
    return {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": arguments}}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
