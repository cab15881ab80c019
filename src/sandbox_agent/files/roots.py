"""Where file operations may go, and the way there.

A path is walked from `/` one name at a time. Each folder is opened by its descriptor without following links, a link is read and
its text walked in turn, and `..` is walked anew from the top: so no name that is swapped meanwhile leads anywhere unseen. On the
way every folder is compared with the roots and with the vault. What the walk returns is an open folder and a name in it, and
every operation works on these, never on the path again.
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
from .problems import told
from .vault import Identity, Vault, identity

MOST_LINKS = 40
"""As many links as the kernel follows in one path."""
MOST_PATH_BYTES = 4096
"""As long as the kernel takes a path."""

_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Place:
    """An open folder and the name of something in it, which need not exist; no name stands for the folder itself."""

    def __init__(self, path: str, folder: int, name: str | None, above: frozenset[Identity]) -> None:
        self.path = path
        """The path as it was asked for, for people."""
        self.folder = folder
        self.name = name
        self.above = above
        """Every folder on the way, the open one included."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.folder)

    def status(self) -> os.stat_result:
        """What is there, a link itself where it is one."""
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
        """The name, where the operation needs one: `/`, `.` and `..` cannot be removed or replaced."""
        if self.name is None:
            raise InvalidRequest(f"{self.path} is no entry of a folder", field="path", path=self.path)
        return self.name


class Roots:
    """The folders that file operations are bound to; all of the machine where none is given."""

    def __init__(self, folders: Iterable[str | os.PathLike[str]], vault: Vault) -> None:
        self.folders = tuple(Path(folder).expanduser().absolute() for folder in folders)
        self.vault = vault
        for folder in self.folders:
            if not folder.is_dir():
                raise InvalidRequest(f"--fs-root {folder}: there is no such folder")

    # -- what operations ask for --------------------------------------------------------------

    def place(self, path: str, *, follow: bool = True, make_parents: bool = False) -> Place:
        """The place that a path names. With `follow` a link at its end stands for what it leads to.

        Whatever goes wrong before a root is reached is the same refusal: what lies outside is not told.
        """
        with told(path):
            if len(os.fsencode(path)) > MOST_PATH_BYTES:
                raise OSError(errno.ENAMETOOLONG, "is too long")
            return _Walk(self, path, follow, make_parents).place()

    def open_folder(self, path: str) -> int:
        """A folder, opened to be listed."""
        with self.place(path) as place, told(path):
            if place.name is not None:
                place.status()
                raise NotADirectoryError(errno.ENOTDIR, "is no folder")
            return os.open(".", _LIST, dir_fd=place.folder)

    def open_file(self, path: str) -> int:
        """A regular file, opened to be read."""
        with self.place(path) as place, told(path):
            if place.name is None:
                raise IsADirectoryError(errno.EISDIR, "is a folder")
            return self.open_file_in(place.folder, place.name)

    def open_file_in(self, folder: int, name: str) -> int:
        """A regular file in an open folder, never through a link. A device is not even opened: that may do something."""
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.EINVAL, "is no regular file")
        file = os.open(name, _READ, dir_fd=folder)
        try:
            status = os.fstat(file)
            self.check(status)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "is no regular file")
        except BaseException:
            os.close(file)
            raise
        return file

    def open_inner(self, folder: int, name: str) -> int:
        """A folder in an open folder, never through a link, opened to be listed."""
        inner = os.open(name, _LIST, dir_fd=folder)
        try:
            self.check(os.fstat(inner))
        except BaseException:
            os.close(inner)
            raise
        return inner

    def check(self, status: os.stat_result) -> None:
        if self.vault.holds(status):
            raise PermissionDenied("the daemon's own files are out of bounds")

    def identities(self) -> frozenset[Identity]:
        """Of the roots as they are now: one may have been made anew."""
        found = set()
        for folder in self.folders:
            try:
                found.add(identity(folder.stat()))
            except OSError:
                continue
        return frozenset(found)


class _Walk:
    """One way from `/` to a place."""

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
        """Walk all names; the last one where it is not a folder that was entered."""
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
            if error.errno == errno.ELOOP:  # what some systems say of a link
                raise NotADirectoryError(errno.ENOTDIR, "is a link") from None
            raise
        os.close(self._folder)
        self._folder = inner
        status = os.fstat(inner)
        self._roots.check(status)
        self._names.append(name)
        self._above.append(identity(status))

    def _from_the_top(self, names: list[str]) -> None:
        """Start at `/` and enter folders that were entered before. `..` of a descriptor would follow a folder that was moved."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
        self._folder = os.open("/", _ENTER)
        self._names, self._above = [], [identity(os.fstat(self._folder))]
        for name in names:
            self._enter(name)

    def _read_link(self, name: str) -> bool:
        """Put a link's text before what is still to be walked; False where it is no link."""
        try:
            text = os.readlink(name, dir_fd=self._folder)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise
        self._links += 1
        if self._links > MOST_LINKS:
            raise OSError(errno.ELOOP, "leads through too many links")
        if text.startswith("/"):
            self._from_the_top([])
        self._todo.extendleft(reversed(_parts(text)))
        return True

    def _make(self, name: str) -> None:
        self._made += 1
        if not self._makes or self._made > MOST_PATH_BYTES:  # somebody else may remove it each time
            raise FileNotFoundError(errno.ENOENT, "does not exist")
        if not self._is_inside():
            raise self._refusal()
        try:
            os.mkdir(name, dir_fd=self._folder)
        except FileExistsError:  # somebody else made it, or put a link there
            pass
        self._todo.appendleft(name)

    def _is_inside(self) -> bool:
        return self._wanted is None or not self._wanted.isdisjoint(self._above)

    def _refusal(self) -> PermissionDenied:
        return PermissionDenied(f"{self._path} is outside of what --fs-root allows", path=self._path)


def absolute(base: str, given: str | None) -> str:
    """The path that a client means: its own where that is absolute, else one below `base`."""
    if given is not None and given.startswith("/"):
        return given
    if ".." in (given or "").split("/"):
        raise InvalidRequest(f"invalid relative path: {given} leads upwards", field="path")
    parts = _parts(given or "")
    return "/".join([base.rstrip("/"), *parts]) or "/"


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
