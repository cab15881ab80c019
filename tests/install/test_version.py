"""The version that a program reports."""

from __future__ import annotations

import threading
from pathlib import Path

from sandbox_agent.install.version import ask_version

from .site import program


def test_a_program_that_is_still_open_for_writing_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_bytes(program("1.2.3"))
    path.chmod(0o755)
    # As in a process that was forked by another thread and has not executed its program yet.
    file = path.open("ab")
    closing = threading.Timer(0.2, file.close)
    closing.start()
    assert ask_version(path, {"PATH": "/bin:/usr/bin"}) == "1.2.3"
    closing.join()


def test_a_program_that_cannot_run_has_no_version(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_bytes(program("1.2.3"))
    assert ask_version(path, {}) is None
