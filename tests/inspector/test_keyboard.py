"""Without a mouse: where focus begins, where it goes, and where it comes back to."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.daemons import Client

from .window import Window


def test_a_dialog_begins_at_what_it_asks_and_gives_focus_back(window: Window, client: Client) -> None:
    window.enter(client.create(title="Before"))
    menu = window.button("Session menu")
    dialog = window.page.get_by_role("dialog")
    menu.press("Enter")
    window.page.keyboard.press("Enter")
    expect(dialog.get_by_label("Title")).to_be_focused()
    window.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(menu).to_be_focused()

    menu.press("Enter")
    window.page.keyboard.press("ArrowUp")
    window.page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    window.page.keyboard.press("Enter")
    expect(menu).to_be_focused()

    window.message.focus()
    window.page.keyboard.press("Alt+n")
    expect(dialog.get_by_role("radio", name="mock")).to_be_focused()
    window.page.keyboard.press("Escape")
    expect(window.message).to_be_focused()


def test_the_arrows_go_through_what_the_list_shows_and_it_follows(window: Window, client: Client) -> None:
    for number in range(12):
        client.create(title=f"Walk {number}")
        client.create(title="Between")
    window.page.set_viewport_size({"width": 1280, "height": 480})
    window.page.get_by_label("Search sessions").fill("walk")
    rows = window.page.get_by_role("navigation").get_by_role("link")
    expect(rows).to_have_count(12)
    for number in range(11, -1, -1):
        window.page.keyboard.press("Alt+ArrowDown")
        expect(window.page.get_by_role("heading", name=f"Walk {number}", exact=True)).to_be_visible()
    expect(rows.last).to_have_attribute("aria-current", "page")
    expect(rows.last).to_be_in_viewport(ratio=1)


def test_a_menu_is_left_with_tab(window: Window, client: Client) -> None:
    window.enter(client.create())
    window.button("Session menu").press("Enter")
    expect(window.page.get_by_role("menuitem").first).to_be_focused()
    window.page.keyboard.press("Tab")
    expect(window.page.get_by_role("menu")).to_have_count(0)
    expect(window.log).to_be_focused()


def test_the_scrollbar_of_a_dialog_does_not_close_it(window: Window) -> None:
    window.page.set_viewport_size({"width": 1024, "height": 480})
    window.page.keyboard.press("Alt+n")
    dialog = window.page.get_by_role("dialog")
    box = dialog.bounding_box()
    assert box is not None
    assert dialog.evaluate("box => box.scrollHeight > box.clientHeight")
    window.page.mouse.click(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
    expect(dialog).to_be_visible()
    window.page.mouse.click(box["x"] / 2, box["y"] + box["height"] / 2)
    expect(dialog).to_have_count(0)


def test_a_slash_offers_the_commands_of_the_agent(window: Window, client: Client) -> None:
    window.enter(client.create())
    window.message.press_sequentially("/e")
    offered = window.page.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(offered).to_have_count(1)
    window.message.press("Tab")
    expect(window.message).to_have_value("/echo ")
    expect(offered).to_have_count(0)
    window.message.press_sequentially("from the composer")
    window.message.press("Enter")
    window.turn_is_over()
    expect(window.log.get_by_text("from the composer", exact=True)).to_be_visible()


def test_what_closes_gives_focus_back(window: Window, client: Client) -> None:
    session = client.create()
    client.send(session, "permission")
    window.enter(session)
    window.message.focus()
    window.page.keyboard.press("Control+f")
    expect(window.page.get_by_role("searchbox", name="Search the transcript")).to_be_focused()
    window.page.keyboard.press("Escape")
    expect(window.message).to_be_focused()

    opener = window.button("Panel (Alt D)")
    opener.press("Enter")
    window.button("Close the panel").press("Enter")
    expect(opener).to_be_focused()

    window.button("Reject…").press("Enter")
    expect(window.page.get_by_label("Reason (sent to the agent)")).to_be_focused()
    window.page.keyboard.press("Escape")
    expect(window.button("Reject…")).to_be_focused()

    search = window.page.get_by_role("searchbox", name="Search sessions")
    search.fill("nothing")
    window.button("Clear the search").press("Enter")
    expect(search).to_be_focused()


def test_focus_stays_close_to_a_button_that_disappears(window: Window, client: Client) -> None:
    session = client.create()
    client.send(session, "permission")
    client.send(session, "waits")
    window.enter(session)
    window.button("Withdraw").press("Enter")
    expect(window.page.get_by_label("Waiting messages")).to_have_count(0)
    window.page.keyboard.press("Tab")
    expect(window.message).to_be_focused()
    window.button("Allow once").press("Enter")
    window.turn_is_over()
    expect(window.log).to_be_focused()
