"""Files of sessions on their way between a data directory and a shared store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..store.base import SessionRecord
from ..store.copying import CopyDiffers
from ..store.shared import PART_BYTES, SharedStore
from .attachments import Attachments


class FilesStay:
    """Both logs use the same data directory, or neither keeps files."""

    def copy(self, record: SessionRecord) -> int:
        return 0


class FilesToStore:
    """From a data directory into a shared store. Folders, such as a session's skills, stay where they are."""

    def __init__(self, data_dir: Path, store: SharedStore) -> None:
        self._attachments = Attachments(data_dir, "")
        self._store = store

    def copy(self, record: SessionRecord) -> int:
        id, folder = record.session_id, self._attachments.folder(record.folder)
        names = _names(folder) if record.folder else []
        there = {file.name: file.size for file in self._store.list_files(id, "attachment")}
        for name in names:
            path = folder / name
            if there.get(name) != path.stat().st_size:
                self._store.put_file(id, "attachment", name, _parts(path))
            _require_same(name, _digest(_parts(path)), _digest(self._store.get_file(id, "attachment", name)))
        return len(names)


class FilesToFolder:
    """From a shared store into a data directory."""

    def __init__(self, store: SharedStore, data_dir: Path) -> None:
        self._attachments = Attachments(data_dir, "")
        self._store = store

    def copy(self, record: SessionRecord) -> int:
        files = self._store.list_files(record.session_id, "attachment")
        for file in files:
            content = b"".join(self._store.get_file(record.session_id, "attachment", file.name))
            path = self._attachments.write(record.folder, file.name, content)
            _require_same(file.name, hashlib.sha256(content).digest(), _digest(_parts(path)))
        return len(files)


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return sorted(entry.name for entry in found if entry.is_file(follow_symlinks=False))


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield file.read(PART_BYTES)
        while part := file.read(PART_BYTES):
            yield part


def _digest(parts: Iterator[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _require_same(name: str, content: bytes, other: bytes) -> None:
    if content != other:
        raise CopyDiffers(f"the file {name} differs after it was copied")
