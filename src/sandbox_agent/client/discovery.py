"""Finds the daemon: by arguments, the environment, the file of a running daemon in the data directory, or the default address."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from ..config import PREFIX, Config, data_folder
from ..presence import running_daemon
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
    if not _is_address(endpoint):
        raise BadAddress(f"{endpoint} is not an address: it should look like http://127.0.0.1:2468")
    return Address(endpoint, token)


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        host = (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and host != b"" and parts.port != 0
    except ValueError:  # brackets, a port that is no port, an empty label
        return False


def is_on_this_machine(endpoint: str) -> bool:
    return urlsplit(endpoint).hostname in LOOPBACK
