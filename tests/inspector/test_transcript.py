"""What an agent does, as a person sees it and answers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.daemons import Client, types, wait_until

from .window import Window


@pytest.fixture
def session(window: Window, client: Client) -> str:
    session = client.create()
    window.enter(session)
    return session


def permissions_of(client: Client, session: str) -> list[tuple[str, str | None]]:
    """How permissions were decided: status and what was said with it."""
    return [
        (event["data"]["status"], event["data"]["metadata"].get("message"))
        for event in client.events(session)
        if event["type"] == "permission.resolved"
    ]


def comes_to_the_end(window: Window) -> None:
    """The end of the transcript is visible."""
    window.page.wait_for_function(
        "box => box.scrollHeight - box.scrollTop - box.clientHeight < 1", arg=window.log.element_handle()
    )


# -- the end of the transcript ------------------------------------------------------------------


def test_what_is_opened_at_the_end_stays_at_the_end_and_in_sight(window: Window, client: Client) -> None:
    session = client.create()
    for prompt in ("markdown", "markdown", "tool"):
        client.turn(session, prompt)
    window.enter(session)
    to_end = window.button("To the end")
    window.tool("bash").click()
    expect(window.log.locator(".sa-tool .sa-fold-body")).to_be_in_viewport()
    window.turn_is_over()
    comes_to_the_end(window)
    expect(to_end).to_be_hidden()

    window.tool("bash").click()
    window.page.set_viewport_size({"width": 1280, "height": 330})
    window.tool("bash").click()
    expect(window.tool("bash")).to_be_in_viewport(ratio=1)
    expect(to_end).to_be_visible()


def test_an_entry_that_grows_does_not_leave_the_end(window: Window, client: Client) -> None:
    session = client.create()
    client.turn(session, "markdown")
    window.enter(session)
    window.turn_is_over()
    comes_to_the_end(window)
    # The browser reports a scroll after the entry has grown and before anybody has measured it.
    window.log.evaluate(
        """box => {
            const rows = [...box.querySelectorAll(".sa-row")];
            const last = rows.sort((a, b) => a.dataset.index - b.dataset.index).at(-1);
            last.style.paddingBottom = "400px";
            box.dispatchEvent(new Event("scroll"));
        }"""
    )
    comes_to_the_end(window)
    expect(window.button("To the end")).to_be_hidden()


def test_the_way_to_the_end_is_offered_only_when_it_is_far(window: Window, client: Client) -> None:
    session = client.create()
    for _ in range(3):
        client.turn(session, "markdown")
    window.enter(session)
    # The text is as high as it stays.
    expect(window.log.get_by_role("table").last).to_be_attached()
    expect(window.log.locator(".sa-turn-end").last).to_be_in_viewport()
    to_end = window.button("To the end")
    window.log.evaluate("box => box.scrollTop -= box.clientHeight / 4")
    window.page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(to_end).to_be_hidden()
    window.log.evaluate("box => { box.scrollTop = 0; }")
    to_end.click()
    expect(to_end).to_be_hidden()
    comes_to_the_end(window)


# -- messages -----------------------------------------------------------------------------------


def test_text_is_seen_while_it_streams(window: Window, session: str) -> None:
    window.say("slow 60")
    streaming = window.log.locator(".sa-message.sa-streaming")
    expect(streaming).not_to_be_empty()
    first = streaming.inner_text()
    expect(streaming).not_to_have_text(first)
    expect(window.page.locator(".sessionHead")).to_contain_text("Running")
    window.message.press("Escape")
    window.turn_is_over("Stopped")
    expect(window.page.locator(".sessionHead")).to_contain_text("Idle")


def test_markdown_becomes_elements(window: Window, session: str) -> None:
    window.say("markdown")
    window.turn_is_over()
    message = window.log.locator(".sa-message.sa-assistant")
    expect(message.locator("table td").first).to_be_visible()
    code = message.locator(".sa-code-block code")
    expect(code).to_contain_text("def greet")
    expect(code.locator(".sa-code-keyword").first).to_have_text("def")
    expect(message.locator("ul ul li")).to_have_text("nested")


def test_a_text_runs_in_the_direction_of_its_script(window: Window, session: str) -> None:
    window.say("سلام، دنيا!")
    window.turn_is_over()
    window.say("x\n\n- عنصر أول!\n\n- عنصر ثان!\n\n> اقتباس!\n\nand on")
    window.turn_is_over()
    direction = "element => getComputedStyle(element).direction"
    assert window.log.locator(".sa-user-text").first.evaluate(direction) == "rtl"
    answer = window.log.locator(".sa-message.sa-assistant").last
    assert [answer.locator(name).last.evaluate(direction) for name in ("ul", "li p", "blockquote p")] == [
        "rtl"
    ] * 3
    assert answer.get_by_text("and on").evaluate(direction) == "ltr"


def test_what_looks_like_html_stays_text(window: Window, session: str) -> None:
    evil = '<img src=x onerror="document.title=1"> [a](javascript:alert(1)) ![b](http://evil.example/b.png)'
    asked: list[str] = []
    window.page.on("request", lambda request: asked.append(request.url))
    window.say(evil)
    window.turn_is_over()
    answer = window.log.locator(".sa-message.sa-assistant")
    expect(answer).to_contain_text("<img src=x")
    links = answer.get_by_role("link")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "http://evil.example/b.png")
    assert answer.locator("img, script").count() == 0
    assert [url for url in asked if "evil" in url] == []


def test_thinking_is_folded_and_opens(window: Window, session: str) -> None:
    window.say("thinking")
    window.turn_is_over()
    line = window.log.get_by_role("button", name="Thought")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(window.log.locator(".sa-thinking .sa-fold-body")).not_to_be_empty()


def test_earlier_messages_come_back_with_the_arrow(window: Window, session: str) -> None:
    window.say("first words")
    window.turn_is_over()
    window.say("second words")
    window.message.press("ArrowUp")
    expect(window.message).to_have_value("second words")
    window.message.press("ArrowUp")
    expect(window.message).to_have_value("first words")
    window.message.press("ArrowDown")
    window.message.press("ArrowDown")
    expect(window.message).to_have_value("")


def test_an_earlier_message_that_was_changed_is_not_replaced(window: Window, session: str) -> None:
    for words in ("first words", "second words"):
        window.say(words)
        window.turn_is_over()
    window.message.press("ArrowUp")
    window.message.press("End")
    window.page.keyboard.type(", changed")
    window.message.press("Shift+Enter")
    window.page.keyboard.type("below")
    window.message.press("ArrowUp")
    window.message.press("Home")
    window.page.keyboard.type("my ")
    expect(window.message).to_have_value("my second words, changed\nbelow")


def test_a_file_goes_with_a_message_and_an_image_comes_back(
    window: Window, session: str, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("remember the milk\n")
    window.page.get_by_label("Files", exact=True).set_input_files(note)
    expect(window.page.get_by_role("list", name="Attached files")).to_contain_text("note.txt")
    window.say("image")
    window.turn_is_over()
    expect(window.log.locator(".sa-message.sa-user")).to_contain_text("note.txt")
    window.tool("screenshot").click()
    picture = window.log.locator(".sa-tool img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0


def test_attached_files_stay_with_the_session_until_they_are_sent(
    window: Window, session: str, client: Client, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    for file in (first, second):
        file.write_text("remember the milk\n")
    picker = window.page.get_by_label("Files", exact=True)
    attached = window.page.get_by_role("list", name="Attached files")
    picker.set_input_files(first)
    expect(attached).to_contain_text("18 B")
    window.enter(client.create())
    expect(attached).to_have_count(0)
    window.enter(session)
    expect(attached).to_contain_text("first.txt")
    held: list[Route] = []
    window.page.route("**/messages", lambda route: held.append(route))
    window.message.fill("hello")
    with window.page.expect_request("**/messages"):
        window.message.press("Enter")
    picker.set_input_files(second)
    expect(attached).to_contain_text("second.txt")
    held[0].continue_()
    expect(attached).not_to_contain_text("first.txt")
    expect(attached).to_contain_text("second.txt")
    expect(window.log.locator(".sa-message.sa-user")).to_contain_text("first.txt")


def test_a_file_may_be_dropped_on_the_transcript(window: Window, session: str) -> None:
    dropped = window.log.evaluate(
        """(log) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(['milk'], 'dropped.txt', {type: 'text/plain'}));
          const drop = new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true});
          log.dispatchEvent(drop);
          return drop.defaultPrevented;
        }"""
    )
    assert dropped, "the browser would open it"
    expect(window.page.get_by_role("list", name="Attached files")).to_contain_text("dropped.txt")


def test_prompts_of_other_clients_are_marked(window: Window, session: str, client: Client) -> None:
    window.say("mine")
    window.turn_is_over()
    client.turn(session, "theirs")
    theirs = window.log.locator(".sa-message.sa-user").filter(has_text="theirs")
    expect(theirs).to_contain_text("Another client")
    expect(window.log.locator(".sa-message.sa-user").filter(has_text="mine")).not_to_contain_text(
        "Another client"
    )
    window.page.reload()
    expect(theirs).to_contain_text("Another client")
    expect(window.log.get_by_text("Another client")).to_have_count(1)


def test_prompts_of_another_tab_are_ones_own(
    window: Window, session: str, new_page: Callable[[], Page]
) -> None:
    other = Window(new_page(), window.daemon)
    other.enter(session)
    window.say("mine, from the first tab")
    other.sees("You said: mine, from the first tab")
    expect(other.log.get_by_text("Another client")).to_have_count(0)


def test_a_message_of_an_earlier_day_has_its_date(window: Window, client: Client) -> None:
    session = client.create()
    client.turn(session, "hello")
    window.page.clock.set_fixed_time(datetime.now() + timedelta(days=2))
    window.enter(session)
    year = str(datetime.now().year)
    expect(window.log.locator(".sa-session-start")).to_contain_text(year)
    expect(window.log.locator(".sa-message time").first).to_contain_text(year)


def test_a_message_has_its_time_and_can_be_copied(window: Window, session: str) -> None:
    window.say("**copy** me")
    window.turn_is_over()
    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = window.log.locator(".sa-message.sa-assistant")
    answer.hover()
    expect(answer.locator("time")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d"))
    answer.get_by_role("button", name="Copy the message").click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert "You said: **copy** me" in window.page.evaluate("navigator.clipboard.readText()")


def test_search_finds_text_that_is_folded_or_out_of_sight(window: Window, client: Client) -> None:
    session = client.create()
    client.turn(session, "subagent")
    for prompt in (*["markdown"] * 4, "needle one", *["markdown"] * 4):
        client.turn(session, prompt)
    window.enter(session)
    window.turn_is_over()
    window.page.keyboard.press("Control+f")
    field = window.page.get_by_label("Search the transcript", exact=True)
    field.fill("NEEDLE")
    count = window.page.get_by_role("search").get_by_role("status")
    expect(count).to_have_text("1 of 2")
    expect(window.log.locator(".sa-user-text").filter(has_text="needle")).to_be_in_viewport()
    field.press("Enter")
    expect(count).to_have_text("2 of 2")
    assert window.page.evaluate("CSS.highlights.get('sandbox-agent-found-here').size") > 0
    field.fill("42")
    expect(window.log.get_by_label("Result of task")).to_be_in_viewport()
    field.fill("nowhere to be found")
    expect(count).to_have_text("Not found")
    field.press("Escape")
    expect(field).to_have_count(0)
    assert window.page.evaluate("CSS.highlights.size") == 0


def test_search_finds_a_phrase_across_markup_and_marks_all_of_it(
    window: Window, session: str, client: Client
) -> None:
    client.turn(session, "Read **every word** of `İstanbul` x")
    window.turn_is_over()
    window.page.keyboard.press("Control+f")
    field = window.page.get_by_label("Search the transcript", exact=True)
    count = window.page.get_by_role("search").get_by_role("status")
    marked = (
        "() => ['found', 'found-here'].flatMap((name) =>"
        " [...CSS.highlights.get(`sandbox-agent-${name}`)].map(String)).sort()"
    )
    field.fill("read every word of")
    # The prompt is shown as it was typed.
    expect(count).to_have_text("1 of 1")
    expect(window.log.locator(".sa-markdown strong")).to_be_visible()
    assert window.page.evaluate(marked) == ["Read every word of"]
    # In lower case, this letter is two characters long.
    field.fill("istanbul")
    expect(count).to_have_text("Not found")
    field.fill("x")
    expect(count).to_have_text("1 of 2")
    assert window.page.evaluate(marked) == ["x", "x"]


# -- tools --------------------------------------------------------------------------------------


def test_a_tool_is_one_line_with_its_outcome_and_opens(window: Window, session: str) -> None:
    window.say("tool 3")
    window.turn_is_over()
    line = window.tool("bash")
    expect(line).to_contain_text("failed")
    expect(line).to_contain_text("exit 3")
    expect(line.get_by_title("command")).to_be_visible()
    expect(line.locator(".sa-fold-summary")).to_have_text("seq 3")
    line.click()
    expect(window.log.locator(".sa-tool .sa-command")).to_contain_text("seq 3")
    expect(window.log.get_by_label("Output of bash")).to_have_text("1\n2\n3\n")


def test_a_subagents_steps_unfold_below_its_call(window: Window, session: str) -> None:
    window.say("subagent")
    window.turn_is_over()
    inner = window.log.locator('.sa-row[style*="--depth: 1"]')
    expect(inner).to_have_count(0)
    window.tool("task").click()
    expect(inner.first).to_be_visible()
    result = window.log.get_by_label("Result of task")
    last_step = inner.last.bounding_box()
    found = result.bounding_box()
    assert last_step is not None
    assert found is not None
    assert found["y"] >= last_step["y"] + last_step["height"] - 1, "the result follows the steps"


def test_a_change_shows_its_counts_and_its_lines_both_ways(window: Window, session: str) -> None:
    window.say("edit")
    window.button("Allow once").click()
    window.turn_is_over()
    line = window.tool("edit")
    expect(line).to_contain_text("+1 −0")
    line.click()
    diff = window.log.locator(".sa-diff")
    expect(diff.locator("tr.sa-added .sa-line-text")).to_have_count(1)
    diff.get_by_role("button", name="Split").click()
    expect(diff.locator("table.sa-split td.sa-line-text.sa-added")).to_have_count(1)
    diff.get_by_role("button", name="Unified").click()
    expect(diff.locator("tr.sa-added")).to_have_count(1)


def test_a_very_long_diff_is_cut_until_all_of_it_is_requested(
    window: Window, session: str, client: Client
) -> None:
    def with_many_lines(route: Route) -> None:
        page = route.fetch().json()
        for event in page["events"]:
            if event["type"] == "permission.requested":
                event["data"]["metadata"]["diff"] = "@@ -0,0 +1,5000 @@\n" + "+line\n" * 5000
        route.fulfill(json=page)

    client.send(session, "edit")
    expect(window.card("Permission: edit")).to_be_visible()
    window.page.route("**/events?*", with_many_lines)
    window.page.reload()
    card = window.card("Permission: edit")
    expect(card.locator(".sa-diff-counts")).to_have_text("+5000 −0")
    expect(card.locator("tr.sa-added")).to_have_count(999)
    card.get_by_role("button", name="Show the other 4,001 lines").click()
    expect(card.locator("tr.sa-added")).to_have_count(5000)
    numbers = card.locator("tr.sa-added .sa-line-number:not(:empty)")
    heights = numbers.evaluate_all("all => all.map((number) => number.getBoundingClientRect().height)")
    assert max(heights) < 20, "a number stands on one line"
    window.page.unroute_all(behavior="wait")


# -- permissions --------------------------------------------------------------------------------


def test_a_permission_shows_the_exact_command_and_is_allowed_once(
    window: Window, session: str, client: Client
) -> None:
    window.say("permission one two")
    card = window.card("Permission: bash")
    expect(card.locator(".sa-command")).to_have_text("$ echo one two")
    expect(card.locator(".sa-tag")).to_have_text("command")
    window.button("Allow once").click()
    window.turn_is_over()
    expect(window.tool("bash")).to_contain_text("Allowed once")
    expect(window.log.locator(".sa-resolved")).to_have_count(0)
    window.sees("The command said: one two")
    assert permissions_of(client, session) == [("accept", None)]


def test_a_call_of_a_tool_waits_for_somebody_who_answers_it_or_lets_it_fail(
    window: Window, client: Client
) -> None:
    session = client.create(tools=[{"name": "weather"}])
    window.enter(session)
    for button, outcome in (("Answer", "returned"), ("Fail", "failed")):
        window.say('call weather {"city": "Bonn"}')
        card = window.card("Tool: weather")
        expect(card).to_contain_text("weather waits for its result")
        expect(card).to_contain_text('"city": "Bonn"')
        expect(card.locator(".sa-code-string")).to_have_text('"Bonn"')
        card.get_by_label("What the tool returns, or why it fails").fill("rain")
        card.get_by_role("button", name=button).click()
        window.sees(f"weather {outcome}: rain")
        expect(card).to_have_count(0)
        expect(window.tool("weather").last).to_contain_text("Answered by a client")
        expect(window.log.locator(".sa-resolved")).to_have_count(0)


def test_a_permission_that_a_rule_decided_says_so_with_the_reason(window: Window, client: Client) -> None:
    rules = [
        {"effect": "deny", "command": "echo secret", "reason": "It stays here."},
        {"effect": "allow", "command": "echo *"},
    ]
    session = client.create(policy=rules)
    window.enter(session)
    window.say("permission secret")
    expect(window.tool("bash")).to_contain_text("Denied by rule: It stays here.")
    window.say("permission hello")
    expect(window.tool("bash").last).to_contain_text("Allowed by rule")
    expect(window.log.get_by_text("“It stays here.”")).to_have_count(0)


def test_a_permission_for_the_session_is_not_asked_again(
    window: Window, session: str, client: Client
) -> None:
    window.say("permission one")
    expect(window.card("Permission: bash")).to_be_visible()
    window.page.keyboard.press("Alt+a")
    window.turn_is_over()
    window.say("permission one")
    expect(window.log.locator(".sa-turn-end")).to_have_count(2)
    window.sees("Allowed once by an earlier “always”")
    assert permissions_of(client, session) == [("accept_for_session", None), ("accept", None)]


def test_a_permission_is_rejected_with_a_reason(window: Window, session: str, client: Client) -> None:
    window.say("permission rm")
    window.button("Reject…").click()
    window.page.get_by_label("Reason (sent to the agent)").fill("not on my machine")
    window.button("Reject").click()
    window.turn_is_over()
    window.sees("“not on my machine”")
    assert permissions_of(client, session) == [("reject", "not on my machine")]


def test_keys_answer_only_what_is_in_sight(window: Window, client: Client) -> None:
    session = client.create()
    for _ in range(8):
        client.turn(session, "markdown")
    client.send(session, "permission one")
    window.enter(session)
    card = window.card("Permission: bash")
    expect(card).to_be_in_viewport()
    window.button("Session menu").click()
    window.page.get_by_role("menuitem", name="Rename").click()
    window.page.keyboard.press("Alt+y")
    window.page.keyboard.press("Escape")
    window.log.evaluate("box => { box.scrollTop = 0; }")
    expect(card).not_to_be_in_viewport()
    window.page.keyboard.press("Alt+y")
    expect(card).to_be_in_viewport()
    assert permissions_of(client, session) == []
    window.page.keyboard.press("Alt+y")
    window.turn_is_over()
    assert permissions_of(client, session) == [("accept", None)]


def test_a_permission_to_edit_shows_the_change(window: Window, session: str) -> None:
    window.say("edit")
    card = window.card("Permission: edit")
    expect(card.locator(".sa-tag")).to_have_count(0)  # the name of the tool is its kind
    expect(card.locator(".sa-diff-path")).to_contain_text("mock-edit.txt")
    expect(card.locator("tr.sa-added .sa-line-text")).to_have_count(1)
    card.get_by_role("button", name="Allow once").click()
    window.turn_is_over()


def test_a_permission_shows_all_of_a_long_path(window: Window, session: str, client: Client) -> None:
    elsewhere = "/a-folder-with-a-long-name" * 4 + "/mock-edit.txt"

    def with_a_long_path(route: Route) -> None:
        page = route.fetch().json()
        for event in page["events"]:
            if event["type"] == "permission.requested":
                event["data"]["metadata"]["paths"] = [elsewhere]
        route.fulfill(json=page)

    path = window.card("Permission: edit").locator(".sa-diff-path")
    window.page.set_viewport_size({"width": 390, "height": 780})
    client.send(session, "edit")
    expect(path).to_have_text("mock-edit.txt")  # in the session's directory
    window.page.route("**/events?*", with_a_long_path)
    window.page.reload()
    expect(path).to_have_text(elsewhere)
    assert path.evaluate("path => path.scrollWidth <= path.clientWidth"), "nothing of it is cut off"
    window.page.unroute_all(behavior="wait")


def test_two_windows_can_answer_and_one_does(
    window: Window, session: str, new_page: Callable[[], Page], client: Client
) -> None:
    other = Window(new_page(), window.daemon)
    other.enter(session)
    window.say("permission both")
    expect(other.button("Allow once")).to_be_visible()

    def be_quicker(route: Route) -> None:
        """The other window's answer is held until the first is in: then it is too late."""
        window.button("Allow once").click()
        window.turn_is_over()
        route.continue_()

    with other.page.expect_request("**/reply") as asked:
        other.page.route("**/reply", be_quicker)
        other.button("Always in this session").click()
    answer = asked.value.response()
    assert answer is not None
    assert answer.status == 409
    other.turn_is_over()
    other.sees("Allowed once")
    other.sees("Somebody else answered first. Your answer “Always in this session” was not taken.")
    expect(window.log.locator(".sa-too-late")).to_have_count(0)
    expect(other.button("Allow once")).to_have_count(0)
    assert permissions_of(client, session) == [("accept", None)]


# -- questions and plans ------------------------------------------------------------------------


def test_a_question_is_answered_with_a_label(window: Window, session: str) -> None:
    window.say("question")
    card = window.card("Question")
    expect(card.get_by_role("button", name="Answer", exact=True)).to_be_disabled()
    card.get_by_role("radio", name="Blue").check()
    card.get_by_role("button", name="Answer", exact=True).click()
    window.turn_is_over()
    expect(window.log.locator(".sa-resolved.sa-question dd")).to_have_text("Blue")


def test_several_questions_take_one_label_several_labels_and_free_text(
    window: Window, session: str, client: Client
) -> None:
    window.say("multi")
    card = window.card("Question")
    questions = card.get_by_role("group")
    expect(questions).to_have_count(3)
    questions.nth(0).get_by_role("radio").first.check()
    for box in questions.nth(1).get_by_role("checkbox").all()[:2]:
        box.check()
    questions.nth(2).get_by_role("textbox").fill("something else")
    card.get_by_role("button", name="Answer", exact=True).click()
    window.turn_is_over()
    [resolved] = [event["data"] for event in client.events(session) if event["type"] == "question.resolved"]
    asked = resolved["metadata"]["questions"]
    labels = [[option["label"] for option in question["options"]] for question in asked]
    assert resolved["metadata"]["answers"] == [labels[0][:1], labels[1][:2], ["something else"]]


def test_half_an_answer_waits_while_one_reads_what_came_before(window: Window, client: Client) -> None:
    session = client.create()
    for _ in range(8):
        client.turn(session, "markdown")
    client.send(session, "multi")
    window.enter(session)
    card = window.card("Question")
    card.get_by_role("radio", name="Large").check()
    card.get_by_label("Your own answer: When?").fill("tomorrow")
    window.log.evaluate("box => { box.scrollTop = 0; }")
    window.sees("Started")
    expect(card).not_to_be_in_viewport()
    window.button("To the end").click()
    expect(card).to_be_in_viewport()
    expect(card.get_by_role("radio", name="Large")).to_be_checked()
    expect(card.get_by_label("Your own answer: When?")).to_have_value("tomorrow")


def test_text_in_the_composer_answers_the_pending_question(window: Window, session: str) -> None:
    window.say("question")
    expect(window.card("Question")).to_be_visible()
    expect(window.message).to_have_attribute("placeholder", "Answer the question")
    window.message.fill("Mauve, please")
    window.message.press("Enter")
    window.turn_is_over()
    expect(window.log.locator(".sa-resolved.sa-question dd")).to_have_text("Mauve, please")
    expect(window.message).to_have_value("")
    window.say("plan")
    expect(window.card("Plan")).to_be_visible()
    window.message.fill("Smaller steps")
    window.message.press("Enter")
    window.turn_is_over()
    expect(window.card("Plan").locator(".sa-tag")).to_have_text("Rejected")
    window.sees("Smaller steps")


def test_text_typed_before_the_question_does_not_answer_it(
    window: Window, session: str, client: Client
) -> None:
    window.message.fill("and then the tests")
    client.send(session, "question")
    expect(window.card("Question")).to_be_visible()
    window.message.press("Enter")
    expect(window.page.locator(".sa-queued-text")).to_have_text("and then the tests")
    expect(window.card("Question")).to_be_visible()
    window.button("Stop and clear").click()
    window.turn_is_over("Stopped")


def test_a_question_can_stay_without_an_answer(window: Window, session: str) -> None:
    window.say("question")
    window.button("Do not answer").click()
    window.turn_is_over()
    window.sees("Not answered")


@pytest.mark.parametrize(("press", "tag"), [("Approve", "Approved"), ("Reject", "Rejected")])
def test_a_plan_is_read_and_decided(window: Window, session: str, press: str, tag: str) -> None:
    window.say("plan")
    card = window.card("Plan")
    expect(card.locator(".sa-markdown li").first).to_be_visible()
    card.get_by_role("button", name=press).click()
    window.turn_is_over()
    expect(card.locator(".sa-tag")).to_have_text(tag)


# -- queue, errors, ends ------------------------------------------------------------------------


def test_messages_wait_in_a_queue_and_can_be_withdrawn(window: Window, session: str, client: Client) -> None:
    window.say("slow 60")
    window.say("second message", waits=True)
    window.say("third message", waits=True)
    queue = window.page.get_by_role("region", name="Waiting messages")
    expect(queue.locator(".sa-queued-text")).to_have_text(["second message", "third message"])
    queue.get_by_role("button", name="Withdraw").first.click()
    expect(queue.locator(".sa-queued-text")).to_have_text(["third message"])
    window.button("Stop").last.click()
    window.sees("You said: third message")
    expect(queue).to_have_count(0)
    assert types(client.events(session)).count("turn.started") == 2


def test_a_queue_that_cannot_be_read_says_so_and_is_read_again(
    window: Window, session: str, client: Client
) -> None:
    problem = (
        b'{"type": "urn:sandbox-agent:error:internal", "title": "", "status": 500, "detail": "out of order"}'
    )
    window.page.route("**/queue", lambda route: route.fulfill(status=500, body=problem))
    client.send(session, "permission")
    client.send(session, "waits")
    queue = window.page.get_by_label("Waiting messages")
    expect(queue).to_contain_text("1 message queued")
    expect(queue.get_by_role("alert")).to_have_text("out of order")
    window.page.unroute_all(behavior="wait")
    expect(queue.locator(".sa-queued-text")).to_have_text("waits")
    expect(queue.get_by_role("alert")).to_have_count(0)


def test_the_turn_is_stopped_together_with_all_that_waits(
    window: Window, session: str, client: Client
) -> None:
    window.say("slow 60")
    window.say("second message", waits=True)
    window.say("third message", waits=True)
    window.button("Stop and clear").click()
    window.turn_is_over("Stopped")
    expect(window.page.get_by_role("region", name="Waiting messages")).to_have_count(0)
    assert client.info(session)["state"] == "idle"
    assert types(client.events(session)).count("turn.started") == 1


def test_a_refused_stop_says_so_until_the_turn_is_over(window: Window, session: str, client: Client) -> None:
    problem = (
        b'{"type": "urn:sandbox-agent:error:conflict", "title": "", "status": 409, "detail": "out of order"}'
    )
    window.page.route("**/cancel*", lambda route: route.fulfill(status=409, body=problem))
    window.say("slow 60")
    window.button("Stop").click()
    alert = window.page.get_by_role("alert")
    expect(alert).to_have_text("Not stopped: out of order")
    # That is an offer for a message that was refused.
    expect(alert.get_by_role("button")).to_have_count(0)
    window.page.unroute_all(behavior="wait")
    window.page.route("**/cancel*", lambda route: route.abort())
    window.button("Stop").click()
    expect(alert).to_have_text("Not stopped: the daemon does not answer")
    window.say("second message", waits=True)
    window.button("Stop and clear").click()
    expect(window.page.get_by_role("region", name="Waiting messages")).to_have_count(0)
    expect(alert).to_have_text("Not stopped: the daemon does not answer")
    window.page.unroute_all(behavior="wait")
    client.post(f"/v1/sessions/{session}/cancel")
    window.turn_is_over("Stopped")
    expect(alert).to_have_count(0)


def test_a_late_stop_does_not_end_the_next_turn(window: Window, session: str, client: Client) -> None:
    def be_late(route: Route) -> None:
        client.post(f"/v1/sessions/{session}/cancel")
        wait_until(lambda: types(client.events(session)).count("turn.started") == 2)
        route.continue_()

    window.page.route("**/cancel*", be_late)
    window.say("slow 60")
    window.say("slow 61", waits=True)
    with window.page.expect_response("**/cancel*") as answered:
        window.button("Stop").filter(has_not_text="clear").click()
    assert answered.value.status == 204
    assert types(client.events(session)).count("turn.ended") == 1


def test_an_error_is_shown_as_a_card(window: Window, session: str) -> None:
    window.say("error")
    window.turn_is_over("Ended with an error")
    expect(window.card("Error")).to_be_visible()


def test_a_crash_shows_exit_code_and_stderr_and_the_session_goes_on(window: Window, session: str) -> None:
    window.say("crash 7")
    window.turn_is_over("Ended with an error")
    card = window.card("Error")
    expect(card).to_contain_text("Agent process exited")
    expect(card).to_contain_text("exit code 7")
    expect(card.get_by_label("Standard error")).not_to_be_empty()
    window.say("hello again")
    window.sees("You said: hello again")


def test_an_agent_that_ends_the_conversation_leaves_no_composer(window: Window, session: str) -> None:
    window.message.fill("end")
    window.message.press("Enter")
    window.sees("The agent ended the conversation")
    expect(window.message).to_have_count(0)


def test_an_entry_that_cannot_be_drawn_leaves_the_rest_of_the_page(
    window: Window, session: str, client: Client, complaints: list[str]
) -> None:
    def with_another_shape(route: Route) -> None:
        """A question in a form that no current daemon sends."""
        page = route.fetch().json()
        for event in page["events"]:
            if event["type"] == "question.requested":
                event["data"]["metadata"]["questions"][0]["options"] = 7
        route.fulfill(json=page)

    client.turn(session, "hello")
    client.send(session, "question")
    expect(window.card("Question")).to_be_visible()
    window.page.route("**/events?*", with_another_shape)
    window.page.reload()
    expect(window.card("This entry cannot be displayed")).to_be_visible()
    window.sees("You said: hello")
    window.page.unroute_all(behavior="wait")
    assert all("options.map" in text or "boundary" in text for text in complaints), complaints
    complaints.clear()


def test_what_the_daemon_did_not_understand_is_shown(window: Window, session: str, client: Client) -> None:
    client.expects_unparsed = True
    window.say("unparsed")
    window.turn_is_over()
    expect(window.log.locator(".sa-card.sa-odd")).to_have_count(3)


def test_an_answer_is_plain_when_what_reads_markdown_cannot_be_loaded(
    session: str, window: Window, client: Client
) -> None:
    """A daemon of another version has other files than the page that is still open."""
    window.page.route("**/markdownBlocks-*.js", lambda route: route.fulfill(status=404))
    client.turn(session, "markdown")
    window.turn_is_over()
    expect(window.log.locator(".sa-plain-text").last).to_contain_text("**")
    expect(window.log.locator(".sa-markdown")).to_have_count(0)
