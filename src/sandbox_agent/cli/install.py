"""`install-agent NAME|all`: asks the daemon that runs, or one that is started for it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from .failures import ProblemAnswered
from .output import console, print_json, say, wants_json
from .remote import Remote
from .run import daemon_for


def install(args: argparse.Namespace) -> int:
    """Exit code 1 when any of them could not be installed."""
    body = {"reinstall": args.reinstall, "agentVersion": args.agent_version}
    installed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    with daemon_for(args) as remote:
        for name in _with_progress(_names(remote, args.agent)):
            try:
                answer = remote.post(f"/v1/agents/{quote(name, safe='')}/install", body)
                installed.append({"agent": name, **answer})
                say(_told(name, answer))
            except ProblemAnswered as problem:
                failed.append({"agent": name, **problem.problem()})
                say(problem.readable())
    if wants_json(args):
        print_json({"installed": installed, "failed": failed})
    return 1 if failed else 0


def _names(remote: Remote, wanted: str) -> list[str]:
    if wanted != "all":
        return [wanted]
    return [agent["id"] for agent in remote.get("/v1/agents")["agents"]]


def _told(name: str, answer: dict[str, Any]) -> str:
    state = "is there already" if answer["alreadyInstalled"] else "was installed"
    return f"{name} {answer['version'] or ''} {state}: {answer['path']}".replace("  ", " ")


def _with_progress(names: list[str]) -> Iterator[str]:
    if not sys.stderr.isatty():
        yield from names
        return
    spinner = console(stderr=True)
    for name in names:
        with spinner.status(f"installing {name}"):
            yield name
