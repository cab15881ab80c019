"""A folder as one archive, made piece by piece while it is sent.

Links are packed as links. Left out is what no archive can give back: sockets, pipes, devices, what the daemon's user cannot read,
and the daemon's own files.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ..errors import SandboxAgentError
from .reading import PIECE_BYTES
from .roots import Roots
from .tree import Found, walk

if TYPE_CHECKING:
    import zipfile

Format = Literal["tar", "zip"]
MEDIA: dict[Format, str] = {"tar": "application/x-tar", "zip": "application/zip"}


class _Folder:
    """Open until nobody holds it any more: an answer may end before its first piece."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self) -> None:
        os.close(self.descriptor)


def pack(roots: Roots, path: str, format: Format) -> Iterator[bytes]:
    """The archive of a folder. The folder is opened at once; the rest is read as the pieces are taken."""
    folder = _Folder(roots.open_folder(path))
    return _joined(_tar(roots, folder) if format == "tar" else _zip(roots, folder))


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """In pieces worth sending."""
    gathered: list[bytes] = []
    size = 0
    for piece in pieces:
        gathered.append(piece)
        size += len(piece)
        if size >= PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _content(file: int, size: int) -> Iterator[bytes]:
    """Exactly so many bytes, as the head has promised: a file that has become shorter is filled up."""
    place = 0
    while place < size:
        piece = os.pread(file, min(PIECE_BYTES, size - place), place)
        piece = piece or bytes(min(PIECE_BYTES, size - place))
        place += len(piece)
        yield piece


def _opened(roots: Roots, found: Found) -> int | None:
    try:
        return roots.open_file_in(found.folder, found.name)
    except (OSError, SandboxAgentError):
        return None


# -- tar ------------------------------------------------------------------------------------------


def _tar(roots: Roots, folder: _Folder) -> Iterator[bytes]:
    import tarfile

    def head(found: Found, size: int, link: str = "") -> bytes:
        info = tarfile.TarInfo(found.path)
        info.mode = stat.S_IMODE(found.status.st_mode)
        info.mtime = int(found.status.st_mtime)
        info.size, info.linkname = size, link
        kinds = {stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFLNK: tarfile.SYMTYPE}
        info.type = kinds.get(stat.S_IFMT(found.status.st_mode), tarfile.REGTYPE)
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")

    for found in walk(roots, folder.descriptor):
        if found.is_folder:
            yield head(found, 0)
        elif stat.S_ISLNK(found.status.st_mode):
            if (link := _link_text(found)) is not None:
                yield head(found, 0, link)
        elif stat.S_ISREG(found.status.st_mode) and (file := _opened(roots, found)) is not None:
            try:
                size = os.fstat(file).st_size
                yield head(found, size)
                yield from _content(file, size)
                yield bytes(-size % tarfile.BLOCKSIZE)
            finally:
                os.close(file)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _link_text(found: Found) -> str | None:
    try:
        return os.readlink(found.name, dir_fd=found.folder)
    except OSError:
        return None


# -- zip ------------------------------------------------------------------------------------------


class _Sink:
    """What a zip is written to: it keeps what has not been taken yet, and cannot go back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    def taken(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def _zip(roots: Roots, folder: _Folder) -> Iterator[bytes]:
    import zipfile

    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:  # type: ignore[call-overload]
        for found in walk(roots, folder.descriptor):
            for _ in _zip_entry(roots, archive, found):
                yield sink.taken()
            yield sink.taken()
    yield sink.taken()


def _zip_entry(roots: Roots, archive: zipfile.ZipFile, found: Found) -> Iterator[None]:
    """Write one entry, and stop after each piece of it."""
    if found.is_folder:
        archive.writestr(_zip_info(found, found.path + "/"), b"")
    elif stat.S_ISLNK(found.status.st_mode):
        if (link := _link_text(found)) is not None:
            archive.writestr(_zip_info(found, found.path), os.fsencode(link))
    elif stat.S_ISREG(found.status.st_mode) and (file := _opened(roots, found)) is not None:
        try:
            with archive.open(_zip_info(found, found.path), "w", force_zip64=True) as entry:
                for piece in _content(file, os.fstat(file).st_size):
                    entry.write(piece)
                    yield
        finally:
            os.close(file)


def _zip_info(found: Found, name: str) -> zipfile.ZipInfo:
    import zipfile

    # A zip knows no time before 1980 and after 2107.
    moment = time.localtime(min(max(found.status.st_mtime, 315619200), 4354732800))[:6]
    info = zipfile.ZipInfo(os.fsencode(name).decode(errors="replace"), moment)
    info.external_attr = (found.status.st_mode & 0xFFFF) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
