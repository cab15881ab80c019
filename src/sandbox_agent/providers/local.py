"""Sandboxes as plain processes of this user: a daemon for each, with its own data directory, workspace and port.

This separates sessions by folder only. Whatever runs in one can read the others.

A sandbox is a folder: `data` is the daemon's data directory, `work` its working directory. The daemon holds a lock on `data` while
it runs, and leaves its address there; it removes the address when it is stopped, so an address without a lock is a crash.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from ..config import PREFIX, data_folder
from ..errors import Unavailable
from ..presence import forget, load, lock_holder, running_daemon
from ..private_files import log_file
from .provider import DRAIN_SECONDS, START_SECONDS, STOP_SECONDS, Access, Sandbox, SandboxSpec, checked_name

POLL_SECONDS = 0.05
KILL_SECONDS = 5.0
SHOWN_BYTES = 2000
REMOVED = ".removed-"

OWN_SETTINGS = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("TOKEN", "TOKEN_FILE", "NO_TOKEN", "DATABASE_URL", "DATABASE_URL_FILE", "SECRETS_KEY_FILE"),
        *("HOST", "PORT", "DATA_DIR", "NODE_NAME", "ENDPOINT", "PARENT_PID"),
    )
)
"""Variables that each sandbox gets as flags. All others are passed on."""


class LocalProvider:
    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds the folders of all sandboxes; `sandboxes` in the data directory if absent."""
        # Absolute, because the daemons have another working directory.
        self._folder = data_folder() / "sandboxes" if folder is None else folder.absolute()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        """Started by this program. They outlive it; until then, it must wait for their ends."""

    async def start(self, spec: SandboxSpec) -> Sandbox:
        place = self._place(spec.name)
        deadline = time.monotonic() + START_SECONDS
        for folder in (place, place / "data", place / "work"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with _locked(place / "starting", deadline):
            while (sandbox := self._running(spec.name)) is None:
                if lock_holder(place / "data") is None:
                    return await self._launch(spec, place, deadline)
                # It is stopping, or another program has just started it.
                await _pause(deadline, f"sandbox {spec.name} is neither starting nor stopping")
            return sandbox

    async def _launch(self, spec: SandboxSpec, place: Path, deadline: float) -> Sandbox:
        with log_file(place / "log") as log:
            child = subprocess.Popen(  # noqa: ASYNC220 - starting it takes a moment; nothing is read from it
                [sys.executable, "-P", "-m", "sandbox_agent", "server", *_flags(spec, place)],
                env={name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
                | dict(spec.env),
                cwd=place / "work",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it outlives this program, and Ctrl-C does not reach it
            )
        self._children[spec.name] = child
        try:
            while (sandbox := self._running(spec.name)) is None:
                if child.poll() is not None:
                    raise Unavailable(
                        f"sandbox {spec.name} did not start: {_last_output(place)}", node=spec.name
                    )
                await _pause(deadline, f"sandbox {spec.name} did not start in time: {_last_output(place)}")
        except BaseException:
            # Nobody waits for it any more, and it may wait for its name forever.
            child.kill()
            child.wait()
            raise
        return sandbox

    async def stop(self, name: str) -> None:
        data = self._place(name) / "data"
        for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
            if await _ended(data, number, seconds):
                break
        else:
            raise Unavailable(f"sandbox {name} cannot be killed", node=name)
        forget(data)  # it is not dead, but stopped
        self._reap()

    async def remove(self, name: str) -> None:
        await self.stop(name)
        # In one step, so that half of a folder is never taken for a sandbox.
        with contextlib.suppress(FileNotFoundError):
            self._place(name).rename(self._folder / f"{REMOVED}{name}-{secrets.token_hex(4)}")
        for leftover in self._folder.glob(f"{REMOVED}*"):
            await asyncio.to_thread(shutil.rmtree, leftover, ignore_errors=True)

    async def get(self, name: str) -> Sandbox | None:
        self._reap()
        place = self._place(name)
        if not (place / "data").is_dir():
            return None
        if sandbox := self._running(name):
            return sandbox
        died = load(place / "data") is not None and lock_holder(place / "data") is None
        return Sandbox(name, "dead" if died else "stopped")

    async def access(self, name: str) -> Access:
        if self._running(name) is None:
            raise Unavailable(
                f"the daemon of sandbox {name} has ended: {_last_output(self._place(name))}", node=name
            )
        return Access()

    async def list(self) -> list[Sandbox]:
        found = [await self.get(name) for name in self._names()]
        return [sandbox for sandbox in found if sandbox is not None]

    async def close(self) -> None:
        self._reap()
        for child in self._children.values():
            child.returncode = 0  # it keeps running; there is nothing to wait for

    def _names(self) -> Iterator[str]:
        if self._folder.is_dir():
            yield from sorted(path.name for path in self._folder.iterdir() if not path.name.startswith("."))

    def _running(self, name: str) -> Sandbox | None:
        state = running_daemon(self._place(name) / "data")
        return Sandbox(name, "running", state.endpoint) if state else None

    def _place(self, name: str) -> Path:
        return self._folder / checked_name(name)

    def _reap(self) -> None:
        for name, child in list(self._children.items()):
            if child.poll() is not None:
                del self._children[name]


def _flags(spec: SandboxSpec, place: Path) -> list[str]:
    """Secrets are passed as files: arguments are visible in process lists, and variables are inherited."""
    flags = ["--data-dir", str(place / "data"), "--host", "127.0.0.1", "--port", "0"]
    flags += ["--node-name", spec.name, "--drain-seconds", str(DRAIN_SECONDS)]
    files = {
        "--token-file": spec.token_file,
        "--database-url-file": spec.database_url_file,
        "--secrets-key-file": spec.secrets_key_file,
    }
    for flag, path in files.items():
        if path is not None:
            flags += [flag, str(path.absolute())]
    return [*flags, *spec.flags]


@contextlib.asynccontextmanager
async def _locked(path: Path, deadline: float) -> AsyncIterator[None]:
    """Hold a lock that ends with this program, however it ends."""
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await _pause(deadline, "another program has been starting this sandbox for too long")
        yield


async def _ended(data: Path, number: signal.Signals, seconds: float) -> bool:
    """Send a signal to the daemon on a data directory, and wait for its end."""
    pid = lock_holder(data)
    if pid is None:
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    deadline = time.monotonic() + seconds
    while lock_holder(data) == pid and time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)
    return lock_holder(data) != pid


async def _pause(deadline: float, problem: str) -> None:
    if time.monotonic() > deadline:
        raise Unavailable(problem)
    await asyncio.sleep(POLL_SECONDS)


def _last_output(place: Path) -> str:
    try:
        return (place / "log").read_bytes()[-SHOWN_BYTES:].decode(errors="replace").strip() or "no output"
    except OSError:
        return "no output"
