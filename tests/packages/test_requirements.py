"""The daemon and the SDK work with the package's own requirements alone; what only commands draw with is an extra."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ..daemons import Daemon, running

pytestmark = pytest.mark.slow

NAME = "sandbox-agentd"
SOURCE = Path(__file__).parents[2] / "src" / "sandbox_agent"


def required(name: str, found: set[str] | None = None) -> set[str]:
    """The distributions that installing `name` without extras brings."""
    found = set() if found is None else found
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        needed = canonicalize_name(requirement.name)
        if applies and needed not in found:
            found.add(needed)
            required(needed, found)
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has this package and what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in {NAME, *required(NAME)}:
        found = distribution(name)
        tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        for top in (top for top in tops if not top.endswith(".pth")):
            (packages / top).symlink_to(Path(str(found.locate_file(top))))
    (packages / SOURCE.name).symlink_to(SOURCE)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def daemon(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(
        Daemon(tmp_path_factory.mktemp("daemon") / "data", program=(str(python), "-m", "sandbox_agent"))
    ) as found:
        yield found


def command(python: Path, daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "sandbox_agent", *words],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(daemon.data_dir),
            "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}",
        },
        capture_output=True,
        text=True,
    )


def test_the_environment_has_nothing_that_only_commands_draw_with(python: Path) -> None:
    for package in ("rich", "shtab", "pytest"):
        ended = subprocess.run([python, "-c", f"import {package}"], capture_output=True)
        assert ended.returncode != 0, f"{package} is among the requirements of the daemon"


def test_the_daemon_and_the_sdk_run_a_session(python: Path, daemon: Daemon) -> None:
    program = (
        "from sandbox_agent import SandboxAgent\n"
        f"with SandboxAgent.connect('http://127.0.0.1:{daemon.port}') as client:\n"
        "    turn = client.sessions.create(agent='mock').prompt('hello')\n"
        "    print(''.join(turn.text()))\n"
    )
    ended = subprocess.run([python, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "You said: hello (message 1 of this conversation)\n"), (
        f"{ended.stderr}{daemon.stderr()}"
    )


def test_commands_print_plain_tables(python: Path, daemon: Daemon) -> None:
    made = command(python, daemon, "sessions", "create", "plain", "--agent", "mock", "--title", "[a] title")
    assert made.returncode == 0, made.stderr
    assert "session id         plain\nhealthy            yes\n" in made.stdout
    listed = command(python, daemon, "sessions", "list")
    assert listed.returncode == 0, listed.stderr
    heading, *rows = listed.stdout.splitlines()
    (row,) = [row for row in rows if row.startswith("plain ")]
    assert row[heading.index("title") :].startswith("[a] title")


@pytest.mark.parametrize("words", [("run", "mock", "hello"), ("completion", "bash"), ("usage",)])
def test_a_command_that_draws_names_the_extra(python: Path, daemon: Daemon, words: tuple[str, ...]) -> None:
    ended = command(python, daemon, *words)
    assert ended.returncode == 1
    assert ended.stderr.endswith("is missing): pip install 'sandbox-agentd[cli]'\n")
    assert "Traceback" not in ended.stderr
