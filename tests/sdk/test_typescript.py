"""The TypeScript SDK: its own tests against a real daemon, and that it matches our tables.

`npm ci` runs when `node_modules` is missing or the lock file is newer. Without Node all of it is skipped with a warning; where `CI` is
set that is a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import npm_packages
from tests.daemons import Daemon, running
from tests.npm_packages import ROOT, SDK, SECONDS

import sandbox_agent
from sandbox_agent.errors import ERRORS
from sandbox_agent.ops import OPERATIONS

SUITES = sorted(path.name.removesuffix(".test.ts") for path in (SDK / "test").glob("*.test.ts"))
pytestmark = pytest.mark.timeout(SECONDS + 20)  # a busy machine compiles slowly


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of Node.js, with the SDK and its tests compiled in strict mode."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        why = "NO node AND npm ON THIS MACHINE: the TypeScript SDK is not tested"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    npm_packages.build_sdk(tmp_path_factory)
    return found


def run(*command: str, cwd: Path = SDK, **variables: str) -> str:
    """What a command prints; it must succeed."""
    # Node has a WebSocket since version 20, and without this flag since 22.
    websocket = {"NODE_OPTIONS": "--experimental-websocket"}
    return npm_packages.run(
        *command, folder=cwd, env={"SANDBOX_AGENT_PYTHON": sys.executable, **websocket, **variables}
    )


def evaluated(node: str, expression: str) -> Any:
    """A value that the SDK exports, or an expression of it."""
    program = f'import * as sdk from "sandbox-agentd"; console.log(JSON.stringify({expression}))'
    return json.loads(run(node, "--input-type=module", "--eval", program))


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_suite_passes(node: str, suite: str) -> None:
    run(node, "--test", f"build/{suite}.test.js")


def test_types_are_those_of_the_openapi_document(node: str) -> None:
    run(node, "gen.mjs", "--check")


def test_every_operation_has_a_method(node: str) -> None:
    assert set(evaluated(node, "Object.keys(sdk.METHODS)")) == OPERATIONS.keys()


def test_every_problem_is_a_class_of_the_same_name(node: str) -> None:
    classes = evaluated(node, "Object.entries(sdk.PROBLEMS).map(([type, kind]) => [type, kind.name])")
    assert dict(classes) == {name: error.__name__ for name, error in ERRORS.items()}


@pytest.mark.parametrize("page, output", [("quickstart", "turn.ended"), ("sdk-overview", "You said: hello")])
def test_the_program_of_a_page_runs(node: str, tmp_path: Path, page: str, output: str) -> None:
    text = (ROOT / "docs" / f"{page}.mdx").read_text()
    (program,) = re.findall(r"```ts TypeScript\n(.*?)```", text, re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with running(Daemon(tmp_path / "data", "--no-token")) as daemon:
        program = program.replace("127.0.0.1:2468", f"127.0.0.1:{daemon.port}")
        assert output in run(node, "--input-type=module", "--eval", program, PATH=path, HOME=str(tmp_path))


def test_the_package_has_the_daemons_version() -> None:
    package = json.loads((SDK / "package.json").read_text())
    source = re.search(r'VERSION = "(.+)"', (SDK / "src" / "version.ts").read_text())
    assert source is not None
    assert package["version"] == source[1] == sandbox_agent.__version__


def test_the_lock_file_names_no_address() -> None:
    """`npm run lock` removes the addresses that npm writes."""
    assert re.findall(r"https?://.*|.*resolved.*", (SDK / "package-lock.json").read_text()) == []
