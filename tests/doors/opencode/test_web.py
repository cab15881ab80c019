"""OpenCode's web page in a real browser: served by `opencode` on a port of its own, and pointed at the door."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from tests.daemons import Daemon, running
from tests.inspector.machine import chromium

from .tui import TOKEN, client_environment, opencode_program

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

FLAGS = ["--disable-gpu", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.getuid() == 0 else [])]
LISTENING = re.compile(r"listening on (http://\S+)")
MILLISECONDS = 120_000


@contextmanager
def page_server(home: Path) -> Iterator[str]:
    """The origin at which `opencode` serves its page."""
    with subprocess.Popen(
        [opencode_program(), "serve", "--port", "0"],
        env=client_environment(home, ""),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield next(found[1] for line in process.stdout if (found := LISTENING.search(line)))
        finally:
            process.terminate()


@contextmanager
def window() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(MILLISECONDS)
        yield page
        browser.close()


@pytest.mark.door("OpenCode web page", "text", "tool calls", "permission once")
@pytest.mark.skipif(chromium() is None, reason="there is no chromium")
def test_a_turn_with_a_permission_in_the_web_page(tmp_path: Path) -> None:
    with page_server(tmp_path / "home") as origin:
        flags = ("--token", TOKEN, "--cors-allow-origin", origin)
        with running(Daemon(tmp_path / "data", *flags)) as daemon, window() as page:
            door = f"http://127.0.0.1:{daemon.port}/opencode/@mock"
            server = {"type": "http", "http": {"url": door, "username": "opencode", "password": TOKEN}}
            stored = json.dumps({"list": [server], "projects": {}, "lastProject": {}, "recentlyClosed": {}})
            page.add_init_script(
                f"localStorage['opencode.settings.dat:defaultServerUrl'] = {json.dumps(door)};"
                f"localStorage['opencode.global.dat:server'] = {json.dumps(stored)};"
            )
            folder = base64.urlsafe_b64encode(str(tmp_path).encode()).decode().rstrip("=")
            page.goto(f"{origin}/{folder}/session")
            # The page knows the models by now: without one it sends nothing.
            expect(page.get_by_text("Default", exact=True).first).to_be_visible(timeout=MILLISECONDS)
            page.locator("[contenteditable=true]").first.click()
            page.keyboard.type("permission")
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Allow once").click()
            answer = page.get_by_text("The command said: hello from the mock agent")
            expect(answer).to_be_visible(timeout=MILLISECONDS)
            # The page showed its message before the door reported it: it is there once.
            expect(page.get_by_text("permission", exact=True)).to_have_count(1)
