"""Malformed output: changed recordings, fed to every translator. Never an exception, and the rules always hold."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.daemons import Client, of_type, statuses, stop_reason, texts
from tests.intruders.mutations import WAYS, Mutation, mutated, recordings

from sandbox_agent.agents import TRANSLATORS
from sandbox_agent.schema.events import Event, decode_event
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "80"))
"""By default few and always the same; with this variable set, others each time: `FUZZ_EXAMPLES=5000 pytest -k recording`."""

plausible = st.sampled_from(
    [None, 0, -1, 1.5, 2**70, True, "", "x", [], {}, [None], {"type": "text"}, "completed"]
)
json_values: st.SearchStrategy[Any] = plausible | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
mutations = st.lists(
    st.builds(Mutation, st.sampled_from(WAYS), st.integers(0, 500), st.integers(0, 2000), json_values),
    min_size=1,
    max_size=10,
)


@pytest.mark.parametrize("agent", TRANSLATORS)
def test_no_changed_recording_raises_or_breaks_the_rules(agent: str) -> None:
    """The only violation allowed is `agent.unparsed`."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(recording=st.sampled_from(recordings(agent)), changes=mutations)
    def replay(recording: Any, changes: list[Mutation]) -> None:
        sessions: defaultdict[str, list[Event]] = defaultdict(list)
        for each in translate(TRANSLATORS[agent], mutated(recording, changes)):
            event = decode_event(msgspec.json.encode(each.event))
            sessions[event.session_id].append(event)
        broken = [rule for events in sessions.values() for rule in violations(events)]
        assert [rule for rule in broken if "agent.unparsed" not in rule] == []

    replay()


@pytest.mark.parametrize("agent", TRANSLATORS)
def test_a_recording_cut_anywhere_keeps_the_rules(agent: str) -> None:
    """As after a power cut of the agent's machine: everything open is closed."""
    recording = max(recordings(agent), key=lambda path: path.stat().st_size)
    lines = [line for line in recording.read_bytes().splitlines() if line]
    for end in range(0, len(lines), max(1, len(lines) // 12)):
        sessions: defaultdict[str, list[Event]] = defaultdict(list)
        for each in translate(TRANSLATORS[agent], lines[:end]):
            sessions[each.event.session_id].append(each.event)
        assert [rule for events in sessions.values() for rule in violations(events)] == [], end


def test_what_the_mock_says_outside_of_a_turn_is_not_understood() -> None:
    lines: list[dict[str, Any]] = [
        {"dir": "cmd", "t": 0, "msg": ["mock", "--conversation", "c"]},
        {"dir": "out", "t": 0, "msg": {"type": "ready", "conversation": "c"}},
        {"dir": "out", "t": 1, "msg": {"type": "text", "id": "a", "delta": "too early"}},
        {"dir": "out", "t": 1, "msg": {"type": "call", "id": "b", "name": "run", "input": {}}},
        {"dir": "out", "t": 1, "msg": {"type": "result", "id": "never called", "output": ""}},
    ]
    events = [
        each.event for each in translate(TRANSLATORS["mock"], [msgspec.json.encode(each) for each in lines])
    ]
    assert [event.type for event in events] == ["session.started", *["agent.unparsed"] * 3]


@pytest.mark.parametrize("depth", [100, 500, *range(900, 1010, 10), 100_000])
def test_json_that_is_too_deep_to_be_written_is_reported_and_the_turn_continues(
    client: Client, depth: int
) -> None:
    """Some depths below a thousand can be read but not written again, and some can be written but not read by a client."""
    client.expects_unparsed = True
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, f"nested {depth}")
        seen = reader.until_type("turn.ended")
    assert seen == client.events(session)
    assert [event["sequence"] for event in seen] == list(range(1, len(seen) + 1))
    assert (stop_reason(seen), texts(seen)) == ("end_turn", ["That was deep."])
    nested, unparsed = len(statuses(seen, "nested")), len(of_type(seen, "agent.unparsed"))
    assert (nested, unparsed) == ((1, 0) if depth == 100 else (0, 1))
    assert stop_reason(client.turn(session, "hi")) == "end_turn"
