"""Archives: one with a member outside the directory is refused as a whole."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_agent.install.archive import unpack
from sandbox_agent.install.problems import SourceFailed

from .site import tarball, zipped


def linked(name: str, target: str, kind: bytes = tarfile.SYMTYPE, then: str | None = None) -> bytes:
    """A link, or another special member, and then a file behind it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        archive.addfile(member)
        behind = tarfile.TarInfo(then or f"{name}/evil")
        behind.size = 4
        archive.addfile(behind, io.BytesIO(b"evil"))
    return packed.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        tarball({"../evil": b"evil"}),
        tarball({"a/../../evil": b"evil"}),
        tarball({"/evil": b"evil"}),
        tarball({"..\\evil": b"evil"}),
        linked("way-out", ".."),
        linked("way-out", "/"),
        linked("way-out", "../../outside", tarfile.LNKTYPE),
        linked("way-out", "nowhere", tarfile.LNKTYPE),
        linked("device", "", tarfile.CHRTYPE),
        linked("pipe", "", tarfile.FIFOTYPE),
        tarball({"a": b"a", "a/evil": b"evil"}),
        zipped({"../evil": b"evil"}),
        zipped({"/evil": b"evil"}),
    ],
    ids=[
        "up",
        "down and up",
        "absolute",
        "backslash",
        "link up",
        "link to /",
        "hard link up",
        "hard link to nothing",
        "device",
        "pipe",
        "a file as folder",
        "zip up",
        "zip absolute",
    ],
)
def test_a_member_that_would_leave_the_folder_spoils_the_archive(tmp_path: Path, body: bytes) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(body)
    with pytest.raises(SourceFailed, match="archive is refused: "):
        unpack(archive, tmp_path / "inner" / "folder")
    assert not list(tmp_path.rglob("evil"))


def test_links_inside_the_folder_are_kept(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(linked("top/bin/tool", "../lib/tool.js", then="top/lib/tool.js"))
    unpack(archive, tmp_path / "out", below=1)
    assert (tmp_path / "out" / "bin" / "tool").read_bytes() == b"evil"


def test_what_is_written_replaces_a_link_instead_of_following_it(tmp_path: Path) -> None:
    archive, kept = tmp_path / "archive", tmp_path / "out" / "kept"
    unpack_into = tmp_path / "out"
    kept.parent.mkdir()
    kept.write_bytes(b"kept")
    archive.write_bytes(linked("name", "kept", then="name"))
    unpack(archive, unpack_into)
    assert (kept.read_bytes(), (unpack_into / "name").read_bytes()) == (b"kept", b"evil")


@pytest.mark.parametrize("pack", [tarball, zipped])
def test_programs_stay_programs(tmp_path: Path, pack: Callable[[dict[str, bytes]], bytes]) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(pack({"bin/tool": b"tool"}))
    unpack(archive, tmp_path / "out")
    tool = tmp_path / "out" / "bin" / "tool"
    assert (tool.read_bytes(), tool.stat().st_mode & 0o777) == (b"tool", 0o755)


def test_half_an_archive_is_refused(tmp_path: Path) -> None:
    body = tarball({"a": bytes(range(256)) * 100})
    for content in (body[: len(body) // 2], b"no archive at all"):
        (tmp_path / "a.tar.gz").write_bytes(content)
        with pytest.raises(SourceFailed, match=r"a\.tar\.gz is damaged"):
            unpack(tmp_path / "a.tar.gz", tmp_path / "out")
