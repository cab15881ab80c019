"""`sessions export` and `sessions prune`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from ..schema.sessions import SessionInfo
from .call import EventHead, EventPage
from .confirming import confirmed
from .failures import WrongUsage
from .output import can_draw, console, print_json, print_rows, say, wants_json, written
from .remote import Call, Remote, find_address, session_path

PAGE = "1000"
AGE_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def export(args: argparse.Namespace) -> int:
    with Remote(find_address(args)) as remote, written(args.output) as target:
        count = 0
        for event in all_events(remote, args.session_id, include_raw=args.include_raw):
            target.write(event + b"\n")
            count += 1
    if args.output:
        say(f"wrote {count} events to {args.output}")
    return 0


def all_events(remote: Remote, session_id: str, *, include_raw: bool = False) -> Iterator[bytes]:
    """Every event of a session, as the exact bytes in the log."""
    offset, more = 0, True
    while more:
        query = {"offset": str(offset), "limit": PAGE, "include_raw": str(include_raw).lower()}
        answer = remote.send(Call("GET", session_path(session_id, "events"), query))
        page = msgspec.json.decode(answer.content, type=EventPage)
        more = page.has_more
        for event in page.events:
            yield bytes(event)
        if page.events:
            offset = msgspec.json.decode(page.events[-1], type=EventHead).sequence


def prune(args: argparse.Namespace) -> int:
    with Remote(find_address(args)) as remote:
        doomed = _doomed(remote, args)
        _show(doomed, args)
        if args.dry_run or not doomed:
            return 0
        if not args.yes and not _confirmed(len(doomed)):
            say("nothing was deleted")
            return 1
        for session in _with_progress(doomed):
            remote.send(Call("DELETE", session_path(session.session_id)))
    say(f"deleted {_counted(len(doomed))}")
    return 0


def _doomed(remote: Remote, args: argparse.Namespace) -> list[SessionInfo]:
    sessions = list(all_sessions(remote))
    if args.older_than is not None:
        return older_than(sessions, datetime.now(UTC) - age(args.older_than))
    return beyond_size(sessions, log_bytes(remote), byte_count(args.max_size))


def all_sessions(remote: Remote) -> Iterator[SessionInfo]:
    query = {"limit": PAGE}
    while True:
        page = remote.get("/v1/sessions", query)
        yield from msgspec.convert(page["sessions"], list[SessionInfo])
        if not page.get("nextCursor"):
            return
        query["cursor"] = page["nextCursor"]


def log_bytes(remote: Remote) -> int:
    text = remote.send(Call("GET", "/metrics")).content.decode()
    found = re.search(r"^sandbox_agent_log_bytes (\S+)$", text, re.MULTILINE)
    return int(float(found.group(1))) if found else 0


def older_than(sessions: list[SessionInfo], moment: datetime) -> list[SessionInfo]:
    """Idle or ended sessions that have not changed since, oldest first."""
    return [session for session in _at_rest(sessions) if datetime.fromisoformat(session.updated_at) < moment]


def beyond_size(sessions: list[SessionInfo], used: int, limit: int) -> list[SessionInfo]:
    """The oldest idle or ended sessions, until the log is small enough. A session's size is estimated from its events."""
    events = sum(session.event_count for session in sessions) or 1
    oldest = []
    for session in _at_rest(sessions):
        if used <= limit:
            break
        oldest.append(session)
        used -= used * session.event_count // events
        events = max(1, events - session.event_count)
    return oldest


def _at_rest(sessions: list[SessionInfo]) -> list[SessionInfo]:
    resting = [session for session in sessions if session.state in ("idle", "ended")]
    return sorted(resting, key=lambda session: session.updated_at)


def age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d+)([mhdw])", text.strip())
    if not found:
        raise WrongUsage(f"--older-than {text}: expected a number and a unit, e.g. 12h, 30d, 8w")
    return timedelta(**{AGE_UNITS[found[2]]: int(found[1])})


def byte_count(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)(i?B)?", text.strip(), re.IGNORECASE)
    if not found:
        raise WrongUsage(
            f"--max-size {text}: expected a number of bytes, or a number with K, M or G, e.g. 500M"
        )
    return int(found[1]) * SIZE_UNITS[found[2].upper()]


def _show(doomed: list[SessionInfo], args: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = [msgspec.to_builtins(session) for session in doomed]
    if wants_json(args):
        print_json({"sessions": rows, "dryRun": bool(args.dry_run)})
        return
    columns = ("sessionId", "agent", "state", "title", "eventCount", "updatedAt")
    print_rows(columns, rows, empty="no sessions to delete")


def _confirmed(count: int) -> bool:
    if not sys.stdin.isatty():
        raise WrongUsage("stdin is not a terminal: use --yes to delete, or --dry-run to list the sessions")
    return confirmed(f"permanently delete {_counted(count)}?")


def _counted(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def _with_progress(sessions: list[SessionInfo]) -> Iterator[SessionInfo]:
    if not (sys.stderr.isatty() and can_draw()):
        yield from sessions
        return
    from rich.progress import track

    yield from track(sessions, "deleting", console=console(stderr=True), transient=True)
