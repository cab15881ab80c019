"""Asks for permissions and answers on the terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from ..schema.events import AskedQuestion, PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision
from ..schema.items import arguments_of
from .confirming import discard_typed_input
from .narration import printable, titled
from .views import coloured_diff

ReadLine = Callable[[str], str]
REPLIES = {"o": "once", "a": "always", "r": "reject", "y": "once", "n": "reject"}


def ask_permission(request: PermissionRequested, console: Console, read: ReadLine) -> Decision:
    """Ask for once, always, or reject with a reason. End of input rejects."""
    facts = request.metadata
    line = titled(request.action, facts.title if facts else "")
    console.print(Text.assemble(("? ", "bold yellow"), (line, "bold")))
    if facts and line.endswith("…"):
        # Show what the shortened title leaves out before asking.
        console.print(Text(f"  {printable(arguments_of(facts.input))}"))
    if facts and facts.reason:
        console.print(Text(f"  {printable(facts.reason)}", style="dim"))
    if facts and facts.diff:
        console.print(coloured_diff(printable(facts.diff)))
    discard_typed_input()
    try:
        while True:
            given = read("  allow? [o]nce, [a]lways, [r]eject: ").strip().lower()
            reply = REPLIES.get(given[:1])
            if reply == "reject":
                return Decision("reject", read("  reason (optional): ").strip() or None)
            if reply:
                return Decision("always" if reply == "always" else "once")
    except EOFError:
        console.print()  # Ctrl-D leaves the cursor behind the question
        return Decision("reject", "the terminal was closed")


def ask_question(request: QuestionRequested, console: Console, read: ReadLine) -> Answer:
    """Ask all questions of a request. End of input rejects them."""
    try:
        answers = tuple(_ask_one(question, console, read) for question in request.metadata.questions)
    except EOFError:
        console.print()
        return Answer(None)
    return Answer(answers)


def _ask_one(question: AskedQuestion, console: Console, read: ReadLine) -> tuple[str, ...]:
    console.print(Text.assemble(("? ", "bold yellow"), (printable(question.header), "bold")))
    console.print(Markdown(printable(question.question)))
    for number, option in enumerate(question.options, 1):
        description = f"  {printable(option.description)}" if option.description else ""
        console.print(Text.assemble(f"  {number}. {printable(option.label)}", (description, "dim")))
    discard_typed_input()
    several = "numbers separated by commas" if question.multi_select else "a number"
    hint = f"  {several}, or your own text (Ctrl-D rejects): " if question.options else "  answer: "
    while True:
        if labels := chosen(read(hint), question):
            return labels


def chosen(text: str, question: AskedQuestion) -> tuple[str, ...]:
    """The labels chosen by number or by text; empty if the text is empty or a number is out of range."""
    text = text.strip()
    words = [word.strip() for word in text.split(",")] if question.multi_select else [text]
    labels = [option.label for option in question.options]
    if all(word.isdecimal() for word in words) and labels:
        numbers = [int(word) for word in words]
        return tuple(labels[n - 1] for n in numbers) if all(0 < n <= len(labels) for n in numbers) else ()
    spelled = {label.casefold(): label for label in labels}
    return tuple(spelled.get(word.casefold(), word) for word in words if word)
