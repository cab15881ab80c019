"""A file that a client uploads, from its first piece to its final name."""

from __future__ import annotations

import errno

from .condition import Condition
from .draft import Draft
from .problems import naming_path
from .roots import Roots


class Upload:
    """Writes to the file that a path leads to. Close it, committed or not."""

    def __init__(self, roots: Roots, path: str, condition: Condition) -> None:
        self.path = path
        self._condition = condition
        self._place = roots.place(path, make_parents=condition.if_match is None)
        try:
            with naming_path(path):
                # Refuse early what would be refused at the end, before gigabytes are sent.
                condition.check(self._place)
                if self._place.name is None:
                    raise IsADirectoryError(errno.EISDIR, "is a directory")
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
            return self._draft.commit(condition=self._condition)

    def close(self) -> None:
        self._draft.close()
        self._place.__exit__(None, None, None)
