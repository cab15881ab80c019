"""`install-agent NAME|all`: installs into the data directory of this machine, or asks a daemon named by `--endpoint`.

Only a user who can start programs on this machine chooses where agents come from; no request can.
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
from ..agents.unknown import unknown_agent
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
    """Exit code 1 if any agent could not be installed."""
    if getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT"):
        if args.mirror is not None:
            raise WrongUsage(
                "--from works only on this machine; set the mirror of a daemon with `server --mirror`"
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
            say(_result(name, answer))
    if wants_json(args):
        print_json({"installed": installed, "failed": failed})
    return 1 if failed else 0


def _body(args: argparse.Namespace) -> dict[str, object]:
    return {"reinstall": args.reinstall, "agentVersion": args.agent_version}


def _install_here(installer: Installer, args: argparse.Namespace, name: str, tell: Tell) -> Installed:
    agent = AGENTS.get(name)
    if agent is None:
        raise WrongUsage(unknown_agent(name, AGENTS))
    if not agent.executables:
        return Installed(True, __version__, sys.executable, "built-in")
    try:
        return installer.install(agent, args.agent_version, reinstall=args.reinstall, tell=tell)
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None


def install_remotely(remote: Remote, name: str, body: dict[str, object], tell: Tell) -> Installed:
    """Ask a daemon to install an agent, and follow its progress."""
    for frame in remote.watch(call("POST", f"/v1/agents/{segment(name)}/install", body=body)):
        match frame.event:
            case "progress":
                tell(msgspec.json.decode(frame.data, type=Progress))
            case "result":
                return msgspec.json.decode(frame.data, type=Installed)
            case "problem":
                raise ProblemAnswered(msgspec.json.decode(frame.data, type=dict[str, Any]))
    raise CommandFailed("the daemon closed the connection before the agent was installed")


def _result(name: str, answer: Installed) -> str:
    state = "is already installed" if answer.already_installed else f"was installed from {answer.source}"
    return f"{name} {answer.version or '(version unknown)'} {state}: {answer.path}"
