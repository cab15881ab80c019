"""A real daemon in a process of its own, and a small client that waits for facts instead of time.

Every wait has a deadline and none is a sleep: streams are read until the event that was asked for, processes are
watched through a pidfd.
"""

from __future__ import annotations

import http.client
import itertools
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx2
import msgspec

from sandbox_agent.schema.events import Event, decode_event
from sandbox_agent.testing.rules import violations

from .busy import busy

SECONDS = 60.0
"""The timeout of every wait in a test. Generous, because a busy machine is slow and a passing test never reaches it."""
PAUSE = 0.01
"""The polling interval for state that no event reports."""
URN = "urn:sandbox-agent:error:"
LISTENING = re.compile(r"listening on http://\S+:(\d+)")

_names = itertools.count(1)


# -- the process --------------------------------------------------------------------------------


class Daemon:
    """`sandbox-agent server` with its own data directory; it can be stopped, killed and restarted."""

    def __init__(
        self,
        data_dir: Path,
        *flags: str,
        env: Mapping[str, str] | None = None,
        inside: Sequence[str] = (),
        program: Sequence[str] = (sys.executable, "-m", "sandbox_agent"),
    ) -> None:
        self.data_dir = data_dir
        self.work_dir = data_dir.with_name(data_dir.name + "-work")
        self.flags = flags or ("--no-token",)
        self.port = 0
        self._env = env or {}
        self._inside = inside
        self._program = program

    def start(self) -> Self:
        """Start it and wait until it listens."""
        self.launch()
        return self.await_start()

    def await_start(self) -> Self:
        """Wait until it listens."""
        if not self._listening.wait(SECONDS) or not self.port:
            self.process.kill()
            raise AssertionError(f"the daemon did not start: {self.stderr()}")
        return self

    def launch(self) -> None:
        """Start it without waiting."""
        self.work_dir.mkdir(parents=True, exist_ok=True)
        home = self.data_dir.with_name(self.data_dir.name + "-home")
        home.mkdir(exist_ok=True)
        command = [*self._program, "server", "--port", "0"]
        self.process = subprocess.Popen(
            [*self._inside, *command, "--data-dir", str(self.data_dir), *self.flags],
            cwd=self.work_dir,
            # No test downloads an agent, except those about installing.
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "SANDBOX_AGENT_NO_INSTALL": "true",
                **self._env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._lines: list[str] = []
        self._listening = threading.Event()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            for line in stderr:
                text = line.decode(errors="replace")
                self._lines.append(text)
                if found := LISTENING.search(text):
                    self.port = int(found[1])
                    self._listening.set()
        self._listening.set()

    @property
    def pid(self) -> int:
        return self.process.pid

    def stderr(self) -> str:
        """Its stderr so far; complete once it has exited."""
        if self.process.poll() is not None:
            self._listener.join(SECONDS)
        return "".join(self._lines)

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def kill(self) -> None:
        """SIGKILL: what a crash, an OOM killer or a power cut looks like from outside."""
        self.process.kill()
        self.ended()

    def ended(self) -> int:
        """Wait until it exits. Returns the exit code."""
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._listener.join(SECONDS)
        return code


@contextmanager
def running(daemon: Daemon) -> Iterator[Daemon]:
    """A daemon that runs for the length of a block; it may be restarted inside."""
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by SIGSTOP."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def wait_until(holds: Callable[[], bool]) -> None:
    """Poll until the condition holds, for state that no event reports."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(PAUSE)


def gone_within(pids: Iterable[int], seconds: float) -> list[int]:
    """Wait until these processes are gone, longer on a busy machine. Returns those that are not."""
    return [pid for pid in pids if runs_after(pid, busy(seconds))]


def runs_after(pid: int, seconds: float) -> bool:
    """Wait until a process is gone, at most this long. Returns whether it is still running."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        return not select.select([watched], [], [], seconds)[0]
    finally:
        os.close(watched)


def descendants(pid: int) -> set[int]:
    """All descendants of a process."""
    below: set[int] = set()
    todo = [pid]
    while todo:
        tasks = Path(f"/proc/{todo.pop()}/task")
        for task in _entries(tasks):
            children = [int(child) for child in _read(tasks / task / "children").split()]
            below.update(children)
            todo += children
    return below


def _entries(directory: Path) -> list[str]:
    """The entries of a directory of a process that may be gone by now."""
    try:
        return os.listdir(directory)
    except (FileNotFoundError, ProcessLookupError):
        return []


def _read(path: Path) -> bytes:
    """A file of a process that may be gone by now."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def agent_pid(daemon: Daemon) -> int:
    """The only mock agent of a daemon."""
    [pid] = agent_pids(daemon)
    return pid


def agent_pids(daemon: Daemon) -> list[int]:
    """The mock agents of a daemon. Their guardians have the same command line, after a `--`."""
    commands = {pid: _read(Path(f"/proc/{pid}/cmdline")).split(b"\0") for pid in descendants(daemon.pid)}
    return [
        pid
        for pid, command in commands.items()
        if any(part.endswith(b"mock_agent.py") for part in command) and b"--" not in command
    ]


# -- streams ------------------------------------------------------------------------------------


class Frame(NamedTuple):
    """One SSE frame, or a comment."""

    text: str

    @property
    def fields(self) -> dict[str, str]:
        pairs = (line.partition(": ") for line in self.text.split("\n"))
        return {name: value for name, _, value in pairs}

    @property
    def id(self) -> int:
        return int(self.fields["id"])

    @property
    def data(self) -> Any:
        return msgspec.json.decode(self.fields["data"])


class Reader:
    """One SSE connection. Reads block up to the deadline."""

    def __init__(
        self,
        daemon: Daemon,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        receive_buffer: int | None = None,
    ) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=SECONDS)
        if receive_buffer is not None:
            self.connection.sock = _small_socket(daemon.port, receive_buffer)
        else:
            self.connection.connect()
        self.socket = self.connection.sock
        sent = dict(headers or {})
        if body is not None:
            sent["content-type"] = "application/json"
        content = None if body is None else msgspec.json.encode(body)
        self.connection.request("GET" if body is None else "POST", path, content, sent)
        self.response = self.connection.getresponse()
        self._partial: list[bytes] = []
        self._ready: list[Frame] = []

    @property
    def status(self) -> int:
        return self.response.status

    def problem(self) -> dict[str, Any]:
        problem: dict[str, Any] = msgspec.json.decode(self.response.read())
        return problem

    def frames(self) -> Iterator[Frame]:
        """Every frame, comments and `retry` too, until the stream ends."""
        while self._ready or self._fill():
            yield self._ready.pop(0)

    def events(self) -> Iterator[Frame]:
        """Frames that carry an event."""
        return (frame for frame in self.frames() if frame.fields.keys() == {"id", "data"})

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """The events up to the first match, which must arrive."""
        seen = []
        for frame in self.events():
            seen.append(frame.data)
            if wanted(seen[-1]):
                return seen
        raise AssertionError(f"the stream ended before: {[event['type'] for event in seen]}")

    def until_type(self, name: str) -> list[dict[str, Any]]:
        return self.until(lambda event: bool(event["type"] == name))

    def until_agent_speaks(self) -> list[dict[str, Any]]:
        return self.until(lambda event: event["type"] == "item.delta" and event["source"] == "agent")

    def rest(self) -> list[dict[str, Any]]:
        """Everything until the daemon ends the stream, however it ends."""
        seen: list[dict[str, Any]] = []
        try:
            seen.extend(frame.data for frame in self.events())
        except (ConnectionError, http.client.HTTPException):
            pass
        return seen

    def _fill(self) -> bool:
        while not self._ready:
            chunk = self.response.read1(1 << 18)
            if not chunk:
                return False
            before = self._partial[-1][-1:] if self._partial else b""
            self._partial.append(chunk)
            # Joined only at a frame's end: a frame may have many megabytes.
            if b"\n\n" in before + chunk:
                *whole, rest = b"".join(self._partial).split(b"\n\n")
                self._partial = [rest]
                self._ready = [Frame(text.decode()) for text in whole]
        return True

    def close(self) -> None:
        self.response.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _small_socket(port: int, receive_buffer: int) -> socket.socket:
    """A socket with small buffers, so that it fills up quickly when nobody reads."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(SECONDS)
    connection.connect(("127.0.0.1", port))
    return connection


# -- the client ---------------------------------------------------------------------------------


class Client:
    """A client of one daemon. It remembers the sessions it created, so that their events can be checked."""

    def __init__(self, daemon: Daemon, token: str | None = None) -> None:
        self.daemon = daemon
        self.sessions: list[str] = []
        self.expects_unparsed = False
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._headers = headers
        # Certificates take longer to load than most tests take, and a daemon of tests has none.
        self._http = httpx2.Client(headers=headers, timeout=SECONDS, trust_env=False, verify=False)

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self._http.request(method, f"http://127.0.0.1:{self.daemon.port}{path}", **options)

    def get(self, path: str, /, **query: object) -> httpx2.Response:
        return self.request("GET", path, params={name: str(value) for name, value in query.items()})

    def post(self, path: str, body: object = None, **headers: str) -> httpx2.Response:
        if body is None:
            return self.request("POST", path, headers=headers)
        return self.request("POST", path, json=body, headers=headers)

    def patch(self, path: str, body: object) -> httpx2.Response:
        return self.request("PATCH", path, json=body)

    def delete(self, path: str) -> httpx2.Response:
        return self.request("DELETE", path)

    # Sessions.

    def create(self, **settings: object) -> str:
        """Create a session of the mock agent. Returns its id."""
        session = f"s{next(_names)}"
        answer = self.post(f"/v1/sessions/{session}", {"agent": "mock", **settings})
        assert answer.status_code == 200, answer.text
        self.sessions.append(session)
        return session

    def info(self, session: str) -> dict[str, Any]:
        info: dict[str, Any] = done(self.get(f"/v1/sessions/{session}"))
        return info

    def events(self, session: str, after: int = 0, **query: object) -> list[dict[str, Any]]:
        """All events of a session, read page by page."""
        found: list[dict[str, Any]] = []
        while True:
            page = done(
                self.get(f"/v1/sessions/{session}/events", offset=after + len(found), limit=1000, **query)
            )
            found += page["events"]
            if not page["hasMore"]:
                return found

    def send(self, session: str, message: str, **fields: object) -> str:
        """Send a message. Returns the id of its turn."""
        answer = self.post(f"/v1/sessions/{session}/messages", {"message": message, **fields})
        assert answer.status_code == 202, answer.text
        turn_id: str = answer.json()["turnId"]
        return turn_id

    def turn(self, session: str, message: str, **fields: object) -> list[dict[str, Any]]:
        """Send a message and wait for the end of its turn. Returns the turn's events."""
        body = {"message": message, **fields}
        with self.reader(f"/v1/sessions/{session}/messages/stream", body=body) as reader:
            assert reader.status == 200, reader.problem()
            return [frame.data for frame in reader.events()]

    def follow(self, session: str, after: int = 0, last_event_id: int | None = None) -> Reader:
        headers = {} if last_event_id is None else {"last-event-id": str(last_event_id)}
        return self.reader(f"/v1/sessions/{session}/events/sse?offset={after}", headers)

    def reader(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: object = None,
        receive_buffer: int | None = None,
    ) -> Reader:
        return Reader(self.daemon, path, {**self._headers, **(headers or {})}, body, receive_buffer)

    def pending(self, session: str, kind: str = "permissions") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = done(self.get(f"/v1/sessions/{session}/{kind}"))[kind]
        return found

    # The ten rules.

    def check_rules(self) -> None:
        """Check the ten rules on every session that this client created; a terminated one has nothing left open."""
        for session in self.sessions:
            if self.post(f"/v1/sessions/{session}/terminate").status_code == 404:
                continue
            broken = violations(self._log(session))
            if self.expects_unparsed:
                broken = [rule for rule in broken if "agent.unparsed" not in rule]
            assert broken == [], f"{session} breaks the rules"

    def _log(self, session: str) -> Iterator[Event]:
        """A session's events, decoded from the bytes that were sent."""
        offset, more = 0, True
        while more:
            answer = self.get(f"/v1/sessions/{session}/events", offset=offset, limit=1000)
            page = msgspec.json.decode(answer.content, type=_Page)
            for body in page.events:
                event = decode_event(bytes(body))
                offset = event.sequence
                yield event
            more = page.has_more

    def close(self) -> None:
        self._http.close()


class _Page(msgspec.Struct, rename="camel"):
    events: list[msgspec.Raw]
    has_more: bool


@contextmanager
def client_of(daemon: Daemon, token: str | None = None) -> Iterator[Client]:
    """A client whose sessions are checked at the end."""
    client = Client(daemon, token)
    try:
        yield client
        client.check_rules()
    finally:
        client.close()


# -- what answers and events say ----------------------------------------------------------------


def done(response: httpx2.Response) -> Any:
    """The JSON of a response that must be successful."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()


def refusal(response: httpx2.Response) -> tuple[int, str]:
    """Status and type of a response that must be a complete and consistent problem."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    problem = response.json()
    assert problem.keys() >= {"type", "title", "status", "detail", "instance"}
    assert problem["status"] == response.status_code
    assert problem["type"].startswith(URN)
    assert problem["instance"] == httpx2.URL(str(response.url)).path
    return response.status_code, problem["type"].removeprefix(URN)


def types(events: Iterable[Mapping[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def of_type(events: Iterable[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """The data of the events of a type."""
    return [event["data"] for event in events if event["type"] == name]


def texts(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The agent's messages."""
    items = (data["item"] for data in of_type(events, "item.completed"))
    return [
        item["content"][0]["text"]
        for item in items
        if item["kind"] == "message" and item["role"] == "assistant" and item["content"][0]["type"] == "text"
    ]


def results(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The results of tools."""
    items = (data["item"] for data in of_type(events, "item.completed"))
    return [item for item in items if item["kind"] == "tool_result"]


def statuses(events: Iterable[Mapping[str, Any]], label: str) -> list[Any]:
    """The payloads of the status items with this label."""
    items = (data["item"] for data in of_type(events, "item.completed"))
    return [
        item["content"][1]["json"]
        for item in items
        if item["kind"] == "status" and item["content"][0]["label"] == label
    ]


def stop_reason(events: Sequence[Mapping[str, Any]]) -> str:
    """How the last turn ended."""
    reason: str = of_type(events, "turn.ended")[-1]["metadata"]["stop_reason"]
    return reason
