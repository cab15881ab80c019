"""Dialogs of extensions: permissions and questions, and what is answered to them.

Our extension puts JSON behind a prefix into the title. Its permissions are answered with `once`, `always` or `reject:<why>`,
its questions with the JSON of all answers. The dialogs of other extensions are questions as they stand.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ...schema.events import AskedQuestion, Choice
from ...schema.inputs import Answer, Decision
from ...schema.items import arguments_of
from ..diffs import diff_of_texts
from ..scribe import Ask, AskKind, Rule
from . import frames as pi
from .reading import convert

T = TypeVar("T")

METHODS = {"select", "confirm", "input", "editor"}
"""The dialogs that wait for an answer; the others only tell."""
PERMISSION = "permission:"
QUESTION = "question:"
KINDS: dict[str, AskKind] = {
    "bash": "command",
    "powershell": "command",
    "edit": "edit",
    "write": "edit",
    "read": "read",
    "grep": "read",
    "find": "read",
    "ls": "read",
}


def _titled(dialog: pi.Dialog, prefix: str, kind: type[T]) -> T | None:
    if not dialog.title.startswith(prefix):
        return None
    try:
        return msgspec.json.decode(dialog.title.removeprefix(prefix), type=kind)
    except msgspec.DecodeError:
        return None


def permission_in(dialog: pi.Dialog) -> pi.PermissionTitle | None:
    return _titled(dialog, PERMISSION, pi.PermissionTitle)


def questions_in(dialog: pi.Dialog) -> pi.QuestionTitle | None:
    return _titled(dialog, QUESTION, pi.QuestionTitle)


def ask_for(permission: pi.PermissionTitle, call: str) -> Ask:
    tool = permission.tool_name
    kind = KINDS.get(tool, "other")
    arguments = convert(permission.input, pi.ToolArguments) or pi.ToolArguments()
    path = arguments.path if kind in ("edit", "read") else None
    diff = "".join(diff_of_texts(path, one.old_text, one.new_text) for one in arguments.edits) if path else ""
    text = arguments.command if kind == "command" else path
    exact = Rule(tool, text if text is not None else arguments_of(permission.input))
    return Ask(
        tool,
        permission.input,
        kind,
        call,
        (path,) if path else None,
        diff or None,
        needs=(exact,),
        # "Always" is this very command, but any file and any input of another tool.
        always=(exact,) if kind == "command" else (Rule(tool),),
    )


def asked(question: pi.OneQuestion) -> AskedQuestion:
    options = tuple(Choice(option.label, option.description) for option in question.options)
    return AskedQuestion(question.question, question.header, options, question.multi_select)


def plain_question(dialog: pi.Dialog) -> AskedQuestion:
    """A dialog of somebody else's extension."""
    more = dialog.message if dialog.method == "confirm" else dialog.prefill or ""
    labels = ("yes", "no") if dialog.method == "confirm" else dialog.options
    text = f"{dialog.title}\n\n{more}" if more else dialog.title
    return AskedQuestion(text, "", tuple(Choice(label) for label in labels))


def decision_in(reply: pi.DialogReply) -> Decision:
    answer, _, reason = (reply.value or "reject").partition(":")
    if reply.cancelled or answer not in ("once", "always"):
        return Decision("reject", reason or None)
    return Decision("always" if answer == "always" else "once")


def answer_in(dialog: pi.Dialog, reply: pi.DialogReply) -> Answer:
    if reply.cancelled:
        return Answer(None)
    if dialog.method == "confirm":
        return Answer((("yes" if reply.confirmed else "no",),))
    if dialog.title.startswith(QUESTION):
        return Answer(msgspec.json.decode(reply.value or "", type=pi.Answers).answers)
    return Answer(((reply.value or "",),))


def decision_reply(key: str, decision: Decision) -> pi.DialogReply:
    reason = f":{decision.message}" if decision.reply == "reject" and decision.message else ""
    return pi.DialogReply(key, decision.reply + reason)


def answer_reply(dialog: pi.Dialog, answer: Answer) -> pi.DialogReply:
    if answer.answers is None:
        return pi.DialogReply(dialog.id, cancelled=True)
    if dialog.title.startswith(QUESTION):
        return pi.DialogReply(dialog.id, msgspec.json.encode(pi.Answers(answer.answers)).decode())
    if dialog.method == "confirm":
        return pi.DialogReply(dialog.id, confirmed=answer.answers[:1] == (("yes",),))
    return pi.DialogReply(dialog.id, ", ".join(label for one in answer.answers for label in one))
