"""Files that belong to a session: what clients upload and images that agents make."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from pathlib import Path

from ..errors import InvalidRequest, NotFound

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Attachments:
    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir / "attachments"

    def folder(self, session_id: str) -> Path:
        # A session may be called `..`; a folder may not.
        return self._root / f"ses-{session_id}"

    def save(self, session_id: str, filename: str | None, content: bytes) -> Path:
        """Store bytes under a name of ours that keeps the client's readable; durable when it returns."""
        digest = hashlib.sha256(content).hexdigest()[:12]
        shown = _SAFE.sub("-", Path(filename).name).strip(".-")[-80:] if filename else ""
        return self.write(session_id, f"{digest}-{shown}" if shown else digest, content)

    def write(self, session_id: str, name: str, content: bytes) -> Path:
        folder = self.folder(session_id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / name
        if not path.exists():
            _write_whole(path, content)
        return path

    def read(self, session_id: str, name: str) -> bytes:
        folder = self.folder(session_id)
        path = folder / name
        if path.parent == folder and os.path.isfile(path):  # False for impossible names, too
            with contextlib.suppress(FileNotFoundError):  # deleted just now
                return path.read_bytes()
        raise NotFound(f"no attachment {name}", sessionId=session_id)

    def resolve(self, session_id: str, given: str) -> Path:
        """The file a message names: an absolute path, or the name of an upload."""
        path = Path(given)
        if not path.is_absolute():
            path = self.folder(session_id) / Path(given).name
        if not os.path.isfile(path):
            raise InvalidRequest(f"attachment {given} is not a file on the daemon's machine")
        return path

    def delete(self, session_id: str) -> None:
        shutil.rmtree(self.folder(session_id), ignore_errors=True)


def _write_whole(path: Path, content: bytes) -> None:
    """The whole file, or nothing of it: a full disk must not be kept full by pieces that nobody will read."""
    # A name of its own: the same file may be written twice at once.
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(fd)
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
