"""Files that belong to a session: what clients upload and images that agents make.

A session's files lie in a folder with a random name that its record holds: whoever takes the name of a deleted session finds
nothing of it. The folder's name begins with that of the log, so that what no record names can be removed at the next start,
but nothing of another log that shares the data folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import secrets
import shutil
from pathlib import Path

from ..errors import InvalidRequest
from ..private_files import sync_folder

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Attachments:
    """Folders are given by name. Everything that is not awaited may be called by any thread."""

    def __init__(self, data_dir: Path, identity: str) -> None:
        self._root = data_dir / "attachments"
        self._log = f"{identity}-"
        # A sweep runs beside the first requests, and has not heard of what they make.
        self._life = f"{self._log}{secrets.token_hex(4)}-"
        self._partial = self._root / f"{self._life}partial"

    def new_folder(self) -> str:
        """A name for a session's record; the folder is made with its first file."""
        return self._life + secrets.token_hex(8)

    def folder(self, name: str) -> Path:
        return self._root / name

    def _own_folder(self, name: str) -> Path:
        """One that may be written and removed: not the folder of all folders, nor one outside of it."""
        if name in ("", "..") or Path(name).name != name:
            raise ValueError(f"{name!r} names no folder of a session")
        return self.folder(name)

    def save(self, folder: str, filename: str | None, content: bytes) -> Path:
        """Store bytes under a name of ours that keeps the client's readable; durable when it returns."""
        digest = hashlib.sha256(content).hexdigest()[:12]
        shown = _SAFE.sub("-", Path(filename).name).strip(".-")[-80:] if filename else ""
        return self.write(folder, f"{digest}-{shown}" if shown else digest, content)

    def write(self, folder: str, name: str, content: bytes) -> Path:
        """The whole file, durable, or nothing of it. One that is there already is left: a name stands for its content."""
        path = self._own_folder(folder) / name
        if not path.exists():
            for made in (self._partial, path.parent):
                made.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write_whole(path, content)
        return path

    def _write_whole(self, path: Path, content: bytes) -> None:
        # Not beside the others: half a file must not be read by anybody. A name of its own: it may be written twice at once.
        partial = self._partial / secrets.token_hex(8)
        try:
            with open(
                os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb"
            ) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.rename(path)
        except BaseException:
            # A full disk must not be kept full by pieces.
            partial.unlink(missing_ok=True)
            raise
        for folder in (path.parent, self._root):
            sync_folder(folder)

    def read(self, folder: str, name: str) -> bytes | None:
        path = self.folder(folder) / name
        if path.parent == self.folder(folder) and os.path.isfile(path):  # False for impossible names, too
            with contextlib.suppress(FileNotFoundError):  # deleted just now
                return path.read_bytes()
        return None

    def resolve(self, folder: str, given: str) -> Path:
        """The file a message names: an absolute path, or the name of an upload."""
        path = Path(given)
        if not path.is_absolute():
            path = self.folder(folder) / path.name
        if not os.path.isfile(path):
            raise InvalidRequest(f"attachment {given} is not a file on the daemon's machine")
        return path

    async def remove(self, folder: str) -> None:
        """In a thread: thousands of files take a disk seconds."""
        await asyncio.to_thread(shutil.rmtree, self._own_folder(folder), ignore_errors=True)

    async def sweep(self, known: set[str]) -> None:
        """Remove what earlier lives left: folders of this log that no record names, and uploads that a kill cut off."""
        await asyncio.to_thread(self._sweep, known)

    def _sweep(self, known: set[str]) -> None:
        with contextlib.suppress(FileNotFoundError), os.scandir(self._root) as found:
            for entry in found:
                ours = entry.name.startswith(self._log) and not entry.name.startswith(self._life)
                if ours and entry.name not in known:
                    shutil.rmtree(entry.path, ignore_errors=True)
