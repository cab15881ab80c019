"""Changes of real files, as the scribe reports them: read in time, read too late, and reported by the agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from sandbox_agent.agents.replacements import Replacement
from sandbox_agent.agents.scribe import Ask, Scribe
from sandbox_agent.schema.events import ItemCompleted, PermissionRequested
from sandbox_agent.schema.items import FileAction, FileRef
from sandbox_agent.schema.world import counted, look

TOLD = "--- x\n+++ x\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"
OURS = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "x"
        self.scribe = Scribe(structs.replace(counted(), look=look))
        self.scribe.calls.changes.directory = str(folder)
        self.scribe.start_turn()

    def call(self, key: str = "c") -> None:
        self.scribe.end_call(key, "edit", f'{{"path":"{self.file}"}}', kind="edit")

    def result(
        self, diff: str | None = None, action: FileAction = "patch", to: str | None = None, key: str = "c"
    ) -> str | None:
        self.scribe.result(key, "", extra=[FileRef("x", action, to, diff)])
        last = self.scribe.drafts[-1].data
        assert isinstance(last, ItemCompleted)
        change = last.item.content[1]
        assert isinstance(change, FileRef)
        return change.diff


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_change_without_a_report_has_the_diff_of_what_was_read(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    workspace.call()
    workspace.file.write_text("one\nzwei\n")
    assert workspace.result() == OURS


def test_a_file_is_read_as_soon_as_the_arguments_name_it(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    workspace.scribe.call("c", "edit", kind="edit")
    for piece in ('{"pa', f'th":"{workspace.file}', '","content":"on'):
        workspace.scribe.call_delta("c", piece)
    workspace.file.write_text("one\nzwei\n")
    workspace.call()
    assert workspace.result() == OURS


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_agents_report_replaces_a_file_read_too_late(workspace: Workspace, end: str) -> None:
    workspace.file.write_bytes(f"one{end}zwei{end}".encode())
    workspace.call()
    assert workspace.result(TOLD) == OURS.replace("one\n", f"one{end}").replace("o\n", f"o{end}").replace(
        "zwei\n", f"zwei{end}"
    )


def test_a_file_read_too_late_without_a_report_has_no_diff(workspace: Workspace) -> None:
    workspace.file.write_text("one\nzwei\n")
    workspace.call()
    assert workspace.result() is None


def test_an_agents_report_that_does_not_fit_is_ignored(workspace: Workspace) -> None:
    workspace.file.write_text("    one\n    two\n")
    workspace.call()
    workspace.file.write_text("    one\n    zwei\n")
    diff = workspace.result(TOLD)
    assert diff == "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n     one\n-    two\n+    zwei\n"


def test_an_existing_file_is_not_new_whatever_the_agent_says(workspace: Workspace) -> None:
    workspace.file.write_text("old\n")
    workspace.call()
    workspace.file.write_text("new\n")
    diff = workspace.result("--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+new\n", "write")
    assert diff == "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"


def test_a_missing_file_is_new_whatever_the_agent_says(workspace: Workspace) -> None:
    workspace.call()
    workspace.file.write_text("new\n")
    diff = workspace.result("--- x\n+++ x\n@@ -0,0 +1 @@\n+new\n", "write")
    assert diff == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n"


def test_a_deleted_file_has_a_full_diff(workspace: Workspace) -> None:
    workspace.file.write_text("one\n")
    workspace.call()
    workspace.file.unlink()
    assert workspace.result(action="delete") == "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"


def test_a_renamed_file_has_both_names(workspace: Workspace) -> None:
    workspace.file.write_text("one\n")
    workspace.call()
    workspace.file.rename(workspace.file.with_name("y z"))
    assert workspace.result(action="move", to="y z") == (
        'diff --git a/x "b/y z"\nrename from x\nrename to y z\n'
    )


def test_a_file_that_becomes_executable_has_both_modes(workspace: Workspace) -> None:
    workspace.file.write_text("one\n")
    workspace.file.chmod(0o644)
    workspace.call()
    workspace.file.chmod(0o755)
    assert workspace.result() == "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"


def test_a_file_that_becomes_binary_has_no_diff_even_if_the_agent_sends_one(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    workspace.call()
    workspace.file.write_bytes(b"\0\1")
    assert workspace.result(TOLD) is None


def test_two_concurrent_calls_each_have_their_own_part(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    workspace.call("c")
    workspace.call("d")
    workspace.file.write_text("eins\nzwei\n")
    assert workspace.result(TOLD, key="c") == OURS
    second = "@@ -1,2 +1,2 @@\n-one\n+eins\n zwei\n"
    assert workspace.result(second, key="d") == f"--- a/x\n+++ b/x\n{second}"


def test_a_change_that_another_call_has_followed_is_only_its_own(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\nthree\n")
    workspace.call("c")
    workspace.file.write_text("one\nzwei\ndrei\n")
    assert workspace.result("@@ -2 +2 @@\n-two\n+zwei\n", key="c") == (
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"
    )
    workspace.call("d")
    assert workspace.result("@@ -2,2 +2,2 @@\n zwei\n-three\n+drei\n", key="d") == (
        "--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n zwei\n-three\n+drei\n"
    )


def test_a_file_read_too_late_shows_no_more_lines_than_the_agent_does(workspace: Workspace) -> None:
    workspace.file.write_text("one\nzwei\nthree\nvier\n")  # another call has changed the last line since
    workspace.call()
    reported = "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"
    assert workspace.result(reported) == f"--- a/x\n+++ b/x\n{reported}"


def test_a_file_read_after_two_changes_has_the_agents_own_diff(workspace: Workspace) -> None:
    workspace.file.write_text("eins\nzwei\n")
    for key in ("c", "d"):
        workspace.call(key)
    first, second = "@@ -1,2 +1,2 @@\n-one\n+eins\n two\n", "@@ -1,2 +1,2 @@\n eins\n-two\n+zwei\n"
    assert workspace.result(first, key="c") == f"--- a/x\n+++ b/x\n{first}"
    assert workspace.result(second, key="d") == f"--- a/x\n+++ b/x\n{second}"


def test_lines_added_to_a_file_read_too_late_are_added_once(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    workspace.call()
    reported = "@@ -1 +1,2 @@\n one\n+two\n"
    assert workspace.result(reported) == f"--- a/x\n+++ b/x\n{reported}"


def test_a_permission_shows_where_the_change_will_be(workspace: Workspace) -> None:
    workspace.file.write_text("zero\none\ntwo\n")
    diff = "--- x\n+++ x\n@@ -1 +1 @@\n-two\n+zwei\n"
    workspace.scribe.ask("a", Ask("edit", {}, "edit", "c", (str(workspace.file),), diff))
    asked = workspace.scribe.drafts[-1].data
    assert isinstance(asked, PermissionRequested)
    assert asked.metadata is not None
    assert asked.metadata.diff == "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n zero\n one\n-two\n+zwei\n"
    workspace.file.write_text("zero\none\nzwei\n")
    assert workspace.result() == asked.metadata.diff


# -- what a permission would change ---------------------------------------------------------------


def asked_diff(workspace: Workspace, *wanted: tuple[str | None, str], everywhere: bool = False) -> str | None:
    path = str(workspace.file)
    replacements = tuple(Replacement(path, old, new, everywhere) for old, new in wanted)
    workspace.scribe.ask("a", Ask("edit", {}, "edit", "c", (path,), replacements=replacements))
    asked = workspace.scribe.drafts[-1].data
    assert isinstance(asked, PermissionRequested)
    assert asked.metadata is not None
    return asked.metadata.diff


def test_a_permission_to_replace_part_of_a_line_has_the_diff_of_the_file(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    assert asked_diff(workspace, ("tw", "zwei"), ("zweio", "zwei")) == OURS


def test_a_permission_to_replace_every_occurrence_shows_them_all(workspace: Workspace) -> None:
    workspace.file.write_text("two\ntwo\n")
    whole = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-two\n-two\n+zwei\n+zwei\n"
    assert asked_diff(workspace, ("two", "zwei"), everywhere=True) == whole


def test_a_permission_to_overwrite_a_file_shows_what_is_lost(workspace: Workspace) -> None:
    workspace.file.write_text("one\ntwo\n")
    assert asked_diff(workspace, (None, "one\nzwei\n")) == OURS


@pytest.mark.parametrize("old", [None, ""])
def test_a_permission_to_create_a_file_shows_all_of_it(workspace: Workspace, old: str | None) -> None:
    assert asked_diff(workspace, (old, "one\n")) == "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n"


def test_a_piece_that_is_not_in_the_file_is_shown_by_itself(workspace: Workspace) -> None:
    workspace.file.write_text("one\n")
    assert asked_diff(workspace, ("two", "zwei")) == "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-two\n+zwei\n"


def test_a_file_that_is_not_text_has_no_diff_to_show(workspace: Workspace) -> None:
    workspace.file.write_bytes(b"\xff\x00")
    assert asked_diff(workspace, (None, "text")) is None
