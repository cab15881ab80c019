from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.runtime.traces import Traces, missing_in_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "deep" / "down").mkdir(parents=True)
    _git(folder, "init")
    _git(folder, "-c", "user.name=me", "-c", "user.email=me@x.org", "commit", "--allow-empty", "-m", "first")
    return folder


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_a_trace_is_found_in_what_all_work_trees_share(repository: Path, tmp_path: Path) -> None:
    _git(repository, "worktree", "add", str(tmp_path / "beside"))
    expected = repository / ".git" / "trace"
    for directory in (repository, repository / "deep" / "down", tmp_path / "beside"):
        (found,) = missing_in_git(str(directory), ["trace"])
        assert found.resolve() == expected


def test_existing_files_are_not_traces(repository: Path) -> None:
    (repository / ".git" / "trace").write_text("the user's own")
    assert missing_in_git(str(repository), ["trace"]) == ()


@pytest.mark.parametrize("content", [None, b"gitdir: /no/such\0folder", b"\xff\xfe"])
def test_without_a_repository_there_are_no_traces(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / ".git").write_bytes(content)
    traces = Traces(AGENTS["opencode"], str(tmp_path), {})
    traces.remove()


def test_what_an_agent_wrote_is_taken_back_and_what_another_wrote_stays(repository: Path) -> None:
    made, settings = repository / ".git" / "opencode", repository / "opencode.json"
    settings.write_text('{"model": "a/b"}')
    settings.chmod(0o640)
    traces = Traces(AGENTS["opencode"], str(repository), {"HOME": str(repository)})
    made.write_text("an id")
    settings.write_text('{\n  "$schema": "https://opencode.ai/config.json","model": "a/b"}')
    traces.remove()
    assert (made.exists(), settings.read_text()) == (False, '{"model": "a/b"}')
    assert settings.stat().st_mode & 0o777 == 0o640
    settings.write_text('{"model": "mine"}')
    traces.remove()
    assert settings.read_text() == '{"model": "mine"}'
