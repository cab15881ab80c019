"""Permissions: converts the agent's requests to ours, and picks the agent's option for a decision.

"Always" picks the option that allows once, because the daemon remembers it. The agent might write it to the
user's settings.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from ...schema.inputs import Decision, Reply
from ...schema.items import arguments_of
from ..plain_asks import command_in, hosts_in
from ..scribe import Ask, AskKind, Rule
from .frames import Option, OurMeta, Outcome, PermissionAnswer, Remark
from .tools import Call, diff_text

KINDS: dict[str | None, AskKind] = {
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "execute": "command",
    "read": "read",
    "search": "read",
    "fetch": "read",
    "think": "read",
}

_PICKS: dict[Reply, tuple[str, ...]] = {
    "once": ("allow_once", "allow_always"),
    "always": ("allow_once", "allow_always"),
    "reject": ("reject_once", "reject_always"),
}
_REPLIES: dict[str, Reply] = {"allow_once": "once", "allow_always": "always"}

CANCELLED = PermissionAnswer(outcome=Outcome(outcome="cancelled"))


def ask_of(call: Call) -> Ask:
    kind = KINDS.get(call.kind, "other")
    paths = tuple(dict.fromkeys(call.paths()))
    return Ask(
        call.name,
        call.shown_input(),
        kind,
        call.key,
        paths or None,
        diff_text(call.asked_diffs) or None,
        needs=_rules(call, kind, paths),
        tool_kind=call.tool_kind(),
        title=call.title(),
        command=command_in(call.shown_input()),
        hosts=hosts_in(call.shown_input()),
    )


def plan_in(call: Call) -> str | None:
    """The plan, if the agent asks to leave plan mode."""
    if call.kind != "switch_mode":
        return None
    shown = call.shown_input()
    plan = shown.get("plan") if isinstance(shown, dict) else None
    return plan if isinstance(plan, str) and plan.strip() else call.text() or None


def answer_of(decision: Decision, options: Iterable[Option]) -> PermissionAnswer:
    """The option that expresses the decision. If the agent offers no option to reject, the request is
    cancelled.
    """
    offered = tuple(options)
    picked = next(
        (option.option_id for kind in _PICKS[decision.reply] for option in offered if option.kind == kind),
        None,
    )
    needs_remark = decision.reply == "always" or decision.message is not None
    meta = OurMeta(Remark(decision.reply, decision.message)) if needs_remark else UNSET
    if picked is None:
        return PermissionAnswer(outcome=CANCELLED.outcome, meta=meta)
    return PermissionAnswer(outcome=Outcome(outcome="selected", option_id=picked), meta=meta)


def decision_in(answer: PermissionAnswer, options: Iterable[Option]) -> Decision:
    """The inverse of `answer_of`."""
    kinds = {option.option_id: option.kind for option in options}
    remark = answer.meta.remark if answer.meta is not UNSET else Remark()
    reply = _REPLIES.get(kinds.get(answer.outcome.option_id or "", ""), "reject")
    return Decision(remark.reply or reply, remark.message)


def _rules(call: Call, kind: AskKind, paths: tuple[str, ...]) -> tuple[Rule, ...]:
    """Commands and files are remembered exactly, other calls with all their arguments."""
    shown = call.shown_input()
    if kind == "command" and (command := _command(shown)):
        return (Rule(call.name, command),)
    if kind == "edit" and paths:
        return tuple(Rule(call.name, posixpath.normpath(path)) for path in paths)
    return (Rule(call.name, arguments_of(shown)),)


def _command(shown: Any) -> str | None:
    command = shown.get("command") if isinstance(shown, dict) else None
    if isinstance(command, list):
        command = arguments_of(command)
    return command if isinstance(command, str) and command else None
