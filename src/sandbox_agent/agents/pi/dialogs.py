"""Dialogs of extensions: permissions and questions, and their answers.

Our extension puts JSON with a prefix into the title. Its permissions are answered with `once`, `always` or
`reject:<why>`, its questions with the JSON of all answers. Dialogs of other extensions become plain
questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...schema.events import AskedQuestion, Choice
from ...schema.inputs import Answer, Decision
from ...schema.items import arguments_of
from ..frames import UNREADABLE
from ..lenient import convert
from ..plain_asks import hosts_in
from ..replacements import Replacement
from ..scribe import Ask, AskKind, Rule
from ..titles import title_of_call
from .commands import DialogReply
from .frames import Dialog, Native, ToolArguments
from .tools import kind_of

T = TypeVar("T")

METHODS = {"select", "confirm", "input", "editor"}
"""The dialogs that wait for an answer; the others only notify."""
PERMISSION = "permission:"
QUESTION = "question:"


# -- titles of our extension -----------------------------------------------------------------------


class PermissionTitle(Native, frozen=True):
    tool_call_id: str
    tool_name: str
    input: Any = None  # the tool's own input


class QuestionOption(Native, frozen=True):
    label: str
    description: str = ""


class OneQuestion(Native, frozen=True):
    question: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


class QuestionTitle(Native, frozen=True):
    tool_call_id: str
    questions: tuple[OneQuestion, ...]


class Answers(Struct, frozen=True):
    answers: tuple[tuple[str, ...], ...]


def _titled(dialog: Dialog, prefix: str, kind: type[T]) -> T | None:
    if not dialog.title.startswith(prefix):
        return None
    try:
        return msgspec.json.decode(dialog.title.removeprefix(prefix), type=kind)
    except msgspec.DecodeError:
        return None


def is_permission(dialog: Dialog) -> bool:
    return dialog.method == "select" and dialog.title.startswith(PERMISSION)


def permission_in(dialog: Dialog) -> PermissionTitle | None:
    return _titled(dialog, PERMISSION, PermissionTitle)


def questions_in(dialog: Dialog) -> QuestionTitle | None:
    return _titled(dialog, QUESTION, QuestionTitle)


def ask_for(permission: PermissionTitle, call: str) -> Ask:
    tool = permission.tool_name
    kind = _ask_kind(tool)
    arguments = convert(permission.input, ToolArguments) or ToolArguments()
    path = arguments.path if kind in ("edit", "read") else None
    text = arguments.command if kind == "command" else path
    exact = Rule(tool, text if text is not None else arguments_of(permission.input))
    return Ask(
        tool,
        permission.input,
        kind,
        call,
        (path,) if path else None,
        replacements=tuple(_replacements_of(path, arguments)) if kind == "edit" and path else (),
        needs=(exact,),
        # "Always" covers exactly this command, but any file and any input of another tool.
        always=(exact,) if kind == "command" else (Rule(tool),),
        tool_kind=kind_of(tool),
        title=title_of_call(tool, permission.input, kind_of(tool)),
        command=arguments.command if tool == "bash" else None,
        hosts=hosts_in(permission.input),
    )


def _replacements_of(path: str, arguments: ToolArguments) -> Iterator[Replacement]:
    if arguments.content is not None:
        yield Replacement(path, None, arguments.content)
    for edit in arguments.edits:
        yield Replacement(path, edit.old_text, edit.new_text)


def _ask_kind(tool: str) -> AskKind:
    match kind_of(tool):
        case "command" | "edit" as kind:
            return kind
        case "read" | "search":
            return "read"
        case _:
            return "other"


def asked(question: OneQuestion) -> AskedQuestion:
    options = tuple(Choice(option.label, option.description) for option in question.options)
    return AskedQuestion(question.question, question.header, options, question.multi_select)


def plain_question(dialog: Dialog) -> AskedQuestion:
    """A dialog of another extension."""
    more = dialog.message if dialog.method == "confirm" else dialog.prefill or ""
    labels = ("yes", "no") if dialog.method == "confirm" else dialog.options
    text = f"{dialog.title}\n\n{more}" if more else dialog.title
    return AskedQuestion(text, "", tuple(Choice(label) for label in labels))


def decision_in(reply: DialogReply) -> Decision:
    answer, _, reason = (reply.value or "reject").partition(":")
    if reply.cancelled or answer not in ("once", "always"):
        return Decision("reject", reason or None)
    return Decision("always" if answer == "always" else "once")


def answer_in(dialog: Dialog, reply: DialogReply) -> Answer:
    if reply.cancelled:
        return Answer(None)
    if dialog.method == "confirm":
        return Answer((("yes" if reply.confirmed else "no",),))
    if dialog.title.startswith(QUESTION):
        return Answer(msgspec.json.decode(reply.value or "", type=Answers).answers)
    return Answer(((reply.value or "",),))


def decision_reply(key: str, decision: Decision) -> DialogReply:
    reason = f":{decision.message}" if decision.reply == "reject" and decision.message else ""
    return DialogReply(key, decision.reply + reason)


def answer_reply(dialog: Dialog, answer: Answer) -> DialogReply:
    if answer.answers is None:
        return DialogReply(dialog.id, cancelled=True)
    if dialog.title.startswith(QUESTION):
        return DialogReply(dialog.id, msgspec.json.encode(Answers(answer.answers)).decode())
    if dialog.method == "confirm":
        return DialogReply(dialog.id, confirmed=answer.answers[:1] == (("yes",),))
    return DialogReply(dialog.id, ", ".join(label for labels in answer.answers for label in labels))


def refusal_of(dialog: Dialog) -> DialogReply:
    """The answer to a dialog that cannot be shown."""
    if is_permission(dialog):
        return DialogReply(dialog.id, f"reject:{UNREADABLE}")
    return DialogReply(dialog.id, cancelled=True)
