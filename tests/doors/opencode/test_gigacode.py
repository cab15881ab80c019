"""`gigacode`: from nothing to an agent in OpenCode's interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_agent.cli.gigacode import client_environment

from .tui import Tui, opencode_program
from .tui import client_environment as terminal_environment


def test_each_agent_has_its_own_memory_of_the_chosen_model(tmp_path: Path) -> None:
    claude = client_environment({"HOME": "/home/me"}, tmp_path, "claude", "the token")
    codex = client_environment({"HOME": "/home/me"}, tmp_path, "codex", None)
    assert claude["XDG_STATE_HOME"] != codex["XDG_STATE_HOME"]
    assert claude["OPENCODE_SERVER_PASSWORD"] == "the token"
    assert "OPENCODE_SERVER_PASSWORD" not in codex
    assert codex["HOME"] == "/home/me"


def test_it_refuses_to_run_without_a_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sandbox_agent", "gigacode", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "needs a terminal" in done.stderr) == (2, True)


def test_a_missing_folder_is_wrong_usage(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sandbox_agent", "gigacode", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "there is no directory" in done.stderr


@pytest.mark.door("gigacode", "starts the daemon", "text")
@pytest.mark.long
@pytest.mark.timeout(600)
def test_one_command_starts_the_daemon_and_the_interface(tmp_path: Path) -> None:
    environ = {
        **terminal_environment(tmp_path / "home", ""),
        "SANDBOX_AGENT_DATA_DIR": str(tmp_path / "data"),
        "SANDBOX_AGENT_NO_INSTALL": "true",
    }
    environ["PATH"] = f"{Path(opencode_program()).parent}:{environ['PATH']}"
    command = [sys.executable, "-m", "sandbox_agent"]
    with Tui([*command, "gigacode", "--agent", "mock", str(tmp_path)], environ) as tui:
        try:
            tui.expect("Ask anything.*Default Mock")
            tui.prompt("slow")
            tui.expect("Counting slowly")
        finally:
            status = subprocess.run(
                [*command, "daemon", "status", "--json"], env=environ, capture_output=True, timeout=60
            )
            stopped = subprocess.run(
                [*command, "daemon", "stop"], env=environ, capture_output=True, timeout=60
            )
        assert (status.returncode, stopped.returncode) == (0, 0)
