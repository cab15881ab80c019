"""Diffs: `patch` turns any old file into any new one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_agent.agents.diffs import (
    MAX_COMPARED,
    DoesNotFit,
    Names,
    changed_lines,
    diff_of_files,
    diff_of_texts,
    names_in,
    read_diffs,
)
from sandbox_agent.schema.world import MAX_EXAMINED_BYTES, FileState, look

ENDS = ("\n", "\r\n", "\n", "\r", "\x0c\n", "\u2028", "\x85\n", "")
LINES = ("", "one", "two", "three", " four", "-five", "+six", "\\ No newline at end of file", "@@ -1 +1 @@")
TEXTS = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)).map("".join), max_size=12).map(
    "".join
)
STATES = st.one_of(
    st.just(FileState()), st.builds(FileState, TEXTS.map(str.encode), is_executable=st.booleans())
)
PATHS = st.sampled_from(["plain.txt", "with space.txt", "grüße/λ.txt", 'quo"te\\s.txt', "deep/er/tab\there"])


@settings(max_examples=60, deadline=None)
@given(before=STATES, after=STATES, path=PATHS)
def test_patch_turns_the_old_file_into_the_new_one(before: FileState, after: FileState, path: str) -> None:
    diff = diff_of_files(names_in("/ws", path), before, after)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, path)
        put(file, before)
        if diff is not None:
            apply(diff, folder)
        assert look(str(file)) == after


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("-- a comment\n", "++ a counter\n", (1, 1)),
        ("one\x0c\u2028-two\n", "one\n", (1, 1)),
        (None, "--- a/x\n+++ b/x\n", (2, 0)),
        ("one", None, (0, 1)),
    ],
)
def test_changed_lines_are_counted_whatever_they_begin_with(
    before: str | None, after: str | None, changed: tuple[int, int]
) -> None:
    diff = diff_of_texts(names_in("/ws", "x.sql"), before, after)
    assert diff is not None
    assert changed_lines(diff) == changed


@settings(max_examples=30, deadline=None)
@given(before=TEXTS, after=TEXTS, executable=st.tuples(st.booleans(), st.booleans()))
def test_patch_renames_a_file_and_changes_it(before: str, after: str, executable: tuple[bool, bool]) -> None:
    old, new = (FileState(text.encode(), x) for text, x in zip((before, after), executable, strict=True))
    diff = diff_of_files(names_in("/ws", "from here", "/ws/to/there"), old, new)
    assert diff is not None
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "from here"), old)
        apply(diff, folder)
        assert look(f"{folder}/from here") == FileState()
        assert look(f"{folder}/to/there") == new


@settings(max_examples=200, deadline=None)
@given(before=st.none() | TEXTS, after=st.none() | TEXTS)
def test_a_parsed_diff_applies_in_both_directions(before: str | None, after: str | None) -> None:
    diff = diff_of_texts(Names("a/x", "b/x"), before, after)
    for parsed in read_diffs(diff or ""):
        assert parsed.after(before) == after
        assert parsed.before(after) == before
        assert parsed.written(Names("a/x", "b/x")) == diff


def test_a_file_outside_of_the_directory_keeps_its_whole_name(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    diff = diff_of_files(names_in("/ws", str(file)), FileState(), FileState(b"hello\n"))
    assert diff == f"--- /dev/null\n+++ {file}\n@@ -0,0 +1 @@\n+hello\n"
    apply(diff, "/")
    assert file.read_bytes() == b"hello\n"


@pytest.mark.parametrize("path", ["sub/x", "/ws/sub/x", "./sub/x", "/ws/other/../sub/x"])
def test_a_file_in_the_directory_has_a_relative_name(path: str) -> None:
    assert names_in("/ws", path) == Names("a/sub/x", "b/sub/x")


def test_a_plain_change_has_a_plain_header() -> None:
    assert diff_of_texts(Names("a/x", "b/x"), "a\nb\n", "a\nc") == (
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )


def test_a_binary_file_has_no_diff() -> None:
    names = Names("a/x", "b/x")
    assert diff_of_files(names, FileState(b"text\n"), FileState(b"\x89PNG\0\n")) is None
    assert diff_of_files(names, FileState(b"caf\xe9\n"), FileState(b"text\n")) is None
    assert diff_of_files(names, FileState(b"same\n"), FileState(b"same\n")) is None


def test_a_change_too_large_to_compare_line_by_line_is_replaced_as_a_whole() -> None:
    count = int(MAX_COMPARED**0.5) + 10
    before = "same\n" * 5 + "".join(f"a{n % 7}\n" for n in range(count)) + "end\n"
    after = "same\n" * 5 + "".join(f"a{n % 5}\n" for n in range(count)) + "end\n"
    diff = diff_of_texts(Names("a/x", "b/x"), before, after)
    (parsed,) = read_diffs(diff or "")
    assert len(parsed.hunks) == 1
    assert parsed.after(before) == after


def test_an_agents_diff_without_carriage_returns_fits_a_file_that_has_them() -> None:
    (parsed,) = read_diffs("--- x\n+++ x\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n four\n")
    assert parsed.after("one\r\ntwo\r\nfour\r\n") == "one\r\nzwei\r\ndrei\r\nfour\r\n"
    assert parsed.before("one\r\nzwei\r\ndrei\r\nfour\r\n") == "one\r\ntwo\r\nfour\r\n"


def test_an_agents_diff_is_relocated_only_to_a_unique_position() -> None:
    (parsed,) = read_diffs("@@ -1 +1 @@\n-two\n+zwei\n")
    assert parsed.after("one\ntwo\n") == "one\nzwei\n"
    for text in ("", "one\n", "one\ntwo\ntwo\n", None):
        with pytest.raises(DoesNotFit):
            parsed.after(text)


def test_the_diffs_of_several_files_are_read_one_by_one() -> None:
    text = (
        "Index: /ws/a.txt\n=====\n--- /ws/a.txt\toriginal\n+++ /ws/a.txt\tmodified\n@@ -1,1 +1,1 @@\n-a\n+b\n"
    )
    two = "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+--- x\n"
    first, second = read_diffs(text + two)
    assert (first.paths, first.created) == (("/ws/a.txt", "/ws/a.txt"), False)
    assert (second.paths, second.created) == (("b.txt", "b.txt"), True)
    assert first.written(Names("a/a.txt", "b/a.txt")) == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"


# -- reading files ----------------------------------------------------------------------------


def test_only_a_small_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert look(str(file)) == FileState()
    file.write_bytes(b"x" * MAX_EXAMINED_BYTES)
    assert look(str(file)) == FileState(b"x" * MAX_EXAMINED_BYTES)
    file.write_bytes(b"x" * (MAX_EXAMINED_BYTES + 1))
    assert look(str(file)) is None
    assert look(str(tmp_path)) is None
    assert look("with\0nul") is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert look(str(tmp_path / "pipe")) is None


def put(file: Path, state: FileState) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if state.data is not None:
        file.write_bytes(state.data)
        file.chmod(0o755 if state.is_executable else 0o644)


def apply(diff: str, folder: str) -> None:
    # Without `--force`, patch asks whether it may delete an empty file.
    subprocess.run(
        ["patch", "-p1", "--force", "--silent"],
        input=diff.encode(),
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=30,
    )


@pytest.mark.parametrize("name", ["x.txt", "a b/x y.txt", "x b/x"])
def test_an_empty_file_has_its_name_in_the_git_header(name: str) -> None:
    (parsed,) = read_diffs(f"diff --git a/{name} b/{name}\nnew file mode 100644\nindex 0000000..e69de29\n")
    assert (parsed.paths, parsed.created, parsed.after(None)) == ((name, name), True, "")
