"""Changes below a folder, as reported by the kernel.

Folders are watched by descriptor, so that a name that is swapped for a link is not followed out of the root. A stalled reader costs no
memory: notifications wait in the kernel, which eventually drops them and reports that.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from ..errors import InvalidRequest, SandboxAgentError
from ..schema.files import EntryType, FileChange
from . import kernel
from .entries import readable
from .problems import naming_path
from .roots import Roots

MAX_FOLDERS = 8192
GATHER_SECONDS = 0.05
"""A program writes a file in many steps, which are reported as one change."""


class Lost:
    """Not every change is reported: there were too many at once, or too many folders."""


LOST = Lost()
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES)

Run = Callable[[Callable[[], list[FileChange | Lost]]], Awaitable[list[FileChange | Lost]]]


class Watch:
    """One reader's watch of a folder. Created and stepped on a thread, read by the event loop."""

    def __init__(self, roots: Roots, path: str) -> None:
        self._roots = roots
        self._path = path.rstrip("/")
        self._folders: dict[int, str] = {}
        """Watched folders by number: the path relative to the start, with a trailing slash."""
        self._is_whole = True
        self._start, self._notices = -1, -1
        self._start = roots.open_folder(path)
        with naming_path(path):
            try:
                self._notices = kernel.open_notices()
            except kernel.Unsupported:
                raise InvalidRequest("this system does not report changes") from None
        for _ in self._add(""):
            pass

    def __del__(self) -> None:
        """Closed when it is no longer referenced: a stream may end before its first frame."""
        for descriptor in (self._notices, self._start):
            if descriptor >= 0:
                os.close(descriptor)

    async def changes(self, run: Run, seconds: float) -> AsyncGenerator[FileChange | Lost | None, None]:
        """Every change, and None when there was none for `seconds`. `run` reads on a thread."""
        loop = asyncio.get_running_loop()
        has_changes = asyncio.Event()

        def wake() -> None:
            # Called again and again until they are read, which may take as long as a slow reader wants.
            loop.remove_reader(self._notices)
            has_changes.set()

        try:
            if not self._is_whole:
                yield LOST
            while True:
                loop.add_reader(self._notices, wake)
                try:
                    async with asyncio.timeout(seconds):
                        await has_changes.wait()
                except TimeoutError:
                    yield None
                    continue
                await asyncio.sleep(GATHER_SECONDS)
                has_changes.clear()
                for change in await run(self._read):
                    yield change
        finally:
            loop.remove_reader(self._notices)

    # -- notices ------------------------------------------------------------------------------

    def _read(self) -> list[FileChange | Lost]:
        """The changes so far, each once and in order."""
        found: dict[FileChange | Lost, None] = {}
        for notice in kernel.read_notices(self._notices):
            if notice.what & kernel.OVERFLOW:
                found[LOST] = None
                self._start_over()
            elif notice.what & kernel.IGNORED:
                self._folders.pop(notice.watch, None)
            elif notice.watch in self._folders:
                for change in self._changes(notice):
                    found[change] = None
        return list(found)

    def _changes(self, notice: kernel.Notice) -> Iterator[FileChange | Lost]:
        path = self._folders[notice.watch] + notice.name
        is_folder = bool(notice.what & kernel.IS_FOLDER)
        kind: EntryType = "directory" if is_folder else "file"
        shown = readable(f"{self._path}/{path}")
        if notice.what & (kernel.CREATED | kernel.MOVED_TO):
            yield FileChange(shown, "created", kind)
            if is_folder:
                yield from self._add(path + "/")
        elif notice.what & (kernel.DELETED | kernel.MOVED_FROM):
            if is_folder:
                self._forget(path + "/")
            yield FileChange(shown, "deleted", kind)
        elif not is_folder:
            yield FileChange(shown, "modified", kind)

    # -- folders ------------------------------------------------------------------------------

    def _add(self, start: str) -> Iterator[FileChange | Lost]:
        """Watch a folder and its subfolders, breadth first. Returns the entries that existed before their watch."""
        todo = deque([start])
        while todo:
            path = todo.popleft()
            if len(self._folders) >= MAX_FOLDERS:
                self._is_whole = False
                yield LOST
                return
            try:
                inside = self._watch(path)
            except SandboxAgentError:
                continue  # the daemon's own
            except OSError as error:
                if error.errno not in _GONE:  # the system has no more watches
                    self._is_whole = False
                    yield LOST
                continue
            for name, is_folder in inside:
                if is_folder:
                    todo.append(f"{path}{name}/")
                shown = readable(f"{self._path}/{path}{name}")
                yield FileChange(shown, "created", "directory" if is_folder else "file")

    def _watch(self, path: str) -> list[tuple[str, bool]]:
        """Watch one folder, never through a link. Returns its entries."""
        folder = os.dup(self._start)
        try:
            for part in path.split("/")[:-1]:
                inner = self._roots.open_inner(folder, part)
                os.close(folder)
                folder = inner
            self._folders[kernel.watch_folder(self._notices, folder)] = path
            return list(_entries(folder))
        finally:
            os.close(folder)

    def _start_over(self) -> None:
        """Folders may have come and gone unnoticed."""
        self._forget("")
        for _ in self._add(""):
            pass

    def _forget(self, start: str) -> None:
        """Stop watching a folder that was moved away: it may be outside by now."""
        for watch, path in list(self._folders.items()):
            if path.startswith(start):
                del self._folders[watch]
                kernel.unwatch_folder(self._notices, watch)


def _entries(folder: int) -> Iterator[tuple[str, bool]]:
    for name in os.listdir(folder):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            continue
        yield name, stat.S_ISDIR(status.st_mode)
