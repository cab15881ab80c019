"""Connecting, and the reasons shown when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.daemons import Daemon, running

from .window import Window

TOKEN = "secret+token+of+16"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with a token."""
    with running(Daemon(tmp_path_factory.mktemp("locked") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    return new_page()


def connect(page: Page, endpoint: str, token: str = "") -> None:
    page.get_by_label("Endpoint").fill(endpoint)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Connect").click()


def expect_alert(page: Page, words: str) -> None:
    expect(page.get_by_role("alert")).to_contain_text(words)


def is_in(page: Page) -> None:
    expect(page.get_by_role("status").first).to_have_text("Live")


def address(daemon: Daemon, host: str = "127.0.0.1") -> str:
    return f"http://{host}:{daemon.port}"


def test_a_daemon_without_a_token_is_entered_at_once(page: Page, daemon: Daemon) -> None:
    page.goto(f"{address(daemon)}/ui/")
    is_in(page)


def test_the_token_of_the_address_is_taken_and_leaves_the_address_bar(page: Page, locked: Daemon) -> None:
    page.goto(f"{address(locked)}/ui/#token=secret%2Btoken%2Bof%2B16")
    is_in(page)
    assert page.url == f"{address(locked)}/ui/"
    page.reload()
    is_in(page)


def test_the_printed_address_may_be_pasted_where_the_page_is_open(page: Page, locked: Daemon) -> None:
    page.goto(f"{address(locked)}/ui/")
    expect_alert(page, "It needs a token")
    page.goto(f"{address(locked)}/ui/#token=secret%2Btoken%2Bof%2B16")
    is_in(page)
    assert page.url == f"{address(locked)}/ui/"


def test_a_link_in_a_new_tab_needs_no_token_again(
    page: Page, new_page: Callable[[], Page], locked: Daemon
) -> None:
    link = f"{address(locked)}/ui/#/sessions/any"
    stranger = new_page()
    stranger.goto(link)
    expect_alert(stranger, "It needs a token")
    page.goto(f"{address(locked)}/ui/#token=secret%2Btoken%2Bof%2B16")
    is_in(page)
    tab = new_page()
    tab.goto(link)
    is_in(tab)
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("menuitem", name="Disconnect").click()
    tab.close()
    stranger.reload()
    expect_alert(stranger, "It needs a token")


def test_a_missing_token_and_a_wrong_one_get_different_messages(page: Page, locked: Daemon) -> None:
    page.goto(f"{address(locked)}/ui/")
    expect_alert(page, "It needs a token")
    page.get_by_label("Token").fill("wrong")
    page.get_by_label("Endpoint").fill(f"{address(locked)}/")
    page.get_by_label("Endpoint").press("Enter")
    expect_alert(page, "The token is wrong")
    expect(page.get_by_label("Token")).to_have_value("wrong")
    expect(page.get_by_label("Endpoint")).to_be_focused()
    connect(page, address(locked), TOKEN)
    is_in(page)


def test_nothing_that_answers_is_not_running(page: Page, daemon: Daemon) -> None:
    page.goto(f"{address(daemon)}/ui/#endpoint=http://127.0.0.1:9")
    page.get_by_role("button", name="Connect").click()
    expect_alert(page, "Nothing answers at this address")
    page.get_by_label("Endpoint").fill("127.0.0.1:10")
    page.get_by_label("Endpoint").press("Enter")
    expect_alert(page, "No daemon listens at http://127.0.0.1:10")
    expect(page.get_by_label("Endpoint")).to_be_focused()


def test_a_page_from_another_origin_is_refused_with_the_flag_that_allows_it(
    page: Page, daemon: Daemon, locked: Daemon, complaints: list[str]
) -> None:
    page.goto(f"{address(daemon, 'localhost')}/ui/")
    is_in(page)
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("menuitem", name="Disconnect").click()
    connect(page, address(locked), TOKEN)
    expect_alert(page, "The daemon does not allow this page (CORS)")
    expect_alert(page, f"--cors-allow-origin {address(daemon, 'localhost')}")
    # The browser says it, too.
    assert [text for text in complaints if "blocked by CORS policy" not in text] == []
    complaints.clear()


def test_a_page_that_may_call_a_remote_daemon_works_on_it(
    page: Page, daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("remote")
    with running(Daemon(folder / "data", "--token", TOKEN, "--cors-allow-origin", address(daemon))) as remote:
        page.goto(f"{address(daemon)}/ui/#endpoint={address(remote)}")
        connect(page, address(remote), TOKEN)
        is_in(page)
        connect_host = address(remote, "agents.example")
        page.get_by_role("button", name="Menu", exact=True).click()
        page.get_by_role("menuitem", name="Disconnect").click()
        connect(page, connect_host, TOKEN)
        expect_alert(page, "does not answer to this host name (421)")
        expect_alert(page, "--allow-host agents.example")


def test_a_token_never_goes_to_an_address_of_the_link_unasked(
    page: Page, daemon: Daemon, locked: Daemon
) -> None:
    page.goto(f"{address(daemon)}/ui/")
    is_in(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for before in (page.url, "about:blank"):
        page.goto(before)
        page.goto(f"{address(daemon)}/ui/#endpoint={address(locked)}&token=stolen")
        expect(page.get_by_role("note")).to_contain_text("comes from the link")
        expect(page.get_by_label("Endpoint")).to_have_value(address(locked))
    assert [url for url in asked if url.startswith(address(locked))] == []


def test_what_was_sent_to_another_address_keeps_it_in_the_log(page: Page, daemon: Daemon) -> None:
    page.goto(f"{address(daemon)}/ui/#endpoint=http://127.0.0.1:9")
    page.get_by_role("button", name="Connect").click()
    expect_alert(page, "Nothing answers at this address")
    connect(page, address(daemon))
    is_in(page)
    page.keyboard.press("Alt+d")
    page.get_by_role("tab", name="HTTP").click()
    expect(page.get_by_text("http://127.0.0.1:9/v1/health")).to_be_visible()
    expect(page.get_by_role("button", name="200 GET /v1/health")).to_be_visible()


def test_the_command_that_starts_a_daemon_can_be_copied(page: Page, daemon: Daemon) -> None:
    page.goto(f"{address(daemon)}/ui/#endpoint=http://127.0.0.1:9")
    start = f"sandbox-agent server --no-token --cors-allow-origin {address(daemon)}"
    expect(page.get_by_text(start)).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command").click()
    assert page.evaluate("navigator.clipboard.readText()") == start


def test_a_token_that_is_no_longer_valid_leads_back_to_the_connect_screen(
    page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    with running(Daemon(folder / "data", "--token", "the-first-of-two-tokens")) as daemon:
        window = Window(page, daemon)
        window.open("#token=the-first-of-two-tokens")
        daemon.stop()
        daemon.flags = ("--token", "the-second-of-two-tokens", "--port", str(daemon.port))
        daemon.start()
        expect_alert(page, "The token is wrong")
