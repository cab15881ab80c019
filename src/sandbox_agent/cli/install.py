"""`install-agent NAME|all`: installs into the data folder itself; only a daemon that is named does it in our place.

So where agents come from is said by who may start programs on this machine anyway, and no request can name it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from .. import __version__
from ..agents import AGENTS
from ..client.call import segment
from ..config import PREFIX, from_environment
from ..errors import SandboxAgentError
from ..install.installer import Installer
from ..install.progress import Progress, Tell
from ..schema.answers import Installed
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .install_display import Display
from .output import print_json, say, wants_json
from .remote import Remote, call, find_address
from .state import data_dir

Install = Callable[[str, Tell], Installed]


def install(args: argparse.Namespace) -> int:
    """Exit code 1 when any of them could not be installed."""
    if getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT"):
        if args.mirror is not None:
            raise WrongUsage(
                "--from is for this machine; a daemon has a mirror of its own (`server --mirror`)"
            )
        with Remote(find_address(args)) as remote:
            return _install(args, lambda name, tell: install_remotely(remote, name, _body(args), tell))
    mirror = args.mirror or from_environment({}).mirror
    installer = Installer(data_dir(args), mirror)
    return _install(args, lambda name, tell: _install_here(installer, args, name, tell))


def _install(args: argparse.Namespace, how: Install) -> int:
    fetched = [agent.name for agent in AGENTS.values() if agent.executables]
    installed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for name in fetched if args.agent == "all" else [args.agent]:
        try:
            with Display(name) as display:
                answer = how(name, display.tell)
        except ProblemAnswered as problem:
            failed.append({"agent": name, **problem.problem()})
            say(problem.readable())
        else:
            installed.append({"agent": name, **msgspec.to_builtins(answer)})
            say(_told(name, answer))
    if wants_json(args):
        print_json({"installed": installed, "failed": failed})
    return 1 if failed else 0


def _body(args: argparse.Namespace) -> dict[str, object]:
    return {"reinstall": args.reinstall, "agentVersion": args.agent_version}


def _install_here(installer: Installer, args: argparse.Namespace, name: str, tell: Tell) -> Installed:
    agent = AGENTS.get(name)
    if agent is None:
        raise WrongUsage(f"there is no agent {name}; there are {', '.join(AGENTS)}")
    if not agent.executables:
        return Installed(True, __version__, sys.executable, "built-in")
    try:
        return installer.install(agent, args.agent_version, reinstall=args.reinstall, tell=tell)
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None


def install_remotely(remote: Remote, name: str, body: dict[str, object], tell: Tell) -> Installed:
    """Ask a daemon to install an agent, and hear how it gets on."""
    for frame in remote.watch(call("POST", f"/v1/agents/{segment(name)}/install", body=body)):
        match frame.event:
            case "progress":
                tell(msgspec.json.decode(frame.data, type=Progress))
            case "result":
                return msgspec.json.decode(frame.data, type=Installed)
            case "problem":
                raise ProblemAnswered(msgspec.json.decode(frame.data, type=dict[str, Any]))
    raise CommandFailed("the daemon went away before the agent was installed")


def _told(name: str, answer: Installed) -> str:
    state = "is there already" if answer.already_installed else f"was installed from {answer.source}"
    return f"{name} {answer.version or '(version unknown)'} {state}: {answer.path}"
