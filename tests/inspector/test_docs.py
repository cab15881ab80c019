"""The description of the API in a browser: a person signs in with the token once, and reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.daemons import Daemon, running

from .test_looks import axe_findings
from .window import Window

TOKEN = "a token+of the docs"


def test_the_docs_are_read_after_signing_in(new_page: Callable[[], Page], tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        page = new_page()
        page.goto(f"http://127.0.0.1:{daemon.port}/docs")
        assert axe_findings(Window(page, daemon)) == []
        page.get_by_label("Token").fill("a token that is not right")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_have_text("the token is wrong")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("sandbox-agent ")
        page.get_by_role("link", name="openapi.json").click()
        expect(page.locator("pre")).to_contain_text('"openapi": "3.1.0"')
