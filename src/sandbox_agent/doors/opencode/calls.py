"""The tool calls of a session that still matter: those without a result, and those that started a sub-agent."""

from __future__ import annotations

from collections.abc import Sequence

from ...schema.items import ToolCall
from .shapes import ToolPart
from .tools import MOST_OUTPUT, Drawn

MOST_TASKS = 64
"""Sub-agents that are remembered after their result, because they may go on in the background."""
OFTEN_UNTIL = 4096
"""Up to this size a client gets the output with every piece, afterwards only when it has grown by an eighth."""


class Call:
    def __init__(
        self, item_id: str, sequence: int, given: ToolCall, drawn: Drawn, part: ToolPart, started: int
    ) -> None:
        self.item_id = item_id
        self.sequence = sequence
        self.given = given
        self.drawn = drawn
        self.part = part
        self.started = started
        self.answers: Sequence[Sequence[str]] | None = None
        self.result_id = ""
        self.output = ""
        """The end of what it has written so far."""
        self._size = 0
        self._shown = 0

    def grow(self, output: str) -> bool:
        """Add output; True if a client should see it. It always gets the whole, so not each piece is worth it."""
        self.output = (self.output + output)[-MOST_OUTPUT:]
        self._size += len(output)
        if self._size < OFTEN_UNTIL or self._size >= self._shown * 9 // 8:
            self._shown = self._size
            return True
        return False


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
        if len(self._finished_tasks) > MOST_TASKS:
            oldest = next(iter(self._finished_tasks))
            del self._finished_tasks[oldest]
            del self._by_item[oldest]
        return call
