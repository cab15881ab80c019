"""Permissions and questions: the policy decides what it can at once, the rest waits for a client. The first answer wins."""

from __future__ import annotations

import msgspec

from ..agents.scribe import Ask, Pending
from ..errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from ..policy import (
    STATUS,
    Rules,
    Verdict,
    denial,
    is_client_tool,
    only_looks,
    out_of_plan,
    plan_answer,
    remember,
    verdict,
)
from ..policy.rules import Request
from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision
from ..schema.tools import ToolRequest
from .core import Core
from .effects import GiveAnswer, GiveDecision, LookUpAsked
from .inputs import AskedBefore, Decide, Reply

TOO_MANY = "too many requests are pending"

RequestType = type[PermissionRequested] | type[QuestionRequested] | type[ToolRequest]


def judge(core: Core) -> list[GiveDecision | GiveAnswer]:
    """Resolve new requests that the policy decides. Each request and its resolution are written together."""
    asked = {data.permission_id for _, data in core.scribe.notable if isinstance(data, PermissionRequested)}
    asked |= {data.question_id for _, data in core.scribe.notable if isinstance(data, QuestionRequested)}
    replies: list[GiveDecision | GiveAnswer] = []
    waiting = 0
    for pending in core.scribe.pending.values() if asked else ():
        judged = None
        if pending.id in asked and pending.ask is not None:
            judged = _judge(core, pending.ask)
        if judged is not None:
            replies.append(_decide(core, pending, judged))
        elif isinstance(pending.requested, ToolRequest):
            pass  # their number is limited where they arrive
        elif waiting < core.limits.pending:
            waiting += 1
        elif isinstance(pending.requested, PermissionRequested):
            replies.append(_decide(core, pending, Verdict(Decision("reject", TOO_MANY), "daemon")))
        else:
            core.scribe.answer(pending.key, None, "daemon", TOO_MANY)
            replies.append(GiveAnswer(pending.key, Answer(None, TOO_MANY)))
    return replies


def _judge(core: Core, ask: Ask) -> Verdict | None:
    record = core.record
    trusted = is_client_tool(ask, record.tools)
    if record.desktop and only_looks(ask):
        ask, trusted = msgspec.structs.replace(ask, kind="read"), True
    return verdict(_request(core, ask), record.settings, rules_of(core), record.rules, trusted=trusted)


def _decide(core: Core, pending: Pending, judged: Verdict) -> GiveDecision:
    decision = judged.decision
    core.scribe.decide(pending.key, STATUS[decision.reply], judged.by, decision.message, rule=judged.rule)
    return GiveDecision(pending.key, decision)


def rules_of(core: Core) -> Rules:
    """The rules in force now."""
    return Rules(core.world.operator_rules(), core.record.policy).at(core.world.now)


def _request(core: Core, ask: Ask) -> Request:
    return Request(core.agent.name, ask, core.record.settings.directory, core.world.resolve)


def decide(core: Core, command: Decide) -> None:
    pending = find(core, command.id, command.permission, PermissionRequested)
    if pending is None:
        return
    before, decision = core.snapshot(), command.decision
    if decision.reply != "reject" and (denied := _denied_now(core, pending)) is not None:
        core.refuse(command.id, denied)
        return
    core.scribe.decide(pending.key, STATUS[decision.reply], "client", decision.message)
    if decision.reply == "always" and pending.ask is not None:
        core.change(rules=remember(pending.ask, core.record.rules))
    number = core.propose(command.id, before)
    core.answer(command.id, after=number)
    core.instruct(GiveDecision(pending.key, decision), after=number)


def _denied_now(core: Core, pending: Pending) -> PermissionDenied | None:
    """A rule may have come into force while the request was waiting."""
    denied = None if pending.ask is None else denial(_request(core, pending.ask), rules_of(core))
    if denied is None:
        return None
    text = f"a rule denies this: {denied.decision.message}"
    return PermissionDenied(text, sessionId=core.record.session_id, id=pending.id)


def reply(core: Core, command: Reply) -> None:
    pending = find(core, command.id, command.question, QuestionRequested)
    if pending is None:
        return
    asked = pending.requested
    assert isinstance(asked, QuestionRequested)
    answer = command.answer
    questions = len(asked.metadata.questions)
    if answer.answers is not None and len(answer.answers) != questions:
        text = f"there are {questions} questions and {len(answer.answers)} answers"
        core.refuse(command.id, InvalidRequest(text, field="answers"))
        return
    before = core.snapshot()
    if asked.metadata.plan:
        answer = plan_answer(answer)
        if answer.answers is not None:
            core.change(settings=out_of_plan(core.record.settings))
    core.scribe.answer(pending.key, answer.answers, "client", answer.message)
    number = core.propose(command.id, before)
    core.answer(command.id, after=number)
    core.instruct(GiveAnswer(pending.key, answer), after=number)


def find(core: Core, command: int, id: str, kind: RequestType) -> Pending | None:
    """The pending request with this id. If there is none, ask the store whether there ever was."""
    pending = next((pending for pending in core.scribe.pending.values() if pending.id == id), None)
    if pending is None:
        core.emit(LookUpAsked(command, id))
        return None
    if isinstance(pending.requested, kind):
        return pending
    asked_before(core, AskedBefore(command, id, known=False))
    return None


def asked_before(core: Core, found: AskedBefore) -> None:
    facts = {"sessionId": core.record.session_id, "id": found.id}
    if found.known:
        core.answer(found.command, Conflict("this request was already answered", **facts))
    else:
        core.answer(found.command, NotFound("no pending request has this id", **facts))
