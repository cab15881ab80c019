"""Type checkers find nothing wrong with programs that use the SDK, and find what is wrong with others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..sdk import page

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
PYRIGHT = shutil.which("pyright", path=f"{ROOT}/.cache/pyright/node_modules/.bin:{os.environ['PATH']}")
WRONG = """
from sandbox_agent import AsyncSandboxAgent, SandboxAgent

def waiting(client: SandboxAgent) -> None:
    session = client.sessions.create(agnet="claude")  # misspelt
    session.prompt(7)  # no text
    client.session("s").permissions.reply("perm_1", "perhaps")  # no such answer
    for event in client.session("s").events(offset="3"):  # no number
        event.sequnce  # misspelt
        if event.type == "turn.ended":
            event.data.item  # another event has one
        elif event.type == "turn.eneded":  # misspelt
            pass

async def asynchronous(client: AsyncSandboxAgent) -> None:
    client.sessions.create(agent="claude").prompt("hello")  # not awaited
    for event in client.session("s").prompt("hello"):  # no `async`
        pass
"""
WRONG_LINES = [number for number, line in enumerate(WRONG.split("\n"), 1) if "  # " in line]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Programs outside the checkout, as a user has them: none of our own settings apply."""
    for example in EXAMPLES:
        shutil.copy(example, tmp_path)
    for number, snippet in enumerate(page.programs("http://127.0.0.1:1", "T")):
        (tmp_path / f"snippet_{number}.py").write_text(snippet)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


def complaints(command: list[str], folder: Path) -> list[tuple[str, int]]:
    """File and line of what a checker reports; both write `path:line`."""
    out = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110).stdout
    found = [line.strip().split(":") for line in out.splitlines() if " error:" in line or " - error" in line]
    assert found or "no issues" in out or "0 errors" in out, out
    return sorted({(Path(words[0]).name, int(words[1])) for words in found})


@pytest.mark.slow
def test_mypy_in_strict_mode_finds_what_is_wrong_and_nothing_else(programs: Path) -> None:
    options = ["--strict", "--config-file=", f"--cache-dir={programs / 'cache'}"]
    command = [sys.executable, "-m", "mypy", *options, "."]
    assert complaints(command, programs) == [("wrong.py", line) for line in WRONG_LINES]


@pytest.mark.slow
@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not here: `make test` fetches it where npm is")
def test_pyright_in_strict_mode_finds_what_is_wrong_and_nothing_else(programs: Path) -> None:
    # The snippets share a preface, of which not each needs everything, and care for a few events only.
    relaxed = dict.fromkeys(["reportUnusedImport", "reportUnusedVariable", "reportMatchNotExhaustive"], False)
    settings = {"typeCheckingMode": "strict", **relaxed}
    (programs / "pyrightconfig.json").write_text(json.dumps(settings))
    assert PYRIGHT is not None
    found = complaints([PYRIGHT, "--pythonpath", sys.executable], programs)
    assert set(found) == {("wrong.py", line) for line in WRONG_LINES}
