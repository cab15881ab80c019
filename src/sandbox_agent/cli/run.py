"""`run AGENT "prompt"`: sends one prompt and shows the turn, on the running daemon or on a temporary one."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from ..config import PREFIX
from .ending import ended_by_signals
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .output import say
from .remote import Remote, call, find_address, session_path
from .request import attachment, text_of_stdin
from .run_session import Opened, Whose, explain_variables, open_session
from .shared_daemon import shared_daemon
from .state import data_dir, is_own, running_daemon
from .turn import Turn

TOO_LARGE = 413
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
MAX_SECONDS = 1e9
"""Beyond what a timer of the system can count."""


def run(args: argparse.Namespace) -> int:
    timeout = None if args.timeout is None else seconds(args.timeout)
    prompt = _prompt(args)
    _check_attachments(args)
    with ended_by_signals(), daemon_for(args) as (remote, whose):
        session = open_session(remote, whose, args)
        sent = _send(remote, session, prompt, args)
        if sent["queued"]:
            say(_why_queued(remote, session.id))
        as_events = bool(getattr(args, "json", False))
        turn = Turn(remote, session.id, sent["turnId"], as_events=as_events, timeout=timeout)
        # A second Ctrl-C exits at once.
        with contextlib.ExitStack() as at_end:
            if whose != "child" and not args.keep:
                at_end.callback(_suspend, remote, session.id)
            try:
                exit_code = turn.follow(session.seen)
            except KeyboardInterrupt:
                at_end.pop_all()
                raise
        if not turn.was_logged_in and not session.is_new and whose != "child":
            explain_variables(session, args.agent)
        return exit_code


def seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if not found or not 0 < float(found[1]) < MAX_SECONDS:
        raise WrongUsage(f"--timeout {text}: expected seconds, or a number and a unit, e.g. 90, 90s, 10m, 2h")
    return float(found[1]) * UNITS[found[2]]


def _prompt(args: argparse.Namespace) -> str:
    if args.prompt is None and sys.stdin.isatty():
        raise WrongUsage("no prompt: pass one as an argument or through a pipe")
    text = text_of_stdin() if args.prompt in (None, "-") else str(args.prompt)
    if not text.strip() and not args.attachments:
        raise WrongUsage("the prompt is empty")
    return text


def _check_attachments(args: argparse.Namespace) -> None:
    """A file that does not exist here may be on the machine of a daemon named by `--endpoint`, which checks it itself."""
    may_be_there = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    for path in args.attachments or ():
        local = os.path.expanduser(path)
        if not os.path.isfile(local) and not (may_be_there and os.path.isabs(path)):
            why = "it is not a file" if os.path.exists(local) else "no such file"
            raise WrongUsage(f"--attach {path}: {why}")


def _send(remote: Remote, session: Opened, prompt: str, args: argparse.Namespace) -> Any:
    """Send the prompt. If it is refused or a file cannot be read, delete a session that was created for it.

    Without an answer, the turn may be running.
    """
    try:
        files = [attachment(path, session.id, remote.upload) for path in args.attachments or ()]
        return remote.post(session_path(session.id, "messages"), {"message": prompt, "attachments": files})
    except (ProblemAnswered, WrongUsage, OSError, UnicodeEncodeError) as error:
        if session.is_new:
            with contextlib.suppress(CommandFailed):
                remote.send(call("DELETE", session_path(session.id)))
        if isinstance(error, ProblemAnswered) and error.status == TOO_LARGE:
            raise CommandFailed(
                f"the prompt is too long ({error}): save it to a file and use --attach"
            ) from None
        raise


def _why_queued(remote: Remote, session_id: str) -> str:
    """A turn that waits for an answer may never end by itself, so say where the request is."""
    if remote.get(session_path(session_id))["state"] != "requires_action":
        return "another turn is running; waiting for it to end"
    return f"another turn is waiting for an answer: `sandbox-agent sessions show {session_id}` shows how to answer"


def _suspend(remote: Remote, session_id: str) -> None:
    """Stop the agent's process now instead of after its idle time."""
    # A new connection, because the other may be reading a stream. A daemon that has exited has stopped it already.
    with contextlib.suppress(CommandFailed), Remote(remote.address) as again:
        again.send(call("POST", session_path(session_id, "suspend")))


@contextlib.contextmanager
def daemon_for(args: argparse.Namespace) -> Iterator[tuple[Remote, Whose]]:
    """The daemon that is named or running; otherwise a temporary one on the same data directory."""
    folder = data_dir(args)
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    state = running_daemon(folder)
    # A daemon whose token was chosen by the user needs that token.
    if named or (state is not None and state.token is None):
        address = find_address(args)
        with Remote(address) as remote:
            yield remote, "own" if is_own(folder, address.endpoint) else "other"
        return
    with shared_daemon(folder) as (remote, is_new):
        yield remote, "child" if is_new else "own"
