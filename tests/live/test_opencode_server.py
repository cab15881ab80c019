"""OpenCode's sessions share a server: what they must not share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sandbox_agent.schema.events import PermissionRequested
from sandbox_agent.schema.ids import random_id
from sandbox_agent.schema.items import Json
from sandbox_agent.testing.scripted_model import Delay, Read, ScriptedModel, Text, Write

from .client import (
    DaemonProcess,
    agent_process,
    becomes_true,
    kill,
    marked_processes,
    new_mark,
    wait_for_end,
)
from .live import HELLO, PLAN_WORDS, Live
from .test_features import running_command
from .tried import TRIED, cannot_run, chosen

SUMMARY = [Text("<summary>The user ran scripted scenarios.</summary>")]


@pytest.fixture
def live(request: pytest.FixtureRequest, tmp_path: Path, scripted_model: ScriptedModel) -> Iterator[Live]:
    agent = getattr(request, "param", "opencode")
    if "opencode" not in chosen(request.config.getoption("--agent"), "text"):
        pytest.skip("--agent names others")
    if why := cannot_run(agent):
        request.node.user_properties += [("agent", agent), ("left_out", why)]
        pytest.skip("the agent is not installed")
    daemon: DaemonProcess = request.getfixturevalue("shared_daemon")
    live = Live(TRIED[agent], daemon, scripted_model, tmp_path)
    yield live
    live.check_rules()


def test_ten_sessions_on_one_server_have_separate_permissions(live: Live) -> None:
    mark = new_mark()
    sessions = [live.session(env=mark) for _ in range(10)]
    server = agent_process(mark)  # there is exactly one
    turns = [session.send(live.say("text", "", f"Reply with exactly this: {HELLO}")) for session in sessions]
    answers = [session.finish(turn_id).text for session, turn_id in zip(sessions, turns, strict=True)]
    assert answers == [HELLO] * 10
    first, *others = sessions
    command = live.command("echo once >> log.txt")
    turn_id = first.send(command)
    first.decide(first.permission(turn_id), "always")
    first.finish(turn_id)
    assert first.run(command).asked_client == []
    for session in others[:2]:
        turn_id = session.send(command)
        session.decide(session.permission(turn_id), "reject")
        session.finish(turn_id)
    assert (live.workspace / "log.txt").read_text() == "once\nonce\n"
    assert agent_process(mark) == server


def test_each_environment_has_its_own_server_and_a_dead_server_leaves_no_commands(
    live: Live,
) -> None:
    doomed_mark, other_mark = new_mark(), new_mark()
    doomed = live.session(env=doomed_mark, permissionMode="bypass")
    other = live.session(env=other_mark)
    turn_id, command = running_command(live, doomed)
    going_on = live.begin(other, 60)
    started = marked_processes(doomed_mark)
    assert command in started
    kill(agent_process(doomed_mark))
    assert [error.code for error in doomed.finish(turn_id).errors] == ["agent_process_exited"]
    assert all(wait_for_end(pid, 5) for pid in started)
    turn = other.finish(going_on)
    assert (turn.stop_reason, turn.errors) == ("end_turn", [])


SLOW_SERVER = "touch loading; until [ -e go-on ]; do sleep 0.05; done"
"""An MCP server of the user's that does not answer, so that the setup of its directory takes long."""


def test_a_cancel_during_a_servers_setup_breaks_nothing(live: Live) -> None:
    """If the prompt began the setup, the abort would interrupt it, and no prompt would work here again."""
    settings = {"mcp": {"slow": {"type": "local", "command": ["sh", "-c", SLOW_SERVER]}}}
    (live.workspace / "opencode.json").write_bytes(msgspec.json.encode(settings))
    prompt = live.say("text", "", f"Reply with exactly this: {HELLO}")
    session = live.session()
    turn_id = session.send(prompt)
    assert becomes_true((live.workspace / "loading").exists)
    session.call("POST", "/cancel")
    assert session.finish(turn_id).stop_reason == "interrupted"
    (live.workspace / "go-on").touch()
    assert session.call("GET", "/commands")["commands"]
    turn = session.run(prompt)
    assert (turn.text, turn.stop_reason, turn.errors) == (HELLO, "end_turn", [])
    assert turn.usage is not None
    assert turn.usage.context_window == 128_000


def test_a_write_in_bypass_waits_until_the_daemon_has_read_the_file(live: Live) -> None:
    file = live.workspace / "x.txt"
    file.write_text("old\n")
    name = random_id("prompt")
    script = msgspec.json.encode([Read("x.txt"), Delay(1), Write("x.txt", "new\n"), Text("Done.")]).decode()
    session = live.session(permissionMode="bypass")
    turn_id = session.send(f"{name} SCRIPT:{script}")
    live.asked_times(name, 2)
    with live.daemon.stopped():
        assert not becomes_true(lambda: file.read_text() == "new\n", seconds=2)
    turn = session.finish(turn_id)
    assert [change.diff for change in turn.files if change.action == "write"] == [
        "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-old\n+new\n"
    ]
    assert turn.data(PermissionRequested) == []


@pytest.mark.parametrize("live", ["opencode", "opencode-acp"], indirect=True)
@pytest.mark.long
@pytest.mark.timeout(200)
def test_a_model_that_stays_broken_fails_the_turn_after_five_more_tries(live: Live) -> None:
    codes = {"cut": "connection_failed", "error_529": "overloaded"}
    turns = {}
    for scenario in codes:
        session, name = live.session(), random_id("prompt")
        turns[scenario] = session, session.send(f"{name} {live.say(scenario, '', '')}"), name
    for scenario, (session, turn_id, name) in turns.items():
        live.asked_times(name, 6, within=120)
        turn = session.finish(turn_id)
        assert (turn.stop_reason, [error.code for error in turn.errors]) == ("error", [codes[scenario]])
        assert session.run(live.say("text", "", "")).text == HELLO


def test_a_compaction_belongs_to_its_turn_and_can_be_cancelled(live: Live) -> None:
    session = live.session()
    for words in ("one", "two"):
        session.run(live.echo(f"{'filler ' * 1200}{words}"))
    turn = session.finish(session.call("POST", "/compact")["turnId"])
    assert turn.usage is not None
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (100, 20)
    assert turn.usage.cost_usd
    assert turn.usage.context_window == 128_000
    assert "The user ran scripted scenarios." in str(turn.parts(Json)[-1].json)
    assert not turn.text
    for words in ("three", "four"):
        session.run(live.echo(f"{'filler ' * 1200}{words}"))
    earlier = len(live.model.requests)
    live.model.add_scenario("compaction", [Delay(60), *SUMMARY])
    try:
        turn_id = session.call("POST", "/compact")["turnId"]
        live.model.wait_for(
            lambda _: any(request.kind == "compaction" for request in live.model.requests[earlier:])
        )
        session.call("POST", "/cancel")
        turn = session.finish(turn_id)
    finally:
        live.model.add_scenario("compaction", SUMMARY)
    assert (turn.stop_reason, turn.errors) == ("interrupted", [])
    assert session.run(live.echo("five")).stop_reason == "end_turn"


@pytest.mark.parametrize(
    "words", ["Name it hello.txt. SCENARIO:echo", pytest.param("Yes", marks=pytest.mark.long)]
)
def test_any_answer_other_than_approve_rejects_a_plan_and_reaches_the_agent(live: Live, words: str) -> None:
    subprocess.run(["git", "init"], cwd=live.workspace, check=True, capture_output=True)
    session = live.session(permissionMode="plan")
    turn_id = session.send(live.say("plan", "", PLAN_WORDS))
    question = session.question(turn_id)
    assert question.prompt.startswith("# Plan")
    session.answer(question, [words])
    turn = session.finish(turn_id)
    resolved = session.question_resolved()
    assert (resolved.status, resolved.metadata.message) == ("rejected", words)
    assert (turn.stop_reason, turn.errors) == ("end_turn", [])
    assert f"You said: {words.removesuffix(' SCENARIO:echo')}" in turn.text
    assert (session.info["permissionMode"], turn.asked_client) == ("plan", [])
    session.run(live.say("write", "", "Write a file greeting.txt."))
    (plan,) = (path for path in live.workspace.rglob("*") if path.is_file() and ".git" not in path.parts)
    assert plan.parent == live.workspace / ".opencode" / "plans"
