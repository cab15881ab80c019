"""`credentials extract|extract-env`: the keys that agents would find in this environment. Nothing is written anywhere."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..agents import AGENTS
from ..agents.base import Agent
from .failures import WrongUsage
from .output import print_json, print_rows, say, wants_json

SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
SHOWN = 4


def extract(args: argparse.Namespace) -> int:
    rows = [_row(agent, reveal=args.reveal) for agent in _chosen(args.agent)]
    if wants_json(args):
        print_json({"credentials": rows})
        return 0
    columns = ("agent", "available", "variables")
    named = [
        {**row, "variables": ", ".join(f"{name}={value}" for name, value in row["variables"].items())}
        for row in rows
    ]
    print_rows(columns, named, empty="no agents")
    return 0


def extract_env(args: argparse.Namespace) -> int:
    found: dict[str, str] = {}
    for agent in _chosen(args.agent):
        found |= variables(agent, os.environ)
    if not args.reveal:
        say("values are hidden; --reveal shows them")
        found = {name: redacted(value) for name, value in found.items()}
    if getattr(args, "json", False):
        print_json(found)
        return 0
    for name, value in found.items():
        print(f"{'export ' if args.export else ''}{name}={shlex.quote(value)}")
    return 0


def _chosen(name: str | None) -> list[Agent]:
    if name is None:
        return list(AGENTS.values())
    if name not in AGENTS:
        raise WrongUsage(f"no agent is called {name}; there are {', '.join(AGENTS)}")
    return [AGENTS[name]]


def _row(agent: Agent, *, reveal: bool) -> dict[str, Any]:
    found = variables(agent, os.environ)
    return {
        "agent": agent.name,
        "available": agent.has_credentials(os.environ, Path.home()),
        "variables": found if reveal else {name: redacted(value) for name, value in found.items()},
    }


def variables(agent: Agent, environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets in the families of variables that this agent sees."""
    return dict(_secrets(agent, environ))


def _secrets(agent: Agent, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in sorted(environ.items()):
        if (
            value
            and agent.env_families
            and name.startswith(agent.env_families)
            and name.endswith(SECRET_ENDINGS)
        ):
            yield name, value


def redacted(value: str) -> str:
    """Enough to tell two keys apart, too little to use one."""
    return f"{value[:SHOWN]}…" if len(value) >= 4 * SHOWN else "…"
