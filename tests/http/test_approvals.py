"""Permissions, questions and plans over HTTP, and what each permission mode asks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Reader, done, of_type, refusal, results, stop_reason, texts, types


def ask(client: Client, session: str, reader: Reader, message: str) -> dict[str, Any]:
    """Send a message and wait for its request. Returns the request."""
    client.send(session, message)
    event = reader.until(lambda event: event["type"] in ("permission.requested", "question.requested"))[-1]
    asked: dict[str, Any] = event["data"]
    return asked


def reply_path(session: str, asked: dict[str, Any], verb: str = "reply") -> str:
    if "permission_id" in asked:
        return f"/v1/sessions/{session}/permissions/{asked['permission_id']}/{verb}"
    return f"/v1/sessions/{session}/questions/{asked['question_id']}/{verb}"


# -- permissions --------------------------------------------------------------------------------


def test_a_permission_is_listed_while_it_waits(client: Client) -> None:
    session = client.create()
    assert done(client.get(f"/v1/sessions/{session}/permissions")) == {"permissions": []}
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission good morning")
        assert asked == {
            "permission_id": asked["permission_id"],
            "action": "bash",
            "status": "requested",
            "metadata": {
                "tool_name": "bash",
                "input": {"command": "echo good morning"},
                "call_id": asked["metadata"]["call_id"],
                "kind": "command",
                "title": "echo good morning",
            },
        }
        assert asked["permission_id"].startswith("perm_")
        assert client.pending(session) == [asked]
        assert client.pending(session, "questions") == []
        assert client.info(session)["state"] == "requires_action"
        assert client.post(reply_path(session, asked), {"reply": "once"}).status_code == 204
        events = reader.until_type("turn.ended")
    assert client.pending(session) == []
    [resolved] = of_type(events, "permission.resolved")
    assert resolved == {
        **asked,
        "status": "accept",
        "metadata": {**asked["metadata"], "decided_by": "client"},
    }
    assert results(events)[0]["content"][0]["output"] == "good morning\n"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("once", "accept"),
        ("accept", "accept"),
        ("approved", "accept"),
        ("always", "accept_for_session"),
        ("accept_for_session", "accept_for_session"),
        ("reject", "reject"),
        ("denied", "reject"),
    ],
)
def test_every_spelling_of_a_reply_is_understood(client: Client, reply: str, status: str) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission x")
        assert client.post(reply_path(session, asked), {"reply": reply}).status_code == 204
        events = reader.until_type("turn.ended")
    assert [data["status"] for data in of_type(events, "permission.resolved")] == [status]
    assert results(events)[0]["status"] == ("failed" if status == "reject" else "completed")


def test_a_rejection_tells_the_agent_why(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission x")
        client.post(reply_path(session, asked), {"reply": "reject", "message": "too risky"})
        events = reader.until_type("turn.ended")
    [resolved] = of_type(events, "permission.resolved")
    assert resolved["metadata"]["message"] == "too risky"
    assert texts(events) == ["You did not allow bash (too risky), so I leave it."]
    assert stop_reason(events) == "end_turn"


def test_the_second_reply_is_a_conflict(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader, ThreadPoolExecutor(2) as pool:
        asked = ask(client, session, reader, "permission x")
        path = reply_path(session, asked)
        both = [pool.submit(client.post, path, {"reply": reply}) for reply in ("once", "reject")]
        assert sorted(reply.result().status_code for reply in both) == [204, 409]
        reader.until_type("turn.ended")
        assert refusal(client.post(path, {"reply": "once"})) == (409, "conflict")
    assert types(client.events(session)).count("permission.resolved") == 1


def test_a_reply_to_nothing_is_not_found(client: Client) -> None:
    session = client.create()
    for path, body in (
        ("permissions/perm_no/reply", {"reply": "once"}),
        ("questions/q_no/reply", {"answers": [["a"]]}),
        ("questions/q_no/reject", {}),
    ):
        assert refusal(client.post(f"/v1/sessions/{session}/{path}", body)) == (404, "not_found")
        assert refusal(client.post(f"/v1/sessions/nobody/{path}", body)) == (404, "session_not_found")


def test_a_permission_cannot_be_answered_as_a_question(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission x")
        wrong = client.post(
            f"/v1/sessions/{session}/questions/{asked['permission_id']}/reply", {"answers": [["approve"]]}
        )
        assert refusal(wrong) == (404, "not_found")
        rejected = client.post(f"/v1/sessions/{session}/questions/{asked['permission_id']}/reject", {})
        assert refusal(rejected) == (404, "not_found")
        assert client.pending(session) == [asked]
        client.post(f"/v1/sessions/{session}/cancel")
        asked = ask(client, session, reader, "question")
        wrong = client.post(
            f"/v1/sessions/{session}/permissions/{asked['question_id']}/reply", {"reply": "once"}
        )
        assert refusal(wrong) == (404, "not_found")
        assert client.pending(session, "questions") == [asked]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reply": "maybe"},
        {"reply": None},
        {"reply": "once", "x": 1},
        {"reply": "once", "message": "x" * 65537},
    ],
)
def test_a_reply_with_nonsense_is_refused_and_the_permission_waits_on(
    client: Client, body: dict[str, object]
) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission x")
        assert refusal(client.post(reply_path(session, asked), body)) == (400, "invalid_request")
        assert client.pending(session) == [asked]


def test_a_cancel_resolves_what_waits_once(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        for message, kind in (("permission x", "permission"), ("question", "question"), ("plan", "question")):
            asked = ask(client, session, reader, message)
            assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
            events = reader.until_type("turn.ended")
            [resolved] = of_type(events, f"{kind}.resolved")
            assert resolved["status"] == ("reject" if kind == "permission" else "rejected")
            assert resolved["metadata"]["decided_by"] == "daemon"
            assert stop_reason(events) == "interrupted"
            verb, body = ("reply", {"reply": "once"}) if kind == "permission" else ("reject", {})
            assert refusal(client.post(reply_path(session, asked, verb), body)) == (409, "conflict")


# -- permission modes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "message", "asks", "status"),
    [
        ("default", "edit", True, None),
        ("default", "permission x", True, None),
        ("acceptEdits", "edit", False, "completed"),
        ("acceptEdits", "permission x", True, None),
        ("bypass", "edit", False, "completed"),
        ("bypass", "permission x", False, "completed"),
        ("plan", "edit", False, "failed"),
        ("plan", "permission x", False, "failed"),
    ],
)
def test_each_mode_asks_what_it_should(
    client: Client, tmp_path: Path, mode: str, message: str, asks: bool, status: str | None
) -> None:
    session = client.create(permissionMode=mode, directory=str(tmp_path))
    with client.follow(session) as reader:
        client.send(session, message)
        events = reader.until(
            lambda event: event["type"] == "turn.ended" or (asks and event["type"] == "permission.requested")
        )
    assert (events[-1]["type"] == "permission.requested") == asks
    assert bool(client.pending(session)) == asks
    if not asks:
        assert [item["status"] for item in results(events)] == [status]
        changed = (tmp_path / "mock-edit.txt").exists()
        assert changed == (message == "edit" and status == "completed")


@pytest.mark.parametrize(
    ("path", "asks"),
    [
        ("plain.txt", False),
        ("deep/er/plain.txt", False),
        ("../outside.txt", True),
        ("link/through.txt", True),
        (".git/hooks/pre-commit", True),
        ("deep/.git/config", True),
        (".claude/settings.json", True),
        (".vscode/tasks.json", True),
        ("AGENTS.md", True),
    ],
)
def test_accepted_edits_are_those_inside_the_directory_that_configure_nothing(
    client: Client, tmp_path: Path, path: str, asks: bool
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    session = client.create(permissionMode="acceptEdits", directory=str(inside))
    with client.follow(session) as reader:
        client.send(session, f"edit {path}")
        # The request and its resolution are written together.
        reader.until_type("permission.requested")
        if asks:
            [asked] = client.pending(session)
            assert not (inside / path).exists()
            assert client.post(reply_path(session, asked), {"reply": "once"}).status_code == 204
        events = reader.until_type("turn.ended")
    [resolved] = of_type(events, "permission.resolved")
    assert resolved["metadata"]["decided_by"] == ("client" if asks else "daemon")
    assert (inside / path).exists()


def test_plan_mode_refuses_through_the_daemon_where_the_agent_asks(client: Client) -> None:
    session = client.create(permissionMode="plan")
    [resolved] = of_type(client.turn(session, "edit"), "permission.resolved")
    assert resolved["status"] == "reject"
    assert resolved["metadata"]["decided_by"] == "daemon"
    assert resolved["metadata"]["message"] == "plan mode is read-only"


def test_always_holds_for_the_same_call_and_no_other(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "permission same")
        client.post(reply_path(session, asked), {"reply": "always"})
        reader.until_type("turn.ended")
        client.send(session, "permission same")
        events = reader.until_type("turn.ended")
        [resolved] = of_type(events, "permission.resolved")
        assert (resolved["status"], resolved["metadata"]["decided_by"]) == ("accept", "rule")
        assert ask(client, session, reader, "permission other")["status"] == "requested"


def test_always_holds_in_its_own_session_only(client: Client) -> None:
    first, second = client.create(), client.create()
    with client.follow(first) as reader:
        asked = ask(client, first, reader, "permission same")
        client.post(reply_path(first, asked), {"reply": "always"})
        reader.until_type("turn.ended")
    with client.follow(second) as reader:
        assert ask(client, second, reader, "permission same")["status"] == "requested"


def test_a_mode_can_be_switched_between_turns(client: Client) -> None:
    session = client.create(permissionMode="plan")
    assert results(client.turn(session, "permission x"))[0]["status"] == "failed"
    done(client.patch(f"/v1/sessions/{session}", {"permissionMode": "bypass"}))
    assert results(client.turn(session, "permission x"))[0]["status"] == "completed"


# -- questions ----------------------------------------------------------------------------------


def test_a_question_is_listed_and_answered(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "question")
        assert asked["question_id"].startswith("q_")
        assert (asked["prompt"], asked["options"]) == ("Which colour do you like?", ["Red", "Green", "Blue"])
        assert client.pending(session, "questions") == [asked]
        assert client.post(reply_path(session, asked), {"answers": [["Green"]]}).status_code == 204
        events = reader.until_type("turn.ended")
    [resolved] = of_type(events, "question.resolved")
    assert (resolved["status"], resolved["response"]) == ("answered", "Green")
    assert resolved["metadata"]["answers"] == [["Green"]]
    assert texts(events) == ["You chose: Green."]
    assert client.pending(session, "questions") == []


def test_several_questions_are_one_request(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "multi")
        for count in (1, 2, 4):  # each question has its answer, or nothing is answered
            refused = client.post(reply_path(session, asked), {"answers": [["Small"]] * count})
            assert refusal(refused) == (400, "invalid_request")
            assert refused.json()["field"] == "answers"
        assert [question["header"] for question in asked["metadata"]["questions"]] == [
            "Size",
            "Toppings",
            "Time",
        ]
        assert [question["multi_select"] for question in asked["metadata"]["questions"]] == [
            False,
            True,
            False,
        ]
        answers = [["Small"], ["Cheese", "Basil"], ["at noon"]]
        client.post(reply_path(session, asked), {"answers": answers})
        events = reader.until_type("turn.ended")
    assert texts(events) == ["You chose: Small; Cheese, Basil; at noon."]
    [resolved] = of_type(events, "question.resolved")
    assert resolved["metadata"]["answers"] == answers


def test_a_question_can_be_rejected(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "question")
        assert client.post(reply_path(session, asked, "reject"), {}).status_code == 204
        events = reader.until_type("turn.ended")
        assert refusal(client.post(reply_path(session, asked, "reject"), {})) == (409, "conflict")
        assert refusal(client.post(reply_path(session, asked), {"answers": [["Red"]]})) == (409, "conflict")
    [resolved] = of_type(events, "question.resolved")
    assert resolved["status"] == "rejected"
    assert "response" not in resolved


def test_a_question_can_be_rejected_without_a_body(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "question")
        assert client.post(reply_path(session, asked, "reject")).status_code == 204
        reader.until_type("turn.ended")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"answers": []},
        {"answers": ["Red"]},
        {"answers": [[1]]},
        {"answers": "Red"},
        {"answers": [["a"]] * 101},
    ],
)
def test_an_answer_with_nonsense_is_refused(client: Client, body: dict[str, object]) -> None:
    session = client.create()
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "question")
        assert refusal(client.post(reply_path(session, asked), body)) == (400, "invalid_request")
        assert client.pending(session, "questions") == [asked]


# -- plans --------------------------------------------------------------------------------------


def test_an_approved_plan_leaves_plan_mode(client: Client) -> None:
    session = client.create(agentMode="plan", permissionMode="plan")
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "plan")
        assert asked["options"] == ["approve", "reject"]
        assert asked["prompt"].startswith("# Plan")
        client.post(reply_path(session, asked), {"answers": [["approve"]]})
        events = reader.until_type("turn.ended")
    assert texts(events)[-1].endswith("The plan was approved, and it is done.")
    [resolved] = of_type(events, "question.resolved")
    assert (resolved["status"], resolved["response"]) == ("answered", "approve")
    info = client.info(session)
    assert (info["agentMode"], info["permissionMode"]) == ("build", "default")


@pytest.mark.parametrize(("verb", "body"), [("reply", {"answers": [["reject"]]}), ("reject", {})])
def test_a_rejected_plan_stays_in_plan_mode(client: Client, verb: str, body: dict[str, object]) -> None:
    session = client.create(agentMode="plan", permissionMode="plan")
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "plan")
        client.post(reply_path(session, asked, verb), body)
        events = reader.until_type("turn.ended")
    assert texts(events)[-1].endswith("The plan was not approved. I keep planning.")
    assert [data["status"] for data in of_type(events, "question.resolved")] == ["rejected"]
    info = client.info(session)
    assert (info["agentMode"], info["permissionMode"]) == ("plan", "plan")


@pytest.mark.parametrize("text", ["yes, but in two steps", "Approve it", "approved", ""])
def test_any_other_answer_to_a_plan_rejects_it_and_is_feedback(client: Client, text: str) -> None:
    session = client.create(agentMode="plan", permissionMode="plan")
    with client.follow(session) as reader:
        asked = ask(client, session, reader, "plan")
        assert client.post(reply_path(session, asked), {"answers": [[text]]}).status_code == 204
        events = reader.until_type("turn.ended")
    suffix = f" ({text})" if text else ""
    assert texts(events)[-1].endswith(f"The plan was not approved{suffix}. I keep planning.")
    info = client.info(session)
    assert (info["agentMode"], info["permissionMode"]) == ("plan", "plan")
