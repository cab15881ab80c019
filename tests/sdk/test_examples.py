"""The examples do what they say, with the mock agent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..daemons import Daemon
from .conftest import TOKEN, endpoint_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SANDBOX_AGENT_DATA_DIR": str(tmp_path / "data"),
    }


def run(name: str, *words: str, folder: Path, environ: dict[str, str], stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        cwd=folder,
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_chat_has_ten_lines_of_code() -> None:
    lines = (EXAMPLES / "chat.py").read_text().splitlines()[1:]
    assert len([line for line in lines if line.strip()]) <= 10


def test_chat(tmp_path: Path, environ: dict[str, str]) -> None:
    said = run("chat.py", "mock", folder=tmp_path, environ=environ, stdin="hello\npermission x\ny\n\n")
    assert said == (
        "> You said: hello (message 1 of this conversation)\n> \nbash? [y/n] The command said: x\n> "
    )


def test_approve_lets_a_harmless_command_pass(tmp_path: Path, environ: dict[str, str]) -> None:
    said = run("approve.py", "mock", "permission hi", folder=tmp_path, environ=environ)
    assert said == 'accept     bash\ncompleted  bash {"command":"echo hi"}\nThe command said: hi\n'


def test_approve_refuses_a_change_with_its_reason(tmp_path: Path, environ: dict[str, str]) -> None:
    said = run("approve.py", "mock", "edit", folder=tmp_path, environ=environ).splitlines()
    assert said[0] == "reject     edit"
    assert said[-1] == (
        "You did not allow edit (this program allows only commands that change nothing), so I leave it."
    )
    assert not (tmp_path / "mock-edit.txt").exists()


def test_compare_shows_three_agents_side_by_side(tmp_path: Path, environ: dict[str, str]) -> None:
    words = ["mock", "mock", "mock", "--prompt", "hello", "--prompt", "tool"]
    head, *rows = run("compare.py", *words, folder=tmp_path, environ=environ).splitlines()
    assert head.split() == ["agent", "prompt", "seconds", "tokens", "cost", "outcome", "answer"]
    told = [re.sub(r"\s+[\d.]+\s+(\d+)\s+[\d.]+\s+", r" \1 ", row, count=1) for row in rows]
    assert (
        told
        == [
            "mock       hello 14 end_turn     You said: hello (message 1 of this conversation)",
            "mock       tool 12 end_turn     The command ended with exit code 0.",
        ]
        * 3
    )


def test_compare_says_what_is_wrong_with_an_agent(tmp_path: Path, environ: dict[str, str]) -> None:
    said = run("compare.py", "nobody", "--prompt", "hello", folder=tmp_path, environ=environ)
    assert "unsupported_agent" in said.splitlines()[1]


def test_notebook(tmp_path: Path, environ: dict[str, str]) -> None:
    said = run("notebook.py", "mock", "thinking", "edit", folder=tmp_path, environ=environ)
    assert said.startswith("I thought about it.\nUsage(input_tokens=2,")
    assert "+line 1, from message 2\n" in said


def test_resume_goes_on_after_a_kill_without_loss_or_doubles(
    tmp_path: Path, environ: dict[str, str], mortal: Daemon
) -> None:
    environ |= {"SANDBOX_AGENT_ENDPOINT": endpoint_of(mortal), "SANDBOX_AGENT_TOKEN": TOKEN}
    command = [sys.executable, str(EXAMPLES / "resume.py"), "mock", "pace 40 20"]
    first = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    with first.stdout as said:
        seen = [int(said.readline().split()[0]) for _ in range(12)]
        first.kill()
        seen += [int(line.split()[0]) for line in said if line.endswith("\n")]
        first.wait(20)
    remembered = int((tmp_path / "resume.offset").read_text())
    # It may have been killed after it showed an event and before it wrote that down.
    assert seen == list(range(1, len(seen) + 1))
    assert remembered in (seen[-1], seen[-1] - 1)
    rest = run("resume.py", "mock", "pace 40 20", folder=tmp_path, environ=environ).splitlines()
    numbers = [int(line.split()[0]) for line in rest]
    assert numbers == list(range(remembered + 1, remembered + 1 + len(numbers)))
    assert rest[-1].endswith("turn.ended")
