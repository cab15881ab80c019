"""What a user of the terminal interface does besides talking: commands, compaction, diffs, undo and fork."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .conftest import OpenCode


def test_the_commands_of_the_agent_are_listed_and_run(opencode: OpenCode) -> None:
    (echo,) = opencode.get("/command", directory=opencode.directory)
    assert (echo["name"], echo["description"]) == ("echo", "Say what follows.")
    id = opencode.create()
    picture = base64.b64encode(b"\x89PNG picture").decode()
    answered = opencode.post(
        f"/session/{id}/command",
        {
            "command": "echo",
            "arguments": "two words",
            "agent": "plan",
            "model": "mock/mock-2",
            "parts": [{"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{picture}"}],
        },
    )
    assert [part["text"] for part in answered["parts"]] == ["Planning: two words"]
    session = opencode.get(f"/session/{id}")
    assert (session["agent"], session["model"]["id"]) == ("plan", "mock-2")
    asked = opencode.get(f"/session/{id}/message")[0]["parts"]
    assert [part.get("text") or part["mime"] for part in asked] == ["/echo two words", "image/png"]


def test_a_compaction_is_drawn_below_its_prompt(opencode: OpenCode) -> None:
    id = opencode.create()
    with opencode.watch() as watcher:
        opencode.prompt(id, "hello")
        assert opencode.post(f"/session/{id}/summarize", {"providerID": "mock", "modelID": "default"}) is True
        watcher.until(lambda _: "session.compacted" in watcher.types)
        shown = watcher.until(lambda screen: len(screen.shown(id)) == 4 and screen.status[id] == "idle")
    assert shown.shown(id) == opencode.get(f"/session/{id}/message")
    text, line = shown.shown(id)[2]["parts"]
    assert (text["text"], line["type"], line["auto"]) == ("/compact", "compaction", False)


def test_changed_files_are_sent_after_each_turn_of_a_session_that_is_looked_at(opencode: OpenCode) -> None:
    id, other = opencode.create(), opencode.create()
    assert opencode.get(f"/session/{id}/diff") == []
    with opencode.watch() as watcher:
        _edit(opencode, watcher.until, other)
        _edit(opencode, watcher.until, id)
        watcher.until(lambda screen: screen.diffs.get(id))
    (changed,) = watcher.screen.diffs.pop(id)
    assert changed["file"] == "mock-edit.txt"
    assert changed["additions"] > 0
    assert "+line" in changed["patch"]
    assert [changed] == opencode.get(f"/session/{id}/diff")
    assert watcher.screen.diffs == {}  # nobody looks at the other


def test_the_changes_of_one_message_and_of_the_directory_are_listed(opencode: OpenCode) -> None:
    directory = {"directory": opencode.directory}
    assert opencode.get("/vcs/diff", mode="git", context=12, **directory) == []
    id = opencode.create()
    with opencode.watch() as watcher:
        opencode.prompt(id, "hello")
        _edit(opencode, watcher.until, id)
        _edit(opencode, watcher.until, id)
    (_, nothing), (_, first), (_, second) = [
        (message["info"]["id"], opencode.get(f"/session/{id}/diff", messageID=message["info"]["id"]))
        for message in opencode.get(f"/session/{id}/message")
        if message["info"]["role"] == "user"
    ]
    assert nothing == []
    assert [(file["file"], file["status"], file["additions"]) for file in (*first, *second)] == [
        ("mock-edit.txt", "added", 1),
        ("mock-edit.txt", "modified", 1),
    ]
    (all_of_it,) = opencode.get("/vcs/diff", mode="git", context=12, **directory)
    assert (all_of_it["file"], all_of_it["additions"]) == ("mock-edit.txt", 2)
    assert [all_of_it] == opencode.get(f"/session/{id}/diff")


def _edit(opencode: OpenCode, until: Any, session: str) -> None:
    opencode.prompt_async(session, "edit")
    asked = next(iter(until(lambda screen: screen.pending).pending))
    opencode.post(f"/permission/{asked}/reply", {"reply": "once"})
    until(lambda screen: not screen.pending and screen.status[session] == "idle")


def test_unsupported_actions_answer_with_an_error_that_the_client_shows(opencode: OpenCode) -> None:
    id = opencode.create()
    for action in ("revert", "unrevert", "fork", "share", "shell"):
        refused = opencode.http.post(f"/session/{id}/{action}", json={})
        assert refused.status_code == 400
        assert refused.json()["name"] == "BadRequestError"
        assert "not available" in refused.json()["data"]["message"]


@pytest.mark.parametrize(
    ("action", "body", "message"),
    [
        ("revert", {}, "undo is not available"),
        ("fork", {}, "fork is not available"),
        ("shell", {}, "not available"),
        ("command", {"command": "no-such-command"}, "no-such-command"),
    ],
)
def test_a_refusal_that_the_interface_would_ignore_is_shown(
    opencode: OpenCode, action: str, body: object, message: str
) -> None:
    id = opencode.create()
    with opencode.watch() as first, opencode.watch("/event") as second:
        assert opencode.http.post(f"/session/{id}/{action}", json=body).status_code == 400
        for watcher in (first, second):
            watcher.until(lambda screen: any(message in toast for toast in screen.toasts))
