"""The OpenAI Responses API, with Codex's extensions: namespaces, free-text tools and a search for tools."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from .model_request import Entry, ModelRequest, Role, Schema, Tool
from .openai import error_body
from .steps import Cut, Delay, Part, Reply, StreamError, Text, Thinking, ToolSearch, ToolUse, Usage
from .wire import Frame, data_url_type, event, pieces, split

CALL_ID_PREFIX = "call"


class ContentPart(Struct):
    type: str = ""
    text: str = ""
    image_url: str = ""
    encrypted_content: str = ""


class ToolDefinition(Struct):
    type: str = ""
    name: str = ""
    parameters: Schema | None = None
    tools: list[ToolDefinition] = []


class Item(Struct):
    type: str = "message"
    role: str = ""
    content: str | list[ContentPart] | None = None
    call_id: str | None = None
    output: Raw = Raw(b"null")
    tools: list[ToolDefinition] = []


class ReasoningConfig(Struct):
    effort: str | None = None


class Body(Struct):
    model: str
    input: str | list[Item]
    instructions: str | None = None
    tools: list[ToolDefinition] | None = None
    stream: bool = False
    reasoning: ReasoningConfig | None = None
    max_output_tokens: int | None = None


def read(body: bytes) -> ModelRequest:
    request = msgspec.json.decode(body, type=Body)
    items = [Item(role="user", content=request.input)] if isinstance(request.input, str) else request.input
    # The results of a tool search are also an item with tools, but do not apply to the whole conversation.
    more = (item.tools for item in items if item.type == "additional_tools")
    definitions = itertools.chain(request.tools or (), *more)
    return ModelRequest(
        wire="responses",
        model=request.model,
        stream=request.stream,
        history=(Entry("system", (request.instructions or "",)), *_history(items)),
        tools=tuple(_tools(definitions)),
        effort=request.reasoning.effort if request.reasoning else None,
        max_tokens=request.max_output_tokens,
    )


def _tools(definitions: Iterable[ToolDefinition], namespace: str = "") -> Iterator[Tool]:
    for definition in definitions:
        if definition.type == "namespace":
            # Tools in the namespace `functions` are called by their bare name.
            yield from _tools(definition.tools, "" if definition.name == "functions" else definition.name)
        else:
            yield Tool(
                definition.name or definition.type,
                namespace,
                free_text=definition.type == "custom",
                schema=definition.parameters or Schema(),
            )


def _history(items: Iterable[Item]) -> Iterator[Entry]:
    for item in items:
        match item:
            case Item(type="additional_tools"):
                pass
            case Item(type="message"):
                parts = _parts(item.content)
                yield Entry(_ROLES.get(item.role, "user"), _texts(parts), _images(parts))
            case Item(type="agent_message"):
                yield _from_agent(_parts(item.content))
            case Item(type=type) if type.endswith("_output"):
                parts = _output(item.output)
                yield Entry("tool", _texts(parts), _images(parts))
            case _:
                yield Entry("assistant", call_ids=(item.call_id,) if item.call_id else ())


def _from_agent(parts: list[ContentPart]) -> Entry:
    """Messages between Codex's agents: a task is the prompt of a sub-agent, anything else is a notice."""
    payload = tuple(part.encrypted_content for part in parts if part.encrypted_content)
    is_task = any("Message Type: NEW_TASK" in part.text for part in parts)
    return Entry("user" if is_task else "system", payload)


def _parts(content: str | list[ContentPart] | None) -> list[ContentPart]:
    return [ContentPart(text=content)] if isinstance(content, str) else content or []


def _output(output: Raw) -> list[ContentPart]:
    try:
        return _parts(msgspec.json.decode(output, type=str | list[ContentPart] | None))
    except msgspec.ValidationError:
        return [ContentPart(text=bytes(output).decode())]


def _texts(parts: Iterable[ContentPart]) -> tuple[str, ...]:
    return tuple(part.text for part in parts if part.text)


def _images(parts: Iterable[ContentPart]) -> tuple[str, ...]:
    return tuple(data_url_type(part.image_url) for part in parts if part.image_url)


_ROLES: dict[str, Role] = {"developer": "system", "system": "system", "assistant": "assistant"}


def stream(reply: Reply) -> Iterator[Frame]:
    sequence = itertools.count()
    for frame in _events(reply):
        if isinstance(frame, dict):
            yield event(frame | {"sequence_number": next(sequence)}, frame["type"])
        else:
            yield frame


def _events(reply: Reply) -> Iterator[dict[str, Any] | Delay | Cut]:
    yield {"type": "response.created", "response": _response(reply, "in_progress")}
    index, unfinished = 0, None
    for part in reply.parts:
        match part:
            case Delay():
                yield part
                continue
            case Cut():
                yield part
                return
            case StreamError(status, message, code):
                error = error_body(status, message, code)
                failed = _response(reply, "failed") | {
                    "error": {"code": error["code"] or error["type"], "message": error["message"]}
                }
                yield {"type": "response.failed", "response": failed}
                return
        if unfinished is not None:
            yield from _finish(unfinished, reply, index)
            index += 1
        unfinished = part
        yield from _begin(part, reply, index)
    if unfinished is not None:
        yield from _finish(unfinished, reply, index)
    response = whole(reply)
    yield {"type": f"response.{response['status']}", "response": response}


def whole(reply: Reply) -> dict[str, Any]:
    status, reason = _ENDS.get(reply.stop, ("completed", None))
    details = {"incomplete_details": {"reason": reason}} if reason else {}
    return _response(reply, status) | details | {"output": _items(reply), "usage": _usage(reply.usage)}


def problem(status: int, message: str, code: str) -> dict[str, Any]:
    return {"error": error_body(status, message, code)}


_ENDS = {"max_tokens": ("incomplete", "max_output_tokens"), "refusal": ("incomplete", "content_filter")}


def _response(reply: Reply, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "model": reply.model,
        "status": status,
        "output": [],
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _items(reply: Reply) -> list[dict[str, Any]]:
    parts = (part for part in reply.parts if isinstance(part, Text | Thinking | ToolUse | ToolSearch))
    return [_item(part, reply, index) for index, part in enumerate(parts)]


def _item(part: Part, reply: Reply, index: int) -> dict[str, Any]:
    match part:
        case Text(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return _shell("message", "msg", reply, index) | {"role": "assistant", "content": content}
        case Thinking(text, raw):
            thought = {
                "id": f"rs_{reply.id}_{index}",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": text}],
                "encrypted_content": "c2NyaXB0ZWQ=",
            }
            return thought | ({"content": [{"type": "reasoning_text", "text": raw}]} if raw else {})
        case ToolUse(name, _, id, _, str() as text):
            return _shell("custom_tool_call", "ctc", reply, index) | {
                "call_id": id,
                "name": name,
                "input": text,
            }
        case ToolUse(name, arguments, id, namespace):
            call = _shell("function_call", "fc", reply, index) | {
                "call_id": id,
                "name": name,
                "arguments": msgspec.json.encode(arguments).decode(),
            }
            return call | ({"namespace": namespace} if namespace else {})
        case ToolSearch(query, id):
            return _shell("tool_search_call", "tsc", reply, index) | {
                "call_id": id,
                "execution": "client",
                "arguments": {"query": query, "limit": 8},
            }
    raise TypeError(part)


def _shell(type: str, prefix: str, reply: Reply, index: int) -> dict[str, Any]:
    return {"id": f"{prefix}_{reply.id}_{index}", "type": type, "status": "completed"}


_EMPTY: dict[str, dict[str, Any]] = {
    "message": {"status": "in_progress", "content": []},
    "reasoning": {"summary": [], "content": []},
    "custom_tool_call": {"status": "in_progress", "input": ""},
    "function_call": {"status": "in_progress", "arguments": ""},
    "tool_search_call": {},
}


def _begin(part: Part, reply: Reply, index: int) -> Iterator[dict[str, Any] | Delay]:
    item = _item(part, reply, index)
    at = {"item_id": item["id"], "output_index": index}
    yield {
        "type": "response.output_item.added",
        "output_index": index,
        "item": item | _EMPTY[item["type"]],
    }
    match part:
        case Text():
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **at, "content_index": 0, "part": empty}
            yield from _deltas("response.output_text.delta", pieces(part), **at, content_index=0)
        case Thinking(raw=raw):
            summary = {"type": "summary_text", "text": ""}
            yield {
                "type": "response.reasoning_summary_part.added",
                **at,
                "summary_index": 0,
                "part": summary,
            }
            yield from _deltas("response.reasoning_summary_text.delta", pieces(part), **at, summary_index=0)
            yield from _deltas("response.reasoning_text.delta", split(raw, 24), **at, content_index=0)
        case ToolUse(input=str() as text):
            yield from _deltas("response.custom_tool_call_input.delta", split(text, 24), **at)
        case ToolUse():
            yield from _deltas("response.function_call_arguments.delta", split(item["arguments"], 24), **at)


def _deltas(type: str, texts: Iterable[str | Delay], **at: Any) -> Iterator[dict[str, Any] | Delay]:
    for text in texts:
        yield text if isinstance(text, Delay) else {"type": type, **at, "delta": text}


def _finish(part: Part, reply: Reply, index: int) -> Iterator[dict[str, Any]]:
    item = _item(part, reply, index)
    at = {"item_id": item["id"], "output_index": index}
    match part:
        case Text(text):
            done = item["content"][0]
            yield {"type": "response.output_text.done", **at, "content_index": 0, "text": text}
            yield {"type": "response.content_part.done", **at, "content_index": 0, "part": done}
        case Thinking(text):
            done = {"type": "summary_text", "text": text}
            yield {"type": "response.reasoning_summary_text.done", **at, "summary_index": 0, "text": text}
            yield {"type": "response.reasoning_summary_part.done", **at, "summary_index": 0, "part": done}
        case ToolUse(input=None):
            yield {
                "type": "response.function_call_arguments.done",
                **at,
                "arguments": item["arguments"],
            }
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
