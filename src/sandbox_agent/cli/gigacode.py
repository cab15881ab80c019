"""`gigacode`: any agent in the terminal interface of OpenCode, which is fetched if it is missing."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..agents import AGENTS
from ..client.call import segment
from ..config import PREFIX, from_environment
from ..errors import SandboxAgentError
from ..install.installer import Installer
from . import daemon_command
from .failures import ProblemAnswered, WrongUsage
from .install import install_remotely
from .install_display import Display
from .main import main as run_command
from .remote import Address, Remote, find_address
from .state import data_dir, running_daemon

CLIENT = "opencode"


def main() -> int:
    """The program `gigacode`."""
    return run_command(["gigacode", *sys.argv[1:]])


def gigacode(args: argparse.Namespace) -> int:
    """Replaces this process with the interface. The daemon and its agents keep running."""
    directory = os.path.abspath(args.directory or ".")
    if not os.path.isdir(directory):
        raise WrongUsage(f"there is no directory {directory}")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUsage("gigacode needs a terminal; `sandbox-agent run` works in a pipe")
    address = _daemon(args)
    # An unknown agent is refused before anything is downloaded.
    with Remote(address) as remote, Display(args.agent) as display:
        install_remotely(remote, args.agent, {}, display.tell)
    program = _client_program(args)
    url = f"{address.endpoint.rstrip('/')}/opencode/@{segment(args.agent)}"
    environ = client_environment(dict(os.environ), data_dir(args), args.agent, address.token)
    sys.stdout.flush()
    which = ["--session", args.session] if args.session else ["--continue"] if args.latest else []
    argv = [CLIENT, "attach", url, "--dir", directory, *which]
    os.execve(program, argv, environ)  # noqa: S606 - the interface takes over the terminal


def client_environment(
    environ: dict[str, str], folder: Path, agent: str, token: str | None
) -> dict[str, str]:
    """The interface remembers the last model by itself, so each agent has a memory of its own: the chosen agent counts."""
    memory = {"XDG_STATE_HOME": str(folder / "gigacode" / agent), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    password = {"OPENCODE_SERVER_PASSWORD": token} if token else {}
    return {**environ, **memory, **password}


def _client_program(args: argparse.Namespace) -> str:
    installer = Installer(data_dir(args), from_environment({}).mirror)
    try:
        with Display(CLIENT) as display:
            return installer.install(AGENTS[CLIENT], tell=display.tell).path
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None


def _daemon(args: argparse.Namespace) -> Address:
    """The daemon that is named or running; otherwise a new one in the background."""
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    if not named and running_daemon(data_dir(args)) is None:
        daemon_command.start(argparse.Namespace(data_dir=str(data_dir(args)), port=0))
    return find_address(args)
