"""Rules: which one decides, and that no way of writing a command gets around them."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.evasions import EVASIONS, RULES

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.plain_asks import plain_ask
from sandbox_agent.agents.scribe import Ask
from sandbox_agent.policy import Rules, Verdict, settings_for_agent, verdict
from sandbox_agent.policy.judging import judge
from sandbox_agent.policy.rules import Judged, Request
from sandbox_agent.policy.shell import read
from sandbox_agent.schema.inputs import Decision, PermissionMode, Rule, Settings
from sandbox_agent.schema.items import ToolKind
from sandbox_agent.schema.policy import Effect, PolicyRule, RuleReference

DENY_RM = PolicyRule("deny", command="rm -rf", reason="Never.")
ASK_GIT = PolicyRule("ask", command="git")
ALLOW_GIT = PolicyRule("allow", command="git *")


def running(command: str | None, agent: str = "claude") -> Request:
    return Request(agent, Ask("Bash", {}, "command", command=command), "/ws", posixpath.normpath)


def using(kind: ToolKind, subject: str | None, directory: str = "/ws") -> Request:
    ask = plain_ask("Tool", kind, {"path": subject, "url": subject} if subject else {})
    return Request("claude", ask, directory, os.path.realpath)


def effect(rules: Rules, request: Request) -> Effect | None:
    return judge(rules, request).effect


def answered(
    command: str, mode: PermissionMode, *rules: PolicyRule, remembered: tuple[Rule, ...] = ()
) -> str:
    request = running(command)
    decided = verdict(request, Settings("/ws", permission_mode=mode), Rules(rules), remembered)
    return "ask" if decided is None else decided.decision.reply


# -- commands ---------------------------------------------------------------------------------


def test_no_way_of_writing_a_command_gets_around_the_rules() -> None:
    rules = Rules(RULES)
    assert {command: effect(rules, running(command)) for command in EVASIONS} == EVASIONS
    assert len(EVASIONS) >= 60


def test_a_denied_command_is_denied_or_asked_when_any_list_would_allow_it() -> None:
    """With `allow *` behind the `deny`, whatever might be `rm -rf` is still not allowed."""
    rules = Rules((DENY_RM, PolicyRule("allow", command="*")))
    judged = {command: effect(rules, running(command)) for command in EVASIONS}
    stopped = {command for command, answer in EVASIONS.items() if answer in ("deny", "ask")}
    assert {command for command in stopped if judged[command] == "allow"} == set()


PIECES = st.sampled_from(
    "git|echo|sudo|env X=1|nice|xargs|bash -c|sh -c|eval|find . -exec|timeout 5|command|--|-c|-m|log|commit|&&|;|\n|(|)|{|}|'|"
    '"|`|$(|<(|>|x|$X|*|~|\\|if|then|do|!|<<END|END|python3 -c|ssh host|commit -m'.split("|")
)


@settings(max_examples=300, deadline=None)
@given(
    before=st.lists(PIECES | st.text("abrmf-/=\"' ", max_size=6), max_size=6),
    after=st.lists(PIECES, max_size=6),
)
def test_a_denied_command_is_never_allowed_by_adding_words_around_it(
    before: list[str], after: list[str]
) -> None:
    rules = Rules((DENY_RM, ALLOW_GIT, PolicyRule("allow", kind="command")))
    command = " ".join([*before, "rm -rf x", *after])
    assert effect(rules, running(command)) != "allow"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_can_be_read_as_a_command(text: str) -> None:
    assert all(command.words or command.writes or command.unclear for command in read(text))


@pytest.mark.parametrize(
    "text",
    ["$(" * 5_000, "(" * 5_000, "`" * 5_000, '"$(' * 5_000, "a" * 70_000, "a;" * 5_000, "rm " * 20_000 + "|"],
)
def test_a_command_that_is_too_deep_or_too_long_is_unclear(text: str) -> None:
    assert any(command.unclear for command in read(text))


@pytest.mark.parametrize(
    "pattern, command, expected",
    [
        ("git push", "git -C /there push origin", "deny"),
        ("git push", "git --no-pager push", "deny"),
        ("git push", "git commit -m push", None),
        ("git push --force", "git push -f", "deny"),
        ("git push --force", "git push origin main --force", "deny"),
        ("git push --force", "git push origin main", None),
        ("docker run", "docker --context x run image", "ask"),
        ("docker run", "docker ps", None),
        ("find -delete", "find . -name x -delete", "deny"),
        ("find -delete", "find . -type d -depth -ls", None),
        ("curl", "curl -s example.com", "deny"),
        ("curl", "apt-get install curl", "ask"),
        ("npm publish", "npm run publish", None),
        ("chmod -R *", "chmod --recursive a+x .", "deny"),
        ("*", "anything $at `all`", "deny"),
        ("cat .env", "cat .e*", "ask"),
        ("cat .env", "cat src/*", "ask"),
    ],
)
def test_a_deny_matches_the_beginning_in_any_order(
    pattern: str, command: str, expected: Effect | None
) -> None:
    assert effect(Rules((PolicyRule("deny", command=pattern),)), running(command)) == expected


@pytest.mark.parametrize(
    "pattern, command, expected",
    [
        ("npm test", "npm test", "allow"),
        ("npm test", "npm test -- --watch", None),
        ("npm *", "npm", "allow"),
        ("npm run *", "npm run build", "allow"),
        ("npm run build-*", "npm run build-all", "allow"),
        ("*", "ls -la | sort", "allow"),
        ("*", "$X", None),
        ("ls *", "ls; date", None),
        ("echo *", "echo hello > note.txt", None),
    ],
)
def test_an_allow_matches_the_whole_command(pattern: str, command: str, expected: Effect | None) -> None:
    assert effect(Rules((PolicyRule("allow", command=pattern),)), running(command)) == expected


def test_a_command_that_the_agent_does_not_report_is_asked_where_commands_are_denied() -> None:
    assert effect(Rules((DENY_RM,)), running(None)) == "ask"
    assert effect(Rules((ALLOW_GIT,)), running(None)) is None


def test_a_file_that_a_command_writes_is_judged_as_an_edit() -> None:
    rules = Rules(
        (PolicyRule("deny", path="/etc"), PolicyRule("allow", kind="edit", path="out/**"), ALLOW_GIT)
    )
    assert effect(rules, running("git log > /etc/motd")) == "deny"
    assert effect(rules, running("git log > out/log.txt")) == "allow"
    assert effect(rules, running("git log > $X")) == "ask"


def test_a_command_is_judged_whatever_the_agent_calls_its_tool() -> None:
    ask = Ask("terminal", {}, "other", command="rm -rf x", tool_kind="other")
    assert effect(Rules((DENY_RM,)), Request("acp", ask, "/ws", posixpath.normpath)) == "deny"


def test_a_tool_of_which_nothing_is_known_may_touch_any_file_and_host() -> None:
    request = Request("codex", Ask("request_permissions", {}), "/ws", posixpath.normpath)
    assert effect(Rules((PolicyRule("deny", path="/etc"),)), request) == "ask"
    assert effect(Rules((PolicyRule("deny", host="*.example.com"),)), request) == "ask"
    assert effect(Rules((PolicyRule("allow", path="/etc"),)), request) is None
    assert effect(Rules((PolicyRule("deny", kind="edit", path="/etc"),)), request) is None


def test_a_name_that_no_file_can_have_is_asked_about() -> None:
    assert effect(Rules((PolicyRule("deny", path="/etc"),)), using("edit", "a\0b")) == "ask"


def test_a_file_is_judged_where_the_shell_writes_it() -> None:
    rules = Rules((PolicyRule("deny", path="~/.bashrc"), PolicyRule("deny", path="/etc")))
    assert effect(rules, running("echo x > ~/.bashrc")) == "deny"
    assert effect(rules, running("echo x > '~/.bashrc'")) == "ask"
    assert effect(rules, running("echo x > ~root/.bashrc")) == "ask"
    assert effect(rules, running("cd /etc && echo x > passwd")) == "deny"
    assert effect(rules, running("command cd /; sh -c 'echo x > etc/passwd'")) == "deny"
    assert effect(rules, running("cd && echo x > .bashrc")) == "ask"
    assert effect(rules, running("cd /missing; cd sub; echo x > ../../etc/passwd")) == "deny"
    assert effect(rules, running("cd sub && echo x > out")) is None


# -- lists ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator, session, expected",
    [
        ((), (), Judged()),
        ((), (ALLOW_GIT,), Judged("allow", RuleReference("session", 0))),
        ((ALLOW_GIT,), (), Judged("allow", RuleReference("operator", 0))),
        ((ALLOW_GIT,), (ASK_GIT,), Judged("ask", RuleReference("session", 0))),
        ((ASK_GIT,), (ALLOW_GIT,), Judged("ask", RuleReference("operator", 0))),
        ((ASK_GIT, ALLOW_GIT), (), Judged("ask", RuleReference("operator", 0))),
        ((ALLOW_GIT, ASK_GIT), (), Judged("allow", RuleReference("operator", 0))),
        ((DENY_RM,), (ALLOW_GIT,), Judged("allow", RuleReference("session", 0))),
    ],
)
def test_a_session_can_only_tighten_the_operators_rules(
    operator: tuple[PolicyRule, ...], session: tuple[PolicyRule, ...], expected: Judged
) -> None:
    assert judge(Rules(operator, session), running("git status")) == expected


def test_the_strictest_answer_to_any_part_counts() -> None:
    rules = Rules((DENY_RM,), (ALLOW_GIT, PolicyRule("ask", command="ls")))
    assert effect(rules, running("git status; git log")) == "allow"
    assert effect(rules, running("git status; date")) is None
    assert effect(rules, running("git status; date; ls")) == "ask"
    assert judge(rules, running("git status; ls; rm -rf x")) == Judged(
        "deny", RuleReference("operator", 0, "Never.")
    )


def test_a_rule_applies_to_its_agent_tool_and_kind_alone() -> None:
    for rule in (
        PolicyRule("deny", agent="codex"),
        PolicyRule("deny", tool="Write*"),
        PolicyRule("deny", kind="edit"),
    ):
        assert effect(Rules((rule,)), running("ls")) is None
    assert (
        effect(Rules((PolicyRule("deny", agent="cla*", tool="B?sh", kind="command"),)), running("ls"))
        == "deny"
    )


def test_an_expired_rule_no_longer_counts_and_the_others_keep_their_place() -> None:
    expiring = PolicyRule("deny", expires="2030-01-01T00:00:00+01:00")
    rules = Rules((expiring, ASK_GIT))
    before = rules.at(lambda: "2029-12-31T22:59:59.999Z")
    after = rules.at(lambda: "2029-12-31T23:00:00.000Z")
    assert judge(before, running("git log")).effect == "deny"
    assert judge(after, running("git log")).rule == RuleReference("operator", 1)
    assert [Rules((expiring,)).at(lambda: "2030-01-01T00:00:00Z").restrict("pi"), before.restrict("pi")] == [
        False,
        True,
    ]


# -- files and hosts --------------------------------------------------------------------------


def test_a_path_is_matched_after_links_are_resolved(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / "src").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (workspace / "away").symlink_to(tmp_path / "secret")
    (workspace / "src" / ".env").symlink_to(workspace / "src" / "plain")

    def judged(rule: PolicyRule, path: str) -> Effect | None:
        return effect(Rules((rule,)), using("edit", path, str(workspace)))

    inside = PolicyRule("allow", path="**")
    assert judged(PolicyRule("allow", path="src/**"), "src/a/b.py") == "allow"
    assert judged(PolicyRule("allow", path="src"), "src/a/b.py") == "allow"
    assert judged(PolicyRule("allow", path="src/*.py"), "src/a.py") == "allow"
    assert judged(PolicyRule("allow", path="src/**"), "src/../b.py") is None
    assert judged(PolicyRule("allow", path="./**/*"), "away/key") is None
    assert judged(PolicyRule("deny", path=str(tmp_path / "secret")), "away/key") == "deny"
    assert judged(PolicyRule("deny", path="**/.env"), "src/.env") == "deny"
    assert judged(PolicyRule("deny", path="**/.env"), "src/.ENV") == "deny"
    assert judged(PolicyRule("deny", path="src/.env"), str(workspace / "src" / ".env")) == "deny"
    assert effect(Rules((PolicyRule("deny", path="**/.env"),)), using("edit", None)) == "ask"
    assert effect(Rules((inside,)), using("edit", None)) is None


@pytest.mark.parametrize(
    "rule, request_, expected",
    [
        (PolicyRule("allow", host="*.example.com"), using("fetch", "https://docs.example.com/x"), "allow"),
        (PolicyRule("allow", host="*.example.com"), using("fetch", "https://example.org/"), None),
        (PolicyRule("deny", host="evil.test"), using("fetch", "https://user@EVIL.test.:8080/"), "deny"),
        (PolicyRule("deny", host="evil.test"), using("fetch", None), "ask"),
        (PolicyRule("deny", host="evil.test"), running("curl https://evil.test/x"), "deny"),
        (PolicyRule("deny", host="evil.test"), running("git clone git@evil.test:x"), "deny"),
        (PolicyRule("deny", host="evil.test"), running("curl evil.test/x"), "ask"),
        (PolicyRule("deny", host="evil.test"), running("curl https://example.com/x"), None),
        (PolicyRule("allow", host="*"), running("curl https://example.com/x"), None),
    ],
)
def test_a_host_is_matched_where_it_is_certain(
    rule: PolicyRule, request_: Request, expected: Effect | None
) -> None:
    assert effect(Rules((rule,)), request_) == expected


# -- modes ------------------------------------------------------------------------------------


def test_a_deny_wins_over_bypass_and_over_an_earlier_always() -> None:
    request = running("rm -rf x")
    for mode in ("default", "acceptEdits", "plan", "bypass"):
        decided = verdict(request, Settings("/ws", permission_mode=mode), Rules((DENY_RM,)), (Rule("Bash"),))
        assert decided == Verdict(
            Decision("reject", "Never."), "rule", RuleReference("operator", 0, "Never.")
        )


def test_an_ask_is_asked_in_bypass_and_after_an_always() -> None:
    assert answered("git log", "bypass", ASK_GIT) == "ask"
    assert answered("git log", "default", ASK_GIT, remembered=(Rule("Bash"),)) == "ask"


def test_an_allow_never_lifts_plan() -> None:
    assert answered("git log", "plan", ALLOW_GIT) == "reject"
    assert answered("git log", "default", ALLOW_GIT) == "once"


def test_a_tool_that_needs_nobody_is_still_bound_by_rules() -> None:
    request = Request("claude", Ask("mcp__client__add", {}, tool_kind="mcp"), "/ws", posixpath.normpath)

    def decided(*rules: PolicyRule) -> Verdict | None:
        return verdict(request, Settings("/ws"), Rules(rules), (), trusted=True)

    assert decided() == Verdict(Decision("once"), "daemon")
    assert decided(PolicyRule("ask", kind="mcp")) is None
    denied = decided(PolicyRule("deny", tool="mcp__*"))
    assert denied is not None
    assert denied.decision.reply == "reject"


def test_what_is_not_understood_is_asked_in_bypass_only_where_commands_are_denied() -> None:
    assert answered("$X", "bypass", DENY_RM) == "ask"
    assert answered("$X", "bypass", PolicyRule("deny", kind="edit")) == "once"
    assert answered("$X", "bypass", ALLOW_GIT) == "once"
    assert answered("ls", "bypass", DENY_RM) == "once"


def test_an_agent_with_a_deny_rule_does_not_start_in_bypass() -> None:
    bypass, default = Settings("/ws", permission_mode="bypass"), Settings("/ws")
    assert settings_for_agent(bypass, Rules((DENY_RM,)), "claude") == default
    assert settings_for_agent(bypass, Rules((ALLOW_GIT,)), "claude") == bypass
    assert settings_for_agent(bypass, Rules((PolicyRule("deny", agent="pi"),)), "claude") == bypass
    plan = Settings("/ws", permission_mode="plan")
    assert settings_for_agent(plan, Rules((DENY_RM,)), "claude") == plan


# -- adapters ---------------------------------------------------------------------------------

SHELLS = {
    "amp": "Bash",
    "claude": "Bash",
    "codex": "exec_command",
    "mock": "bash",
    "opencode": "bash",
    "pi": "bash",
}
EDITS = {"amp": "create_file", "claude": "Write", "mock": "write", "opencode": "write", "pi": "write"}


def test_every_adapter_says_what_its_tools_run_and_change() -> None:
    commands = {name: AGENTS[name].ask_about(tool, {"command": "ls"}) for name, tool in SHELLS.items()}
    assert {
        name: (ask.tool_kind or ask.kind, ask.command) for name, ask in commands.items()
    } == dict.fromkeys(AGENTS, ("command", "ls"))
    edits = {name: AGENTS[name].ask_about(tool, {"path": "a.py"}) for name, tool in EDITS.items()}
    assert {name: (ask.kind, ask.paths) for name, ask in edits.items()} == dict.fromkeys(
        EDITS, ("edit", ("a.py",))
    )
    patch = AGENTS["codex"].ask_about("apply_patch", {"changes": [{"path": "a.py"}]})
    assert (patch.kind, patch.paths) == ("edit", ("a.py",))


def test_two_commands_in_one_call_are_not_taken_for_one() -> None:
    ask = AGENTS["amp"].ask_about("shell_command", {"cmd": "git status", "command": "rm -rf x"})
    assert ask.command is None
