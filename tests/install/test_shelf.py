"""Installed versions: side by side, one installer at a time, and nothing broken whatever kills it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.daemons import SECONDS

from sandbox_agent.agents import AGENTS
from sandbox_agent.install.problems import Stopped
from sandbox_agent.install.progress import Progress
from sandbox_agent.schema.answers import Installed

from .conftest import MakeInstaller
from .site import Site, program, publish_claude

CLAUDE = AGENTS["claude"]


def command(site: Site, folder: Path, *words: str) -> list[str]:
    base = [sys.executable, "-P", "-m", "sandbox_agent", "install-agent", "claude", "--from", site.address]
    return [*base, "--data-dir", str(folder), *words]


def said_by(path: str | Path) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout


# -- what is there already --------------------------------------------------------------------


def on_path(folder: Path, script: str) -> Path:
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("argument", ["--version", "version", "-V"])
def test_one_on_path_with_the_right_version_will_do(
    bare_machine: Path, installer: MakeInstaller, argument: str
) -> None:
    path = on_path(bare_machine, f'[ "$1" = {argument} ] && echo 2.1.325 || exit 2')
    there = Installed(True, "2.1.325", str(path), "path")
    assert installer("/nowhere").install(CLAUDE) == there
    assert installer("/nowhere").install(CLAUDE, "2.1.325") == there


def test_another_version_on_path_is_used_if_no_version_is_requested(
    site: Site, bare_machine: Path, installer: MakeInstaller
) -> None:
    path = on_path(bare_machine, "echo 2.0.0")
    publish_claude(site, "2.1.325", program("2.1.325"))
    assert installer(site.address).install(CLAUDE) == Installed(True, "2.0.0", str(path), "path")
    assert installer(site.address).install(CLAUDE, "2.1.325").source == "mirror"


def test_a_program_on_path_that_does_not_run_is_ignored(
    site: Site, bare_machine: Path, installer: MakeInstaller
) -> None:
    on_path(bare_machine, "exit 127")
    publish_claude(site, "2.1.325", program("2.1.325"))
    assert installer(site.address).install(CLAUDE).source == "mirror"


def test_versions_live_side_by_side(site: Site, installer: MakeInstaller, folder: Path) -> None:
    for version in ("2.0.0", "2.1.325"):
        publish_claude(site, version, program(version))
    one = installer(site.address)
    link, place = folder / "bin" / "claude", folder / "agents" / "claude"
    assert one.install(CLAUDE) == Installed(False, "2.1.325", str(link), "mirror")
    pinned = one.install(CLAUDE, "2.0.0", default=False)
    assert pinned == Installed(False, "2.0.0", str(place / "2.0.0" / "claude"), "mirror")
    assert (said_by(pinned.path), said_by(link)) == ("agent 2.0.0 (test)\n", "agent 2.1.325 (test)\n")
    assert one.install(CLAUDE, "2.0.0") == Installed(True, "2.0.0", str(link), "mirror")
    assert said_by(link) == "agent 2.0.0 (test)\n"
    assert site.downloads("/claude") == 2


def test_the_newest_is_fetched_once(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    publish_claude(site, "2.2.0", program("2.2.0"))
    one = installer(site.address)
    assert one.install(CLAUDE).version == "2.1.325"
    told = [one.install(CLAUDE, "latest") for _ in range(2)]
    link = str(folder / "bin" / "claude")
    assert told == [Installed(already, "2.2.0", link, "mirror") for already in (False, True)]


def test_a_reinstall_mends_what_is_broken(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    one = installer(site.address)
    one.install(CLAUDE)
    broken = folder / "agents" / "claude" / "2.1.325" / "claude"
    broken.write_text("rubbish")
    assert one.install(CLAUDE, "2.1.325", reinstall=True).already_installed is False
    assert said_by(broken) == "agent 2.1.325 (test)\n"


def test_a_reinstall_that_fails_leaves_what_was_there(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    one = installer(site.address)
    one.install(CLAUDE)
    file.body = b"rubbish"
    with pytest.raises(Exception, match="wrong checksum"):
        one.install(CLAUDE, reinstall=True)
    assert said_by(folder / "bin" / "claude") == "agent 2.1.325 (test)\n"


def test_the_data_folder_can_be_moved(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    installer(site.address).install(CLAUDE)
    folder.rename(folder.with_name("elsewhere"))
    assert said_by(folder.with_name("elsewhere") / "bin" / "claude") == "agent 2.1.325 (test)\n"


# -- several at once --------------------------------------------------------------------------


def test_two_at_once_share_one_download(site: Site, installer: MakeInstaller, folder: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 10, threading.Event()
    waits = threading.Event()

    def tell(progress: Progress) -> None:
        if progress.stage == "waiting":
            waits.set()

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(installer(site.address).install, CLAUDE, tell=tell) for _ in range(2)]
        assert site.standing.wait(SECONDS)
        assert waits.wait(SECONDS)
        file.gate.set()
        told = [one.result(SECONDS) for one in both]
    link = str(folder / "bin" / "claude")
    assert sorted(told, key=lambda one: one.already_installed) == [
        Installed(already, "2.1.325", link, "mirror") for already in (False, True)
    ]
    assert site.downloads("/claude") == 1


@pytest.mark.slow
def test_two_processes_at_once_share_one_download(site: Site, folder: Path, environ: dict[str, str]) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 10, threading.Event()
    first, second = (
        subprocess.Popen(command(site, folder), env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    )
    assert site.standing.wait(SECONDS)
    file.gate.set()
    for process in (first, second):
        process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    assert site.downloads("/claude") == 1


# -- cut in the middle ------------------------------------------------------------------------


@pytest.mark.slow
def test_an_installer_that_is_killed_leaves_nothing_that_counts(
    site: Site, folder: Path, environ: dict[str, str], installer: MakeInstaller
) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 10, threading.Event()
    process = subprocess.Popen(command(site, folder), env=environ, stderr=subprocess.DEVNULL)
    assert site.standing.wait(SECONDS)
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)
    place = folder / "agents" / "claude"
    assert (os.listdir(place), (folder / "bin").exists()) == ([".partial"], False)
    file.sent, file.gate = None, None
    assert installer(site.address).install(CLAUDE).already_installed is False
    assert (os.listdir(place), said_by(folder / "bin" / "claude")) == (["2.1.325"], "agent 2.1.325 (test)\n")


def test_a_reinstall_that_is_killed_between_its_renames_is_undone(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    for version in ("2.0.0", "2.1.325"):
        publish_claude(site, version, program(version))
    one = installer(site.address)
    one.install(CLAUDE)
    place = folder / "agents" / "claude"
    (place / "2.1.325").rename(place / ".old-2.1.325")
    one.install(CLAUDE, "2.0.0", default=False)
    assert sorted(os.listdir(place)) == ["2.0.0", "2.1.325"]
    assert said_by(folder / "bin" / "claude") == "agent 2.1.325 (test)\n"


def test_an_installer_can_be_stopped(site: Site, installer: MakeInstaller, folder: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 10, threading.Event()
    one = installer(site.address)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(one.install, CLAUDE)
        assert site.standing.wait(SECONDS)
        one.stop()
        file.gate.set()
        with pytest.raises(Stopped):
            running.result(SECONDS)
    assert os.listdir(folder / "agents" / "claude") == []
