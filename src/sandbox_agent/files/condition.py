"""What must be true of a file for a client to replace it: the headers `If-Match` and `If-None-Match`."""

from __future__ import annotations

from msgspec import Struct

from ..errors import PreconditionFailed
from .entries import current_etag
from .roots import Place


class Condition(Struct, frozen=True):
    if_match: str | None = None
    if_none_match: str | None = None

    def check(self, place: Place) -> None:
        """Refuse if the file is not as the client expects it."""
        if self.if_match is None and self.if_none_match is None:
            return
        current = current_etag(place)
        if self.if_match is not None and not _names(self.if_match, current):
            raise PreconditionFailed(f"{place.path} has changed", path=place.path, etag=current)
        if self.if_none_match is not None and _names(self.if_none_match, current):
            raise PreconditionFailed(f"{place.path} exists", path=place.path, etag=current)


ALWAYS = Condition()


def _names(header: str, current: str | None) -> bool:
    """Whether a header names the current tag; `*` names every file that exists."""
    tags = {tag.strip() for tag in header.split(",")}
    return current is not None and ("*" in tags or current in tags)
