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


def version_of(path: str | Path) -> str:
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
    from_mirror = installer(site.address)
    link, place = folder / "bin" / "claude", folder / "agents" / "claude"
    assert from_mirror.install(CLAUDE) == Installed(False, "2.1.325", str(link), "mirror")
    pinned = from_mirror.install(CLAUDE, "2.0.0", default=False)
    assert pinned == Installed(False, "2.0.0", str(place / "2.0.0" / "claude"), "mirror")
    assert (version_of(pinned.path), version_of(link)) == ("agent 2.0.0 (test)\n", "agent 2.1.325 (test)\n")
    assert from_mirror.install(CLAUDE, "2.0.0") == Installed(True, "2.0.0", str(link), "mirror")
    assert version_of(link) == "agent 2.0.0 (test)\n"
    assert site.downloads("/claude") == 2


def test_the_newest_is_fetched_once(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    publish_claude(site, "2.2.0", program("2.2.0"))
    from_mirror = installer(site.address)
    assert from_mirror.install(CLAUDE).version == "2.1.325"
    results = [from_mirror.install(CLAUDE, "latest") for _ in range(2)]
    link = str(folder / "bin" / "claude")
    assert results == [Installed(already, "2.2.0", link, "mirror") for already in (False, True)]


def test_a_reinstall_repairs_a_broken_program(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    from_mirror = installer(site.address)
    from_mirror.install(CLAUDE)
    broken = folder / "agents" / "claude" / "2.1.325" / "claude"
    broken.write_text("rubbish")
    assert from_mirror.install(CLAUDE, "2.1.325", reinstall=True).already_installed is False
    assert version_of(broken) == "agent 2.1.325 (test)\n"


@pytest.mark.parametrize("version", [None, "2.1.325"])
@pytest.mark.parametrize("left", [b"", None], ids=["emptied", "removed"])
def test_an_installed_program_that_is_damaged_is_fetched_again(
    site: Site, installer: MakeInstaller, folder: Path, version: str | None, left: bytes | None
) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    installer(site.address).install(CLAUDE)
    placed = folder / "agents" / "claude" / "2.1.325" / "claude"
    if left is None:
        placed.unlink()
    else:
        placed.write_bytes(left)
    assert installer(site.address).install(CLAUDE, version).already_installed is False
    assert version_of(folder / "bin" / "claude") == "agent 2.1.325 (test)\n"


def test_a_reinstall_that_fails_leaves_what_was_there(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    from_mirror = installer(site.address)
    from_mirror.install(CLAUDE)
    file.body = b"rubbish"
    with pytest.raises(Exception, match="wrong checksum"):
        from_mirror.install(CLAUDE, reinstall=True)
    assert version_of(folder / "bin" / "claude") == "agent 2.1.325 (test)\n"


def test_the_data_folder_can_be_moved(site: Site, installer: MakeInstaller, folder: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"))
    installer(site.address).install(CLAUDE)
    folder.rename(folder.with_name("elsewhere"))
    assert version_of(folder.with_name("elsewhere") / "bin" / "claude") == "agent 2.1.325 (test)\n"


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
        results = [each.result(SECONDS) for each in both]
    link = str(folder / "bin" / "claude")
    assert sorted(results, key=lambda each: each.already_installed) == [
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
    assert (os.listdir(place), version_of(folder / "bin" / "claude")) == (
        ["2.1.325"],
        "agent 2.1.325 (test)\n",
    )


def test_a_reinstall_that_is_killed_between_its_renames_is_undone(
    site: Site, installer: MakeInstaller, folder: Path
) -> None:
    for version in ("2.0.0", "2.1.325"):
        publish_claude(site, version, program(version))
    from_mirror = installer(site.address)
    from_mirror.install(CLAUDE)
    place = folder / "agents" / "claude"
    (place / "2.1.325").rename(place / ".old-2.1.325")
    from_mirror.install(CLAUDE, "2.0.0", default=False)
    assert sorted(os.listdir(place)) == ["2.0.0", "2.1.325"]
    assert version_of(folder / "bin" / "claude") == "agent 2.1.325 (test)\n"


def test_an_installer_can_be_stopped(site: Site, installer: MakeInstaller, folder: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"))
    file.sent, file.gate = 10, threading.Event()
    from_mirror = installer(site.address)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(from_mirror.install, CLAUDE)
        assert site.standing.wait(SECONDS)
        from_mirror.stop()
        file.gate.set()
        with pytest.raises(Stopped):
            running.result(SECONDS)
    assert os.listdir(folder / "agents" / "claude") == []
