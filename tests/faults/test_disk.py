"""A disk that is full or read-only for a while: requests get a clear problem, nothing acknowledged is lost, no restart is needed.

The daemon runs on a small tmpfs in a mount namespace of its own; the tests reach into it through `/proc`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.daemons import (
    SECONDS,
    Client,
    Daemon,
    agent_pids,
    client_of,
    done,
    gone_within,
    refusal,
    running,
    stop_reason,
    texts,
    types,
    wait_until,
)
from tests.faults.preload import Faults

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]

needs_namespaces = pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0,
    reason="needs user namespaces",
)


# -- full ---------------------------------------------------------------------------------------

PROGRAM = [sys.executable, "-P", "-m", "sandbox_agent"]
RUN = [*PROGRAM, "run", "mock", "--session", "run"]
START = [*PROGRAM, "daemon", "start", "--port", "0"]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    data = tmp_path / "data"
    data.mkdir()
    mount = f'mount -t tmpfs -o size=6m,mode=700 tmpfs {data} && exec "$0" "$@"'
    with running(Daemon(data, inside=[*NAMESPACE, "sh", "-c", mount])) as daemon:
        yield daemon


class Filler:
    """A file that takes all the space that is left."""

    def __init__(self, daemon: Daemon) -> None:
        self._path = Path(f"/proc/{daemon.pid}/root{daemon.data_dir}/filler")

    def fill(self) -> None:
        with self._path.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def empty(self) -> None:
        os.unlink(self._path)


def refuses(client: Client) -> bool:
    return client.get("/v1/ready").status_code == 503


def fill_until_it_shows(client: Client, session: str, filler: Filler) -> None:
    """SQLite has some room left; send messages until the disk is full."""
    filler.fill()

    def is_refused() -> bool:
        filler.fill()
        return client.post(f"/v1/sessions/{session}/messages", {"message": "x" * 5000}).status_code == 503

    wait_until(is_refused)


@needs_namespaces
def test_a_full_disk_refuses_new_work_and_recovers_without_a_restart(daemon: Daemon, client: Client) -> None:
    session = client.create()
    client.turn(session, "hello")
    filler = Filler(daemon)
    fill_until_it_shows(client, session, filler)

    refused = client.post(f"/v1/sessions/{session}/messages", {"message": "no room"})
    assert refusal(refused) == (503, "unavailable")
    assert int(refused.headers["retry-after"]) > 0
    assert refusal(client.get("/v1/ready")) == (503, "unavailable")
    assert refusal(client.post("/v1/sessions/more", {"agent": "mock"})) == (503, "unavailable")
    assert refusal(client.patch(f"/v1/sessions/{session}", {"title": "x"})) == (503, "unavailable")
    upload = client.request("POST", f"/v1/sessions/{session}/attachments", content=bytes(9000))
    assert refusal(upload) == (503, "unavailable")
    assert done(client.get("/v1/health"))["status"] == "ok"
    assert texts(client.events(session))[0] == "You said: hello (message 1 of this conversation)"

    filler.empty()
    wait_until(lambda: not refuses(client))
    assert stop_reason(client.turn(session, "room again")) == "end_turn"
    assert refusal(client.get("/v1/sessions/more")) == (404, "session_not_found")
    wait_until(lambda: "the log can be written again" in daemon.stderr())
    assert "the log cannot be written" in daemon.stderr()


@needs_namespaces
def test_a_turn_that_meets_a_full_disk_is_whole_afterwards(daemon: Daemon, client: Client) -> None:
    session, other = client.create(), client.create()
    filler = Filler(daemon)
    with client.follow(session) as reader:
        client.send(session, "pace 400 2")
        seen = reader.until_agent_speaks()
        fill_until_it_shows(client, other, filler)
        wait_until(lambda: refuses(client))
        filler.empty()
        seen += reader.until_type("turn.ended")
    assert stop_reason(seen) == "end_turn"
    assert seen == client.events(session)
    assert [int(delta.partition("@")[0]) for delta in texts(seen)[0].split()] == list(range(400))


@needs_namespaces
def test_run_says_that_the_disk_is_full_and_ends(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    other = client.create()
    filler = Filler(daemon)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    env["SANDBOX_AGENT_ENDPOINT"] = f"http://127.0.0.1:{daemon.port}"
    running_turn = subprocess.Popen(
        [*RUN, "pace 4000 5"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running_turn.stdout is not None
    assert running_turn.stdout.read(1)
    fill_until_it_shows(client, other, filler)
    _, stderr = running_turn.communicate(timeout=SECONDS)
    refused = subprocess.run([*RUN, "hello"], env=env, capture_output=True, text=True, timeout=SECONDS)
    filler.empty()
    assert running_turn.returncode == refused.returncode == 1
    assert stderr.splitlines()[-1] == "error: the daemon cannot write its log: database or disk is full"
    assert "the log cannot be written: database or disk is full" in refused.stderr
    assert "Traceback" not in stderr + refused.stderr
    wait_until(lambda: not refuses(client))
    assert client.post("/v1/sessions/run/cancel").status_code == 204


@needs_namespaces
@pytest.mark.parametrize(
    ("words", "room"), [(RUN, 0), (RUN, 80), (RUN, 140), (START, 0), (START, 80), (START, 140)]
)
def test_a_start_on_a_full_disk_says_so_and_ends(words: list[str], room: int, tmp_path: Path) -> None:
    """Depending on the room in KiB, the log cannot be created, migrated or written."""
    data = tmp_path / "data"
    data.mkdir()
    mount = f"mount -t tmpfs -o size=700k,mode=700 tmpfs {data}"
    fill = f"dd if=/dev/zero of={data}/filler bs=1k count={700 - room} 2>/dev/null"
    inside = [*NAMESPACE, "sh", "-c", f'{mount} && {fill}; exec "$0" "$@"']
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "SANDBOX_AGENT_DATA_DIR": str(data)}
    prompt = ["hello"] if words is RUN else []
    failed = subprocess.run(
        [*inside, *words, *prompt], env=env, capture_output=True, text=True, timeout=SECONDS
    )
    assert (failed.returncode, "Traceback" in failed.stderr, 'File "' in failed.stderr) == (1, False, False)
    assert "No space left on device" in failed.stderr or "disk is full" in failed.stderr


@needs_namespaces
def test_a_session_ends_on_a_full_disk_too(daemon: Daemon, client: Client) -> None:
    session = client.create()
    client.turn(session, "hello")
    filler = Filler(daemon)
    fill_until_it_shows(client, session, filler)
    assert refusal(client.post(f"/v1/sessions/{session}/terminate")) == (503, "unavailable")
    assert gone_within(agent_pids(daemon), 5) == []
    filler.empty()
    with client.follow(session) as reader:
        reader.until_type("session.ended")
    assert client.post(f"/v1/sessions/{session}/terminate").status_code == 204


@needs_namespaces
def test_a_daemon_killed_on_a_full_disk_has_lost_nothing_it_acknowledged(tmp_path: Path) -> None:
    """The mount must outlive the daemon, so a shell keeps the namespace."""
    data = tmp_path / "data"
    data.mkdir()
    keep = f"mount -t tmpfs -o size=6m,mode=700 tmpfs {data} && echo mounted && exec sleep 3600"
    keeper = subprocess.Popen([*NAMESPACE, "sh", "-c", keep], stdout=subprocess.PIPE)
    try:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == b"mounted\n"
        inside = ["nsenter", "--target", str(keeper.pid), "--user", "--mount", f"--wd={tmp_path}"]
        daemon = Daemon(data, inside=inside)
        with running(daemon), client_of(daemon) as client:
            session = client.create()
            client.turn(session, "hello")
            filler = Filler(daemon)
            fill_until_it_shows(client, session, filler)
            acknowledged = client.events(session)
            daemon.kill()
            Path(f"/proc/{keeper.pid}/root{data}/filler").unlink()
            daemon.start()
            assert client.events(session)[: len(acknowledged)] == acknowledged
            assert types(client.turn(session, "room again"))[-1] == "turn.ended"
    finally:
        keeper.kill()
        keeper.wait()
        if keeper.stdout:
            keeper.stdout.close()


# -- read-only ----------------------------------------------------------------------------------


def test_a_disk_that_turns_read_only_refuses_new_work_and_recovers_without_a_restart(tmp_path: Path) -> None:
    faults = Faults(tmp_path)
    daemon = Daemon(tmp_path / "data", env=faults.env)
    with running(daemon), client_of(daemon) as client:
        session = client.create()
        with client.follow(session) as reader:
            client.send(session, "pace 300 10")
            seen = reader.until_agent_speaks()
            faults.refuse_writing(True)
            wait_until(lambda: refuses(client))
            refused = client.post(f"/v1/sessions/{session}/messages", {"message": "no"})
            assert refusal(refused) == (503, "unavailable")
            assert refusal(client.post("/v1/sessions/more", {"agent": "mock"})) == (503, "unavailable")
            upload = client.request("POST", f"/v1/sessions/{session}/attachments", content=b"x")
            assert refusal(upload) == (503, "unavailable")
            assert len(client.events(session)) >= len(seen)
            faults.refuse_writing(False)
            wait_until(lambda: not refuses(client))
            seen += reader.until_type("turn.ended")
        assert seen == client.events(session)
        assert [int(delta.partition("@")[0]) for delta in texts(seen)[0].split()] == list(range(300))
        assert stop_reason(client.turn(session, "hi")) == "end_turn"


@needs_namespaces
def test_a_start_on_a_read_only_file_system_is_a_clear_error(tmp_path: Path) -> None:
    """It continues where it was once the file system is writable again."""
    data = tmp_path / "data"
    with running(Daemon(data)) as first, client_of(first) as client:
        client.turn(client.create(), "hello")
    read_only = f'mount --bind {data} {data} && mount -o remount,bind,ro {data} && exec "$0" "$@"'
    daemon = Daemon(data, inside=[*NAMESPACE, "sh", "-c", read_only])
    daemon.launch()
    assert daemon.ended() == 1
    assert str(data) in daemon.stderr()
    assert "ead-only" in daemon.stderr()
    assert "Traceback" not in daemon.stderr()
    with running(Daemon(data)) as again, client_of(again) as client:
        [known] = done(client.get("/v1/sessions"))["sessions"]
        assert texts(client.events(known["sessionId"])) == [
            "You said: hello (message 1 of this conversation)"
        ]


# -- taken away ---------------------------------------------------------------------------------


def removed(data: Path) -> None:
    (data / "log.db").unlink()


def emptied(data: Path) -> None:
    os.truncate(data / "log.db", 0)


def wal_cut(data: Path) -> None:
    os.truncate(data / "log.db-wal", 20_000)


@pytest.mark.parametrize(
    "take_away, words",
    [
        (removed, "log.db was removed while the daemon had it open"),
        (emptied, "log.db was changed by another program while the daemon had it open"),
        (wal_cut, "log.db-wal was truncated while the daemon had it open"),
    ],
)
def test_a_deleted_log_is_reported_by_every_response(
    tmp_path: Path, take_away: Callable[[Path], None], words: str
) -> None:
    data = tmp_path / "data"
    with running(Daemon(data)) as daemon, client_of(daemon) as client:
        session = client.create()
        client.turn(session, "hello")
        client.sessions.clear()  # none of it could be checked at the end
        take_away(data)
        answers = [
            client.get("/v1/ready"),
            client.get(f"/v1/sessions/{session}/events"),
            client.get("/v1/sessions"),
            client.post(f"/v1/sessions/{session}/messages", {"message": "lost?"}),
            client.post("/v1/sessions/more", {"agent": "mock"}),
            client.get("/v1/ready"),
        ]
        assert [refusal(answer) for answer in answers] == [(503, "unavailable")] * len(answers)
        assert all(words in answer.json()["detail"] for answer in answers)
        assert done(client.get("/v1/health"))["status"] == "ok"
    assert "Traceback" not in daemon.stderr()


def test_a_log_that_was_moved_and_is_back_is_written_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(Daemon(data)) as daemon, client_of(daemon) as client:
        session = client.create()
        before = client.turn(session, "hello")
        (data / "log.db").rename(data / "away")
        assert refuses(client)
        (data / "away").rename(data / "log.db")
        wait_until(lambda: not refuses(client))
        assert stop_reason(client.turn(session, "again")) == "end_turn"
        assert texts(client.events(session))[: len(texts(before))] == texts(before)


def test_a_start_without_the_file_of_a_log_is_a_clear_error(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(Daemon(data)) as daemon, client_of(daemon) as client:
        client.turn(client.create(), "hello")
        client.sessions.clear()
        daemon.kill()
        (data / "log.db").unlink()
        daemon.launch()
        assert daemon.ended() == 1
        assert "log.db is gone, but log.db-wal beside it is not" in daemon.stderr()
        assert "Traceback" not in daemon.stderr()


def test_a_start_after_the_write_ahead_log_lost_its_end_is_a_clear_error(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(Daemon(data)) as daemon, client_of(daemon) as client:
        client.turn(client.create(), "hello")
        client.sessions.clear()
        daemon.kill()
        wal_cut(data)
        daemon.launch()
        assert daemon.ended() == 1
        assert "its end is lost" in daemon.stderr()
        assert "Traceback" not in daemon.stderr()
