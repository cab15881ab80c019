"""What a session changed in its directory, as clients list it, and again after each turn."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from ...errors import SandboxAgentError
from ..inlet import Frame, Inlet
from .operations import Operations
from .shapes import DiffChanged, FileDiff

DIFF = "diff"
"""The name of the frame."""
MAX_LOOKED_AT = 256


async def diffs_of(operations: Operations, session_id: str) -> list[FileDiff]:
    changes = await operations.changes(session_id)
    return [
        FileDiff(
            file=os.path.join(changes.directory, file.path),
            patch=file.diff or "",
            additions=file.additions or 0,
            deletions=file.deletions or 0,
            status=file.status,
        )
        for file in changes.files
    ]


class LookedAt:
    """The sessions whose changes a client asked for lately: only theirs are compared again."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, None] = OrderedDict()

    def add(self, session_id: str) -> None:
        self._sessions[session_id] = None
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MAX_LOOKED_AT:
            self._sessions.popitem(last=False)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._sessions


class Comparing:
    """Compares directories beside a stream, which does not wait for it, and adds the results to the stream."""

    def __init__(self, operations: Operations, inlet: Inlet) -> None:
        self._operations = operations
        self._inlet = inlet
        self._waiting: OrderedDict[str, None] = OrderedDict()
        self._asked = asyncio.Event()

    def ask(self, session_id: str) -> None:
        self._waiting[session_id] = None
        self._asked.set()

    async def run(self) -> None:
        while True:
            await self._asked.wait()
            while self._waiting:
                session_id, _ = self._waiting.popitem(last=False)
                try:
                    diff = await diffs_of(self._operations, session_id)
                except SandboxAgentError:
                    continue  # it was deleted meanwhile, or the directory cannot be read
                changed = DiffChanged(session_id=session_id, diff=diff)
                self._inlet.insert(Frame(DIFF, msgspec.json.encode(changed)))
            self._asked.clear()


@asynccontextmanager
async def comparing(operations: Operations, inlet: Inlet) -> AsyncIterator[Comparing]:
    comparing = Comparing(operations, inlet)
    work = asyncio.get_running_loop().create_task(comparing.run())
    try:
        yield comparing
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
