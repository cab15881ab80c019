"""The npm packages of this project: built once per run, by the first worker that needs them."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SDK = ROOT / "sdks" / "typescript"
REACT = ROOT / "sdks" / "react"
SECONDS = 280


def build_sdk(factory: pytest.TempPathFactory) -> None:
    """Build the TypeScript SDK and its tests."""
    _once(factory, "sdk", _build_sdk)


def pack(factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK and the React package as `npm pack` makes them."""
    return _once(factory, "packed", _pack)


def _build_sdk(_: Path) -> None:
    run("make", "--no-print-directory", "sdk", folder=ROOT)
    run("npm", "run", "--silent", "build:test", folder=SDK)


def _pack(folder: Path) -> None:
    run("make", "--no-print-directory", "react", folder=ROOT)
    for package in (SDK, REACT):
        run("npm", "pack", "--ignore-scripts", "--pack-destination", folder, folder=package)


def _once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = shared / name, shared / f"{name}.done"
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    # The builds write into the checkout, which other runs use too.
    with (cache / "typescript.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir(exist_ok=True)
            fill(folder)
            done.touch()
    return folder


def run(*command: str | Path, folder: Path, env: dict[str, str] | None = None) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
