"""Tables are for readers, JSON is for machines."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import pytest

from sandbox_agent.cli.failures import CommandFailed, ProblemAnswered
from sandbox_agent.cli.output import COLUMNS, cell, heading, print_answer, print_rows, size, written
from sandbox_agent.ops import OPERATIONS


def test_a_field_name_becomes_words() -> None:
    assert [heading(name) for name in ("eventCount", "turn_id", "id")] == ["event count", "turn id", "id"]


def test_a_cell_is_one_line_without_control_characters() -> None:
    values = [None, True, ["a", "b"], "x\n\x1b[31mred", {"inputTokens": 3}, {"a": ["b"]}, "y" * 200]
    assert [cell(value) for value in values] == [
        "",
        "yes",
        "a, b",
        "x  [31mred",
        "input tokens 3",
        '{"a":["b"]}',
        "y" * 119 + "…",
    ]


@pytest.mark.parametrize("title", [r"\[/x] a", "[bold]a[/bold]", "[a]", ":warning: a", "a\\"])
def test_a_title_is_printed_as_it_is(title: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It may look like markup of the library that draws the table."""
    row = {"sessionId": "s", "agent": "mock", "title": title}
    print_answer(msgspec.json.encode({"sessions": [row]}), argparse.Namespace())
    print_answer(msgspec.json.encode(row), argparse.Namespace())
    assert capsys.readouterr().out.count(title) == 2


def test_json_output_is_the_daemons_response_unchanged(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    print_answer(b'{"sessions":[]}', argparse.Namespace(json=True))
    assert capfdbinary.readouterr().out == b'{"sessions":[]}\n'


def test_a_table_leaves_out_empty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": None, "updatedAt": "2026-01-02T03:04:05.000Z"},
        {"id": "bc", "updatedAt": "2026-01-02T03:04"},
    ]
    print_rows(("id", "title", "updatedAt"), rows, empty="none")
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["id  updated at", "a   2026-01-02 03:04", "bc  2026-01-02 03:04"]


def test_the_times_of_files_are_shown_to_the_minute(capsys: pytest.CaptureFixture[str]) -> None:
    file = {"name": "a", "entryType": "file", "size": 1, "modified": "2026-01-02T03:04:05.371484582+00:00"}
    print_answer(msgspec.json.encode([file]), argparse.Namespace())
    assert capsys.readouterr().out.splitlines()[1] == "a     file        1 B   2026-01-02 03:04"


def test_pending_requests_show_their_title_and_turn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    asked = {"permission_id": "perm_1", "action": "bash", "metadata": {"kind": "command", "title": "ls -l"}}
    queued = {"turnId": "turn_1", "message": "hello", "createdAt": "2026-01-02T03:04:05.000Z"}
    for answer in ({"permissions": [asked]}, {"messages": [queued], "nextCursor": "2"}):
        print_answer(msgspec.json.encode(answer), argparse.Namespace())
    shown = capsys.readouterr()
    assert [line.rstrip() for line in shown.out.splitlines()] == [
        "permission id  action  kind     title",
        "perm_1         bash    command  ls -l",
        "turn id  message  created at",
        "turn_1   hello    2026-01-02 03:04",
    ]
    assert shown.err == "more messages: --cursor 2\n"


def test_every_list_of_a_response_has_columns() -> None:
    lists = {
        field.encode_name: {inner.encode_name for inner in msgspec.structs.fields(row)}
        for operation in OPERATIONS.values()
        if isinstance(operation.response, type) and issubclass(operation.response, msgspec.Struct)
        for field in msgspec.structs.fields(operation.response)
        if get_origin(field.type) in (list, tuple)
        for row in get_args(field.type)[:1]
        if isinstance(row, type) and issubclass(row, msgspec.Struct)
    }
    assert {"windows", "recordings", "nodes", "commands"} <= lists.keys()
    assert lists.keys() - COLUMNS.keys() == set()
    assert set(COLUMNS["commands"]) <= lists["commands"]
    assert set(COLUMNS["nodes"]) <= lists["nodes"]


def test_a_state_is_printed_with_what_belongs_to_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    desktop = {"state": "active", "processes": [{"name": "Xvfb", "running": True}], "windows": [{"id": "7"}]}
    print_answer(msgspec.json.encode(desktop), argparse.Namespace())
    assert capsys.readouterr().out.splitlines() == [
        "state  active",
        "",
        "processes:",
        "name  running",
        "Xvfb  yes",
        "",
        "windows:",
        "id",
        "7",
    ]


def test_a_path_is_one_line_from_home_and_cut_in_the_middle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rows: list[dict[str, Any]] = [
        {"id": "claude", "path": "/home/me/.local/share/sandbox-agent/agents/claude/2.1.325/claude"},
        {"id": "mock", "path": "/home/me/mock"},
        {"id": "pi", "path": "/home/melissa/pi"},
    ]
    print_rows(("id", "path"), rows, empty="none")
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in shown.splitlines()] == [
        "id      path",
        "claude  ~/.local/s…claude/2.1.325/claude",
        "mock    ~/mock",
        "pi      /home/melissa/pi",
    ]


@pytest.mark.parametrize(
    ("width", "lines", "left_out"),
    [
        (
            80,
            [
                "session id  title             updated at        directory",
                "ses_123456  A readable title  2026-01-02 03:04  /a/path/that/is/cut",
            ],
            "",
        ),
        (
            44,
            [
                "session id  title             updated at",
                "ses_123456  A readable title  2026-01-02",
                "                              03:04",
            ],
            "directory",
        ),
        (25, ["session id  title", "ses_123456  A readable", "            title"], "updated at, directory"),
        (8, ["session", "id", "ses_1234", "56"], "title, updated at, directory"),
    ],
)
def test_a_narrow_terminal_shows_the_first_columns_with_whole_words(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    lines: list[str],
    left_out: str,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    row = {
        "sessionId": "ses_123456",
        "title": "A readable title",
        "updatedAt": "2026-01-02T03:04:05.000Z",
        "directory": "/a/path/that/is/cut",
    }
    print_rows(tuple(row), [row], empty="none")
    shown = capsys.readouterr()
    table = re.sub(r"\x1b\[[\d;]*m", "", shown.out)
    assert [line.rstrip() for line in table.splitlines()] == lines
    assert shown.err == (f"the terminal is too narrow for: {left_out}\n" if left_out else "")


def test_a_table_in_a_pipe_is_neither_cut_nor_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("HOME", "/home/me")
    path = f"/home/me/{'folder/' * 20}claude"
    print_rows(("id", "path"), [{"id": "claude", "path": path}], empty="none")
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["id      path", f"claude  {path}"]


def test_sizes_are_readable() -> None:
    assert [size(count) for count in (0, 1023, 1536, 5 << 20, 3 << 40)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "5.0 MiB",
        "3072.0 GiB",
    ]


def test_a_file_is_replaced_only_when_it_is_complete(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    with written(str(link)) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert (target.read_text(), target.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o600, True)
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_device_is_written_to_and_not_replaced() -> None:
    with written("/dev/null") as device:
        device.write(b"gone")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("path", "why"), [("/nowhere/x", "No such file or directory"), ("/", "Is a directory")]
)
def test_a_file_that_cannot_be_written_is_a_clear_error(path: str, why: str) -> None:
    with pytest.raises(CommandFailed, match=f"^cannot write {path}: {why}$"), written(path):
        pass


def test_a_problem_is_printed_with_its_fields() -> None:
    problem = {
        "type": "urn:sandbox-agent:error:agent_process_exited",
        "title": "Agent process exited",
        "status": 500,
        "detail": "it did not start",
        "exitCode": 1,
        "stderr": {"head": "no key\ngiving up", "truncated": False},
    }
    assert ProblemAnswered(problem).readable() == (
        "error: Agent process exited: it did not start\n  exitCode: 1\n  stderr: \n    no key\n    giving up"
    )


def test_a_problem_without_details_is_still_printed() -> None:
    assert ProblemAnswered({}).readable() == "error: the daemon refused"


def test_a_failure_of_the_cli_has_the_shape_of_a_problem() -> None:
    assert CommandFailed("no").problem() == {"type": "about:blank", "title": "Command failed", "detail": "no"}
