"""Puts the daemon into a sandbox and starts it there, with nothing but a shell and files."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct

from ..errors import Unavailable
from ..presence import STATE_FILE, DaemonState
from .provider import DRAIN_SECONDS, SandboxSpec

PORT = 2468
"""The port inside a sandbox, unless the provider is given another."""
LAUNCH_SECONDS = 300.0
"""Time for a sandbox to be created, and for the daemon to be copied into it and to start."""
SHOWN_LINES = 15
PATH = 'PATH="$HOME/.local/bin:$PATH"; export PATH;'


class Ran(NamedTuple):
    exit_code: int
    stdout: str
    """A provider that does not distinguish the two has everything here."""
    stderr: str


class Shell(Protocol):
    """What a provider must be able to do in a sandbox."""

    async def run(self, command: str, env: Mapping[str, str]) -> Ran:
        """Run a command line of `sh` to its end. Does not raise because of its exit code."""

    async def read(self, path: str) -> str: ...

    async def write(self, path: str, content: bytes) -> None: ...


class Install(Struct, frozen=True):
    """How the daemon gets into a sandbox that does not contain it."""

    binary: Path | None = None
    """The single file for Linux (`make dist`), which is copied into the sandbox."""
    command: str | None = None
    """A command line that installs `sandbox-agent` in the sandbox, e.g. with pip."""


class _Status(Struct, rename="camel"):
    data_dir: str


async def launch(shell: Shell, spec: SandboxSpec, install: Install, port: int) -> None:
    """Start the daemon, unless it is running. Its token is passed in a file, which is gone afterwards."""
    home = await _installed(shell, install)
    token_file = f"{home}/.sandbox-agent-{secrets.token_hex(8)}"
    # The file exists before it has a content, so that nobody else can ever read it.
    await _done(
        shell, f"umask 077 && : > {shlex.quote(token_file)}", {}, "cannot write to the home directory"
    )
    await shell.write(token_file, spec.token_file.read_bytes())
    flags = ["--host", "0.0.0.0", "--port", str(port), "--token-file", token_file]  # noqa: S104 - in a sandbox
    flags += ["--node-name", spec.name, "--drain-seconds", str(DRAIN_SECONDS), *spec.flags]
    start = f"{PATH} sandbox-agent daemon start {shlex.join(flags)} >&2; code=$?; rm -f {shlex.quote(token_file)}; exit $code"
    await _done(shell, start, spec.env, f"the daemon of sandbox {spec.name} did not start")


async def token_of(shell: Shell) -> str:
    """The token of the daemon that is running, from a file that only its user can read."""
    ran = await _done(shell, f"{PATH} sandbox-agent daemon status --json", {}, "the daemon has ended")
    state = msgspec.json.decode(await shell.read(f"{_data_dir(ran.stdout)}/{STATE_FILE}"), type=DaemonState)
    if state.token is None:
        raise Unavailable(
            "the sandbox starts a daemon by itself, with a token that only you know: use connect()"
        )
    return state.token


async def _installed(shell: Shell, install: Install) -> str:
    """Put the daemon into the sandbox, unless it is there. Returns the home directory."""
    look = f'{PATH} command -v sandbox-agent >/dev/null && echo present; echo "home=$HOME"'
    found = (await _done(shell, look, {}, "the sandbox has no shell")).stdout
    home = found.partition("home=")[2].strip()
    if re.search("^present$", found, re.MULTILINE):
        return home
    if install.binary is not None:
        folder = f"{home}/.local/bin"
        await _done(shell, f"mkdir -p {shlex.quote(folder)}", {}, f"cannot write to {folder}")
        # Half a file must not be taken for the program.
        part = f"{folder}/sandbox-agent.part"
        await shell.write(part, install.binary.read_bytes())
        place = f"chmod 755 {shlex.quote(part)} && mv {shlex.quote(part)} {shlex.quote(f'{folder}/sandbox-agent')}"
        await _done(shell, place, {}, "the daemon cannot be installed")
    elif install.command is not None:
        await _done(shell, f"{PATH} {install.command}", {}, "the daemon cannot be installed")
    else:
        raise Unavailable(
            "the sandbox does not contain sandbox-agent: use an image or template that does, or say how to install it "
            "with `binary` (the single file of `make dist`) or `install` (a command)"
        )
    return home


async def _done(shell: Shell, command: str, env: Mapping[str, str], problem: str) -> Ran:
    ran = await shell.run(command, env)
    if ran.exit_code == 0:
        return ran
    output = "\n".join(f"{ran.stderr}\n{ran.stdout}".strip().splitlines()[-SHOWN_LINES:])
    raise Unavailable(f"{problem}: {output or f'exit code {ran.exit_code}'}")


def _data_dir(output: str) -> str:
    """From the answer of `daemon status`, which comes last."""
    for line in reversed(output.strip().splitlines()):
        try:
            return msgspec.json.decode(line, type=_Status).data_dir
        except msgspec.DecodeError:
            continue
    raise Unavailable("the daemon did not report where its files are")
