"""OpenCode's real terminal interface at the door, on the mock agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemons import Daemon, running

from .conftest import OpenCode
from .tui import TOKEN, attached, cable_to

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.mark.door(
    "OpenCode terminal interface",
    "text",
    "thinking",
    "tool calls",
    "permission once",
    "questions",
    "cancel",
    "second turn",
)
def test_a_conversation_in_the_terminal_interface(daemon: Daemon, tmp_path: Path) -> None:
    with attached(daemon.port, tmp_path) as tui:
        tui.expect("Ask anything.*Default Mock")
        tui.prompt("hello")
        tui.expect("You said: hello")
        tui.prompt("thinking")
        tui.expect("Thought.*I thought about it")
        tui.prompt("permission")
        tui.expect("Permission required.*echo hello from the mock agent.*Allow once")
        tui.press("Enter")
        tui.expect("The command said: hello from the mock agent")
        tui.prompt("question")
        tui.expect("Which colour do you like.*Type your own answer")
        tui.press("Down", "Enter")
        tui.expect("You (chose|like|answered|said).{0,20}Green")
        tui.prompt("slow")
        tui.expect("Counting slowly")
        tui.interrupt()
        tui.expect("interrupted")


@pytest.mark.door("OpenCode terminal interface", "diffs", "permission once", "tool calls")
def test_a_diff_is_shown_before_it_is_permitted(scripted_daemon: Daemon, tmp_path: Path) -> None:
    with attached(scripted_daemon.port, tmp_path, agent="claude") as tui:
        tui.expect("Ask anything.*Claude Code")
        tui.prompt("SCENARIO:edit")
        for shown in ("world", "universe"):  # it writes the file, then edits it
            tui.expect(f"Permission required.*greeting.txt.*{shown}.*Allow once")
            tui.press("Enter")
        tui.expect("universe.*Edited")


@pytest.mark.door("OpenCode terminal interface", "files", "diffs", "sub-agents")
def test_files_changes_and_sub_agents_in_the_terminal_interface(daemon: Daemon, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "note.txt").write_text("content")
    with attached(daemon.port, folder) as tui:
        tui.expect("Ask anything.*Default Mock")
        tui.write("@not")
        tui.expect("note.txt")
        tui.press("Enter")
        tui.prompt("attached")
        tui.expect("File  note.txt.*with note.txt .text/plain, 7 bytes")
        tui.prompt("edit")
        tui.expect("Permission required.*mock-edit.txt.*Allow once")
        tui.press("Enter")
        tui.expect("Lines in mock-edit.txt: 1")
        tui.choose_command("/diff")
        tui.expect("Diff working tree.*mock-edit.txt.*[+] line 1, from message 2")
        tui.press("d")
        tui.expect("Switch source.*Last turn")
        tui.press("Down", "Enter")
        tui.expect("Diff last turn.*mock-edit.txt.*[+] line 1, from message 2")
        tui.press("Escape")
        tui.prompt("subagent")
        tui.expect("Count the files.*1 toolcall.*there are 42 files")
        tui.press("C-x", "Down")
        tui.expect("I am the sub-agent, and I count.*General .1 of 1")


@pytest.mark.door("OpenCode terminal interface", "session list", "rename", "delete")
def test_sessions_are_listed_renamed_and_deleted_in_the_terminal_interface(
    daemon: Daemon, tmp_path: Path
) -> None:
    with attached(daemon.port, tmp_path) as tui:
        tui.expect("Ask anything.*Default Mock")
        tui.prompt("hello")
        tui.expect("You said: hello.*Default · [0-9.]+m?s")
        tui.choose_command("/rename")
        tui.expect("Rename Session.*New session")
        tui.press("C-u")
        tui.write("Named by me")
        tui.press("Enter")
        tui.expect("Rename Session", absent=True)
        tui.choose_command("/sessions")
        tui.expect("Sessions.*Named by me.*delete ctrl.d")
        tui.press("C-d")
        tui.expect("again to confirm")
        tui.press("C-d")
        tui.expect("Named by me|again to confirm", absent=True)


@pytest.mark.door("OpenCode terminal interface", "todo list")
def test_the_todo_list_is_beside_the_conversation(scripted_daemon: Daemon, tmp_path: Path) -> None:
    with attached(scripted_daemon.port, tmp_path, agent="opencode", columns=160) as tui:
        tui.expect("Ask anything.*OpenCode")
        tui.prompt("SCENARIO:todo")
        tui.expect("The list is written")
        # In the conversation, and in the bar at the side.
        tui.expect("Todo.*Look around.*Todo.*Look around|Look around[^\n]*Look around")


@pytest.mark.door("OpenCode terminal interface", "commands", "compaction", "errors")
def test_actions_of_the_terminal_interface(daemon: Daemon, tmp_path: Path) -> None:
    with attached(daemon.port, tmp_path) as tui:
        tui.expect("Ask anything.*Default Mock")
        tui.prompt("hello")
        tui.expect("You said: hello.*Default · [0-9.]+m?s")
        tui.choose_command("/undo")
        tui.expect("undo is not available")
        tui.press("C-u")  # it has put the message into the box
        tui.choose_command("/fork")
        tui.expect("Full session")
        tui.press("Enter")
        tui.expect("fork is not available")
        tui.press("Escape")
        tui.expect("Full session", absent=True)
        tui.choose_command("/compact")
        tui.expect("─ Compaction ─")
        tui.prompt("/echo some words")
        tui.expect("/echo some words.*some words")
        tui.choose_command("/move")
        tui.expect("a session cannot be moved")
        tui.press("Escape")
        tui.write("/share")
        tui.expect("No matching items")  # it is hidden


@pytest.mark.door("OpenCode terminal interface", "answered by another client", "lost stream")
def test_a_second_interface_answers_and_a_cut_stream_loses_nothing(daemon: Daemon, tmp_path: Path) -> None:
    with OpenCode(daemon, tmp_path) as opencode:
        id = opencode.create()
    with (
        cable_to(daemon.port) as cable,
        attached(cable.port, tmp_path, "-s", id) as first,
        attached(daemon.port, tmp_path, "-s", id, name="other") as second,
    ):
        first.expect("Default Mock")
        first.prompt("permission")
        second.expect("Permission required.*Allow once")
        first.expect("Permission required")
        second.press("Enter")
        first.expect("The command said")
        first.prompt("pace 100 30")
        first.expect("pace 100 30.*\\d")
        cable.cut()
        finished = "pace 100 30.*Build · Default · [0-9.]+m?s"
        second.expect(finished)
        first.expect(finished)
        assert _answer(first.expect(finished)) == _answer(second.expect(finished))


def _answer(screen: str) -> str:
    """The words of the last turn."""
    return " ".join(screen.rpartition("pace 100 30")[2].partition("▣")[0].split())


@pytest.mark.door("OpenCode terminal interface", "daemon killed", "transcript reloaded")
def test_after_a_crash_everything_is_on_the_screen_again(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon, cable_to(daemon.port) as cable:
        with attached(cable.port, tmp_path) as tui:
            tui.expect("Ask anything")
            tui.prompt("hello")
            tui.expect("You said: hello")
            tui.prompt("slow")
            tui.expect("Counting slowly")
            daemon.kill()
            daemon.start()
            cable.target = daemon.port
            cable.cut()
            tui.expect("its outcome is unknown")
            tui.prompt("memory")
            tui.expect("memory.*hello.*slow")
        with attached(cable.port, tmp_path, "-c", name="other") as again:
            again.expect("You said: hello.*Counting slowly.*its outcome is unknown.*memory")
