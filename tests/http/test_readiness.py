"""A service manager learns when the daemon is ready, and when it stops."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.daemons import SECONDS, Daemon, running


def test_a_service_manager_is_notified_when_the_daemon_is_ready_and_when_it_stops(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(SECONDS)
        with running(Daemon(tmp_path / "data", env={"NOTIFY_SOCKET": str(tmp_path / "notify")})):
            states = [manager.recv(100)]
        states.append(manager.recv(100))
    assert states == [b"READY=1", b"STOPPING=1"]
