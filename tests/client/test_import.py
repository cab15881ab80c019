"""The import is light: nothing is loaded that is not used, least of all the daemon."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

import sandbox_agent

DAEMON = ("agents", "http", "ops", "runtime", "store", "openapi", "cli")
MEASURED = """
import json, sys, time
began = time.process_time()
{statement}
print(json.dumps([time.process_time() - began, sorted(sys.modules)]))
"""


def loaded_by(statement: str) -> tuple[float, list[str]]:
    """Seconds of processor time (the machine may be busy), and the modules."""
    script = MEASURED.format(statement=statement)
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60).stdout
    return msgspec.json.decode(out, type=tuple[float, list[str]])


@pytest.mark.parametrize(
    "statement",
    [
        "import sandbox_agent",
        "from sandbox_agent import SandboxAgent",
        "from sandbox_agent import AsyncSandboxAgent",
    ],
)
def test_an_import_takes_less_than_150_milliseconds(statement: str) -> None:
    assert min(loaded_by(statement)[0] for _ in range(3)) < 0.150


def test_a_client_loads_neither_the_daemon_nor_yet_the_http_client() -> None:
    use = "from sandbox_agent import SandboxAgent; SandboxAgent.connect('http://127.0.0.1:1').session('s')"
    _, modules = loaded_by(use)
    ours = [f"sandbox_agent.{name}" for name in DAEMON]
    theirs = ["httpx2", "asyncio", "uvicorn", "apsw", "rich"]
    assert [name for name in (*ours, *theirs) if name in modules] == []


def test_every_public_name_can_be_imported_from_the_package() -> None:
    for name in sandbox_agent.client.__all__:
        assert getattr(sandbox_agent, name) is getattr(sandbox_agent.client, name)
    assert set(sandbox_agent.client.__all__) < set(dir(sandbox_agent))


def test_another_name_is_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'SandboxAgnet'"):
        sandbox_agent.SandboxAgnet  # noqa: B018
