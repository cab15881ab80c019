"""MCP servers and skills that clients have configured for a directory.

They are kept in the data directory, by the real path of the directory, and never read from the directory itself: a cloned repository
must not be able to start programs. Values may be secrets, so only the owner can read the files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import Conflict, Internal, PayloadTooLarge, Unavailable
from ..files.work import Files
from ..private_files import write_private
from ..schema.inputs import McpServer
from ..schema.skills import SkillsConfig, SkillSource
from .locks import Locks

MAX_DIRECTORIES = 1_000
MAX_ENTRIES = 100
MAX_BYTES = 256 << 10


class DirectoryConfig(Struct, frozen=True, omit_defaults=True):
    directory: str = ""
    mcp: dict[str, McpServer] = {}
    skills: dict[str, SkillsConfig] = {}

    def sources(self) -> tuple[SkillSource, ...]:
        return tuple(source for config in self.skills.values() for source in config.sources)


class Directories:
    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files
        self._locks = Locks()

    async def read(self, directory: str) -> DirectoryConfig:
        return await self._files.run(self._read, directory)

    async def change(self, directory: str, change: Callable[[DirectoryConfig], DirectoryConfig]) -> None:
        """Replace what is configured for a directory; one change at a time."""
        async with self._locks.hold(await self._files.run(os.path.realpath, directory)):
            await self._files.run(self._change, directory, change)

    def _change(self, directory: str, change: Callable[[DirectoryConfig], DirectoryConfig]) -> None:
        config = change(self._read(directory))
        path = self._path(directory)
        if not config.mcp and not config.skills:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            return
        content = msgspec.json.encode(msgspec.structs.replace(config, directory=os.path.realpath(directory)))
        if len(content) > MAX_BYTES:
            raise PayloadTooLarge(f"the configuration of a directory is limited to {MAX_BYTES} bytes")
        if max(len(config.mcp), len(config.skills)) > MAX_ENTRIES:
            raise Conflict(f"a directory can have {MAX_ENTRIES} MCP servers and as many sources of skills")
        try:
            if not path.exists() and self._count() >= MAX_DIRECTORIES:
                raise Conflict(f"{MAX_DIRECTORIES} directories are configured; delete the entries of some")
            write_private(path, content, durable=True)
        except OSError as error:
            raise Unavailable(
                f"the configuration cannot be written: {error.strerror}", retryAfter=5
            ) from error

    def _read(self, directory: str) -> DirectoryConfig:
        path = self._path(directory)
        try:
            with path.open("rb") as file:
                return msgspec.json.decode(file.read(), type=DirectoryConfig)
        except FileNotFoundError:
            return DirectoryConfig()
        except (OSError, msgspec.DecodeError) as error:
            raise Internal(f"the configuration of {directory} cannot be read from {path}: {error}") from error

    def _count(self) -> int:
        try:
            return len(os.listdir(self._folder))
        except FileNotFoundError:
            return 0

    def _path(self, directory: str) -> Path:
        real = os.path.realpath(directory)
        return self._folder / f"{hashlib.sha256(os.fsencode(real)).hexdigest()}.json"
