"""What a fleet and a client need from the place where sandboxes run. They ask the daemons inside for everything else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from ..errors import InvalidRequest

SandboxState = Literal["running", "stopped", "dead"]
"""`stopped`: it was ended on purpose, or is about to end, and its files are kept. `dead`: it ended by itself, and nobody has stopped it since."""

START_SECONDS = 60.0
"""How long a start may take: a daemon whose name is taken waits for the end of a lease."""
STOP_SECONDS = 45.0
"""How long a stop may take before the sandbox is killed. Longer than `DRAIN_SECONDS`, which turns get to finish."""
DRAIN_SECONDS = 30

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", re.ASCII)


class SandboxSpec(Struct, frozen=True, kw_only=True):
    """A sandbox to start: a daemon with its name, its secrets and its flags."""

    name: str
    """The name of the sandbox, and of its node in the log."""
    token_file: Path
    database_url_file: Path | None = None
    """The shared log. Without it, the sandbox has a log of its own."""
    secrets_key_file: Path | None = None
    flags: Sequence[str] = ()
    """More flags of `sandbox-agent server`."""
    env: Mapping[str, str] = {}
    """Variables for the daemon and its agents. A daemon that is running keeps those it was started with."""


class Sandbox(Struct, frozen=True):
    """A sandbox that exists. It has an endpoint while it is running."""

    name: str
    state: SandboxState
    endpoint: str | None = None


class Access(Struct, frozen=True):
    """What requests to a sandbox need besides its endpoint."""

    token: str | None = None
    """The token of its daemon, if the sandbox knows it; otherwise the one of the spec that it was started with."""
    headers: Mapping[str, str] = {}
    """What the provider's own proxy asks for."""

    def __repr__(self) -> str:
        return "Access(...)"  # it must not show up in a log


class Provider(Protocol):
    """Starts, stops and lists sandboxes.

    - A name has at most one sandbox. Several programs may use the same provider at once: two starts of a name give one sandbox.
    - The files of a sandbox belong to its name, not to its process or container. Only `remove` deletes them.
    - A provider remembers nothing in memory that it cannot find again after a crash.
    - Every method ends in bounded time, and raises a `SandboxAgentError` that says what is wrong.
    """

    async def start(self, spec: SandboxSpec) -> Sandbox:
        """Start a sandbox, unless it is running, and return its address. The daemon may need a moment until it is ready."""

    async def stop(self, name: str) -> None:
        """Stop a sandbox and keep its files. Its daemon gets SIGTERM, and is killed if that takes too long; a provider that can
        keep a sandbox's memory pauses it instead.
        """

    async def remove(self, name: str) -> None:
        """Stop a sandbox and delete its files."""

    async def get(self, name: str) -> Sandbox | None:
        """One sandbox; None if there are no files of this name."""

    async def access(self, name: str) -> Access:
        """How to talk to a sandbox that is running. If it has ended, the error says why, as far as that is known."""

    async def list(self) -> list[Sandbox]:
        """Every sandbox, including those that are stopped or dead, by name."""

    async def close(self) -> None:
        """Release connections. Sandboxes keep running, and the provider can be used again."""


def is_name(name: str) -> bool:
    """Whether a sandbox can have this name: it becomes part of paths, so it does not start with a dot."""
    return _NAME.fullmatch(name) is not None


def checked_name(name: str) -> str:
    if not is_name(name):
        raise InvalidRequest(
            "a name has 1 to 64 characters of A-Z a-z 0-9 . _ - and does not start with a dot", field="node"
        )
    return name
