"""Folder listings and file metadata: names, sizes, times, and the tags that show a change."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime

from ..errors import InvalidRequest
from ..schema.files import EntryPage, EntryType, FileEntry, FileStat
from .problems import naming_path
from .roots import Place, Roots


def list_entries(roots: Roots, path: str) -> list[FileEntry]:
    """Everything in a folder, sorted by name."""
    folder = roots.open_folder(path)
    try:
        return _described(folder, path, sorted(os.listdir(folder), key=os.fsencode))
    finally:
        os.close(folder)


def page_of_entries(roots: Roots, path: str, limit: int, cursor: str | None) -> EntryPage:
    """The entries after a cursor. The cursor is a name, so that no entry is skipped or repeated when others come and go."""
    after = _name_of(cursor) if cursor is not None else b""
    folder = roots.open_folder(path)
    try:
        names = sorted(name for name in map(os.fsencode, os.listdir(folder)) if name > after)
        page = names[:limit]
        entries = _described(folder, path, [os.fsdecode(name) for name in page])
    finally:
        os.close(folder)
    return EntryPage(entries, _cursor_of(page[-1]) if len(names) > limit else None)


def show(roots: Roots, path: str) -> FileStat:
    """The metadata of the file that a path leads to."""
    with roots.place(path) as place, naming_path(path):
        status = place.status()
        roots.check(status)
    return FileStat(path, entry_type(status), status.st_size, modified(status), etag(status))


def _described(folder: int, path: str, names: Sequence[str]) -> list[FileEntry]:
    base = path.rstrip("/")
    entries = []
    for name in names:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            link = os.readlink(name, dir_fd=folder) if stat.S_ISLNK(status.st_mode) else None
        except OSError:
            continue  # removed since the folder was read
        shown = readable(name)
        entries.append(
            FileEntry(
                shown,
                f"{base}/{shown}",
                entry_type(status),
                status.st_size,
                modified(status),
                readable(link) if link is not None else None,
            )
        )
    return entries


def entry_type(status: os.stat_result) -> EntryType:
    return "directory" if stat.S_ISDIR(status.st_mode) else "file"


def modified(status: os.stat_result) -> str:
    """RFC 3339 to the nanosecond."""
    seconds, rest = divmod(status.st_mtime_ns, 10**9)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        moment, rest = datetime.fromtimestamp(0, UTC), 0  # a file system may contain any number
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}+00:00"


def etag(status: os.stat_result) -> str:
    """A tag for the content of the file. It includes the inode, because a replaced file may keep size and time."""
    return f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}-{status.st_ctime_ns:x}"'


def current_etag(place: Place) -> str | None:
    """The tag of the file at a place; None if there is none."""
    try:
        return etag(place.status())
    except FileNotFoundError:
        return None


def readable(name: str) -> str:
    """A name as text. One that is not UTF-8 can be shown, but not requested."""
    return os.fsencode(name).decode(errors="replace")


def _cursor_of(name: bytes) -> str:
    return base64.urlsafe_b64encode(name).decode()


def _name_of(cursor: str) -> bytes:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidRequest("not a cursor of an earlier page", field="cursor") from None
