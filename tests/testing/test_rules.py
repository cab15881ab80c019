"""The rule checker finds violations: each broken session violates exactly the rule it was made to violate."""

from __future__ import annotations

import msgspec
import pytest

from sandbox_agent.schema.events import (
    AgentUnparsed,
    AnyData,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionMetadata,
    PermissionRequested,
    PermissionResolved,
    SessionEnded,
    SessionStarted,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
)
from sandbox_agent.schema.items import ContentPart, Item, ItemStatus, Reasoning, Text, ToolCall, ToolResult
from sandbox_agent.testing.rules import violations

S = SessionStarted()
BEGIN = TurnStarted("turn_1")
END = TurnEnded("turn_1", TurnMetadata("end_turn", 1))
BYE = SessionEnded("terminated", "daemon")
ASKED = PermissionRequested("perm_1", "bash", "requested", PermissionMetadata("bash", None))
ANSWERED = PermissionResolved("perm_1", "bash", "accept", PermissionMetadata("bash", None))
DELTA = ItemDelta("itm_1", None, "hi")


def message(
    status: ItemStatus, *parts: ContentPart, parent: str | None = None, native: str | None = None
) -> Item:
    return Item("itm_1", native, parent, "message", "assistant", status, parts)


STARTED = ItemStarted(message("in_progress"))
DONE = ItemCompleted(message("completed", Text("hi")))
CALL = Item("itm_1", None, None, "tool_call", "assistant", "in_progress", (ToolCall("bash", "", "c"),))
RESULT = Item("itm_2", None, None, "tool_result", "tool", "in_progress", (ToolResult("c", ""),))


def completed(item: Item) -> ItemCompleted:
    return ItemCompleted(msgspec.structs.replace(item, status="completed"))


CALLED = (ItemStarted(CALL), completed(CALL))
RETURNED = (ItemStarted(RESULT), completed(RESULT))


def events(*data: AnyData) -> list[Event]:
    return [
        Event(f"evt_{n}", n, "2026-01-01T00:00:00.000Z", "s", None, "agent", False, each.TYPE, each)
        for n, each in enumerate(data, start=1)
    ]


@pytest.mark.parametrize(
    "data",
    [
        (S,),
        (S, BYE),
        (S, BEGIN, STARTED, DELTA, DONE, *(ASKED, ANSWERED), END, BYE),
        (S, BEGIN, *CALLED, ItemStarted(RESULT), END, completed(RESULT)),
    ],
    ids=["begun", "begun and ended", "a turn", "a result from the background"],
)
def test_a_valid_session_has_no_violations(data: tuple[AnyData, ...]) -> None:
    assert violations(events(*data)) == []


@pytest.mark.parametrize(
    "data, expected",
    [
        ((BEGIN, END), ["1: sequence 1 is not session.started"]),
        ((S, S), ["2: session.started is not sequence 1"]),
        ((S, BYE, BEGIN, END), ["3: turn.started after session.ended", "4: turn.ended after session.ended"]),
        ((S, BEGIN, BYE, END), ["3: session.ended inside a turn", "4: turn.ended after session.ended"]),
        (
            (S, SessionEnded("completed", "agent", "why")),
            ["2: session.ended has error facts without an error"],
        ),
        (
            (S, BEGIN, TurnStarted("turn_2"), END),
            ["3: a turn starts inside a turn", "4: turn turn_1 ends, but turn_2 is open"],
        ),
        ((S, BEGIN, END, BEGIN, END), ["4: turn turn_1 starts twice"]),
        ((S, BEGIN), ["2: a turn is still open"]),
        ((S, STARTED, DELTA, DONE), ["2: message itm_1 starts outside a turn"]),
        ((S, BEGIN, STARTED, DELTA, END, DONE), ["5: turn ends with message itm_1 open"]),
        ((S, BEGIN, STARTED, DELTA, DONE, DELTA, END), ["6: delta for itm_1, which is not open"]),
        ((S, BEGIN, STARTED, DELTA, DONE, DONE, END), ["6: itm_1 completes, but is not open"]),
        ((S, BEGIN, STARTED, DONE, END), ["4: deltas of itm_1 do not add up to its text"]),
        (
            (S, BEGIN, STARTED, ItemCompleted(message("completed")), END),
            ["4: message itm_1 is empty", "4: message itm_1 has no text"],
        ),
        ((S, BEGIN, STARTED, ItemDelta("itm_1", None, ""), DELTA, DONE, END), ["4: empty delta for itm_1"]),
        (
            (
                S,
                BEGIN,
                STARTED,
                DELTA,
                ItemCompleted(message("completed", Text("h"), Reasoning("i", "public"))),
                END,
            ),
            ["5: itm_1 mixes text and thinking"],
        ),
        (
            (S, BEGIN, STARTED, DELTA, ItemCompleted(message("completed", Text("hi"), parent="itm_0")), END),
            ["5: itm_1 changed kind, role or parent"],
        ),
        (
            (S, BEGIN, ItemStarted(message("in_progress", native="a")), DELTA, DONE, END),
            ["5: itm_1 changed native id"],
        ),
        ((S, BEGIN, *CALLED, END), ["5: calls without a result: ['c']"]),
        ((S, BEGIN, *RETURNED, END), ["3: result of unknown call c"]),
        ((S, BEGIN, *CALLED, ItemStarted(RESULT), END), ["6: items still open: ['itm_2']"]),
        ((S, BEGIN, ASKED, END, ANSWERED), ["4: turn ends with ['perm_1'] unanswered"]),
        ((S, BEGIN, ASKED, ANSWERED, ANSWERED, END), ["5: perm_1 is resolved twice"]),
        ((S, BEGIN, ANSWERED, END), ["3: perm_1 is resolved, but was never asked"]),
        ((S, AgentUnparsed("no JSON", "stdout")), ["2: agent.unparsed at stdout: no JSON"]),
    ],
)
def test_a_violation_is_reported_at_its_sequence(data: tuple[AnyData, ...], expected: list[str]) -> None:
    assert violations(events(*data)) == expected


def test_envelopes_are_checked_too() -> None:
    first, second = events(S, BYE)
    gap = msgspec.structs.replace(second, sequence=3)
    lie = msgspec.structs.replace(second, synthetic=True)
    new = msgspec.structs.replace(second, type="session.paused", data={})
    assert [violations([first, wrong]) for wrong in (gap, lie, new)] == [
        ["3: sequence is not 2"],
        ["2: synthetic is not daemon"],
        ["2: data of session.paused does not decode"],
    ]


def test_an_unfinished_session_may_have_open_items() -> None:
    assert violations(events(S, BEGIN, STARTED, DELTA, ASKED), complete=False) == []
