"""An agent is installed from the page, which shows the progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.daemons import Daemon, running
from tests.install.site import Site, program, publish_claude, serving

from sandbox_agent.agents import AGENTS
from sandbox_agent.install.machine import this_machine

from .window import Window

BUILD = this_machine().key
VERSION = str(AGENTS["claude"].tested_version)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        publish_claude(site, VERSION, program(VERSION), BUILD)
        yield site


@pytest.fixture
def dialog(site: Site, new_page: Callable[[], Page], tmp_path: Path) -> Iterator[Locator]:
    """The dialog for a new session, on a daemon whose agents come from the site."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    # A PATH without agents.
    env = {"PATH": str(tools), "SANDBOX_AGENT_NO_INSTALL": "", "SANDBOX_AGENT_MIRROR": site.address}
    with running(Daemon(tmp_path / "data", env=env)) as daemon:
        window = Window(new_page(), daemon)
        window.open()
        window.button("New session").first.click()
        yield window.page.get_by_role("dialog")


def test_an_installation_is_followed_until_the_agent_is_there(dialog: Locator, site: Site) -> None:
    file = site.files[f"/claude/{VERSION}/{BUILD}/claude"]
    file.sent, file.gate = len(file.body) // 2, threading.Event()
    claude = dialog.locator(".agentChoice").filter(has_text="claude")
    claude.get_by_role("button", name="Install").click()
    expect(claude.get_by_role("status")).to_contain_text("Downloading")
    file.gate.set()
    expect(claude.get_by_role("status")).to_have_count(0)
    expect(claude.get_by_role("alert")).to_have_count(0)
    expect(claude.locator(".agentChoiceText")).to_contain_text(VERSION)
    expect(claude.get_by_role("button", name="Install")).to_have_count(0)


def test_an_installation_that_fails_says_why(dialog: Locator) -> None:
    pi = dialog.locator(".agentChoice").filter(has_text="pi")
    pi.get_by_role("button", name="Install").click()
    expect(pi.get_by_role("alert")).to_contain_text("could not be installed")
    expect(pi.get_by_role("button", name="Install")).to_be_enabled()
