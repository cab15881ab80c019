"""What a session is given: chosen in the dialog that makes it, shown in the panel."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect
from tests.daemons import Client

from .test_looks import axe_findings, faults
from .window import Window


def make_skill(folder: Path) -> Path:
    (folder / "release").mkdir()
    (folder / "release" / "SKILL.md").write_text(
        "---\nname: release\ndescription: How we make a release.\n---\nTag the commit.\n"
    )
    return folder


def setup_tab(window: Window) -> Locator:
    window.page.keyboard.press("Alt+d")
    window.page.get_by_role("tab", name="Setup").click()
    return window.page.get_by_role("region", name="Setup")


def test_skills_rules_and_limits_are_chosen_with_a_new_session(
    window: Window, client: Client, tmp_path: Path
) -> None:
    window.page.keyboard.press("Alt+n")
    form = window.page.get_by_role("dialog", name="New session")
    form.get_by_role("radio", name="mock").check()
    form.get_by_text("Skills", exact=True).click()
    form.get_by_role("button", name="Add a source").click()
    form.get_by_role("textbox", name="Source", exact=True).fill(str(make_skill(tmp_path)))
    form.get_by_text("Rules", exact=True).click()
    form.get_by_role("button", name="Add a rule").click()
    form.get_by_label("Pattern of the command").fill("rm -rf")
    form.get_by_label("Reason").fill("Use the bin.")
    form.get_by_role("button", name="Add a rule").click()
    second = form.get_by_role("group", name="Rule 2")
    second.get_by_label("Effect").select_option("ask")
    second.get_by_label("Kind of tool").select_option("any")
    second.get_by_label("Pattern of the path").fill("**/.env")
    form.get_by_text("Limits", exact=True).click()
    form.get_by_label("Cost in US dollars").fill("0.5")
    form.get_by_label("Turns", exact=True).fill("-1")
    assert axe_findings(window, "dialog") == []
    form.get_by_text("Limits", exact=True).click()
    form.get_by_role("button", name="Start").click()
    expect(form.get_by_label("Turns", exact=True)).to_be_focused()
    form.get_by_label("Turns", exact=True).fill("9")
    with window.page.expect_response("**/v1/sessions") as answered:
        form.get_by_role("button", name="Start").click()
    session: str = answered.value.json()["sessionId"]
    client.sessions.append(session)
    expect(form).to_have_count(0)
    assert client.info(session)["limits"] == {"maxCostUsd": 0.5, "maxTurns": 9}
    skills = client.get(f"/v1/sessions/{session}/skills").json()["skills"]
    assert [skill["name"] for skill in skills] == ["release"]
    rules = client.get(f"/v1/sessions/{session}/policy").json()["rules"]
    assert [listed["rule"] for listed in rules] == [
        {"effect": "deny", "kind": "command", "command": "rm -rf", "reason": "Use the bin."},
        {"effect": "ask", "path": "**/.env"},
    ]


def test_the_panel_shows_what_a_session_was_given(window: Window, client: Client, tmp_path: Path) -> None:
    session = client.create(
        mcp={"files": {"command": sys.executable, "args": ["-c", ""]}},
        skills={"sources": [{"type": "local", "source": str(make_skill(tmp_path))}]},
        policy=[{"effect": "deny", "command": "rm -rf", "reason": "Use the bin."}],
        limits={"maxTurns": 3, "maxTurnSeconds": 600},
    )
    window.enter(session)
    setup = setup_tab(window)
    expect(setup.get_by_role("region", name="MCP servers")).to_contain_text("files unknown")
    skills = setup.get_by_role("region", name="Skills")
    expect(skills).to_contain_text("release How we make a release.")
    expect(skills).to_contain_text(str(tmp_path))
    rules = setup.get_by_role("region", name="Rules")
    expect(rules.get_by_role("listitem")).to_have_text(["deny command rm -rfUse the bin.of this session"])
    limits = setup.get_by_role("region", name="Limits")
    expect(limits.get_by_role("meter", name="0 of 3 turns")).to_be_visible()
    expect(limits).to_contain_text("10 min for a turn")
    assert axe_findings(window, ".panel") == []
    assert faults(window) == []
    client.patch(f"/v1/sessions/{session}", {"policy": [], "limits": {"maxTurns": 4}})
    expect(rules).to_contain_text("No rules: the permission mode decides.")
    expect(limits.get_by_role("meter", name="0 of 4 turns")).to_be_visible()


def test_the_panel_shows_what_agents_say_of_servers_and_where_things_come_from(
    window: Window, client: Client
) -> None:
    answer(
        window.page,
        mcp={
            "servers": [
                {"name": "files", "state": "connected", "tools": ["read", "write"]},
                {"name": "web", "state": "failed", "error": "connection refused"},
            ]
        },
        skills={"skills": [{"name": "pdf", "source": "owner/name", "commit": "0123456789abcdef" * 2}]},
        policy={
            "rules": [
                {
                    "list": "operator",
                    "index": 0,
                    "rule": {"effect": "ask", "kind": "fetch", "expires": "2020-01-31T12:00:00Z"},
                    "expired": True,
                }
            ]
        },
    )
    window.enter(client.create())
    setup = setup_tab(window)
    lines = setup.get_by_role("listitem")
    expect(lines).to_have_text(
        [
            "files connectedread, write",
            "web failedconnection refused",
            "pdf owner/name at 0123456789ab",
            "ask kind fetchof the operator, expired 2020-01-31T12:00:00Z",
        ]
    )
    assert faults(window) == []
    window.page.unroute_all(behavior="wait")


def answer(page: Page, **answers: object) -> None:
    """Let the daemon say this of every session, as a real agent would make it."""
    for name, answer in answers.items():
        page.route(f"**/v1/sessions/*/{name}", partial(fulfill, answer))


def fulfill(answer: object, route: Route) -> None:
    route.fulfill(json=answer)
