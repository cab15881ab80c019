"""The pages about files, changes, MCP servers and skills do what they say: their snippets run, one after the other, in one shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .daemons import Daemon, running

DOCS = Path(__file__).parents[1] / "docs"
TOKEN = "a-token-for-the-page"


def run_snippets(page: str, folder: Path) -> Path:
    """Run a page's snippets in a folder of their own, which is returned."""
    snippets = re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    work = folder / "work"
    work.mkdir()
    with running(Daemon(folder / "data", "--token", TOKEN)) as daemon:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(snippets)],
            cwd=work,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(folder),
                "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}",
                "SANDBOX_AGENT_TOKEN": TOKEN,
            },
            capture_output=True,
            text=True,
            timeout=280,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return work


@pytest.mark.slow
def test_every_snippet_about_files_runs(tmp_path: Path) -> None:
    work = run_snippets("file-system.mdx", tmp_path)
    assert (work / "notes" / "today.txt").read_text() == "bye\n"
    assert (work / "notes" / "old" / "more.txt").read_text() == "more"
    assert (work / "site-again" / "css" / "main.css").read_text() == "body {}\n"
    assert (work / "unpacked" / "site" / "css" / "main.css").exists()


@pytest.mark.slow
def test_every_snippet_about_changes_runs(tmp_path: Path) -> None:
    work = run_snippets("changes.mdx", tmp_path)
    assert (work / "project" / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["mcp.mdx", "skills.mdx"])
def test_every_snippet_about_tools_for_agents_runs(tmp_path: Path, page: str) -> None:
    run_snippets(page, tmp_path)
