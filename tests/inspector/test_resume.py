"""Interruptions: whatever happens to the page, the network or the daemon, nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.daemons import Client, Daemon, client_of, running

from .test_looks import axe_findings
from .window import Window

ALL_SEQUENCES = "[...document.querySelectorAll('.eventSequence')].map(e => Number(e.textContent))"


def text_of(client: Client, session: str) -> str:
    """The agent's last message in the log."""
    messages = [
        event["data"]["item"]["content"][0]["text"]
        for event in client.events(session)
        if event["type"] == "item.completed" and event["data"]["item"]["role"] == "assistant"
    ]
    return str(messages[-1])


def shows_the_log(window: Window, client: Client, session: str) -> None:
    """The transcript is what the log holds, and the panel counts as many events."""
    expect(window.log.locator(".sa-message.sa-assistant .sa-markdown").last).to_have_text(
        text_of(client, session)
    )
    window.page.keyboard.press("Alt+d")
    expect(window.page.locator(".debugCount")).to_have_text(f"{len(client.events(session))} events")


def test_a_reload_in_mid_turn_loses_and_doubles_nothing(window: Window, client: Client) -> None:
    session = client.create()
    window.enter(session)
    window.say("slow 60")
    streaming = window.log.locator(".sa-message.sa-streaming")
    expect(streaming).not_to_be_empty()
    window.page.reload()
    expect(streaming).not_to_be_empty()
    window.message.press("Escape")
    window.turn_is_over("Stopped")
    expect(window.log.locator(".sa-message.sa-user")).to_have_count(1)
    shows_the_log(window, client, session)


def test_a_daemon_that_is_killed_and_started_again_is_found_again(
    new_page: Callable[[], Page], tmp_path: Path
) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        window = Window(new_page(), daemon)
        window.open()
        window.enter(session)
        window.say("slow 60")
        expect(window.log.locator(".sa-message.sa-streaming")).not_to_be_empty()
        daemon.kill()
        status = window.page.get_by_role("status").first
        expect(status).to_have_text("Offline")
        window.message.fill("still there")
        window.message.press("Enter")
        expect(window.page.get_by_role("alert")).to_contain_text("Not sent")
        daemon.flags = ("--no-token", "--port", str(daemon.port))
        daemon.start()
        expect(status).to_have_text("Live")
        window.turn_is_over("its outcome is unknown")
        expect(window.page.get_by_role("alert")).to_have_count(0)
        expect(window.message).to_have_value("still there")
        window.message.press("Enter")
        window.sees("You said: still there")
        shows_the_log(window, client, session)


def test_a_part_of_the_page_that_cannot_be_loaded_leaves_the_rest(
    new_page: Callable[[], Page], daemon: Daemon, client: Client
) -> None:
    """The daemon does not answer, or is of another version and has other files."""
    session = client.create()
    client.turn(session, "hello")
    window = Window(new_page(), daemon)
    for lost in ("newSession", "changesTab", "settings", "markdown"):
        window.page.route(f"**/assets/{lost}-*.js", lambda route: route.abort())
    window.enter(session)
    window.message.fill("half a sentence")
    window.page.keyboard.press("Alt+n")
    notice = window.page.get_by_role("dialog", name="Not loaded")
    expect(notice).to_contain_text("could not be loaded")
    assert axe_findings(window, "dialog") == []
    notice.get_by_role("button", name="Close").click()
    menu = window.page.get_by_role("button", name="Session menu")
    menu.click()
    window.page.get_by_role("menuitem", name="Model and mode").click()
    notice.get_by_role("button", name="Close").click()
    menu.click()
    window.page.get_by_role("menuitem", name="Export as Markdown").click()
    expect(window.page.locator(".headNotice")).to_contain_text("could not be loaded")
    window.page.keyboard.press("Alt+d")
    window.page.get_by_role("tab", name="Changes").click()
    expect(window.page.get_by_role("tabpanel")).to_contain_text("could not be loaded")
    window.sees("You said: hello")
    window.page.unroute_all(behavior="wait")
    with window.page.expect_navigation():
        window.page.get_by_role("tabpanel").get_by_role("button", name="Reload").click()
    window.button("New session").click()
    expect(window.page.get_by_role("dialog", name="New session")).to_be_visible()
    window.page.keyboard.press("Escape")
    expect(window.message).to_have_value("half a sentence")


def test_an_answer_that_could_not_be_sent_can_be_given_when_the_daemon_is_back(
    new_page: Callable[[], Page], daemon: Daemon, client: Client
) -> None:
    session = client.create()
    client.send(session, "permission one")
    window = Window(new_page(), daemon)
    # As behind a network that is gone: the agent still waits.
    for lost in ("**/v1/events/sse*", "**/reply"):
        window.page.route(lost, lambda route: route.abort())
    window.enter(session)
    window.button("Allow once").click()
    failure = window.card("Permission: bash").get_by_role("alert")
    expect(failure).to_have_text("the daemon does not answer")
    window.page.unroute_all(behavior="wait")
    expect(window.page.get_by_role("status").first).to_have_text("Live")
    expect(failure).to_have_count(0)
    window.button("Allow once").click()
    window.turn_is_over()


@pytest.mark.parametrize("meanwhile", ["nothing", "a reload", "another session"])
def test_a_message_that_could_not_be_sent_stays_and_is_sent_once(
    window: Window, client: Client, meanwhile: str
) -> None:
    session = client.create()
    window.enter(session)
    window.page.route("**/messages", lambda route: (route.fetch(), route.abort()))
    window.message.fill("only once")
    window.message.press("Enter")
    expect(window.page.get_by_role("alert")).to_contain_text("Not sent")
    window.page.unroute("**/messages")
    if meanwhile == "a reload":
        window.page.reload()
    elif meanwhile == "another session":
        window.enter(client.create())
        window.enter(session)
    expect(window.message).to_have_value("only once")
    window.message.press("Enter")
    expect(window.message).to_have_value("")
    window.turn_is_over()
    expect(window.log.locator(".sa-message.sa-user")).to_have_count(1)
    assert [event["type"] for event in client.events(session)].count("turn.started") == 1
    window.say("only once")  # the same words as a new message
    window.turn_is_over()
    expect(window.log.locator(".sa-message.sa-user")).to_have_count(2)


def test_a_lost_conversation_can_be_started_over(new_page: Callable[[], Page], tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        client.turn(session, "hello")
        native = client.info(session)["nativeSessionId"]
        daemon.stop()
        [file] = tmp_path.rglob(f"{native}.jsonl")
        file.unlink()
        daemon.start()
        window = Window(new_page(), daemon)
        window.open()
        window.enter(session)
        window.message.fill("hi")
        window.message.press("Enter")
        expect(window.page.get_by_role("alert")).to_contain_text("conversation is gone")
        window.button("Start a new conversation with it").click()
        window.sees("You said: hi (message 1 of this conversation)")
        window.sees("resume lost")
