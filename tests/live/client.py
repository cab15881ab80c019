"""A daemon as a subprocess, and a small synchronous client that waits by following the event stream."""

from __future__ import annotations

import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import msgspec
from tests.busy import busy

from sandbox_agent.schema.events import (
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    decode_event,
)
from sandbox_agent.schema.items import FileRef, Item, Json, Reasoning, StatusPart, Text, ToolCall, ToolResult
from sandbox_agent.schema.tools import ToolRequest

DEADLINE = min(busy(60.0), 200.0)
"""How long anything may take; a test may take 300 s."""
Data = TypeVar("Data")


class DidNotHappen(AssertionError):
    """An awaited event did not arrive."""


class Refused(AssertionError):
    """The daemon answered with a problem."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(f"{response.request.method} {response.request.url.path}: {response.text}")
        self.status = response.status_code


class DaemonProcess:
    """`sandbox-agent server`, as a user would start it."""

    def __init__(self, data_dir: Path, environ: Mapping[str, str], flags: Iterable[str] = ()) -> None:
        self.data_dir = data_dir
        self._environ = environ
        self._flags = tuple(flags)
        self.start()

    def start(self) -> None:
        argv = [sys.executable, "-m", "sandbox_agent", "server", "--no-token", "--port", "0"]
        self._process = subprocess.Popen(
            [*argv, "--data-dir", str(self.data_dir), *self._flags],
            env=dict(self._environ),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._address: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader.start()
        address = self._address.get(timeout=DEADLINE)
        assert address, "the daemon did not start; its log says why"
        self.url = address
        self.http = httpx2.Client(base_url=address, timeout=60, verify=False)

    def _read_stderr(self) -> None:
        """Keep the daemon's output in a log beside its directory, and find its address in it."""
        assert self._process.stderr is not None
        with self._process.stderr, self.data_dir.with_name(f"{self.data_dir.name}.log").open("ab") as log:
            for line in self._process.stderr:
                log.write(line)
                log.flush()
                if match := re.search(rb"listening on (http://\S+)", line):
                    self._address.put(match[1].decode())
        self._address.put("")

    def kill(self) -> None:
        """Kill it without a chance to shut down, like a power cut."""
        self._end(signal.SIGKILL)

    def revive(self) -> None:
        """Start it again if a failed test left it dead."""
        if self._process.poll() is not None:
            self.start()

    def stop(self) -> None:
        if self._process.poll() is None:
            self._end(signal.SIGTERM)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """It does nothing in this context, like on a machine that is too busy."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def _end(self, number: int) -> None:
        self.http.close()
        self._process.send_signal(number)
        self._process.wait(DEADLINE)
        self._reader.join(DEADLINE)


class Turn:
    """The events between a `turn.started` and its `turn.ended`."""

    def __init__(self, id: str, events: list[Event], metadata: TurnMetadata) -> None:
        self.id = id
        self.events = events
        self.stop_reason = metadata.stop_reason
        self.usage = metadata.usage

    def data(self, kind: type[Data]) -> list[Data]:
        return [event.data for event in self.events if isinstance(event.data, kind)]

    @property
    def items(self) -> list[Item]:
        return [done.item for done in self.data(ItemCompleted)]

    def parts(self, kind: type[Data]) -> list[Data]:
        return [part for item in self.items for part in item.content if isinstance(part, kind)]

    @property
    def text(self) -> str:
        """The agent's own text, without its sub-agents'."""
        messages = [item for item in self.items if item.role == "assistant" and item.parent_id is None]
        return "\n".join(part.text for item in messages for part in item.content if isinstance(part, Text))

    @property
    def prompt(self) -> str:
        prompts = [item for item in self.items if item.role == "user"]
        return "".join(part.text for item in prompts for part in item.content if isinstance(part, Text))

    @property
    def thoughts(self) -> list[str]:
        return [part.text for part in self.parts(Reasoning)]

    @property
    def calls(self) -> list[ToolCall]:
        return self.parts(ToolCall)

    @property
    def results(self) -> list[ToolResult]:
        return self.parts(ToolResult)

    @property
    def output(self) -> str:
        return "\n".join(result.output for result in self.results)

    @property
    def files(self) -> list[FileRef]:
        return self.parts(FileRef)

    @property
    def errors(self) -> list[ErrorEvent]:
        return self.data(ErrorEvent)

    @property
    def asked_client(self) -> list[PermissionResolved]:
        """Permissions that the client had to answer."""
        resolved = self.data(PermissionResolved)
        return [each for each in resolved if each.metadata and each.metadata.decided_by == "client"]


class Session:
    """A session on a daemon. `events` is what the stream has shown so far, each event once."""

    def __init__(self, daemon: DaemonProcess, id: str) -> None:
        self._daemon = daemon
        self.id = id
        self.events: list[Event] = []

    def call(self, method: str, path: str = "", body: object = None, **more: Any) -> Any:
        """Send one request below this session; returns the decoded answer, or raises `Refused`."""
        if body is not None:
            more["json"] = body
        response = self._daemon.http.request(method, f"/v1/sessions/{self.id}{path}", **more)
        if not response.is_success:
            raise Refused(response)
        return response.json() if response.content else None

    @property
    def info(self) -> Any:
        return self.call("GET")

    def send(self, message: str, **more: Any) -> str:
        """Send a message; returns the id of its turn."""
        answer = self.call("POST", "/messages", {"message": message, **more})
        return str(answer["turnId"])

    def run(self, message: str, **more: Any) -> Turn:
        """Send a message and wait for the end of its turn."""
        return self.finish(self.send(message, **more))

    def finish(self, turn_id: str) -> Turn:
        def ends(event: Event) -> bool:
            return isinstance(event.data, TurnEnded) and event.data.turn_id == turn_id

        ended = self.wait(ends).data
        assert isinstance(ended, TurnEnded)
        return Turn(turn_id, self._events_of(turn_id), ended.metadata)

    def _events_of(self, turn_id: str) -> list[Event]:
        of_turn: list[Event] = []
        for event in self.events:
            if isinstance(event.data, TurnStarted) and event.data.turn_id == turn_id:
                of_turn = [event]
            elif of_turn:
                of_turn.append(event)
            if isinstance(event.data, TurnEnded) and event.data.turn_id == turn_id:
                break
        return of_turn

    def first_delta(self, turn_id: str) -> None:
        """Wait until the agent has begun to answer."""
        self._in_turn(turn_id, lambda event: isinstance(event.data, ItemDelta) and event.source == "agent")

    def first_result(self, turn_id: str) -> None:
        """Wait until the agent has used a tool and continues."""

        def is_result(event: Event) -> bool:
            return isinstance(event.data, ItemCompleted) and event.data.item.kind == "tool_result"

        self._in_turn(turn_id, is_result)

    def first_call(self, turn_id: str) -> ToolCall:
        """The first call of a turn, once its arguments are known."""

        def is_call(event: Event) -> bool:
            return isinstance(event.data, ItemCompleted) and event.data.item.kind == "tool_call"

        done = self._in_turn(turn_id, is_call).data
        assert isinstance(done, ItemCompleted)
        (call,) = done.item.content
        assert isinstance(call, ToolCall)
        return call

    def permission(self, turn_id: str) -> PermissionRequested:
        """The permission that the turn waits for."""
        resolved = {
            event.data.permission_id for event in self.events if isinstance(event.data, PermissionResolved)
        }
        asked = self._in_turn(
            turn_id,
            lambda event: (
                isinstance(event.data, PermissionRequested) and event.data.permission_id not in resolved
            ),
        ).data
        assert isinstance(asked, PermissionRequested)
        return asked

    def tool_request(self, turn_id: str) -> ToolRequest:
        """The first call of a tool of ours that the agent makes in the turn."""

        def asks(event: Event) -> bool:
            match event.data:
                case ItemStarted(Item(content=(StatusPart(label="tool_request"), _))):
                    return True
            return False

        event = self._in_turn(turn_id, asks)
        assert isinstance(event.data, ItemStarted)
        payload = event.data.item.content[1]
        assert isinstance(payload, Json)
        return msgspec.convert(payload.json, ToolRequest)

    def question(self, turn_id: str) -> QuestionRequested:
        """The question that the turn waits for."""
        asked = self._in_turn(turn_id, lambda event: isinstance(event.data, QuestionRequested)).data
        assert isinstance(asked, QuestionRequested)
        return asked

    def question_resolved(self) -> QuestionResolved:
        resolved = self.wait(lambda event: isinstance(event.data, QuestionResolved)).data
        assert isinstance(resolved, QuestionResolved)
        return resolved

    def decide(self, permission: PermissionRequested, reply: str, **more: str) -> None:
        self.call("POST", f"/permissions/{permission.permission_id}/reply", {"reply": reply, **more})

    def answer(self, question: QuestionRequested, *answers: list[str]) -> None:
        self.call("POST", f"/questions/{question.question_id}/reply", {"answers": answers})

    def reject(self, question: QuestionRequested) -> None:
        self.call("POST", f"/questions/{question.question_id}/reject", {})

    def status_labels(self) -> list[str]:
        items = [event.data.item for event in self.events if isinstance(event.data, ItemCompleted)]
        return [part.label for item in items for part in item.content if isinstance(part, StatusPart)]

    def _in_turn(self, turn_id: str, matches: Callable[[Event], bool]) -> Event:
        """Wait for an event, but no longer than the turn lasts."""

        def ended(event: Event) -> bool:
            return isinstance(event.data, TurnEnded) and event.data.turn_id == turn_id

        seen = self.wait(lambda event: matches(event) or ended(event), since=self._start_of(turn_id))
        if not matches(seen):
            raise DidNotHappen(f"the turn ended without it: {_summary(self._events_of(turn_id))}")
        return seen

    def _start_of(self, turn_id: str) -> int:
        def starts(event: Event) -> bool:
            return isinstance(event.data, TurnStarted) and event.data.turn_id == turn_id

        return self.wait(starts).sequence

    def wait(self, matches: Callable[[Event], bool], since: int = 0) -> Event:
        """The first event of a kind after a sequence, as soon as the stream shows it."""
        for event in self.events[since:]:
            if matches(event):
                return event
        for event in self._follow():
            if matches(event):
                return event
        stored = self.stored()
        shown = f"{len(self.events)} of {len(stored)} events were streamed"
        raise DidNotHappen(f"not within {DEADLINE:g} s; {shown}: {_summary(stored)}")

    def _follow(self) -> Iterator[Event]:
        deadline = time.monotonic() + DEADLINE
        path = f"/v1/sessions/{self.id}/events/sse"
        rest = b""
        try:
            with self._daemon.http.stream(
                "GET", path, params={"offset": len(self.events)}, timeout=DEADLINE
            ) as stream:
                for chunk in stream.iter_raw():
                    *lines, rest = (rest + chunk).split(b"\n")
                    arrived = [decode_event(line[6:]) for line in lines if line.startswith(b"data: ")]
                    self.events += arrived
                    yield from arrived
                    if time.monotonic() > deadline:
                        return
        except httpx2.ReadTimeout:
            return

    def some_events_after(self, sequence: int, count: int) -> list[Event]:
        """A few events from a new connection, as for a reader that names the last event it saw."""
        seen: list[Event] = []
        path = f"/v1/sessions/{self.id}/events/sse"
        headers = {"last-event-id": str(sequence)}
        with self._daemon.http.stream("GET", path, headers=headers, timeout=DEADLINE) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    seen.append(decode_event(line[6:].encode()))
                    if len(seen) == count or isinstance(seen[-1].data, TurnEnded):
                        break
        return seen

    def stored(self) -> list[Event]:
        """Every event, read page by page."""
        events: list[Event] = []
        while True:
            response = self._daemon.http.get(
                f"/v1/sessions/{self.id}/events", params={"offset": len(events), "limit": 1000}
            )
            page = msgspec.json.decode(response.content, type=_Page)
            events += [decode_event(row) for row in page.events]
            if not page.hasMore:
                return events


class _Page(msgspec.Struct):
    events: list[msgspec.Raw]
    hasMore: bool


def _summary(events: list[Event]) -> str:
    """The end of a transcript, for an error message."""
    lines = [msgspec.json.encode((event.type, event.data)).decode()[:300] for event in events]
    return "\n".join(["", *lines[-40:]])


# -- processes --------------------------------------------------------------------------------

MARK = "SANDBOX_AGENT_LIVE_TEST"


def new_mark() -> dict[str, str]:
    """A variable that marks every process a session starts."""
    return {MARK: uuid.uuid4().hex}


def marked_processes(mark: Mapping[str, str]) -> dict[int, list[str]]:
    """The command lines of all living processes that carry the mark."""
    variable = f"{MARK}={mark[MARK]}".encode()
    processes = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                argv = (folder / "cmdline").read_bytes().split(b"\0")
                processes[int(folder.name)] = [argument.decode(errors="replace") for argument in argv]
        except OSError:
            continue  # it ended just now
    return processes


def agent_process(mark: Mapping[str, str]) -> int:
    """The agent itself: the child of its guardian."""
    processes = marked_processes(mark)
    guardians = {
        pid for pid, argv in processes.items() if any("guardian.py" in argument for argument in argv)
    }
    (agent,) = (pid for pid in processes if pid not in guardians and _parent(pid) in guardians)
    return agent


def _parent(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def becomes_true(condition: Callable[[], bool], seconds: float = DEADLINE) -> bool:
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met


def wait_for_end(pid: int, seconds: float) -> bool:
    """Whether a process ends in time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert wait_for_end(pid, 5)


def kill_and_restart(daemon: DaemonProcess, mark: Mapping[str, str]) -> None:
    """Kill the daemon and start it again; nothing that it started survives."""
    started = list(marked_processes(mark))
    assert started
    daemon.kill()
    assert all(wait_for_end(pid, 5) for pid in started)
    daemon.start()


class Fifo:
    """A named pipe in the workspace, through which a command of the agent tells the test that it runs."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def read_line(self) -> str:
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self._fd], [], [], DEADLINE)[0]:
                raise DidNotHappen("the command did not start")
            text += os.read(self._fd, 4096)
        return text.decode().strip()

    def close(self) -> None:
        os.close(self._fd)
