"""A list of things to do: every agent has words of its own for it, and readers get one form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .scribe import Scribe

Status = Literal["pending", "in_progress", "completed"]

STATUSES: dict[str, Status] = {
    "pending": "pending",
    "todo": "pending",
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "inProgress": "in_progress",
    "completed": "completed",
    "done": "completed",
}
DROPPED = {"cancelled", "canceled", "deleted"}
"""Nobody will do it: it is not on the list any more."""


class Entry(Struct, frozen=True):
    text: str
    status: Status


class _Told(Struct, frozen=True):
    """An entry in any agent's words."""

    content: str = ""
    step: str = ""
    text: str = ""
    subject: str = ""
    status: str = "pending"

    def entry(self) -> Entry:
        text = self.content or self.step or self.text or self.subject
        return Entry(text, STATUSES.get(self.status, "pending"))


def entries_of(told: Any) -> tuple[Entry, ...] | None:
    """The entries of a list, as far as they are any; None where it is no list."""
    try:
        found = msgspec.convert(told, tuple[_Told, ...])
    except msgspec.ValidationError:
        return None
    return tuple(entry for one in found if one.status not in DROPPED and (entry := one.entry()).text)


def tell(
    scribe: Scribe, entries: Iterable[Entry], explanation: str | None = None, *, parent: str | None = None
) -> None:
    """The list as it is now, whole each time."""
    scribe.status("plan", {"entries": tuple(entries)}, explanation, parent=parent)
