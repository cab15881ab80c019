"""Public MCP clients, as they are published, installed once for all runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON_SDK = "mcp==2.3.0"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def python_sdk() -> Path:
    """The folder with the Python SDK, apart from our own environment."""
    folder = ROOT / ".cache" / "mcp-python"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "mcp").exists():
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
            subprocess.run([*install, PYTHON_SDK], check=True, timeout=200)
    return folder


def inspector() -> Path:
    """The MCP inspector's program."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        why = "NO node AND npm ON THIS MACHINE: the MCP inspector is not tried"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    folder = ROOT / ".cache" / "mcp-inspector"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "node_modules" / ".bin" / "mcp-inspector"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            flags = ["--silent", "--no-progress", "--ignore-scripts", "--prefix", str(folder)]
            subprocess.run(["npm", "install", *flags, INSPECTOR], check=True, timeout=300)
    return program
