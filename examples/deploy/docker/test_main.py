"""The example on the engine of `DOCKER_HOST` if that is set, and on a stand-in otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from examples.deploy.docker.main import main
from examples.deploy.machine import CONVERSATION
from tests.deploy.image_engine import engine
from tests.fleet.engine import serving

from sandbox_agent.providers import DockerProvider


def test_the_conversation_goes_on_after_a_stop_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.environ.get("DOCKER_HOST"):
        main(DockerProvider(), "mock")
    else:
        monkeypatch.setenv("SANDBOX_AGENT_DATA_DIR", str(tmp_path / "own"))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'docker.sock'}")
        with engine(tmp_path / "engine") as stand_in:
            with serving(stand_in, tmp_path / "docker.sock"):
                main(DockerProvider(), "mock")
            stand_in.close()
            assert (stand_in.containers, stand_in.volumes) == ({}, {})
    assert capsys.readouterr().out.splitlines() == CONVERSATION
