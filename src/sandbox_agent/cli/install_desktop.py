"""`install desktop`: installs what the desktop needs with the package manager of this machine."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys

from ..desktop import requirements
from .confirming import confirmed
from .failures import CommandFailed
from .output import print_json, say, wants_json


def install_desktop(args: argparse.Namespace) -> int:
    absent = requirements.missing()
    manager = requirements.package_manager()
    if absent and manager is None:
        raise CommandFailed(
            f"the desktop needs {', '.join(absent)}, and this machine has none of apt, dnf and apk: install them yourself"
        )
    commands = [_as_root(command) for command in requirements.install_commands(manager)] if manager else []
    if wants_json(args):
        print_json({"missing": list(absent), "commands": commands})
    if not absent:
        say("everything that the desktop needs is installed")
        return 0
    if args.print_only:
        if not wants_json(args):
            print("\n".join(shlex.join(command) for command in commands))
        return 0
    if not args.yes and not _confirmed(commands):
        raise CommandFailed("nothing was installed; --yes installs without asking")
    for command in commands:
        _run(command)
    if still := requirements.missing():
        raise CommandFailed(
            f"{', '.join(still)} is still missing; see the output of the package manager above"
        )
    say("the desktop is ready: `sandbox-agent desktop start`")
    return 0


def _as_root(command: tuple[str, ...]) -> tuple[str, ...]:
    return ("sudo", *command) if os.geteuid() != 0 and shutil.which("sudo") else command


def _confirmed(commands: list[tuple[str, ...]]) -> bool:
    if not sys.stdin.isatty():
        return False
    say("This would run:\n" + "\n".join(f"  {shlex.join(command)}" for command in commands))
    return confirmed("Continue?")


def _run(command: tuple[str, ...]) -> None:
    """What it prints goes to stderr: stdout is for data."""
    say(f"$ {shlex.join(command)}")
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, stdout=sys.stderr, env=environ)
    except OSError as error:
        raise CommandFailed(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise CommandFailed(f"`{shlex.join(command)}` failed with exit code {done.returncode}")
