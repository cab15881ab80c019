"""Claude's to-do list. `TodoWrite` replaces the whole list; the `Task…` tools change one entry each."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..lenient import convert
from ..scribe import Scribe
from ..todos import DROPPED, STATUSES, Entry, entries_of, tell

TOOLS = {"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"}
MAX_TASKS = 1_000


class _Written(Struct, frozen=True):
    todos: Any = None


class _Task(Struct, frozen=True):
    id: str = ""
    subject: str = ""
    status: str = "pending"


class _Created(Struct, frozen=True):
    task: _Task = _Task()


class _Listed(Struct, frozen=True):
    tasks: tuple[_Task, ...]


class _Updated(Struct, frozen=True):
    success: bool


class _Update(Struct, frozen=True):
    """The arguments of `TaskUpdate`."""

    taskId: str = ""
    subject: str | None = None
    status: str | None = None


class Todos:
    def __init__(self, scribe: Scribe) -> None:
        self._scribe = scribe
        self._tasks: dict[str, Entry] = {}

    def handle(self, tool: str, input: Any, output: Raw, parent: str | None) -> None:
        """A call of one of these tools has succeeded."""
        if tool == "TodoWrite":
            written = convert(input, _Written)
            if written and (entries := entries_of(written.todos)) is not None:
                tell(self._scribe, entries, parent=parent)
            return
        before = dict(self._tasks)
        self._change(input, output)
        if self._tasks != before:
            tell(self._scribe, self._tasks.values(), parent=parent)

    def _change(self, input: Any, output: Raw) -> None:
        result = msgspec.json.decode(output)
        if listed := convert(result, _Listed):
            self._tasks = {}
            for task in listed.tasks[:MAX_TASKS]:
                self._put(task)
        elif (created := convert(result, _Created)) and created.task.id:
            self._put(created.task)
        elif (updated := convert(result, _Updated)) and not updated.success:
            return
        elif (update := convert(input, _Update)) and (entry := self._tasks.get(update.taskId)):
            status = update.status or entry.status
            self._put(_Task(update.taskId, update.subject or entry.text, status))

    def _put(self, task: _Task) -> None:
        if task.status in DROPPED:
            self._tasks.pop(task.id, None)
        elif task.id in self._tasks or len(self._tasks) < MAX_TASKS:
            self._tasks[task.id] = Entry(task.subject, STATUSES.get(task.status, "pending"))
