"""`sessions show`: the transcript of a session, in the form that `run` prints a turn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import msgspec

from ..schema.events import Event, ItemDelta, ItemStarted, SessionEnded, decode_event
from ..schema.sessions import SessionInfo
from ..schema.tools import tool_request_in
from .archive import all_events
from .narration import Narrator, View
from .output import console, say, write_line
from .remote import Remote, call, find_address, session_path
from .views import PlainView, TerminalView


def show(args: argparse.Namespace) -> int:
    with Remote(find_address(args)) as remote:
        info = msgspec.convert(remote.get(session_path(args.session_id)), SessionInfo)
        bodies = _followed(remote, info) if args.follow else all_events(remote, info.session_id)
        if getattr(args, "json", False):
            for body in bodies:
                write_line(body)
            return 0
        _tell(info, bodies)
        if info.state != "ended" and not args.follow:
            sys.stdout.flush()  # the message comes last even if both streams go to one file
            state = "is waiting for an answer" if info.state == "requires_action" else f"is {info.state}"
            say(f"the session {state}; use --follow to keep watching")
    return 0


def _followed(remote: Remote, info: SessionInfo) -> Iterator[bytes]:
    request = call("GET", session_path(info.session_id, "events", "sse"), query={"offset": 0})
    for frame in remote.follow(request):
        yield frame.data


def _tell(info: SessionInfo, bodies: Iterator[bytes]) -> None:
    view = _view()
    narrator = Narrator(view, session=info.session_id)
    try:
        for body in bodies:
            event = decode_event(body)
            is_past = event.sequence <= info.event_count
            if isinstance(view, TerminalView):
                view.live = not is_past
            if not (is_past and _is_repeated_later(event)):
                narrator.handle(event)
            if isinstance(event.data, SessionEnded):
                return
    finally:
        view.close()


def _is_repeated_later(event: Event) -> bool:
    """For past events, completed items are enough, except for a call that may still wait."""
    match event.data:
        case ItemStarted(item):
            return tool_request_in(item) is None
        case ItemDelta():
            return True
    return False


def _view() -> View:
    if sys.stdout.isatty():
        return TerminalView(console())
    # The whole transcript is the requested data, so it goes to stdout.
    return PlainView(say=print)
