"""A daemon that programs find or start, and that outlives them: `acp` and `mcp` use it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import os
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from ..client.aio.client import AsyncSandboxAgent
from ..client.aio.transport import AsyncTransport
from ..client.call import Address, Answer, Call
from ..client.failures import DaemonUnreachable
from ..client.retry import Patience
from ..config import PREFIX
from ..errors import SandboxAgentError
from ..presence import load
from .daemon_command import launch
from .failures import CommandFailed
from .remote import find_address
from .shared_daemon import settled_daemon
from .state import DaemonState, data_dir, is_own, running_daemon


def find_client(args: argparse.Namespace) -> tuple[AsyncSandboxAgent, bool]:
    """A client of the daemon that is named or running, or of one that is started, and whether it is on this data directory."""
    folder = data_dir(args)
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    state = running_daemon(folder)
    # A daemon whose token was chosen by the user needs that token.
    if named or (state is not None and state.token is None):
        address = find_address(args)
        return AsyncSandboxAgent(address), is_own(folder, address.endpoint)
    address = find_or_start(folder)
    client = AsyncSandboxAgent(address)
    client.transport = BackgroundTransport(folder, address)
    return client, True


def find_or_start(folder: Path) -> Address:
    """The daemon on this data directory. One that crashed is started again with its address, token and flags."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "starting").open("w") as lock:
        # Several programs may notice at once that there is none. Each holds the lock for no longer than a start takes.
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = settled_daemon(folder) or _start(folder, load(folder))
    return Address(state.endpoint, state.token)


def _start(folder: Path, crashed: DaemonState | None) -> DaemonState:
    if crashed is None or not crashed.background:
        fresh = ("--port=0", "--data-dir", str(folder))
        return launch(folder, fresh, secrets.token_urlsafe(24), str(Path.home()))
    with contextlib.suppress(ChildProcessError):
        os.waitpid(crashed.pid, os.WNOHANG)  # it may have been a child of this program
    # If a flag is repeated, the last one counts.
    flags = (*crashed.flags, f"--port={urlsplit(crashed.endpoint).port}")
    return launch(folder, flags, crashed.token, crashed.directory)


class BackgroundTransport(AsyncTransport):
    """The transport to the daemon on a data directory, whichever it is at the moment.

    A request starts a daemon if there is none. A stream does so only after a crash: it must not undo `daemon stop`.
    """

    def __init__(self, folder: Path, address: Address) -> None:
        super().__init__(address, program="sandbox-agent-bridge")
        self._folder = folder

    async def address(self) -> Address:
        state = running_daemon(self._folder)
        if state is not None and state.token is not None:
            self._address = Address(state.endpoint, state.token)
        return await super().address()

    async def pause(
        self,
        patience: Patience,
        error: SandboxAgentError,
        *,
        repeatable: bool = True,
        until: float | None = None,
    ) -> None:
        if isinstance(error, DaemonUnreachable) and load(self._folder) is not None:
            await self._revive()
        await super().pause(patience, error, repeatable=repeatable, until=until)

    async def _send_once(self, call: Call) -> Answer:
        try:
            return await super()._send_once(call)
        except DaemonUnreachable as error:
            if error.sent:
                raise
        await self._revive()
        return await super()._send_once(call)

    async def _revive(self) -> None:
        try:
            await asyncio.to_thread(find_or_start, self._folder)
        except CommandFailed as problem:
            raise DaemonUnreachable(str(problem), sent=False) from None
