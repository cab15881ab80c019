"""A file that a client sends, from its first piece to its name."""

from __future__ import annotations

import errno

from .draft import Draft, compare
from .problems import told
from .roots import Roots


class Upload:
    """Writes to what a path leads to. Close it, committed or not."""

    def __init__(self, roots: Roots, path: str, if_match: str | None) -> None:
        self.path = path
        self._if_match = if_match
        self._place = roots.place(path, make_parents=if_match is None)
        try:
            with told(path):
                # Refused at once where the end would be: before gigabytes are sent for nothing.
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
        with told(self.path):
            self._draft.write(piece)

    def commit(self) -> str:
        """Durable under its name when this returns. Returns the file's tag."""
        with told(self.path):
            return self._draft.commit(if_match=self._if_match)

    def close(self) -> None:
        self._draft.close()
        self._place.__exit__(None, None, None)
