"""Permissions and questions as the protocol's requests, and the client's answers as ours.

A question is a form where the client shows forms. Elsewhere each of its options is an option of a permission request, and
several questions are asked one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from ...schema.events import AskedQuestion, PermissionRequested, QuestionRequested
from ...schema.inputs import Reply
from .frames import (
    Choice,
    Choices,
    Elicit,
    Form,
    FormAnswer,
    Location,
    PermissionAnswer,
    PermissionOption,
    Property,
    RequestPermission,
    Shown,
    TextContent,
    ToolCallFields,
)
from .tool_calls import diffs_of, kind_of, text_content

Answers = Sequence[Sequence[str]]

ALLOW, ALWAYS, REJECT = "once", "always", "reject"
REPLIES: dict[str, Reply] = {ALLOW: "once", ALWAYS: "always", REJECT: "reject"}
PERMISSION_OPTIONS = (
    PermissionOption(option_id=ALLOW, name="Allow", kind="allow_once"),
    PermissionOption(option_id=ALWAYS, name="Always allow in this session", kind="allow_always"),
    PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
)
PLAN_OPTIONS = (
    PermissionOption(option_id=ALLOW, name="Approve the plan", kind="allow_once"),
    PermissionOption(option_id=REJECT, name="Keep planning", kind="reject_once"),
)
OWN_WORDS = "_custom"


class Decided(Struct, frozen=True):
    reply: Reply
    message: str | None = None


# -- permissions ----------------------------------------------------------------------------------


def permission_request(session_id: str, asked: PermissionRequested, call_id: str | None) -> RequestPermission:
    about = asked.metadata
    paths = about.paths or ()
    diffs = diffs_of(about.diff, paths[0]) if about.diff and paths else ()
    call = ToolCallFields(
        # A request without a call of its own still needs an id.
        tool_call_id=call_id or asked.permission_id,
        title=about.title or asked.action,
        name=about.tool_name,
        kind=kind_of(about.kind),
        status="pending",
        raw_input=about.input,
        content=tuple(diffs) or None,
        locations=tuple(Location(path=path) for path in paths) or None,
    )
    return RequestPermission(session_id=session_id, tool_call=call, options=PERMISSION_OPTIONS)


def decision_in(answer: Raw) -> Decided:
    """The client's decision. A request that it cancels is rejected: it will not ask again."""
    given = msgspec.json.decode(answer, type=PermissionAnswer)
    message = given.meta.ours.message if given.meta else None
    if given.outcome.outcome != "selected":
        return Decided("reject", message)
    return Decided(REPLIES.get(given.outcome.option_id or "", "reject"), message)


# -- questions ------------------------------------------------------------------------------------


def plan_request(session_id: str, asked: QuestionRequested, call_id: str | None) -> RequestPermission:
    call = ToolCallFields(
        tool_call_id=call_id or asked.question_id,
        title="Plan",
        kind="switch_mode",
        status="pending",
        raw_input={"plan": asked.prompt},
        content=text_content(asked.prompt) or None,
    )
    return RequestPermission(session_id=session_id, tool_call=call, options=PLAN_OPTIONS)


def form_request(session_id: str, asked: QuestionRequested, call_id: str | None) -> Elicit:
    questions = asked.metadata.questions
    is_one = len(questions) == 1
    properties: dict[str, Property] = {}
    for number, question in enumerate(questions, 1):
        key = f"question_{number}"
        properties[key] = _property(question, None if is_one else question.question)
        if question.options:
            properties[key + OWN_WORDS] = Property(type="string", title="Your own answer")
    return Elicit(
        session_id=session_id,
        mode="form",
        message=asked.prompt if is_one else f"The agent has {len(questions)} questions.",
        requested_schema=Form(type="object", properties=properties),
        tool_call_id=call_id,
    )


def _property(question: AskedQuestion, description: str | None) -> Property:
    choices = tuple(
        Choice(const=option.label, title=option.label, description=option.description or None)
        for option in question.options
    )
    title = question.header or None
    if not choices:
        return Property(type="string", title=title, description=description)
    if question.multi_select:
        return Property(type="array", title=title, description=description, items=Choices(any_of=choices))
    return Property(type="string", title=title, description=description, one_of=choices)


def answers_in_form(asked: QuestionRequested, answer: Raw) -> Answers | None:
    given = msgspec.json.decode(answer, type=FormAnswer)
    if given.action != "accept":
        return None
    content = given.content or {}
    answers: list[list[str]] = []
    for number, _ in enumerate(asked.metadata.questions, 1):
        key = f"question_{number}"
        chosen = content.get(key)
        values = [*(chosen if isinstance(chosen, list) else [chosen]), content.get(key + OWN_WORDS)]
        answers.append([value for value in values if isinstance(value, str) and value])
    return answers if all(answers) else None


def option_request(
    session_id: str, asked: QuestionRequested, question: AskedQuestion, call_id: str | None
) -> RequestPermission:
    options = [
        PermissionOption(option_id=str(number), name=option.label, kind="allow_once")
        for number, option in enumerate(question.options)
    ]
    described = "\n".join(
        f"- {each.label}: {each.description}" for each in question.options if each.description
    )
    text = f"{question.question}\n\n{described}" if described else question.question
    call = ToolCallFields(
        tool_call_id=call_id or asked.question_id,
        title=question.question,
        kind="other",
        status="pending",
        content=(Shown(content=TextContent(text=text)),),
    )
    dismiss = PermissionOption(option_id=REJECT, name="Dismiss", kind="reject_once")
    return RequestPermission(session_id=session_id, tool_call=call, options=(*options, dismiss))


def label_in(question: AskedQuestion, answer: Raw) -> str | None:
    outcome = msgspec.json.decode(answer, type=PermissionAnswer).outcome
    labels = {str(number): option.label for number, option in enumerate(question.options)}
    return labels.get(outcome.option_id or "") if outcome.outcome == "selected" else None
