"""`fs` and `cp`: files of the daemon's machine on the command line."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from sandbox_agent.cli.copy import RemotePath, remote_path

from .conftest import Cli


def test_a_file_is_written_read_and_found(cli: Cli, tmp_path: Path) -> None:
    there = tmp_path / "there"
    (tmp_path / "here.txt").write_text("hello\n")
    assert cli("fs", "write", f"{there}/a.txt", "here.txt").returncode == 0
    assert cli("fs", "write", f"{there}/b.txt", "-", stdin="from stdin").returncode == 0
    assert cli("fs", "read", f"{there}/a.txt").stdout == "hello\n"
    assert cli("fs", "read", f"{there}/b.txt", "--range", "bytes=5-").stdout == "stdin"
    assert [entry["name"] for entry in json.loads(cli("fs", "entries", str(there), "--json").stdout)] == [
        "a.txt",
        "b.txt",
    ]
    moved = cli("fs", "move", f"{there}/a.txt", f"{there}/c.txt", "--json")
    assert json.loads(moved.stdout) == {"from": f"{there}/a.txt", "to": f"{there}/c.txt"}
    hits = json.loads(cli("fs", "search", str(there), "--text", "hell", "--json").stdout)["hits"]
    assert hits == [{"path": f"{there}/c.txt", "entryType": "file", "line": 1, "text": "hello"}]
    refused = cli("fs", "read", f"{there}/gone")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "path not found" in refused.stderr


def test_cp_copies_files_both_ways(cli: Cli, tmp_path: Path) -> None:
    there = tmp_path / "there"
    content = bytes(range(256)) * 4000
    (tmp_path / "a.bin").write_bytes(content)
    sent = cli("cp", "a.bin", f":{there}/")
    assert (sent.returncode, sent.stderr) == (0, f"a.bin: {len(content)} bytes\n")
    assert (there / "a.bin").read_bytes() == content
    assert cli("cp", f"remote:{there}/a.bin", "back.bin").returncode == 0
    assert (tmp_path / "back.bin").read_bytes() == content


def test_files_without_a_size_are_sent_whole(cli: Cli, tmp_path: Path) -> None:
    """Files of the kernel, and what a shell offers as `<(command)`."""
    there = tmp_path / "there"
    assert cli("fs", "write", str(there), "/proc/version").returncode == 0
    assert there.read_bytes() == Path("/proc/version").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("piped",)).start()
    assert cli("cp", str(pipe), f":{there}").returncode == 0
    assert there.read_text() == "piped"


def test_cp_copies_folders_both_ways(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "deep" / "x").write_text("x")
    (tmp_path / "src" / "run.sh").write_text("run")
    (tmp_path / "src" / "run.sh").chmod(0o755)
    there = tmp_path / "there"
    assert cli("cp", "src", f":{there}").returncode == 0
    assert (there / "run.sh").stat().st_mode & 0o777 == 0o755
    assert cli("cp", "src", f":{there}").returncode == 0
    assert (there / "src" / "deep" / "x").read_text() == "x"
    assert cli("cp", f":{there}/src", "back").returncode == 0
    assert (tmp_path / "back" / "deep" / "x").read_text() == "x"


def test_cp_knows_the_directory_of_a_session(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "notes").write_text("notes")
    assert cli("sessions", "create", "cp", "--agent", "mock", "--directory", "work").returncode == 0
    assert cli("cp", "notes", "cp:docs/notes").returncode == 0
    assert (tmp_path / "work" / "docs" / "notes").read_text() == "notes"


@pytest.mark.parametrize("words", [("a", "b"), (":a", ":b")])
def test_cp_is_from_one_machine_to_the_other(cli: Cli, words: tuple[str, str]) -> None:
    refused = cli("cp", *words)
    assert refused.returncode == 2
    assert "one of the two paths must be on the daemon's machine" in refused.stderr


def test_a_path_with_a_slash_before_its_colon_is_of_this_machine() -> None:
    assert remote_path("./a:b") is None
    assert remote_path("plain") is None
    assert remote_path(":x") == remote_path("remote:x") == RemotePath(None, "x")
    assert remote_path("demo:/x:y") == RemotePath("demo", "/x:y")
