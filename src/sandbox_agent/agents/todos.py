"""To-do lists: agents use different formats, and readers get one."""

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
"""The entry is cancelled: leave it out."""


class Entry(Struct, frozen=True):
    text: str
    status: Status


class _NativeEntry(Struct, frozen=True):
    """An entry in any agent's format."""

    content: str = ""
    step: str = ""
    text: str = ""
    subject: str = ""
    status: str = "pending"

    def entry(self) -> Entry:
        text = self.content or self.step or self.text or self.subject
        return Entry(text, STATUSES.get(self.status, "pending"))


def entries_of(value: Any) -> tuple[Entry, ...] | None:
    """The readable entries of a list; None if it is not a list."""
    try:
        given = msgspec.convert(value, tuple[_NativeEntry, ...])
    except msgspec.ValidationError:
        return None
    return tuple(entry for each in given if each.status not in DROPPED and (entry := each.entry()).text)


def tell(
    scribe: Scribe, entries: Iterable[Entry], explanation: str | None = None, *, parent: str | None = None
) -> None:
    """Report the current list as a whole."""
    scribe.status("plan", {"entries": tuple(entries)}, explanation, parent=parent)
