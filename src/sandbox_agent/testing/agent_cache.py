"""The real agents, in the versions that the tests are made for, installed from npm into a cache directory.

`python -m sandbox_agent.testing.agent_cache [NAME...]` fetches them as `install-agent` does, but only from
the npm registry, so that every machine tests the same builds. Agents already in the cache are left alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..agents import AGENTS as REGISTRY
from ..agents.acp import Acp
from ..agents.base import Agent
from ..config import PREFIX
from ..errors import InstallFailed
from ..install.installer import Installer
from ..install.progress import Progress
from ..install.publishers import RECIPES, Package, Recipe, Tree
from ..install.shelf import Shelf

CACHE_VARIABLE = "SANDBOX_AGENT_TEST_CACHE"

ACP_ADAPTER = Recipe(
    program="claude-agent-acp",
    builds={},
    downloads=None,
    # Without the claude binary of the SDK: `CLAUDE_CODE_EXECUTABLE` names the one to run.
    npm=(
        Tree(
            (
                Package(
                    "@agentclientprotocol/claude-agent-acp",
                    "{version}",
                    "node_modules/@agentclientprotocol/claude-agent-acp",
                ),
                Package("@agentclientprotocol/sdk", "2.1.0", "node_modules/@agentclientprotocol/sdk"),
                Package(
                    "@anthropic-ai/claude-agent-sdk", "0.3.312", "node_modules/@anthropic-ai/claude-agent-sdk"
                ),
                Package("diff", "9.0.0", "node_modules/diff"),
                Package("zod", "4.6.7", "node_modules/zod"),
            ),
            "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
            runs_on_node=True,
        ),
    ),
)

AGENTS: dict[str, tuple[Agent, str]] = {
    **{name: (REGISTRY[name], str(REGISTRY[name].tested_version)) for name in RECIPES},
    "claude-agent-acp": (Acp("claude-agent-acp", ["claude-agent-acp"]), "0.99.1"),
}
"""The pinned versions."""


class CannotInstall(Exception):
    """An agent could not be installed into the cache; the message says why."""


def cache_folder() -> Path:
    """`SANDBOX_AGENT_TEST_CACHE`, else `.cache/agents` of the checkout, else the user's cache directory."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).absolute()
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "pyproject.toml").is_file():
        return checkout / ".cache" / "agents"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandbox-agent" / "agents"


def folder(name: str) -> Path:
    """Where the pinned version of an agent is unpacked."""
    cache, pinned = cache_folder(), AGENTS[name][1]
    shelved = Shelf(cache).folder(name, pinned)
    # Caches of version 0.1.0 have another layout, and are too large to be fetched again for that.
    return shelved if shelved.is_dir() else cache / "trees" / f"{name}-{pinned}"


def installed(name: str, cache: Path | None = None) -> Path | None:
    """The program of an agent, if its pinned version, or one put there by hand, is in the cache."""
    cache = cache or cache_folder()
    program = cache / "bin" / name
    if not program.exists():
        return None
    leads_to = os.fsencode(program.resolve()) if program.is_symlink() else _beginning(program)
    is_ours = os.fsencode(cache.resolve()) in leads_to
    is_pinned = AGENTS[name][1].encode() in leads_to
    return None if is_ours and not is_pinned else program


def install(name: str, cache: Path | None = None) -> Path:
    """Install an agent into the cache if it is not there, and return its program."""
    cache = cache or cache_folder()
    if present := installed(name, cache):
        return present
    agent, pinned = AGENTS[name]
    from_npm = {name: msgspec.structs.replace(recipe, downloads=None) for name, recipe in RECIPES.items()}
    recipes = {**from_npm, "claude-agent-acp": ACP_ADAPTER}
    installer = Installer(cache, os.environ.get(f"{PREFIX}MIRROR"), recipes=recipes)
    try:
        return Path(installer.fetch(agent, pinned, tell=_tell).path)
    except InstallFailed as error:
        raise CannotInstall(error.detail) from None


def version(program: Path) -> str:
    """The version a program reports."""
    quiet = {variable: value for agent, _ in AGENTS.values() for variable, value in agent.quiet.items()}
    with tempfile.TemporaryDirectory(prefix="sandbox-agent-home-") as home:
        result = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=home,
            env={"PATH": os.environ["PATH"], "HOME": home, **quiet},
        )
    if result.returncode:
        raise CannotInstall(f"{program} --version ended with {result.returncode}: {result.stderr.strip()}")
    return result.stdout.strip().splitlines()[0]


def _beginning(program: Path) -> bytes:
    with program.open("rb") as file:
        return file.read(4096)


def _tell(progress: Progress) -> None:
    if progress.stage == "downloading" and not progress.bytes:
        print(f"fetching {progress.file}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox_agent.testing.agent_cache",
        description="Fetch the agents that the tests drive.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"agents to fetch (default: all): {', '.join(AGENTS)}"
    )
    names = parser.parse_args(arguments).names or list(AGENTS)
    if unknown := sorted(set(names) - AGENTS.keys()):
        parser.error(f"no such agent: {', '.join(unknown)}")
    failed = False
    for name in names:
        try:
            program = installed(name) or install(name)
            print(f"{program}  {version(program)}", flush=True)
        except CannotInstall as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
