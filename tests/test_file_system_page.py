"""The page about files does what it says: its snippets run, one after the other, in one shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .daemons import Daemon, running

PAGE = (Path(__file__).parents[1] / "docs" / "file-system.md").read_text()
TOKEN = "a-token-for-the-page"


@pytest.mark.slow
def test_every_snippet_of_the_page_runs(tmp_path: Path) -> None:
    snippets = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    work = tmp_path / "work"
    work.mkdir()
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(snippets)],
            cwd=work,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}",
                "SANDBOX_AGENT_TOKEN": TOKEN,
            },
            capture_output=True,
            text=True,
            timeout=90,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "notes" / "today.txt").read_text() == "bye\n"
    assert (work / "notes" / "old" / "more.txt").read_text() == "more"
    assert (work / "site-again" / "css" / "main.css").read_text() == "body {}\n"
    assert (work / "unpacked" / "site" / "css" / "main.css").exists()
