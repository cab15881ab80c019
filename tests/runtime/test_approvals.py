"""The policy table: who answers which permission."""

from __future__ import annotations

import pytest
from sandbox_agent.runtime.approvals import STATUS, Verdict, remember, verdict

from sandbox_agent.agents.scribe import Ask, AskKind
from sandbox_agent.schema.inputs import Decision, PermissionMode, Reply, Rule

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
    return Ask("bash", {"command": "git status"}, kind, needs=needs, always=always)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_the_mode_decides_what_is_asked(mode: PermissionMode, kind: AskKind) -> None:
    needed = Rule("bash", "git status")
    column = KINDS.index(kind)
    assert verdict(ask(kind, needed), mode, ()) == NOBODY[mode][column]
    assert verdict(ask(kind, needed), mode, (needed,)) == BY_RULE[mode][column]


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
    assert verdict(ask("command", Rule("bash", "git status"), Rule("bash", "ls")), "default", rules) == answer


def test_an_ask_that_names_no_needs_is_always_asked() -> None:
    assert verdict(ask("command"), "default", (Rule("bash"),)) is None


def test_a_need_without_a_text_is_covered_by_the_tool_alone() -> None:
    needed = ask("other", Rule("bash"))
    assert verdict(needed, "default", (Rule("bash", "ls"), Rule("bash", "", prefix=True))) is None
    assert verdict(needed, "default", (Rule("bash"),)) == REMEMBERED


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
    assert verdict(ask("command", needed), "default", remember(ask("command", needed), ())) == REMEMBERED


def test_every_reply_has_its_status() -> None:
    replies: tuple[Reply, ...] = ("once", "always", "reject")
    assert [STATUS[reply] for reply in replies] == ["accept", "accept_for_session", "reject"]
