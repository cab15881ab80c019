"""Files of sessions that any node may take and serve: they are in the shared store, and a node's own folder is a cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..store.shared import PART_BYTES, SharedStore
from .attachments import Attachments


class SharedAttachments(Attachments):
    def __init__(self, data_dir: Path, store: SharedStore) -> None:
        super().__init__(data_dir, store.identity)
        self._store = store

    def keep(self, session_id: str, folder: str, name: str, content: bytes) -> Path:
        path = super().keep(session_id, folder, name, content)
        self._store.put_file(session_id, "attachment", name, _parts(content))
        return path

    def read(self, folder: str, name: str, session_id: str = "") -> bytes | None:
        self._fetch(session_id, folder, name)
        return super().read(folder, name)

    def resolve(self, folder: str, given: str, session_id: str = "") -> Path:
        path = self.path_of(folder, given)
        if path.parent == self.folder(folder):
            self._fetch(session_id, folder, path.name)
        return super().resolve(folder, given)

    def path_of(self, folder: str, given: str) -> Path:
        path = Path(given)
        # An upload, under the path that it has on some node.
        return super().path_of(folder, path.name if path.parent.name == folder else given)

    def _fetch(self, session_id: str, folder: str, name: str) -> None:
        """Bring a file to this node, if another one took it."""
        path = self.folder(folder) / name
        if path.parent != self.folder(folder) or path.exists() or "\0" in name:
            return
        content = b"".join(self._store.get_file(session_id, "attachment", name))
        if content:
            self.write(folder, name, content)


def _parts(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), PART_BYTES):
        yield content[start : start + PART_BYTES]
