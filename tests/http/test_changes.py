"""Changes of a session over HTTP: listed, reverted, undone, and deleted with the session."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS, Client, done, refusal, wait_until


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("committed\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=folder,
            check=True,
            timeout=SECONDS,
        )
    (folder / "a.txt").write_text("dirty\n")
    return folder


def shown(client: Client, session: str) -> Any:
    return done(client.get(f"/v1/sessions/{session}/changes"))


def test_changes_are_shown_reverted_and_undone(client: Client, work: Path) -> None:
    session = client.create(directory=str(work))
    before = shown(client, session)
    assert (before["source"], before["files"], before["canUndo"]) == ("snapshot", [], False)
    assert len(before["commit"]) == 40
    (work / "a.txt").write_text("dirty\nmore\n")
    (work / "new.txt").write_text("new\n")
    changed = shown(client, session)
    assert (changed["additions"], changed["deletions"]) == (2, 0)
    assert [(file["path"], file["status"]) for file in changed["files"]] == [
        ("a.txt", "modified"),
        ("new.txt", "added"),
    ]
    etags = {file["path"]: file["etag"] for file in changed["files"]}
    (work / "new.txt").write_text("newer\n")
    path = f"/v1/sessions/{session}/changes"
    stale = client.post(f"{path}/revert", {"all": True, "etags": etags})
    assert refusal(stale) == (412, "precondition_failed")
    assert (stale.json()["path"], (work / "a.txt").read_text()) == ("new.txt", "dirty\nmore\n")
    assert done(client.post(f"{path}/revert", {"paths": ["a.txt"], "etags": etags})) == {"paths": ["a.txt"]}
    assert (work / "a.txt").read_text() == "dirty\n"
    assert shown(client, session)["canUndo"]
    assert done(client.post(f"{path}/undo")) == {"paths": ["a.txt"]}
    assert (work / "a.txt").read_text() == "dirty\nmore\n"
    assert refusal(client.post(f"{path}/undo")) == (409, "conflict")
    for body in ({}, {"all": True, "paths": ["a.txt"]}, {"paths": ["../a"]}):
        assert refusal(client.post(f"{path}/revert", body)) == (400, "invalid_request")


def test_nothing_is_reverted_while_a_turn_runs(client: Client, work: Path) -> None:
    session = client.create(directory=str(work))
    (work / "a.txt").write_text("changed\n")
    client.send(session, "slow 60")
    wait_until(lambda: client.info(session)["state"] == "running")
    answer = client.post(f"/v1/sessions/{session}/changes/revert", {"all": True})
    assert refusal(answer) == (409, "conflict")
    assert (work / "a.txt").read_text() == "changed\n"


def test_without_git_the_agents_own_diffs_are_shown(client: Client, tmp_path: Path) -> None:
    session = client.create(directory=str(tmp_path), permissionMode="bypass")
    client.turn(session, "edit")
    changes = shown(client, session)
    assert changes["source"] == "events"
    assert changes["files"] != []
    assert all(file["diff"].count("\n@@ ") for file in changes["files"])
    assert refusal(client.post(f"/v1/sessions/{session}/changes/revert", {"all": True})) == (409, "conflict")


def test_a_snapshot_is_gone_with_its_session(client: Client, work: Path) -> None:
    session = client.create(directory=str(work))
    snapshots = client.daemon.data_dir.glob("attachments/*/snapshot/base.json")
    mine = [snapshot for snapshot in snapshots if str(work) in snapshot.read_text()]
    assert len(mine) == 1
    client.delete(f"/v1/sessions/{session}")
    wait_until(lambda: not mine[0].parent.exists())
