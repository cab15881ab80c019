"""Progress of an installation."""

from __future__ import annotations

from collections.abc import Callable

from ..schema.answers import Progress

__all__ = ["Progress", "Tell", "to_nobody"]

Tell = Callable[[Progress], None]


def to_nobody(progress: Progress) -> None:
    """For installations without an observer."""
