"""Plays a scenario for one request: picks the reply that is due, and fills in values from the request."""

from __future__ import annotations

import re
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from .model_request import ModelRequest, call_id
from .scenarios import Chosen, Scenario, choose, without_marker
from .steps import (
    Call,
    Command,
    Cut,
    Delay,
    Edit,
    HttpError,
    Mcp,
    Next,
    Part,
    Plan,
    Question,
    Read,
    Refusal,
    Reply,
    Step,
    Stop,
    StreamError,
    Subagent,
    Text,
    ToolSearch,
    ToolUse,
    Usage,
    Write,
)
from .tools import expand

Written = Step | ToolUse | ToolSearch
TOOL_STEPS = (Command, Write, Edit, Read, Question, Plan, Subagent, Mcp, Call)


class Attempts:
    """How often a step that fails a limited number of times has failed. The scripted model has no other
    memory.
    """

    def __init__(self) -> None:
        self._counts: Counter[object] = Counter()
        self._lock = threading.Lock()

    def spent(self, key: object, times: int) -> bool:
        with self._lock:
            self._counts[key] += 1
            return self._counts[key] > times


def reply_to(
    request: ModelRequest, scenarios: Mapping[str, Scenario], attempts: Attempts, call_prefix: str
) -> Reply | Refusal:
    """The reply that is due, or the error to answer with."""
    match request.kind:
        case "title":
            return _title(request, call_prefix)
        case "probe":
            return _reply(request, (Text("ok"),))
    chosen = choose("SCENARIO:compaction" if request.kind == "compaction" else request.prompt, scenarios)
    written = _replies(_written(chosen, request))
    round = 0 if request.kind == "compaction" else request.round
    due = written[round] if round < len(written) else [Text("The script is over.")]
    return _play(due, request, chosen, attempts, call_prefix)


def _play(
    steps: Iterable[Written], request: ModelRequest, chosen: Chosen, attempts: Attempts, call_prefix: str
) -> Reply | Refusal:
    reply = _reply(request, ())
    parts: list[Part] = []
    usage, stop = reply.usage, reply.stop
    for number, step in enumerate(steps):
        match step:
            case HttpError(times=times) | StreamError(times=times) | Cut(times=times) if (
                times
                and attempts.spent((chosen.name, chosen.arg, request.prompt, request.round, number), times)
            ):
                pass
            case HttpError():
                return Refusal(step, sum(part.seconds for part in parts if isinstance(part, Delay)))
            case Usage():
                usage = step
            case Stop(reason):
                stop = reason
            case ToolUse(id=given) | ToolSearch(id=given):
                id = given or call_id(call_prefix, reply.id, number)
                parts.append(msgspec.structs.replace(step, id=id))
                stop = "tool_use"
            case Next():
                pass
            case _:
                assert not isinstance(step, TOOL_STEPS), step
                parts.append(step)
    return msgspec.structs.replace(reply, parts=tuple(parts), usage=usage, stop=stop)


def _reply(request: ModelRequest, parts: tuple[Part, ...]) -> Reply:
    return Reply(uuid.uuid4().hex[:12], request.model, parts)


def _written(chosen: Chosen, request: ModelRequest) -> Iterator[Written]:
    """The steps, filled in and translated for the agent."""
    values = _values(chosen, request)
    for step in chosen.steps:
        filled = msgspec.convert(_fill(msgspec.to_builtins(step), values), type=Step)
        if isinstance(filled, TOOL_STEPS):
            yield from expand(filled, request)
        else:
            yield filled


def _replies(steps: Iterable[Written]) -> list[list[Written]]:
    """The steps of each reply."""
    replies: list[list[Written]] = [[]]
    ended = called = False
    for step in steps:
        is_call = isinstance(step, ToolUse | ToolSearch)
        about_the_same = is_call or isinstance(step, Usage | Stop | Cut | StreamError | Next)
        if ended or (called and not about_the_same):
            replies.append([])
            ended = called = False
        replies[-1].append(step)
        called |= is_call
        ended = isinstance(step, Next | Stop)
    return replies


def _values(chosen: Chosen, request: ModelRequest) -> dict[str, str]:
    images = request.images
    seen = (
        f"{len(images)} image{'s' if len(images) > 1 else ''}: {', '.join(images)}" if images else "no image"
    )
    return {
        "arg": chosen.arg,
        "prompt": without_marker(request.prompt),
        "messages": str(request.user_messages),
        "images": seen,
        "result": request.last_result.strip(),
        "model": request.model,
        "effort": request.effort or "none",
    }


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    match value:
        case str():
            return re.sub(r"{{(\w+)}}", lambda match: values.get(match[1], match[0]), value)
        case dict():
            return {name: _fill(member, values) for name, member in value.items()}
        case list() | tuple():
            return [_fill(member, values) for member in value]
    return value


def _title(request: ModelRequest, call_prefix: str) -> Reply:
    title = {"title": "Scripted title"}
    if tool := request.title_tool:
        reply = _reply(request, ())
        use = ToolUse(tool.name, title, call_id(call_prefix, reply.id, 0))
        return msgspec.structs.replace(reply, parts=(use,), stop="tool_use")
    wants_json = any("json" in text.lower() for text in request.system_texts)
    return _reply(request, (Text(msgspec.json.encode(title).decode() if wants_json else title["title"]),))
