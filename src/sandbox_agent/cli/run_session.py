"""The session that `run` uses: a new one, a named one, or the latest one in this directory."""

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
from ..config import PREFIX
from ..errors import URN, UnsupportedAgent
from ..runtime.credentials import has_credentials
from ..schema.sessions import SessionInfo
from .archive import all_sessions
from .confirming import confirmed
from .credentials import how_to_log_in
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .install import install_remotely
from .install_display import Display
from .output import say
from .remote import Remote, call, caller_directory, session_path
from .request import mcp_servers, pairs, skill_source

ACP_AGENT = f"{PREFIX}ACP_AGENT"

Whose = Literal["child", "own", "other"]
"""The daemon: started by this command, another one of this user on this machine, or any other."""


class Opened(NamedTuple):
    """The session to use."""

    id: str
    seen: int
    """The sequence of its last event."""
    is_new: bool


def open_session(remote: Remote, whose: Whose, args: argparse.Namespace) -> Opened:
    existing = _latest(remote, args) if args.latest else _named(remote, args.session)
    return _create(remote, whose, args) if existing is None else _continue(remote, existing, args)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    settings = {
        "agentMode": args.agent_mode,
        "permissionMode": args.permission_mode,
        "model": args.model,
        "variant": args.variant,
        "title": args.title,
        "limits": None if args.max_cost_usd is None else {"maxCostUsd": args.max_cost_usd},
    }
    return {name: value for name, value in settings.items() if value is not None}


# -- an existing session ----------------------------------------------------------------------------


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
    sessions = [
        session
        for session in all_sessions(remote)
        if session.agent == args.agent
        and not session.ended
        and (directory is None or os.path.realpath(session.directory) == os.path.realpath(directory))
    ]
    if not sessions:
        where = f" in {directory}" if directory else ""
        raise CommandFailed(f"no session of {args.agent}{where} to continue")
    latest = max(sessions, key=lambda session: session.updated_at)
    say(f"session {latest.session_id}{f' ({latest.title})' if latest.title else ''}")
    return latest


def _continue(remote: Remote, existing: SessionInfo, args: argparse.Namespace) -> Opened:
    if existing.agent != args.agent:
        raise WrongUsage(f"session {existing.session_id} belongs to {existing.agent}, not to {args.agent}")
    _refuse_options_for_new_sessions(existing, args)
    if settings := _settings(args):
        remote.send(call("PATCH", session_path(existing.session_id), body=settings))
    return Opened(existing.session_id, existing.event_count, is_new=False)


def _refuse_options_for_new_sessions(existing: SessionInfo, args: argparse.Namespace) -> None:
    """Ignoring these options would run the prompt in the wrong place."""
    if args.directory and os.path.realpath(args.directory) != os.path.realpath(existing.directory):
        raise WrongUsage(
            f"session {existing.session_id} works in {existing.directory}: --directory works only for a new session"
        )
    for flag, given in (
        ("--agent-version", args.agent_version),
        ("--env", args.env),
        ("--mcp", args.mcp),
        ("--skills", args.skills),
        ("--send-env", args.send_env),
    ):
        if given:
            raise WrongUsage(
                f"session {existing.session_id} already exists: {flag} works only for a new session"
            )


def explain_variables(existing: Opened, agent_name: str) -> None:
    """After a failed login: a key that was set in this shell since then has not reached the agent."""
    agent = AGENTS.get(agent_name)
    if agent and (found := own_family(agent, os.environ)):
        names = ", ".join(sorted(found))
        say(
            f"session {existing.id} keeps the variables it was created with; "
            f"from this shell, a new session gets {names}"
        )


# -- a new session ----------------------------------------------------------------------------------


def _create(remote: Remote, whose: Whose, args: argparse.Namespace) -> Opened:
    given = pairs(args.env or [], os.environ)
    env = {**_sent_variables(whose, args), **given}
    _look_for_key(remote, whose, args, env)
    version = _have_agent(remote, whose, args.agent, args.agent_version)
    asked = {
        "agent": args.agent,
        "directory": caller_directory(args, remote.address),
        "agentVersion": version,
        "env": env,
        "mcp": mcp_servers(args.mcp or []),
        "skills": {"sources": [skill_source(text) for text in args.skills or []]},
    }
    path = session_path(args.session) if args.session else "/v1/sessions"
    created = remote.post(path, {**asked, **_settings(args)})
    if not created["healthy"]:
        raise ProblemAnswered(created.get("error") or {})
    if not args.session:
        say(f"session {created['sessionId']}")
    return Opened(created["sessionId"], 0, is_new=True)


def _sent_variables(whose: Whose, args: argparse.Namespace) -> dict[str, str]:
    """The agent's own variables from this shell. A daemon started by this command already has them."""
    agent = AGENTS.get(args.agent)
    found = own_family(agent, os.environ) if agent else {}
    if not found or whose == "child":
        return {}
    names = ", ".join(sorted(found))
    if whose == "other" and not args.send_env:
        say(f"not sent to this daemon: {names} (use --send-env to send them)")
        return {}
    say(f"sent to the session: {names}")
    return found


def _have_agent(remote: Remote, whose: Whose, name: str, version: str | None) -> str | None:
    """Install the agent and show the progress, which creating a session would not show. Returns the version to ask for.

    A version chosen for one session does not become the default.
    """
    body = {"agentVersion": version, "keepDefault": True} if version else {}
    with Display(name) as display:
        try:
            installed = install_remotely(remote, name, body, display.tell)
        except ProblemAnswered as problem:
            if problem.problem().get("type") == URN + UnsupportedAgent.type and whose != "child":
                _check_own_variable(name)
            if problem.status != 403:
                raise
            # The daemon runs with --no-install: creating the session reports what is missing.
            return version
    if not installed.already_installed:
        say(f"installed {name} {installed.version} from {installed.source}")
    return version and installed.version


def _check_own_variable(name: str) -> None:
    """This shell may define the agent, but only a daemon that starts in it would know that."""
    if any(agent.startswith(f"{name}=") for agent in os.environ.get(ACP_AGENT, "").splitlines()):
        raise CommandFailed(
            f"the running daemon does not know {name}: it was started without this {ACP_AGENT}. "
            "`sandbox-agent daemon restart` passes it on"
        )


def _look_for_key(remote: Remote, whose: Whose, args: argparse.Namespace, env: dict[str, str]) -> None:
    """If an agent without credentials would have to be downloaded, ask first."""
    name: str = args.agent
    agent = AGENTS.get(name)
    if agent is None or _can_log_in(agent, whose, env):
        return
    info = next((info for info in remote.get("/v1/agents")["agents"] if info["id"] == name), None)
    if info is None or info["credentialsAvailable"]:
        return
    message = f"no key or login found for {agent.title}: {how_to_log_in(agent)}"
    if info["installed"] or not agent.needs_credentials:
        say(f"warning: {message}")
    elif sys.stdin.isatty() and sys.stderr.isatty():
        say(message)
        if not confirmed(f"install {name} anyway?"):
            raise CommandFailed(f"{name} was not installed")
    else:
        version = f" --version {args.agent_version}" if args.agent_version else ""
        raise CommandFailed(f"{message}. `sandbox-agent install-agent {name}{version}` installs it anyway")


def _can_log_in(agent: Agent, whose: Whose, env: dict[str, str]) -> bool:
    """With the session's variables, and the user's files if the daemon belongs to the same user."""
    seen = env if whose == "other" else {**os.environ, **env}
    home = Path.home() if whose != "other" else Path(os.devnull)
    return has_credentials(agent, seen, home)
