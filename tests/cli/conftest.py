"""A daemon for the tests of the command line, and the command itself as a process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS

Cli = Callable[..., subprocess.CompletedProcess[str]]
TOKEN = "a-token-for-tests"


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment without anything from this machine, and its own data directory."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"HOME": str(folder), "SANDBOX_AGENT_DATA_DIR": str(folder / "state")}
    return {**kept, **own, "SANDBOX_AGENT_NO_INSTALL": "true", **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "sandbox_agent", *words]


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("daemon")
    process = subprocess.Popen(
        command("--token", TOKEN, "--port", "0", "--drain-seconds", "0"),
        env=environment(folder),
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = next(filter(None, (re.match(r"listening on (\S+)", line) for line in process.stderr)))
    yield found[1]
    process.terminate()
    process.stderr.close()
    process.wait(SECONDS)


@pytest.fixture
def environ(endpoint: str, tmp_path: Path) -> dict[str, str]:
    """The environment of a user of the daemon."""
    return environment(tmp_path, SANDBOX_AGENT_ENDPOINT=endpoint, SANDBOX_AGENT_TOKEN=TOKEN)


@pytest.fixture
def cli(environ: dict[str, str], tmp_path: Path) -> Cli:
    """Run a command against the daemon."""

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words),
            env=environ,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    return run


@pytest.fixture
def local(tmp_path: Path) -> Cli:
    """Run a command where no daemon is named."""

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*words),
            env=environment(tmp_path),
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    return run


def types_of(lines: str) -> list[str]:
    return [msgspec.json.decode(line)["type"] for line in lines.splitlines()]
