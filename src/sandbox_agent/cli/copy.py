"""`cp`: copies files and directories between this machine and the daemon's."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..client.call import call
from ..errors import SandboxAgentError
from ..files.packing import pack
from ..files.roots import Roots
from ..files.unpacking import unpack
from ..files.vault import Vault
from ..schema.files import FileStat
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .output import can_draw, console, say, written
from .remote import Remote, find_address
from .request import pieces_of_file

UNBOUND = 1 << 62
"""Bytes to accept from the daemon: as many as fit on the disk."""

Shown = Callable[[Iterator[bytes]], Iterator[bytes]]


class RemotePath(NamedTuple):
    session_id: str | None
    path: str

    def query(self, **more: str) -> dict[str, str | None]:
        return {"path": self.path, "sessionId": self.session_id, **more}

    def below(self, name: str) -> RemotePath:
        return self._replace(path=f"{self.path.rstrip('/')}/{name}" if self.path not in ("", ".") else name)


def copy(args: argparse.Namespace) -> int:
    source, target = remote_path(args.source), remote_path(args.target)
    if (source is None) == (target is None):
        raise WrongUsage("one of the two paths must be on the daemon's machine: `:PATH` or `SESSION:PATH`")
    try:
        with Remote(find_address(args)) as remote:
            if target is not None:
                _send(remote, Path(args.source), target)
            elif source is not None:
                _fetch(remote, source, Path(args.target))
    except SandboxAgentError as error:  # about local files
        raise CommandFailed(error.detail) from None
    return 0


def remote_path(text: str) -> RemotePath | None:
    """`SESSION:PATH`, `:PATH` or `remote:PATH`; None for a local path, which has no colon or a slash before it."""
    name, colon, path = text.partition(":")
    if not colon or "/" in name:
        return None
    return RemotePath(None if name in ("", "remote") else name, path)


# -- to the daemon --------------------------------------------------------------------------------


def _send(remote: Remote, source: Path, target: RemotePath) -> None:
    if not source.exists():
        raise WrongUsage(f"cannot read {source}: no such file")
    there = _stat(remote, target)
    if target.path.endswith("/") or (there is not None and there.entry_type == "directory"):
        target = target.below(source.resolve().name)
    if source.is_dir():
        _send_folder(remote, source, target)
    else:
        _send_file(remote, source, target)


def _send_file(remote: Remote, source: Path, target: RemotePath) -> None:
    pieces, size = pieces_of_file(str(source.absolute()))
    headers = {"Content-Type": "application/octet-stream"}
    if size is not None:
        headers["Content-Length"] = str(size)
    with _progress(source.name, size) as shown:
        remote.send(call("PUT", "/v1/fs/file", query=target.query(), headers=headers, content=shown(pieces)))


def _send_folder(remote: Remote, source: Path, target: RemotePath) -> None:
    with _progress(source.name, None) as shown:
        pieces = shown(pack(_everywhere(), str(source.resolve()), "tar"))
        headers = {"Content-Type": "application/x-tar"}
        remote.send(
            call("POST", "/v1/fs/upload-batch", query=target.query(), headers=headers, content=pieces)
        )


def _stat(remote: Remote, path: RemotePath) -> FileStat | None:
    """The entry at a path; None if there is none, or none that may be seen."""
    try:
        answer = remote.send(call("GET", "/v1/fs/stat", query=path.query()))
    except ProblemAnswered as problem:
        if problem.status == 400:
            return None
        raise
    return msgspec.json.decode(answer.content, type=FileStat)


# -- from the daemon ------------------------------------------------------------------------------


def _fetch(remote: Remote, source: RemotePath, target: Path) -> None:
    found = _stat(remote, source)
    if found is None:
        raise CommandFailed(f"the daemon's machine has no {source.path or 'such directory'}")
    if target.is_dir():
        target = target / (Path(found.path).name or "root")
    if found.entry_type == "directory":
        _fetch_folder(remote, source, target)
    else:
        _fetch_file(remote, source, target)


def _fetch_file(remote: Remote, source: RemotePath, target: Path) -> None:
    with (
        remote.download(call("GET", "/v1/fs/file", query=source.query())) as answer,
        _progress(target.name, answer.size) as shown,
        written(str(target)) as file,
    ):
        for piece in shown(answer.pieces):
            file.write(piece)


def _fetch_folder(remote: Remote, source: RemotePath, target: Path) -> None:
    """Download the archive completely, then unpack it with the same checks as an upload: the daemon is not trusted."""
    with (
        remote.download(call("GET", "/v1/fs/download", query=source.query())) as answer,
        _progress(target.name, None) as shown,
        tempfile.TemporaryFile() as spool,
    ):
        for piece in shown(answer.pieces):
            spool.write(piece)
        unpack(_everywhere(), str(target.absolute()), spool, UNBOUND, lambda: None)


def _everywhere() -> Roots:
    return Roots((), Vault(Path(os.devnull)))


# -- the bar --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _progress(name: str, size: int | None) -> Iterator[Shown]:
    """A bar on a terminal, otherwise a line at the end."""
    if sys.stderr.isatty() and can_draw():
        with _bar(name, size) as shown:
            yield shown
        return
    count = 0

    def counted(pieces: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal count
        for piece in pieces:
            count += len(piece)
            yield piece

    yield counted
    say(f"{name}: {count} bytes")


@contextlib.contextmanager
def _bar(name: str, size: int | None) -> Iterator[Shown]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=console(stderr=True)) as bars:
        task = bars.add_task(name, total=size)

        def shown(pieces: Iterator[bytes]) -> Iterator[bytes]:
            for piece in pieces:
                bars.advance(task, len(piece))
                yield piece

        yield shown
