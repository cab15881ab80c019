"""Unpacking a tar archive below a folder.

The whole archive is checked before anything is written, and nothing in it is trusted: no name may leave the target or lead through a
link, and a link must stay inside. Because no link is followed on the way, the leading `..` steps of a link can be counted; a `..`
after a name cannot, and is refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tarfile
from collections.abc import Iterator
from typing import IO

from ..errors import InvalidRequest, PayloadTooLarge
from ..schema.files import Unpacked
from .below import below, put, put_link, remove_link
from .draft import Draft
from .entries import readable
from .moving import make_folder
from .problems import naming_path
from .reading import PIECE_BYTES
from .removal import Check
from .roots import Place, Roots

MAX_ENTRIES = 250_000
MAX_HEAD_BYTES = 1 << 20
"""The limit on the extended header of an entry, which is read into memory."""
MAX_DEPTH = 256
LISTED = 1024
LATEST = 253_402_300_799
"""The last second of the year 9999: a later time of a file is not one."""

_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class _Member(tarfile.TarInfo):
    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _EXTENDED and self.size > MAX_HEAD_BYTES:
            raise InvalidRequest(f"the header of an entry has more than {MAX_HEAD_BYTES} bytes")
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return member


def unpack(roots: Roots, path: str, archive: IO[bytes], most_bytes: int, check: Check) -> Unpacked:
    """Unpack the archive below `path`, which is created, or refuse all of it."""
    _inspect(archive, most_bytes, check)
    make_folder(roots, path)
    target = roots.open_folder(path)
    try:
        return _Unpacking(roots, target, path.rstrip("/"), check).run(archive)
    finally:
        os.close(target)


def _members(archive: IO[bytes], check: Check) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Every entry with its content. The list that `tarfile` keeps is cleared to save memory."""
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive, mode="r:", tarinfo=_Member, errorlevel=2) as tar:
            while (member := tar.next()) is not None:
                check()
                yield member, tar.extractfile(member) if member.isreg() else None
                tar.members.clear()  # type: ignore[attr-defined]
    except (tarfile.TarError, EOFError, UnicodeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidRequest(f"not a tar archive: {error}") from None


# -- before anything is written -------------------------------------------------------------------


def _inspect(archive: IO[bytes], most_bytes: int, check: Check) -> None:
    count = size = 0
    links: set[str] = set()
    for member, _ in _members(archive, check):
        count += 1
        size += max(member.size, 0) if member.isreg() else 0
        if count > MAX_ENTRIES:
            raise PayloadTooLarge(f"an archive may have at most {MAX_ENTRIES} entries", limit=MAX_ENTRIES)
        if size > most_bytes:
            raise PayloadTooLarge(f"the unpacked files may have at most {most_bytes} bytes", limit=most_bytes)
        parts = _parts(member.name)
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if not links.isdisjoint(above):
            raise _refused(member, "leads through a link")
        _check_kind(member, parts)
        if member.issym():
            links.add("/".join(parts))
    _check_end(archive, count)


def _check_end(archive: IO[bytes], count: int) -> None:
    """Something that is not a tar reads as an archive without entries."""
    if count == 0:
        archive.seek(0)
        if any(archive.read(tarfile.BLOCKSIZE)):
            raise InvalidRequest("not a tar archive")


def _check_kind(member: tarfile.TarInfo, parts: list[str]) -> None:
    if member.issym():
        _check_link(member, parts)
    elif member.islnk():
        _parts(member.linkname)
    elif not (member.isreg() or member.isdir()):
        raise _refused(member, "is neither a file, a directory nor a link")
    if not parts and not member.isdir():
        raise _refused(member, "has no name")


def _parts(name: str) -> list[str]:
    """The names that lead to an entry, each validated."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or len(parts) > MAX_DEPTH:
        raise InvalidRequest(f"the archive names `{readable(name)[:200]}`, which is not below its target")
    return parts


def _check_link(member: tarfile.TarInfo, parts: list[str]) -> None:
    steps = [step for step in member.linkname.split("/") if step not in ("", ".")]
    up = 0
    while up < len(steps) and steps[up] == "..":
        up += 1
    leaves = member.linkname.startswith("/") or up > len(parts) - 1 or ".." in steps[up:]
    if leaves or "\0" in member.linkname or not member.linkname:
        raise _refused(member, "is a link that leaves the target")


def _refused(member: tarfile.TarInfo, why: str) -> InvalidRequest:
    return InvalidRequest(f"the archive's entry `{readable(member.name)[:200]}` {why}")


# -- writing --------------------------------------------------------------------------------------


class _Unpacking:
    """One archive into one open folder."""

    def __init__(self, roots: Roots, target: int, path: str, check: Check) -> None:
        self._roots = roots
        self._target = target
        self._path = path
        self._check = check
        self._listed: list[str] = []
        self._count = 0
        self._modes: list[tuple[list[str], int]] = []
        """Modes of folders, set at the end: a read-only folder could not be filled."""

    def run(self, archive: IO[bytes]) -> Unpacked:
        for member, content in _members(archive, self._check):
            parts = _parts(member.name)
            with naming_path(readable(f"{self._path}/{member.name}")):
                self._write(member, parts, content)
            if parts:
                self._count += 1
                if len(self._listed) < LISTED:
                    self._listed.append(readable("/".join([self._path, *parts])))
        for parts, mode in reversed(self._modes):
            with contextlib.suppress(OSError), self._folder(parts) as place:
                os.fchmod(place.folder, mode)
        os.fsync(self._target)
        return Unpacked(self._listed, truncated=self._count > len(self._listed))

    def _write(self, member: tarfile.TarInfo, parts: list[str], content: IO[bytes] | None) -> None:
        if member.isdir():
            with self._folder(parts):
                if parts:
                    self._modes.append((parts, member.mode & 0o777))
            return
        with self._folder(parts[:-1]) as place:
            place.name = parts[-1]
            if member.issym():
                put_link(place, member.linkname)
            elif member.islnk():
                self._link(place, _parts(member.linkname))
            else:
                assert content is not None
                self._fill(place, member, content)

    def _folder(self, parts: list[str]) -> Place:
        return below(self._roots, self._target, "/".join([self._path, *parts]), parts)

    def _fill(self, place: Place, member: tarfile.TarInfo, content: IO[bytes]) -> None:
        remove_link(place)
        draft = Draft(self._roots, place)
        try:
            while piece := content.read(PIECE_BYTES):
                draft.write(piece)
                self._check()
            # An archive may contain any number, even NaN.
            moment = member.mtime if 0 <= member.mtime <= LATEST else 0
            os.utime(draft.file, (moment, moment))
            draft.commit(mode=member.mode & 0o777, sync=False)
        finally:
            draft.close()

    def _link(self, place: Place, parts: list[str]) -> None:
        """A hard link to a file below the target."""
        if not parts:
            raise OSError(errno.EINVAL, "links to a missing file")
        with self._folder(parts[:-1]) as source:
            status = os.stat(parts[-1], dir_fd=source.folder, follow_symlinks=False)
            self._roots.check(status)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "links to something that is not a file")

            def link(name: str) -> None:
                os.link(
                    parts[-1], name, src_dir_fd=source.folder, dst_dir_fd=place.folder, follow_symlinks=False
                )

            put(place, link)
