"""The list of sessions: everybody's, live."""

from __future__ import annotations

from playwright.sync_api import Locator, expect
from tests.daemons import Client

from .window import Window


def row(window: Window, title: str) -> Locator:
    return window.page.get_by_role("navigation").get_by_role("link").filter(has_text=title)


def choose(window: Window, menu: str, item: str) -> None:
    window.button(menu).click()
    window.page.get_by_role("menuitem", name=item).click()


def test_a_session_is_made_with_what_was_chosen(window: Window, client: Client) -> None:
    window.page.keyboard.press("Alt+n")
    form = window.page.get_by_role("dialog", name="New session")
    form.get_by_role("radio", name="mock").check()
    form.get_by_label("Title").fill("Made by hand")
    form.get_by_label("Directory").fill(str(client.daemon.work_dir))
    form.get_by_role("combobox", name="Mode", exact=True).select_option("plan")
    form.get_by_label("Permissions").select_option("acceptEdits")
    form.get_by_label("Model").fill("swift")
    form.get_by_label("Variant").fill("high")
    form.get_by_text("MCP servers").click()
    form.get_by_label("MCP servers as JSON").fill('{"mcpServers": {"files": {"command": "true"}}}')
    form.get_by_role("button", name="Start").click()
    expect(window.page.get_by_role("heading", name="Made by hand")).to_be_visible()
    [session] = [
        one for one in client.get("/v1/sessions").json()["sessions"] if one["title"] == "Made by hand"
    ]
    client.sessions.append(session["sessionId"])
    chosen = ("agent", "directory", "agentMode", "permissionMode", "model", "variant")
    assert [session[name] for name in chosen] == [
        "mock",
        str(client.daemon.work_dir),
        "plan",
        "acceptEdits",
        "swift",
        "high",
    ]


def test_a_refused_session_says_why_and_keeps_what_was_typed(window: Window) -> None:
    window.button("New session").first.click()
    form = window.page.get_by_role("dialog")
    form.get_by_role("radio", name="mock").check()
    form.get_by_label("Directory").fill("/nowhere/at/all")
    form.get_by_role("button", name="Start").click()
    expect(form.get_by_role("alert")).to_contain_text("/nowhere/at/all")
    expect(form.get_by_label("Directory")).to_have_value("/nowhere/at/all")


def test_what_other_clients_do_shows_at_once(window: Window, client: Client) -> None:
    session = client.create(title="Made elsewhere")
    mine = row(window, "Made elsewhere")
    expect(mine).to_be_visible()
    client.send(session, "permission")
    expect(mine).to_contain_text("Needs you")
    client.post(f"/v1/sessions/{session}/cancel")
    expect(mine).not_to_contain_text("Needs you")
    client.patch(f"/v1/sessions/{session}", {"title": "Renamed elsewhere"})
    expect(row(window, "Renamed elsewhere")).to_be_visible()
    client.post(f"/v1/sessions/{session}/terminate")
    expect(row(window, "Renamed elsewhere")).to_contain_text("Ended")
    client.delete(f"/v1/sessions/{session}")
    expect(row(window, "Renamed elsewhere")).to_have_count(0)


def test_sessions_are_found_by_words_and_by_state(window: Window, client: Client) -> None:
    client.create(title="Needle in the hay")
    asking = client.create(title="Asking something")
    client.send(asking, "question")
    search = window.page.get_by_label("Search sessions")
    window.page.keyboard.press("Control+k")
    expect(search).to_be_focused()
    search.fill("hay needle")
    expect(row(window, "Needle in the hay")).to_be_visible()
    expect(row(window, "Asking something")).to_have_count(0)
    search.fill("")
    window.page.get_by_role("group", name="Filter by state").get_by_text("Needs you").click()
    expect(row(window, "Asking something")).to_be_visible()
    expect(row(window, "Needle in the hay")).to_have_count(0)


def test_a_session_is_renamed_terminated_and_deleted(window: Window, client: Client) -> None:
    session = client.create(title="Old name")
    window.enter(session)
    choose(window, "Session menu", "Rename")
    dialog = window.page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("New name")
    dialog.get_by_role("button", name="Rename").click()
    expect(window.page.get_by_role("heading", name="New name")).to_be_visible()
    assert client.info(session)["title"] == "New name"

    choose(window, "Session menu", "Terminate")
    window.page.get_by_role("dialog").get_by_role("button", name="Terminate").click()
    window.sees("The session was terminated")
    expect(window.page.get_by_text("This session has ended.")).to_be_visible()
    assert client.info(session)["ended"]

    choose(window, "Session menu", "Delete")
    window.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(window, "New name")).to_have_count(0)
    assert client.get(f"/v1/sessions/{session}").status_code == 404
    client.sessions.remove(session)


def test_the_permission_mode_is_switched_in_the_head(window: Window, client: Client) -> None:
    session = client.create()
    window.enter(session)
    window.page.get_by_label("Permission mode").select_option("bypass")
    window.say("permission free")
    window.turn_is_over()
    window.sees("The command said: free")
    assert client.info(session)["permissionMode"] == "bypass"


def test_model_variant_and_mode_are_switched(window: Window, client: Client) -> None:
    session = client.create()
    window.enter(session)
    choose(window, "Session menu", "Model and mode")
    dialog = window.page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Mode", exact=True).select_option("plan")
    dialog.get_by_label("Model").fill("mock-2")
    dialog.get_by_label("Variant").fill("high")
    dialog.get_by_role("button", name="Switch").click()
    expect(window.page.locator(".sessionFacts")).to_contain_text("mock-2 · high")
    window.say("hello")
    window.sees("Planning: You said: hello")
    info = client.info(session)
    assert [info[name] for name in ("agentMode", "model", "variant")] == ["plan", "mock-2", "high"]


def test_a_session_that_is_not_there_says_so(window: Window) -> None:
    window.page.goto(f"{window.address}#/sessions/never-was")
    expect(window.page.get_by_role("note")).to_contain_text("There is no session “never-was”")
