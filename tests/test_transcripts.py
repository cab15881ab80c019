"""Every recording is translated to the accepted events, which keep the ten rules.

A case is a folder `transcripts/<agent>/<case>/` with `native.jsonl`; `universal.jsonl` is rewritten by `--accept`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from sandbox_agent.agents import TRANSLATORS
from sandbox_agent.schema.events import Event, decode_event
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

CASES = sorted(Path(__file__).parent.glob("transcripts/*/*/native.jsonl"))


def replay(case: Path) -> list[Event]:
    lines = case.read_bytes().splitlines()
    return [recorded.event for recorded in translate(TRANSLATORS[case.parts[-3]], lines)]


@pytest.fixture(params=CASES, ids=lambda case: "/".join(case.parts[-3:-1]))
def case(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_says_the_same_thing(case: Path, accept: bool) -> None:
    golden = case.with_name("universal.jsonl")
    actual = msgspec.json.Encoder().encode_lines(replay(case))
    if accept:
        golden.write_bytes(actual)
    assert actual.decode() == golden.read_text()


def test_keeps_the_rules(case: Path) -> None:
    sessions: defaultdict[str, list[Event]] = defaultdict(list)
    for event in replay(case):
        # Through bytes and back: what a client decodes must keep the rules, not only what we hold in memory.
        sessions[event.session_id].append(decode_event(msgspec.json.encode(event)))
    assert {name: violations(events) for name, events in sessions.items()} == {key: [] for key in sessions}


def test_every_agent_has_a_recording() -> None:
    assert {case.parts[-3] for case in CASES} == TRANSLATORS.keys()
