"""Unpacks archives. A member that points outside the directory makes the whole archive invalid."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from .problems import SourceFailed


def unpack(archive: Path, into: Path, *, below: int = 0, without: str | None = None) -> None:
    """Unpack a tarball or a zip file; the first `below` directories of every path are removed."""
    into.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, into)
        else:
            _unpack_tar(archive, into, below, without)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise SourceFailed(f"{archive.name} is damaged: {error}") from None
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise SourceFailed(
            f"{archive.name} is refused: a file and a directory have the same name {error.filename}"
        ) from None


def is_archive(name: str) -> bool:
    return name.endswith((".tar.gz", ".tgz", ".zip"))


def _unpack_tar(archive: Path, into: Path, below: int, without: str | None) -> None:
    """Python 3.11.2, which Debian 12 ships, has no `tarfile` filters, so the checks are our own on every version."""
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = _inner(member.name, below, archive)
            if inner is None or (without and without in inner):
                continue
            target = _place(into, inner, archive)
            if member.isdir():
                target.mkdir(exist_ok=True)
            elif member.isreg():
                source = tar.extractfile(member)
                assert source is not None  # only for members without content
                _write(target, source, member.mode)
            elif member.issym():
                _link(target, member.linkname, into, archive)
            elif member.islnk():
                _link_hard(target, _inner(member.linkname, below, archive), into, archive)
            else:
                raise SourceFailed(
                    f"{archive.name} is refused: {member.name} is neither a file nor a directory"
                )


def _unpack_zip(archive: Path, into: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            inner = _inner(member.filename, 0, archive)
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise SourceFailed(f"{archive.name} is refused: {member.filename} is a link")
            if inner is None or member.is_dir():
                continue
            with zipped.open(member) as source:
                _write(_place(into, inner, archive), source, mode)


def _place(into: Path, inner: str, archive: Path) -> Path:
    """The path of a member, whose directory is created. An earlier member may be a link on that path."""
    target = into / inner
    if not _is_inside(target.parent, into):
        raise SourceFailed(f"{archive.name} is refused: {inner} points outside the directory")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _write(target: Path, source: IO[bytes], mode: int) -> None:
    """Write a new file, without the owner, group and special bits of the archive."""
    target.unlink(missing_ok=True)
    with target.open("xb") as file:
        shutil.copyfileobj(source, file)
    target.chmod(0o755 if mode & 0o100 else 0o644)


def _link(target: Path, to: str, into: Path, archive: Path) -> None:
    if os.path.isabs(to) or not _is_inside(target.parent / to, into):
        raise SourceFailed(f"{archive.name} is refused: the link {target.name} points outside the directory")
    target.unlink(missing_ok=True)
    target.symlink_to(to)


def _link_hard(target: Path, to: str | None, into: Path, archive: Path) -> None:
    source = _place(into, to, archive) if to else None
    if source is None or source.is_symlink() or not source.is_file():
        raise SourceFailed(
            f"{archive.name} is refused: the link {target.name} does not point to a file in the archive"
        )
    target.unlink(missing_ok=True)
    target.hardlink_to(source)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _inner(name: str, below: int, archive: Path) -> str | None:
    """A member's path in the directory; None for the directories that are removed."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise SourceFailed(f"{archive.name} is refused: {name} points outside the directory")
    parts = path.parts[below:]
    return str(PurePosixPath(*parts)) if parts else None
