"""A page of events, decoded."""

from __future__ import annotations

from typing import NamedTuple

from ..schema.answers import EventPage
from .events import Event, decode_event


class PageOfEvents(NamedTuple):
    events: list[Event]
    has_more: bool


def decoded(page: EventPage) -> PageOfEvents:
    return PageOfEvents([decode_event(bytes(body)) for body in page.events], page.has_more)
