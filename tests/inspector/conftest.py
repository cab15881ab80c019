"""A real browser on a real daemon. One browser per module and worker, a fresh window per test; a window that logs an
error, or breaks the page's content policy, fails its test.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from tests.daemons import Client, Daemon, client_of, running

from .machine import chromium, missing
from .window import Window

expect.set_options(timeout=60_000)

LISTENING = re.compile(r"DevTools listening on (ws://\S+)")
FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    # Names for this machine that a daemon does not answer to.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
    *(("--no-sandbox",) if os.getuid() == 0 else ()),
)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "browser" in getattr(item, "fixturenames", ()) and (why := missing()):
        item.user_properties.append(("no_browser", why))
        pytest.skip("no browser")


@pytest.fixture(scope="session")
def chromium_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One browser process for all tests of a worker."""
    program = chromium()
    assert program is not None
    with subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        yield next(found[1] for line in process.stderr if (found := LISTENING.search(line)))
        process.terminate()


# Not for the whole run: while it is open, its event loop counts as running, and other tests have loops of their own.
@pytest.fixture(scope="module")
def browser(chromium_address: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(chromium_address)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("inspector") / "data")) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon) as client:
        yield client


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def complaints() -> list[str]:
    """What windows complained about; a test that expects some takes them out."""
    return []


@pytest.fixture
def new_page(context: BrowserContext, complaints: list[str]) -> Iterator[Callable[[], Page]]:
    def make() -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: _note(message, complaints))
        return page

    yield make
    assert complaints == []


def _note(message: ConsoleMessage, complaints: list[str]) -> None:
    # A refused or failed request is no fault of the page: what it makes of it is what tests look at.
    if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
        complaints.append(message.text)


@pytest.fixture
def window(new_page: Callable[[], Page], daemon: Daemon) -> Window:
    """The inspector, connected."""
    window = Window(new_page(), daemon)
    window.open()
    return window
