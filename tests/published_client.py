"""The published npm client of the Rust daemon: everything it does with that daemon must work with ours."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VERSION = "0.4.2"


def run_with_published_client(program: Path, *arguments: str) -> str:
    """The output of a program that imports `sandbox-agent`, which must succeed."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        why = "NO node AND npm ON THIS MACHINE: the published client is not tried"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    module = _installed() / "node_modules" / "sandbox-agent" / "dist" / "index.js"
    done = subprocess.run(
        [node, str(program), str(module), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def _installed() -> Path:
    """Once for all workers of a run, and all runs."""
    folder = ROOT / ".cache" / "published-client"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / "sandbox-agent" / "dist" / "index.js").exists():
            install = [
                "npm",
                "install",
                "--silent",
                "--no-progress",
                "--ignore-scripts",
                "--prefix",
                str(folder),
            ]
            subprocess.run([*install, f"sandbox-agent@{VERSION}"], check=True, timeout=100)
    return folder
