"""`install desktop` with a package manager that only records its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .test_commands import on_terminal

MANAGERS = {
    "apt-get": [
        "apt-get update",
        "apt-get install -y --no-install-recommends xvfb openbox ffmpeg tigervnc-scraping-server xdg-utils "
        "xkb-data fonts-dejavu-core xterm",
    ],
    "dnf": [
        "dnf install -y xorg-x11-server-Xvfb openbox ffmpeg-free tigervnc-server xdg-utils xkeyboard-config "
        "dejavu-sans-fonts xterm"
    ],
    "apk": ["apk add xvfb openbox ffmpeg tigervnc xdg-utils xkeyboard-config font-dejavu xterm"],
}


def install(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sandbox_agent", "install", "desktop", *flags]
    environ = {**os.environ, "PATH": str(folder), "NO_COLOR": "1"}
    return subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("manager", MANAGERS)
def test_what_is_missing_is_installed_with_the_machines_own_package_manager(
    tmp_path: Path, manager: str
) -> None:
    asked = tmp_path / "asked"
    write_program(tmp_path / manager, f'echo "{manager} $*" >> {asked}')
    write_program(tmp_path / "sudo", '"$@"')
    sudo = "" if os.geteuid() == 0 else "sudo "
    printed = install(tmp_path, "--print-only")
    assert (printed.returncode, printed.stdout.splitlines()) == (
        0,
        [sudo + line for line in MANAGERS[manager]],
    )
    refused = install(tmp_path)
    assert (refused.returncode, "--yes" in refused.stderr, asked.exists()) == (1, True, False)
    incomplete = install(tmp_path, "--yes")
    assert asked.read_text().splitlines() == MANAGERS[manager]
    assert incomplete.returncode == 1
    assert "still missing" in incomplete.stderr


def test_input_typed_before_the_question_installs_nothing(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    write_program(tmp_path / "apk", f'echo "$*" >> {asked}')
    with on_terminal(("install", "desktop"), {"PATH": str(tmp_path)}, tmp_path) as terminal:
        terminal.type("y\n")
        terminal.wait_for("Continue? [y/N] ")
        terminal.type("n\n")
        assert terminal.exit_code() == 1
    assert not asked.exists()


def test_without_a_known_package_manager_the_missing_programs_are_named(tmp_path: Path) -> None:
    done = install(tmp_path, "--yes")
    assert done.returncode == 1
    assert "Xvfb, openbox, ffmpeg, x0vncserver, xdg-open" in done.stderr


def test_nothing_is_run_where_everything_is_there(tmp_path: Path) -> None:
    for name in ("Xvfb", "openbox", "ffmpeg", "x0vncserver", "xdg-open"):
        write_program(tmp_path / name, "exit 0")
    write_program(tmp_path / "apk", "exit 1")
    assert install(tmp_path, "--yes").returncode == 0
