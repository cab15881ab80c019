"""Processes over HTTP, with real programs: their output, their end, and that nothing is left over."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.busy import busy
from tests.daemons import (
    Client,
    Daemon,
    client_of,
    descendants,
    done,
    gone_within,
    refusal,
    running,
    wait_until,
)

FAMILY = "sleep 60 & setsid sleep 60 & (setsid sh -c 'sleep 60 & sleep 60' &) ; echo ready; "
"""Children in groups and sessions of their own, and one whose parent is gone."""


def shell(script: str, **more: object) -> dict[str, object]:
    return {"command": "sh", "args": ["-c", script], **more}


def create(client: Client, script: str, **more: object) -> dict[str, Any]:
    made: dict[str, Any] = done(client.post("/v1/processes", shell(script, **more)))
    return made


def get(client: Client, id: str) -> dict[str, Any]:
    info: dict[str, Any] = done(client.get(f"/v1/processes/{id}"))
    return info


def ended(client: Client, id: str) -> dict[str, Any]:
    wait_until(lambda: bool(get(client, id)["status"] == "exited"))
    return get(client, id)


def written(client: Client, id: str, **query: object) -> str:
    entries = done(client.get(f"/v1/processes/{id}/logs", **query))["entries"]
    return b"".join(base64.b64decode(entry["data"]) for entry in entries).decode()


def wait_for_output(client: Client, id: str, text: str) -> None:
    wait_until(lambda: text in written(client, id))


def test_a_process_starts_prints_and_exits(client: Client) -> None:
    made = create(client, "echo $A from $PWD; read line; echo $line >&2; exit 3", cwd="/tmp", env={"A": "hi"})
    wait_for_output(client, made["id"], "hi from /tmp\n")
    assert done(client.post(f"/v1/processes/{made['id']}/input", {"data": "bye\n", "encoding": "utf8"}))
    info = ended(client, made["id"])
    assert info.items() >= {"exitCode": 3, "endedBy": "exit", "cwd": "/tmp"}.items()
    assert "pid" not in info
    assert written(client, made["id"], stream="stdout") == "hi from /tmp\n"
    assert written(client, made["id"], stream="stderr") == "bye\n"
    assert client.delete(f"/v1/processes/{made['id']}").status_code == 204
    assert refusal(client.get(f"/v1/processes/{made['id']}")) == (404, "not_found")


def test_a_signal_is_reported_by_name(client: Client) -> None:
    info = ended(client, create(client, "kill -USR1 $$")["id"])
    assert info.items() >= {"endedBy": "signal", "signal": "SIGUSR1"}.items()
    assert "exitCode" not in info


def test_input_can_end(client: Client) -> None:
    made = create(client, "wc -c")
    done(client.post(f"/v1/processes/{made['id']}/input", {"data": "12345", "encoding": "text", "eof": True}))
    assert ended(client, made["id"])["exitCode"] == 0
    assert written(client, made["id"]) == "5\n"
    answer = client.post(f"/v1/processes/{made['id']}/input", {"data": "", "encoding": "text"})
    assert refusal(answer) == (409, "conflict")


def test_a_program_that_does_not_read_delays_no_other(client: Client) -> None:
    made = create(client, "sleep 60")
    path = f"/v1/processes/{made['id']}"
    full = {"data": "x" * 60_000, "encoding": "text"}
    with ThreadPoolExecutor(1) as pool, client_of(client.daemon) as writer:
        done(writer.post(f"{path}/input", full))
        waiting = pool.submit(writer.post, f"{path}/input", full)
        assert get(client, made["id"])["status"] == "running"
        assert done(client.post(f"{path}/kill"))["status"] == "exited"
        assert refusal(waiting.result()) == (409, "conflict")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_nothing_below_a_process_outlives_it(client: Client, how: str) -> None:
    made = create(client, FAMILY + "wait")
    wait_for_output(client, made["id"], "ready")
    pid = made["pid"]
    guardian = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    wait_until(lambda: len(descendants(guardian)) >= 6)
    below = descendants(guardian)
    assert done(client.post(f"/v1/processes/{made['id']}/{how}"))["status"] == "exited"
    assert gone_within(below, 0) == []


def test_background_processes_end_with_their_program(client: Client) -> None:
    made = create(client, FAMILY + "read line")
    wait_for_output(client, made["id"], "ready")
    guardian = int(Path(f"/proc/{made['pid']}/stat").read_text().rpartition(")")[2].split()[1])
    below = descendants(guardian)
    done(client.post(f"/v1/processes/{made['id']}/input", {"data": "", "eof": True}))
    ended(client, made["id"])
    assert gone_within(below, 0) == []


def test_a_timeout_ends_a_run_at_once_even_if_a_child_holds_the_pipe(client: Client, tmp_path: Path) -> None:
    script = f"setsid sh -c 'echo $$ > {tmp_path}/pid; sleep 600' & sleep 600"
    ran = done(client.post("/v1/processes/run", shell(script, timeoutMs=1500)))
    assert ran["timedOut"]
    assert ran["exitCode"] is None
    assert gone_within([int((tmp_path / "pid").read_text())], 0) == []


def test_a_run_keeps_what_fits_and_the_program_continues(client: Client) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2; exit 2"
    ran = done(client.post("/v1/processes/run", shell(script)))
    assert (ran["exitCode"], len(ran["stdout"]), ran["stdoutTruncated"]) == (2, 1 << 20, True)
    assert (ran["stderr"], ran["stderrTruncated"]) == ("end\n", False)


def test_a_run_has_no_input_and_no_settings_of_the_daemon(client: Client) -> None:
    ran = done(client.post("/v1/processes/run", shell("cat; env | grep -c SANDBOX_AGENT_NO")))
    assert ran["stdout"] == "0\n"


REFUSED = {
    "no program": (shell("x") | {"command": "no-such-program"}, "command"),
    "no path": (shell("x") | {"command": "/no/such/program"}, "command"),
    "a folder": (shell("x") | {"command": "/tmp"}, "command"),
    "no cwd": (shell("x", cwd="/no/such/folder"), "cwd"),
    "a file as cwd": (shell("x", cwd="/etc/passwd"), "cwd"),
    "empty": ({"command": ""}, "command"),
    "NUL": (shell("a\0b"), None),
    "odd variable": (shell("x", env={"A=B": "c"}), None),
    "too long": (shell("x", env={"A": "x" * 300_000}), "args"),
    "odd field": (shell("x", user="root"), "user"),
}


@pytest.mark.parametrize("path", ["/v1/processes", "/v1/processes/run"])
@pytest.mark.parametrize("case", REFUSED)
def test_an_impossible_request_is_refused_by_field(client: Client, path: str, case: str) -> None:
    body, field = REFUSED[case]
    before = done(client.get("/v1/processes"))["processes"]
    answer = client.post(path, body)
    assert refusal(answer) == (400, "invalid_request")
    assert answer.json().get("field") == field
    assert [process["id"] for process in done(client.get("/v1/processes"))["processes"]] == [
        process["id"] for process in before
    ]


def test_the_list_shows_the_usage_of_each_process(client: Client) -> None:
    made = create(client, "python3 -c 'x = bytearray(50_000_000)\nwhile True: pass' & wait")

    def used() -> dict[str, Any]:
        [info] = [
            process
            for process in done(client.get("/v1/processes"))["processes"]
            if process["id"] == made["id"]
        ]
        assert isinstance(info, dict)
        return info

    wait_until(lambda: used()["cpuSeconds"] > 0.1 and used()["memoryBytes"] > 50_000_000)
    done(client.post(f"/v1/processes/{made['id']}/kill"))
    assert "cpuSeconds" not in used()


def test_output_is_a_ring_and_numbers_stay(client: Client) -> None:
    made = create(client, "seq 2000000")
    ended(client, made["id"])
    entries = done(client.get(f"/v1/processes/{made['id']}/logs"))["entries"]
    numbers = [entry["sequence"] for entry in entries]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] > 1
    text = b"".join(base64.b64decode(entry["data"]) for entry in entries)
    assert 8 << 20 < len(text) <= 10 << 20
    assert text.endswith(b"1999999\n2000000\n")


# -- following ----------------------------------------------------------------------------------


def test_a_reader_resumes_where_it_was_and_the_stream_ends(client: Client, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    made = create(client, f"echo 1; until [ -e {go_on} ]; do sleep 0.05; done; echo 2; exit 9")
    path = f"/v1/processes/{made['id']}/logs?follow=true"
    with client.reader(path) as reader:
        seen = next(frame for frame in reader.frames() if frame.fields.get("event") == "log")
    go_on.touch()
    with client.reader(path, {"last-event-id": str(seen.id)}) as reader:
        *rest, end = [frame for frame in reader.frames() if "data" in frame.fields]
    text = "".join(base64.b64decode(frame.data["data"]).decode() for frame in [seen, *rest])
    assert text == "1\n2\n"
    assert end.fields["event"] == "end"
    assert end.data["exitCode"] == 9
    assert client.request("GET", path, headers={"last-event-id": str(rest[-1].id)}).status_code == 204


def test_a_reader_that_does_not_read_costs_nothing_and_holds_nobody_up(client: Client) -> None:
    made = create(client, "seq 2000000; echo over >&2; sleep 60")
    with client.reader(f"/v1/processes/{made['id']}/logs?follow=true", receive_buffer=4096):
        wait_until(lambda: "over" in written(client, made["id"], stream="stderr"))
    done(client.post(f"/v1/processes/{made['id']}/kill"))


def test_output_that_is_held_reaches_a_slow_reader_whole(client: Client) -> None:
    made = create(client, "seq 1600000", hold=True)
    text = bytearray()
    with client.reader(f"/v1/processes/{made['id']}/logs?follow=true", receive_buffer=65536) as reader:
        for frame in reader.frames():
            if frame.fields.get("event") == "log":
                text += base64.b64decode(frame.data["data"])
    assert bytes(text) == b"".join(b"%d\n" % number for number in range(1, 1_600_001))


# -- limits and settings --------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Daemons of a test's own, one after the other on the same data."""
    started: list[Client] = []

    def start(*flags: str) -> Client:
        started.append(Client(Daemon(tmp_path / "data", "--no-token", *flags).start()))
        return started[-1]

    yield start
    for client in started:
        client.close()
        client.daemon.stop()


def test_limits_and_records_outlive_a_kill_and_processes_do_not(own: Callable[..., Client]) -> None:
    client = own()
    config = done(client.get("/v1/processes/config"))
    limits = {**config, "maxConcurrentProcesses": 2}
    assert done(client.post("/v1/processes/config", limits)) == limits
    over = ended(client, create(client, "echo over; exit 4")["id"])
    deleted = ended(client, create(client, "true")["id"])
    runs = create(client, FAMILY + "wait")
    wait_for_output(client, runs["id"], "ready")
    create(client, "cat")
    assert refusal(client.post("/v1/processes", shell("true"))) == (409, "conflict")
    assert done(client.post("/v1/processes/run", shell("true")))["exitCode"] == 0
    guardian = int(Path(f"/proc/{runs['pid']}/stat").read_text().rpartition(")")[2].split()[1])
    below = {guardian, *descendants(guardian)}
    client.daemon.kill()
    assert gone_within(below, 5) == []

    client = own()
    assert done(client.get("/v1/processes/config")) == limits
    listed = {process["id"]: process for process in done(client.get("/v1/processes"))["processes"]}
    assert listed[over["id"]] == over
    assert listed[runs["id"]].items() >= {"status": "exited", "endedBy": "daemon"}.items()
    assert "exitCode" not in listed[runs["id"]]
    assert written(client, runs["id"]) == "ready\n"
    assert written(client, over["id"]) == "over\n"
    highest = max(int(id.removeprefix("proc_")) for id in listed)
    for id in [*listed]:
        assert client.delete(f"/v1/processes/{id}").status_code == 204
    assert deleted["id"] in listed
    client.daemon.stop()

    client = own()
    assert done(client.get("/v1/processes"))["processes"] == []
    assert create(client, "true")["id"] == f"proc_{highest + 1}"


def test_a_daemon_that_stops_ends_processes_and_says_so(own: Callable[..., Client]) -> None:
    client = own()
    made = create(client, "echo ready; sleep 60", tty=True)
    wait_for_output(client, made["id"], "ready")
    with client.reader(f"/v1/processes/{made['id']}/logs?follow=true") as reader:
        assert client.daemon.stop() == 0
        frames = [frame for frame in reader.frames() if frame.fields.get("event") == "end"]
    assert [frame.data["endedBy"] for frame in frames] == ["daemon"]
    assert get(own(), made["id"])["endedBy"] == "daemon"


def test_processes_can_be_turned_off(own: Callable[..., Client]) -> None:
    client = own("--no-processes")
    for answer in (
        client.get("/v1/processes"),
        client.post("/v1/processes", shell("true")),
        client.post("/v1/processes/run", shell("true")),
        client.get("/v1/processes/proc_1/logs"),
    ):
        assert refusal(answer) == (403, "permission_denied")


def test_records_and_output_are_private(client: Client) -> None:
    made = create(client, "echo secret", env={"KEY": "secret-value"})
    ended(client, made["id"])
    folder = client.daemon.data_dir / "processes" / made["id"]
    assert {path.stat().st_mode & 0o777 for path in [folder.parent, folder, *folder.iterdir()]} == {
        0o700,
        0o600,
    }
    assert not re.search(rb"secret-value", b"".join(path.read_bytes() for path in folder.iterdir()))


@pytest.mark.long
def test_64_processes_at_full_speed_leave_the_daemon_responsive(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        made = [create(client, "yes")["id"] for _ in range(64)]
        session = client.create()
        began = time.monotonic()
        client.turn(session, "hello")
        client.post(f"/v1/sessions/{session}/terminate")
        assert time.monotonic() - began < busy(5)
        rss = int(re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{daemon.pid}/status").read_text())[0])
        assert rss < 150_000
        for id in made:
            done(client.post(f"/v1/processes/{id}/kill"))
        assert descendants(daemon.pid) == set()
