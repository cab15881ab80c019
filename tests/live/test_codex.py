"""Codex reports some things late: what it reports of a turn after its end belongs to the turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_agent.schema.items import ToolResult
from sandbox_agent.testing.scripted_model import ScriptedModel

from .client import DaemonProcess, Fifo
from .live import REAL, SUBAGENT_WORDS, Live
from .tried import TRIED, cannot_run, chosen

LINES = "".join(f"line {n}\n" for n in range(1, 4))


@pytest.fixture
def live(request: pytest.FixtureRequest, tmp_path: Path, scripted_model: ScriptedModel) -> Iterator[Live]:
    if "codex" not in chosen(request.config.getoption("--agent"), "text"):
        pytest.skip("--agent names others")
    if why := cannot_run("codex"):
        request.node.user_properties += [("agent", "codex"), ("left_out", why)]
        pytest.skip("the agent is not installed")
    daemon: DaemonProcess = request.getfixturevalue("shared_daemon")
    live = Live(TRIED["codex"], daemon, scripted_model, tmp_path)
    yield live
    live.check_rules()


def test_the_output_of_a_cancelled_command_is_complete(live: Live) -> None:
    session = live.session(permissionMode="bypass")
    for round in range(3):
        fifo = Fifo(live.workspace / f"told {round}")
        command = f"printf '{LINES}'; echo runs > 'told {round}'; exec sleep 300".replace("\n", "\\n")
        turn_id = session.send(live.command(command))
        assert fifo.read_line() == "runs"
        fifo.close()
        session.first_call(turn_id)
        session.call("POST", "/cancel")
        turn = session.finish(turn_id)
        [result] = turn.results
        assert isinstance(result, ToolResult)
        assert (turn.stop_reason, result.output) == ("interrupted", LINES)


@pytest.mark.skipif(REAL, reason="the usage of a real model is not known beforehand")
def test_a_turns_usage_includes_its_own_sub_agents_only(live: Live) -> None:
    session = live.session(permissionMode="bypass", model=live.behaviour.subagent_model)
    first = session.run(live.say("subagent", "", SUBAGENT_WORDS))
    second = session.run(live.say("text", "", "Say hello."))
    assert first.usage is not None
    assert second.usage is not None
    # Every model call costs the same: the agent's own two, and the two of the sub-agent.
    assert first.usage.input_tokens == 4 * (second.usage.input_tokens or 0)


@pytest.mark.skipif(REAL, reason="a real model may wait for its sub-agent")
def test_a_turns_wait_for_its_sub_agents_is_bounded(live: Live) -> None:
    session = live.session(permissionMode="bypass", model=live.behaviour.subagent_model)
    turn = session.run(live.say("subagent", "hang", SUBAGENT_WORDS))
    assert turn.stop_reason == "end_turn"
    assert session.info["state"] == "idle"
    session.call("POST", "/terminate")  # the sub-agent's work ends with the session
