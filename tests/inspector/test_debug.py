"""The debug panel."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, expect
from tests.daemons import Client

from sandbox_agent.agents import AGENTS

from .window import Window


@pytest.fixture
def session(window: Window, client: Client) -> str:
    session = client.create()
    client.turn(session, "tool")
    window.enter(session)
    window.page.keyboard.press("Alt+d")
    return session


def panel(window: Window) -> Locator:
    return window.page.get_by_role("complementary", name="Panel")


def test_events_are_filtered_by_type_and_by_text(window: Window, session: str, client: Client) -> None:
    events = client.events(session)
    count = panel(window).locator(".debugCount")
    expect(count).to_have_text(f"{len(events)} events")
    panel(window).get_by_label("Type of event").select_option("item.delta")
    deltas = [event for event in events if event["type"] == "item.delta"]
    expect(count).to_have_text(f"{len(deltas)} of {len(events)} events")
    panel(window).get_by_label("Search events").fill("ended with exit code")
    found = [event for event in deltas if "ended with exit code" in json.dumps(event)]
    expect(count).to_have_text(f"{len(found)} of {len(events)} events")


def test_an_event_is_shown_beside_its_native_payload_and_has_a_link(
    window: Window, session: str, client: Client
) -> None:
    [event] = [each for each in client.events(session, include_raw="true") if each["type"] == "turn.ended"]
    panel(window).get_by_role("button", name="turn.ended").click()
    expect(panel(window).get_by_label("Universal", exact=True)).to_contain_text(event["event_id"])
    shown = panel(window).get_by_label("Native", exact=True)
    expect(shown).not_to_have_text("…")
    assert json.loads(shown.inner_text()) == event["raw"]

    window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel(window).get_by_role("button", name="Link").click()
    link = window.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{window.address}#/sessions/{session}/events/{event['sequence']}"
    window.page.goto("about:blank")
    window.page.goto(link)
    expect(panel(window).get_by_label("Universal", exact=True)).to_contain_text(event["event_id"])


def test_a_link_shows_its_event_among_the_others(window: Window, client: Client) -> None:
    session = client.create()
    client.turn(session, "flood 1500")
    window.page.goto("about:blank")
    window.page.goto(f"{window.address}#/sessions/{session}/events/1200")
    expect(panel(window).get_by_label("Event 1200")).to_be_visible()
    expect(panel(window).get_by_role("button", pressed=True).filter(has_text="1200")).to_be_in_viewport()
    # What comes later does not pull the list back to it.
    rows = panel(window).get_by_role("region", name="Events")
    panel(window).get_by_label("Type of event").select_option("item.delta")
    rows.evaluate("box => { box.scrollTop = 0; }")
    client.turn(session, "hello")
    window.turn_is_over()
    assert rows.evaluate("box => box.scrollTop") == 0


def test_all_events_are_saved_as_lines(window: Window, session: str, client: Client, tmp_path: Path) -> None:
    with window.page.expect_download() as download:
        panel(window).get_by_role("button", name="JSONL").click()
    assert download.value.suggested_filename == f"{session}.jsonl"
    saved = tmp_path / "saved.jsonl"
    download.value.save_as(saved)
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert lines == client.events(session, include_raw="true")


def test_every_request_is_in_the_log_and_can_be_repeated(window: Window, session: str) -> None:
    window.say("hello")
    window.turn_is_over()
    panel(window).get_by_role("tab", name="HTTP").click()
    panel(window).get_by_role("button", name=f"202 POST /v1/sessions/{session}/messages").click()
    shown = panel(window).get_by_label("Sent", exact=True)
    expect(shown).to_contain_text(
        f"curl -s \\\n  -X POST \\\n  '{window.address.removesuffix('/ui/')}/v1/sessions/{session}/messages'"
    )
    expect(shown).to_contain_text('"message":"hello"')
    expect(panel(window).get_by_label("Answer", exact=True)).to_contain_text('"turnId"')


def test_agents_and_what_they_can_do_are_listed(window: Window, session: str, client: Client) -> None:
    panel(window).get_by_role("tab", name="Agents").click()
    agents = client.get("/v1/agents").json()["agents"]
    table = panel(window).get_by_role("table", name="Capabilities")
    expect(table.get_by_role("columnheader")).to_have_text([agent["id"] for agent in agents])
    row = table.get_by_role("row").filter(has_text="plan mode")
    expect(row.get_by_role("cell")).to_have_text(
        ["yes" if agent["capabilities"]["planMode"] else "no" for agent in agents]
    )
    mock = panel(window).locator(".agentFacts").filter(has_text="mock")
    mock.get_by_role("button", name="Modes and models").click()
    expect(mock).to_contain_text("build, plan")


def test_each_agent_shows_its_coverage_with_the_reasons_of_its_gaps(window: Window, session: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "compatibility.mdx").read_text()
    lines = page.replace("`", "").replace("\n  ", " ").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    titles, _, names, versions, stability, *features = rows
    at = titles.index("Codex")
    starts = {feature[0]: f"- Codex, {feature[0]}: " for feature in features}
    reasons = {
        title: line.removeprefix(start)
        for title, start in starts.items()
        for line in lines
        if line.startswith(start)
    }
    wanted = [f"{feature[0]}: {feature[at]}{reasons.get(feature[0], '')}" for feature in features]
    yes = [feature[at] for feature in features].count("yes")

    panel(window).get_by_role("tab", name="Agents").click()
    codex = panel(window).locator(".agentFacts", has=window.page.get_by_text("codex", exact=True))
    codex.get_by_text(f"Coverage: {yes} of {len(features)} features").click()
    expect(codex.get_by_role("list", name="Coverage of codex").get_by_role("listitem")).to_have_text(wanted)
    expect(codex).to_contain_text(f"Tested with {versions[at]} · {stability[at]}")
    expect(panel(window).get_by_text("not in the coverage matrix")).to_have_text(
        [f"{agent} is not in the coverage matrix" for agent in AGENTS if agent not in names]
    )


def test_the_connection_tab_shows_the_endpoint(window: Window, session: str) -> None:
    panel(window).get_by_role("tab", name="Connection").click()
    expect(panel(window)).to_contain_text(window.address.removesuffix("/ui/"))
    expect(panel(window)).to_contain_text("live")
    panel(window).get_by_role("button", name="Disconnect").click()
    expect(window.page.get_by_role("button", name="Connect")).to_be_visible()


def test_events_have_the_time_of_this_place(window: Window, client: Client) -> None:
    session = client.create()
    inspector = window.page.context.new_cdp_session(window.page)
    inspector.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kathmandu"})
    window.enter(session)
    window.page.keyboard.press("Alt+d")
    [first, *_] = client.events(session)
    here = datetime.fromisoformat(first["time"]).astimezone(ZoneInfo("Asia/Kathmandu"))
    expect(window.page.locator(".eventTime").first).to_have_text(
        f"{here:%H:%M:%S}.{here.microsecond // 1000:03}"
    )


def test_usage_is_shown_turn_by_turn(window: Window, client: Client) -> None:
    session = client.create()
    for prompt in ("usage", "markdown"):
        client.turn(session, prompt)
    window.enter(session)
    window.page.keyboard.press("Alt+d")
    window.page.get_by_role("tab", name="Usage").click()
    usage = window.page.get_by_role("region", name="Usage")
    expect(usage.locator("tbody tr")).to_have_count(2)
    totals = client.info(session)["usage"]
    expect(usage.locator("dl")).to_contain_text(f"Input{totals['inputTokens']}Output{totals['outputTokens']}")
    expect(usage.get_by_role("img", name="Tokens of the last 2 turns")).to_be_visible()
    client.turn(session, "hello")
    expect(usage.locator("tbody tr")).to_have_count(3)


def test_the_head_of_the_panel_is_as_high_as_the_head_of_the_session(window: Window, session: str) -> None:
    bottom = "head => head.getBoundingClientRect().bottom"
    heads = window.page.locator(".sessionHead, .panel > header")
    expect(heads).to_have_count(2)
    for width in (1180, 1280, 1600):
        window.page.set_viewport_size({"width": width, "height": 720})
        assert heads.first.evaluate(bottom) == heads.last.evaluate(bottom), width


@pytest.mark.parametrize("width", [1280, 1000, 375])
def test_the_panel_never_covers_where_one_writes(window: Window, client: Client, width: int) -> None:
    session = client.create()
    client.turn(session, "markdown")
    window.page.set_viewport_size({"width": width, "height": 720})
    window.enter(session)
    window.button("Panel (Alt D)").click()
    panel = window.page.get_by_label("Panel", exact=True).first
    expect(panel).to_be_visible()
    window.message.click()
    window.message.fill("beside the panel")
    window.message.press("Enter")
    expect(window.message).to_have_value("")
    window.button("Close the panel").click()
    window.sees("You said: beside the panel")
