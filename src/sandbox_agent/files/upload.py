"""A file that a client uploads, from its first piece to its final name."""

from __future__ import annotations

import errno

from .draft import Draft, compare
from .problems import naming_path
from .roots import Roots


class Upload:
    """Writes to the file that a path leads to. Close it, committed or not."""

    def __init__(self, roots: Roots, path: str, if_match: str | None) -> None:
        self.path = path
        self._if_match = if_match
        self._place = roots.place(path, make_parents=if_match is None)
        try:
            with naming_path(path):
                # Refuse early what would be refused at the end, before gigabytes are sent.
                compare(self._place, if_match)
                if self._place.name is None:
                    raise IsADirectoryError(errno.EISDIR, "is a folder")
                self._draft = Draft(roots, self._place)
        except BaseException:
            self._place.__exit__(None, None, None)
            raise

    @property
    def written(self) -> int:
        return self._draft.written

    def write(self, piece: bytes) -> None:
        with naming_path(self.path):
            self._draft.write(piece)

    def commit(self) -> str:
        """Make the file durable under its name. Returns its tag."""
        with naming_path(self.path):
            return self._draft.commit(if_match=self._if_match)

    def close(self) -> None:
        self._draft.close()
        self._place.__exit__(None, None, None)
