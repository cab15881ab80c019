"""The single file works on a machine without Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .builder import ROOT, Builder
from .container import Container, container_for, started
from .image import Image


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The single file, or the one that SINGLE_FILE names."""
    if built := os.environ.get("SINGLE_FILE"):
        return Path(built).resolve()
    file = tmp_path_factory.mktemp("dist") / "sandbox-agent-linux-x64"
    made = subprocess.run(
        [sys.executable, "-m", "tools.onefile", "--output", file], cwd=ROOT, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr[-3000:]
    return file


@pytest.fixture(scope="session")
def bare(builder: Builder, program: Path) -> Iterator[Image]:
    with builder.bare(program) as image:
        yield image


def test_there_is_no_python_on_the_machine(bare: Image) -> None:
    assert not list(bare.root.glob("usr/bin/python3*"))


def test_it_serves_a_session(bare: Image, tmp_path: Path, port: int) -> None:
    with started(Container(bare, tmp_path, port)) as container:
        assert container.check(bare.health) == 0
        container.create("s", "mock")
        assert container.ends_well("s")


def test_a_real_agent_works(bare: Image, tmp_path: Path, port: int) -> None:
    with container_for("claude", bare, tmp_path, port) as container:
        container.create("real", "claude", permissionMode="bypass")
        assert container.ends_well("real")
