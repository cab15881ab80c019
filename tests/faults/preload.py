"""A daemon whose wall clock jumps and whose disk turns read-only or slow on request: see `preload.c`."""

from __future__ import annotations

import functools
import mmap
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("preload.c")


class Faults:
    """The switches of one daemon. Give it `env`."""

    def __init__(self, folder: Path) -> None:
        path = folder / "faults"
        path.write_bytes(bytes(32))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 32)
        self.env = {"LD_PRELOAD": str(_library()), "FAULTS": str(path)}

    def jump_to(self, seconds: int) -> None:
        """Set the wall clock so far from the true time."""
        self._shared[:8] = struct.pack("q", seconds)

    def refuse_writing(self, refuse: bool) -> None:
        """Every write to a file fails with "Read-only file system", open files or not."""
        self._shared[8:16] = struct.pack("q", refuse)

    def slow_down(self, milliseconds: int) -> None:
        """Every sync of a file takes so much longer."""
        self._shared[24:] = struct.pack("q", milliseconds)

    @property
    def closed_twice(self) -> int:
        """How many descriptors were closed that were not open."""
        count: int = struct.unpack("q", self._shared[16:24])[0]
        return count


@functools.cache
def _library() -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("NO C COMPILER ON THIS MACHINE: a jumping clock and a read-only disk are not tried")
    library = Path(tempfile.mkdtemp(prefix="sandbox-agent-faults-")) / "preload.so"
    command = [
        compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        "-o",
        str(library),
        str(SOURCE),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return library
