"""`daemon stop`, `daemon restart` and `daemon logs`."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from tests.daemons import wait_until

from sandbox_agent.presence import lock_holder

from .conftest import Cli, environment
from .test_commands import begun


def test_a_restarted_daemon_is_found_where_it_was(local: Cli, tmp_path: Path) -> None:
    state = tmp_path / "state" / "daemon.json"
    first = msgspec.json.decode(
        local("daemon", "start", "--port", "0", "--log-level", "info", "--json").stdout
    )
    try:
        local("sessions", "create", "kept", "--agent", "mock")
        token = msgspec.json.decode(state.read_bytes())["token"]
        again = local("daemon", "restart", "--json")
        second = msgspec.json.decode(again.stdout)
        assert (again.returncode, second["endpoint"]) == (0, first["endpoint"])
        assert second["pid"] != first["pid"]
        saved = msgspec.json.decode(state.read_bytes())
        assert (saved["token"], "--log-level=info" in saved["flags"]) == (token, True)
        assert local("sessions", "get", "kept").returncode == 0
        logged = local("daemon", "logs", "--lines", "1")
        assert (logged.returncode, len(logged.stdout.splitlines())) == (0, 1)
        with begun("daemon", "logs", "--follow", env=environment(tmp_path), cwd=tmp_path) as following:
            assert following.stdout is not None
            assert next(line for line in following.stdout if "listening on" in line)
            following.terminate()
    finally:
        local("daemon", "stop")


def test_a_stopping_daemon_keeps_its_data_directory_until_it_answers_nobody(
    local: Cli, tmp_path: Path
) -> None:
    daemon = msgspec.json.decode(local("daemon", "start", "--port", "0", "--json").stdout)
    address = urlsplit(daemon["endpoint"])
    os.kill(daemon["pid"], signal.SIGTERM)
    wait_until(lambda: lock_holder(tmp_path / "state") is None)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port))


def test_a_missing_log_is_reported(local: Cli, tmp_path: Path) -> None:
    failed = local("daemon", "logs")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "`daemon start` creates it" in failed.stderr


def test_an_empty_data_directory_does_not_find_another_daemon(local: Cli) -> None:
    failed = local("sessions", "list", "--data-dir", "")
    assert (failed.returncode, failed.stderr) == (
        2,
        "error: --data-dir / SANDBOX_AGENT_DATA_DIR is empty: set it to a directory or leave it unset\n",
    )
