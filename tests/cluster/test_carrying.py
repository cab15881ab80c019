"""An agent's own conversation outlives the disk that it was on."""

from __future__ import annotations

import shutil
from typing import Any

from tests.cluster.nodes import Node, Nodes, outcomes
from tests.daemons import of_type, refusal, wait_until


def reply_text(events: list[dict[str, Any]]) -> str:
    """The agent's reply."""
    items = [data["item"] for data in of_type(events, "item.completed")]
    return " ".join(
        part["text"]
        for item in items
        if item["role"] == "assistant"
        for part in item["content"]
        if "text" in part
    )


def wait_until_carried(nodes: Nodes, node: Node, session: str, turns: int) -> None:
    """The manifest is as new as the end of the session's last turn."""
    ended = [event["sequence"] for event in node.client.events(session) if event["type"] == "turn.ended"]
    assert len(ended) == turns
    query = "SELECT (convert_from(content, 'UTF8')::jsonb ->> 'sequence')::int FROM files WHERE kind = 'c' AND name = 'manifest'"
    with nodes.log() as connection:
        wait_until(lambda: (connection.execute(query).fetchone() or (0,))[0] >= ended[-1])


def test_a_replacement_with_an_empty_disk_resumes_the_conversation(nodes: Nodes) -> None:
    one = nodes.start("one")
    session = one.client.create()
    one.client.turn(session, "the word is plum")
    one.client.turn(session, "hello")
    wait_until_carried(nodes, one, session, 2)
    one.kill()
    shutil.rmtree(one.data_dir)
    other = nodes.start("one", disk="another disk")
    answer = other.client.turn(session, "memory")
    assert outcomes(answer) == ["end_turn"]
    assert "the word is plum" in reply_text(answer)


def test_a_session_continues_on_another_node_and_comes_back(nodes: Nodes) -> None:
    one, two = (nodes.start(name, "--takeover", "any") for name in ("one", "two"))
    session = one.client.create()
    one.client.turn(session, "the word is plum")
    wait_until_carried(nodes, one, session, 1)
    one.kill()
    assert two.client.post("/v1/nodes/one/fence").status_code == 204
    assert "the word is plum" in reply_text(two.client.turn(session, "memory"))
    two.client.turn(session, "the second word is pear")
    wait_until_carried(nodes, two, session, 3)
    one.start()
    two.kill()
    assert one.client.post("/v1/nodes/two/fence").status_code == 204
    # What is on its own disk is older than what the other node has stored.
    assert "the second word is pear" in reply_text(one.client.turn(session, "memory"))


def test_a_conversation_that_lacks_a_finished_turn_is_not_resumed(nodes: Nodes) -> None:
    one = nodes.start("one")
    session = one.client.create()
    one.client.turn(session, "the word is plum")
    wait_until_carried(nodes, one, session, 1)
    with nodes.log() as connection:
        connection.execute(
            "UPDATE files SET content = convert_to(jsonb_set(convert_from(content, 'UTF8')::jsonb, '{sequence}', '1')::text, "
            "'UTF8') WHERE kind = 'c' AND name = 'manifest'"
        )
    one.kill()
    shutil.rmtree(one.data_dir)
    other = nodes.start("one", disk="another disk")
    refused = other.client.post(f"/v1/sessions/{session}/messages", {"message": "hello"})
    assert refusal(refused) == (409, "conflict")
    assert refused.json()["carriedTo"] == 1
    assert refused.json()["lastTurn"] == of_type(other.client.events(session), "turn.ended")[-1]["turn_id"]
    assert "the word is plum" in reply_text(other.client.turn(session, "memory", resume="carried"))
    # The machine has it now.
    assert outcomes(other.client.turn(session, "hello")) == ["end_turn"]


def test_a_drained_node_leaves_the_whole_conversation(nodes: Nodes) -> None:
    one = nodes.start("one")
    session = one.client.create()
    one.client.turn(session, "the word is plum")
    assert one.stop() == 0
    shutil.rmtree(one.data_dir)
    other = nodes.start("one", disk="another disk")
    assert "the word is plum" in reply_text(other.client.turn(session, "memory"))
