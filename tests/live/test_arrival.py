"""From nothing to an answer in one command: the agent comes from a mirror, and the model is the scripted one."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sandbox_agent.install.machine import this_machine
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .live import HELLO, REAL

pytestmark = [pytest.mark.live, pytest.mark.skipif(REAL, reason="a real model costs money")]


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """The publisher's bucket as a directory, with the cached claude in it."""
    try:
        program = agent_cache.install("claude").resolve()
    except agent_cache.CannotInstall as error:
        pytest.skip(str(error))
    version = agent_cache.AGENTS["claude"][1]
    place = tmp_path / "mirror" / "claude" / version
    build = place / this_machine().key / "claude"
    build.parent.mkdir(parents=True)
    build.symlink_to(program)
    with program.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    manifest = {"platforms": {this_machine().key: {"checksum": checksum}}}
    (place / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    return tmp_path / "mirror"


def test_run_fetches_the_agent_and_answers(
    mirror: Path, scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "bash", "env"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}" if tool == "env" else f"/bin/{tool}")
    environ = {
        **offline_environment("claude", scripted_model.base_url, tmp_path / "home"),
        "PATH": str(tools),
        "SANDBOX_AGENT_DATA_DIR": str(tmp_path / "data"),
        "SANDBOX_AGENT_MIRROR": str(mirror),
    }
    command = [sys.executable, "-P", "-m", "sandbox_agent", "run", "claude", "SCENARIO:text"]
    done = subprocess.run(
        command,
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (0, f"{HELLO}\n"), done.stderr
    # It is large, and pytest keeps temporary directories.
    shutil.rmtree(tmp_path / "data")
    version = agent_cache.AGENTS["claude"][1]
    assert f"installed claude {version} from mirror\n" in done.stderr
