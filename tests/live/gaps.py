"""What an agent does instead of a feature that its adapter declares as a gap: one check for each, run in
place of the feature's test.

A check states what the agent does instead, so it fails both when the feature begins to work and when
something else breaks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from tests.daemons import wait_until

from sandbox_agent.schema.events import ItemDelta, PermissionResolved, QuestionRequested
from sandbox_agent.schema.ids import random_id
from sandbox_agent.schema.items import Text

from .client import (
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
from .live import HELLO, PLAN_WORDS, QUESTION_WORDS, SKILL_WORDS, SUBAGENT_WORDS, Live

Check = Callable[[Live], None]

NO_TOOL = "I have no tool for the step"
"""What the scripted model says if the agent offers no tool for questions or sub-agents."""


def _refusal(session: Session, method: str, path: str, body: object) -> int:
    """The status with which the daemon refuses a request."""
    with pytest.raises(Refused) as refused:
        session.call(method, path, body)
    return refused.value.status


# -- messages ---------------------------------------------------------------------------------


def sends_whole_messages(live: Live) -> None:
    turn = live.session().run(live.slow(12))
    messages = [item for item in turn.items if item.role == "assistant" and isinstance(item.content[0], Text)]
    assert messages
    for item in messages:
        deltas = [
            (event.source, event.synthetic, Text(event.data.delta))
            for event in turn.events
            if isinstance(event.data, ItemDelta) and event.data.item_id == item.item_id
        ]
        assert deltas == [("daemon", True, item.content[0])]


# -- questions and plans ----------------------------------------------------------------------


def cannot_ask_questions(live: Live) -> None:
    session = live.session()
    turn = session.run(live.say("question", "", QUESTION_WORDS))
    assert (turn.stop_reason, turn.errors) == ("end_turn", [])
    assert turn.data(QuestionRequested) == []
    if not live.real:
        assert NO_TOOL in turn.text


def takes_one_answer_for_each_question(live: Live) -> None:
    session = live.session()
    turn_id = session.send(live.say("question", "", QUESTION_WORDS))
    question = session.question(turn_id)
    assert [each.multi_select for each in question.metadata.questions] == [False, False]
    session.answer(question, ["Red"], ["Lint"])
    session.finish(turn_id)
    assert session.question_resolved().response == "Red, Lint"


def sends_its_plan_as_a_message(live: Live) -> None:
    """Nothing waits for an answer, and the session stays in plan mode."""
    session = live.session(permissionMode="plan")
    turn = session.run(live.say("plan", "", PLAN_WORDS))
    assert (turn.stop_reason, turn.errors) == ("end_turn", [])
    assert "greeting.txt" in turn.text
    assert turn.data(QuestionRequested) == []
    assert (session.info["state"], session.info["permissionMode"]) == ("idle", "plan")


def sends_its_plan_as_a_message_without_a_plan_mode(live: Live) -> None:
    assert "plan" not in _modes(live)
    sends_its_plan_as_a_message(live)


def has_no_plan_mode_to_switch_to(live: Live) -> None:
    assert "plan" not in _modes(live)
    session = live.session()
    before = session.info["agentMode"]
    assert _refusal(session, "PATCH", "", {"agentMode": "plan"}) == 400
    assert session.info["agentMode"] == before


def has_one_mode_only(live: Live) -> None:
    assert _modes(live) == ["default"]
    has_no_plan_mode_to_switch_to(live)


def _modes(live: Live) -> list[str]:
    return [mode["id"] for mode in live.get(f"/v1/agents/{live.agent.name}/modes")["modes"]]


# -- models -----------------------------------------------------------------------------------


def lists_no_models(live: Live) -> None:
    assert live.get(f"/v1/agents/{live.agent.name}/models") == {"models": []}


def does_not_let_clients_choose_a_variant(live: Live) -> None:
    assert not live.agent.capabilities.variants
    assert _refusal(live.session(), "PATCH", "", {"variant": "low"}) == 400


def does_not_let_clients_choose_its_model(live: Live) -> None:
    session = live.session()
    prompt = live.say("settings", "", "Say hello.")
    before = session.run(prompt).text
    assert _refusal(session, "PATCH", "", {"model": "other"}) == 400
    assert session.info["model"] is None
    assert session.run(prompt).text == before


# -- sub-agents -------------------------------------------------------------------------------


def has_no_sub_agents(live: Live) -> None:
    turn = live.session(permissionMode="bypass").run(live.say("subagent", "", SUBAGENT_WORDS))
    assert _below_calls(turn) == []
    if not live.real:
        assert (turn.calls, NO_TOOL in turn.text) == ([], True)
        assert not (live.workspace / "inner.txt").exists()


def shows_only_the_call_of_a_sub_agent(live: Live) -> None:
    turn = live.session(permissionMode="bypass").run(live.say("subagent", "", SUBAGENT_WORDS))
    assert (live.workspace / "inner.txt").exists()
    (call,), (result,) = turn.calls, turn.results
    assert (call.name, result.call_id) == ("Task", call.call_id)
    assert _below_calls(turn) == []


def waits_for_its_sub_agent_until_it_is_cancelled(live: Live) -> None:
    session = live.session(permissionMode="bypass")
    turn_id = session.send(live.say("subagent", "", SUBAGENT_WORDS))
    call = session.first_call(turn_id)
    session.call("POST", "/cancel")
    turn = session.finish(turn_id)
    assert (turn.stop_reason, turn.errors) == ("interrupted", [])
    assert (call.name, _below_calls(turn), turn.data(PermissionResolved)) == ("task", [], [])
    assert not (live.workspace / "inner.txt").exists()


def _below_calls(turn: Turn) -> list[str]:
    """The items whose parent is a call."""
    calls = {item.item_id for item in turn.items if item.kind == "tool_call"}
    return [item.item_id for item in turn.items if item.parent_id in calls]


# -- failures ---------------------------------------------------------------------------------


def tries_again_until_it_is_cancelled(scenario: str, *, in_silence: bool = False) -> Check:
    def check(live: Live) -> None:
        session = live.session()
        name = random_id("prompt")
        turn_id = session.send(f"{name} {live.say(scenario, '', '')}")
        live.asked_times(name, 2)
        if not in_silence:
            session.wait(lambda event: "retry" in session.status_labels())
        session.call("POST", "/cancel")
        turn = session.finish(turn_id)
        assert (turn.stop_reason, turn.errors) == ("interrupted", [])
        assert ("retry" in session.status_labels()) is not in_silence
        after = session.run(live.say("text", "", ""))
        assert (after.stop_reason, after.text, after.errors) == ("end_turn", HELLO, [])

    return check


def before_it_is_stored(check: Check) -> Check:
    """Amp uploads a conversation a second after its last activity; here that second lasts as long as the
    check.
    """

    def held(live: Live) -> None:
        with live.model.without_amp_threads():
            check(live)

    return held


def resumes_only_what_is_stored(live: Live) -> None:
    before_it_is_stored(conversation_is_gone_with_the_idle_agent)(live)
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    if live.real:
        time.sleep(2)  # the upload is not reported
    native_id = session.info["nativeSessionId"]
    wait_until(lambda: live.real or "You said" in live.model.amp_thread(native_id))
    kill(agent_process(mark))
    turn = session.run(live.echo("What is the secret word?"))
    assert live.knows(turn, "plum", 2), turn.text
    assert session.info["nativeSessionId"] == native_id


def conversation_is_gone_with_the_idle_agent(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    started = list(marked_processes(mark))
    kill(agent_process(mark))
    assert all(wait_for_end(pid, 5) for pid in started)
    _continues_only_with_fresh(live, session)


def conversation_is_gone_with_the_busy_agent(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = live.begin(session, 400)
    kill(agent_process(mark))
    turn = session.finish(turn_id)
    assert (turn.stop_reason, [error.code for error in turn.errors]) == ("error", ["agent_process_exited"])
    _continues_only_with_fresh(live, session)


def conversation_is_gone_with_the_waiting_agent(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = session.send(live.command("touch pending.txt"))
    permission = session.permission(turn_id)
    kill(agent_process(mark))
    turn = session.finish(turn_id)
    resolved = turn.data(PermissionResolved)
    assert [(each.permission_id, each.status) for each in resolved] == [(permission.permission_id, "reject")]
    assert [error.code for error in turn.errors] == ["agent_process_exited"]
    _continues_only_with_fresh(live, session)
    assert not (live.workspace / "pending.txt").exists()


def conversation_is_gone_with_the_daemon(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = live.begin(session, 400)
    kill_and_restart(live.daemon, mark)
    turn = session.finish(turn_id)
    assert (turn.stop_reason, turn.errors) == ("outcome_unknown", [])
    _continues_only_with_fresh(live, session)


def conversation_is_gone_with_the_daemon_of_a_command(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark, permissionMode="bypass")
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = live.begin_deed(session)
    kill_and_restart(live.daemon, mark)
    assert session.finish(turn_id).stop_reason == "outcome_unknown"
    _continues_only_with_fresh(live, session)
    assert (live.workspace / "deeds.txt").read_text() == "ran\n"


def conversation_is_gone_with_the_waiting_daemon(live: Live) -> None:
    mark = new_mark()
    session = live.session(env=mark)
    session.run(live.echo("The secret word is plum. Reply with OK."))
    turn_id = session.send(live.command("touch pending.txt"))
    permission = session.permission(turn_id)
    kill_and_restart(live.daemon, mark)
    turn = session.finish(turn_id)
    assert turn.stop_reason == "outcome_unknown"
    resolved = turn.data(PermissionResolved)
    assert [(each.permission_id, each.status) for each in resolved] == [(permission.permission_id, "reject")]
    _continues_only_with_fresh(live, session)
    assert not (live.workspace / "pending.txt").exists()


def _continues_only_with_fresh(live: Live, session: Session) -> None:
    """The next message is refused, unless it agrees to start without the earlier conversation."""
    native_id = session.info["nativeSessionId"]
    prompt = live.echo("What is the secret word?")
    assert _refusal(session, "POST", "/messages", {"message": prompt}) == 409
    turn = session.run(prompt, fresh=True)
    assert turn.stop_reason == "end_turn"
    assert session.info["nativeSessionId"] != native_id
    assert live.real or live.knows(turn, "", 1), turn.text


# -- commands ---------------------------------------------------------------------------------


def offers_no_template_of_the_workspace(live: Live) -> None:
    for folder in (".agents/commands", ".claude/commands", ".codex/prompts", ".pi/prompts"):
        (live.workspace / folder).mkdir(parents=True)
        (live.workspace / folder / "greet.md").write_text("Say hello to $ARGUMENTS.")
    session = live.session()
    assert "greet" not in [command["name"] for command in session.call("GET", "/commands")["commands"]]
    assert _refusal(session, "POST", "/commands/greet", {"arguments": "the world"}) == 400


def refuses_to_compact(live: Live) -> None:
    session = live.session()
    session.run(live.echo("one"))
    assert _refusal(session, "POST", "/compact", None) == 400
    assert "compact" not in [command["name"] for command in session.call("GET", "/commands")["commands"]]


def gets_skills_in_its_first_message(live: Live) -> None:
    session = live.skilled_session()
    live.model.look_for("<skills>")
    mark = random_id("prompt")
    session.run(live.echo(f"The prompt {mark}."))
    asked = [each for each in live.model.requests if each.kind == "turn" and mark in each.prompt]
    assert {each.found for each in asked} == {frozenset((*SKILL_WORDS, "<skills>"))}


def reads_what_a_rule_denies(live: Live) -> None:
    (live.workspace / "note.txt").write_text("the note says plum\n")
    session = live.session(permissionMode="bypass", policy=[{"effect": "deny", "kind": "read"}])
    turn = session.run(live.say("read", "note.txt", "Read the file note.txt, and repeat it."))
    assert "plum" in turn.text
    assert [each for each in turn.data(PermissionResolved) if each.status == "reject"] == []


def reports_its_spending_at_the_end(live: Live) -> None:
    session = live.session(permissionMode="bypass", limits={"maxTokens": 30_000, "maxCostUsd": 0.03})
    turn = session.run(live.say("spend", "5", ""))
    assert len(turn.calls) == 5
    assert _refusal(session, "POST", "/messages", {"message": "hello"}) == 409


WITHOUT: dict[str, Check] = {
    "rule_read": reads_what_a_rule_denies,
    "budget": reports_its_spending_at_the_end,
    "skills": gets_skills_in_its_first_message,
    "prompt_template": offers_no_template_of_the_workspace,
    "compact": refuses_to_compact,
    "deltas": sends_whole_messages,
    "question_answered": cannot_ask_questions,
    "question_multi_select": cannot_ask_questions,
    "question_rejected": cannot_ask_questions,
    "plan_approved": sends_its_plan_as_a_message,
    "plan_rejected": sends_its_plan_as_a_message,
    "models": lists_no_models,
    "variant": does_not_let_clients_choose_a_variant,
    "switch_agent_mode": has_no_plan_mode_to_switch_to,
    "switch_model": does_not_let_clients_choose_its_model,
    "subagent": has_no_sub_agents,
    "error_cut": tries_again_until_it_is_cancelled("cut"),
    "daemon_killed": conversation_is_gone_with_the_daemon,
    "daemon_killed_pending": conversation_is_gone_with_the_waiting_daemon,
    "daemon_killed_tool": conversation_is_gone_with_the_daemon_of_a_command,
    "agent_killed_idle": conversation_is_gone_with_the_idle_agent,
    "agent_killed_turn": conversation_is_gone_with_the_busy_agent,
    "agent_killed_pending": conversation_is_gone_with_the_waiting_agent,
}
"""What an agent without a feature usually does."""

OWN_WAYS: dict[tuple[str, str], Check] = {
    ("amp", "plan_approved"): sends_its_plan_as_a_message_without_a_plan_mode,
    ("amp", "plan_rejected"): sends_its_plan_as_a_message_without_a_plan_mode,
    ("amp", "subagent"): shows_only_the_call_of_a_sub_agent,
    **{
        ("amp", feature): before_it_is_stored(check)
        for feature, check in WITHOUT.items()
        if feature.startswith(("daemon_killed", "agent_killed"))
    },
    ("amp", "agent_killed_idle"): resumes_only_what_is_stored,
    ("codex", "question_multi_select"): takes_one_answer_for_each_question,
    ("opencode-acp", "subagent"): waits_for_its_sub_agent_until_it_is_cancelled,
    ("opencode-acp", "error_cut"): tries_again_until_it_is_cancelled("cut", in_silence=True),
    ("pi", "plan_approved"): sends_its_plan_as_a_message_without_a_plan_mode,
    ("pi", "plan_rejected"): sends_its_plan_as_a_message_without_a_plan_mode,
    ("pi", "switch_agent_mode"): has_one_mode_only,
}


def check_of(agent: str, feature: str) -> Check | None:
    """The check that replaces the test of a feature that an agent declares missing."""
    return OWN_WAYS.get((agent, feature)) or WITHOUT.get(feature)
