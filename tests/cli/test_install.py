"""`install-agent`, and what else the command line says about installing."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS
from tests.install.site import Site, program, publish_claude, serving

from sandbox_agent.install.machine import this_machine

from .conftest import Cli, command, environment
from .test_commands import on_terminal

BUILD = this_machine().key


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        publish_claude(site, "9.8.7", program("9.8.7"), BUILD)
        yield site


def test_an_agent_is_installed_without_a_daemon(local: Cli, site: Site, tmp_path: Path) -> None:
    words = ("install-agent", "claude", "--version", "9.8.7", "--from", site.address, "--json")
    first, second = local(*words), local(*words)
    path = str(tmp_path / "state" / "bin" / "claude")
    expected = {
        "agent": "claude",
        "alreadyInstalled": False,
        "version": "9.8.7",
        "path": path,
        "source": "mirror",
    }
    assert msgspec.json.decode(first.stdout) == {"installed": [expected], "failed": []}
    assert (first.returncode, first.stderr) == (
        0,
        "claude: asking mirror for the version\nclaude: downloading claude from mirror\nclaude: checking that it runs\n"
        f"claude 9.8.7 was installed from mirror: {path}\n",
    )
    assert (second.returncode, second.stderr) == (0, f"claude 9.8.7 is already installed: {path}\n")
    assert not (tmp_path / "state" / "log.db").exists()


def test_a_failed_install_is_reported_with_its_reasons(local: Cli, site: Site) -> None:
    failed = local("install-agent", "claude", "--version", "1.2.3", "--from", site.address, "--json")
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-3:] == [
        "error: Install failed: Claude Code 1.2.3 could not be installed. mirror: there is no version 1.2.3, "
        f"the newest is 9.8.7 ({site.address}/claude/1.2.3/manifest.json answered 404); "
        f"mirror: {site.address}/npm/anthropic-ai-claude-code-{BUILD}-1.2.3.tgz answered 404",
        "  agent: claude",
        "  version: 1.2.3",
    ]
    (problem,) = msgspec.json.decode(failed.stdout)["failed"]
    assert [each["source"] for each in problem["sources"]] == ["mirror", "mirror"]


def test_a_terminal_shows_a_bar(site: Site, tmp_path: Path) -> None:
    file = site.files[f"/claude/9.8.7/{BUILD}/claude"]
    file.sent, file.gate = len(file.body) // 2, threading.Event()
    words = ("install-agent", "claude", "--version", "9.8.7", "--from", site.address)
    with on_terminal(words, environment(tmp_path), tmp_path) as terminal:
        terminal.wait_for("downloading from mirror")
        terminal.wait_for("━")
        assert site.standing.wait(SECONDS)
        file.gate.set()
        terminal.wait_for("claude 9.8.7 was installed from mirror")
        assert terminal.exit_code() == 0


def test_a_daemon_that_is_named_installs_with_its_own_settings(cli: Cli, site: Site) -> None:
    done = cli("install-agent", "mock", "--json")
    assert (done.returncode, msgspec.json.decode(done.stdout)["installed"][0]["source"]) == (0, "built-in")
    wrong = cli("install-agent", "claude", "--from", site.address)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "error: --from works only on this machine; set the mirror of a daemon with `server --mirror`\n",
    )
    refused = cli("install-agent", "claude", "--version", "9.8.7")
    assert (refused.returncode, "this daemon was started with --no-install" in refused.stderr) == (1, True)
    assert site.asked == []


def test_an_unknown_agent_cannot_be_installed(local: Cli) -> None:
    failed = local("install-agent", "nobody")
    assert (failed.returncode, failed.stderr) == (
        2,
        "error: no agent is called nobody; the agents are amp, claude, codex, mock, opencode, pi\n",
    )


def test_a_folder_that_cannot_hold_agents_is_reported(local: Cli, site: Site, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    failed = local("install-agent", "claude", "--from", site.address)
    assert (failed.returncode, failed.stderr.splitlines()[0]) == (
        1,
        f"error: Install failed: Claude Code cannot be installed into {tmp_path / 'state'}: "
        f"[Errno 17] File exists: '{tmp_path / 'state'}'",
    )


def test_run_works_from_an_empty_folder(local: Cli) -> None:
    done = local("run", "mock", "hello")
    assert (done.returncode, done.stdout) == (0, "You said: hello (message 1 of this conversation)\n")


def test_run_shows_the_download_of_a_version_and_does_not_make_it_the_default(
    site: Site, tmp_path: Path
) -> None:
    publish_claude(site, "10.0.0", program("10.0.0"), BUILD)
    env = environment(
        tmp_path, SANDBOX_AGENT_NO_INSTALL="", SANDBOX_AGENT_MIRROR=site.address, ANTHROPIC_API_KEY="k"
    )

    def steps(*words: str) -> list[str]:
        ran = subprocess.run(
            command(*words), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS
        )
        return [line for line in ran.stderr.splitlines() if "claude" in line]

    steps("install-agent", "claude", "--version", "9.8.7")
    newest = [
        "claude: asking mirror for the version",
        "claude: downloading claude from mirror",
        "claude: checking that it runs",
        "installed claude 10.0.0 from mirror",
    ]
    assert steps("run", "claude", "--agent-version", "latest", "hi")[: len(newest)] == newest
    assert (tmp_path / "state" / "bin" / "claude").resolve().parent.name == "9.8.7"
    assert site.asked.count(f"/claude/10.0.0/{BUILD}/claude") == 1
    assert not any("asking" in line for line in steps("run", "claude", "--agent-version", "10.0.0", "hi"))


def test_doctor_says_where_agents_come_from(tmp_path: Path) -> None:
    def sources(**variables: str) -> dict[str, str]:
        done = subprocess.run(
            command("doctor", "--json"),
            env=environment(tmp_path, npm_config_globalconfig="/none", **variables),
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
        )
        findings = msgspec.json.decode(done.stdout)["findings"]
        found: dict[str, str] = next(each for each in findings if each["about"] == "sources")
        return found

    mirror = str(tmp_path / "mirror")
    assert sources(SANDBOX_AGENT_MIRROR=mirror) == {
        "about": "sources",
        "state": "broken",
        "detail": f"SANDBOX_AGENT_MIRROR is {mirror}, which is not a directory",
        "todo": "fix or unset it",
    }
    assert sources(npm_config_registry="https://registry.example") == {
        "about": "sources",
        "state": "ok",
        "detail": "agents are downloaded from their publishers, then from the npm registry (set by npm_config_registry)",
    }
