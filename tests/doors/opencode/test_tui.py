"""OpenCode's real terminal interface at the door, on the mock agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemons import Daemon, running

from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache

from .conftest import TOKEN, OpenCode
from .tui import Tui, cable_to, client_environment, opencode_program

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def attached(port: int, tmp_path: Path, *more: str, name: str = "home", agent: str = "mock") -> Tui:
    url = f"http://127.0.0.1:{port}/opencode/@{agent}"
    argv = [opencode_program(), "attach", url, "--dir", str(tmp_path), *more]
    return Tui(argv, client_environment(tmp_path / name, TOKEN))


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


@pytest.mark.door(
    "OpenCode terminal interface",
    "text",
    "thinking",
    "tool calls",
    "permission once",
    "diffs",
    "questions",
    "cancel",
    "second turn",
)
def test_claude_in_the_terminal_interface(scripted_daemon: Daemon, tmp_path: Path) -> None:
    with attached(scripted_daemon.port, tmp_path, agent="claude") as tui:
        tui.expect("Ask anything.*Claude Code")
        tui.prompt("SCENARIO:thinking")
        tui.expect("Thought")
        tui.expect("Build · .* · [0-9.]+m?s")
        tui.prompt("SCENARIO:command:touch+made.txt")
        tui.expect("Permission required.*touch made.txt.*Allow once")
        tui.press("Enter")
        tui.expect("Permission required", absent=True)
        tui.expect("[$] touch made.txt")
        tui.prompt("SCENARIO:edit")
        for _ in range(2):  # it writes the file, then edits it
            tui.expect("Permission required.*greeting.txt.*Allow once")
            tui.press("Enter")
            tui.expect("Permission required.*Allow once", absent=True)
        tui.expect("universe.*Edited")
        tui.prompt("SCENARIO:question")
        tui.expect("I need to know something.*Type your own answer")
        tui.press("Escape")
        tui.expect("Type your own answer", absent=True)
        tui.prompt("SCENARIO:slow:500")
        tui.expect("word3")
        tui.interrupt()
        tui.expect("interrupted")
        tui.prompt("SCENARIO:echo")
        tui.expect("You said: .*user message 6")


@pytest.mark.door("OpenCode terminal interface", "text", "tool calls", "cancel", "second turn")
@pytest.mark.parametrize("agent", [agent for agent in sorted(RECIPES) if agent != "claude"])
def test_other_agents_in_the_terminal_interface(scripted_daemon: Daemon, tmp_path: Path, agent: str) -> None:
    if not (agent_cache.cache_folder() / "bin" / agent).exists():
        pytest.skip("the agent is not in the cache (`make test` fetches it)")
    with attached(scripted_daemon.port, tmp_path, agent=agent) as tui:
        tui.expect("Ask anything")
        tui.prompt("SCENARIO:text")
        tui.expect("Hello from the scripted model")
        tui.prompt("SCENARIO:command:echo+the-output+|+rev")
        # Some agents run a harmless command without asking.
        if "Permission required" in tui.expect("Permission required.*Allow once|tuptuo-eht"):
            tui.press("Enter")
        tui.expect("tuptuo-eht")
        tui.prompt("SCENARIO:slow:500")
        tui.expect("word3|esc interrupt")
        tui.interrupt()
        tui.expect("interrupted")
        tui.prompt("SCENARIO:echo")
        tui.expect("You said: .*user message")


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


@pytest.mark.door("OpenCode terminal interface", "daemon killed", "transcript loaded again")
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
