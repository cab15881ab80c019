"""The recorder stores what passes between a terminal and an agent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from sandbox_agent.agents.recording import Line
from sandbox_agent.testing import mock_agent
from sandbox_agent.testing.recorder import RecordedProcess, Recording

COPY = [sys.executable, "-I", "-S", "-c", "import sys; sys.stdout.write(sys.stdin.readline()); sys.exit(3)"]


def lines(recorded: list[bytes]) -> list[tuple[str, object]]:
    decoded = (msgspec.json.decode(line, type=Line) for line in recorded)
    return [(line.dir, msgspec.json.decode(line.msg)) for line in decoded]


def test_the_command_records_a_conversation(tmp_path: Path) -> None:
    agent = [sys.executable, "-I", "-S", mock_agent.__file__, "--state", str(tmp_path), "--conversation", "c"]
    target = tmp_path / "native.jsonl"
    shown = subprocess.run(
        [sys.executable, "-m", "sandbox_agent.testing.recorder", str(target), *agent],
        input=b'{"type":"prompt","text":"end"}\n',
        capture_output=True,
        check=True,
    ).stdout.splitlines()
    prompt: dict[str, object] = {"type": "prompt", "text": "end"}
    recorded = lines(target.read_bytes().splitlines())
    assert sorted(recorded, key=lambda line: line[0]) == [
        ("cmd", agent),
        ("exit", {"returncode": 0}),
        ("in", prompt),
        *(("out", msgspec.json.decode(line)) for line in shown),
    ]
    assert msgspec.json.decode(shown[-1]) == {"type": "end"}


def test_what_is_not_json_is_recorded_as_a_string() -> None:
    for line, message in ((b"{oops", "{oops"), (b'"quoted"', '"quoted"'), (b'{"a": 1}', {"a": 1})):
        recording = Recording()
        process = RecordedProcess(recording, COPY)
        process.send(line)
        assert process.receive(20) == line
        assert process.finish(20) == 3
        assert lines(recording.lines) == [
            ("cmd", COPY),
            ("in", message),
            ("out", message),
            ("exit", {"returncode": 3}),
        ]
