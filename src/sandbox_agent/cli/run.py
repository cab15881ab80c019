"""`run AGENT "prompt"`: one prompt, shown as it happens, on the daemon that runs or on one of its own."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple, TypeVar

from ..config import PREFIX
from ..schema.events import (
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    decode_event,
)
from ..schema.inputs import Answer, Decision
from ..schema.items import Item, Json, StatusPart
from .asking import ask_permission, ask_question
from .failures import INTERRUPTED, CommandFailed, ProblemAnswered, WrongUsage
from .install import install_remotely
from .install_display import Display
from .narration import Narrator, View, summary
from .output import console, say, write_line
from .remote import Remote, call, find_address, session_path
from .request import attachment, pairs
from .shared_daemon import shared_daemon
from .state import data_dir, running_daemon
from .views import PlainView, SilentView, TerminalView

Answered = TypeVar("Answered")
NOBODY = "nobody could be asked, because this is not a terminal"


def run(args: argparse.Namespace) -> int:
    prompt = _prompt(args)
    _check_attachments(args)
    with daemon_for(args) as remote:
        session = _open_session(remote, args)
        sent = _send(remote, session, prompt, args)
        if sent["queued"]:
            say("another turn is running; this one waits for it")
        return Turn(remote, session.id, sent["turnId"], args).follow(session.seen)


def _prompt(args: argparse.Namespace) -> str:
    if args.prompt is None and sys.stdin.isatty():
        raise WrongUsage("there is no prompt: give one, or pipe it in")
    text = sys.stdin.read() if args.prompt in (None, "-") else str(args.prompt)
    if not text.strip() and not args.attachments:
        raise WrongUsage("the prompt is empty")
    return text


def _check_attachments(args: argparse.Namespace) -> None:
    """What is not here may be on the machine of a daemon that is named, which says so itself if it is not."""
    may_be_there = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    for path in args.attachments or ():
        if not os.path.isfile(os.path.expanduser(path)) and not (may_be_there and os.path.isabs(path)):
            raise WrongUsage(f"--attach {path}: there is no such file")


def _send(remote: Remote, session: Opened, prompt: str, args: argparse.Namespace) -> Any:
    """Send the prompt. A new session that cannot even have that is of no use to anybody."""
    try:
        files = [attachment(path, session.id, remote.upload) for path in args.attachments or ()]
        return remote.post(session_path(session.id, "messages"), {"message": prompt, "attachments": files})
    except ProblemAnswered:
        if session.is_new:
            remote.send(call("DELETE", session_path(session.id)))
        raise


# -- the daemon -------------------------------------------------------------------------------


@contextlib.contextmanager
def daemon_for(args: argparse.Namespace) -> Iterator[Remote]:
    """The daemon that is named or runs here; otherwise one for as long as this takes, on the same data."""
    folder = data_dir(args)
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    state = running_daemon(folder)
    # A daemon with a token of its user's own is talked to with that token.
    if named or (state is not None and state.token is None):
        with Remote(find_address(args)) as remote:
            yield remote
        return
    with shared_daemon(folder) as remote:
        yield remote


# -- the session ------------------------------------------------------------------------------


class Opened(NamedTuple):
    """The session to talk in."""

    id: str
    seen: int
    """The sequence of its last event."""
    is_new: bool


def _open_session(remote: Remote, args: argparse.Namespace) -> Opened:
    wanted = {
        "agentMode": args.agent_mode,
        "permissionMode": args.permission_mode,
        "model": args.model,
        "variant": args.variant,
    }
    settings = {name: value for name, value in wanted.items() if value is not None}
    known = _known_session(remote, args.session) if args.session else None
    if known is None:
        env = pairs(args.env or [], os.environ)
        if args.agent_version is None:
            _have_agent(remote, args.agent)
        directory = os.path.abspath(args.directory or ".")
        path = session_path(args.session) if args.session else "/v1/sessions"
        asked = {"agent": args.agent, "directory": directory, "agentVersion": args.agent_version, "env": env}
        created = remote.post(path, {**asked, **settings})
        if not created["healthy"]:
            raise ProblemAnswered(created.get("error") or {})
        if not args.session:
            say(f"session {created['sessionId']}")
        return Opened(created["sessionId"], 0, is_new=True)
    if known["agent"] != args.agent:
        raise WrongUsage(f"session {args.session} belongs to {known['agent']}, not to {args.agent}")
    _refuse_what_only_a_new_one_takes(known, args)
    if settings:
        remote.send(call("PATCH", session_path(args.session), body=settings))
    return Opened(args.session, known["eventCount"], is_new=False)


def _refuse_what_only_a_new_one_takes(known: dict[str, Any], args: argparse.Namespace) -> None:
    """To go on as if it had not been said would run the prompt in the wrong place."""
    if args.directory and os.path.realpath(args.directory) != os.path.realpath(known["directory"]):
        raise WrongUsage(
            f"session {args.session} works in {known['directory']}: --directory is for a new session"
        )
    for flag, given in (("--agent-version", args.agent_version), ("--env", args.env)):
        if given:
            raise WrongUsage(f"session {args.session} exists already: {flag} is for a new session")


def _have_agent(remote: Remote, name: str) -> None:
    """Creating a session would install it too, but without a word."""
    with Display(name) as display:
        try:
            installed = install_remotely(remote, name, {}, display.tell)
        except ProblemAnswered as problem:
            if problem.status != 403:
                raise
            # This daemon fetches nothing: the session says what is missing.
            return
    if not installed.already_installed:
        say(f"installed {name} {installed.version} from {installed.source}")


def _known_session(remote: Remote, session_id: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = remote.get(session_path(session_id))
    except ProblemAnswered as problem:
        if problem.status == 404:
            return None
        raise
    return found


# -- the turn ---------------------------------------------------------------------------------


class Turn:
    """Follows one turn, shows it, and answers what it asks."""

    def __init__(self, remote: Remote, session_id: str, turn_id: str, args: argparse.Namespace) -> None:
        self._remote = remote
        self._session_id = session_id
        self._turn_id = turn_id
        self._as_events = bool(getattr(args, "json", False))
        self._terminal = console()
        self._asks = sys.stdin.isatty() and sys.stdout.isatty() and not self._as_events
        self._view = self._choose_view()
        self._narrator = Narrator(self._view)
        self._interrupts = 0
        self._asking = False

    def _choose_view(self) -> View:
        if self._as_events:
            return SilentView()
        return TerminalView(self._terminal) if sys.stdout.isatty() else PlainView()

    def follow(self, seen: int) -> int:
        """Show everything from the turn's start to its end. Returns the exit code."""
        request = call("GET", session_path(self._session_id, "events", "sse"), query={"offset": seen})
        before = signal.signal(signal.SIGINT, self._interrupt)
        frames = self._remote.follow(request)
        started = False
        try:
            for frame in frames:
                event = decode_event(frame.data)
                match event.data:
                    case TurnStarted(turn_id) if turn_id == self._turn_id:
                        started = True
                    case ItemCompleted(item) if self._is_withdrawal(item):
                        raise CommandFailed("the message was withdrawn from the queue")
                if not started and not isinstance(event.data, SessionEnded):
                    continue
                if self._as_events:
                    write_line(frame.data)
                ended = self._hear(event)
                if ended is not None:
                    return ended
            raise CommandFailed("the stream ended before the turn did")
        finally:
            signal.signal(signal.SIGINT, before)
            self._view.close()

    def _is_withdrawal(self, item: Item) -> bool:
        match item.content:
            case (StatusPart("queue"), Json({"turn_id": turn_id, "state": "withdrawn"})):
                return bool(turn_id == self._turn_id)
        return False

    def _hear(self, event: Event) -> int | None:
        """Show an event and answer it; the exit code when it is the last."""
        self._narrator.hear(event)
        match event.data:
            case PermissionRequested() as request:
                self._decide(request)
            case QuestionRequested() as question:
                self._answer(question)
            case TurnEnded(turn_id) as ended if turn_id == self._turn_id:
                return self._end(ended)
            case SessionEnded(reason):
                return 0 if reason == "completed" else 1
        return None

    def _end(self, ended: TurnEnded) -> int:
        if not self._as_events:
            self._view.close()
            self._view.notice(summary(ended))
        if self._interrupts:
            return INTERRUPTED
        return 0 if ended.metadata.stop_reason == "end_turn" else 1

    # What it asks.

    def _decide(self, request: PermissionRequested) -> None:
        if self._asks:
            decision = self._on_terminal(lambda: ask_permission(request, self._terminal, input))
        else:
            decision = Decision("reject", NOBODY)
            say(f"rejected {request.action}: {NOBODY} (see --permission-mode)")
        if decision is not None:
            body = {"reply": decision.reply, "message": decision.message}
            self._reply(("permissions", request.permission_id, "reply"), body)

    def _answer(self, request: QuestionRequested) -> None:
        if self._asks:
            answer = self._on_terminal(lambda: ask_question(request, self._terminal, input))
        else:
            answer = Answer(None)
            say(f"rejected a question: {NOBODY}")
        if answer is not None and answer.answers is None:
            self._reply(("questions", request.question_id, "reject"), {})
        elif answer is not None:
            self._reply(("questions", request.question_id, "reply"), {"answers": answer.answers})

    def _on_terminal(self, ask: Callable[[], Answered]) -> Answered | None:
        """Ask. None when the answer is Ctrl-C: that cancels the turn, which answers the agent too."""
        self._view.close()
        self._asking = True
        try:
            return ask()
        except KeyboardInterrupt:
            self._terminal.print()
            self._cancel()
            return None
        finally:
            self._asking = False

    def _reply(self, path: tuple[str, ...], body: dict[str, Any]) -> None:
        try:
            self._remote.post(session_path(self._session_id, *path), body)
        except ProblemAnswered as problem:
            if problem.status not in (404, 409):
                raise
            say("somebody else has answered that already")

    # What the user does meanwhile.

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C ends the turn, and its end is still shown; the second ends us."""
        self._interrupts += 1
        if self._asking or self._interrupts > 1:
            raise KeyboardInterrupt
        # Not here: the signal may have come in the middle of a write to the terminal, which allows no other inside it.
        threading.Thread(target=self._cancel, daemon=True).start()

    def _cancel(self) -> None:
        say("cancelling (Ctrl-C again to leave at once)")
        # A connection of its own: the other one may be in the middle of something.
        with contextlib.suppress(CommandFailed), Remote(self._remote.address) as remote:
            remote.post(session_path(self._session_id, "cancel"), {})
