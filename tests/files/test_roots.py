"""No path leads outside a root or into the daemon's own folder, however it is written and whatever changes at the same time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_agent.errors import InvalidRequest, PermissionDenied
from sandbox_agent.files import entries, moving, packing, reading, removal
from sandbox_agent.files.condition import ALWAYS
from sandbox_agent.files.roots import Roots
from sandbox_agent.files.searching import Job, search
from sandbox_agent.files.upload import Upload
from sandbox_agent.files.vault import Vault

SECRET = "what nobody may read"


class Machine:
    """A root, files next to it, and the daemon's own folder inside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.outside = folder / "outside"
        self.data = self.root / "data"
        for made in (self.root / "sub" / "deep", self.outside, self.data):
            made.mkdir(parents=True)
        for secret in (self.outside / "secret.txt", self.data / "log.db"):
            secret.write_text(SECRET)
        (self.root / "sub" / "file.txt").write_text("inside")
        self.roots = Roots([self.root], Vault(self.data))
        self.before = self.untouchable()

    def untouchable(self) -> dict[str, str]:
        """Everything that must be as it was."""
        found = {}
        for folder in (self.outside, self.data):
            for path in sorted(folder.rglob("*")):
                found[str(path)] = path.read_text() if path.is_file() else "folder"
        return found

    def read(self, path: str) -> bytes:
        file = reading.open_file(self.roots, path)
        return b"".join(file.pieces(0, file.size))

    def write(self, path: str, content: bytes) -> None:
        upload = Upload(self.roots, path, ALWAYS)
        try:
            upload.write(content)
            upload.commit()
        finally:
            upload.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    assert made.untouchable() == made.before


def go_on() -> None:
    """Nothing stops it."""


LINKS = {
    "out": "{outside}",
    "out-relative": "../outside",
    "up": "..",
    "up-two": "../..",
    "top": "/",
    "secret": "{outside}/secret.txt",
    "secret-relative": "../outside/secret.txt",
    "secret-through": "out/secret.txt",
    "back": "{root}/../outside/secret.txt",
    "out-and-in": "{outside}/../{root.name}/sub/../../outside",
    "to-data": "data",
    "to-data-absolute": "{data}",
    "to-log": "data/log.db",
    "loop": "loop",
    "loop-a": "loop-b",
    "loop-b": "loop-a",
    "proc-root": "/proc/self/root",
    "proc-cwd": "/proc/self/cwd",
    "new-outside": "{outside}/new.txt",
    "new-in-data": "data/new.txt",
    "dots": "sub/../../outside",
    "deep-up": "sub/deep/../../../outside",
}
"""Links in the root that lead to forbidden places."""

TAILS = ["", "/", "/.", "/secret.txt", "/../outside/secret.txt", "/log.db", "/new.txt", "/new/folder/x.txt"]

PLAIN = [
    "{outside}",
    "{outside}/secret.txt",
    "{root}/../outside/secret.txt",
    "{root}/sub/../../outside/secret.txt",
    "{root}/./sub/./../../outside/./secret.txt",
    "{root}//..//outside//secret.txt",
    "{root}/missing/../../outside/secret.txt",
    "{root}-other/x",
    "{root}/../{root.name}/../outside/secret.txt",
    "/",
    "/etc/passwd",
    "/proc/self/environ",
    "/proc/self/root{outside}/secret.txt",
    "/proc/self/cwd",
    "//etc/passwd",
    "/..",
    "{data}",
    "{data}/log.db",
    "{data}/new.txt",
    "{data}/../data/log.db",
    "{root}/sub/../data/log.db",
    "{root}/DATA/../data/log.db",
    "{root}/" + "../" * 40 + "etc/passwd",
    "{root}/" + "sub/../" * 200 + "../outside/secret.txt",
    "{root}/sub\0/../../outside/secret.txt",
    "{root}/../outside/secret.txt\0.png",
    "{root}/" + "x" * 256,
    "{root}/" + "x/" * 3000,
    "{root}/" + "é" * 200,
    "{root}/file\udcff/../../outside/secret.txt",
]

HOSTILE = [*PLAIN, *("{root}/" + link + tail for link in LINKS for tail in TAILS)]


def test_there_are_two_hundred_of_them() -> None:
    assert len(HOSTILE) >= 200


@pytest.fixture
def trapped(machine: Machine) -> Machine:
    for name, target in LINKS.items():
        (machine.root / name).symlink_to(target.format(**vars(machine)))
    return machine


def test_no_hostile_path_shows_or_changes_anything_outside(trapped: Machine) -> None:
    """Each is tried with every operation: what is not refused has stayed inside."""
    roots = trapped.roots
    for hostile in HOSTILE:
        path = hostile.replace("{root}", str(trapped.root)).replace("{outside}", str(trapped.outside))
        path = path.replace("{data}", str(trapped.data)).replace("{root.name}", trapped.root.name)
        messages: list[str] = []
        for attempt in (
            lambda path=path: trapped.read(path).decode(),
            lambda path=path: str([entry.name for entry in entries.list_entries(roots, path)]),
            lambda path=path: str(entries.show(roots, path).size == len(SECRET)),
            lambda path=path: str(b"".join(packing.pack(roots, path, "tar"))),
            lambda path=path: trapped.write(path, b"overwritten"),
            lambda path=path: moving.make_folder(roots, path),
            lambda path=path: moving.move(roots, path, f"{trapped.root}/moved", overwrite=True, check=go_on),
            lambda path=path: moving.move(
                roots, f"{trapped.root}/sub/file.txt", path, overwrite=True, check=go_on
            ),
        ):
            try:
                messages.append(str(attempt()))
            except (InvalidRequest, PermissionDenied):
                continue
        shown = " ".join(messages)
        assert SECRET not in shown, path
        assert "secret.txt" not in shown, path
        assert "log.db" not in shown, path
        assert trapped.untouchable() == trapped.before, path
        _mend(trapped)


def _mend(machine: Machine) -> None:
    """A link may be moved and a file replaced: that is inside."""
    for name in ("moved", "sub", *LINKS):
        _clear(machine.root / name)
    (machine.root / "sub" / "deep").mkdir(parents=True)
    (machine.root / "sub" / "file.txt").write_text("inside")
    for name, target in LINKS.items():
        (machine.root / name).symlink_to(target.format(**vars(machine)))


def _clear(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


@pytest.mark.parametrize("name", ["out", "secret", "to-data", "to-log", "up", "loop"])
def test_a_link_is_removed_itself(trapped: Machine, name: str) -> None:
    removal.remove(trapped.roots, f"{trapped.root}/{name}", recursive=True, check=go_on)
    assert not os.path.lexists(trapped.root / name)


def test_paths_outside_and_missing_paths_look_the_same(machine: Machine) -> None:
    for name in ("secret.txt", "missing.txt", "missing/x", "secret.txt/x"):
        with pytest.raises(PermissionDenied) as refused:
            machine.read(f"{machine.outside}/{name}")
        assert refused.value.detail.endswith("is outside the directories that --fs-root allows")


def test_links_inside_are_followed(machine: Machine) -> None:
    (machine.root / "relative").symlink_to("sub/deep/../file.txt")
    (machine.root / "absolute").symlink_to(machine.root / "sub")
    (machine.root / "sub" / "up").symlink_to("..")
    (machine.outside / "back").symlink_to(machine.root)
    machine.before = machine.untouchable()
    for path in ("relative", "absolute/file.txt", "sub/up/sub/up/relative"):
        assert machine.read(f"{machine.root}/{path}") == b"inside"
    assert machine.read(f"{machine.outside}/back/relative") == b"inside"


def test_a_root_may_be_named_by_a_link(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "alias").symlink_to("root")
    roots = Roots([tmp_path / "alias"], Vault(machine.data))
    assert entries.show(roots, f"{machine.root}/sub/file.txt").size == 6
    assert entries.show(roots, f"{tmp_path}/alias/sub/file.txt").size == 6


# -- the daemon's own folder ------------------------------------------------------------------


@pytest.mark.parametrize("which", ["data", "root", "above", "top"])
def test_no_operation_removes_the_daemons_folder(machine: Machine, which: str) -> None:
    roots = Roots([], Vault(machine.data))
    paths = {"data": machine.data, "root": machine.root, "above": machine.root.parent, "top": Path("/")}
    path, mine = str(paths[which]), f"{machine.outside}/secret.txt"
    with pytest.raises((PermissionDenied, InvalidRequest)):
        removal.remove(roots, path, recursive=True, check=go_on)
    with pytest.raises((PermissionDenied, InvalidRequest)):
        moving.move(roots, path, f"{machine.outside}/moved", overwrite=True, check=go_on)
    with pytest.raises((PermissionDenied, InvalidRequest)):
        moving.move(roots, mine, path, overwrite=True, check=go_on)


def test_a_second_name_of_its_files_is_not_read(machine: Machine) -> None:
    os.link(machine.data / "log.db", machine.root / "harmless.txt")
    with pytest.raises(PermissionDenied):
        machine.read(f"{machine.root}/harmless.txt")


def test_a_walk_skips_the_daemons_folder(machine: Machine) -> None:
    archive = b"".join(packing.pack(machine.roots, str(machine.root), "tar"))
    assert b"file.txt" in archive
    assert SECRET.encode() not in archive
    folder = machine.roots.open_folder(str(machine.root))
    job = Job(folder, str(machine.root), machine.roots.vault.paths, 5, 100, text=SECRET, ignored=True)
    assert list(search(job)) == []
    os.close(folder)


def test_a_bind_mount_of_the_daemons_folder_is_refused(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from tests.files.test_roots import Machine
machine = Machine(Path({str(tmp_path)!r}))
import subprocess
for source, name in ((machine.data, "bound"), (machine.data / "inner", "bound-inner")):
    source.mkdir(exist_ok=True)
    (machine.root / name).mkdir()
    subprocess.run(["mount", "--bind", source, machine.root / name], check=True)
from sandbox_agent.errors import PermissionDenied
for name in ("bound/log.db", "bound-inner/x"):
    try:
        machine.read(f"{{machine.root}}/{{name}}")
    except PermissionDenied:
        continue
    sys.exit(f"{{name}} was not refused")
"""
    inside = ["unshare", "--mount", "--map-root-user", "--user"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no mounts")
    done = subprocess.run(
        [*inside, sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")


# -- races ------------------------------------------------------------------------------------

SWAPS = 10_000
ROUNDS = 150
SWAPPER = """
import os, select, sys
from sandbox_agent.files import kernel
folder = os.open(sys.argv[1], os.O_RDONLY)
os.symlink(sys.argv[2], "link", dir_fd=folder)
swaps = 0
while swaps % 1000 or not select.select([sys.stdin], [], [], 0)[0]:
    kernel.rename(folder, "link", folder, "swapped", kernel.EXCHANGE)
    swaps += 1
print(swaps)
"""


def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(machine: Machine) -> None:
    """A second process swaps it 10,000 times while it is read, written, listed, packed and removed from."""
    (machine.root / "swapped").mkdir()
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(machine.root), str(machine.outside)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    roots, path = machine.roots, f"{machine.root}/swapped"
    for tried in range(ROUNDS):
        for attempt in (
            lambda: machine.read(f"{path}/secret.txt"),
            lambda: machine.write(f"{path}/secret.txt", b"inside"),
            lambda tried=tried: machine.write(f"{path}/new-{tried}.txt", b"inside"),
            lambda: b"".join(packing.pack(roots, path, "tar")),
            lambda tried=tried: removal.remove(
                roots, f"{path}/new-{tried}.txt", recursive=False, check=go_on
            ),
            lambda: moving.make_folder(roots, f"{path}/made"),
            lambda: removal.remove(roots, f"{path}/made", recursive=True, check=go_on),
        ):
            try:
                shown = attempt()
            except (InvalidRequest, PermissionDenied):
                continue
            assert SECRET.encode() not in (shown or b"")
    assert int(swapper.communicate("enough")[0]) >= SWAPS
