"""`sandbox-agent acp`: an editor drives the mock agent, and sees everything again after a restart of either side."""

from __future__ import annotations

import base64
import os
import signal
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, client_of, of_type, running, stop_reason, texts
from tests.doors.acp.acp_client import FORMS, AcpClient, Failed, acp_program, pick
from tests.doors.acp.conftest import environment

from sandbox_agent.presence import running_daemon


def test_says_what_it_can(editor: AcpClient) -> None:
    answer = editor.initialize()
    assert answer["protocolVersion"] == 1
    assert answer["agentCapabilities"]["loadSession"] is True
    assert answer["agentCapabilities"]["sessionCapabilities"].keys() == {"list", "resume", "close", "delete"}
    assert answer["authMethods"] == []


@pytest.mark.door("ACP", "text", "thinking", "usage")
def test_streams_a_turn_and_answers_at_its_end(editor: AcpClient, session: str, native: Client) -> None:
    answer = editor.prompt(session, "thinking")
    assert answer["stopReason"] == "end_turn"
    assert answer["usage"]["totalTokens"] > 0
    assert editor.text == "I thought about it."
    assert len(editor.of_kind("agent_thought_chunk")) > 1
    assert editor.of_kind("user_message_chunk") == []
    assert texts(native.events(session)) == [editor.text]


@pytest.mark.door("ACP", "tool calls", "diffs", "command output")
def test_shows_tools_with_kind_place_diff_and_output(editor: AcpClient, session: str, tmp_path: Path) -> None:
    editor.prompt(session, "tool 3")
    *_, ended = editor.of_kind("tool_call_update")
    assert editor.of_kind("tool_call")[0]["kind"] == "execute"
    assert ended["rawOutput"] == {"output": "1\n2\n3\n", "exitCode": 3}
    file = str(tmp_path / "new.txt")
    editor.prompt(session, f"edit {file}")
    *_, ended = editor.of_kind("tool_call_update")
    assert ended["content"][0] == {
        "type": "diff",
        "path": file,
        "oldText": None,
        "newText": "line 1, from message 2\n",
    }
    assert ended["locations"] == [{"path": file}]
    [asked] = editor.asked
    assert asked["params"]["toolCall"]["toolCallId"] == ended["toolCallId"]
    assert [option["kind"] for option in asked["params"]["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
    ]


@pytest.mark.door("ACP", "sub-agents")
def test_names_the_call_of_a_sub_agent(editor: AcpClient, session: str) -> None:
    editor.prompt(session, "subagent")
    task, inner = editor.of_kind("tool_call")
    assert inner["_meta"]["claudeCode"]["parentToolUseId"] == task["toolCallId"]


@pytest.mark.door("ACP", "permission once", "permission always", "permission rejected")
def test_a_permission_is_rejected_or_allowed_for_good(editor: AcpClient, session: str) -> None:
    editor.answering = pick(2)
    editor.prompt(session, "permission no")
    assert "did not allow" in editor.text
    editor.answering = pick(1)
    editor.prompt(session, "permission yes")
    editor.prompt(session, "permission yes")
    assert editor.text == "The command said: yes"
    assert len(editor.asked) == 2


@pytest.mark.door("ACP", "answered by another client")
def test_a_permission_that_another_client_answers_is_withdrawn(
    editor: AcpClient, session: str, native: Client
) -> None:
    editor.answering = None
    prompt = editor.send_prompt(session, "permission hello")
    editor.until(lambda: bool(editor.asked))
    [pending] = native.pending(session)
    native.post(f"/v1/sessions/{session}/permissions/{pending['permission_id']}/reply", {"reply": "once"})
    assert editor.answer(prompt)["stopReason"] == "end_turn"
    editor.until(lambda: editor.withdrawn == [editor.asked[0]["id"]])
    # Its late answer changes nothing.
    editor.answering = pick(2)
    editor.reply(editor.asked[0])
    assert editor.prompt(session, "hello")["stopReason"] == "end_turn"


@pytest.mark.door("ACP", "questions", "plan approval")
def test_questions_are_forms_and_a_plan_is_a_permission(editor: AcpClient, session: str) -> None:
    editor.prompt(session, "multi")
    assert editor.text == "You chose: Small; Cheese; Now."
    editor.prompt(session, "plan")
    assert editor.asked[-1]["params"]["toolCall"]["kind"] == "switch_mode"
    assert editor.text.endswith("The plan was approved, and it is done.")


def test_without_forms_questions_are_asked_one_by_one(daemon: Daemon, native: Client, tmp_path: Path) -> None:
    with acp_program("--agent", "mock", env=environment(daemon)) as editor:
        editor.initialize()
        session = editor.new(tmp_path)
        native.sessions.append(session)
        editor.prompt(session, "multi")
        assert editor.text == "You chose: Small; Cheese; Now."
        assert len(editor.asked) == 3
        editor.answering = pick(-1)
        editor.prompt(session, "question")
        assert len(editor.asked) == 4


@pytest.mark.door("ACP", "images", "files")
def test_images_and_files_are_sent_with_a_prompt(editor: AcpClient, session: str) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(8) + (5).to_bytes(4, "big") + (7).to_bytes(4, "big")
    image = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png).decode()}
    file = {"type": "resource", "resource": {"uri": "file:///srv/notes.md", "text": "a note"}}
    words = {"type": "text", "text": "image"}
    editor.updates.clear()
    editor.call("session/prompt", sessionId=session, prompt=[words, image, file])
    assert "a PNG of 5 by 7 pixels" in editor.text
    assert "notes.md" in editor.text
    *_, ended = editor.of_kind("tool_call_update")
    assert [part["content"]["type"] for part in ended["content"]] == ["text", "image"]


@pytest.mark.door("ACP", "cancel", "queued prompts")
def test_prompts_run_in_the_order_in_which_they_were_sent(
    editor: AcpClient, session: str, native: Client
) -> None:
    file = {"type": "resource", "resource": {"uri": "file:///srv/notes.md", "text": "a note" * 10_000}}
    words = {"type": "text", "text": "first"}
    first = editor.send("session/prompt", {"sessionId": session, "prompt": [words, file]})
    second = editor.send_prompt(session, "second")
    turns = [editor.answer(prompt)["stopReason"] for prompt in (first, second)]
    assert turns == ["end_turn", "end_turn"]
    said = [
        event["data"]["item"]["content"][0]["text"]
        for event in native.events(session)
        if event["type"] == "item.completed" and event["data"]["item"].get("role") == "user"
    ]
    assert said == ["first", "second"]


def test_a_cancel_ends_the_turn_and_what_is_queued(editor: AcpClient, session: str) -> None:
    first = editor.send_prompt(session, "slow")
    second = editor.send_prompt(session, "hello")
    # At once: the daemon may not have taken the prompts yet.
    editor.notify("session/cancel", {"sessionId": session})
    assert editor.answer(first) == {"stopReason": "cancelled"} | editor.answer(first)
    assert editor.answer(second)["stopReason"] == "cancelled"


def test_cancelling_the_request_of_a_prompt_cancels_its_turn(editor: AcpClient, session: str) -> None:
    prompt = editor.send_prompt(session, "slow")
    editor.until(lambda: bool(editor.text))
    editor.notify("$/cancel_request", {"requestId": prompt})
    assert editor.answer(prompt)["stopReason"] == "cancelled"


@pytest.mark.door("ACP", "errors")
def test_a_failed_turn_is_an_error_and_the_session_goes_on(editor: AcpClient, session: str) -> None:
    with pytest.raises(Failed) as failed:
        editor.prompt(session, "error")
    assert (failed.value.code, failed.value.data["errorKind"]) == (-32603, "overloaded")
    assert editor.prompt(session, "hello")["stopReason"] == "end_turn"


@pytest.mark.door("ACP", "modes", "models", "permission mode")
def test_modes_and_options_are_the_sessions_settings(editor: AcpClient, session: str, native: Client) -> None:
    assert editor.call("session/set_mode", sessionId=session, modeId="plan") == {}
    for option, value in (("model", "mock-1"), ("variant", "high"), ("permission_mode", "acceptEdits")):
        answer = editor.call("session/set_config_option", sessionId=session, configId=option, value=value)
        chosen = {each["id"]: each["currentValue"] for each in answer["configOptions"]}
        assert chosen[option] == value
    info = native.info(session)
    assert (info["agentMode"], info["model"], info["variant"], info["permissionMode"]) == (
        "plan",
        "mock-1",
        "high",
        "acceptEdits",
    )
    editor.call("session/set_mode", sessionId=session, modeId="bypass")
    assert native.info(session)["permissionMode"] == "bypass"
    editor.until(lambda: len(editor.of_kind("config_option_update")) == 2)
    with pytest.raises(Failed) as failed:
        editor.call("session/set_mode", sessionId=session, modeId="no-such-mode")
    assert failed.value.code == -32602


@pytest.mark.door("ACP", "modes", "models", "permission mode")
def test_settings_that_another_client_changes_are_shown_with_the_next_turn(
    editor: AcpClient, session: str, native: Client
) -> None:
    native.patch(f"/v1/sessions/{session}", {"model": "mock-2", "permissionMode": "plan"})
    editor.prompt(session, "hello")
    [options] = editor.of_kind("config_option_update")
    chosen = {each["id"]: each["currentValue"] for each in options["configOptions"]}
    assert (chosen["model"], chosen["permission_mode"]) == ("mock-2", "plan")
    editor.prompt(session, "hello")
    assert editor.of_kind("config_option_update") == []


@pytest.mark.door("ACP", "commands")
def test_commands_are_listed_and_run(editor: AcpClient, session: str) -> None:
    editor.until(lambda: bool(editor.of_kind("available_commands_update")))
    [listed] = editor.of_kind("available_commands_update")
    assert [command["name"] for command in listed["availableCommands"]] == ["compact", "echo"]
    editor.prompt(session, "/echo a word")
    assert editor.text == "a word"
    editor.prompt(session, "/other is text")
    assert "You said: /other is text" in editor.text


# -- sessions that are opened again -----------------------------------------------------------------


@pytest.mark.door("ACP", "turn continues after a disconnect", "transcript reloaded", "session list")
def test_closing_the_editor_ends_no_turn_and_loading_shows_everything(
    daemon: Daemon, native: Client, tmp_path: Path
) -> None:
    with acp_program("--agent", "mock", env=environment(daemon)) as first:
        first.initialize(**FORMS)
        session = first.new(tmp_path)
        native.sessions.append(session)
        first.prompt(session, "tool")
        first.answering = None
        first.send_prompt(session, "permission hello")
        first.until(lambda: bool(first.asked))
        assert first.close() == 0
    assert native.info(session)["state"] == "requires_action"
    with acp_program("--agent", "mock", env=environment(daemon)) as second:
        second.initialize(**FORMS)
        [listed] = [
            each
            for each in second.call("session/list", cwd=str(tmp_path))["sessions"]
            if each["sessionId"] == session
        ]
        assert listed["cwd"] == str(tmp_path)
        second.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        texts = [update["content"]["text"] for update in second.of_kind("user_message_chunk")]
        assert texts == ["tool", "permission hello"]
        assert second.text.startswith("The command ended with exit code 0.")
        # The pending permission is asked again here, and the turn continues.
        second.until(lambda: second.text.endswith("The command said: hello"))
        assert len(second.asked) == 1
        with pytest.raises(Failed) as failed:
            second.call("session/load", sessionId=session, cwd="/", mcpServers=[])
        assert (failed.value.code, failed.value.data["field"]) == (-32602, "cwd")


@pytest.mark.door("ACP", "resume")
def test_resuming_sends_nothing_but_what_is_open(daemon: Daemon, native: Client, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    native.turn(session, "hello")
    with acp_program("--agent", "mock", env=environment(daemon)) as editor:
        editor.initialize(**FORMS)
        resume = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        editor.call("session/resume", **resume)
        assert editor.updates == []
        native.send(session, "permission hello")
        editor.until(lambda: editor.text == "The command said: hello")
        assert [each["content"]["text"] for each in editor.of_kind("user_message_chunk")] == [
            "permission hello"
        ]
        editor.answering = None
        native.send(session, "permission again")
        editor.until(lambda: len(editor.asked) == 2)
        with acp_program("--agent", "mock", env=environment(daemon)) as late:
            late.initialize(**FORMS)
            late.call("session/resume", **resume)
            late.until(lambda: late.text == "The command said: again")
            texts = [each["content"]["text"] for each in late.of_kind("user_message_chunk")]
            assert (texts, len(late.asked)) == (["permission again"], 1)
        editor.until(lambda: editor.withdrawn == [editor.asked[1]["id"]])


def test_a_session_named_on_the_command_line_is_opened_or_created(
    daemon: Daemon, native: Client, tmp_path: Path
) -> None:
    for _ in range(2):
        with acp_program(
            "--agent", "mock", "--session", "named-by-editor", env=environment(daemon)
        ) as editor:
            editor.initialize(**FORMS)
            assert editor.new(tmp_path) == "named-by-editor"
            editor.prompt("named-by-editor", "memory")
    native.sessions.append("named-by-editor")
    assert "memory" in editor.text


@pytest.mark.door("ACP", "close", "delete")
def test_a_closed_session_can_be_opened_again_and_a_deleted_one_not(
    editor: AcpClient, session: str, tmp_path: Path
) -> None:
    slow = editor.send_prompt(session, "slow")
    editor.until(lambda: bool(editor.text))
    editor.call("session/close", sessionId=session)
    assert editor.answer(slow)["stopReason"] == "cancelled"
    editor.call("session/resume", sessionId=session, cwd=str(tmp_path), mcpServers=[])
    editor.prompt(session, "memory")
    assert "slow" in editor.text
    editor.call("session/delete", sessionId=session)
    with pytest.raises(Failed) as failed:
        editor.prompt(session, "hello")
    assert failed.value.code == -32002


# -- bad input --------------------------------------------------------------------------------------


def test_bad_messages_get_errors_and_the_connection_lives(editor: AcpClient, session: str) -> None:
    for line, code in (
        (b"not json", -32700),
        (b"[]", -32600),
        (b'{"id": {}}', -32600),
        (b'{"jsonrpc":"2.0","method":"x","params":' + b"[" * 2000 + b"]" * 2000 + b"}", None),
    ):
        editor.write_line(line)
        if code is not None:
            assert editor.next_error()["code"] == code
    for method, params, code, field in (
        ("no/such_method", {}, -32601, None),
        ("session/new", {}, -32602, "cwd"),
        ("session/new", {"cwd": "relative"}, -32602, "cwd"),
        ("session/prompt", {"sessionId": session, "prompt": "text"}, -32602, "prompt"),
        ("session/prompt", {"sessionId": "no-such-session", "prompt": []}, -32002, None),
        ("session/prompt", {"sessionId": session, "prompt": []}, -32602, "message"),
        (
            "session/set_config_option",
            {"sessionId": session, "configId": "x", "value": "y"},
            -32602,
            "configId",
        ),
        ("authenticate", {"methodId": "x"}, -32602, "methodId"),
    ):
        with pytest.raises(Failed) as failed:
            editor.answer(editor.send(method, params))
        assert failed.value.code == code, method
        if field:
            assert failed.value.data["field"] == field
    assert editor.prompt(session, "hello")["stopReason"] == "end_turn"


# -- the daemon is killed ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.door("ACP", "daemon killed")
def test_a_daemon_that_is_killed_is_started_again_and_nothing_is_lost(tmp_path: Path) -> None:
    data = tmp_path / "data"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDBOX_AGENT_NO_INSTALL": "true"}
    try:
        with acp_program("--agent", "mock", "--data-dir", str(data), env=env) as editor:
            editor.initialize(**FORMS)
            session = editor.new(tmp_path)
            editor.prompt(session, "hello")
            _kill(data)
            editor.prompt(session, "memory")
            assert "hello" in editor.text
            # In the middle of a turn, the prompt reports that its outcome is unknown.
            editor.updates.clear()
            slow = editor.send_prompt(session, "slow")
            editor.until(lambda: bool(editor.text))
            _kill(data)
            with pytest.raises(Failed, match="unknown"):
                editor.answer(slow)
            assert editor.prompt(session, "hello")["stopReason"] == "end_turn"
    finally:
        _kill(data)


def _kill(data: Path) -> None:
    state = running_daemon(data)
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)


def test_the_log_of_a_door_is_the_log_of_the_session(tmp_path: Path) -> None:
    """The same turn, natively and through the door."""
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as native:
        mine = native.create()
        native.turn(mine, "tool")
        with acp_program("--agent", "mock", env=environment(daemon)) as editor:
            editor.initialize()
            session = editor.new(daemon.work_dir)
            editor.prompt(session, "tool")
        assert [event["type"] for event in native.events(mine)] == [
            event["type"] for event in native.events(session)
        ]
        assert stop_reason(native.events(session)) == "end_turn"
        assert of_type(native.events(session), "error") == []
