"""The snippets of the README and the quickstart, run as they are. Only the port differs, so that tests can run side by side."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import Daemon, running

ROOT = Path(__file__).parents[2]
_, SESSION = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
QUICKSTART = (ROOT / "docs" / "quickstart.mdx").read_text()
CURL, COMMANDS = re.findall(r"```sh\n(.*?)```", QUICKSTART, re.DOTALL)
(PROGRAM,) = re.findall(r"```python Python\n(.*?)```", QUICKSTART, re.DOTALL)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """What `make run` starts, except for the port."""
    with running(
        Daemon(tmp_path_factory.mktemp("readme") / "data", "--no-token", "--drain-seconds", "0")
    ) as daemon:
        yield daemon


@pytest.fixture
def env(daemon: Daemon) -> dict[str, str]:
    """A daemon at the usual port would need no endpoint."""
    endpoint = f"http://127.0.0.1:{daemon.port}"
    return {"HOME": str(daemon.data_dir), "PATH": os.environ["PATH"], "SANDBOX_AGENT_ENDPOINT": endpoint}


def in_shell(text: str, env: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Stops at the first line that fails."""
    return subprocess.run(
        ["bash", "-euc", text], env=env, cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_the_readme_shows_a_session(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    ran = in_shell(SESSION, env, tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "The command said: hello\n"), ran.stderr
    assert "✓ bash echo hello" in ran.stderr


def test_the_session_with_curl_goes_from_its_creation_to_the_end_of_its_turn(
    daemon: Daemon, env: dict[str, str], tmp_path: Path
) -> None:
    text = CURL.replace("127.0.0.1:2468", f"127.0.0.1:{daemon.port}")
    # Nobody presses Ctrl-C here.
    ran = in_shell(text.replace("curl -sN ", "curl -sN --max-time 2 "), env, tmp_path)
    assert '"sessionId":"demo","healthy":true' in ran.stdout
    assert ('"type":"turn.ended"' in ran.stdout, ran.stderr) == (True, "")


def test_the_commands_work_one_after_the_other(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    ran = in_shell(COMMANDS, env, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "✓ bash seq 3" in ran.stderr
    assert "You said: and again (message 2 of this conversation)" in ran.stdout
    assert "> demo" in ran.stdout


def test_the_python_program_runs(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(PROGRAM)
    command = [sys.executable, "demo.py"]
    ran = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("The command said: hello")
