"""Limits of a session in its head, and what all sessions have spent."""

from __future__ import annotations

from playwright.sync_api import Route, expect
from tests.daemons import Client

from .test_looks import axe_findings
from .window import Window


def test_the_head_says_how_much_of_a_limit_is_used_and_the_limit_can_be_raised(
    window: Window, client: Client
) -> None:
    session = client.create(limits={"maxTurns": 2})
    client.turn(session, "hi")
    window.enter(session)
    head = window.page.locator(".sessionHead")
    expect(head.get_by_role("meter", name="1 of 2 turns")).to_be_visible()
    client.turn(session, "hi")
    expect(head.get_by_role("meter", name="2 of 2 turns")).to_be_visible()
    expect(head).to_contain_text("limit reached")
    head.get_by_role("button", name="Session menu").click()
    window.page.get_by_role("menuitem", name="Limits").click()
    form = window.page.get_by_role("dialog", name="Limits")
    expect(form).to_be_visible()
    assert axe_findings(window, "dialog") == []
    form.get_by_label("Turns", exact=True).fill("9")
    form.get_by_label("Cost in US dollars").fill("0.5")
    form.get_by_role("button", name="Save").click()
    expect(head.get_by_role("meter", name="2 of 9 turns")).to_be_visible()
    expect(head).not_to_contain_text("limit reached")
    assert client.info(session)["limits"] == {"maxTurns": 9, "maxCostUsd": 0.5}


def test_a_message_beyond_a_limit_is_refused_until_the_limit_is_raised(
    window: Window, client: Client
) -> None:
    session = client.create(limits={"maxTurns": 1})
    client.turn(session, "hi")
    window.enter(session)
    window.message.fill("more")
    window.message.press("Enter")
    refused = window.page.get_by_role("alert")
    expect(refused).to_contain_text("has used 1 of 1 turns")
    # A new conversation would be refused too.
    expect(refused.get_by_role("button")).to_have_count(0)
    client.patch(f"/v1/sessions/{session}", {"limits": {"maxTurns": None}})
    expect(refused).to_have_count(0)
    expect(window.message).to_have_value("more")


def test_the_usage_page_sums_up_all_sessions(window: Window, client: Client) -> None:
    for model in ("small", "large"):
        client.turn(client.create(model=model), "spend 2 5 late")
    window.open()
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("menuitem", name="Usage").click()
    page = window.page.get_by_role("dialog", name="Usage")
    expect(page.get_by_role("img", name="Cost by day")).to_be_visible()
    page.get_by_role("combobox").first.select_option("model")
    table = page.get_by_role("region", name="Usage by model")
    for model in ("small", "large"):
        expect(table.get_by_role("row").filter(has_text=model)).to_contain_text("$0.10")
    # Its styles come with it, whether the panel was ever open or not.
    expect(table.get_by_role("cell").last).to_have_css("text-align", "right")
    page.get_by_role("combobox").first.select_option("session")
    named = page.get_by_role("region", name="Usage by session").get_by_role(
        "rowheader", name="spend 2 5 late"
    )
    expect(named.first).to_be_visible()
    assert axe_findings(window, "dialog") == []


def test_the_plot_keeps_the_distance_between_days(window: Window, client: Client) -> None:
    client.turn(client.create(), "spend 2 5 late")

    def with_an_earlier_day(route: Route) -> None:
        report = route.fetch().json()
        route.fulfill(
            json={
                **report,
                "rows": [
                    {**report["rows"][0], "key": "2026-02-27"},
                    {**report["rows"][0], "key": "2026-03-02"},
                ],
            }
        )

    window.page.route("**/v1/usage?*", with_an_earlier_day)
    window.open()
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("menuitem", name="Usage").click()
    page = window.page.get_by_role("dialog", name="Usage")
    plot = page.locator(".usagePlot")
    expect(plot).to_contain_text("Cost from 2026-02-27 to 2026-03-02")
    heights = [float(bar.get_attribute("height") or "") for bar in plot.locator("rect").all()]
    assert [height > 0 for height in heights] == [True, False, False, True]
    # The table lists only days with turns.
    expect(page.get_by_role("region", name="Usage by day").get_by_role("row")).to_have_count(4)
    assert axe_findings(window, "dialog") == []
    window.page.unroute_all(behavior="wait")
