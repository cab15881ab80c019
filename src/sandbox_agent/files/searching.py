"""Search in a separate program, `python -m sandbox_agent.files.searching`, so that a regular expression cannot hang the daemon.

A pattern may take forever to match, and nothing in the same process could stop it. The program gets the open folder, is ended by an
alarm even if the daemon is gone, and writes one hit per line.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import SandboxAgentError
from ..schema.files import SearchHit
from .entries import entry_type, readable
from .ignoring import Ignoring
from .roots import Roots
from .tree import Found, walk
from .vault import Vault

MAX_FILE_BYTES = 64 << 20
"""How much of a file is searched; the rest of a larger one is not."""
LOOK_BYTES = 8 << 10
"""A NUL within this many bytes makes a file binary."""
SHOWN_CHARACTERS = 400


class Job(Struct, frozen=True):
    """What to search, and where."""

    folder: int
    path: str
    vault: tuple[str, ...]
    """The daemon's own folder and files."""
    seconds: float
    limit: int
    glob: str | None = None
    text: str | None = None
    regex: str | None = None
    ignore_case: bool = False
    ignored: bool = False
    """Include what `.gitignore` excludes."""


class Note(Struct, frozen=True):
    """The last line."""

    done: bool


def search(job: Job) -> Iterator[SearchHit]:
    """One hit for each matching line, or for each name if no text is searched."""
    folder, *files = map(Path, job.vault)
    roots = Roots((), Vault(folder, files))
    skip = None if job.ignored else Ignoring(roots, job.folder).skips
    is_wanted = matcher_of(job.glob)
    pattern = pattern_of(job)
    for found in walk(roots, job.folder, skip):
        if not is_wanted(found):
            continue
        path = readable(f"{job.path.rstrip('/')}/{found.path}")
        if pattern is None:
            yield SearchHit(path, entry_type(found.status))
        elif stat.S_ISREG(found.status.st_mode):
            for line, text in _matches(roots, found, pattern):
                yield SearchHit(path, "file", line, text)


def pattern_of(job: Job) -> re.Pattern[bytes] | None:
    """The pattern to search for in files. Raises re.error if it is invalid."""
    flags = re.MULTILINE | (re.IGNORECASE if job.ignore_case else 0)
    if job.regex is not None:
        return re.compile(job.regex.encode(), flags)
    return re.compile(re.escape(job.text.encode()), flags) if job.text is not None else None


def matcher_of(glob: str | None) -> Callable[[Found], bool]:
    """Globs work as in `.gitignore`: one without a slash matches names at any depth. Raises ValueError or re.error if it is invalid."""
    if glob is None:
        return lambda found: True
    from pathspec import GitIgnoreSpec

    literal = f"\\{glob}" if glob.startswith(("!", "#")) else glob
    spec = GitIgnoreSpec.from_lines([literal])
    return lambda found: bool(spec.check_file(found.path + ("/" if found.is_folder else "")).include)


def _matches(roots: Roots, found: Found, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, str]]:
    content = _read(roots, found)
    line, counted, last = 1, 0, -1
    for match in pattern.finditer(content):
        line += content.count(b"\n", counted, match.start())
        counted = match.start()
        if line == last:
            continue
        last = line
        start = content.rfind(b"\n", 0, match.start()) + 1
        end = content.find(b"\n", match.start())
        text = content[start : end if end >= 0 else None].decode(errors="replace").rstrip("\r")
        yield line, text[:SHOWN_CHARACTERS]


def _read(roots: Roots, found: Found) -> bytes:
    """The content of a text file; empty if it is binary or unreadable."""
    try:
        file = roots.open_file_in(found.folder, found.name)
    except (OSError, SandboxAgentError):
        return b""
    with open(file, "rb") as content:
        try:
            first = content.read(LOOK_BYTES)
            return b"" if b"\0" in first else first + content.read(MAX_FILE_BYTES - len(first))
        except OSError:
            return b""


def main() -> None:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    # A Python handler would run only after the match; the default action of the signal does not wait.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, job.seconds)
    os.nice(5)
    encode = msgspec.json.Encoder().encode
    for hit in search(job):
        sys.stdout.buffer.write(encode(hit) + b"\n")
        sys.stdout.buffer.flush()
    sys.stdout.buffer.write(encode(Note(done=True)) + b"\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the caller has enough
        os._exit(0)
