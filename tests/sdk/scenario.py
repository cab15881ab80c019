"""The scenario as data: its steps, and what must come of them. Knows nothing about any client."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from sandbox_agent import Event, Transcript, TurnFailed
from sandbox_agent.client.failures import AnswerNeeded, TurnError
from sandbox_agent.schema.events import (
    ItemCompleted,
    ItemDelta,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    TurnEnded,
    TurnStarted,
)
from sandbox_agent.schema.inputs import Decision
from sandbox_agent.schema.items import Text, ToolCall

PAGE = 7


class Deltas(Struct, forbid_unknown_fields=True):
    agent_deltas: int


class OnPermission(Struct, forbid_unknown_fields=True):
    reply: Literal["once", "always", "reject"]
    message: str | None = None

    def decision(self) -> Decision:
        return Decision(self.reply, self.message)


class OnQuestion(Struct, forbid_unknown_fields=True):
    answers: list[list[str]] | None = None
    reject: bool = False


class Step(Struct, forbid_unknown_fields=True):
    """A step. Its expectations are compared as written in the file."""

    do: Literal[
        "create", "prompt", "result", "read_back", "terminate", "end_of_follower", "read_past_the_end"
    ]
    session_id: str = ""
    agent: str = ""
    message: str = ""
    on_permission: OnPermission | None = None
    on_question: OnQuestion | None = None
    cancel_after: Deltas | None = None
    kill_daemon_after: Deltas | None = None
    kill_daemon_on: str | None = None
    raise_on_error: bool = True
    timeout_seconds: float | None = None
    answer_timeout_seconds: float | None = None
    reply: Literal["once", "always", "reject"] = "once"
    answer: str = ""
    expect: dict[str, Any] = {}

    def cancels_at(self, events: list[Event]) -> bool:
        return self.cancel_after is not None and _reached(events, self.cancel_after)

    def kills_at(self, events: list[Event]) -> bool:
        if self.kill_daemon_on is not None:
            return [str(event.type) for event in events].count(self.kill_daemon_on) == 1 and (
                events[-1].type == self.kill_daemon_on
            )
        return self.kill_daemon_after is not None and _reached(events, self.kill_daemon_after)

    def check_turn(self, events: list[Event]) -> None:
        assert isinstance(events[0].data, TurnStarted)
        assert isinstance(events[-1].data, TurnEnded)
        assert events[0].data.turn_id == events[-1].data.turn_id
        first = events[0].sequence
        assert [event.sequence for event in events] == list(range(first, first + len(events)))
        expected = dict(self.expect)
        assert _agent_deltas(events) >= expected.pop("at_least_agent_deltas", 0)
        assert {name: FACTS[name](events) for name in expected} == expected

    def check_raised(self, error: TurnError | None) -> None:
        assert (type(error).__name__ if error else None) == self.expect.get("raises")
        match error:
            case TurnFailed():
                facts = {"code": error.code, "message": error.message, "stop_reason": error.stop_reason}
                text = error.transcript.text
                assert {"raises": "TurnFailed", **facts, "text": text} == self.expect
            case AnswerNeeded(request=PermissionRequested() as permission):
                assert permission.action == self.expect["asks"]
                assert "on_permission=" in str(error)
            case AnswerNeeded(request=QuestionRequested() as question):
                assert question.prompt == self.expect["asks"]
                assert "on_question=" in str(error)

    def check_result(self, result: Transcript) -> None:
        assert result.stop_reason == self.expect["stop_reason"]
        assert result.text == self.expect.get("text", result.text)


class Scenario(Struct, forbid_unknown_fields=True):
    name: str
    steps: list[Step]


def load() -> Scenario:
    return msgspec.json.decode(Path(__file__).with_name("scenario.json").read_bytes(), type=Scenario)


def check_log(log: list[Event], turns: list[list[Event]]) -> None:
    """The log has no gaps and no duplicates, and every turn is a slice of it."""
    assert [event.sequence for event in log] == list(range(1, len(log) + 1))
    for turn in turns:
        first = turn[0].sequence
        assert log[first - 1 : first - 1 + len(turn)] == turn


def _texts(events: list[Event]) -> list[str]:
    items = [event.data.item for event in events if isinstance(event.data, ItemCompleted)]
    spoken = [
        item for item in items if (item.kind, item.role, item.status) == ("message", "assistant", "completed")
    ]
    return [part.text for item in spoken for part in item.content if isinstance(part, Text)]


def _answer(events: list[Event]) -> str:
    """The agent's reply, from the deltas alone."""
    deltas = [event.data for event in events if isinstance(event.data, ItemDelta)]
    reply = [d for d in deltas if (d.kind, d.role, d.visibility) == ("message", "assistant", UNSET)]
    return "".join(delta.delta for delta in reply)


def _tools(events: list[Event]) -> list[list[str]]:
    items = [event.data.item for event in events if isinstance(event.data, ItemCompleted)]
    calls = [part for item in items for part in item.content if isinstance(part, ToolCall)]
    return [[call.name, call.kind, call.title] for call in calls]


def _permissions(events: list[Event]) -> list[list[str]]:
    resolved = [event.data for event in events if isinstance(event.data, PermissionResolved)]
    return [
        [permission.action, permission.metadata.kind, permission.metadata.title, permission.status]
        for permission in resolved
    ]


def _questions(events: list[Event]) -> list[list[str]]:
    return [[e.data.prompt, e.data.status] for e in events if isinstance(e.data, QuestionResolved)]


def _stop_reason(events: list[Event]) -> str | None:
    ended = events[-1].data
    return ended.metadata.stop_reason if isinstance(ended, TurnEnded) else None


FACTS: dict[str, Any] = {
    "texts": _texts,
    "answer": _answer,
    "tools": _tools,
    "permissions": _permissions,
    "questions": _questions,
    "stop_reason": _stop_reason,
}


def _agent_deltas(events: list[Event]) -> int:
    return sum(event.source == "agent" and isinstance(event.data, ItemDelta) for event in events)


def _reached(events: list[Event], mark: Deltas) -> bool:
    """Whether the last event reaches this count."""
    return _agent_deltas(events) == mark.agent_deltas and isinstance(events[-1].data, ItemDelta)
