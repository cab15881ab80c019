"""What surrounds a command: bytes that are not text, a terminal without our characters, a deleted directory, a full disk."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemons import SECONDS

from sandbox_agent.presence import STATE_FILE, DaemonState, save

from .conftest import Cli, command, environment

NOT_TEXT = b"hello \xff\xfe"


def run(folder: Path, *words: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(*words),
        env=environment(folder, **env),
        cwd=cwd or folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
    )


@pytest.mark.parametrize("locale", ["C.UTF-8", "en_US.UTF-8"])
@pytest.mark.parametrize("words", [("run", "mock"), ("sessions", "send-message", "demo")])
def test_stdin_that_is_not_text_is_refused(
    environ: dict[str, str], locale: str, words: tuple[str, ...]
) -> None:
    """In some locales Python decodes any bytes, in others it does not."""
    failed = subprocess.run(
        command(*words),
        input=NOT_TEXT,
        env={
            **environ,
            "LANG": locale,
            "PYTHONIOENCODING": "utf-8:strict" if locale == "en_US.UTF-8" else "",
        },
        capture_output=True,
        timeout=SECONDS,
    )
    assert (failed.returncode, failed.stderr) == (
        2,
        b"error: stdin is not UTF-8 text: to send a file, use --attach\n",
    )


def test_an_argument_that_is_not_text_is_refused_and_leaves_no_session(cli: Cli) -> None:
    failed = cli("run", "mock", "--session", "not-text", os.fsdecode(NOT_TEXT))
    assert (failed.returncode, failed.stderr) == (2, "error: b'hello \\xff\\xfe' is not UTF-8 text\n")
    assert cli("sessions", "get", "not-text").returncode == 1


def test_a_directory_whose_name_is_not_text_is_refused(tmp_path: Path) -> None:
    (folder := tmp_path / os.fsdecode(NOT_TEXT)).mkdir()
    failed = run(tmp_path, "run", "mock", "hi", cwd=folder)
    assert failed.returncode == 2
    assert failed.stderr.endswith(b"hello \\xff\\xfe' is not UTF-8 text\n")


def test_a_terminal_that_lacks_our_characters_gets_escapes(tmp_path: Path) -> None:
    ran = run(tmp_path, "run", "mock", "h\u00e9", PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stdout) == (0, b"You said: h\\xe9 (message 1 of this conversation)\n")


def test_a_prompt_that_is_too_long_should_become_a_file(cli: Cli) -> None:
    failed = cli("run", "mock", "--session", "too-long", stdin="x" * 2**20)
    assert (failed.returncode, failed.stderr) == (
        1,
        "error: the prompt is too long (the body may have at most 1048576 bytes): save it to a file and use --attach\n",
    )
    assert cli("sessions", "get", "too-long").returncode == 1


def test_a_deleted_directory_is_named_as_the_reason(tmp_path: Path) -> None:
    inside = f"mkdir gone && cd gone && rmdir ../gone && exec {' '.join(command('run', 'mock', 'hi'))}"
    failed = subprocess.run(
        ["sh", "-c", inside], env=environment(tmp_path), cwd=tmp_path, capture_output=True, timeout=SECONDS
    )
    assert (failed.returncode, failed.stderr) == (
        1,
        b"error: the current directory was deleted: change to another one\n",
    )


@pytest.fixture
def no_space() -> Iterator[None]:
    """Every write to a file fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("no_space")
def test_an_address_that_cannot_be_written_leaves_nothing_and_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=STATE_FILE) as failed:
        save(tmp_path, DaemonState(1, "http://127.0.0.1:1", None, "1"))
    assert failed.value.filename == str(tmp_path / STATE_FILE)
    assert list(tmp_path.iterdir()) == []
