"""`credentials extract|extract-env`: the keys that agents would find on this machine. Nothing is written anywhere."""

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
from ..runtime.credentials import find_credentials, has_credentials
from .failures import WrongUsage
from .output import print_json, print_rows, say, wants_json

COLUMNS = ("agent", "available", "kind", "provider", "value", "expires", "source")
SHOWN = 4
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Of a variable. What is printed may be evaluated by a shell."""


class Shown(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A credential as it is printed."""

    kind: str
    source: str
    value: str | None = None
    env: str | None = None
    provider: str | None = None
    expires_at: str | None = None
    expired: bool = False
    renewable: bool = False


class OfAgent(Struct, frozen=True):
    agent: str
    available: bool
    credentials: list[Shown]
    problems: list[str]


def extract(args: argparse.Namespace) -> int:
    found = [_of_agent(agent, reveal=args.reveal) for agent in _chosen(args.agent)]
    if wants_json(args):
        print_json({"agents": found})
        return 0
    print_rows(COLUMNS, (row for one in found for row in _rows(one)), empty="no agents")
    for one in found:
        for problem in one.problems:
            say(problem)
    return 0


def extract_env(args: argparse.Namespace) -> int:
    variables = dict(_variables(_chosen(args.agent)))
    if args.export:
        say(f"the values of {len(variables)} variables are printed: for a shell, not for a screen or a log")
    elif not args.reveal:
        say("values are hidden; --reveal shows them")
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
        raise WrongUsage(f"no agent is called {name}; there are {', '.join(AGENTS)}")
    return [AGENTS[name]]


def _of_agent(agent: Agent, *, reveal: bool) -> OfAgent:
    found = find_credentials(agent, os.environ, Path.home())
    shown = [_shown(one, reveal=reveal) for one in found.credentials]
    return OfAgent(agent.name, has_credentials(agent, os.environ, Path.home()), shown, found.problems)


def _shown(one: Credential, *, reveal: bool) -> Shown:
    return Shown(
        one.kind,
        one.source,
        one.value if reveal or one.value is None else redacted(one.value),
        one.env,
        one.provider,
        None if one.expires_at is None else _moment(one.expires_at),
        one.has_expired(time.time()),
        one.renewable,
    )


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return "never"  # further away than there are dates


def _rows(one: OfAgent) -> Iterator[dict[str, object]]:
    facts: dict[str, object] = {"agent": one.agent, "available": one.available}
    if not one.credentials:
        yield facts
    for shown in one.credentials:
        yield {**facts, **structs.asdict(shown), "expires": _expiry(shown)}


def _expiry(shown: Shown) -> str | None:
    if not shown.expired:
        return shown.expires_at
    return f"{shown.expires_at} (expired{', renewed by the agent' if shown.renewable else ''})"


def _variables(agents: Iterable[Agent]) -> Iterator[tuple[str, str]]:
    """What other programs can use: of two values for one variable, the one that was found first."""
    now = time.time()
    seen: dict[str, Credential] = {}
    for agent in agents:
        for one in find_credentials(agent, os.environ, Path.home()).credentials:
            if one.env is None or one.value is None or one.has_expired(now) or not NAME.fullmatch(one.env):
                continue
            first = seen.setdefault(one.env, one)
            if first is one:
                yield one.env, one.value
            elif first.value != one.value:
                say(f"{one.env} is taken from {first.source}; {one.source} has another")


def how_to_log_in(agent: Agent, program: Path | None = None) -> str:
    """The next thing to type, for somebody whose agent has no key."""
    assert agent.credentials is not None
    variable = f"`export {agent.credentials.usual_variable}=...`"
    if program is None:
        return variable
    # A program that is not on PATH is named by its whole path.
    name = agent.executables[0]
    shown = name if shutil.which(name) == str(program) else shlex.quote(str(program))
    return f"{variable}, or log in with {agent.credentials.login.format(program=shown)}"


def redacted(value: str) -> str:
    """Enough to tell two keys apart, too little to use one."""
    return f"{value[:SHOWN]}…" if len(value) >= 4 * SHOWN else "…"
