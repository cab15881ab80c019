"""Runs an agent's process over real pipes and stores the traffic as a recording (docs/contributing/recordings.mdx).

python -m sandbox_agent.testing.recorder native.jsonl COMMAND...

passes lines between the terminal and the agent until its input ends (Ctrl-D), then writes the recording.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Literal

import msgspec

from ..agents.recording import Line


class Recording:
    """The lines of a recording, without newlines; it may hold several processes, one after the other."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._began = time.monotonic()

    def note(self, direction: Literal["in", "out", "cmd", "exit", "err"], message: bytes) -> None:
        t = round(time.monotonic() - self._began, 4)
        self.lines.append(msgspec.json.encode(Line(direction, t, msgspec.Raw(message))))


class RecordedProcess:
    """A process whose lines are recorded as they pass."""

    def __init__(self, recording: Recording, argv: Sequence[str], cwd: Path | None = None) -> None:
        self._recording = recording
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        recording.note("cmd", msgspec.json.encode(list(argv)))
        self.process = subprocess.Popen(
            argv, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def send(self, line: bytes) -> None:
        """Write a line to the agent."""
        self._recording.note("in", _message(line))
        stdin = _piped(self.process.stdin)
        stdin.write(line + b"\n")
        stdin.flush()

    def receive(self, timeout: float | None = None) -> bytes | None:
        """The next line from the agent; None once it has closed its output. Raises `queue.Empty` if none
        arrives in time.
        """
        return self._frames.get(timeout=timeout)

    def finish(self, timeout: float | None = None) -> int:
        """Close the agent's input, wait until it exits and record that. Returns the return code."""
        with contextlib.suppress(BrokenPipeError):
            _piped(self.process.stdin).close()
        returncode = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        _piped(self.process.stdout).close()
        _piped(self.process.stderr).close()
        self._recording.note("exit", msgspec.json.encode({"returncode": returncode}))
        return returncode

    def _read_stdout(self) -> None:
        for line in _piped(self.process.stdout):
            frame = line.rstrip(b"\n")
            self._recording.note("out", _message(frame))
            self._frames.put(frame)
        self._frames.put(None)

    def _read_stderr(self) -> None:
        for line in _piped(self.process.stderr):
            text = line.rstrip(b"\n").decode(errors="replace")
            self._recording.note("err", msgspec.json.encode(text))


def _piped(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _message(line: bytes) -> bytes:
    """A line as JSON; a line that is not JSON, or is a JSON string, becomes a string."""
    try:
        if not line.startswith(b'"'):
            msgspec.json.decode(line)
            return line
    except ValueError:
        pass
    return msgspec.json.encode(line.decode(errors="replace"))


def main(argv: Sequence[str]) -> int:
    target, *command = argv
    recording = Recording()
    agent = RecordedProcess(recording, command)

    def show() -> None:
        while (frame := agent.receive()) is not None:
            print(frame.decode(errors="replace"), flush=True)

    shown = threading.Thread(target=show)
    shown.start()
    with contextlib.suppress(BrokenPipeError):  # the agent may end first
        for line in sys.stdin.buffer:
            agent.send(line.rstrip(b"\n"))
    agent.finish()
    shown.join()
    Path(target).write_bytes(b"".join(line + b"\n" for line in recording.lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
