"""The Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from .model_request import Entry, ModelRequest, Role, Schema, Tool
from .steps import Cut, Delay, Reply, StreamError, Text, Thinking, ToolUse, Usage
from .wire import Frame, event, pieces, split

CALL_ID_PREFIX = "toolu"
SIGNATURE = "c2NyaXB0ZWQ="


class Source(Struct):
    type: str = ""
    media_type: str = "url"


class Block(Struct):
    type: str
    text: str = ""
    id: str = ""
    source: Source | None = None
    content: str | list[Block] | None = None


class Message(Struct):
    role: str
    content: str | list[Block]


class ToolDefinition(Struct):
    name: str = ""
    input_schema: Schema = Schema()


class OutputConfig(Struct):
    effort: str | None = None


class ThinkingConfig(Struct):
    budget_tokens: int | None = None


class Body(Struct):
    model: str
    messages: list[Message]
    system: str | list[Block] = ""
    tools: list[ToolDefinition] = []
    stream: bool = False
    max_tokens: int | None = None
    output_config: OutputConfig = field(default_factory=OutputConfig)
    thinking: ThinkingConfig = field(default_factory=ThinkingConfig)


def read(body: bytes) -> ModelRequest:
    request = msgspec.json.decode(body, type=Body)
    budget = request.thinking.budget_tokens
    return ModelRequest(
        wire="messages",
        model=request.model,
        stream=request.stream,
        history=tuple(_history(request)),
        tools=tuple(Tool(tool.name, schema=tool.input_schema) for tool in request.tools),
        effort=request.output_config.effort or (None if budget is None else str(budget)),
        max_tokens=request.max_tokens,
    )


def _history(request: Body) -> Iterator[Entry]:
    yield Entry("system", _texts(_blocks(request.system)))
    for message in request.messages:
        blocks = _blocks(message.content)
        role: Role = "system" if message.role == "system" else "user"
        if message.role == "assistant":
            calls = tuple(block.id for block in blocks if block.type == "tool_use")
            yield Entry("assistant", _texts(blocks), call_ids=calls)
            continue
        for result in (block for block in blocks if block.type == "tool_result"):
            inner = _blocks(result.content or "")
            yield Entry("tool", _texts(inner), _images(inner))
        content = [block for block in blocks if block.type != "tool_result"]
        if content:
            yield Entry(role, _texts(content), _images(content))


def _blocks(content: str | list[Block]) -> list[Block]:
    return [Block("text", text=content)] if isinstance(content, str) else content


def _texts(blocks: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.text for block in blocks if block.type == "text")


def _images(blocks: Iterable[Block]) -> tuple[str, ...]:
    return tuple(block.source.media_type for block in blocks if block.type == "image" and block.source)


def stream(reply: Reply) -> Iterator[Frame]:
    yield _event("message_start", message=_message(reply, [], None, output_tokens=1))
    index, is_open = 0, False
    for part in reply.parts:
        match part:
            case Delay():
                yield part
                continue
            case Cut():
                yield part
                return
            case StreamError(status, message):
                yield event(problem(status, message, ""), "error")
                return
        if is_open:
            yield _event("content_block_stop", index=index)
            index += 1
        is_open = True
        block = _block(part)
        yield _event("content_block_start", index=index, content_block=block | _EMPTY[block["type"]])
        for delta in _deltas(part):
            yield (
                delta if isinstance(delta, Delay) else _event("content_block_delta", index=index, delta=delta)
            )
    if is_open:
        yield _event("content_block_stop", index=index)
    delta = {"stop_reason": reply.stop, "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=_usage(reply.usage))
    yield _event("message_stop")


def whole(reply: Reply) -> dict[str, Any]:
    blocks = [_block(part) for part in reply.parts if isinstance(part, Text | Thinking | ToolUse)]
    return _message(reply, blocks, reply.stop, reply.usage.output_tokens)


def problem(status: int, message: str, code: str) -> dict[str, Any]:
    kind = _ERROR_TYPES.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message or kind},
        "request_id": "req_scripted",
    }


_EMPTY: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _event(name: str, **members: Any) -> bytes:
    return event({"type": name, **members}, name)


def _message(
    reply: Reply, blocks: list[dict[str, Any]], stop: str | None, output_tokens: int
) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _usage(reply.usage) | {"output_tokens": output_tokens},
    }


def _usage(usage: Usage) -> dict[str, Any]:
    # Unlike in `Usage`, input excludes cached tokens here.
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": usage.input_tokens - cached,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
    }


def _block(part: Any) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": SIGNATURE}
        case ToolUse(name, arguments, id):
            return {"type": "tool_use", "id": id, "name": name, "input": arguments}
    raise TypeError(part)


def _deltas(part: Any) -> Iterator[dict[str, Any] | Delay]:
    match part:
        case Text():
            for piece in pieces(part):
                yield piece if isinstance(piece, Delay) else {"type": "text_delta", "text": piece}
        case Thinking():
            for piece in pieces(part):
                yield piece if isinstance(piece, Delay) else {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": SIGNATURE}
        case ToolUse(arguments=arguments):
            for piece in split(msgspec.json.encode(arguments).decode(), 24):
                yield {"type": "input_json_delta", "partial_json": piece}
