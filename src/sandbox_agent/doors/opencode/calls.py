"""The tool calls of a session that still matter: those without a result, and those that started a sub-agent."""

from __future__ import annotations

from collections.abc import Sequence

from ...schema.items import Image, Item, ToolCall
from . import tools
from .files import file_part
from .shapes import Span, ToolPart, ToolState
from .tools import MAX_OUTPUT, RenderedTool

MAX_TASKS = 64
"""Sub-agents that are remembered after their result, because they may continue in the background."""
OFTEN_UNTIL = 4096
"""Up to this size a client gets the output with every piece, afterwards only when it has grown by an eighth."""


class Call:
    def __init__(
        self,
        item_id: str,
        sequence: int,
        given: ToolCall,
        rendered: RenderedTool,
        part: ToolPart,
        started: int,
    ) -> None:
        self.item_id = item_id
        self.sequence = sequence
        self.given = given
        self.rendered = rendered
        self.part = part
        self.started = started
        self.child_id = ""
        """The session of the sub-agent that it may start."""
        self.answers: Sequence[Sequence[str]] | None = None
        self.result_id = ""
        self.output = ""
        """The end of what it has written so far."""
        self._size = 0
        self._shown = 0

    def grow(self, output: str) -> bool:
        """Add output; True if a client should see it. It always gets the whole, so not each piece is worth it."""
        self.output = (self.output + output)[-MAX_OUTPUT:]
        self._size += len(output)
        if self._size < OFTEN_UNTIL or self._size >= self._shown * 9 // 8:
            self._shown = self._size
            return True
        return False

    def running(self) -> ToolState:
        metadata = {"output": self.output} if self.output else {}
        return ToolState(
            status="running",
            input=self.rendered.input,
            title=self.given.title,
            metadata={**metadata, **self._link()} or None,
            time=Span(start=self.started),
        )

    def ended(self, result: Item, directory: str, moment: int) -> ToolState:
        failed, output = result.status == "failed", tools.output_of(result.content)
        metadata = {**tools.metadata_of(self.rendered, result.content, directory), **self._link()}
        self.rendered = RenderedTool(tools.tool_after(self.rendered, result.content), self.rendered.input)
        if self.rendered.tool == "todowrite":
            metadata["todos"] = self.rendered.input.get("todos", [])
        if self.answers is not None:
            metadata["answers"] = self.answers
        return ToolState(
            status="error" if failed else "completed",
            input=self.rendered.input,
            output=None if failed else output,
            error=output or "failed" if failed else None,
            title=self.given.title,
            metadata=metadata,
            time=Span(start=self.started, end=moment),
            attachments=tuple(
                file_part(part, f"{self.part.id}{index}", self.part.session_id, self.part.message_id)
                for index, part in enumerate(result.content)
                if isinstance(part, Image)
            ),
        )

    def _link(self) -> dict[str, str]:
        """A task names the session of its sub-agent."""
        if self.given.kind != "task":
            return {}
        return {"sessionId": self.child_id, "parentSessionId": self.part.session_id}


class Calls:
    def __init__(self) -> None:
        self._by_item: dict[str, Call] = {}
        self._by_call_id: dict[str, Call] = {}
        self._by_result: dict[str, Call] = {}
        self._finished_tasks: dict[str, None] = {}

    def add(self, call: Call) -> None:
        self._by_item[call.item_id] = call
        self._by_call_id[call.given.call_id] = call

    def get(self, item_id: str) -> Call | None:
        return self._by_item.get(item_id)

    def with_call_id(self, call_id: str | None) -> Call | None:
        return self._by_call_id.get(call_id) if call_id else None

    def begin_result(self, call_id: str, item_id: str) -> None:
        if call := self._by_call_id.get(call_id):
            call.result_id = item_id
            self._by_result[item_id] = call

    def of_result(self, item_id: str) -> Call | None:
        return self._by_result.get(item_id)

    def pop(self, call_id: str) -> Call | None:
        """The call that a result ends."""
        call = self._by_call_id.pop(call_id, None)
        if call is None:
            return None
        self._by_result.pop(call.result_id, None)
        if call.given.kind != "task":
            del self._by_item[call.item_id]
            return call
        self._finished_tasks[call.item_id] = None
        if len(self._finished_tasks) > MAX_TASKS:
            oldest = next(iter(self._finished_tasks))
            del self._finished_tasks[oldest]
            del self._by_item[oldest]
        return call
