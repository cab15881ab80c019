"""Unpacks what publishers ship. A member that would leave the folder spoils the whole archive."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from .problems import SourceFailed


def unpack(archive: Path, into: Path, *, below: int = 0, without: str | None = None) -> None:
    """Unpack a tarball or a zip file; `below` folders are cut off from the front of every path."""
    into.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, into)
        else:
            _unpack_tar(archive, into, below, without)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise SourceFailed(f"{archive.name} is no whole archive: {error}") from None


def is_archive(name: str) -> bool:
    return name.endswith((".tar.gz", ".tgz", ".zip"))


def _unpack_tar(archive: Path, into: Path, below: int, without: str | None) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            inner = _inner(member.name, below, archive)
            if inner is None or (without and without in inner):
                continue
            try:
                # The filter refuses links and devices that lead outside, and keeps no owner.
                tar.extract(member.replace(name=inner, deep=False), into, filter="data")
            except tarfile.FilterError as error:
                raise SourceFailed(f"{archive.name} is refused: {error}") from None


def _unpack_zip(archive: Path, into: Path) -> None:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            inner = _inner(member.filename, 0, archive)
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise SourceFailed(f"{archive.name} is refused: {member.filename} is a link")
            if inner is None or member.is_dir():
                continue
            target = into / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            with zipped.open(member) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
            target.chmod(0o755 if mode & 0o100 else 0o644)


def _inner(name: str, below: int, archive: Path) -> str | None:
    """A member's path in the folder; None for the folders that are cut off."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise SourceFailed(f"{archive.name} is refused: {name} would leave the folder")
    parts = path.parts[below:]
    return str(PurePosixPath(*parts)) if parts else None
