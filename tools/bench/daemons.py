"""The two daemons: how to start each, and how to open, prompt, read and end a session.

Both run an agent that answers `pace N MS BURST` with N events, BURST of them every MS milliseconds.
"""

from __future__ import annotations

import http.client
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from sandbox_agent.testing.offline import offline_environment

from . import acp_agent, processes
from .generator import Driver
from .load import Marks, Turn

Side = Literal["ours", "peer", "old", "new"]
"""`old` and `new` are two of our commits."""

HEALTH = "/v1/health"
LOG = "server.log"
"""A daemon's log, in its home."""
START_SECONDS = 30.0
STOP_SECONDS = 5.0
ORPHAN_SECONDS = 3.0
END_SESSION_SECONDS = 2.5
"""Ending a session takes well under 2 s; what has not answered by then has hung."""


class Unusable(Exception):
    """A daemon failed in a way that makes its figures meaningless."""


class Pace(Struct, frozen=True):
    events: int
    every_ms: int = 1
    burst: int = 1

    @property
    def prompt(self) -> str:
        return f"pace {self.events} {self.every_ms} {self.burst}"


class Ledger(Struct):
    """Failures of one side during the whole run."""

    sent: int = 0
    lost: int = 0
    doubled: int = 0
    hung: int = 0
    wrong: int = 0
    leaked: int = 0
    late_orders: int = 0


class Daemon(ABC):
    """How to start and drive one kind of daemon."""

    side: Side
    agent_script: str
    marks: Marks

    def __init__(self) -> None:
        self.ledger = Ledger()

    @abstractmethod
    def command(self, home: Path, port: int) -> list[str]: ...

    def watched(self, pid: int) -> AbstractContextManager[object]:
        """A context around each measurement of a running daemon."""
        return nullcontext()

    def prepare(self, home: Path) -> dict[str, str]:
        """Prepare a new home for the daemon. Returns its variables."""
        return {}

    @abstractmethod
    def open_session(self, running: Running, session: str) -> None: ...

    @abstractmethod
    def turn(self, session: str, prompt: str, seconds: float) -> Turn: ...

    @abstractmethod
    def events_path(self, session: str) -> str: ...

    @abstractmethod
    def end_session(self, running: Running, session: str) -> None: ...


class Ours(Daemon):
    agent_script = "mock_agent.py"
    # The prompt is an event of the same type, but its source is the daemon.
    marks = Marks('"source":"agent","synthetic":false,"type":"item.delta"', '"type":"turn.ended"')

    def __init__(
        self, program: Sequence[str | Path], *, side: Side = "ours", environment: Mapping[str, str] = {}
    ) -> None:
        super().__init__()
        self.program = program
        self.side = side
        self.environment = environment

    def prepare(self, home: Path) -> dict[str, str]:
        return dict(self.environment)

    def command(self, home: Path, port: int) -> list[str]:
        where = ["--host", "127.0.0.1", "--port", str(port), "--data-dir", str(home / "data")]
        return [*map(str, self.program), "server", "--no-token", *where]

    def open_session(self, running: Running, session: str) -> None:
        running.ask("POST", f"/v1/sessions/{session}", {"agent": "mock"})

    def turn(self, session: str, prompt: str, seconds: float) -> Turn:
        body = msgspec.json.encode({"message": prompt}).decode()
        return Turn(path=f"/v1/sessions/{session}/messages", body=body, seconds=seconds)

    def events_path(self, session: str) -> str:
        return f"/v1/sessions/{session}/events/sse"

    def end_session(self, running: Running, session: str) -> None:
        running.ask("POST", f"/v1/sessions/{session}/terminate", seconds=END_SESSION_SECONDS)


class Driving(Ours):
    """Ours with a real agent on a scripted model. Failures count as ours."""

    # Not every agent streams its text, but every agent sends some.
    marks = Marks('"role":"assistant","status":"completed"', Ours.marks.turn_end)

    def __init__(self, ours: Ours, agent: str, agent_program: Path, model_url: str) -> None:
        super().__init__(ours.program, side=ours.side, environment=ours.environment)
        self.ledger = ours.ledger
        self._agent = agent
        self._agent_program = agent_program
        self._model_url = model_url

    def prepare(self, home: Path) -> dict[str, str]:
        (home / "workspace").mkdir()
        path = f"{self._agent_program.parent}{os.pathsep}{os.environ['PATH']}"
        return {
            **super().prepare(home),
            "PATH": path,
            **offline_environment(self._agent, self._model_url, home),
        }

    def open_session(self, running: Running, session: str) -> None:
        body = {"agent": self._agent, "directory": str(running.home / "workspace")}
        running.ask("POST", f"/v1/sessions/{session}", body)


class Peer(Daemon):
    """The Rust daemon: ACP messages over HTTP, one agent process per session, nothing stored."""

    side = "peer"
    agent_script = Path(acp_agent.__file__).name
    marks = Marks('"agent_message_chunk"', '"stopReason"')

    def __init__(self, program: Path, *, quiet: bool = False) -> None:
        super().__init__()
        self._program = program
        self._quiet = quiet
        self._ids = itertools.count(1)

    def prepare(self, home: Path) -> dict[str, str]:
        launcher = home / ".local/share/sandbox-agent/bin/agent_processes/mock-acp"
        launcher.parent.mkdir(parents=True)
        launcher.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{acp_agent.__file__}'\n")
        launcher.chmod(0o755)
        return {"RUST_LOG": "off"} if self._quiet else {}

    def command(self, home: Path, port: int) -> list[str]:
        return [
            str(self._program),
            *("server", "--no-token", "--no-telemetry"),
            *("--host", "127.0.0.1", "--port", str(port)),
        ]

    def open_session(self, running: Running, session: str) -> None:
        hello = {"protocolVersion": 1, "clientCapabilities": {}}
        running.ask("POST", f"{self.events_path(session)}?agent=mock", self._call("initialize", hello))
        new = {"cwd": str(running.home), "mcpServers": []}
        running.ask("POST", self.events_path(session), self._call("session/new", new))

    def turn(self, session: str, prompt: str, seconds: float) -> Turn:
        params = {"sessionId": "bench", "prompt": [{"type": "text", "text": prompt}]}
        body = msgspec.json.encode(self._call("session/prompt", params)).decode()
        return Turn(path=self.events_path(session), body=body, seconds=seconds)

    def events_path(self, session: str) -> str:
        return f"/v1/acp/{session}"

    def end_session(self, running: Running, session: str) -> None:
        running.ask("DELETE", self.events_path(session), seconds=END_SESSION_SECONDS)

    def _call(self, method: str, params: object) -> object:
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}


class Cost(Struct):
    cpu: float = 0.0
    """Seconds."""

    def per(self, count: int) -> float:
        """Microseconds of CPU time per item."""
        return self.cpu / max(1, count) * 1e6


class Running(Struct):
    """A running daemon with its load generator."""

    daemon: Daemon
    home: Path
    port: int
    process: subprocess.Popen[bytes]
    load: Driver
    start_seconds: float
    leaked: set[int] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def ask(self, method: str, path: str, body: object = None, seconds: float = 60.0) -> None:
        """Send one request. No answer in time counts as hung, an error as wrong."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            text = answer.read()
        except TimeoutError:
            self.daemon.ledger.hung += 1
            return
        finally:
            connection.close()
        if answer.status >= 300:
            self.daemon.ledger.wrong += 1
            print(f"{self.daemon.side}: {method} {path} got {answer.status} {text!r}", file=sys.stderr)

    def own_processes(self) -> list[int]:
        """The daemon and its descendants, without the agents."""
        script = self.daemon.agent_script
        below = processes.descendants(self.process.pid)
        return [self.process.pid, *(pid for pid in below if not processes.runs_script(pid, script))]

    def cpu(self) -> float:
        return processes.cpu_seconds(self.own_processes())

    def memory(self) -> processes.Memory:
        return processes.memory(self.own_processes())

    @contextmanager
    def measured(self) -> Iterator[Cost]:
        """The measured part; yields the CPU time it took."""
        with self.daemon.watched(self.process.pid):
            cost, before = Cost(), self.cpu()
            yield cost
            cost.cpu = self.cpu() - before

    @contextmanager
    def session(self) -> Iterator[str]:
        with self.sessions(1) as [name]:
            yield name

    @contextmanager
    def sessions(self, count: int) -> Iterator[list[str]]:
        """Open sessions; after they end, none of their processes may be left."""
        before = set(processes.descendants(self.process.pid))
        names = [f"bench-{next(self.numbers)}" for _ in range(count)]
        faults = self.daemon.ledger.hung + self.daemon.ledger.wrong
        for name in names:
            self.daemon.open_session(self, name)
        if self.daemon.ledger.hung + self.daemon.ledger.wrong > faults:
            raise Unusable(f"{self.daemon.side}: no session\n{_end_of(self.home / LOG)}")
        yield names
        # Concurrently, because a side that hangs would delay each of them.
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(lambda name: self.daemon.end_session(self, name), names))
        after = set(processes.descendants(self.process.pid)) - before
        self.leaked |= set(processes.wait_until_gone(after, 2.0))


@contextmanager
def running(daemon: Daemon, folder: Path) -> Iterator[Running]:
    """Start a daemon in a new home, and end it with everything it started."""
    home = _new_home(folder, daemon)
    port = _free_port()
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), **daemon.prepare(home)}
    log = home / LOG
    with log.open("wb") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            daemon.command(home, port),
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    with _ended(daemon, process, home) as leaked:
        _wait_for_health(process, port, log)
        start_seconds = time.perf_counter() - began
        load = Driver("load", str(port))
        try:
            yield Running(daemon, home, port, process, load, start_seconds, leaked)
        finally:
            load.close()
    shutil.rmtree(home, ignore_errors=True)


def _new_home(folder: Path, daemon: Daemon) -> Path:
    numbers = itertools.count(1)
    home = next(path for n in numbers if not (path := folder / f"{daemon.side}-{n}").exists())
    home.mkdir(parents=True)
    return home


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_health(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _is_healthy(port):
            return
        time.sleep(0.001)
    raise Unusable(f"{process.args!r} did not start:\n{_end_of(log)}")


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]


def _is_healthy(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(f"GET {HEALTH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            return connection.recv(4096).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


@contextmanager
def _ended(daemon: Daemon, process: subprocess.Popen[bytes], home: Path) -> Iterator[set[int]]:
    """End everything of this daemon. Returns the processes that had not ended by themselves: they leaked."""
    leaked: set[int] = set()
    try:
        yield leaked
    finally:
        family = set(processes.descendants(process.pid))
        _stop(daemon, process)
        # Orphans are our descendants by now, whatever group or session they are in, next to the other daemon's.
        family |= {pid for pid in processes.descendants(os.getpid()) if processes.belongs_to(pid, home)}
        left = processes.wait_until_gone(family, ORPHAN_SECONDS)
        processes.end(left)
        daemon.ledger.leaked += len(leaked.union(left))


def _stop(daemon: Daemon, process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        daemon.ledger.hung += 1
        process.kill()
        process.wait()
