"""Agents that crash, hang, leave processes behind or write endlessly: an event, never a leak or a hang."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.busy import busy
from tests.daemons import (
    SECONDS,
    Client,
    Daemon,
    Reader,
    agent_pid,
    agent_pids,
    client_of,
    descendants,
    done,
    gone_within,
    is_alive,
    of_type,
    running,
    stop_reason,
    texts,
    types,
    wait_until,
)
from tests.faults.preload import Faults

LINE_LIMIT = 96 << 20


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("faults") / "data")) as daemon:
        yield daemon


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Daemon]:
    """For tests that kill it."""
    with running(Daemon(tmp_path / "data")) as daemon:
        yield daemon


@pytest.fixture
def own_client(own_daemon: Daemon) -> Iterator[Client]:
    with client_of(own_daemon) as client:
        yield client


def new_agent(client: Client, **settings: object) -> tuple[str, int]:
    """A session, and the process of its agent."""
    before = set(agent_pids(client.daemon))
    session = client.create(**settings)
    [pid] = set(agent_pids(client.daemon)) - before
    return session, pid


def moment(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()


# -- crashes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [3, 1, 0, 255])
def test_a_crash_ends_the_turn_at_once_and_keeps_the_session(client: Client, code: int) -> None:
    session = client.create()
    client.turn(session, "hello")
    events = client.turn(session, f"crash {code}")
    [error] = of_type(events, "error")
    assert error["code"] == "agent_process_exited"
    assert error["details"] == {
        "exit_code": code,
        "signal": None,
        "stderr": {
            "truncated": False,
            "head": "mock agent: something is terribly wrong\nmock agent: giving up",
            "total_lines": 2,
        },
    }
    assert types(events)[-3:] == ["error", "item.completed", "turn.ended"]
    assert stop_reason(events) == "error"
    spoke = [event for event in events if event["source"] == "agent"][-1]
    assert moment(events[-1]) - moment(spoke) < 1
    assert texts(events) == ["I do not feel so w"]
    assert client.info(session)["state"] == "idle"
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 3 of this conversation)"]


def test_a_crash_ends_the_turn_even_if_another_program_holds_the_agents_output(tmp_path: Path) -> None:
    """As a program may that was handed the pipe: one that was running before, and is not ours."""
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        with client.follow(session) as reader:
            client.send(session, "hang")
            reader.until_agent_speaks()
            agent = agent_pid(daemon)
            held = [os.open(f"/proc/{agent}/fd/{number}", os.O_WRONLY) for number in (1, 2)]
            os.kill(agent, signal.SIGKILL)
            assert stop_reason(reader.until_type("turn.ended")) == "error"
        assert client.post(f"/v1/sessions/{session}/terminate").status_code == 204
        for fd in held:
            os.close(fd)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_that_ends_the_agent_is_named(client: Client, number: signal.Signals) -> None:
    session, agent = new_agent(client)
    with client.follow(session) as reader:
        client.send(session, "slow 60")
        reader.until_agent_speaks()
        began = time.monotonic()
        os.kill(agent, number)
        events = reader.until_type("turn.ended")
        assert time.monotonic() - began < busy(1)
    [error] = of_type(events, "error")
    assert (error["code"], error["details"]["signal"]) == ("agent_process_exited", number.name)
    assert stop_reason(events) == "error"
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_a_line_that_was_cut_off_is_not_an_event(client: Client) -> None:
    """Killed while its pipe is full, so that its last line has no end."""
    session, agent = new_agent(client)
    with client.follow(session) as reader:
        client.send(session, "flood 3000 100k")
        reader.until_agent_speaks()
        os.kill(agent, signal.SIGKILL)
        events = reader.until_type("turn.ended")
    assert stop_reason(events) == "error"
    assert "agent.unparsed" not in types(events)


def test_an_exit_between_turns_causes_no_event(client: Client) -> None:
    session, agent = new_agent(client)
    client.turn(session, "hello")
    before = client.events(session)
    os.kill(agent, signal.SIGKILL)
    guardian = f"mock_agent.py --state {client.daemon.data_dir}/mock --conversation {client.info(session)['nativeSessionId']}"
    wait_until(lambda: not any(guardian in command for command in commands(client.daemon)))
    assert client.events(session) == before
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_a_message_for_an_agent_that_died_just_now_goes_to_the_next_one(client: Client) -> None:
    session, agent = new_agent(client)
    client.turn(session, "hello")
    guardian = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(guardian, signal.SIGSTOP)  # as one that is still busy with what the agent left behind
    os.kill(agent, signal.SIGKILL)
    assert gone_within([agent], SECONDS) == []
    before = len(client.events(session))
    client.send(session, "hi")
    with contextlib.suppress(ProcessLookupError):
        os.kill(guardian, signal.SIGCONT)
    with client.follow(session, before) as reader:
        events = reader.until(lambda event: event["type"] == "turn.ended")
    assert (of_type(events, "error"), stop_reason(events)) == ([], "end_turn")
    assert texts(events) == ["You said: hi (message 2 of this conversation)"]


def test_an_agent_that_dies_while_its_turn_is_written_down_has_not_crashed_in_it(client: Client) -> None:
    """It never received the turn: the next process does. Another writer holds the log, so that writing takes long."""
    session, agent = new_agent(client)
    client.turn(session, "hello")
    before = len(client.events(session))
    guardian = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
    other = apsw.Connection(str(client.daemon.data_dir / "log.db"))
    with ThreadPoolExecutor(1) as pool:
        other.execute("BEGIN IMMEDIATE")
        sent = pool.submit(client.send, session, "hi")
        try:
            for _ in range(20):  # by then it has taken the message in
                done(client.get("/v1/health"))
            os.kill(agent, signal.SIGKILL)
            assert gone_within([guardian], SECONDS) == []
        finally:
            other.close()  # and with it the transaction
        sent.result()
    with client.follow(session, before) as reader:
        events = reader.until_type("turn.ended")
    assert (of_type(events, "error"), stop_reason(events)) == ([], "end_turn")
    assert texts(events) == ["You said: hi (message 2 of this conversation)"]


def commands(daemon: Daemon) -> list[str]:
    found = []
    for pid in descendants(daemon.pid):
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


# -- agents that do not listen ------------------------------------------------------------------


@pytest.mark.parametrize("end", ["terminate", "delete"])
def test_an_agent_that_hangs_is_gone_when_the_session_is(client: Client, end: str) -> None:
    session, agent = new_agent(client)
    with client.follow(session) as reader:
        client.send(session, "hang")
        reader.until_agent_speaks()
        began = time.monotonic()
        answer = (
            client.post(f"/v1/sessions/{session}/terminate")
            if end == "terminate"
            else client.delete(f"/v1/sessions/{session}")
        )
        took = time.monotonic() - began
    assert answer.status_code == 204
    assert not is_alive(agent)
    assert took < busy(2)


@pytest.mark.slow
def test_a_cancel_ends_the_turn_of_an_agent_that_hangs(client: Client) -> None:
    session, agent = new_agent(client)
    with client.follow(session) as reader:
        client.send(session, "hang")
        reader.until_agent_speaks()
        assert client.post(f"/v1/sessions/{session}/cancel").status_code == 204
        events = reader.until_type("turn.ended")
    assert stop_reason(events) == "interrupted"
    assert gone_within([agent], SECONDS) == []
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_a_stopped_agent_and_guardian_do_not_keep_a_session_from_ending(client: Client) -> None:
    session, agent = new_agent(client)
    guardian = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
    for pid in (guardian, agent):
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    assert client.post(f"/v1/sessions/{session}/terminate").status_code == 204
    assert time.monotonic() - began < busy(2)
    assert not is_alive(agent)
    assert gone_within([guardian], 2) == []


# -- processes that agents leave behind ---------------------------------------------------------


def orphans(reader: Reader) -> list[int]:
    """The pids of the four sleepers that the agent names."""
    [text] = texts(reader.until_type("turn.ended"))
    pids = [int(pid) for pid in re.findall(r"- \w+ (\d+)", text)]
    assert len(pids) == 4
    # Until each has finished starting, it looks like the agent that forked it.
    wait_until(lambda: {Path(f"/proc/{pid}/comm").read_text() for pid in pids} == {"sleep\n"})
    return pids


@pytest.mark.parametrize("end", ["terminate", "delete"])
def test_no_orphan_is_left_when_a_session_ended(client: Client, end: str) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "orphan")
        pids = orphans(reader)
        if end == "terminate":
            client.post(f"/v1/sessions/{session}/terminate")
        else:
            client.delete(f"/v1/sessions/{session}")
    assert [pid for pid in pids if is_alive(pid)] == []


def test_orphans_go_with_an_agent_that_crashes(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "orphan")
        pids = orphans(reader)
        client.send(session, "crash")
        reader.until_type("turn.ended")
    assert gone_within(pids, 3) == []


def test_no_orphan_is_left_when_the_daemon_is_killed(own_daemon: Daemon, own_client: Client) -> None:
    session = own_client.create()
    with own_client.follow(session) as reader:
        own_client.send(session, "orphan")
        everything = {*orphans(reader), *descendants(own_daemon.pid)}
        assert len(everything) >= 6
        own_daemon.kill()
    assert gone_within(everything, 5) == []
    own_daemon.start()


def test_no_orphan_is_left_when_the_daemon_stops(own_daemon: Daemon, own_client: Client) -> None:
    session = own_client.create()
    with own_client.follow(session) as reader:
        own_client.send(session, "orphan")
        everything = {*orphans(reader), *descendants(own_daemon.pid)}
        assert own_daemon.stop() == 0
    assert [pid for pid in everything if is_alive(pid)] == []
    own_daemon.start()


@pytest.mark.parametrize("moved", [False, True], ids=["in its place", "moved"])
def test_what_even_the_guardian_could_not_end_is_swept_at_the_next_start(
    own_daemon: Daemon, own_client: Client, moved: bool
) -> None:
    session = own_client.create()
    with own_client.follow(session) as reader:
        own_client.send(session, "orphan")
        pids = orphans(reader)
        agent = agent_pid(own_daemon)
        guardian = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(guardian, signal.SIGSTOP)  # it must not see the daemon's end
        own_daemon.kill()
        os.kill(guardian, signal.SIGKILL)
    assert [pid for pid in pids if is_alive(pid)] == pids
    if moved:
        place = own_daemon.data_dir
        own_daemon.data_dir = place.rename(place.with_name("elsewhere"))
        with running(Daemon(place)):  # another folder at the same path, as in another container
            assert [pid for pid in pids if is_alive(pid)] == pids
    own_daemon.start()
    assert gone_within([agent, *pids], 2) == []
    assert "that an earlier daemon left behind" in own_daemon.stderr()
    assert texts(own_client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_a_daemon_on_a_copy_of_our_folder_leaves_our_agents_alone(
    own_daemon: Daemon, own_client: Client, tmp_path: Path
) -> None:
    session, agent = new_agent(own_client)
    own_client.turn(session, "hello")
    copy = shutil.copytree(own_daemon.data_dir, tmp_path / "copy", ignore=shutil.ignore_patterns("*lock*"))
    with running(Daemon(copy)):
        assert is_alive(agent)
    assert texts(own_client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


def test_an_agent_inherits_three_descriptors_and_no_more(client: Client) -> None:
    _, agent = new_agent(client)
    with client.follow(client.create()) as reader:
        next(reader.events())  # a connection that it must not inherit
        session, second = new_agent(client)
        client.turn(session, "hi")
        for pid in (agent, second):
            assert sorted(os.listdir(f"/proc/{pid}/fd")) == ["0", "1", "2"]


def test_no_descriptor_is_closed_twice(tmp_path: Path) -> None:
    """The second close would hit what another thread has just opened under the same number: the log, for one."""
    faults = Faults(tmp_path)
    daemon = Daemon(tmp_path / "data", env=faults.env)
    with running(daemon), client_of(daemon) as client:
        for ending in ("hello", "crash 1", "end"):
            client.turn(client.create(), ending)
        client.post(f"/v1/sessions/{client.sessions[0]}/terminate")
        client.events(client.sessions[1])
    assert faults.closed_twice == 0


# -- long lines ---------------------------------------------------------------------------------


def test_a_line_of_ten_megabytes_passes(client: Client) -> None:
    session = client.create()
    with client.follow(session) as reader:
        client.send(session, "bigline 10m")
        events = reader.until_type("turn.ended")
    spoken = [
        event["data"]["delta"]
        for event in events
        if event["type"] == "item.delta" and event["source"] == "agent"
    ]
    assert [len(delta) > 10_485_000 for delta in spoken] == [True]
    assert texts(events) == spoken


@pytest.mark.slow
def test_a_line_of_64_megabytes_passes(client: Client) -> None:
    session = client.create()
    client.send(session, "bigline 64m")
    with client.follow(session) as reader:
        frames = [len(frame.text) for frame in _until_the_turn_ends(reader)]
    assert sorted(frames)[-2] > 64 << 20  # the delta and the whole text
    client.delete(f"/v1/sessions/{session}")


def _until_the_turn_ends(reader: Reader) -> Iterator[Any]:
    """Frames undecoded: they are large."""
    for frame in reader.events():
        yield frame
        if '"type":"turn.ended"' in frame.text[:400]:
            return


@pytest.mark.slow
def test_an_endless_line_is_an_event_and_the_turn_continues(client: Client) -> None:
    session = client.create()
    client.expects_unparsed = True
    events = client.turn(session, f"bigline {LINE_LIMIT // (1 << 20) + 8}m")
    [unparsed] = of_type(events, "agent.unparsed")
    assert unparsed["error"] == f"a line is longer than {LINE_LIMIT} bytes"
    assert stop_reason(events) == "end_turn"
    assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]


# -- time ---------------------------------------------------------------------------------------


def test_an_idle_agent_is_stopped_without_an_event(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--no-token", "--idle-seconds", "0.2")
    with running(daemon), client_of(daemon) as client:
        session, agent = new_agent(client)
        client.turn(session, "hello")
        before = client.events(session)
        assert gone_within([agent], SECONDS) == []
        assert client.events(session) == before
        assert texts(client.turn(session, "hi")) == ["You said: hi (message 2 of this conversation)"]
