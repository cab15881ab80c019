"""The page of the SDK names every public method, and every snippet on it runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sandbox_agent
from sandbox_agent import AsyncSandboxAgent, SandboxAgent, Session, Transcript, Turn
from sandbox_agent.client.blocking.operations import Operations
from sandbox_agent.ops import OPERATIONS

from .conftest import TOKEN
from .page import PAGE, SNIPPETS, programs


def methods(kind: type) -> set[str]:
    found = inspect.getmembers(kind, callable)
    return {name for name, _ in found if not name.startswith("_")}


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(number: int, endpoint: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", programs(endpoint, TOKEN)[number]],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_operation_is_called_in_a_snippet() -> None:
    code = "\n".join(SNIPPETS)
    assert [name for name in OPERATIONS if f"client.{name}(" not in code] == []


def test_every_method_of_a_session_a_turn_and_a_transcript_is_called_in_a_snippet() -> None:
    code = "\n".join(SNIPPETS)
    named = set(re.findall(r"\.(\w+)\(", code))
    for kind in (SandboxAgent, Session, Turn, Transcript):
        assert methods(kind) - named - {"create_session", "watch"} == set(), kind
    for group in ("permissions", "questions", "attachments"):
        bound = type(vars(Session(SandboxAgent.connect("http://127.0.0.1:1"), "s"))[group])
        assert [name for name in methods(bound) if f"session.{group}.{name}(" not in code] == []


def test_every_public_name_is_on_the_page() -> None:
    problems = {name for name in sandbox_agent.client.__all__ if hasattr(sandbox_agent.errors, name)}
    other = {
        "Address",
        "Answer",
        "Message",
        "Tool",
        "Usage",
        "Item",
        "McpServer",
        "OnPermission",
        "OnQuestion",
    }
    handles = {"Session", "Turn", "AsyncSession", "AsyncTurn", "Attachment", "AsyncDownload"}
    names = set(sandbox_agent.client.__all__) - problems - other - handles
    assert [name for name in sorted(names) if name not in PAGE] == []


def test_both_clients_have_the_same_methods_with_the_same_arguments() -> None:
    assert methods(SandboxAgent) == methods(AsyncSandboxAgent)
    here, there = (
        vars(SandboxAgent.connect("http://127.0.0.1:1")),
        vars(AsyncSandboxAgent.connect("http://127.0.0.1:1")),
    )
    assert here.keys() == there.keys()
    groups = {name.partition(".")[0] for name in OPERATIONS}
    assert groups < here.keys()
    for group in groups:
        for name in methods(type(here[group])):
            mine, theirs = getattr(here[group], name), getattr(there[group], name)
            assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters)
    assert issubclass(SandboxAgent, Operations)
