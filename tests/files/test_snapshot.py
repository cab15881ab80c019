"""Changes since the start are found, reverted and undone, and the user's repository is not touched."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandbox_agent.errors import Conflict, InvalidRequest, PreconditionFailed, SandboxAgentError
from sandbox_agent.files import snapshot as snapshots
from sandbox_agent.files.reverting import revert, size_and_etag, undo
from sandbox_agent.files.roots import Roots
from sandbox_agent.files.snapshot import Change, Snapshot
from sandbox_agent.files.vault import Vault

Described = dict[str, tuple[int, str]]


class Work:
    """A repository with a commit, uncommitted changes and untracked files, and its snapshot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.data = folder / "data"
        self.data.mkdir()
        self.folder.mkdir()
        self.git("init", "-q", "-b", "main")
        for path in ("kept.txt", "changed.txt", "sub/deleted.txt", "ignored/x", ".gitignore", "crlf.txt"):
            self.write(path, f"{path}\nline\n")
        self.write(".gitignore", "ignored/\n")
        (self.folder / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
        self.write("changed.txt", "not committed\n")
        self.write("untracked.txt", "untracked\n")
        self.snapshot = Snapshot(self.data / "snapshot")
        self.roots = Roots([], Vault(self.data))

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def changes(self) -> list[Change]:
        with self.snapshot.looking() as now:
            return self.snapshot.changes(now, diffs=True)

    def listed(self) -> list[tuple[str, str, int | None, int | None]]:
        return [(change.path, change.status, change.additions, change.deletions) for change in self.changes()]

    def described(self) -> Described:
        """Every file with its mode, but for git's own."""
        found: Described = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if not name.startswith(".git/") and (path.is_symlink() or path.is_file()):
                text = f"-> {os.readlink(path)}" if path.is_symlink() else path.read_bytes().decode()
                found[name] = (path.lstat().st_mode, text)
        return found

    def revert(self, *paths: str, **etags: str) -> list[str]:
        return revert(self.roots, self.snapshot, paths or None, etags)

    def undo(self) -> list[str]:
        return undo(self.roots, self.snapshot)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    made.snapshot.take(str(made.folder))
    assert made.snapshot.notice is None
    return made


def test_a_new_snapshot_has_no_changes(work: Work) -> None:
    assert work.changes() == []


@pytest.fixture
def changed(work: Work) -> tuple[Work, Described, Described]:
    """Every kind of change, with what was before it and after it."""
    before = work.described()
    work.write("changed.txt", "not committed\nand more\n")
    work.write("new/deep/file.txt", "new\n")
    work.write("untracked.txt", "now different\n")
    work.write("odd näme\t\n.txt", "odd\n")
    (work.folder / "sub" / "deleted.txt").unlink()
    (work.folder / "sub").rmdir()
    work.write("sub", "a file where a folder was\n")
    (work.folder / "kept.txt").chmod(0o755)
    (work.folder / "crlf.txt").write_bytes(b"one\r\n")
    (work.folder / "binary").write_bytes(b"\0\1\2")
    (work.folder / ".gitignore").unlink()
    (work.folder / ".gitignore").symlink_to("untracked.txt")
    work.write("ignored/x", "nobody looks here\n")
    return work, before, work.described()


def test_every_kind_of_change_is_reported(changed: tuple[Work, Described, Described]) -> None:
    work, _, _ = changed
    found = work.changes()
    assert [
        (change.path, change.status, change.additions, change.deletions)
        for change in found
        if "ignored" not in change.path
    ] == [
        (".gitignore", "modified", 1, 1),
        ("binary", "added", None, None),
        ("changed.txt", "modified", 1, 0),
        ("crlf.txt", "modified", 0, 1),
        ("kept.txt", "modified", 0, 0),
        ("new/deep/file.txt", "added", 1, 0),
        ("odd näme\t\n.txt", "added", 1, 0),
        ("sub", "added", 1, 0),
        ("sub/deleted.txt", "deleted", 0, 2),
        ("untracked.txt", "modified", 1, 1),
    ]
    diffs = {change.path: change.diff for change in found}
    assert diffs["changed.txt"] is not None
    assert diffs["changed.txt"].endswith("@@ -1 +1,2 @@\n not committed\n+and more\n")
    assert diffs["binary"] is None
    assert all(change.diff is None or change.diff.startswith("diff --git ") for change in found)


def test_everything_is_reverted_and_undone(changed: tuple[Work, Described, Described]) -> None:
    work, before, after = changed
    # What .gitignore left out then and does not now is a change like any other, but was not kept.
    (work.folder / "ignored" / "x").unlink()
    before.pop("ignored/x"), after.pop("ignored/x")
    assert set(work.revert()) == {path for path in {**before, **after} if before.get(path) != after.get(path)}
    assert work.described() == before
    assert work.changes() == []
    work.undo()
    assert work.described() == after
    with pytest.raises(Conflict):
        work.undo()


def test_the_users_repository_is_unchanged(work: Work) -> None:
    def look() -> tuple[str, str, bytes, list[str]]:
        objects = sorted(str(path) for path in (work.folder / ".git" / "objects").rglob("*"))
        return (
            work.git("status", "--porcelain"),
            work.git("stash", "list"),
            (work.folder / ".git" / "index").read_bytes(),
            objects,
        )

    before = look()
    work.write("new.txt", "new\n")
    work.changes()
    work.revert("new.txt")
    work.undo()
    (work.folder / "new.txt").unlink()
    assert look() == before


def test_only_the_named_files_are_reverted(work: Work) -> None:
    work.write("changed.txt", "x\n")
    work.write("kept.txt", "y\n")
    assert work.revert("kept.txt") == ["kept.txt"]
    assert work.listed() == [("changed.txt", "modified", 1, 1)]
    with pytest.raises(InvalidRequest):
        work.revert("kept.txt")
    with pytest.raises(InvalidRequest):
        work.revert("../outside")


def test_a_file_changed_since_it_was_shown_is_refused(work: Work) -> None:
    work.write("kept.txt", "seen\n")
    _, seen = size_and_etag(f"{work.folder}/kept.txt")
    work.write("kept.txt", "not seen\n")
    with pytest.raises(PreconditionFailed):
        work.revert("kept.txt", **{"kept.txt": seen})
    assert (work.folder / "kept.txt").read_text() == "not seen\n"


def test_an_undo_overwrites_no_later_change(work: Work) -> None:
    work.write("kept.txt", "changed\n")
    work.revert()
    work.write("kept.txt", "written since\n")
    with pytest.raises(PreconditionFailed):
        work.undo()
    assert (work.folder / "kept.txt").read_text() == "written since\n"


def test_reverts_are_undone_one_by_one(work: Work) -> None:
    work.write("kept.txt", "a\n")
    work.write("changed.txt", "b\n")
    after = work.described()
    work.revert("kept.txt")
    work.revert("changed.txt")
    assert (work.undo(), work.undo()) == (["changed.txt"], ["kept.txt"])
    assert work.described() == after


def test_nothing_is_written_through_a_link(work: Work, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "deleted.txt").write_text("outside")
    (work.folder / "sub" / "deleted.txt").unlink()
    (work.folder / "sub").rmdir()
    (work.folder / "sub").symlink_to(outside)
    with pytest.raises(SandboxAgentError):
        work.revert("sub/deleted.txt")
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("deleted.txt", "outside")]


def test_large_files_are_reported_but_not_reverted(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MAX_FILE_BYTES", 1000)
    work.write("large.bin", "x" * 2000)
    work.write("kept.txt", "y" * 2000)
    assert work.listed() == [("kept.txt", "modified", None, None), ("large.bin", "added", None, None)]
    with pytest.raises(Conflict):
        work.revert("large.bin")


def test_a_folder_that_is_too_large_has_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MAX_BYTES", 10)
    work = Work(tmp_path)
    work.snapshot.take(str(work.folder))
    assert not work.snapshot.exists
    assert "too many to be stored" in (work.snapshot.notice or "")


def test_only_the_folder_within_a_repository_is_compared(tmp_path: Path) -> None:
    work = Work(tmp_path)
    work.snapshot.take(str(work.folder / "sub"))
    work.write("kept.txt", "beside\n")
    work.write("sub/deleted.txt", "changed\n")
    assert work.listed() == [("deleted.txt", "modified", 1, 2)]
    work.revert()
    assert (work.folder / "sub" / "deleted.txt").read_text() == "sub/deleted.txt\nline\n"


def test_work_trees_and_repositories_without_a_commit_have_snapshots(tmp_path: Path) -> None:
    work = Work(tmp_path)
    work.git("worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "empty").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    for name in ("tree", "empty"):
        taken = Snapshot(work.data / name)
        taken.take(str(tmp_path / name))
        assert taken.exists, taken.notice
        (tmp_path / name / "new").write_text("x")
        with taken.looking() as now:
            assert [change.path for change in taken.changes(now, diffs=True)] == ["new"]


def test_a_folder_without_git_has_no_snapshot_and_no_notice(tmp_path: Path) -> None:
    taken = Snapshot(tmp_path / "data")
    taken.take(str(tmp_path))
    assert not taken.folder.exists()


def test_the_daemons_own_folder_is_never_read(tmp_path: Path) -> None:
    work = Work(tmp_path)
    inside = work.folder / "da*ta"
    inside.mkdir()
    (inside / "log.db").write_text("secret")
    snapshot = Snapshot(inside / "snapshot")
    snapshot.take(str(work.folder), [str(inside)])
    (inside / "log.db").write_text("another secret")
    work.write("new.txt", "x\n")
    with snapshot.looking() as now:
        assert [change.path for change in snapshot.changes(now, diffs=True)] == ["new.txt"]


@pytest.mark.parametrize("name", ["HEAD", "index", "info/exclude", "packed-refs"])
def test_a_pipe_in_a_repository_does_not_block(tmp_path: Path, name: str) -> None:
    work = Work(tmp_path)
    path = work.folder / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    work.snapshot.take(str(work.folder))
    assert work.snapshot.exists or work.snapshot.notice


def test_nothing_in_a_repository_starts_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(tmp_path)
    proof = tmp_path / "started"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    trap.chmod(0o755)
    for name in ("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "core.fsmonitor"):
        work.git("config", name, str(trap))
    for name in ("diff.trap.textconv", "diff.trap.command", "diff.external", "core.pager", "core.editor"):
        work.git("config", name, str(trap))
    work.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"):
        (tmp_path / "hooks" / hook).symlink_to(trap)
    work.write(".gitattributes", "* filter=trap diff=trap text=auto eol=crlf ident\n")
    # The environment of the daemon is not git's.
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap))
    work.snapshot.take(str(work.folder))
    assert work.snapshot.exists, work.snapshot.notice
    before = work.described()
    work.write("changed.txt", "$Id$\r\n")
    assert work.listed() == [("changed.txt", "modified", 1, 1)]
    work.revert()
    assert work.described() == before
    assert not proof.exists()
