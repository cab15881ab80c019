"""Finds the daemon: by arguments, the environment, the file of a running daemon in the data directory, or the default address."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from urllib.parse import urlsplit

from ..config import PREFIX, Config, default_data_dir, named_data_dir
from ..presence import DaemonState, load
from .call import Address
from .failures import BadAddress

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def find_address(
    endpoint: str | None = None, token: str | None = None, folder: Path | None = None
) -> Address:
    """From the arguments, then the environment, then the file of a running daemon, then the default address."""
    endpoint = endpoint or os.environ.get(f"{PREFIX}ENDPOINT")
    token = token or os.environ.get(f"{PREFIX}TOKEN") or None
    state = running_daemon(folder or data_folder())
    if endpoint is None:
        endpoint = state.endpoint if state else f"http://{Config().host}:{Config().port}"
    endpoint = endpoint.rstrip("/")
    # The file's token belongs to that daemon and is never sent to another.
    if token is None and state is not None and state.endpoint == endpoint:
        token = state.token
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddress(f"{endpoint} is not an address: it should look like http://127.0.0.1:2468")
    return Address(endpoint, token)


def is_on_this_machine(endpoint: str) -> bool:
    return urlsplit(endpoint).hostname in LOOPBACK


def data_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """The given data directory, or the one from the environment, or the default."""
    named = named_data_dir(given, os.environ)
    return Path(named).expanduser().absolute() if named else default_data_dir()


def running_daemon(folder: Path) -> DaemonState | None:
    """The daemon that runs on this data directory, if it has published its address."""
    state = load(folder)
    return state if state is not None and lock_holder(folder) == state.pid else None


def lock_holder(folder: Path) -> int | None:
    """The process that holds the directory's lock. A pid alone proves nothing: it may belong to another process by now."""
    try:
        with (folder / "lock").open() as lock:
            text = lock.read().strip()
            if not text.isdecimal() or not is_alive(int(text)):
                return None
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return int(text)
            return None
    except OSError:
        return None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
