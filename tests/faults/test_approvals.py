"""Several clients and several requests: each request gets exactly one answer, the right one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.daemons import Client, client_of, of_type, results, stop_reason, texts


def test_of_two_clients_that_answer_at_once_one_wins(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader, ThreadPoolExecutor(2) as pool:
        for number in range(5):
            client.send(session, f"permission {number}")
            asked = reader.until_type("permission.requested")[-1]["data"]["permission_id"]
            at_once = threading.Barrier(2)

            def reply(word: str) -> int:
                with client_of(client.daemon) as other:
                    at_once.wait()  # noqa: B023 - it is used up before the next is made
                    path = f"/v1/sessions/{session}/permissions/{asked}/reply"  # noqa: B023
                    return other.post(path, {"reply": word}).status_code

            answers = dict(zip(("once", "reject"), pool.map(reply, ("once", "reject")), strict=True))
            assert sorted(answers.values()) == [204, 409]
            [resolved] = of_type(reader.until_type("turn.ended"), "permission.resolved")
            assert resolved["status"] == ("accept" if answers["once"] == 204 else "reject")


@pytest.mark.parametrize("first", [0, 1], ids=["in order", "the later first"])
@pytest.mark.parametrize("replies", [("reject", "once"), ("once", "reject"), ("reject", "reject")])
def test_of_two_permissions_asked_at_once_each_gets_its_own_answer(
    client: Client, replies: tuple[str, str], first: int
) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "pair")
        reader.until_type("permission.requested")
        reader.until_type("permission.requested")
        waiting = client.pending(session)
        assert [request["metadata"]["input"]["command"] for request in waiting] == ["echo one", "echo two"]
        for place in (first, 1 - first):
            path = f"/v1/sessions/{session}/permissions/{waiting[place]['permission_id']}/reply"
            assert client.post(path, {"reply": replies[place]}).status_code == 204
        events = reader.until_type("turn.ended")
    assert stop_reason(events) == "end_turn"
    outcomes = {item["content"][0]["call_id"]: item["status"] for item in results(events)}
    wanted = ["completed" if reply == "once" else "failed" for reply in replies]
    assert [outcomes[request["metadata"]["call_id"]] for request in waiting] == wanted
    assert texts(events)[-1] == "Both are answered."


def test_a_cancel_resolves_both_of_two_permissions_once(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "pair")
        reader.until_type("permission.requested")
        reader.until_type("permission.requested")
        assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
        events = reader.until_type("turn.ended")
    assert [resolution["status"] for resolution in of_type(events, "permission.resolved")] == [
        "reject",
        "reject",
    ]
    assert stop_reason(events) == "interrupted"
    assert client.pending(session) == []
