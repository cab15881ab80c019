"""The inspector in one window, driven as a user would."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect
from tests.daemons import Daemon


class Window:
    def __init__(self, page: Page, daemon: Daemon) -> None:
        self.page = page
        self.daemon = daemon

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.daemon.port}/ui/"

    def open(self, fragment: str = "") -> None:
        self.page.goto(self.address + fragment)
        expect(self.page.get_by_role("status").first).to_have_text("Live")

    def enter(self, session: str) -> None:
        """Open a session and wait until its events are there."""
        self.page.goto(f"{self.address}#/sessions/{session}")
        expect(self.log.locator(".sa-row").first).to_be_attached()

    def say(self, text: str, *, waits: bool = False) -> None:
        """Send a message and see it in the transcript, or in the queue."""
        self.message.fill(text)
        self.message.press("Enter")
        expect(self.message).to_have_value("")
        shown = self.page.locator(".sa-queued-text") if waits else self.log.locator(".sa-user-text")
        expect(shown.last).to_have_text(text)

    @property
    def message(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name)

    def card(self, name: str) -> Locator:
        return self.log.get_by_role("group", name=name)

    def tool(self, name: str) -> Locator:
        """A tool's line."""
        return self.log.locator(".sa-tool .sa-fold-line").filter(has_text=name)

    def sees(self, text: str) -> None:
        expect(self.log.get_by_text(text).first).to_be_visible()

    def turn_is_over(self, how: str = "Done") -> None:
        expect(self.log.locator(".sa-row").last.locator(".sa-turn-end")).to_contain_text(how)
