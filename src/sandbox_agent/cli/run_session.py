"""The session that `run` talks in: a new one, the one that is named, or the latest one here."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ..agents import AGENTS
from ..agents.base import Agent
from ..agents.environment import own_family
from ..runtime.credentials import has_credentials
from ..schema.sessions import SessionInfo
from .archive import all_sessions
from .asking import confirmed
from .credentials import how_to_log_in
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .install import install_remotely
from .install_display import Display
from .output import say
from .remote import Remote, call, caller_directory, session_path
from .request import mcp_servers, pairs

Whose = Literal["child", "own", "other"]
"""The daemon is one that this command started, another one of this user on this machine, or anybody's."""


class Opened(NamedTuple):
    """The session to talk in."""

    id: str
    seen: int
    """The sequence of its last event."""
    is_new: bool


def open_session(remote: Remote, whose: Whose, args: argparse.Namespace) -> Opened:
    known = _latest(remote, args) if args.latest else _named(remote, args.session)
    return _create(remote, whose, args) if known is None else _go_on(remote, known, args)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    wanted = {
        "agentMode": args.agent_mode,
        "permissionMode": args.permission_mode,
        "model": args.model,
        "variant": args.variant,
        "title": args.title,
    }
    return {name: value for name, value in wanted.items() if value is not None}


# -- one that exists ----------------------------------------------------------------------------


def _named(remote: Remote, session_id: str | None) -> SessionInfo | None:
    if session_id is None:
        return None
    try:
        return msgspec.convert(remote.get(session_path(session_id)), SessionInfo)
    except ProblemAnswered as problem:
        if problem.status == 404:
            return None
        raise


def _latest(remote: Remote, args: argparse.Namespace) -> SessionInfo:
    directory = caller_directory(args, remote.address)
    found = [
        one
        for one in all_sessions(remote)
        if one.agent == args.agent
        and not one.ended
        and (directory is None or os.path.realpath(one.directory) == os.path.realpath(directory))
    ]
    if not found:
        where = f" in {directory}" if directory else ""
        raise CommandFailed(f"there is no session of {args.agent}{where} to continue")
    latest = max(found, key=lambda one: one.updated_at)
    say(f"session {latest.session_id}{f' ({latest.title})' if latest.title else ''}")
    return latest


def _go_on(remote: Remote, known: SessionInfo, args: argparse.Namespace) -> Opened:
    if known.agent != args.agent:
        raise WrongUsage(f"session {known.session_id} belongs to {known.agent}, not to {args.agent}")
    _refuse_what_only_a_new_one_takes(known, args)
    if settings := _settings(args):
        remote.send(call("PATCH", session_path(known.session_id), body=settings))
    return Opened(known.session_id, known.event_count, is_new=False)


def _refuse_what_only_a_new_one_takes(known: SessionInfo, args: argparse.Namespace) -> None:
    """To go on as if it had not been said would run the prompt in the wrong place."""
    if args.directory and os.path.realpath(args.directory) != os.path.realpath(known.directory):
        raise WrongUsage(
            f"session {known.session_id} works in {known.directory}: --directory is for a new session"
        )
    for flag, given in (
        ("--agent-version", args.agent_version),
        ("--env", args.env),
        ("--mcp", args.mcp),
        ("--send-env", args.send_env),
    ):
        if given:
            raise WrongUsage(f"session {known.session_id} exists already: {flag} is for a new session")


# -- a new one ----------------------------------------------------------------------------------


def _create(remote: Remote, whose: Whose, args: argparse.Namespace) -> Opened:
    given = pairs(args.env or [], os.environ)
    env = {**_sent_variables(whose, args), **given}
    if args.agent_version is None:
        _have_agent(remote, whose, args.agent, env)
    asked = {
        "agent": args.agent,
        "directory": caller_directory(args, remote.address),
        "agentVersion": args.agent_version,
        "env": env,
        "mcp": mcp_servers(args.mcp or []),
    }
    path = session_path(args.session) if args.session else "/v1/sessions"
    created = remote.post(path, {**asked, **_settings(args)})
    if not created["healthy"]:
        raise ProblemAnswered(created.get("error") or {})
    if not args.session:
        say(f"session {created['sessionId']}")
    return Opened(created["sessionId"], 0, is_new=True)


def _sent_variables(whose: Whose, args: argparse.Namespace) -> dict[str, str]:
    """The agent's own family from this shell. A daemon of our own start has this shell's environment anyway."""
    agent = AGENTS.get(args.agent)
    found = own_family(agent, os.environ) if agent else {}
    if not found or whose == "child":
        return {}
    names = ", ".join(sorted(found))
    if whose == "other" and not args.send_env:
        say(f"not sent to this daemon: {names} (--send-env sends them)")
        return {}
    say(f"sent to the session: {names}")
    return found


def _have_agent(remote: Remote, whose: Whose, name: str, env: dict[str, str]) -> None:
    """Creating a session would install it too, but without a word."""
    _look_for_key(remote, whose, name, env)
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


def _look_for_key(remote: Remote, whose: Whose, name: str, env: dict[str, str]) -> None:
    """An agent that has to be fetched and could not log in is not fetched before somebody has agreed to that."""
    agent = AGENTS.get(name)
    if agent is None or _can_log_in(agent, whose, env):
        return
    there = next((one for one in remote.get("/v1/agents")["agents"] if one["id"] == name), None)
    if there is None or there["credentialsAvailable"]:
        return
    told = f"no key or login of {agent.title} was found: {how_to_log_in(agent)}"
    if there["installed"] or not agent.needs_credentials:
        say(f"warning: {told}")
    elif sys.stdin.isatty() and sys.stderr.isatty():
        say(told)
        if not confirmed(f"install {name} anyway?"):
            raise CommandFailed(f"{name} was not installed")
    else:
        raise CommandFailed(f"{told}. `sandbox-agent install-agent {name}` installs it anyway")


def _can_log_in(agent: Agent, whose: Whose, env: dict[str, str]) -> bool:
    """With the session's variables; the files of this user are there only for a daemon of this user."""
    seen = env if whose == "other" else {**os.environ, **env}
    home = Path.home() if whose != "other" else Path(os.devnull)
    return has_credentials(agent, seen, home)
