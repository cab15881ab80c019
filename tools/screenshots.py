"""Takes the screenshots of the inspector for the documentation: `python -m tools.screenshots`.

Uses a real daemon and the mock agent with sessions of different ages; writes one image per situation to docs/images.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright
from tests.daemons import Client, Daemon, running

IMAGES = Path(__file__).parents[1] / "docs" / "images"
Colours = Literal["dark", "light"]
DESK, PHONE = (1280, 800), (390, 780)

NAMES = (
    "Fix the flaky login test",
    "Explain the billing module",
    "Upgrade the web framework",
    "Write release notes",
)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Daemon(Path(folder) / "data")) as daemon,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox"] if os.getuid() == 0 else [],
        )
        _take(browser, Client(daemon), daemon)
        browser.close()


def _take(browser: Browser, client: Client, daemon: Daemon) -> None:
    address = f"http://127.0.0.1:{daemon.port}/ui/"
    with _window(browser, "light", DESK) as page:
        page.goto(f"{address}#endpoint=http://127.0.0.1:9")
        page.get_by_role("button", name="Connect").click()
        page.get_by_role("alert").wait_for()
        _save(page, "connect")
    shop = daemon.work_dir.with_name("shop")
    shop.mkdir()
    (shop / "mock-edit.txt").write_text("one\ntwo\nthree\n")
    sessions = [client.create(title=name, directory=str(shop)) for name in reversed(NAMES)][::-1]
    with _window(browser, "light", DESK) as page:
        page.goto(f"{address}#/sessions/{sessions[0]}")
        page.get_by_label("Things to try").wait_for()
        _save(page, "empty")
    client.turn(sessions[3], "markdown")
    client.post(f"/v1/sessions/{sessions[3]}/terminate")
    client.send(sessions[2], "slow")
    _busy(browser, client, address, sessions[0])
    _asking(browser, client, address, sessions[1])
    _broken(browser, client, address)
    _given(browser, client, address, daemon.work_dir.with_name("skills"))
    _machine(browser, client, address, daemon.work_dir.with_name("cart"))


def _busy(browser: Browser, client: Client, address: str, session: str) -> None:
    with _window(browser, "dark", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_label("Message", exact=True).fill("demo")
        page.get_by_label("Message", exact=True).press("Enter")
        page.get_by_role("button", name="Allow once").wait_for()
        _save(page, "permission")
        page.get_by_role("button", name="Allow once").click()
        page.get_by_label("Permission: edit").wait_for()
        page.get_by_role("button", name="Allow once").click()
        page.get_by_role("radio", name="Green").check()
        page.get_by_label("Question").get_by_role("button", name="Answer", exact=True).click()
        page.get_by_text("in ·").last.wait_for()
        page.get_by_role("button", name="Panel (Alt D)").click()
        page.get_by_role("button", name="turn.ended").last.click()
        page.get_by_label("Native", exact=True).get_by_text("{").wait_for()
        _save(page, "panel")
        for prompt in ("thinking", "markdown", "hello", "subagent", "parallel", "help"):
            client.turn(session, prompt)
        page.get_by_role("tab", name="Usage").click()
        page.get_by_role("img", name="Tokens of the last 7 turns").wait_for()
        _save(page, "usage")
        page.get_by_role("button", name="Close the panel").click()
        page.keyboard.press("Control+f")
        page.get_by_label("Search the transcript", exact=True).fill("greet")
        page.get_by_text("1 of").wait_for()
        _save(page, "search")


def _asking(browser: Browser, client: Client, address: str, session: str) -> None:
    with _window(browser, "light", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_label("Message", exact=True).fill("edit")
        page.get_by_label("Message", exact=True).press("Enter")
        page.get_by_role("button", name="Allow once").click()
        page.locator(".sa-tool .sa-fold-line").last.click()
        page.get_by_role("button", name="Split").click()
        page.get_by_text("Lines in mock-edit.txt").wait_for()
        client.send(session, "slow")
        page.locator(".sa-message.sa-streaming").wait_for()
        client.send(session, "and then tell me what you found")
        page.get_by_text("Withdraw").wait_for()
        _save(page, "diff")
        client.post(f"/v1/sessions/{session}/cancel")
        client.send(session, "multi")
        page.get_by_label("Question").wait_for()
    with _window(browser, "light", PHONE) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_label("Question").wait_for()
        _save(page, "phone")


def _broken(browser: Browser, client: Client, address: str) -> None:
    session = client.create(
        title="Migrate the database", directory=str(client.daemon.work_dir.with_name("shop"))
    )
    client.turn(session, "tool 2")
    client.turn(session, "crash 3")
    with _window(browser, "dark", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_label("Error").last.wait_for()
        page.locator(".sa-tool .sa-fold-line").first.click()
        page.get_by_text("$ seq 3").wait_for()
        _save(page, "error")


def _given(browser: Browser, client: Client, address: str, skills: Path) -> None:
    (skills / "release").mkdir(parents=True)
    (skills / "release" / "SKILL.md").write_text(
        "---\nname: release\ndescription: How we make a release.\n---\nRun the tests, then tag the commit.\n"
    )
    shop = str(client.daemon.work_dir.with_name("shop"))
    rules = [
        {"effect": "deny", "command": "git push --force", "reason": "Published tags stay."},
        {"effect": "ask", "path": "**/.env"},
        {"effect": "allow", "command": "echo *", "reason": "It only prints."},
    ]
    session = client.create(
        title="Release version 2",
        directory=shop,
        mcp={"issues": {"url": "https://issues.example/mcp"}},
        skills={"sources": [{"type": "local", "source": str(skills)}]},
        policy=rules,
        limits={"maxCostUsd": 0.5, "maxTurns": 20, "maxTurnSeconds": 600},
    )
    client.turn(session, "permission the tests pass")
    client.turn(session, "spend 3 4")
    with _window(browser, "light", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_role("button", name="Panel (Alt D)").click()
        page.get_by_role("tab", name="Setup").click()
        page.get_by_role("region", name="Rules").wait_for()
        _save(page, "setup")
    session = client.create(
        title="Announce version 2",
        directory=shop,
        tools=[{"name": "approve", "description": "Asks a person whether a text may be published."}],
        permissionMode="bypass",
    )
    client.turn(session, "tool")
    client.send(session, 'call approve {"version": "2.0.0", "text": "Version 2 is out."}')
    with _window(browser, "dark", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_label("Tool: approve").get_by_role("textbox").fill("Approved by Ada.")
        _save(page, "tool")


CART = """def total(items: list[int]) -> int:
    return sum(items)
"""
MENDED = """from decimal import Decimal


def total(items: list[Decimal]) -> Decimal:
    \"\"\"What everything costs together.\"\"\"
    return sum(items, Decimal(0))
"""


def _machine(browser: Browser, client: Client, address: str, folder: Path) -> None:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text(CART)
    (folder / "notes.txt").write_text("round the total\n")
    subprocess.run(["git", "init", "-q", folder], check=True)
    session = client.create(title="Fix the total of the cart", directory=str(folder))
    client.turn(session, "tool 2")
    (folder / "src" / "cart.py").write_text(MENDED)
    (folder / "notes.txt").unlink()
    with _window(browser, "light", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_role("button", name="Panel (Alt D)").click()
        page.get_by_role("tab", name="Changes").click()
        page.get_by_role("button", name="src/cart.py").first.click()
        page.locator(".sa-diff .sa-code-keyword").first.wait_for()
        _save(page, "changes")
    with _window(browser, "dark", DESK) as page:
        page.goto(f"{address}#/sessions/{session}")
        page.get_by_role("button", name="Panel (Alt D)").click()
        page.get_by_role("button", name="Wide panel").click()
        page.get_by_role("tab", name="Terminal").click()
        page.get_by_role("button", name="New terminal").last.click()
        page.get_by_label("Terminal: bash").wait_for()
        page.keyboard.type("PS1='$ '; clear; vim -u NONE +'syntax on' src/cart.py\n")
        page.get_by_text("What everything costs").last.wait_for()
        _save(page, "terminal")


@contextmanager
def _window(browser: Browser, colours: Colours, size: tuple[int, int]) -> Iterator[Page]:
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=colours, reduced_motion="reduce"
    )
    page.set_default_timeout(30_000)
    # Dismiss the one-time question, which would be in every screenshot.
    page.add_init_script("localStorage.setItem('sandbox-agent.notifications', 'asked')")
    yield page
    page.close()


# Markdown and colours are loaded after the text.
COMPLETE = """
() => !document.querySelector('.sa-assistant .sa-plain-text')
  && [...document.querySelectorAll('.sa-code-block, .sa-command, .sa-json')]
    .every((code) => code.querySelector('[class^=sa-code-]'))
"""


def _save(page: Page, name: str) -> None:
    path = IMAGES / f"inspector-{name}.png"
    page.mouse.move(0, 0)
    page.wait_for_function(COMPLETE)
    page.screenshot(path=path)
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--ext", ".png", "--skip-if-larger", str(path)], check=False)
    print(f"{path.name}: {path.stat().st_size // 1024} KB", file=sys.stderr)


if __name__ == "__main__":
    main()
