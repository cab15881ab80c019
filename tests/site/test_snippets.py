"""Every page does what it says: its `sh` blocks run one after the other in one shell, its `python` blocks as programs.

Blocks that cannot run here, because they need a key, an engine or a terminal, are `console` blocks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.daemons import Daemon, running
from tools.site import mdx

DOCS = Path(__file__).parents[2] / "docs"
TOKEN = "a-token-for-the-page"
RUN_ELSEWHERE = {"quickstart", "sdk-python"}
"""Pages whose tests look closer: `tests/cli/test_quickstart.py`, `tests/sdk/test_page.py`."""

pytestmark = pytest.mark.slow


def blocks(name: str, language: str) -> list[str]:
    """The code of a page in a language, or of none if the page is generated."""
    text = (DOCS / f"{name}.mdx").read_text()
    if mdx.NOTE in text:
        return []
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(code) for _, code in found]


def pages(language: str) -> list[str]:
    names = (path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.mdx")))
    return [name for name in names if name not in RUN_ELSEWHERE and blocks(name, language)]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        yield daemon


def run(daemon: Daemon, folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(
        command,
        cwd=work,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}",
            "SANDBOX_AGENT_TOKEN": TOKEN,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=280,
    )


def files_were_copied_and_unpacked(work: Path) -> None:
    assert (work / "notes" / "today.txt").read_text() == "bye\n"
    assert (work / "notes" / "old" / "more.txt").read_text() == "more"
    assert (work / "site-again" / "css" / "main.css").read_text() == "body {}\n"
    assert (work / "unpacked" / "site" / "css" / "main.css").exists()


def a_revert_was_undone(work: Path) -> None:
    assert (work / "project" / "a.txt").read_text() == "one\ntwo\n"


LEAVES: dict[str, Callable[[Path], None]] = {
    "changes": a_revert_was_undone,
    "file-system": files_were_copied_and_unpacked,
}
"""What must be true of the folder after a page's snippets have run."""


@pytest.mark.parametrize("name", pages("sh"))
def test_the_shell_snippets_of_a_page_run(name: str, daemon: Daemon, tmp_path: Path) -> None:
    done = run(daemon, tmp_path, ["bash", "-euo", "pipefail", "-c", "\n".join(blocks(name, "sh"))])
    assert done.returncode == 0, done.stdout + done.stderr
    if name in LEAVES:
        LEAVES[name](tmp_path / "work")


PYTHON = "python(?: Python)?"


@pytest.mark.parametrize("name", pages(PYTHON))
def test_the_python_programs_of_a_page_run(name: str, daemon: Daemon, tmp_path: Path) -> None:
    if name == "computer-use" and shutil.which("Xvfb") is None:
        pytest.skip("the programs for the desktop are not installed")
    for program in blocks(name, PYTHON):
        done = run(daemon, tmp_path, [sys.executable, "-W", "error", "-c", program])
        assert (done.returncode, done.stderr) == (0, ""), program


def test_what_a_distribution_needs_is_written_as_a_shell_reads_it() -> None:
    snippets = blocks("common-software", r"sh \w+")
    assert len(snippets) == 4
    for text in snippets:
        subprocess.run(["sh", "-n", "-c", text], check=True)


def test_the_packages_for_debian_are_known_to_debian() -> None:
    if shutil.which("apt-cache") is None:
        pytest.skip("this is no Debian")
    (text,) = blocks("common-software", "sh debian")
    packages = text.partition("--no-install-recommends")[2].replace("\\", "").split()
    listing = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True).stdout
    if "Candidate" not in listing:
        pytest.skip("this machine has no lists of packages")
    known = set(re.findall(r"^(\S+):$\n.*\n\s+Candidate: (?!\(none\))", listing, re.MULTILINE))
    assert set(packages) <= known
