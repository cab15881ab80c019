"""The policy table: who answers which permission."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox_agent.agents.scribe import Ask, AskKind
from sandbox_agent.policy import (
    STATUS,
    Rules,
    Verdict,
    is_client_tool,
    only_looks,
    out_of_plan,
    plan_answer,
    remember,
    verdict,
)
from sandbox_agent.policy.rules import Request
from sandbox_agent.schema.inputs import Answer, Decision, PermissionMode, Reply, Rule, Settings
from sandbox_agent.schema.tools import Tool

ALLOWED = Verdict(Decision("once"), "daemon")
REMEMBERED = Verdict(Decision("once"), "rule")
REFUSED = Verdict(Decision("reject", "plan mode is read-only"), "daemon")

MODES: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan", "bypass")
KINDS: tuple[AskKind, ...] = ("edit", "command", "read", "other")

#          edit      command  read     other
NOBODY = {
    "default": (None, None, None, None),
    "acceptEdits": (ALLOWED, None, None, None),
    "plan": (REFUSED, REFUSED, None, REFUSED),
    "bypass": (ALLOWED, ALLOWED, ALLOWED, ALLOWED),
}
BY_RULE = {
    "default": (REMEMBERED, REMEMBERED, REMEMBERED, REMEMBERED),
    "acceptEdits": (ALLOWED, REMEMBERED, REMEMBERED, REMEMBERED),
    "plan": (REFUSED, REFUSED, REMEMBERED, REFUSED),
    "bypass": (ALLOWED, ALLOWED, ALLOWED, ALLOWED),
}


def ask(kind: AskKind = "command", *needs: Rule, always: tuple[Rule, ...] = ()) -> Ask:
    return Ask("bash", {"command": "git status"}, kind, paths=("main.py",), needs=needs, always=always)


def decided(asked: Ask, mode: PermissionMode, rules: tuple[Rule, ...] = ()) -> Verdict | None:
    request = Request("mock", asked, "/work", os.path.normpath)
    return verdict(request, Settings("/work", permission_mode=mode), Rules(), rules)


# -- modes and rules --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_the_mode_decides_what_is_asked(mode: PermissionMode, kind: AskKind) -> None:
    needed = Rule("bash", "git status")
    column = KINDS.index(kind)
    assert decided(ask(kind, needed), mode) == NOBODY[mode][column]
    assert decided(ask(kind, needed), mode, (needed,)) == BY_RULE[mode][column]


@pytest.mark.parametrize(
    "rules, answer",
    [
        ((), None),
        ((Rule("bash"),), REMEMBERED),
        ((Rule("edit"),), None),
        ((Rule("bash", "git status"), Rule("bash", "ls")), REMEMBERED),
        ((Rule("bash", "git status"),), None),
        ((Rule("bash", "git ", prefix=True), Rule("bash", "ls")), REMEMBERED),
        ((Rule("bash", "git "), Rule("bash", "ls")), None),
    ],
)
def test_every_need_must_be_covered_by_a_rule(rules: tuple[Rule, ...], answer: Verdict | None) -> None:
    assert decided(ask("command", Rule("bash", "git status"), Rule("bash", "ls")), "default", rules) == answer


def test_an_ask_that_names_no_needs_is_always_asked() -> None:
    assert decided(ask("command"), "default", (Rule("bash"),)) is None


def test_a_need_without_a_text_is_covered_by_the_tool_alone() -> None:
    needed = ask("other", Rule("bash"))
    assert decided(needed, "default", (Rule("bash", "ls"), Rule("bash", "", prefix=True))) is None
    assert decided(needed, "default", (Rule("bash"),)) == REMEMBERED


def test_always_remembers_what_the_agent_offers_else_what_it_needs_else_the_tool() -> None:
    offered, needed = Rule("bash", "git ", prefix=True), Rule("bash", "git status")
    assert remember(ask("command", needed, always=(offered,)), ()) == (offered,)
    assert remember(ask("command", needed), ()) == (needed,)
    assert remember(ask("command"), ()) == (Rule("bash"),)


def test_a_rule_is_remembered_once_after_those_before_it() -> None:
    old, needed = Rule("edit"), Rule("bash", "ls")
    once = remember(ask("command", needed), (old,))
    assert once == (old, needed)
    assert remember(ask("command", needed), once) == once


def test_what_always_remembered_is_not_asked_again() -> None:
    needed = Rule("bash", "git status")
    assert decided(ask("command", needed), "default", remember(ask("command", needed), ())) == REMEMBERED


def test_every_reply_has_its_status() -> None:
    replies: tuple[Reply, ...] = ("once", "always", "reject")
    assert [STATUS[reply] for reply in replies] == ["accept", "accept_for_session", "reject"]


# -- edits that need no answer -------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with files in it and files beside it."""
    workspace = tmp_path / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "ws-too").mkdir()
    return workspace


def edited(workspace: Path, *paths: str, rules: tuple[Rule, ...] = ()) -> Verdict | None:
    """The verdict about an edit of these files in this folder, on the real file system."""
    asked = Ask("write", {}, "edit", paths=paths, needs=(Rule("write"),))
    request = Request("mock", asked, str(workspace), os.path.realpath)
    return verdict(request, Settings(str(workspace), permission_mode="acceptEdits"), Rules(), rules)


@pytest.mark.parametrize(
    "path",
    [
        "new.py",
        "src/main.py",
        "./src/../README.md",
        "a/folder/that/is/not/there/yet.py",
        "gitignore",
        ".gitignore",
    ],
)
def test_files_inside_the_directory_may_be_edited(workspace: Path, path: str) -> None:
    assert edited(workspace, path) == ALLOWED
    assert edited(workspace, str(workspace / path)) == ALLOWED


@pytest.mark.parametrize(
    "path", ["../outside/x", "src/../../outside/x", "../ws-too/x", "..", ".", "/etc/passwd", "", "a\0b"]
)
def test_files_outside_the_directory_are_asked_about(workspace: Path, path: str) -> None:
    assert edited(workspace, path) is None
    assert edited(workspace, "src/main.py", path) is None


def test_a_file_outside_that_is_named_by_an_absolute_path_is_asked_about(workspace: Path) -> None:
    assert edited(workspace, str(workspace.parent / "outside" / "x")) is None
    assert edited(workspace, str(workspace.parent / "ws-too" / "x")) is None
    assert edited(workspace, str(workspace)) is None


def test_an_edit_that_names_no_file_is_asked_about(workspace: Path) -> None:
    assert edited(workspace) is None
    request = Request("mock", Ask("patch", {}, "edit"), str(workspace), os.path.realpath)
    settings = Settings(str(workspace), permission_mode="acceptEdits")
    assert verdict(request, settings, Rules(), ()) is None


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        "vendored/.git/config",
        ".GIT/hooks/pre-commit",
        ".gitmodules",
        ".claude/settings.json",
        ".Claude/settings.json",
        ".mcp.json",
        ".codex/config.toml",
        "opencode.json",
        "packages/one/OpenCode.json",
        ".vscode/tasks.json",
        "AGENTS.md",
        "docs/claude.md",
        ".envrc",
    ],
)
def test_files_that_tell_agents_editors_or_git_what_to_do_are_asked_about(workspace: Path, path: str) -> None:
    assert edited(workspace, path) is None
    assert edited(workspace, str(workspace / path)) is None


def test_a_link_is_followed_to_where_it_leads(workspace: Path) -> None:
    (workspace / "away").symlink_to(workspace.parent / "outside")
    (workspace / "hook").symlink_to(workspace / ".git" / "hooks" / "pre-commit")
    (workspace / "inside").symlink_to(workspace / "src")
    (workspace / "twice").symlink_to(workspace / "away")
    assert edited(workspace, "away/x") is None
    assert edited(workspace, "twice/x") is None
    assert edited(workspace, "hook") is None
    assert edited(workspace, "inside/x") == ALLOWED


def test_a_link_that_configures_is_asked_about_wherever_it_leads(workspace: Path) -> None:
    (workspace / "CLAUDE.md").symlink_to(workspace / "src" / "plain.md")
    assert edited(workspace, "CLAUDE.md") is None


def test_dots_behind_a_link_lead_where_the_file_system_says(workspace: Path) -> None:
    """`link/..` is the parent of where the link leads, whatever the text of the path looks like."""
    (workspace.parent / "outside" / "deep").mkdir()
    (workspace / "link").symlink_to(workspace.parent / "outside" / "deep")
    assert edited(workspace, "link/../x") is None


def test_a_directory_that_is_a_link_itself_holds_what_it_leads_to(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert edited(link, "src/main.py") == ALLOWED
    assert edited(link, str(workspace / "src" / "main.py")) == ALLOWED
    assert edited(link, str(link / "src" / "main.py")) == ALLOWED
    assert edited(link, str(link / ".git" / "config")) is None
    assert edited(link, str(link / ".." / "outside" / "x")) is None
    assert edited(link, "../outside/x") is None


def test_a_directory_inside_a_configuring_folder_may_be_edited(tmp_path: Path) -> None:
    """It is what the session was created for; only names below it count."""
    workspace = tmp_path / ".claude" / "ws"
    workspace.mkdir(parents=True)
    assert edited(workspace, "x.py") == ALLOWED
    assert edited(workspace, ".claude/x") is None


def test_the_root_as_the_directory_holds_everything_but_what_configures(workspace: Path) -> None:
    assert edited(Path("/"), "etc/motd") == ALLOWED
    assert edited(Path("/"), "home/me/.claude/settings.json") is None


def test_a_rule_covers_an_edit_that_the_mode_does_not(workspace: Path) -> None:
    assert edited(workspace, "../outside/x", rules=(Rule("write"),)) == REMEMBERED


# -- plans ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, meant",
    [
        (Answer((("approve",),)), Answer((("approve",),))),
        (Answer((("reject",),)), Answer(None)),
        (Answer((("Reject ",),)), Answer(None)),
        (Answer((("use Postgres instead",),)), Answer(None, "use Postgres instead")),
        (Answer((("approve", "but smaller"),)), Answer(None, "approve, but smaller")),
        (Answer(((),)), Answer(None)),
        (Answer((("reject",),), "too long"), Answer(None, "too long")),
        (Answer(None), Answer(None)),
    ],
    ids=repr,
)
def test_approve_approves_a_plan_and_all_else_is_a_rejection_with_its_text(
    given: Answer, meant: Answer
) -> None:
    assert plan_answer(given) == meant


def test_an_approved_plan_leads_out_of_plan_mode() -> None:
    planning = Settings("/work", agent_mode="plan", permission_mode="plan", model="m")
    assert out_of_plan(planning) == Settings("/work", model="m")
    building = Settings("/work", agent_mode="review", permission_mode="acceptEdits")
    assert out_of_plan(building) == building


# -- tools of the client ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "is_theirs"),
    [
        (Ask("mcp__client_tools__add", {}, tool_kind="mcp"), True),
        (Ask("elicitation", {}, tool_kind="mcp", title="client_tools/add"), True),
        (Ask("client_tools_add", {}), True),
        (Ask("mcp__other__add", {}, tool_kind="mcp", title="other/add"), False),
        # A program and a file of that name, and what a model calls its errand.
        (Ask("Bash", {}, "command", title="client_tools/add", command="client_tools/add"), False),
        (Ask("client_tools/add", {}, "command", command="client_tools/add"), False),
        (Ask("Write", {}, "edit", title="client_tools/add", paths=("client_tools/add",)), False),
        (Ask("Task", {}, tool_kind="task", title="client_tools/add"), False),
        (Ask("Unknown", {}, title="client_tools/add"), False),
    ],
)
def test_only_a_tool_of_the_client_is_trusted_by_its_name(asked: Ask, is_theirs: bool) -> None:
    assert is_client_tool(asked, (Tool("add"),)) is is_theirs


@pytest.mark.parametrize(
    ("asked", "looks"),
    [
        (Ask("mcp__desktop__screenshot", {}, tool_kind="mcp"), True),
        (Ask("elicitation", {}, tool_kind="mcp", title="desktop/windows"), True),
        (Ask("desktop_wait", {}), True),
        (Ask("mcp__desktop__click", {}, tool_kind="mcp", title="desktop/click"), False),
        (Ask("mcp__other__screenshot", {}, tool_kind="mcp", title="other/screenshot"), False),
        (Ask("Bash", {}, "command", title="desktop/screenshot", command="desktop/screenshot"), False),
    ],
)
def test_only_tools_that_look_at_the_desktop_are_free(asked: Ask, looks: bool) -> None:
    assert only_looks(asked) is looks
