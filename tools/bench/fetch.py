"""Installs third-party programs with npm and pip into the cache of the checkout, once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sandbox_agent.install.archive import unpack

PEER_VERSION = "0.4.2"
PEER_PACKAGE = "@sandbox-agent/cli-linux-x64"
PEER_PROGRAM = "package/bin/sandbox-agent"
PROFILER = "py-spy==0.4.3"


def peer_program(cache: Path) -> Path:
    folder = cache / f"peer-{PEER_VERSION}"
    program = folder / PEER_PROGRAM
    if os.access(program, os.X_OK):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{PEER_PACKAGE}@{PEER_VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    archive = folder / packed.stdout.split()[-1]
    unpack(archive, folder)
    archive.unlink()
    program.chmod(0o755)  # the archive leaves this to the installer
    return program


def profiler_program(cache: Path) -> Path:
    folder = cache / PROFILER
    program = folder / "bin" / "py-spy"
    if not program.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-deps", "--target", folder, PROFILER], check=True)
    return program
