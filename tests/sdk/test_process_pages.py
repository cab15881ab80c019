"""The snippets of the pages about processes, terminals, common software and custom tools, against a real daemon."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import TOKEN

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("processes.mdx", "terminals.mdx", "common-software.mdx", "custom-tools.mdx")


def snippets(language: str) -> list[pytest.param]:  # type: ignore[valid-type]
    return [
        pytest.param(text, id=f"{page}-{number}")
        for page in PAGES
        for number, text in enumerate(
            re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
        )
    ]


def run(command: list[str], endpoint: str, folder: Path) -> str:
    environ = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "SANDBOX_AGENT_ENDPOINT": endpoint,
        "SANDBOX_AGENT_TOKEN": TOKEN,
    }
    done = subprocess.run(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("text", snippets("sh"))
def test_a_shell_snippet_runs(text: str, endpoint: str, tmp_path: Path) -> None:
    if "curl" in text and shutil.which("curl") is None:
        pytest.skip("there is no curl on this machine")
    run(["bash", "-euo", "pipefail", "-c", text], endpoint, tmp_path)


@pytest.mark.parametrize("text", snippets("python"))
def test_a_python_snippet_runs(text: str, endpoint: str, tmp_path: Path) -> None:
    run([sys.executable, "-W", "error", "-c", text], endpoint, tmp_path)


@pytest.mark.parametrize("text", snippets(r"sh \w+"))
def test_what_a_distribution_needs_is_written_as_a_shell_reads_it(text: str) -> None:
    subprocess.run(["sh", "-n", "-c", text], check=True)


def test_the_packages_for_debian_are_known_to_debian() -> None:
    if shutil.which("apt-cache") is None:
        pytest.skip("this is no Debian")
    page = (DOCS / "common-software.mdx").read_text()
    found = re.search(r"```sh debian\n.*?recommends \\\n(.*?)\n```", page, re.DOTALL)
    assert found is not None
    told = subprocess.run(["apt-cache", "policy", *found[1].split()], capture_output=True, text=True).stdout
    if "Candidate" not in told:
        pytest.skip("this machine has no lists of packages")
    known = set(re.findall(r"^(\S+):$\n.*\n\s+Candidate: (?!\(none\))", told, re.MULTILINE))
    assert set(found[1].split()) <= known
