"""To-do lists: one form for the formats of all agents."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from sandbox_agent.agents.claude.todos import Todos
from sandbox_agent.agents.scribe import Scribe
from sandbox_agent.agents.todos import Entry, entries_of, tell
from sandbox_agent.schema.events import ItemCompleted
from sandbox_agent.schema.items import Json, StatusPart
from sandbox_agent.schema.world import counted


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"content": "Look", "status": "in_progress", "activeForm": "Looking"}, "in_progress"),  # Claude
        ({"step": "Look", "status": "inProgress"}, "in_progress"),  # Codex
        ({"content": "Look", "status": "completed", "priority": "high"}, "completed"),  # OpenCode, ACP
        ({"content": "Look", "status": "todo", "id": "1"}, "pending"),  # Amp
        ({"content": "Look", "status": "in-progress"}, "in_progress"),
        ({"text": "Look", "status": "who knows"}, "pending"),
    ],
)
def test_an_entry_has_a_text_and_one_of_three_statuses(given: dict[str, str], status: Any) -> None:
    assert entries_of([given]) == (Entry("Look", status),)


def test_cancelled_entries_are_left_out() -> None:
    assert entries_of([{"content": "A", "status": "cancelled"}, {"content": "B"}]) == (Entry("B", "pending"),)


@pytest.mark.parametrize("nonsense", [None, "a list", [1], [{"content": 1}]])
def test_invalid_data_is_not_a_list(nonsense: Any) -> None:
    assert entries_of(nonsense) is None


def lists(scribe: Scribe) -> list[Any]:
    plans = []
    for draft in scribe.take():
        if isinstance(draft.data, ItemCompleted):
            label, data = draft.data.item.content
            assert isinstance(label, StatusPart)
            assert isinstance(data, Json)
            assert label.label == "plan"
            plans.append(data.json)
    return plans


def test_a_list_is_a_plan_status_with_entries() -> None:
    scribe = Scribe(counted())
    tell(scribe, [Entry("A", "completed")], "nearly there")
    assert lists(scribe) == [{"entries": [{"text": "A", "status": "completed"}]}]


def test_claude_replaces_its_whole_list() -> None:
    scribe = Scribe(counted())
    todos = [{"content": "A", "status": "completed"}, {"content": "B", "status": "in_progress"}]
    Todos(scribe).handle("TodoWrite", {"todos": todos}, Raw(b"null"), None)
    assert lists(scribe) == [
        {"entries": [{"text": "A", "status": "completed"}, {"text": "B", "status": "in_progress"}]}
    ]


def test_claude_changes_its_tasks_one_by_one() -> None:
    scribe = Scribe(counted())
    todos = Todos(scribe)

    def handle(tool: str, input: Any, result: Any) -> list[Any]:
        todos.handle(tool, input, Raw(msgspec.json.encode(result)), None)
        return [[(entry["text"], entry["status"]) for entry in plan["entries"]] for plan in lists(scribe)]

    assert handle("TaskCreate", {"subject": "A"}, {"task": {"id": "1", "subject": "A"}}) == [
        [("A", "pending")]
    ]
    done = {"success": True, "taskId": "1", "updatedFields": ["status"]}
    assert handle("TaskUpdate", {"taskId": "1", "status": "completed"}, done) == [[("A", "completed")]]
    lost = {"success": False, "taskId": "1", "updatedFields": [], "error": "Task not found"}
    assert handle("TaskUpdate", {"taskId": "1", "status": "pending"}, lost) == []
    assert handle("TaskUpdate", {"taskId": "9", "status": "pending"}, done) == []
    listed = {"tasks": [{"id": "2", "subject": "B", "status": "in_progress"}]}
    assert handle("TaskList", {}, listed) == [[("B", "in_progress")]]
    assert handle("TaskUpdate", {"taskId": "2", "status": "deleted"}, done) == [[]]
