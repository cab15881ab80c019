"""Permissions and questions, asked on the terminal."""

from __future__ import annotations

import sys
import termios
from collections.abc import Callable

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from ..schema.events import AskedQuestion, PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision
from ..schema.items import arguments_of
from .narration import printable, titled
from .views import coloured_diff

ReadLine = Callable[[str], str]
REPLIES = {"o": "once", "a": "always", "r": "reject", "y": "once", "n": "reject"}


def forget_what_was_typed() -> None:
    """What was typed before a question could be seen is no answer to it."""
    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        pass  # stdin is no terminal


def confirmed(question: str) -> bool:
    forget_what_was_typed()
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def ask_permission(request: PermissionRequested, console: Console, read: ReadLine) -> Decision:
    """Once, always or reject with a reason. The end of input rejects."""
    facts = request.metadata
    line = titled(request.action, facts.title if facts else "")
    console.print(Text.assemble(("? ", "bold yellow"), (line, "bold")))
    if facts and line.endswith("…"):
        # Nobody should allow what they have not read.
        console.print(Text(f"  {printable(arguments_of(facts.input))}"))
    if facts and facts.reason:
        console.print(Text(f"  {printable(facts.reason)}", style="dim"))
    if facts and facts.diff:
        console.print(coloured_diff(printable(facts.diff)))
    forget_what_was_typed()
    try:
        while True:
            given = read("  allow? [o]nce, [a]lways, [r]eject: ").strip().lower()
            reply = REPLIES.get(given[:1])
            if reply == "reject":
                return Decision("reject", read("  why? (may be empty) ").strip() or None)
            if reply:
                return Decision("always" if reply == "always" else "once")
    except EOFError:
        return Decision("reject", "the terminal was closed")


def ask_question(request: QuestionRequested, console: Console, read: ReadLine) -> Answer:
    """The answers to all questions of a request; None for a rejection, which the end of input is too."""
    try:
        answers = tuple(_ask_one(one, console, read) for one in request.metadata.questions)
    except EOFError:
        return Answer(None)
    return Answer(answers)


def _ask_one(question: AskedQuestion, console: Console, read: ReadLine) -> tuple[str, ...]:
    console.print(Text.assemble(("? ", "bold yellow"), (printable(question.header), "bold")))
    console.print(Markdown(printable(question.question)))
    for number, option in enumerate(question.options, 1):
        told = f"  {printable(option.description)}" if option.description else ""
        console.print(Text.assemble(f"  {number}. {printable(option.label)}", (told, "dim")))
    forget_what_was_typed()
    several = "numbers with commas" if question.multi_select else "a number"
    hint = f"  {several}, or your own words (Ctrl-D rejects): " if question.options else "  answer: "
    while True:
        if labels := chosen(read(hint), question):
            return labels


def chosen(text: str, question: AskedQuestion) -> tuple[str, ...]:
    """Labels from numbers or from words; nothing when the text says nothing, or names an option that is not there."""
    text = text.strip()
    words = [word.strip() for word in text.split(",")] if question.multi_select else [text]
    labels = [option.label for option in question.options]
    if all(word.isdecimal() for word in words) and labels:
        numbers = [int(word) for word in words]
        return tuple(labels[n - 1] for n in numbers) if all(0 < n <= len(labels) for n in numbers) else ()
    spelled = {label.casefold(): label for label in labels}
    return tuple(spelled.get(word.casefold(), word) for word in words if word)
