"""The single file works on a machine without Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .image import ROOT, Builder, Container, Image, run_claude


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The single file, or the one that SINGLE_FILE names."""
    if built := os.environ.get("SINGLE_FILE"):
        return Path(built).resolve()
    file = tmp_path_factory.mktemp("dist") / "sandbox-agent-linux-x64"
    subprocess.run(
        [sys.executable, "-m", "tools.onefile", "--output", file], cwd=ROOT, check=True, capture_output=True
    )
    return file


@pytest.fixture(scope="session")
def bare(builder: Builder, program: Path) -> Iterator[Image]:
    with builder.bare(program) as image:
        yield image


def test_there_is_no_python_on_the_machine(bare: Image) -> None:
    assert not list(bare.root.glob("usr/bin/python3*"))


def test_it_serves_a_session(bare: Image, tmp_path: Path, port: int) -> None:
    container = Container(bare, tmp_path, port)
    container.start()
    try:
        assert container.check(bare.health) == 0
        container.call("POST", "/v1/sessions/s", {"agent": "mock", "directory": "/workspace"})
        assert container.turn("s", "hello")[-1]["data"]["metadata"]["stop_reason"] == "end_turn"
    finally:
        container.stop()


def test_a_real_agent_works(bare: Image, tmp_path: Path, port: int) -> None:
    assert run_claude(bare, tmp_path, port) == "end_turn"
