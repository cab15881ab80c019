"""The folders that file operations are confined to, and how paths are resolved.

A path is walked from `/` one name at a time. Each folder is opened by descriptor without following links, a link is read and its
target walked in turn, and `..` restarts the walk from `/`: so a name that is swapped during the walk cannot lead anywhere unchecked. Every
folder on the way is compared with the roots and the vault. The walk returns an open folder and a name in it, and every operation
uses these, never the path again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import InvalidRequest, PermissionDenied
from .problems import naming_path
from .vault import Identity, Vault, identity

MAX_LINKS = 40
"""As many links as the kernel follows in one path."""
MAX_PATH_BYTES = 4096
"""The longest path that the kernel accepts."""

_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Place:
    """An open folder and the name of an entry in it, which need not exist; no name means the folder itself."""

    def __init__(self, path: str, folder: int, name: str | None, above: frozenset[Identity]) -> None:
        self.path = path
        """The path as requested, for messages."""
        self.folder = folder
        self.name = name
        self.above = above
        """Every folder on the way, including the open one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.folder)

    def status(self) -> os.stat_result:
        """The entry's metadata; of a link itself."""
        if self.name is None:
            return os.fstat(self.folder)
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def exists(self) -> bool:
        try:
            self.status()
        except FileNotFoundError:
            return False
        return True

    def required_name(self) -> str:
        """The name, for operations that need one: `/`, `.` and `..` cannot be removed or replaced."""
        if self.name is None:
            raise InvalidRequest(f"{self.path} is not an entry of a directory", field="path", path=self.path)
        return self.name


class Roots:
    """The folders that file operations are confined to; the whole machine if none is given."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]], vault: Vault) -> None:
        self.folders = tuple(Path(folder).expanduser().absolute() for folder in folders)
        self.vault = vault
        for folder in self.folders:
            if not folder.is_dir():
                raise InvalidRequest(f"--fs-root {folder}: there is no such directory")

    # -- what operations ask for --------------------------------------------------------------

    def place(self, path: str, *, follow: bool = True, make_parents: bool = False) -> Place:
        """The place that a path names. With `follow`, a final link is resolved.

        Every failure before a root is reached gives the same refusal, so that nothing outside is revealed.
        """
        with naming_path(path):
            if len(os.fsencode(path)) > MAX_PATH_BYTES:
                raise OSError(errno.ENAMETOOLONG, "is too long")
            return _Walk(self, path, follow, make_parents).place()

    def open_folder(self, path: str) -> int:
        """A folder, opened for listing."""
        with self.place(path) as place, naming_path(path):
            if place.name is not None:
                place.status()
                raise NotADirectoryError(errno.ENOTDIR, "is not a directory")
            return os.open(".", _LIST, dir_fd=place.folder)

    def open_file(self, path: str) -> int:
        """A regular file, opened for reading."""
        with self.place(path) as place, naming_path(path):
            if place.name is None:
                raise IsADirectoryError(errno.EISDIR, "is a directory")
            return self.open_file_in(place.folder, place.name)

    def open_file_in(self, folder: int, name: str) -> int:
        """A regular file in an open folder, never through a link. A device is not even opened, because that may have effects."""
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        file = os.open(name, _READ, dir_fd=folder)
        try:
            status = os.fstat(file)
            self.check(status)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "is not a regular file")
        except BaseException:
            os.close(file)
            raise
        return file

    def open_inner(self, folder: int, name: str) -> int:
        """A folder in an open folder, never through a link, opened for listing."""
        inner = os.open(name, _LIST, dir_fd=folder)
        try:
            self.check(os.fstat(inner))
        except BaseException:
            os.close(inner)
            raise
        return inner

    def check(self, status: os.stat_result) -> None:
        if self.vault.holds(status):
            raise PermissionDenied("the daemon's own files cannot be accessed")

    def identities(self) -> frozenset[Identity]:
        """The identities of the roots now: one may have been recreated."""
        found = set()
        for folder in self.folders:
            try:
                found.add(identity(folder.stat()))
            except OSError:
                continue
        return frozenset(found)


class _Walk:
    """One walk from `/` to a place."""

    def __init__(self, roots: Roots, path: str, follow: bool, make_parents: bool) -> None:
        self._roots = roots
        self._path = path
        self._follow = follow
        self._makes = make_parents
        self._wanted = roots.identities() if roots.folders else None
        self._todo = deque(_parts(path))
        self._links = 0
        self._made = 0
        self._folder = -1
        self._names: list[str] = []
        self._above: list[Identity] = []

    def place(self) -> Place:
        try:
            self._from_the_top([])
            name = self._walk()
        except BaseException as error:
            inside = self._is_inside()
            if self._folder >= 0:
                os.close(self._folder)
            if isinstance(error, OSError) and not inside:
                raise self._refusal() from None
            raise
        place = Place(self._path, self._folder, name, frozenset(self._above))
        if not self._is_inside():
            place.__exit__(None, None, None)
            raise self._refusal()
        return place

    def _walk(self) -> str | None:
        """Walk all names. Returns the last one, unless it is a folder that was entered."""
        while self._todo:
            name = self._todo.popleft()
            if name == "..":
                self._from_the_top(self._names[:-1])
                continue
            is_last = not self._todo
            if is_last and not self._follow:
                return name
            try:
                self._enter(name)
            except FileNotFoundError:
                if is_last:
                    return name
                self._make(name)
            except NotADirectoryError:
                if not self._read_link(name):
                    if is_last:
                        return name
                    raise
        return None

    def _enter(self, name: str) -> None:
        try:
            inner = os.open(name, _ENTER, dir_fd=self._folder)
        except OSError as error:
            if error.errno == errno.ELOOP:  # what some systems report for a link
                raise NotADirectoryError(errno.ENOTDIR, "is a link") from None
            raise
        os.close(self._folder)
        self._folder = inner
        status = os.fstat(inner)
        self._roots.check(status)
        self._names.append(name)
        self._above.append(identity(status))

    def _from_the_top(self, names: list[str]) -> None:
        """Start at `/` and enter the same folders again. `..` of a descriptor would follow a moved folder."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
        self._folder = os.open("/", _ENTER)
        self._names, self._above = [], [identity(os.fstat(self._folder))]
        for name in names:
            self._enter(name)

    def _read_link(self, name: str) -> bool:
        """Put a link's target before the names still to be walked; False if it is not a link."""
        try:
            text = os.readlink(name, dir_fd=self._folder)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, "leads through too many links")
        if text.startswith("/"):
            self._from_the_top([])
        self._todo.extendleft(reversed(_parts(text)))
        return True

    def _make(self, name: str) -> None:
        self._made += 1
        if not self._makes or self._made > MAX_PATH_BYTES:  # another program may remove it each time
            raise FileNotFoundError(errno.ENOENT, "does not exist")
        if not self._is_inside():
            raise self._refusal()
        try:
            os.mkdir(name, dir_fd=self._folder)
        except FileExistsError:  # another program created it, or put a link there
            pass
        self._todo.appendleft(name)

    def _is_inside(self) -> bool:
        return self._wanted is None or not self._wanted.isdisjoint(self._above)

    def _refusal(self) -> PermissionDenied:
        return PermissionDenied(
            f"{self._path} is outside the directories that --fs-root allows", path=self._path
        )


def absolute(base: str, given: str | None) -> str:
    """The path that a client means: its own if absolute, else one below `base`."""
    if given is not None and given.startswith("/"):
        return given
    if ".." in (given or "").split("/"):
        raise InvalidRequest(f"invalid relative path: {given} leads upwards", field="path")
    parts = _parts(given or "")
    return "/".join([base.rstrip("/"), *parts]) or "/"


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
