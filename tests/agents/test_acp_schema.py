"""The adapter understands everything the protocol's published schema allows, so no program of that version
can surprise it.

The schema is the one that comes with claude-agent-acp, in the cache of agents.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sandbox_agent.agents.acp import frames
from sandbox_agent.schema.events import AgentUnparsed
from sandbox_agent.testing import agent_cache

from .made_up import MadeUp
from .test_acp import Session, in_turn

SCHEMA = (
    agent_cache.folder("claude-agent-acp") / "node_modules/@agentclientprotocol/sdk/schema/v1/schema.json"
)
ANSWERS: dict[str, type] = {
    "InitializeResponse": frames.Initialized,
    "NewSessionResponse": frames.SessionOpened,
    "LoadSessionResponse": frames.SessionOpened,
    "ResumeSessionResponse": frames.SessionOpened,
    "SetSessionConfigOptionResponse": frames.OptionSet,
    "PromptResponse": frames.Prompted,
}


@pytest.fixture(scope="module")
def definitions() -> dict[str, Any]:
    if not SCHEMA.exists():
        pytest.skip("claude-agent-acp is not in the cache: `make agents`")
    schemas: dict[str, Any] = msgspec.json.decode(SCHEMA.read_bytes())["$defs"]
    return schemas


def test_every_update_and_request_is_understood_and_violates_no_rule(definitions: dict[str, Any]) -> None:
    for seed in range(60):
        made_up = MadeUp(definitions, seed)
        session = in_turn()
        for number in range(30):
            _tell(session, made_up, f"r{number}")
        session.end()
        assert (session.data(AgentUnparsed), session.broken_rules()) == ([], []), seed


def _tell(session: Session, made_up: MadeUp, id: str) -> None:
    """Send something that an agent may send in a turn; there are few call ids, so that calls grow."""
    call = made_up.chance.choice(("call_1", "call_2", "call_3"))
    match made_up.chance.randrange(10):
        case 0:
            asked = made_up.value("RequestPermissionRequest")
            asked |= {"sessionId": "s1", "toolCall": {**asked["toolCall"], "toolCallId": call}}
            session.feed(id=id, method="session/request_permission", params=asked)
        case 1:
            form = {**made_up.value("CreateElicitationRequest"), "sessionId": "s1"}
            session.feed(id=id, method="elicitation/create", params=form)
        case _:
            update = made_up.value("SessionUpdate")
            update |= {"toolCallId": call} if "toolCallId" in update else {}
            session.feed(method="session/update", params={"sessionId": "s1", "update": update})


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_understood(definitions: dict[str, Any], name: str) -> None:
    for seed in range(200):
        answer = MadeUp(definitions, seed).value(name)
        msgspec.json.decode(msgspec.json.encode(answer), type=ANSWERS[name])


def test_every_kind_of_update_has_a_name_in_the_adapter(definitions: dict[str, Any]) -> None:
    kinds = {
        update["properties"]["sessionUpdate"]["const"] for update in definitions["SessionUpdate"]["oneOf"]
    }
    assert kinds <= frames.UPDATES.keys() | frames.IGNORED_UPDATES
