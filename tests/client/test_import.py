"""The import is light: nothing is loaded that is not used, least of all the daemon."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

import sandbox_agent
from sandbox_agent import client

DAEMON = ("agents", "http", "ops", "runtime", "store", "openapi", "cli")


def loaded_by(statement: str) -> list[str]:
    """The modules that a program has loaded after a statement."""
    script = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60).stdout
    return msgspec.json.decode(out, type=list[str])


@pytest.mark.parametrize(
    "statement", ["import sandbox_agent", "from sandbox_agent import SandboxAgent, AsyncSandboxAgent"]
)
def test_an_import_loads_few_modules_and_no_heavy_ones(statement: str) -> None:
    modules = loaded_by(statement)
    heavy = {"httpx2", "uvicorn", "apsw", "rich", *(f"sandbox_agent.{name}" for name in DAEMON)}
    assert heavy.isdisjoint(modules)
    assert sum(name.startswith("sandbox_agent") for name in modules) < 80


def test_a_client_loads_neither_the_daemon_nor_yet_the_http_client() -> None:
    use = "from sandbox_agent import SandboxAgent; SandboxAgent.connect('http://127.0.0.1:1').session('s')"
    modules = loaded_by(use)
    ours = [f"sandbox_agent.{name}" for name in DAEMON]
    theirs = ["httpx2", "asyncio", "uvicorn", "apsw", "rich"]
    assert [name for name in (*ours, *theirs) if name in modules] == []


def test_every_public_name_can_be_imported_from_the_package() -> None:
    for name in client.__all__:
        assert getattr(sandbox_agent, name) is getattr(client, name)
    assert set(client.__all__) < set(dir(sandbox_agent))


def test_another_name_is_missing_as_usual() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'SandboxAgnet'"):
        sandbox_agent.SandboxAgnet  # noqa: B018
