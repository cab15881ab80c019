"""Permissions and questions: the policy decides what it can at once, the rest waits for a client. The first answer wins."""

from __future__ import annotations

from ..agents.scribe import Pending
from ..errors import Conflict, InvalidRequest, NotFound
from ..policy import STATUS, Verdict, is_client_tool, out_of_plan, plan_answer, remember, verdict
from ..schema.events import DecidedBy, PermissionRequested, QuestionRequested
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
            judged = verdict(pending.ask, core.record.settings, core.record.rules, core.world.resolve)
            if judged is None and is_client_tool(pending.ask, core.record.tools):
                judged = Verdict(Decision("once"), "daemon")
        if judged is not None:
            replies.append(_decide(core, pending, *judged))
        elif isinstance(pending.requested, ToolRequest):
            pass  # their number is limited where they arrive
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
    pending = find(core, command.id, command.permission, PermissionRequested)
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
    core.say(GiveAnswer(pending.key, answer), after=number)


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
