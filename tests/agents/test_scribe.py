"""The scribe enforces the rules of the contract, whatever an agent sends and in whatever order."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_agent.agents.scribe import Ask, Draft, Pending, Recovery, Scribe, draft_of
from sandbox_agent.schema.events import (
    AgentUnparsed,
    AnyData,
    AskedQuestion,
    Choice,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionMetadata,
    PermissionRequested,
    PermissionResolved,
    QuestionMetadata,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    SessionMetadata,
    SessionStarted,
    Source,
    Stderr,
    StopReason,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
    decode_event,
)
from sandbox_agent.schema.inputs import Attachment
from sandbox_agent.schema.items import (
    ContentPart,
    FileRef,
    Image,
    Item,
    ItemStatus,
    Json,
    Reasoning,
    StatusPart,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
)
from sandbox_agent.schema.sessions import Used
from sandbox_agent.schema.world import World, counted
from sandbox_agent.testing.rules import violations

STARTED = SessionStarted(SessionMetadata("mock"))
UNANSWERED = "not answered before the turn ended"

PLAIN_DIFF = "--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n"


def new_scribe(*used_call_ids: str) -> Scribe:
    """A scribe whose clock advances a second each time it is read."""
    clock = itertools.count()
    return Scribe(counted(lambda: float(next(clock))), used_call_ids, "/images/")


def in_turn() -> Scribe:
    """A scribe in the middle of a turn, with nothing written since."""
    scribe = new_scribe()
    scribe.start_session(SessionMetadata("mock"))
    scribe.start_turn("turn_a")
    scribe.take()
    return scribe


def written(scribe: Scribe) -> list[AnyData]:
    """What was written since the last call."""
    drafts = [draft.data for draft in scribe.drafts]
    scribe.take()
    return drafts


def sources(scribe: Scribe) -> list[Source]:
    return [draft.source for draft in scribe.drafts]


def message(id: str, status: ItemStatus, *parts: ContentPart, native: str | None = None) -> Item:
    return Item(id, native, None, "message", "assistant", status, parts)


def tool(name: str, arguments: str, call_id: str, kind: ToolKind = "other", title: str = "") -> ToolCall:
    return ToolCall(name, arguments, call_id, kind, title or name)


def call(id: str, status: ItemStatus, part: ToolCall, native: str = "c", parent: str | None = None) -> Item:
    return Item(id, native, parent, "tool_call", "assistant", status, (part,))


def result(
    id: str, status: ItemStatus, *parts: ContentPart, native: str = "c", parent: str | None = None
) -> Item:
    return Item(id, native, parent, "tool_result", "tool", status, parts)


def turn_ended(
    reason: StopReason, seconds: int = 1, usage: Usage | None = None, waited: int = 0
) -> TurnEnded:
    return TurnEnded("turn_a", TurnMetadata(reason, seconds * 1000, usage, waited * 1000))


# -- rule 1: the session ----------------------------------------------------------------------


def test_a_session_starts_and_ends_once_and_nothing_follows() -> None:
    scribe = new_scribe()
    scribe.start_session(SessionMetadata("mock"))
    stderr = Stderr(False, "boom", total_lines=1)
    scribe.end_session("error", message="it broke", exit_code=3, stderr=stderr)
    scribe.end_session("terminated")
    scribe.start_turn()
    scribe.user_message("hello")
    scribe.text("t", "hello")
    scribe.result("c", "out")
    scribe.ask("a", Ask("bash", {}))
    scribe.status("title")
    scribe.end_turn("end_turn")
    scribe.crash(1, None, None)
    assert written(scribe) == [STARTED, SessionEnded("error", "daemon", "it broke", 3, stderr)]


def test_ending_a_session_ends_everything_open_in_it() -> None:
    scribe = in_turn()
    scribe.text("t", "hel")
    scribe.ask("a", Ask("bash", {}))
    written(scribe)
    scribe.end_session("terminated")
    metadata = PermissionMetadata(
        "bash", {}, decided_by="daemon", message=UNANSWERED, kind="other", title="bash"
    )
    assert written(scribe) == [
        PermissionResolved("perm_1", "bash", "reject", metadata),
        ItemCompleted(message("itm_1", "failed", Text("hel"))),
        turn_ended("interrupted", 3, waited=1),
        SessionEnded("terminated", "daemon"),
    ]


def test_events_carry_the_current_native_session_id() -> None:
    scribe = new_scribe()
    scribe.start_session(SessionMetadata("mock"))
    scribe.native_session_id = "native"
    scribe.frame.bytes = b"{}"
    scribe.start_turn("turn_a", source="agent")
    assert scribe.drafts == [
        draft_of(STARTED, "daemon", None, None),
        draft_of(TurnStarted("turn_a"), "agent", "native", b"{}"),
    ]


# -- rule 2: turns ----------------------------------------------------------------------------


def test_one_turn_is_open_at_a_time_and_ends_once() -> None:
    scribe = new_scribe()
    scribe.end_turn("end_turn")
    scribe.start_turn("turn_a", metadata={"why": "prompt"})
    scribe.start_turn("turn_b")
    scribe.end_turn("end_turn", Usage(1, 2), duration_ms=5)
    scribe.end_turn("error")
    usage = TurnMetadata("end_turn", 5, Usage(1, 2))
    assert written(scribe) == [TurnStarted("turn_a", metadata={"why": "prompt"}), TurnEnded("turn_a", usage)]


def test_our_own_stop_reason_overrides_the_agents() -> None:
    scribe = in_turn()
    assert scribe.turn is not None
    scribe.turn.stop_reason = "interrupted"
    scribe.end_turn("error")
    assert written(scribe) == [turn_ended("interrupted")]


def test_a_crash_is_an_error_of_the_turn_and_nothing_between_turns() -> None:
    scribe = in_turn()
    scribe.text("t", "hel")
    written(scribe)
    scribe.crash(None, "SIGKILL", None)
    details = {"exit_code": None, "signal": "SIGKILL", "stderr": None}
    assert written(scribe) == [
        ErrorEvent("the agent's process exited (SIGKILL)", "agent_process_exited", details),
        ItemCompleted(message("itm_1", "failed", Text("hel"))),
        turn_ended("error"),
    ]
    scribe.crash(0, None, None)
    assert written(scribe) == []


# -- rule 3: items ----------------------------------------------------------------------------


def test_an_item_starts_is_streamed_and_ends_once() -> None:
    scribe = in_turn()
    ids = [scribe.text("t", "hel", native_id="n"), scribe.text("t", "lo"), scribe.end_text("t", "hello")]
    ids += [scribe.text("t", "late"), scribe.end_text("t", "later"), scribe.text("t", "")]
    assert ids == ["itm_1"] * 6
    assert written(scribe) == [
        ItemStarted(message("itm_1", "in_progress", Text(""), native="n")),
        ItemDelta("itm_1", "n", "hel"),
        ItemDelta("itm_1", "n", "lo"),
        ItemCompleted(message("itm_1", "completed", Text("hello"), native="n")),
    ]


def test_abandoned_items_fail_at_once() -> None:
    scribe = in_turn()
    scribe.text("t", "hel")
    scribe.call("c", "bash")
    scribe.call_delta("c", '{"comm')
    written(scribe)
    scribe.abandon("t")
    scribe.abandon("c")
    scribe.abandon("unknown")
    assert sources(scribe) == ["daemon"] * 4
    assert written(scribe) == [
        ItemCompleted(message("itm_1", "failed", Text("hel"))),
        ItemCompleted(call("itm_2", "failed", tool("bash", '{"comm', "c"))),
        ItemStarted(result("itm_3", "in_progress", ToolResult("c", ""))),
        ItemCompleted(result("itm_3", "failed", ToolResult("c", ""))),
    ]


def test_only_background_calls_outlive_their_turn() -> None:
    scribe = in_turn()
    scribe.end_call("c", "bash", "{}")
    scribe.keep_running("c")
    parent = scribe.end_call("agent", "task", "{}")
    scribe.result("agent", "started")
    scribe.text("sub", "wor", parent=parent, outlives_turn=True)
    scribe.text("t", "hel")
    written(scribe)
    scribe.end_turn("end_turn")
    assert written(scribe) == [ItemCompleted(message("itm_6", "failed", Text("hel"))), turn_ended("end_turn")]
    assert not scribe.nothing_open()
    scribe.result_delta("c", "out")
    scribe.text("sub", "king")
    scribe.close_background()
    assert written(scribe) == [
        ItemDelta("itm_2", "c", "out", "tool_result", "tool"),
        ItemDelta("itm_5", None, "king", parent_id=parent or ""),
        ItemCompleted(Item("itm_5", None, parent, "message", "assistant", "failed", (Text("working"),))),
        ItemCompleted(result("itm_2", "failed", ToolResult("c", "out"))),
    ]
    assert scribe.nothing_open()


# -- rule 4: messages -------------------------------------------------------------------------


def test_text_that_was_never_streamed_gets_one_full_delta() -> None:
    scribe = in_turn()
    scribe.end_text("t", "hello", native_id="n")
    assert sources(scribe) == ["agent", "daemon", "agent"]
    assert written(scribe) == [
        ItemStarted(message("itm_1", "in_progress", Text(""), native="n")),
        ItemDelta("itm_1", "n", "hello"),
        ItemCompleted(message("itm_1", "completed", Text("hello"), native="n")),
    ]


def test_the_rest_of_a_longer_final_text_is_streamed() -> None:
    scribe = in_turn()
    scribe.text("t", "hel")
    written(scribe)
    scribe.end_text("t", "hello")
    assert written(scribe) == [
        ItemDelta("itm_1", None, "lo"),
        ItemCompleted(message("itm_1", "completed", Text("hello"))),
    ]


def test_a_final_text_that_contradicts_what_was_streamed_is_an_item_of_its_own() -> None:
    scribe = in_turn()
    scribe.text("t", "hallo", native_id="n")
    written(scribe)
    assert scribe.end_text("t", "hello") == "itm_2"
    assert written(scribe) == [
        ItemCompleted(message("itm_1", "failed", Text("hallo"), native="n")),
        ItemStarted(message("itm_2", "in_progress", Text(""), native="n")),
        ItemDelta("itm_2", "n", "hello"),
        ItemCompleted(message("itm_2", "completed", Text("hello"), native="n")),
    ]


def test_a_failed_message_holds_what_was_streamed() -> None:
    scribe = in_turn()
    scribe.text("t", "hel")
    written(scribe)
    scribe.end_text("t", "hello", failed=True)
    assert written(scribe) == [ItemCompleted(message("itm_1", "failed", Text("hel")))]


def test_there_are_no_empty_messages() -> None:
    scribe = in_turn()
    given = [scribe.text("t", ""), scribe.end_text("t", ""), scribe.end_text("t"), scribe.end_text("t", None)]
    scribe.abandon("t")
    scribe.user_message("")
    assert given == [None] * 4
    assert written(scribe) == []


# -- rule 5: thinking -------------------------------------------------------------------------


def test_thinking_is_a_separate_item() -> None:
    scribe = in_turn()
    scribe.text("th", "hm", thinking="private")
    scribe.end_text("th")
    scribe.end_text("summary", "so", thinking="public")
    assert written(scribe) == [
        ItemStarted(message("itm_1", "in_progress", Reasoning("", "private"))),
        ItemDelta("itm_1", None, "hm", visibility="private"),
        ItemCompleted(message("itm_1", "completed", Reasoning("hm", "private"))),
        ItemStarted(message("itm_2", "in_progress", Reasoning("", "public"))),
        ItemDelta("itm_2", None, "so", visibility="public"),
        ItemCompleted(message("itm_2", "completed", Reasoning("so", "public"))),
    ]


# -- rule 6: tools ----------------------------------------------------------------------------


def test_a_call_and_its_result_are_separate_items() -> None:
    scribe = in_turn()
    scribe.call("c", "bash", parent="itm_0")
    scribe.call_delta("c", "{}")
    scribe.call_delta("c", "")
    scribe.end_call("c", "Bash", '{"a": 1}')
    scribe.call_delta("c", "late")
    scribe.start_result("c")
    scribe.result_delta("c", "ou")
    scribe.result("c", "output", exit_code=2, extra=[FileRef("/a", "write")], failed=True)
    scribe.result("c", "again")
    scribe.result_delta("c", "late")
    output = ToolResult("c", "output", 2)
    assert written(scribe) == [
        ItemStarted(call("itm_1", "in_progress", tool("bash", "", "c"), parent="itm_0")),
        ItemDelta("itm_1", "c", "{}", "tool_call", parent_id="itm_0"),
        ItemCompleted(call("itm_1", "completed", tool("Bash", '{"a": 1}', "c"), parent="itm_0")),
        ItemStarted(result("itm_2", "in_progress", ToolResult("c", ""), parent="itm_0")),
        ItemDelta("itm_2", "c", "ou", "tool_result", "tool", parent_id="itm_0"),
        ItemCompleted(result("itm_2", "failed", output, FileRef("/a", "write"), parent="itm_0")),
    ]


def test_a_call_has_a_kind_and_a_one_line_title() -> None:
    scribe = in_turn()
    scribe.call("c", "bash", kind="command")
    scribe.end_call("c", "bash", "{}", kind="command", title="  ls\n  -la ")
    scribe.end_call("d", "bash", "{}", kind="command", title="x" * 300)
    parts = [part for data in written(scribe) for part in parts_of(data)]
    long = tool("bash", "{}", "d", "command", "x" * 199 + "…")
    assert parts == [
        tool("bash", "", "c", "command"),
        tool("bash", "{}", "c", "command", "ls -la"),
        msgspec.structs.replace(long, arguments=""),
        long,
    ]


def test_a_permission_has_its_tools_kind() -> None:
    scribe = in_turn()
    scribe.ask("a", Ask("WebFetch", {}, "read", tool_kind="fetch", title="http://a"))
    [asked] = written(scribe)
    assert isinstance(asked, PermissionRequested)
    assert asked.metadata == PermissionMetadata("WebFetch", {}, kind="fetch", title="http://a")


@pytest.mark.parametrize(
    "write",
    [
        lambda scribe, deep: scribe.ask("a", Ask("bash", deep)),
        lambda scribe, deep: scribe.status("title", deep),
        lambda scribe, deep: scribe.result("c", "", extra=[Json(deep)]),
    ],
    ids=["ask", "status", "result"],
)
def test_data_that_cannot_be_encoded_leaves_nothing_open(write: Callable[[Scribe, Any], None]) -> None:
    scribe = in_turn()
    deep: Any = "x"
    for _ in range(990):
        deep = [deep]
    with pytest.raises(RecursionError):
        write(scribe, deep)
    scribe.end_turn("end_turn")
    assert (scribe.pending, scribe.nothing_open()) == ({}, True)
    assert [data for data in written(scribe) if isinstance(data, PermissionRequested | ItemDelta)] == []


def test_a_command_with_a_non_zero_exit_code_has_failed_even_if_the_agent_does_not_say_so() -> None:
    scribe = in_turn()
    for code in (None, 0, 1):
        scribe.result(f"c{code}", "", exit_code=code)
    results = [
        data.item
        for data in written(scribe)
        if isinstance(data, ItemCompleted) and data.item.kind == "tool_result"
    ]
    assert [item.status for item in results] == ["completed", "completed", "failed"]


def test_every_call_gets_a_result_at_the_latest_when_its_turn_ends() -> None:
    scribe = in_turn()
    scribe.end_call("done", "bash", "{}")
    scribe.call("begun", "edit")
    scribe.end_call("running", "bash", "{}")
    scribe.result_delta("running", "out")
    written(scribe)
    scribe.end_turn("interrupted")
    assert written(scribe) == [
        ItemStarted(result("itm_5", "in_progress", ToolResult("done", ""), native="done")),
        ItemCompleted(result("itm_5", "failed", ToolResult("done", ""), native="done")),
        ItemCompleted(call("itm_2", "failed", tool("edit", "", "begun"), native="begun")),
        ItemStarted(result("itm_6", "in_progress", ToolResult("begun", ""), native="begun")),
        ItemCompleted(result("itm_6", "failed", ToolResult("begun", ""), native="begun")),
        ItemCompleted(result("itm_4", "failed", ToolResult("running", "out"), native="running")),
        turn_ended("interrupted"),
    ]


def test_repeated_call_ids_are_numbered() -> None:
    scribe = new_scribe("x", "x#2")
    for key in ("one", "two"):
        scribe.call(key, "bash", call_id="x")
        scribe.result(key, "")
    scribe.call("y", "bash")
    calls = [
        part for data in written(scribe) for part in parts_of(data) if isinstance(part, ToolCall | ToolResult)
    ]
    assert {part.call_id for part in calls} == {"x#3", "x#4", "y"}
    assert scribe.calls.new_call_ids == ["x#3", "x#4", "y"]


def parts_of(data: AnyData) -> tuple[ContentPart, ...]:
    return data.item.content if isinstance(data, ItemStarted | ItemCompleted) else ()


def test_output_completes_a_call_whose_arguments_never_became_final() -> None:
    scribe = in_turn()
    scribe.call("c", "bash")
    scribe.call_delta("c", '{"a":1}')
    written(scribe)
    scribe.result_delta("c", "out")
    assert written(scribe)[0] == ItemCompleted(call("itm_1", "completed", tool("bash", '{"a":1}', "c")))


def test_a_calls_key_is_known_as_long_as_the_session_lives() -> None:
    scribe = in_turn()
    id = scribe.call("c", "bash")
    assert (scribe.has_open_call("c"), scribe.open_call_keys(), scribe.call_item("c")) == (True, ["c"], id)
    scribe.result("c", "")
    assert (scribe.has_open_call("c"), scribe.open_call_keys(), scribe.call_item("c")) == (False, [], id)
    assert [scribe.call("c", "bash"), scribe.end_call("c", "bash", "{}")] == [id, id]


# -- rule 7: prompts --------------------------------------------------------------------------


def test_a_prompt_is_a_complete_user_message() -> None:
    scribe = in_turn()
    files = (Attachment("/a.png"), Attachment("/b.bin", "image/webp"), Attachment("/c.txt", "text/plain"))
    scribe.user_message("look", files, native_id="n")
    scribe.user_message("", files[:1], source="agent")
    assert sources(scribe) == ["daemon"] * 3 + ["agent"] * 2
    content = (
        Text("look"),
        Image("/a.png", "image/png"),
        Image("/b.bin", "image/webp"),
        FileRef("/c.txt", "read"),
    )
    assert written(scribe) == [
        ItemStarted(Item("itm_1", "n", None, "message", "user", "in_progress")),
        ItemDelta("itm_1", "n", "look", role="user"),
        ItemCompleted(Item("itm_1", "n", None, "message", "user", "completed", content)),
        ItemStarted(Item("itm_2", None, None, "message", "user", "in_progress")),
        ItemCompleted(Item("itm_2", None, None, "message", "user", "completed", content[1:2])),
    ]


# -- rule 8: permissions and questions --------------------------------------------------------


def test_a_permission_is_resolved_once() -> None:
    scribe = in_turn()
    scribe.call("c", "bash", call_id="x")
    written(scribe)
    ask = Ask("bash", {"command": "ls"}, "command", "c", ("/a",), PLAIN_DIFF, "shell", title="ls")
    scribe.ask("a", ask)
    held = msgspec.structs.replace(asked(), input=msgspec.Raw(b'{"command":"ls"}'))
    assert scribe.pending == {
        "a": Pending("perm_1", "a", PermissionRequested("perm_1", "bash", "requested", held), ask)
    }
    assert scribe.answer("a", (("yes",),), "client") is False
    assert scribe.decide("a", "accept_for_session", "client", "go on") is True
    assert scribe.decide("a", "reject", "client") is False
    assert written(scribe) == [
        PermissionRequested("perm_1", "bash", "requested", asked()),
        PermissionResolved(
            "perm_1", "bash", "accept_for_session", asked(decided_by="client", message="go on")
        ),
    ]


def test_a_permission_can_be_resolved_from_a_deeper_stack_than_it_was_asked_from() -> None:
    scribe = in_turn()
    deep: Any = "x"
    for _ in range(800):
        deep = [deep]
    scribe.ask("a", Ask("bash", deep))

    def decide(frames: int) -> bool:
        return decide(frames - 1) if frames else scribe.decide("a", "accept", "client")

    assert decide(170) is True


def asked(**facts: Any) -> PermissionMetadata:
    named: dict[str, Any] = {"kind": "command", "title": "ls"}
    return PermissionMetadata("bash", {"command": "ls"}, "x", ("/a",), PLAIN_DIFF, "shell", **named, **facts)


def test_a_repeated_request_is_asked_once() -> None:
    scribe = in_turn()
    scribe.ask("a", Ask("bash", {}))
    scribe.ask("a", Ask("bash", {}))
    scribe.question("q", [AskedQuestion("Which?", "", ())])
    scribe.plan("q", "the plan")
    assert [type(data) for data in written(scribe)] == [PermissionRequested, QuestionRequested]
    scribe.end_turn("end_turn")
    assert [type(data) for data in written(scribe)] == [PermissionResolved, QuestionResolved, TurnEnded]


def test_several_questions_are_one_request() -> None:
    scribe = in_turn()
    questions = (
        AskedQuestion("Which?", "Colour", (Choice("Red"), Choice("Blue")), multi_select=True),
        AskedQuestion("Why?", "Reason", ()),
    )
    scribe.question("q", questions, call="c")
    assert scribe.decide("q", "accept", "client") is False
    assert scribe.answer("q", (("Red", "Blue"), ("because",)), "client") is True
    assert scribe.answer("q", None, "client") is False
    answered = QuestionMetadata(questions, (("Red", "Blue"), ("because",)), "client", call_id="c")
    options = ("Red", "Blue")
    assert written(scribe) == [
        QuestionRequested("q_1", "Which?", options, "requested", QuestionMetadata(questions, call_id="c")),
        QuestionResolved("q_1", "Which?", options, "answered", answered, "Red, Blue, because"),
    ]


@pytest.mark.parametrize(
    "answers, status, response",
    [((("approve",),), "answered", "approve"), (None, "rejected", None)],
)
def test_a_plan_is_a_question_to_approve_or_reject(
    answers: tuple[tuple[str, ...], ...] | None, status: Any, response: str | None
) -> None:
    scribe = in_turn()
    scribe.plan("p", "1. think")
    scribe.answer("p", answers, "client", "go on")
    choices = (Choice("approve", "Carry out this plan"), Choice("reject", "Keep planning"))
    questions = (AskedQuestion("1. think", "Plan", choices),)
    options = ("approve", "reject")
    resolved = QuestionMetadata(questions, answers, "client", "go on", plan=True)
    assert written(scribe) == [
        QuestionRequested("q_1", "1. think", options, "requested", QuestionMetadata(questions, plan=True)),
        QuestionResolved("q_1", "1. think", options, status, resolved, response),
    ]


@pytest.mark.parametrize("key", ["a", "q"])
def test_a_request_withdrawn_by_the_agent_is_rejected(key: str) -> None:
    scribe = in_turn()
    scribe.ask("a", Ask("bash", {}))
    scribe.question("q", [AskedQuestion("Which?", "", ())])
    written(scribe)
    assert scribe.withdraw(key, "agent", "never mind", source="agent") is True
    assert scribe.withdraw(key, "agent", "never mind", source="agent") is False
    assert sources(scribe) == ["agent"]
    [resolved] = written(scribe)
    assert isinstance(resolved, PermissionResolved | QuestionResolved)
    assert resolved.metadata is not None
    assert (resolved.metadata.decided_by, resolved.metadata.message) == ("agent", "never mind")
    assert resolved.status in ("reject", "rejected")


def test_unanswered_requests_are_rejected_before_the_turn_ends() -> None:
    scribe = in_turn()
    scribe.ask("a", Ask("bash", {}))
    scribe.question("q", [AskedQuestion("Which?", "", ())])
    written(scribe)
    scribe.end_turn("end_turn")
    permission = PermissionMetadata(
        "bash", {}, decided_by="daemon", message=UNANSWERED, kind="other", title="bash"
    )
    question = QuestionMetadata((AskedQuestion("Which?", "", ()),), None, "daemon", UNANSWERED)
    assert written(scribe) == [
        PermissionResolved("perm_1", "bash", "reject", permission),
        QuestionResolved("q_1", "Which?", (), "rejected", question),
        turn_ended("end_turn", 3, waited=1),
    ]


# -- rule 9: stubs ----------------------------------------------------------------------------


def test_a_result_without_a_call_opens_a_stub_first() -> None:
    scribe = in_turn()
    scribe.result("c", "out")
    assert sources(scribe) == ["daemon", "daemon", "agent", "agent"]
    assert written(scribe) == [
        ItemStarted(call("itm_1", "in_progress", tool("unknown", "", "c"))),
        ItemCompleted(call("itm_1", "completed", tool("unknown", "{}", "c"))),
        ItemStarted(result("itm_2", "in_progress", ToolResult("c", ""))),
        ItemCompleted(result("itm_2", "completed", ToolResult("c", "out"))),
    ]


# -- facts ------------------------------------------------------------------------------------


def test_facts_are_complete_items() -> None:
    scribe = new_scribe()
    scribe.status("usage", {"tokens": 1}, "much", native_id="n", source="daemon")
    scribe.system("updated")
    scribe.unknown([1])
    usage = (StatusPart("usage", "much"), Json({"tokens": 1}))
    assert written(scribe) == [
        ItemStarted(Item("itm_1", "n", None, "status", None, "in_progress", usage)),
        ItemCompleted(Item("itm_1", "n", None, "status", None, "completed", usage)),
        ItemStarted(Item("itm_2", None, None, "system", "system", "in_progress", (Text("updated"),))),
        ItemDelta("itm_2", None, "updated", "system", "system"),
        ItemCompleted(Item("itm_2", None, None, "system", "system", "completed", (Text("updated"),))),
        ItemStarted(Item("itm_3", None, None, "unknown", None, "in_progress", (Json([1]),))),
        ItemCompleted(Item("itm_3", None, None, "unknown", None, "completed", (Json([1]),))),
    ]


def test_an_unparsed_payload_is_kept_by_its_digest() -> None:
    scribe = new_scribe()
    scribe.unparsed("no JSON", "stdout")
    scribe.frame.bytes = b"oops"
    scribe.unparsed("no JSON", "stdout")
    digest = hashlib.sha256(b"oops").hexdigest()
    assert written(scribe) == [AgentUnparsed("no JSON", "stdout"), AgentUnparsed("no JSON", "stdout", digest)]


def test_an_image_is_stored_under_its_content() -> None:
    scribe = new_scribe()
    first, again = scribe.image(b"pixels", "image/png"), scribe.image(b"pixels", "image/png")
    assert first == again
    [(name, content)] = scribe.calls.blobs.items()
    assert (first, content, name.endswith(".png")) == (Image(f"/images/{name}", "image/png"), b"pixels", True)


# -- any order --------------------------------------------------------------------------------

KEYS = ("1", "2", "3", "4")
WORDS = ("", "a", "ab", "b", "abc")
Step = tuple[str, str, str]
Action = Callable[[Scribe, str, str], object]


def parent_of(scribe: Scribe, key: str) -> str | None:
    return scribe.call_item(f"call {key}")


# Calls that an adapter may make only while a turn is open.
IN_A_TURN: dict[str, Action] = {
    "prompt": lambda scribe, key, word: scribe.user_message(word),
    "text": lambda scribe, key, word: scribe.text(f"text {key}", word),
    "end text": lambda scribe, key, word: scribe.end_text(f"text {key}", word),
    "end streamed": lambda scribe, key, word: scribe.end_text(f"text {key}"),
    "fail text": lambda scribe, key, word: scribe.end_text(f"text {key}", word, failed=True),
    "think": lambda scribe, key, word: scribe.text(f"thought {key}", word, thinking="public"),
    "end thought": lambda scribe, key, word: scribe.end_text(f"thought {key}", word, thinking="private"),
    "call": lambda scribe, key, word: scribe.call(f"call {key}", "tool", call_id=word or None),
    "end call": lambda scribe, key, word: scribe.end_call(f"call {key}", "tool", word, call_id=word or None),
    "result": lambda scribe, key, word: scribe.result(f"call {key}", word, failed=word == "b"),
    "keep running": lambda scribe, key, word: scribe.keep_running(f"call {key}"),
    "ask": lambda scribe, key, word: scribe.ask(f"ask {key}", Ask("tool", {}, call=f"call {key}")),
    "question": lambda scribe, key, word: scribe.question(f"ask {key}", []),
    "plan": lambda scribe, key, word: scribe.plan(f"ask {key}", word),
}
# Calls on behalf of a sub-agent, allowed as long as the call that started it is known.
BELOW_A_CALL: dict[str, Action] = {
    "sub text": lambda scribe, key, word: scribe.text(
        f"sub text {key}", word, parent=parent_of(scribe, key), outlives_turn=True
    ),
    "end sub text": lambda scribe, key, word: scribe.end_text(
        f"sub text {key}", word, parent=parent_of(scribe, key), outlives_turn=True
    ),
    "sub call": lambda scribe, key, word: scribe.call(
        f"sub call {key}", "tool", parent=parent_of(scribe, key), outlives_turn=True
    ),
    "end sub call": lambda scribe, key, word: scribe.end_call(
        f"sub call {key}", "tool", word, parent=parent_of(scribe, key), outlives_turn=True
    ),
}
AT_ANY_TIME: dict[str, Action] = {
    "start turn": lambda scribe, key, word: scribe.start_turn(),
    "end turn": lambda scribe, key, word: scribe.end_turn("end_turn"),
    "abandon text": lambda scribe, key, word: scribe.abandon(f"text {key}"),
    "abandon call": lambda scribe, key, word: scribe.abandon(f"call {key}"),
    "give call up": lambda scribe, key, word: scribe.abandon_call(f"call {key}"),
    "call delta": lambda scribe, key, word: scribe.call_delta(f"call {key}", word),
    "decide": lambda scribe, key, word: scribe.decide(f"ask {key}", "accept", "client"),
    "answer": lambda scribe, key, word: scribe.answer(f"ask {key}", ((word,),), "client"),
    "sub result delta": lambda scribe, key, word: scribe.result_delta(f"sub call {key}", word),
    "status": lambda scribe, key, word: scribe.status("title", word),
    "system": lambda scribe, key, word: scribe.system(word),
    "unknown": lambda scribe, key, word: scribe.unknown({}),
    "error": lambda scribe, key, word: scribe.error(word),
    "crash": lambda scribe, key, word: scribe.crash(1, None, None),
    "end session": lambda scribe, key, word: (
        scribe.end_session("completed", by="agent") if key + word == "1" else None
    ),
}
# A tool's output belongs to an open call: in its turn, or later if it was left running.
OF_AN_OPEN_CALL: dict[str, Action] = {
    "start result": lambda scribe, key, word: scribe.start_result(f"call {key}"),
    "result delta": lambda scribe, key, word: scribe.result_delta(f"call {key}", word),
    "end result": lambda scribe, key, word: scribe.result(f"call {key}", word),
    "end sub result": lambda scribe, key, word: (
        scribe.result(f"sub call {key}", word) if scribe.has_open_call(f"sub call {key}") else None
    ),
}
ACTIONS = IN_A_TURN | BELOW_A_CALL | AT_ANY_TIME | OF_AN_OPEN_CALL
# Turns begin often, and items begin more often than they end, so that something is always open.
NAMES = [*ACTIONS, *["start turn"] * 6, *[*IN_A_TURN, *BELOW_A_CALL] * 2]
STEP = st.tuples(st.sampled_from(NAMES), st.sampled_from(KEYS), st.sampled_from(WORDS))
STEPS = st.integers(0, 50).flatmap(lambda count: st.lists(STEP, min_size=count, max_size=count))


def take(scribe: Scribe, step: Step) -> None:
    """Make a call that an adapter may make now; skip one that it may not."""
    name, key, word = step
    if name in IN_A_TURN and scribe.turn is None:
        return
    if name in BELOW_A_CALL and parent_of(scribe, key) is None:
        return
    if name in OF_AN_OPEN_CALL and "sub" not in name and not scribe.has_open_call(f"call {key}"):
        return
    ACTIONS[name](scribe, key, word)


def events(drafts: Sequence[Draft], after: int = 0) -> list[Event]:
    """The events that a reader would see."""
    return [
        decode_event(
            msgspec.json.encode(
                Event(
                    f"evt_{sequence}",
                    sequence,
                    "2026-01-01T00:00:00.000Z",
                    "s",
                    draft.native_session_id,
                    draft.source,
                    draft.source == "daemon",
                    draft.data.TYPE,
                    draft.data,
                )
            )
        )
        for sequence, draft in enumerate(drafts, start=after + 1)
    ]


@given(STEPS)
@settings(max_examples=150)
def test_no_order_of_calls_violates_the_rules(steps: list[Step]) -> None:
    scribe = new_scribe()
    scribe.start_session(SessionMetadata("mock"))
    for step in steps:
        take(scribe, step)
    assert violations(events(scribe.drafts), complete=False) == []
    scribe.end_turn("end_turn")
    scribe.close_background()
    assert violations(events(scribe.drafts)) == []
    assert scribe.ended or scribe.nothing_open()


@given(STEPS, st.booleans())
@settings(max_examples=100)
def test_items_left_open_by_one_scribe_can_be_closed_by_another(steps: list[Step], turn_first: bool) -> None:
    scribe = new_scribe()
    scribe.start_session(SessionMetadata("mock"))
    for step in steps:
        # The log takes the drafts of one step in one transaction, so a restart cuts between steps.
        take(scribe, step)
    before = events(scribe.drafts)
    numbers = itertools.count(1)
    world = World(lambda prefix: f"{prefix}_new{next(numbers)}", str, lambda: 0.0, str)
    after = Scribe(world, scribe.calls.new_call_ids)
    Recovery(after).read(before)
    if turn_first:
        after.end_turn("outcome_unknown", source="daemon")
        after.close_background()
    else:
        after.close_background()
        after.end_turn("outcome_unknown", source="daemon")
    assert violations([*before, *events(after.drafts, len(before))]) == []
    # The session goes on, with keys and call ids that were used before.
    after.start_turn("turn_new")
    for step in steps:
        take(after, step)
    after.end_turn("end_turn")
    after.close_background()
    assert violations([*before, *events(after.drafts, len(before))]) == []


def test_a_recovered_turns_duration_comes_from_the_log() -> None:
    scribe = in_turn()
    scribe.start_turn("turn_a")
    written(scribe)
    first, last = (
        msgspec.structs.replace(event, time=time)
        for event, time in zip(
            events(
                [
                    draft_of(TurnStarted("turn_a"), "daemon", None, None),
                    draft_of(STARTED, "daemon", "native", None),
                ]
            ),
            ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:09.500Z"),
            strict=True,
        )
    )
    after = Scribe(counted(lambda: 100.0))
    Recovery(after).read([first, last])
    after.end_turn("outcome_unknown", source="daemon")
    assert after.drafts == [
        draft_of(TurnEnded("turn_a", TurnMetadata("outcome_unknown", 9500)), "daemon", "native", None)
    ]


# -- time spent waiting for people ---------------------------------------------------------------


def at(seconds: list[float]) -> Scribe:
    """A scribe in a turn that began at 0; `seconds` holds the time."""
    scribe = Scribe(counted(lambda: seconds[0]))
    scribe.start_session(SessionMetadata("mock"))
    scribe.start_turn("turn_a")
    scribe.take()
    return scribe


def test_a_turn_reports_how_long_it_waited_for_people() -> None:
    now = [0.0]
    scribe = at(now)
    now[0] = 1.0
    scribe.ask("a", Ask("bash", {}))
    now[0] = 3.0
    scribe.question("q", [AskedQuestion("Which?", "", ())])
    now[0] = 4.0
    scribe.decide("a", "accept", "client")
    now[0] = 6.0
    scribe.answer("q", (("this",),), "client")
    now[0] = 10.0
    scribe.end_turn("end_turn")
    assert written(scribe)[-1] == turn_ended("end_turn", 10, waited=5)


def test_waiting_time_does_not_carry_over_to_the_next_turn() -> None:
    now = [0.0]
    scribe = at(now)
    scribe.ask("a", Ask("bash", {}))
    now[0] = 2.0
    scribe.end_turn("end_turn")
    scribe.start_turn("turn_b")
    now[0] = 5.0
    scribe.end_turn("end_turn")
    ends = [data.metadata for data in written(scribe) if isinstance(data, TurnEnded)]
    assert [(end.duration_ms, end.waiting_ms) for end in ends] == [(2000, 2000), (3000, 0)]


def test_waiting_continues_after_a_refused_answer() -> None:
    now = [0.0]
    scribe = at(now)
    scribe.ask("a", Ask("bash", {}))
    now[0] = 2.0
    before = scribe.mark()
    scribe.decide("a", "accept", "client")
    scribe.take()
    scribe.restore(before)
    now[0] = 5.0
    scribe.decide("a", "accept", "client")
    scribe.end_turn("end_turn")
    assert written(scribe)[-1] == turn_ended("end_turn", 5, waited=5)


# -- the model and title an agent reports ---------------------------------------------------------


def test_the_reported_model_is_kept_until_another_is_reported() -> None:
    scribe = at([0.0])
    scribe.uses(model="m1")
    first = scribe.used
    scribe.uses(title="A title")
    scribe.uses(model="m1", title=None)
    assert first == Used("m1")
    assert scribe.used == Used("m1", "A title")
    assert written(scribe) == []
