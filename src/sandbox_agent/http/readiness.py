"""Tells a service manager that the daemon is ready or stops, as systemd's `Type=notify` expects."""

from __future__ import annotations

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"


def notify(state: str) -> None:
    """Send a state, like `READY=1`, if someone asked for it."""
    address = os.environ.get(VARIABLE)
    if not address:
        return
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.connect(address)
        manager.send(state.encode())
