"""What the door does with requests of agents: it rejects them at once, because this API has no way to ask, and the text says so."""

from __future__ import annotations

from ...schema.events import PermissionResolved, QuestionResolved

NOBODY_TO_ASK = "The client of this API cannot answer requests. Continue without an answer, or say what you would have done."
"""For the agent."""
HOW_TO_ALLOW = "allow it with a rule, or choose a permission mode with the header `x-permission-mode`"


def note_of_permission(resolved: PermissionResolved) -> str:
    title = resolved.metadata.title or resolved.action
    what = resolved.action if title == resolved.action else f"{resolved.action}: {title}"
    return f"[Not permitted: {what}. This API cannot ask you; {HOW_TO_ALLOW}.]"


def note_of_question(resolved: QuestionResolved) -> str:
    if resolved.metadata.plan:
        return f"{resolved.prompt}\n\n[This plan was not approved: this API cannot ask you. To carry it out, {_ANOTHER_MODE}.]"
    asked = "\n".join(_listed(question.question, *(choice.label for choice in question.options))
                      for question in resolved.metadata.questions)  # fmt: skip
    return f"{asked}\n\n[The agent asked this and got no answer: this API cannot ask you. Answer with your next message.]"


_ANOTHER_MODE = "send the next message with another `x-permission-mode`"


def _listed(question: str, *options: str) -> str:
    return "\n".join([question, *(f"- {option}" for option in options)])
