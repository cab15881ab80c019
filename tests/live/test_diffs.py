"""The diffs of real agents: `patch` turns the old file into the new one, byte by byte."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from sandbox_agent.schema.events import PermissionRequested, TurnEnded
from sandbox_agent.schema.items import FileRef
from sandbox_agent.testing.scripted_model import Edit, Next, Read, Step, Text, Write

from .client import Session, Turn
from .features import FEATURES
from .live import Live, contents

WHOLE = "one\ntwo\nthree\n"


class Kind(Struct, frozen=True):
    """One kind of change: the file before it, and what the model does."""

    before: dict[str, bytes]
    steps: tuple[Step, ...]
    changes: int = 1
    """How many changes are reported, each with its diff."""
    executable: bool = False


def edit(path: str, old: str, new: str) -> tuple[Step, ...]:
    return Read(path), Edit(path, old, new)


def write(path: str, content: str) -> tuple[Step, ...]:
    return Read(path), Write(path, content)


KINDS = {
    "edited": Kind({"x.txt": b"zero\n" * 10 + WHOLE.encode()}, edit("x.txt", "two", "zwei")),
    "crlf": Kind({"x.txt": b"one\r\ntwo\r\nthree\r\n"}, edit("x.txt", "two", "zwei")),
    "no-newline": Kind({"x.txt": b"one\ntwo"}, edit("x.txt", "two", "zwei")),
    "new": Kind({}, (Write("x.txt", WHOLE),)),
    "new-without-newline": Kind({}, (Write("sub/x.txt", "one\ntwo"),)),
    "overwritten": Kind({"x.txt": b"something\nelse\n"}, write("x.txt", WHOLE)),
    "executable": Kind(
        {"x.sh": b"#!/bin/sh\necho two\n"}, edit("x.sh", "echo two", "echo zwei"), executable=True
    ),
    "twice": Kind(
        {"x.txt": WHOLE.encode()},
        (Read("x.txt"), Edit("x.txt", "one", "eins"), Next(), Edit("x.txt", "three", "drei")),
        changes=2,
    ),
    "at-once": Kind(
        {"x.txt": WHOLE.encode()},
        (Read("x.txt"), Next(), Edit("x.txt", "one", "eins"), Edit("x.txt", "three", "drei")),
        changes=2,
    ),
    "indented": Kind({"x.py": b"if x:\n    one\n    two\n    three\n"}, edit("x.py", "    two", "    zwei")),
    "spaces": Kind({"a b/x y.txt": WHOLE.encode()}, edit("a b/x y.txt", "two", "zwei")),
    "unicode": Kind(
        {"grüße/λ.txt": "eins\nzwei\u2028\x0c\ndrei\n".encode()}, edit("grüße/λ.txt", "eins", "été 🚀")
    ),
    "tabs": Kind({"x.go": b"func x() {\n\tone\n\t\ttwo\n\tthree\n}\n"}, edit("x.go", "\t\ttwo", "\t\tzwei")),
    "signs": Kind(
        {"x.sql": b"-- one\n++ two\n@@ -1 +1 @@\n\\ No newline\n$1 $& &amp;\n\n\n-- two\n"},
        edit("x.sql", "-- one\n++ two", "-- eins\n++ zwei $& &amp;"),
    ),
    "shorter": Kind({"x.txt": WHOLE.encode()}, edit("x.txt", "two\n", "")),
}
SAMPLE = ("crlf", "overwritten", "twice")


@pytest.mark.feature(FEATURES["file_change"], on_quick_agents=True)
def test_patch_repeats_the_changes_of_a_session(live: Live) -> None:
    repeat(live, "acceptEdits", SAMPLE)


@pytest.mark.feature(FEATURES["file_change"])
@pytest.mark.long
@pytest.mark.parametrize("mode", ["acceptEdits", "bypass"])
def test_patch_repeats_every_kind_of_change(live: Live, mode: str) -> None:
    repeat(live, mode, KINDS)


def repeat(live: Live, mode: str, kinds: Sequence[str] | dict[str, Kind]) -> None:
    session = live.session(permissionMode=mode)
    wrong = {}
    for name in kinds:
        if why := try_kind(
            live, session, name, KINDS[name], mode == "bypass" and live.behaviour.writes_unseen
        ):
            wrong[name] = why
    assert wrong == {}


def try_kind(live: Live, session: Session, name: str, kind: Kind, may_be_missed: bool) -> str:
    """What is wrong with the diffs of a kind of change.

    `may_be_missed`: the agent reports only that a file was written, and does not wait until the daemon has
    read it.
    """
    before = live.workspace.with_name(f"{name}-before")
    before.mkdir()
    for path, data in kind.before.items():
        file = live.workspace / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o755 if kind.executable else 0o644)
    if kind.before:
        shutil.copytree(live.workspace / name, before / name)
    steps = [below(step, name) for step in kind.steps] + [Text("Done.")]
    script = msgspec.json.encode(steps).decode()
    turn = run(session, f"SCRIPT:{script}")
    changes = [file for file in turn.files if file.action != "read"]
    if may_be_missed and any(file.diff is None and file.action == "write" for file in changes):
        return ""
    if len(changes) != kind.changes or any(file.diff is None for file in changes):
        return f"{changes} {turn.text} {[item.content for item in turn.items if item.kind == 'tool_result']}"
    return apply(changes, before) or compare(live.workspace / name, before / name, changes)


def run(session: Session, prompt: str) -> Turn:
    """A turn in which every request is allowed; some agents read files by commands, which ask."""
    turn_id = session.send(prompt)
    since = len(session.events)
    while True:
        event = session.wait(lambda event: isinstance(event.data, PermissionRequested | TurnEnded), since)
        since = event.sequence
        match event.data:
            case TurnEnded():
                return session.finish(turn_id)
            case PermissionRequested(permission_id) as asked:
                waiting = session.call("GET", "/permissions")["permissions"]
                if permission_id in {permission["permission_id"] for permission in waiting}:
                    session.decide(asked, "once")


def below(step: Step, folder: str) -> Step:
    return msgspec.structs.replace(step, path=f"{folder}/{step.path}") if hasattr(step, "path") else step


def apply(changes: Sequence[FileRef], folder: Path) -> str:
    for change in changes:
        assert change.diff is not None
        ran = subprocess.run(
            ["patch", "-p1", "--force", "--fuzz=0"],
            input=change.diff.encode(),
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=30,
        )
        if ran.returncode or b"offset" in ran.stdout:
            return f"{ran.stdout.decode()}{change.diff}"
    return ""


def compare(workspace: Path, patched: Path, changes: Sequence[FileRef]) -> str:
    if contents(workspace) == contents(patched):
        return ""
    return f"{contents(workspace)} {contents(patched)} {changes}"
