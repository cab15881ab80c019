"""`credentials extract|extract-env`: the credentials that agents find on this machine. Writes no files."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, structs

from ..agents import AGENTS
from ..agents.base import Agent
from ..agents.credentials import Credential
from ..agents.unknown import unknown_agent
from ..runtime.credentials import find_credentials, has_credentials
from .failures import WrongUsage
from .output import print_json, print_rows, say, wants_json

COLUMNS = ("agent", "available", "kind", "provider", "value", "expires", "source")
SHOWN = 4
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A valid variable name. A shell may evaluate the output."""


class Shown(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A credential as printed."""

    kind: str
    source: str
    value: str | None = None
    env: str | None = None
    provider: str | None = None
    expires_at: str | None = None
    expired: bool = False
    renewable: bool = False


class AgentCredentials(Struct, frozen=True):
    agent: str
    available: bool
    credentials: list[Shown]
    problems: list[str]


def extract(args: argparse.Namespace) -> int:
    found = [_of_agent(agent, reveal=args.reveal) for agent in _chosen(args.agent)]
    if wants_json(args):
        print_json({"agents": found})
        return 0
    print_rows(COLUMNS, (row for agent in found for row in _rows(agent)), empty="no agents")
    for agent in found:
        for problem in agent.problems:
            say(problem)
    return 0


def extract_env(args: argparse.Namespace) -> int:
    variables = dict(_variables(_chosen(args.agent)))
    if args.export:
        say(f"printing {len(variables)} secret values: use them in a shell, not on a screen or in a log")
    elif not args.reveal:
        say("values are masked; use --reveal to show them")
        variables = {name: redacted(value) for name, value in variables.items()}
    if getattr(args, "json", False):
        print_json(variables)
        return 0
    for name, value in variables.items():
        print(f"{'export ' if args.export else ''}{name}={shlex.quote(value)}")
    return 0


def _chosen(name: str | None) -> list[Agent]:
    if name is None:
        return list(AGENTS.values())
    if name not in AGENTS:
        raise WrongUsage(unknown_agent(name, AGENTS))
    return [AGENTS[name]]


def _of_agent(agent: Agent, *, reveal: bool) -> AgentCredentials:
    found = find_credentials(agent, os.environ, Path.home())
    shown = [_shown(credential, reveal=reveal) for credential in found.credentials]
    return AgentCredentials(
        agent.name, has_credentials(agent, os.environ, Path.home()), shown, found.problems
    )


def _shown(credential: Credential, *, reveal: bool) -> Shown:
    return Shown(
        credential.kind,
        credential.source,
        credential.value if reveal or credential.value is None else redacted(credential.value),
        credential.env,
        credential.provider,
        None if credential.expires_at is None else _moment(credential.expires_at),
        credential.has_expired(time.time()),
        credential.renewable,
    )


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return "never"  # beyond the range of datetime


def _rows(found: AgentCredentials) -> Iterator[dict[str, object]]:
    facts: dict[str, object] = {"agent": found.agent, "available": found.available}
    if not found.credentials:
        yield facts
    for shown in found.credentials:
        yield {**facts, **structs.asdict(shown), "expires": _expiry(shown)}


def _expiry(shown: Shown) -> str | None:
    if not shown.expired:
        return shown.expires_at
    return f"{shown.expires_at} (expired{', renewed by the agent' if shown.renewable else ''})"


def _variables(agents: Iterable[Agent]) -> Iterator[tuple[str, str]]:
    """Variables for other programs. If a variable has two values, the first one found is used."""
    now = time.time()
    seen: dict[str, Credential] = {}
    for agent in agents:
        for credential in find_credentials(agent, os.environ, Path.home()).credentials:
            if (
                credential.env is None
                or credential.value is None
                or credential.has_expired(now)
                or not NAME.fullmatch(credential.env)
            ):
                continue
            first = seen.setdefault(credential.env, credential)
            if first is credential:
                yield credential.env, credential.value
            elif first.value != credential.value:
                say(f"using {credential.env} from {first.source}; {credential.source} has a different value")


def how_to_log_in(agent: Agent, program: Path | None = None) -> str:
    """The command to run next if the agent has no credentials."""
    assert agent.credentials is not None
    variable = f"`export {agent.credentials.usual_variable}=...`"
    if program is None:
        return variable
    # A program that is not on PATH is shown with its full path.
    name = agent.executables[0]
    shown = name if shutil.which(name) == str(program) else shlex.quote(str(program))
    return f"{variable}, or log in with {agent.credentials.login.format(program=shown)}"


def redacted(value: str) -> str:
    """Enough of a key to recognize it, too little to use it."""
    return f"{value[:SHOWN]}…" if len(value) >= 4 * SHOWN else "…"
