"""Events become ACP updates: what is replayed says the same as what was streamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.acp_clients import violations

from sandbox_agent.agents.jsonrpc import RpcError
from sandbox_agent.doors.acp import asking
from sandbox_agent.doors.acp.errors import error_of, error_of_turn
from sandbox_agent.doors.acp.frames import (
    AnyUpdate,
    Block,
    ClientCapabilities,
    Resource,
    SessionOffer,
)
from sandbox_agent.doors.acp.prompts import File, read_prompt
from sandbox_agent.doors.acp.tool_calls import diffs_of
from sandbox_agent.doors.acp.updates import Updates
from sandbox_agent.errors import InvalidRequest, SessionNotFound
from sandbox_agent.schema.events import (
    AskedQuestion,
    Choice,
    ErrorEvent,
    Event,
    PermissionRequested,
    QuestionMetadata,
    QuestionRequested,
    decode_event,
)

RECORDINGS = sorted(Path(__file__).parents[2].glob("transcripts/*/*/universal.jsonl"))
EVERYTHING = ClientCapabilities(session=SessionOffer(notices={}, compaction={}))

Update = dict[str, Any]


def events_of(recording: Path) -> list[Event]:
    return [decode_event(line) for line in recording.read_bytes().splitlines()]


def translated(
    events: Iterable[Event], *, live: bool, client: ClientCapabilities = EVERYTHING
) -> list[Update]:
    updates = Updates("/srv/project", client)
    made = list(updates.go_live()) if live else []
    for event in events:
        made += updates.translate(event, {})
    if not live:
        made += updates.go_live()
    return [msgspec.to_builtins(update) for update in made]


def texts_of(updates: Sequence[Update]) -> dict[tuple[str, str], str]:
    """The whole text of each message of the agent."""
    texts: dict[tuple[str, str], str] = {}
    for update in updates:
        kind = update["sessionUpdate"]
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            key = kind, update["messageId"]
            texts[key] = texts.get(key, "") + update["content"]["text"]
    return texts


def ends(updates: Sequence[Update]) -> dict[str, tuple[str, Any]]:
    """How each call ended, and what it shows at last."""
    done = ("completed", "failed")
    return {
        update["toolCallId"]: (update["status"], update["content"])
        for update in updates
        if update["sessionUpdate"] == "tool_call_update" and update.get("status") in done
    }


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_replay_says_what_was_streamed(recording: Path) -> None:
    events = events_of(recording)
    live, replayed = translated(events, live=True), translated(events, live=False)
    assert texts_of(live) == texts_of(replayed)
    assert ends(live) == ends(replayed)
    calls = [update["toolCallId"] for update in live if update["sessionUpdate"] == "tool_call"]
    assert len(calls) == len(set(calls))
    assert ends(live).keys() <= set(calls)


def test_every_update_is_valid() -> None:
    """All recordings in one test: the schema is compiled once."""
    broken = set()
    for recording in RECORDINGS:
        for update in translated(events_of(recording), live=True):
            params = {"sessionId": "s", "update": update}
            broken.update(violations({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    assert broken == set()


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_a_reader_that_comes_in_the_middle_misses_nothing(cut: int) -> None:
    [recording] = [path for path in RECORDINGS if path.parts[-3:-1] == ("mock", "demo")]
    events = events_of(recording)
    updates = Updates("/srv/project", EVERYTHING)
    made: list[AnyUpdate] = []
    for number, event in enumerate(events):
        if number == cut:
            made += updates.go_live()
        made += updates.translate(event, {})
    seen = [msgspec.to_builtins(update) for update in made]
    assert texts_of(seen) == texts_of(translated(events, live=True))
    assert ends(seen) == ends(translated(events, live=True))


def test_notices_are_for_clients_that_show_them() -> None:
    plain = ClientCapabilities()
    kinds = set()
    for recording in RECORDINGS:
        kinds |= {
            update["sessionUpdate"] for update in translated(events_of(recording), live=True, client=plain)
        }
    assert not kinds & {"notice", "compaction_update"}


def test_a_diff_is_shown_as_the_texts_of_its_hunks() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -9 +9 @@\n-nine\n\\ No newline at end of file\n+9\n"
    shown = [(each.path, each.old_text, each.new_text) for each in diffs_of(diff, "/srv/x")]
    assert shown == [("/srv/x", "one\ntwo\n", "one\n2\n"), ("/srv/x", "nine", "9\n")]
    [created] = diffs_of("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", "/srv/x")
    assert (created.old_text, created.new_text) == (None, "new\n")


# -- prompts --------------------------------------------------------------------------------------


def test_a_prompt_is_text_with_its_files() -> None:
    prompt = read_prompt(
        [
            Block(type="text", text="Look at"),
            Block(type="resource_link", uri="file:///srv/a%20b.py", name="a b.py"),
            Block(type="text", text="please"),
            Block(type="image", data="aGk=", mime_type="image/png"),
            Block(type="resource", resource=Resource(uri="file:///srv/notes.md", text="note")),
            Block(type="resource", resource=Resource(uri="zed:///x", blob="aGk=", mime_type="a/b")),
        ]
    )
    assert prompt.text == "Look at [@a b.py](/srv/a b.py) please"
    assert prompt.files == (
        File(b"hi", "image.png", "image/png"),
        File(b"note", "notes.md", "text/plain"),
        File(b"hi", "x", "a/b"),
    )


@pytest.mark.parametrize(
    "block",
    [
        Block(type="audio", data="aGk=", mime_type="audio/wav"),
        Block(type="image", data="not base64!", mime_type="image/png"),
        Block(type="resource", resource=Resource(uri="file:///x")),
        Block(type="text"),
    ],
)
def test_a_prompt_that_cannot_be_read_names_the_field(block: Block) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_prompt([block])
    assert refused.value.facts == {"field": "prompt"}


@pytest.mark.parametrize(
    ("text", "name"), [("/compact", "compact"), ("/a b", "a"), ("/ a", None), ("/", None), ("x /a", None)]
)
def test_a_command_is_the_first_word_after_a_slash(text: str, name: str | None) -> None:
    assert read_prompt([Block(type="text", text=text)]).command == name


# -- questions ------------------------------------------------------------------------------------

COLOUR = AskedQuestion("Which colour?", "Colour", (Choice("Red", "warm"), Choice("Blue")))
CHECKS = AskedQuestion("Which checks?", "Checks", (Choice("Lint"), Choice("Tests")), multi_select=True)
NAME = AskedQuestion("What name?", "Name", ())


def asked(*questions: AskedQuestion) -> QuestionRequested:
    labels = tuple(choice.label for choice in questions[0].options)
    return QuestionRequested("q_1", questions[0].question, labels, "requested", QuestionMetadata(questions))


@pytest.mark.parametrize("questions", [(COLOUR,), (NAME,), (COLOUR, CHECKS, NAME)])
def test_a_form_is_valid(questions: tuple[AskedQuestion, ...]) -> None:
    form = msgspec.to_builtins(asking.form_request("s", asked(*questions), None))
    assert violations({"jsonrpc": "2.0", "method": "elicitation/create", "params": form}) == []


def test_a_form_is_answered_question_by_question() -> None:
    content = {
        "question_1": "Red",
        "question_2": ["Lint", "Tests"],
        "question_2_custom": "Types",
        "question_3": "x",
    }
    accepted = msgspec.json.encode({"action": "accept", "content": content})
    answers = asking.answers_in_form(asked(COLOUR, CHECKS, NAME), msgspec.Raw(accepted))
    assert answers == [["Red"], ["Lint", "Tests", "Types"], ["x"]]
    for given in (
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": {"question_1": "Red"}},
    ):
        assert asking.answers_in_form(asked(COLOUR, CHECKS), msgspec.Raw(msgspec.json.encode(given))) is None


def test_a_kind_of_tool_that_only_a_newer_daemon_knows_is_another_kind() -> None:
    recording = Path(__file__).parents[2] / "transcripts/acp/claude_always/universal.jsonl"
    body = recording.read_bytes().replace(b'"kind":"command"', b'"kind":"browser"')
    events = [decode_event(line) for line in body.splitlines()]
    calls = [call for call in translated(events, live=True) if call["sessionUpdate"] == "tool_call"]
    asked = [event.data for event in events if isinstance(event.data, PermissionRequested)]
    requests = [asking.permission_request("s", permission, None) for permission in asked]
    assert {call["kind"] for call in calls} == {"other"}
    assert {msgspec.to_builtins(request)["toolCall"]["kind"] for request in requests} == {"other"}


def test_without_forms_the_options_of_a_question_are_those_of_a_permission() -> None:
    request = msgspec.to_builtins(asking.option_request("s", asked(COLOUR), COLOUR, None))
    assert violations({"jsonrpc": "2.0", "method": "session/request_permission", "params": request}) == []
    assert [(option["name"], option["kind"]) for option in request["options"]] == [
        ("Red", "allow_once"),
        ("Blue", "allow_once"),
        ("Dismiss", "reject_once"),
    ]
    answer = msgspec.json.encode({"outcome": {"outcome": "selected", "optionId": "1"}})
    assert asking.label_in(COLOUR, msgspec.Raw(answer)) == "Blue"


# -- errors ---------------------------------------------------------------------------------------


def test_problems_have_the_codes_of_the_protocol() -> None:
    assert error_of(SessionNotFound("no session x")).code == -32002
    assert error_of(InvalidRequest("bad", field="cwd")).code == -32602
    failed = error_of_turn("error", ErrorEvent("overloaded", "overloaded"))
    assert failed == RpcError("overloaded", -32603, {"errorKind": "overloaded", "details": None})
    assert "unknown" in error_of_turn("outcome_unknown", None).message
