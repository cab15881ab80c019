"""The threads for file operations, separate so that a slow disk delays nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, ParamSpec, TypeVar

from ..errors import Unavailable
from .problems import naming_path
from .roots import Roots
from .search import Searches

Given = ParamSpec("Given")
Result = TypeVar("Result")

THREADS = 8


class Spool:
    """A file without a name."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, piece: bytes) -> None:
        with naming_path("the daemon's data directory"):
            self.file.write(piece)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.file.close()


class Files:
    def __init__(self, roots: Roots, scratch: Path) -> None:
        self.roots = roots
        self.searches = Searches()
        self._scratch = scratch
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="files")
        self._is_stopping = False

    async def run(self, work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Run a function on a thread. A cancelled caller still waits: the thread uses what the caller closes."""
        self.check()
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._threads, functools.partial(work, *given, **named))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])
            raise

    async def pieces(self, pieces: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
        """The items of an iterator, each produced on a thread."""
        while (piece := await self.run(next, pieces, None)) is not None:
            yield piece

    def check(self) -> None:
        """Called regularly by long work on its thread: ends it when the daemon stops."""
        if self._is_stopping:
            raise Unavailable("the daemon is stopping", retryAfter=5)

    def spool(self) -> Spool:
        """For data that must be complete before it is checked."""
        with naming_path("the daemon's data directory"):
            self._scratch.mkdir(mode=0o700, exist_ok=True)
            return Spool(tempfile.TemporaryFile(dir=self._scratch))

    def close(self) -> None:
        self._is_stopping = True
        self._threads.shutdown(wait=False, cancel_futures=True)
