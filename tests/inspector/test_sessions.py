"""The list of sessions: everybody's, live."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.daemons import Client, Daemon

from .window import Window


def row(window: Window, title: str) -> Locator:
    return window.page.get_by_role("navigation").get_by_role("link").filter(has_text=title)


def group(window: Window, name: str) -> Locator:
    return window.page.get_by_role("navigation").get_by_role("region", name=name, exact=True)


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
    form.get_by_role("button", name="Paste JSON").click()
    form.get_by_label("MCP servers as JSON").fill('{"mcpServers": {"files": {"command": "true"}}}')
    form.get_by_role("button", name="Add these servers").click()
    form.get_by_role("button", name="Add a server").click()
    form.get_by_label("Name of the server").last.fill("web")
    form.get_by_label("Command or URL").last.fill("https://mcp.example/a")
    form.get_by_role("button", name="Add a header").click()
    form.get_by_label("Header 1: name").fill("Authorization")
    form.get_by_label("Header 1: value").fill("Bearer x")
    form.get_by_text("Environment", exact=True).click()
    form.get_by_role("button", name="Add a variable").last.click()
    form.get_by_label("Variable 1: name").last.fill("GREETING")
    form.get_by_label("Variable 1: value").last.fill("hello there")
    with window.page.expect_request("**/v1/sessions") as asked:
        form.get_by_role("button", name="Start").click()
    body = asked.value.post_data_json
    assert body is not None
    assert body["mcp"] == {
        "files": {"command": "true", "args": [], "env": {}},
        "web": {"url": "https://mcp.example/a", "headers": {"Authorization": "Bearer x"}},
    }
    assert body["env"] == {"GREETING": "hello there"}
    expect(window.page.get_by_role("heading", name="Made by hand")).to_be_visible()
    [session] = [
        each for each in client.get("/v1/sessions").json()["sessions"] if each["title"] == "Made by hand"
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
    expect(group(window, "Needs you").get_by_text("Made elsewhere")).to_be_visible()
    client.post(f"/v1/sessions/{session}/cancel")
    expect(group(window, "Recent").get_by_text("Made elsewhere")).to_be_visible()
    client.patch(f"/v1/sessions/{session}", {"title": "Renamed elsewhere"})
    expect(row(window, "Renamed elsewhere")).to_be_visible()
    client.post(f"/v1/sessions/{session}/terminate")
    expect(row(window, "Renamed elsewhere")).to_contain_text("Ended")
    client.delete(f"/v1/sessions/{session}")
    expect(row(window, "Renamed elsewhere")).to_have_count(0)


@pytest.mark.parametrize("back", ["before the answer", "after it"])
def test_a_message_that_is_sent_while_another_session_is_opened_is_no_draft(
    window: Window, client: Client, back: str
) -> None:
    one, other = client.create(), client.create()
    window.open(f"#/sessions/{one}")
    held: list[Route] = []
    window.page.route("**/messages", lambda route: held.append(route))
    window.message.fill("hello")
    with window.page.expect_request("**/messages"):
        window.message.press("Enter")
    window.page.goto(f"{window.address}#/sessions/{other}")
    expect(window.message).to_have_value("")
    if back == "before the answer":
        window.page.goto(f"{window.address}#/sessions/{one}")
        expect(window.message).to_have_value("hello")
    with window.page.expect_response("**/messages"):
        held[0].continue_()
    window.page.goto(f"{window.address}#/sessions/{one}")
    window.sees("You said: hello")
    expect(window.message).to_have_value("")


def test_a_list_that_is_not_read_yet_does_not_count_as_empty(
    new_page: Callable[[], Page], daemon: Daemon, client: Client
) -> None:
    client.create(title="Already here")
    window = Window(new_page(), daemon)
    held: list[Route] = []
    window.page.route("**/v1/sessions?limit=1000*", lambda route: held.append(route))
    with window.page.expect_request("**/v1/sessions?limit=1000*"):
        window.page.goto(window.address)
    sidebar = window.page.get_by_role("navigation")
    expect(sidebar.get_by_role("button", name="New session")).to_be_visible()
    expect(sidebar).not_to_contain_text("No sessions yet")
    expect(window.page.get_by_role("main")).not_to_contain_text("Start your first session")
    for route in held:
        route.continue_()
    expect(row(window, "Already here").first).to_be_visible()


def test_sessions_are_found_by_text_and_by_state(window: Window, client: Client) -> None:
    client.create(title="Needle in the hay")
    asking = client.create(title="Asking something")
    client.send(asking, "question")
    search = window.page.get_by_label("Search sessions")
    window.page.keyboard.press("Control+k")
    expect(search).to_be_focused()
    search.fill("hay needle")
    expect(row(window, "Needle in the hay")).to_be_visible()
    expect(row(window, "Asking something")).to_have_count(0)
    search.fill("mock needs you")
    expect(row(window, "Asking something")).to_be_visible()
    expect(row(window, "Needle in the hay")).to_have_count(0)


def test_sessions_are_found_by_their_directory_and_their_first_prompt(
    window: Window, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "haystack"
    folder.mkdir()
    oldest = client.create(directory=str(folder))
    client.turn(oldest, "look for the needle")
    for number in range(20):
        client.create(title=f"Later {number}")
    # So far down in the list that nobody has seen its name.
    window.page.set_viewport_size({"width": 1280, "height": 400})
    window.page.reload()
    search = window.page.get_by_label("Search sessions")
    search.fill("needle")
    expect(row(window, "look for the needle")).to_have_attribute("href", f"#/sessions/{oldest}")
    search.fill("haystack")
    expect(row(window, "look for the needle")).to_have_count(1)


def test_a_session_without_a_title_is_called_by_its_first_prompt(window: Window, client: Client) -> None:
    session = client.create()
    mine = window.page.get_by_role("navigation").locator(f"a[href$='{session}'] .sessionRowTitle")
    expect(mine).to_have_text("New session")
    client.turn(session, f"\n  Count the   files\nand {'very ' * 50}slowly")
    expect(mine).to_have_text("Count the files")
    client.turn(session, "Something else")
    window.page.reload()
    expect(mine).to_have_text("Count the files")
    window.page.get_by_label("Search sessions").fill("count files")
    mine.click()
    expect(window.page.get_by_role("heading", name="Count the files")).to_be_visible()
    expect(window.page).to_have_title(re.compile("Count the files$"))
    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    choose(window, "Session menu", "Copy the id")
    window.page.wait_for_function(
        "id => navigator.clipboard.readText().then((text) => text === id)", arg=session
    )
    client.patch(f"/v1/sessions/{session}", {"title": "A better name"})
    expect(window.page.get_by_role("heading", name="A better name")).to_be_visible()

    long = client.create()
    client.turn(long, "word " * 100)
    theirs = window.page.locator(f"a[href$='{long}'] .sessionRowTitle")
    window.page.get_by_label("Search sessions").fill("")
    expect(theirs).to_have_text(re.compile(r"^(word ){15}word…$"))


def test_the_whole_title_is_shown_where_it_is_cut_off(window: Window, client: Client) -> None:
    title = "A title that does not fit into one line of the list " * 3
    session = client.create(title=title.strip())
    window.enter(session)
    for cut in (
        window.page.locator(".sessionRow[aria-current] .sessionRowTitle"),
        window.page.locator(".sessionHead h2"),
    ):
        expect(cut).to_have_attribute("title", title.strip())


def test_the_list_begins_with_what_needs_somebody_and_marks_what_is_unread(
    window: Window, client: Client
) -> None:
    first, second = client.create(title="Order one"), client.create(title="Order two")
    window.page.get_by_label("Search sessions").fill("order")
    titles = window.page.locator(".sessionRowTitle")
    expect(titles).to_have_text(["Order two", "Order one"])
    for session in (first, second):
        window.enter(session)
    unread = row(window, "Order one").get_by_label("Unread")
    expect(unread).to_have_count(0)

    client.send(first, "permission one")
    expect(titles).to_have_text(["Order one", "Order two"])
    expect(unread).to_be_visible()
    expect(window.page).to_have_title(re.compile(r"^\(\d+\) needs you · Order two"))
    window.enter(first)
    expect(unread).to_have_count(0)
    window.button("Allow once").click()
    window.turn_is_over()
    window.enter(second)
    expect(unread).to_have_count(0)


def test_a_notification_is_offered_once_and_says_who_needs_somebody(
    new_page: Callable[[], Page], daemon: Daemon, client: Client
) -> None:
    page = new_page()
    # A browser without a head has no notifications: what the page asks for, and what it shows, is written down.
    page.add_init_script(
        """
        window.shown = [];
        window.Notification = class {
          static get permission() { return localStorage.getItem('granted') ?? 'default'; }
          static async requestPermission() { localStorage.setItem('granted', 'granted'); return 'granted'; }
          constructor(title, options) { window.shown.push([title, options.body]); }
        };
        Object.defineProperty(document, 'hidden', {get: () => window.isHidden ?? false});
        """
    )
    window = Window(page, daemon)
    window.open()
    session = client.create(title="Notify about this")
    client.send(session, "permission one")
    offer = page.get_by_text("Notify you when a session needs you")
    expect(offer).to_be_visible()
    page.get_by_role("button", name="Notify me").click()
    expect(offer).to_have_count(0)
    page.evaluate("window.isHidden = true")
    client.post(f"/v1/sessions/{session}/cancel")
    client.send(session, "permission two")
    # As an expression, the page's policy would refuse it from the second look on.
    page.wait_for_function("() => window.shown.length > 0")
    assert page.evaluate("window.shown") == [["Notify about this", "mock needs you"]]
    page.reload()
    expect(page.get_by_role("status").first).to_have_text("Live")
    expect(offer).to_have_count(0)


def test_a_session_is_saved_as_markdown(window: Window, client: Client) -> None:
    session = client.create(title="To be kept")
    client.turn(session, "tool")
    window.enter(session)
    window.turn_is_over()
    with window.page.expect_download() as saved:
        choose(window, "Session menu", "Export as Markdown")
    assert saved.value.suggested_filename == f"{session}.md"
    document = saved.value.path().read_text()
    assert document.startswith("# To be kept\n")
    assert "```sh\nseq 3\n```\n\n```\n1\n2\n3\n```\n\nThe command ended with exit code 0." in document


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


def test_the_permission_mode_is_switched_where_one_writes(window: Window, client: Client) -> None:
    session = client.create()
    window.enter(session)
    mode = window.page.get_by_label("Permission mode")
    expect(mode.locator("option")).to_have_text(["Ask first", "Accept edits", "Plan", "Allow everything"])
    calm = mode.evaluate("mode => getComputedStyle(mode).color")
    mode.select_option("Allow everything")
    expect(mode).not_to_have_css("color", calm)
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
