"""An archive writes below its target and nowhere else, or nothing at all."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox_agent.errors import InvalidRequest, PayloadTooLarge, SandboxAgentError
from sandbox_agent.files import unpacking
from sandbox_agent.files.packing import pack
from sandbox_agent.files.roots import Roots
from sandbox_agent.files.unpacking import unpack
from sandbox_agent.files.vault import Vault

Entry = tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b"evil") -> Entry:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, 0o644
    if kind != tarfile.REGTYPE:
        return made
    made.size = len(content)
    return made, content


def archive(*entries: Entry) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            info, content = entry if isinstance(entry, tuple) else (entry, b"")
            tar.addfile(info, io.BytesIO(content))
    return file


def link(name: str, text: str) -> Entry:
    return entry(name, tarfile.SYMTYPE, text)


def hard(name: str, text: str) -> Entry:
    return entry(name, tarfile.LNKTYPE, text)


NAMES = [
    "../x", "/x", "a/../../x", "a/b/../../../x", "..", "/", "//x", "./../x", "a/..", "a/../b", "/etc/passwd",
    "..//x", "a//..//..//x", "././../x", "../../../../../../etc/passwd", "../target/x", "../target-other/x",
    "a/../x", "../../root/outside/x", "../.x", "a/b/c/../../../../x", "./a/../../x", "/./x", "d/" * 300 + "x",
]  # fmt: skip
"""Names that are not below the target."""

LEAVING = [
    "..", "../x", "/", "/etc/passwd", "../outside", "./../x", "../.", "a/../../x", "a/..", "./..", "../target",
    "a/b/../c", "..//..", "/proc/self/root", "b/../..", "",
]  # fmt: skip
"""Links at the top of the target that leave it, or cannot be known to stay."""

WAYS: list[Callable[[str], list[Entry]]] = [
    lambda text: [link("l", text)],
    lambda text: [link("l", text), entry("l")],
    lambda text: [link("l", text), entry("l/x")],
    lambda text: [entry("first"), link("l", text), entry("l/deep/x")],
    lambda text: [link("l", text), entry("l", tarfile.DIRTYPE), entry("l/x")],
    lambda text: [link("l", text), hard("h", "l/secret.txt")],
    lambda text: [hard("h", text)],
]

HOSTILE: list[list[Entry]] = [
    *([entry(name)] for name in NAMES),
    *([entry("first"), entry(name, tarfile.DIRTYPE)] for name in NAMES if name not in ("/", "..")),
    *([link(name, "first")] for name in NAMES),
    *([hard(name, "first")] for name in NAMES),
    *(way(text) for text in LEAVING for way in WAYS),
    # A link that stays inside, and a name that leads through it.
    [link("l", "d"), entry("l/x")],
    [entry("d/x"), link("l", "d"), entry("l/y")],
    # Each step stays inside by its text, but not where it leads.
    [entry("a/b/c/x"), link("a/b/c/l", "../../.."), link("m", "a/b/c/l/../x")],
    [link("a", "."), link("b", "a/..")],
    [link("l", "inner"), link("l/m", ".."), entry("l/m/x")],
    *([entry("dev", kind)] for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"?")),
    [entry("exists/x")],
    [entry("to-outside/x")],
    [entry("to-outside/secret.txt")],
    [entry("to-outside", tarfile.DIRTYPE), entry("to-outside/y")],
    [hard("h", "to-outside/secret.txt")],
    [hard("h", "to-secret")],
    [hard("h", "missing")],
    [hard("h", ".")],
    [hard("h", "h")],
]  # fmt: skip


class Target:
    def __init__(self, folder: Path) -> None:
        self.outside = folder / "outside"
        self.path = folder / "target"
        self.outside.mkdir()
        self.path.mkdir()
        (self.outside / "secret.txt").write_text("secret")
        (self.path / "exists").write_text("a file")
        (self.path / "to-outside").symlink_to(self.outside)
        (self.path / "to-secret").symlink_to(self.outside / "secret.txt")
        (folder / "data").mkdir()
        self.roots = Roots([folder], Vault(folder / "data"))

    def unpack(self, file: io.BytesIO, most_bytes: int = 1 << 20) -> list[str]:
        return unpack(self.roots, str(self.path), file, most_bytes, lambda: None).paths


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    made = Target(tmp_path)
    yield made
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "outside", "target"]
    assert [(path.name, path.read_text()) for path in made.outside.iterdir()] == [("secret.txt", "secret")]
    assert (made.outside / "secret.txt").stat().st_nlink == 1


def test_there_are_two_hundred_of_them() -> None:
    assert len(HOSTILE) >= 200


def test_every_hostile_archive_is_refused(target: Target) -> None:
    for number, entries in enumerate(HOSTILE):
        with pytest.raises(SandboxAgentError) as refused:
            target.unpack(archive(*entries))
        assert refused.value.status == 400, number
        assert os.listdir(target.outside) == ["secret.txt"], number


def test_a_refused_archive_writes_nothing(target: Target) -> None:
    for entries in ([entry("first"), entry("../x")], [entry("first"), link("l", "/")]):
        with pytest.raises(InvalidRequest):
            target.unpack(archive(*entries))
        assert not (target.path / "first").exists()


def test_a_file_that_is_not_an_archive_is_refused(target: Target) -> None:
    whole = archive(entry("x", content=b"y" * 5000)).getvalue()
    for content in (b"", b"nonsense", b"x" * 2000, whole[:1000], b"\x1f\x8b" + whole, whole[:300] + whole):
        with pytest.raises(InvalidRequest):
            target.unpack(io.BytesIO(content))


def test_the_size_of_an_archive_is_limited(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PayloadTooLarge):
        target.unpack(archive(entry("x", content=bytes(2000))), most_bytes=1999)
    monkeypatch.setattr(unpacking, "MAX_ENTRIES", 3)
    with pytest.raises(PayloadTooLarge):
        target.unpack(archive(*(entry(f"x{number}") for number in range(4))))
    assert not (target.path / "x0").exists()


def test_the_header_of_an_entry_is_limited(target: Target) -> None:
    """It is read whole, so a long one would fill the memory."""
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "y" * (unpacking.MAX_HEAD_BYTES + 1)}
    with pytest.raises(InvalidRequest):
        target.unpack(archive(info))


def test_a_chain_of_headers_is_limited(target: Target) -> None:
    head = tarfile.TarInfo("pax")
    head.type, head.size = tarfile.XHDTYPE, 0
    with pytest.raises(InvalidRequest):
        target.unpack(io.BytesIO(head.tobuf() * 5000))


def test_a_sparse_file_counts_as_large_as_it_becomes(target: Target) -> None:
    info = tarfile.TarInfo("sparse")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 60)}
    info.pax_headers["GNU.sparse.name"] = "sparse"
    content = b"1\n0\n0\n".ljust(512, b"\0")
    info.size = len(content)
    with pytest.raises(SandboxAgentError):
        target.unpack(archive((info, content)))


def test_an_existing_link_is_replaced_not_followed(target: Target) -> None:
    target.unpack(archive(entry("to-secret", content=b"mine"), entry("ok")))
    assert not (target.path / "to-secret").is_symlink()
    assert (target.path / "to-secret").read_text() == "mine"


def test_packing_and_unpacking_preserves_everything(target: Target, tmp_path: Path) -> None:
    source = target.path / "source"
    (source / "empty").mkdir(parents=True)
    (source / ("läng" * 40)).write_text("a long name")
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "sub").mkdir(0o700)
    (source / "sub" / "to-run").symlink_to("../run.sh")
    os.link(source / "run.sh", source / "sub" / "again")
    os.mkfifo(source / "pipe")
    copy = target.path / "copy"
    packed = io.BytesIO(b"".join(pack(target.roots, str(source), "tar")))
    unpack(target.roots, str(copy), packed, 1 << 20, lambda: None)
    os.unlink(source / "pipe")
    assert _described(copy) == _described(source)


def _described(folder: Path) -> list[tuple[str, int, str]]:
    found = []
    for path in sorted(folder.rglob("*")):
        text = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        found.append((str(path.relative_to(folder)), path.lstat().st_mode, text))
    return found


@pytest.mark.parametrize("mtime", ["1e30", "-1e30", "nan", "inf", "-5", "12345.5"])
def test_a_time_that_no_file_can_have_is_left_out(target: Target, mtime: str) -> None:
    info, content = entry("a.txt")  # type: ignore[misc]
    info.pax_headers = {"mtime": mtime}
    target.unpack(archive((info, content)))
    made = target.path / "a.txt"
    assert made.read_bytes() == b"evil"
    assert made.stat().st_mtime == (12345.5 if mtime == "12345.5" else 0)
