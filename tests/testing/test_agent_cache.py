"""The cache of pinned agents, filled from a registry on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.install.site import Site, program, publish_package, publish_pi, serving

from sandbox_agent.agents import AGENTS as REGISTRY
from sandbox_agent.install.machine import Machine
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.agent_cache import AGENTS, CannotInstall, cache_folder, install, installed, version

CODEX = "vendor/x86_64-unknown-linux-musl"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A registry with some of the agents; the cache is empty."""
    with serving() as site:
        publish_package(
            site, "@anthropic-ai/claude-code-linux-x64", "2.1.325", {"claude": program("2.1.325")}
        )
        codex = {
            f"{CODEX}/bin/codex": program("0.166.0"),
            f"{CODEX}/codex-resources/bwrap": b"",
            f"{CODEX}/codex-resources/voice/model": b"",
        }
        publish_package(site, "@openai/codex", "0.166.0-linux-x64", codex)
        publish_pi(site)
        monkeypatch.setenv("SANDBOX_AGENT_TEST_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("npm_config_registry", f"{site.address}/npm")
        monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
        monkeypatch.setenv("npm_config_globalconfig", str(tmp_path / "npmrc"))
        monkeypatch.setattr(
            "sandbox_agent.install.installer.this_machine", lambda: Machine("linux", "x64", "glibc")
        )
        yield site


def test_an_agent_is_fetched_once(registry: Site) -> None:
    assert installed("claude") is None
    program = install("claude")
    assert (program, installed("claude"), install("claude")) == (cache_folder() / "bin" / "claude",) + (
        program,
    ) * 2
    assert version(program) == "agent 2.1.325 (test)"
    assert registry.downloads(".tgz") == 1


def test_concurrent_installs_fetch_it_once(registry: Site) -> None:
    threads = [threading.Thread(target=install, args=("claude",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.downloads(".tgz") == 1


def test_codex_keeps_its_tree_without_the_voice_files(registry: Site) -> None:
    tree = install("codex").resolve().parents[1]
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()) == [
        "bin/codex",
        "codex-resources/bwrap",
    ]


def test_pi_runs_on_a_node_of_its_own(registry: Site) -> None:
    tree = cache_folder() / "agents" / "pi" / "1.5.0"
    assert version(install("pi")) == f"1.5.0 on {tree / 'package' / 'dist' / 'bundle' / 'cli.js'}"
    beside = sorted(str(path.parent.relative_to(tree)) for path in tree.rglob("package.json"))
    assert beside == [
        "node_modules/@silvia-odwyer/photon-node",
        "node_modules/jiti",
        "node_modules/quickjs-wasi",
    ]


def test_a_failure_has_the_installers_message(registry: Site) -> None:
    with pytest.raises(CannotInstall) as failed:
        install("opencode")
    assert str(failed.value) == (
        f"OpenCode 1.18.33 could not be installed. npm: {registry.address}/npm/opencode-linux-x64 answered 404"
    )
    assert installed("opencode") is None


def test_another_version_is_not_the_pinned_one(registry: Site) -> None:
    program = install("claude")
    old = program.resolve().parent.with_name("2.1.0")
    program.resolve().parent.rename(old)
    program.unlink()
    program.symlink_to(old / "claude")
    assert (installed("claude"), install("claude").resolve().parent.name) == (None, "2.1.325")


def test_an_agent_put_there_by_hand_is_left_alone(registry: Site) -> None:
    program = cache_folder() / "bin" / "opencode"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho my own\n")
    program.chmod(0o755)
    assert (install("opencode"), version(program), registry.asked) == (program, "my own", [])


def test_the_pins_are_the_tested_versions() -> None:
    pins = {name: pinned for name, (_, pinned) in AGENTS.items() if name != "claude-agent-acp"}
    assert pins == {agent.name: agent.tested_version for agent in REGISTRY.values() if agent.executables}


def test_the_command_prints_where_each_agent_is(registry: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert agent_cache.main(["claude", "opencode"]) == 1
    assert capsys.readouterr() == (
        f"{cache_folder() / 'bin' / 'claude'}  agent 2.1.325 (test)\n",
        "fetching claude-code-linux-x64-2.1.325.tgz\n"
        "opencode: OpenCode 1.18.33 could not be installed. "
        f"npm: {registry.address}/npm/opencode-linux-x64 answered 404\n",
    )


def test_the_command_knows_no_other_agents() -> None:
    command = [sys.executable, "-m", "sandbox_agent.testing.agent_cache", "vim"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stderr.splitlines()[-1].partition("error: ")[2]) == (
        2,
        "no such agent: vim",
    )
