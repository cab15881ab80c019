"""Files of a session: uploads from clients and images from agents.

Each session has a folder with a random name, which its record holds: a new session with the id of a deleted one finds none of its
files. The folder's name starts with the identity of the log, so the next start can remove folders that no record names without
touching those of another log in the same data directory.
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
    """Takes folders by name. Methods that are not coroutines may be called from any thread."""

    def __init__(self, data_dir: Path, identity: str) -> None:
        self._root = data_dir / "attachments"
        self._log = f"{identity}-"
        # The sweep runs while the first requests are served, and must not remove their folders.
        self._life = f"{self._log}{secrets.token_hex(4)}-"
        self._partial = self._root / f"{self._life}partial"

    def new_folder(self) -> str:
        """A folder name for a session's record; the folder itself is created with its first file."""
        return self._life + secrets.token_hex(8)

    def folder(self, name: str) -> Path:
        return self._root / name

    def skills_folder(self, name: str) -> Path:
        """Where a session's skills are; they are deleted with its other files."""
        return self._own_folder(name) / "skills"

    def _own_folder(self, name: str) -> Path:
        """The path of a session's folder. Refuses names of the parent folder and of folders outside it."""
        if name in ("", "..") or Path(name).name != name:
            raise ValueError(f"{name!r} is not the name of a session's folder")
        return self.folder(name)

    def save(self, folder: str, filename: str | None, content: bytes, session_id: str = "") -> Path:
        """Store bytes under a generated name that ends with the client's; durable on return."""
        digest = hashlib.sha256(content).hexdigest()[:12]
        shown = _SAFE.sub("-", Path(filename).name).strip(".-")[-80:] if filename else ""
        return self.keep(session_id, folder, f"{digest}-{shown}" if shown else digest, content)

    def keep(self, session_id: str, folder: str, name: str, content: bytes) -> Path:
        """Store a file of a session under its name; durable on return."""
        return self.write(folder, name, content)

    def write(self, folder: str, name: str, content: bytes) -> Path:
        """Write the whole file durably, or nothing. An existing file is kept: a name identifies its content."""
        path = self._own_folder(folder) / name
        if not path.exists():
            for made in (self._partial, path.parent):
                made.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._write_whole(path, content)
        return path

    def _write_whole(self, path: Path, content: bytes) -> None:
        # Outside the session's folder, so that no one reads half a file. With a unique name, because two writes may run at once.
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
            # Partial files must not keep a full disk full.
            partial.unlink(missing_ok=True)
            raise
        for folder in (path.parent, self._root):
            sync_folder(folder)

    def read(self, folder: str, name: str, session_id: str = "") -> bytes | None:
        path = self.folder(folder) / name
        if path.parent == self.folder(folder) and os.path.isfile(path):  # False for impossible names, too
            with contextlib.suppress(FileNotFoundError):  # deleted just now
                return path.read_bytes()
        return None

    def resolve(self, folder: str, given: str, session_id: str = "") -> Path:
        """The file that a message names, by absolute path or by the name of an upload."""
        path = self.path_of(folder, given)
        if not os.path.isfile(path):
            raise InvalidRequest(f"attachment {given} is not a file on the daemon's machine")
        return path

    def path_of(self, folder: str, given: str) -> Path:
        """Where this file is, or was."""
        path = Path(given)
        return path if path.is_absolute() else self.folder(folder) / path.name

    async def remove(self, folder: str) -> None:
        """In a thread: removing thousands of files takes seconds."""
        await asyncio.to_thread(shutil.rmtree, self._own_folder(folder), ignore_errors=True)

    async def sweep(self, known: set[str]) -> None:
        """Remove leftovers of earlier daemons: folders of this log that no record names, and interrupted uploads."""
        await asyncio.to_thread(self._sweep, known)

    def _sweep(self, known: set[str]) -> None:
        with contextlib.suppress(FileNotFoundError), os.scandir(self._root) as found:
            for entry in found:
                ours = entry.name.startswith(self._log) and not entry.name.startswith(self._life)
                if ours and entry.name not in known:
                    shutil.rmtree(entry.path, ignore_errors=True)
