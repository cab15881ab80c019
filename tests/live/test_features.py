"""One test per feature. Each runs on each agent; see `features.py` for the list and `conftest.py` for the
rest.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import msgspec
import pytest
from tests.busy import busy
from tests.desktops import RED, find, form, require_desktop, size_of, wait_for_form

from sandbox_agent import SandboxAgent
from sandbox_agent.schema.events import (
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    TurnEnded,
    TurnStarted,
)
from sandbox_agent.schema.ids import random_id
from sandbox_agent.schema.items import Image, Item, StatusPart, Text, ToolResult
from sandbox_agent.schema.policy import RuleReference
from sandbox_agent.testing.scripted_model import steps

from .client import (
    DEADLINE,
    DaemonProcess,
    Fifo,
    Refused,
    Session,
    Turn,
    agent_process,
    kill,
    kill_and_restart,
    marked_processes,
    new_mark,
    wait_for_end,
)
from .features import FEATURES, feature
from .gaps import OWN_WAYS, WITHOUT, check_of
from .live import HELLO, PLAN_WORDS, QUESTION_WORDS, SKILL_WORDS, SUBAGENT_WORDS, Live, contents
from .tried import TRIED

MCP_SERVER = str(Path(__file__).with_name("mcp_server.py"))


# -- messages ---------------------------------------------------------------------------------


@feature("text")
def test_reports_the_models_text(live: Live) -> None:
    session = live.session()
    prompt = live.say("text", "", f"Reply with exactly this, and nothing else: {HELLO}")
    turn = session.run(prompt)
    assert (turn.stop_reason, turn.prompt, turn.text, turn.errors) == ("end_turn", prompt, HELLO, [])
    assert session.info["state"] == "idle"


@feature("deltas")
def test_streams_the_answer_as_it_arrives(live: Live) -> None:
    turn = live.session().run(live.slow(12))
    (answer,) = (
        item for item in turn.items if item.role == "assistant" and isinstance(item.content[0], Text)
    )
    deltas = [
        event
        for event in turn.events
        if isinstance(event.data, ItemDelta) and event.data.item_id == answer.item_id
    ]
    assert len(deltas) > 2
    assert {event.source for event in deltas} == {"agent"}


@feature("thinking")
def test_thinking_is_a_separate_item(live: Live) -> None:
    words = "Think step by step about whether 3599 is prime, then answer with one word."
    turn = live.session(**({"variant": "high"} if live.real else {})).run(live.say("thinking", "", words))
    assert turn.thoughts
    if not live.real:
        assert "First I look at the question, then I answer it." in turn.thoughts
        assert turn.text == "The answer is 42."


@feature("multi_turn")
def test_remembers_the_conversation(live: Live) -> None:
    session = live.session()
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn = session.run(live.echo("What is the secret word?"))
    assert live.knows(turn, "plum", 2), turn.text


# -- commands ---------------------------------------------------------------------------------

TEMPLATE = (
    "---\ndescription: Greets somebody.\nargument-hint: <name>\n---\nSay hello to $ARGUMENTS. SCENARIO:echo\n"
)


@feature("slash_text")
def test_a_message_that_begins_with_a_slash_is_text(live: Live) -> None:
    session = live.session()
    turn = session.run(live.echo("/compact and /help are words"))
    assert (turn.stop_reason, turn.errors) == ("end_turn", [])
    assert turn.prompt == live.echo("/compact and /help are words")
    asked = live.asked_model(lambda request: request.kind == "turn" and "are words" in request.prompt)
    invisible = " \n\u2060"
    assert asked.prompt.lstrip(invisible).startswith("/compact and /help are words")


@feature("prompt_template")
def test_runs_a_prompt_template_of_the_workspace(live: Live) -> None:
    for folder in (".claude/commands", ".opencode/command"):
        (live.workspace / folder).mkdir(parents=True)
        (live.workspace / folder / "greet.md").write_text(TEMPLATE)
    session = live.session()
    offered = {command["name"]: command for command in session.call("GET", "/commands")["commands"]}
    assert offered["greet"]["description"].startswith("Greets somebody.")
    if live.behaviour.reports_arguments:
        assert offered["greet"]["arguments"] in ("<name>", "$ARGUMENTS")
    turn = session.finish(session.call("POST", "/commands/greet", {"arguments": "the world"})["turnId"])
    assert (turn.stop_reason, turn.prompt, turn.errors) == ("end_turn", "/greet the world", [])
    live.asked_model(lambda request: request.kind == "turn" and "hello to the world" in request.prompt)
    with pytest.raises(Refused) as refused:
        session.call("POST", "/commands/no-such-command", {})
    assert refused.value.status == 400


@feature("compact")
def test_compacts_when_it_is_asked_to(live: Live) -> None:
    session = live.session()
    for words in ("one", "two"):
        assert session.run(live.echo(f"{'filler ' * 12_000}{words}")).stop_reason == "end_turn"
    offered = {command["name"] for command in session.call("GET", "/commands")["commands"]}
    assert "compact" in offered
    turn = session.finish(session.call("POST", "/compact")["turnId"])
    assert (turn.stop_reason, turn.prompt, turn.errors) == ("end_turn", "/compact", [])
    assert any(part.label == "compaction" for part in turn.parts(StatusPart))
    if not live.real:
        live.asked_model(lambda request: request.kind == "compaction")
    assert session.run(live.echo("three")).stop_reason == "end_turn"


@feature("queue")
def test_runs_queued_messages_in_order(live: Live) -> None:
    session = live.session()
    first = live.begin(session, 400)
    prompts = [live.echo("Say one."), live.echo("Say two."), live.echo("Say three.")]
    turns = [session.send(prompt) for prompt in prompts]
    waiting = session.call("GET", "/queue")["messages"]
    assert [message["turnId"] for message in waiting] == turns
    session.call("POST", f"/cancel?turnId={first}")
    assert [session.finish(turn).prompt for turn in turns] == prompts
    started = [event.data.turn_id for event in session.events if isinstance(event.data, TurnStarted)]
    assert started == [first, *turns]


# -- tools ------------------------------------------------------------------------------------


@feature("tools")
def test_reports_a_call_and_its_result(live: Live) -> None:
    (live.workspace / "note.txt").write_text("the note says plum\n")
    turn = live.session(permissionMode="bypass").run(
        live.say("read", "note.txt", "Read the file note.txt with your tool for it, and repeat it.")
    )
    (call_item,) = (item for item in turn.items if item.kind == "tool_call")
    (result_item,) = (item for item in turn.items if item.kind == "tool_result")
    assert result_item.status == "completed"
    (call,), (result,) = turn.calls, turn.results
    assert result.call_id == call.call_id
    assert result_item.parent_id == call_item.parent_id
    assert "note.txt" in call.arguments
    assert isinstance(msgspec.json.decode(call.arguments), dict)
    assert "the note says plum" in result.output
    assert "plum" in turn.text


@feature("command")
def test_really_runs_a_command(live: Live) -> None:
    turn = live.session(permissionMode="bypass").run(live.command("touch made.txt && echo made-it"))
    assert (live.workspace / "made.txt").exists()
    (result,) = turn.results
    assert result.output.strip() == "made-it"
    assert result.exit_code == (0 if live.behaviour.reports_exit_codes else None)


@feature("failing_command")
def test_reports_that_a_command_failed(live: Live) -> None:
    turn = live.session(permissionMode="bypass").run(live.command("echo to-stderr >&2; exit 3"))
    (item,) = (item for item in turn.items if item.kind == "tool_result")
    result = ToolResult(turn.calls[0].call_id, live.behaviour.failed_output, 3)
    assert (item.status, item.content) == ("failed", (result,))


@feature("file_change")
def test_reports_a_change_as_a_diff(live: Live) -> None:
    greeting = live.workspace / "greeting.txt"
    words = (
        "Write a file greeting.txt with the two lines hello and world, with your tool for files. "
        "Then edit it: replace world by universe. Run no commands."
    )
    turn = live.session(permissionMode="acceptEdits").run(live.say("edit", "", words))
    assert greeting.read_text() == "hello\nuniverse\n"
    assert turn.asked_client == []
    assert {Path(file.path) for file in turn.files} == {greeting}
    made, changed = turn.files
    assert (made.action, changed.action) == ("write", "patch")
    assert made.diff == "--- /dev/null\n+++ b/greeting.txt\n@@ -0,0 +1,2 @@\n+hello\n+world\n"
    head = "--- a/greeting.txt\n+++ b/greeting.txt\n"
    assert changed.diff == f"{head}@@ -1,2 +1,2 @@\n hello\n-world\n+universe\n"


@feature("mcp")
def test_calls_a_tool_of_an_mcp_server(live: Live) -> None:
    servers = {"demo": {"command": sys.executable, "args": [MCP_SERVER]}}
    session = live.session(permissionMode="bypass", mcp=servers)
    turn = session.run(live.say("mcp", "", "Add 2 and 3 with the tool add of the MCP server demo."))
    calls = [call for call in turn.calls if "add" in call.name]
    assert [msgspec.json.decode(call.arguments) for call in calls] == [{"a": 2, "b": 3}]
    (result,) = (result for result in turn.results if result.call_id == calls[0].call_id)
    assert "5" in result.output
    (server,) = session.call("GET", "/mcp")["servers"]
    assert server["state"] == ("connected" if live.behaviour.reports_mcp else "unknown")
    assert server.get("tools", ["add"]) == ["add"]


@feature("skills")
def test_the_model_learns_of_a_skill(live: Live) -> None:
    before = contents(live.workspace)
    with_skill, without = live.skilled_session(), live.session()
    for session, expected in ((with_skill, SKILL_WORDS), (without, ())):
        mark = random_id("prompt")
        session.run(live.echo(f"The prompt {mark}."))
        asked = [each for each in live.model.requests if each.kind == "turn" and mark in each.prompt]
        assert {each.found for each in asked} == {frozenset(expected)}
    assert [each["name"] for each in with_skill.call("GET", "/skills")["skills"]] == [SKILL_WORDS[0]]
    assert contents(live.workspace) == before


@feature("client_tool")
def test_calls_a_function_of_a_python_program(live: Live) -> None:
    asked = []

    def weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return WEATHER

    with SandboxAgent.connect(live.daemon.url) as client:
        made = client.sessions.create(agent=live.agent.name, directory=str(live.workspace), tools=[weather])
        session = live.adopt(made.id)
        prompted = made.prompt(live.say("client_tool", "", ASK_WEATHER))
        prompted.result()
        assert prompted.turn_id is not None
        turn = session.finish(prompted.turn_id)
    assert asked == ["Bonn"]
    _called_the_tool(session, turn)


@feature("client_tool_typescript")
def test_calls_a_function_of_a_typescript_program(live: Live, typescript: str) -> None:
    prompt = live.say("client_tool", "", ASK_WEATHER)
    program = Path(__file__).with_name("client_tool.mjs")
    command = [typescript, str(program), live.daemon.url, live.agent.name, str(live.workspace), prompt]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    report = msgspec.json.decode(done.stdout)
    assert report["asked"] == ["Bonn"]
    session = live.adopt(report["session"])
    started = session.wait(lambda event: isinstance(event.data, TurnStarted)).data
    assert isinstance(started, TurnStarted)
    _called_the_tool(session, session.finish(started.turn_id))


WEATHER = "rain and 12 degrees"
ASK_WEATHER = "What is the weather in Bonn? Use the tool weather."


def _called_the_tool(session: Session, turn: Turn) -> None:
    """The transcript shows the call and its result, and the client was not asked: it can refuse the call itself."""
    assert turn.asked_client == []
    request = session.tool_request(turn.id)
    assert request.call_id in {call.call_id for call in turn.calls}
    (result,) = (result for result in turn.results if result.call_id == request.call_id)
    assert WEATHER in result.output


@feature("desktop")
def test_presses_a_button_that_it_finds_in_its_own_screenshot(live: Live, tmp_path: Path) -> None:
    require_desktop()
    state, http = tmp_path / "form", live.daemon.http
    # So large that a model gets a smaller picture.
    assert http.post("/v1/desktop/start", json={"width": 1920, "height": 1200}).is_success
    launched = http.post("/v1/desktop/launch", json=form(state)).json()
    try:
        session = live.session(desktop=True)
        looked = session.run(_use_desktop("screenshot"))
        assert looked.asked_client == []
        (image,) = (part for item in looked.items for part in item.content if isinstance(part, Image))
        stored = http.get(f"/v1/sessions/{session.id}/attachments/{Path(image.path).name}")
        width, height = size_of(stored.content)
        assert width < 1920
        assert round(width / height, 2) == 1.6
        x, y = find(stored.content, RED)
        turn_id = session.send(_use_desktop("click", x=x, y=y))
        permission = session.permission(turn_id)
        assert wait_for_form(state, bool)["pressed"] == 0
        session.call("POST", f"/permissions/{permission.permission_id}/reply", {"reply": "always"})
        session.finish(turn_id)
        wait_for_form(state, lambda form: form["pressed"] == 1)
        again = session.run(_use_desktop("click", x=x, y=y))
        assert again.asked_client == []
        wait_for_form(state, lambda form: form["pressed"] == 2)
    finally:
        http.post(f"/v1/processes/{launched['processId']}/kill")
        http.post("/v1/desktop/stop")


def _use_desktop(tool: str, **arguments: int) -> str:
    script = [steps.Mcp("desktop", tool, arguments), steps.Text("Done.")]
    return f"SCRIPT:{msgspec.json.encode(script).decode()}"


@feature("subagent")
def test_a_sub_agents_items_belong_to_its_call(live: Live) -> None:
    session = live.session(permissionMode="bypass", model=live.behaviour.subagent_model)
    assert session.run(live.say("subagent", "", SUBAGENT_WORDS)).calls
    # An agent may let its sub-agent continue after the turn.
    session.wait(lambda event: _is_result_below_a_call(session, event, "inner-output"))
    assert (live.workspace / "inner.txt").exists()


def _is_result_below_a_call(session: Session, event: Event, output: str) -> bool:
    """Whether an event completes the result with this output, and the result belongs to another call."""
    match event.data:
        case ItemCompleted(Item(parent_id=parent, content=(ToolResult(output=text), *_))) if output in text:
            items = [event.data.item for event in session.events if isinstance(event.data, ItemCompleted)]
            return parent in [item.item_id for item in items if item.kind == "tool_call"]
    return False


# -- permissions ------------------------------------------------------------------------------


@feature("permission_once")
def test_waits_for_a_permission(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.command("touch allowed.txt"))
    permission = session.permission(turn_id)
    assert not (live.workspace / "allowed.txt").exists()
    assert session.info["state"] == "requires_action"
    waiting = session.call("GET", "/permissions")["permissions"]
    assert [each["permission_id"] for each in waiting] == [permission.permission_id]
    session.decide(permission, "once")
    turn = session.finish(turn_id)
    assert (live.workspace / "allowed.txt").exists()
    assert [each.status for each in turn.asked_client] == ["accept"]
    with pytest.raises(Refused) as refused:
        session.decide(permission, "once")
    assert refused.value.status == 409


@feature("permission_always")
def test_does_not_ask_again_after_always(live: Live) -> None:
    session = live.session()
    command = "echo again >> log.txt"
    words = f"Run exactly this shell command, and when it is done run it a second time: {command}"
    turn_id = session.send(live.say("twice", command, words))
    session.decide(session.permission(turn_id), "always")
    turn = session.finish(turn_id)
    assert (live.workspace / "log.txt").read_text() == "again\nagain\n"
    assert [each.status for each in turn.asked_client] == ["accept_for_session"]


@feature("permission_reject")
def test_does_not_do_what_was_rejected(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.command("touch rejected.txt"))
    session.decide(session.permission(turn_id), "reject", message="Not now.")
    turn = session.finish(turn_id)
    assert not (live.workspace / "rejected.txt").exists()
    assert [each.status for each in turn.asked_client] == ["reject"]
    results = [item for item in turn.items if item.kind == "tool_result"]
    assert [item.status for item in results] == ["failed"]
    assert turn.stop_reason == "end_turn"


@feature("rule_allow")
def test_a_rule_allows_without_asking(live: Live) -> None:
    session = live.session(policy=[{"effect": "allow", "command": "touch *"}])
    turn = session.run(live.command("touch allowed.txt"))
    assert (live.workspace / "allowed.txt").exists()
    decided = {(each.status, each.metadata.decided_by) for each in turn.data(PermissionResolved)}
    assert decided == {("accept", "rule")}


@feature("rule_deny")
def test_a_rule_denies_with_a_reason_also_in_bypass(live: Live) -> None:
    reason = "Only the owner makes files here."
    session = live.session(
        permissionMode="bypass", policy=[{"effect": "deny", "command": "touch denied*", "reason": reason}]
    )
    turn = session.run(live.command("touch denied.txt"))
    assert not (live.workspace / "denied.txt").exists()
    denied = [each for each in turn.data(PermissionResolved) if each.status == "reject"]
    assert {each.metadata.decided_by for each in denied} == {"rule"}
    assert {each.metadata.rule for each in denied} == {RuleReference("session", 0, reason)}
    if live.behaviour.tells_reasons and not live.real:
        assert reason in turn.text
    turn = session.run(live.command("touch fine.txt"))
    assert turn.asked_client == []
    assert (live.workspace / "fine.txt").exists()


@feature("rule_read")
def test_a_rule_denies_reading(live: Live) -> None:
    (live.workspace / "note.txt").write_text("the note says plum\n")
    session = live.session(permissionMode="bypass", policy=[{"effect": "deny", "kind": "read"}])
    turn = session.run(live.say("read", "note.txt", "Read the file note.txt, and repeat it."))
    assert "plum" not in turn.text
    assert "rule" in {each.metadata.decided_by for each in turn.data(PermissionResolved)}


@feature("switch_permission_mode")
def test_switches_the_permission_mode_while_it_runs(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.command("touch first.txt"))
    session.decide(session.permission(turn_id), "once")
    session.finish(turn_id)
    assert session.call("PATCH", "", {"permissionMode": "bypass"})["permissionMode"] == "bypass"
    assert session.run(live.command("touch second.txt")).asked_client == []
    assert (live.workspace / "second.txt").exists()
    session.call("PATCH", "", {"permissionMode": "default"})
    turn_id = session.send(live.command("touch third.txt"))
    session.decide(session.permission(turn_id), "reject")
    session.finish(turn_id)
    assert not (live.workspace / "third.txt").exists()


# -- questions and plans ----------------------------------------------------------------------


@feature("question_answered")
def test_asks_and_receives_the_answers(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.say("question", "", QUESTION_WORDS))
    question = session.question(turn_id)
    asked = question.metadata.questions
    assert [[choice.label for choice in each.options] for each in asked] == [
        ["Red", "Blue"],
        ["Lint", "Tests", "Types"],
    ]
    assert (question.prompt, question.options) == (asked[0].question, ("Red", "Blue"))
    assert [each["question_id"] for each in session.call("GET", "/questions")["questions"]] == [
        question.question_id
    ]
    session.answer(question, ["Blue"], ["Tests"])
    turn = session.finish(turn_id)
    resolved = session.question_resolved()
    assert (resolved.status, resolved.response) == ("answered", "Blue, Tests")
    assert resolved.metadata.answers == (("Blue",), ("Tests",))
    assert [word for word in ("Blue", "Tests") if word in turn.text] == ["Blue", "Tests"], turn.text
    with pytest.raises(Refused) as refused:
        session.answer(question, ["Red"], ["Lint"])
    assert refused.value.status == 409


@feature("question_multi_select")
def test_accepts_several_choices_for_one_question(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.say("question", "", QUESTION_WORDS))
    question = session.question(turn_id)
    session.answer(question, ["Red"], ["Lint", "Types"])
    turn = session.finish(turn_id)
    assert [each.multi_select for each in question.metadata.questions] == [False, True]
    assert session.question_resolved().response == "Red, Lint, Types"
    assert [word for word in ("Lint", "Types") if word in turn.text] == ["Lint", "Types"], turn.text


@feature("question_rejected")
def test_continues_when_a_question_is_rejected(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.say("question", "", QUESTION_WORDS))
    session.reject(session.question(turn_id))
    turn = session.finish(turn_id)
    assert session.question_resolved().status == "rejected"
    assert turn.stop_reason == ("interrupted" if live.behaviour.ends_when_rejected else "end_turn")
    assert turn.errors == []


@feature("plan_read_only")
def test_changes_nothing_in_plan_mode(live: Live) -> None:
    (live.workspace / "seen.txt").write_text("kept\n")
    session = live.session(permissionMode="plan")
    turn = session.run(live.command("touch planned.txt"))
    assert not (live.workspace / "planned.txt").exists()
    assert turn.asked_client == []
    assert sorted(path.name for path in live.workspace.iterdir() if not path.name.startswith(".")) == [
        "seen.txt"
    ]


@feature("plan_approved")
def test_leaves_plan_mode_with_an_approved_plan(live: Live) -> None:
    session = live.session(permissionMode="plan")
    turn_id = session.send(live.say("plan", "", PLAN_WORDS))
    question = session.question(turn_id)
    assert "greeting.txt" in question.prompt
    assert (question.options, question.metadata.plan) == (("approve", "reject"), True)
    session.answer(question, ["approve"])
    session.finish(turn_id)
    assert session.question_resolved().status == "answered"
    assert session.info["permissionMode"] == "default"
    turn_id = session.send(live.command("touch after.txt"))
    session.decide(session.permission(turn_id), "once")
    session.finish(turn_id)
    assert (live.workspace / "after.txt").exists()


@feature("plan_rejected")
def test_stays_in_plan_mode_with_any_answer_other_than_approve(live: Live) -> None:
    for answer in (["reject"], ["Yes, approve it"], []):
        session = live.session(permissionMode="plan")
        turn_id = session.send(live.say("plan", "", PLAN_WORDS))
        session.answer(session.question(turn_id), answer)
        session.finish(turn_id)
        assert session.question_resolved().status == "rejected"
        assert session.info["permissionMode"] == "plan"
        session.run(live.command("touch never.txt"))
        assert not (live.workspace / "never.txt").exists()


@feature("switch_agent_mode")
def test_switches_the_agent_mode_while_it_runs(live: Live) -> None:
    modes = [mode["id"] for mode in live.get(f"/v1/agents/{live.agent.name}/modes")["modes"]]
    assert {"build", "plan"} <= set(modes)
    session = live.session()
    session.run(live.echo("Say hello."))
    assert session.call("PATCH", "", {"agentMode": "plan"})["agentMode"] == "plan"
    turn_id = session.send(live.say("plan", "", PLAN_WORDS))
    plan = _proposed_plan(session, turn_id)
    assert "greeting.txt" in plan


def _proposed_plan(session: Session, turn_id: str) -> str:
    """The plan, as a question if the agent waits for an answer, else as a message."""
    seen = session.wait(
        lambda event: (
            isinstance(event.data, QuestionRequested)
            or (isinstance(event.data, ItemCompleted) and "greeting.txt" in _text_of(event.data.item))
        )
    )
    if isinstance(seen.data, QuestionRequested):
        session.answer(seen.data, ["approve"])
    turn = session.finish(turn_id)
    return seen.data.prompt if isinstance(seen.data, QuestionRequested) else turn.text


def _text_of(item: Item) -> str:
    texts = [part.text for part in item.content if isinstance(part, Text)]
    return "".join(texts) if item.role == "assistant" else ""


# -- models -----------------------------------------------------------------------------------


@feature("models")
def test_lists_its_models(live: Live) -> None:
    listed = live.get(f"/v1/agents/{live.agent.name}/models")
    ids = [model["id"] for model in listed["models"]]
    assert ids
    assert len(set(ids)) == len(ids)
    assert listed.get("defaultModel") in (None, *ids)
    has_variants = any(model.get("variants") for model in listed["models"])
    assert has_variants == live.agent.capabilities.variants


@feature("variant")
def test_passes_the_variant_to_the_model(live: Live) -> None:
    # Two of them: a single one may be the agent's default.
    for variant in ("low", "high"):
        session = live.session(variant=variant)
        turn = session.run(live.say("settings", "", "Say hello."))
        assert f"effort {variant}" in turn.text
        assert session.info["variant"] == variant
    if "variant" in live.agent.chooses:
        with pytest.raises(Refused, match="no variant no-such"):
            session.call("PATCH", "", {"variant": "no-such"})
        assert session.info["variant"] == "high"


@feature("switch_model")
def test_switches_model_and_variant_while_it_runs(live: Live) -> None:
    model, shown = live.behaviour.other_model
    session = live.session()
    prompt = live.say("settings", "", "Say hello.")
    before = session.run(prompt).text
    assert session.info["model"]  # none was chosen
    if "model" in live.agent.chooses:
        with pytest.raises(Refused, match="no model no-such/model"):
            session.call("PATCH", "", {"model": "no-such/model"})
    assert session.call("PATCH", "", {"variant": "low"})["variant"] == "low"
    assert session.run(prompt).text == before.partition(",")[0] + ", effort low."
    assert session.call("PATCH", "", {"model": model})["model"] == model
    assert session.run(prompt).text.startswith(f"Model {shown},")
    assert shown not in before


@feature("usage")
def test_reports_a_turns_usage(live: Live) -> None:
    session = live.session()
    usage = session.run(live.say("usage", "", "Say hello.")).usage
    assert usage is not None
    assert usage.input_tokens
    assert usage.output_tokens
    assert usage.context_tokens
    if not live.real:
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (5000, 700, 4000)
    total = session.info["usage"]
    assert (total["inputTokens"], total["outputTokens"]) == (usage.input_tokens, usage.output_tokens)


@feature("budget")
def test_a_budget_ends_the_turn_that_spends_it(live: Live) -> None:
    session = live.session(permissionMode="bypass", limits={"maxTokens": 30_000, "maxCostUsd": 0.03})
    turn = session.run(live.say("spend", "5", ""))
    assert turn.stop_reason == "limit"
    assert len(turn.calls) in (3, 4)
    assert turn.usage is not None
    assert turn.usage.input_tokens in (30_000, 40_000)
    with pytest.raises(Refused) as refused:
        session.send(live.say("text", "", ""))
    assert refused.value.status == 409
    session.call("PATCH", "", {"limits": {"maxTokens": None, "maxCostUsd": None}})
    # An agent that was ended by a signal may first finish what it had begun.
    assert session.run(live.say("text", "", "")).text.endswith(HELLO)


# -- files ------------------------------------------------------------------------------------


@feature("image")
def test_shows_an_image_to_the_model(live: Live) -> None:
    session = live.session()
    uploaded = session.call(
        "POST",
        "/attachments",
        params={"filename": "square.png"},
        content=_red_square(),
        headers={"content-type": "image/png"},
    )
    prompt = live.say("image", "", "What colour is the attached image? Answer with one word.")
    turn = session.run(prompt, attachments=[{"path": uploaded["path"], "mime": uploaded["mime"]}])
    assert turn.stop_reason == "end_turn"
    if live.real:
        assert "red" in turn.text.lower()
    else:
        assert live.asked_model(lambda request: bool(request.images)).images == ("image/png",)


def _red_square() -> bytes:
    side = 16
    rows = b"".join(b"\0" + b"\xff\0\0" * side for _ in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@feature("file_attachment")
def test_names_an_attached_file_to_the_model(live: Live) -> None:
    session = live.session(permissionMode="bypass")
    uploaded = session.call(
        "POST",
        "/attachments",
        params={"filename": "secret.txt"},
        content=b"The secret word is plum.\n",
        headers={"content-type": "text/plain"},
    )
    prompt = live.echo("What is the secret word in the attached file? Answer with one word.")
    turn = session.run(prompt, attachments=[{"path": uploaded["path"], "mime": uploaded["mime"]}])
    assert turn.stop_reason == "end_turn"
    name = "plum" if live.real else Path(uploaded["path"]).name
    assert name in turn.text, turn.text


# -- stopping ---------------------------------------------------------------------------------


@feature("cancel_stream")
def test_stops_in_mid_stream(live: Live) -> None:
    session = live.session()
    turn_id = live.begin(session, 400)
    began = time.monotonic()
    session.call("POST", "/cancel")
    turn = session.finish(turn_id)
    assert (turn.stop_reason, turn.errors) == ("interrupted", [])
    assert time.monotonic() - began < busy(3)
    assert_works(live, session)


@feature("cancel_tool")
def test_stops_a_running_command(live: Live) -> None:
    session = live.session(permissionMode="bypass")
    turn_id, pid = running_command(live, session)
    session.call("POST", "/cancel")
    turn = session.finish(turn_id)
    assert (turn.stop_reason, turn.errors) == ("interrupted", [])
    assert wait_for_end(pid, 3)
    assert_works(live, session)


def assert_works(live: Live, session: Session) -> None:
    """The next turn after a cancelled one has its own answer."""
    text = session.run(live.say("text", "", f"Reply with exactly this: {HELLO}")).text
    assert text.endswith(HELLO) if live.behaviour.answers_old_message else text == HELLO


def running_command(live: Live, session: Session) -> tuple[str, int]:
    """A turn in which a command runs for minutes, and the command's process."""
    fifo = Fifo(live.workspace / "pid")
    try:
        turn_id = session.send(live.command("echo $$ > pid; exec sleep 300"))
        return turn_id, int(fifo.read_line())
    finally:
        fifo.close()


@feature("terminate")
def test_leaves_no_process_behind(live: Live) -> None:
    mark = new_mark()
    session = live.session(permissionMode="bypass", env=mark)
    _, pid = running_command(live, session)
    assert pid in marked_processes(mark)
    began = time.monotonic()
    session.call("POST", "/terminate")
    assert marked_processes(mark) == {}
    assert time.monotonic() - began < busy(2.5)
    assert session.info["state"] == "ended"
    with pytest.raises(Refused) as refused:
        session.send("Are you there?")
    assert refused.value.status == 409


@feature("two_sessions")
def test_runs_two_sessions_at_once(live: Live) -> None:
    sessions = [live.session(permissionMode="bypass"), live.session(permissionMode="bypass")]
    waits = live.command("until [ -e go-on ]; do sleep 0.05; done; echo went-on")
    turns = [session.send(waits) for session in sessions]
    for session, turn_id in zip(sessions, turns, strict=True):
        session.first_call(turn_id)
    assert [session.info["state"] for session in sessions] == ["running", "running"]
    (live.workspace / "go-on").touch()
    ended = [session.finish(turn_id) for session, turn_id in zip(sessions, turns, strict=True)]
    assert [turn.stop_reason for turn in ended] == ["end_turn", "end_turn"]
    assert [turn.output.strip() for turn in ended] == ["went-on", "went-on"]


# -- failures ---------------------------------------------------------------------------------


@feature("error_401")
def test_reports_a_wrong_key(live: Live) -> None:
    _fails_with(live, "error_401", "authentication_failed")


@feature("error_429")
def test_reports_a_rate_limit(live: Live) -> None:
    _fails_with(live, "error_429", "rate_limited")


@feature("error_500")
def test_reports_a_failure_of_the_models_server(live: Live) -> None:
    _fails_with(live, "error_500", "server_error")


@feature("error_cut")
def test_reports_a_cut_stream(live: Live) -> None:
    _fails_with(live, "cut", "connection_failed")


def _fails_with(live: Live, scenario: str, code: str) -> None:
    """One failure is one error event, and the next turn works."""
    session = live.session()
    turn = session.run(live.failing(scenario))
    assert turn.stop_reason == "error"
    assert [error.code for error in turn.errors] == [code]
    assert turn.errors[0].message
    after = session.run(live.say("text", "", ""))
    assert (after.stop_reason, after.text, after.errors) == ("end_turn", HELLO, [])


@feature("reader_drops")
def test_a_reader_that_reconnects_misses_nothing(live: Live) -> None:
    session = live.session()
    turn_id = live.send_slow(session, 30)
    seen: list[Event] = []
    while not seen or not isinstance(seen[-1].data, TurnEnded):
        seen += session.some_events_after(seen[-1].sequence if seen else 0, 7)
    assert seen[-1].data.turn_id == turn_id
    assert seen == session.stored()[: len(seen)]


@feature("agent_killed_idle")
def test_resumes_after_the_agent_died_between_turns(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    native_id, count = session.info["nativeSessionId"], session.info["eventCount"]
    started = list(marked_processes(mark))
    kill(agent_process(mark))
    assert all(wait_for_end(pid, 5) for pid in started)
    turn = session.run(live.echo("What is the secret word?"))
    assert live.knows(turn, "plum", 2), turn.text
    assert session.info["nativeSessionId"] == native_id
    after = session.events[count:]
    first = next(event for event in after if not _is_title(event))
    assert isinstance(first.data, TurnStarted)


def _is_title(event: Event) -> bool:
    """Some agents name a session some time later."""
    match event.data:
        case ItemStarted(Item(content=(StatusPart("title"), *_))) | ItemCompleted(
            Item(content=(StatusPart("title"), *_))
        ):
            return True
    return False


@feature("agent_killed_turn")
def test_reports_within_a_second_that_the_agent_died(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = live.begin(session, 400)
    began = time.monotonic()
    kill(agent_process(mark))
    turn = session.finish(turn_id)
    assert time.monotonic() - began < busy(1)
    assert turn.stop_reason == "error"
    assert [(error.code, (error.details or {}).get("signal")) for error in turn.errors] == [
        ("agent_process_exited", "SIGKILL")
    ]
    _continues(live, session)


@feature("agent_killed_pending")
def test_rejects_a_permission_whose_agent_died(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = session.send(live.command("touch pending.txt"))
    permission = session.permission(turn_id)
    kill(agent_process(mark))
    turn = session.finish(turn_id)
    _stays_rejected(session, permission, turn)
    assert [error.code for error in turn.errors] == ["agent_process_exited"]
    _continues(live, session)
    assert not (live.workspace / "pending.txt").exists()


@feature("daemon_killed")
def test_resumes_after_the_daemon_died(live: Live, own_daemon: DaemonProcess) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    native_id = session.info["nativeSessionId"]
    turn_id = live.begin(session, 400)
    kill_and_restart(own_daemon, mark)
    turn = session.finish(turn_id)
    assert (turn.stop_reason, turn.errors) == ("outcome_unknown", [])
    _continues(live, session)
    assert session.info["nativeSessionId"] == native_id


@feature("daemon_killed_first_turn")
def test_continues_when_nothing_was_stored(live: Live, own_daemon: DaemonProcess) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    turn_id = live.begin(session, 400)
    kill_and_restart(own_daemon, mark)
    assert session.finish(turn_id).stop_reason == "outcome_unknown"
    turn = session.run(live.echo("Say hello."))
    assert turn.stop_reason == "end_turn"
    resumed = live.real or "(user message 2)" in turn.text
    assert resumed or "resume_lost" in session.status_labels(), turn.text


@feature("daemon_killed_tool")
def test_does_not_repeat_a_command_whose_daemon_died(live: Live, own_daemon: DaemonProcess) -> None:
    mark = new_mark()
    session = live.session(env=mark, permissionMode="bypass")
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = live.begin_deed(session)
    kill_and_restart(own_daemon, mark)
    turn = session.finish(turn_id)
    assert turn.stop_reason == "outcome_unknown"
    assert [item.status for item in turn.items if item.kind == "tool_result"] == ["failed"]
    _continues(live, session)
    assert (live.workspace / "deeds.txt").read_text() == "ran\n"


@feature("daemon_killed_pending")
def test_rejects_a_permission_whose_daemon_died(live: Live, own_daemon: DaemonProcess) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = session.send(live.command("touch pending.txt"))
    permission = session.permission(turn_id)
    kill_and_restart(own_daemon, mark)
    turn = session.finish(turn_id)
    assert turn.stop_reason == "outcome_unknown"
    _stays_rejected(session, permission, turn)
    _continues(live, session)
    assert not (live.workspace / "pending.txt").exists()


def _continues(live: Live, session: Session) -> None:
    """The next message continues the agent's own conversation; an unfinished turn may or may not count."""
    turn = session.run(live.echo("What is the secret word?"))
    assert live.knows(turn, "plum", 2) or live.knows(turn, "plum", 3), turn.text


def _stays_rejected(session: Session, permission: PermissionRequested, turn: Turn) -> None:
    resolved = turn.data(PermissionResolved)
    assert [(each.permission_id, each.status) for each in resolved] == [(permission.permission_id, "reject")]
    with pytest.raises(Refused) as refused:
        session.decide(permission, "once")
    assert refused.value.status == 409


def test_every_feature_has_one_test() -> None:
    marks = [
        mark.args[0].name
        for test in globals().values()
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "feature"
    ]
    assert sorted(marks) == sorted(FEATURES)


def test_every_declared_gap_has_a_check_and_no_other_feature_does() -> None:
    declared = {(name, gap) for name, agent in TRIED.items() for gap in agent.gaps}
    assert [gap for gap in declared if check_of(*gap) is None] == []
    assert set(OWN_WAYS) <= declared
    assert WITHOUT.keys() <= {gap for _, gap in declared} <= FEATURES.keys()
