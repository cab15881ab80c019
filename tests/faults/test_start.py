"""Starts that must be refused, each with a message that says what to do, and what a successful start leaves on disk."""

from __future__ import annotations

import socket
import stat
import subprocess
from pathlib import Path

import apsw
import pytest
from tests.daemons import Daemon, client_of, done, refusal, running


def refused(daemon: Daemon) -> str:
    """Start a daemon that must not start. Returns its stderr."""
    daemon.launch()
    assert daemon.ended() == 1
    stderr = daemon.stderr()
    assert "Traceback" not in stderr
    assert "listening" not in stderr
    return stderr


def test_it_refuses_to_start_without_a_setting_for_the_token(tmp_path: Path) -> None:
    stderr = refused(Daemon(tmp_path / "data", "--log-level", "warning"))
    assert "refusing to start without a token" in stderr
    for way_out in ("--token-file", "--token", "SANDBOX_AGENT_TOKEN", "--no-token"):
        assert way_out in stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_token_file_must_hold_a_token(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    assert str(file) in refused(Daemon(tmp_path / "data", "--token-file", str(file)))


def test_a_token_must_fit_into_a_header(tmp_path: Path) -> None:
    assert "printable ASCII" in refused(Daemon(tmp_path / "data", "--token", "tökén"))


def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    assert "at least 16 characters" in refused(Daemon(tmp_path / "data", "--token", "x" * 15))
    with running(Daemon(tmp_path / "data", "--token", "x" * 16)):
        pass


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_can_reach_is_not_served_without_a_token_by_mistake(
    tmp_path: Path, host: str
) -> None:
    stderr = refused(Daemon(tmp_path / "data", "--no-token", "--host", host))
    assert "without a token" in stderr
    assert "--insecure-no-token" in stderr
    with running(Daemon(tmp_path / "data", "--insecure-no-token", "--host", host)) as daemon:
        pass
    assert "warning      no token: anyone who can reach this address can run code" in daemon.stderr()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.5", "::1"])
def test_loopback_needs_no_token_with_no_token(tmp_path: Path, host: str) -> None:
    with running(Daemon(tmp_path / "data", "--no-token", "--host", host)) as daemon:
        pass
    assert "warning" not in daemon.stderr()


@pytest.mark.parametrize("way", ["flag", "file", "variable"])
def test_a_token_comes_by_flag_file_or_variable(tmp_path: Path, way: str) -> None:
    token = "right-token-of-16"
    (tmp_path / "token").write_text(f"{token}\n")
    flags, env = {
        "flag": (("--token", token), {}),
        "file": (("--token-file", str(tmp_path / "token")), {}),
        "variable": (("--log-level", "warning"), {"SANDBOX_AGENT_TOKEN": token}),
    }[way]
    daemon = Daemon(tmp_path / "data", *flags, env=env)
    with running(daemon), client_of(daemon, token) as client, client_of(daemon) as stranger:
        assert done(client.get("/v1/sessions")) == {"sessions": []}
        assert refusal(stranger.get("/v1/sessions")) == (401, "token_invalid")


def test_two_daemons_cannot_share_a_folder(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as first, client_of(first) as client:
        stderr = refused(Daemon(tmp_path / "data"))
        assert f"another daemon (pid {first.pid}) uses {tmp_path / 'data'}" in stderr
        assert "--data-dir" in stderr
        assert done(client.get("/v1/ready")) == {"status": "ready"}


def test_a_folder_is_free_again_the_moment_its_daemon_is_killed(tmp_path: Path) -> None:
    first = Daemon(tmp_path / "data").start()
    first.kill()
    with running(Daemon(tmp_path / "data")):
        pass


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        stderr = refused(Daemon(tmp_path / "data", "--no-token", "--port", str(port)))
    assert f"127.0.0.1:{port}" in stderr
    assert "--port 0" in stderr


def test_an_impossible_data_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    impossible = str(tmp_path / "file" / "data")
    assert impossible in refused(Daemon(tmp_path / "data", "--no-token", "--data-dir", impossible))


def test_only_the_owner_can_read_the_state(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data")
    with running(daemon), client_of(daemon) as client:
        session = client.create(env={"SECRET": "x"})
        client.request("POST", f"/v1/sessions/{session}/attachments", content=b"x")
        client.turn(session, "hi")
        open_to_others = [
            path
            for path in [daemon.data_dir, *daemon.data_dir.rglob("*")]
            if path == daemon.data_dir or (path.is_file() and path.parent.name != "mock")  # the agent's own
            if stat.S_IMODE(path.stat().st_mode) & 0o077
        ]
        assert open_to_others == []


def test_a_damaged_log_is_refused_and_kept(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data")
    with running(daemon), client_of(daemon) as client:
        for _ in range(3):
            client.turn(client.create(), "flood 300")
    log = daemon.data_dir / "log.db"
    content = bytearray(log.read_bytes())
    assert len(content) > 3 * 4096
    content[4096:] = b"\xa5" * (len(content) - 4096)
    log.write_bytes(content)
    assert f"{log} is damaged" in refused(Daemon(tmp_path / "data"))
    assert log.read_bytes() == content


def test_a_file_that_is_not_a_database_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    log = tmp_path / "data" / "log.db"
    log.write_bytes(b"these are my notes\n" * 1000)
    assert f"{log} is damaged" in refused(Daemon(tmp_path / "data"))
    assert log.read_bytes() == b"these are my notes\n" * 1000


def test_a_log_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data").start()
    daemon.stop()
    database = apsw.Connection(str(tmp_path / "data" / "log.db"))
    database.pragma("user_version", 999)
    database.close()
    stderr = refused(Daemon(tmp_path / "data"))
    assert "schema 999" in stderr
    assert "newer sandbox-agent" in stderr


STRANGER = ["unshare", "--user", "--map-user=54321", "env", "-u", "HOME"]


@pytest.mark.skipif(
    subprocess.run([*STRANGER, "true"], capture_output=True, check=False).returncode != 0,
    reason="needs user namespaces",
)
def test_a_user_without_a_home_directory_can_run_it(tmp_path: Path) -> None:
    with (
        running(Daemon(tmp_path / "data", "--no-token", inside=STRANGER)) as daemon,
        client_of(daemon) as client,
    ):
        assert done(client.get("/v1/agents"))["agents"]
        assert done(client.get("/v1/fs/stat", path="."))["path"] == "/"
