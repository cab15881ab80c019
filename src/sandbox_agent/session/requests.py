"""Permissions and questions: what needs nobody is decided at once, the rest waits for a client. The first answer wins."""

from __future__ import annotations

from ..agents.scribe import Pending
from ..errors import Conflict, InvalidRequest, NotFound
from ..policy import STATUS, out_of_plan, plan_answer, remember, verdict
from ..schema.events import DecidedBy, PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision
from .core import Core
from .effects import GiveAnswer, GiveDecision, LookUpAsked
from .inputs import AskedBefore, Decide, Reply

TOO_MANY = "too many requests wait for an answer"

Requested = type[PermissionRequested] | type[QuestionRequested]


def judge(core: Core) -> list[GiveDecision | GiveAnswer]:
    """Decide what was just asked and needs nobody: the request and its resolution are written together."""
    asked = {data.permission_id for _, data in core.scribe.notable if isinstance(data, PermissionRequested)}
    asked |= {data.question_id for _, data in core.scribe.notable if isinstance(data, QuestionRequested)}
    replies: list[GiveDecision | GiveAnswer] = []
    waiting = 0
    for pending in core.scribe.pending.values() if asked else ():
        judged = None
        if pending.id in asked and pending.ask is not None:
            judged = verdict(pending.ask, core.record.settings, core.record.rules, core.world.resolve)
        if judged is not None:
            replies.append(_decide(core, pending, *judged))
        elif waiting < core.limits.pending:
            waiting += 1
        elif isinstance(pending.requested, PermissionRequested):
            replies.append(_decide(core, pending, Decision("reject", TOO_MANY), "daemon"))
        else:
            core.scribe.answer(pending.key, None, "daemon", TOO_MANY)
            replies.append(GiveAnswer(pending.key, Answer(None, TOO_MANY)))
    return replies


def _decide(core: Core, pending: Pending, decision: Decision, by: DecidedBy) -> GiveDecision:
    core.scribe.decide(pending.key, STATUS[decision.reply], by, decision.message)
    return GiveDecision(pending.key, decision)


def decide(core: Core, command: Decide) -> None:
    pending = _find(core, command.id, command.permission, PermissionRequested)
    if pending is None:
        return
    before, decision = core.snapshot(), command.decision
    core.scribe.decide(pending.key, STATUS[decision.reply], "client", decision.message)
    if decision.reply == "always" and pending.ask is not None:
        core.change(rules=remember(pending.ask, core.record.rules))
    number = core.propose(command.id, before)
    core.answer(command.id, after=number)
    core.say(GiveDecision(pending.key, decision), after=number)


def reply(core: Core, command: Reply) -> None:
    pending = _find(core, command.id, command.question, QuestionRequested)
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
    core.say(GiveAnswer(pending.key, answer), after=number)


def _find(core: Core, command: int, id: str, kind: Requested) -> Pending | None:
    """What waits under this id; where nothing does, the store knows whether it ever did."""
    found = next((one for one in core.scribe.pending.values() if one.id == id), None)
    if found is None:
        core.emit(LookUpAsked(command, id))
        return None
    if isinstance(found.requested, kind):
        return found
    asked_before(core, AskedBefore(command, id, known=False))
    return None


def asked_before(core: Core, found: AskedBefore) -> None:
    facts = {"sessionId": core.record.session_id, "id": found.id}
    if found.known:
        core.answer(found.command, Conflict("this was answered before", **facts))
    else:
        core.answer(found.command, NotFound("nothing with this id waits for an answer", **facts))
