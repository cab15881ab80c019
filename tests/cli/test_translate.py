"""`translate` prints what the adapters make of a recording; the transcript suite says what that should be."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.cli.main import main
from sandbox_agent.session.player import translate

NATIVE = Path(__file__).parents[1] / "transcripts" / "mock" / "calls" / "native.jsonl"


def expected() -> bytes:
    recorded = translate(AGENTS["mock"], NATIVE.read_bytes().splitlines())
    return msgspec.json.Encoder().encode_lines([each.event for each in recorded])


def test_a_recording_becomes_universal_events(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["translate", "mock", str(NATIVE)]) == 0
    assert capfdbinary.readouterr().out == expected()


def test_raw_is_the_native_payload(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    main(["translate", "mock", str(NATIVE), "--include-raw"])
    events = [msgspec.json.decode(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert events[-1]["raw"]["type"] == "turn_end"
    without = [{**event, "raw": None} for event in events]
    assert without == [msgspec.json.decode(line) for line in expected().splitlines()]


def test_a_recording_of_another_agent_is_recognized(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording = NATIVE.parents[2] / "claude" / "bash_allow" / "native.jsonl"
    assert main(["translate", "codex", str(recording)]) == 0
    message = f"{recording} contains no conversation of codex: is it from another agent?\n"
    assert capsys.readouterr() == ("", message)


def test_a_broken_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"dir":"note","t":0,"msg":"fine"}\n\n{"dir":\n')
    assert main(["translate", "mock", str(broken)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {broken}:3: not a line of a recording: ")


def test_a_file_that_is_not_there_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "mock", "/nowhere"]) == 1
    assert capsys.readouterr().err == "error: cannot read /nowhere: No such file or directory\n"


def test_an_unknown_agent_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "nobody", "-"]) == 2
    assert "no agent is called nobody" in capsys.readouterr().err
