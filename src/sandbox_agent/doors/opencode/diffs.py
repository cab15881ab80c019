"""What a session or one of its turns changed, as clients list it, and again after each turn."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Literal

import msgspec

from ...agents.diffs import changed_lines
from ...errors import SandboxAgentError
from ...schema.events import ItemCompleted
from ...schema.items import FileRef
from ..inlet import Frame, Inlet
from . import history
from .operations import Operations
from .shapes import DiffChanged, FileDiff
from .thread import Facts
from .transcript import Transcript

DIFF = "diff"
"""The name of the frame."""
MAX_RECENTLY_VIEWED = 256


async def diffs_of(operations: Operations, session_id: str) -> list[FileDiff]:
    """What a session changed in its directory since it began."""
    changes = await operations.changes(session_id)
    return [
        FileDiff(
            file=file.path,
            patch=file.diff or "",
            additions=file.additions or 0,
            deletions=file.deletions or 0,
            status=file.status,
        )
        for file in changes.files
    ]


async def diffs_of_message(operations: Operations, facts: Facts, message_id: str) -> list[FileDiff]:
    """What the turn of a message changed, as its agent reported it: all patches of a file, one after the other."""
    transcript = Transcript(facts)
    patches: dict[str, list[str]] = {}
    async with aclosing(history.events(operations, facts.session_id)) as events:
        async for event in events:
            transcript.take(event)
            if transcript.main.user_id == message_id and isinstance(event.data, ItemCompleted):
                for part in event.data.item.content:
                    if isinstance(part, FileRef) and part.diff is not None and part.action != "read":
                        patches.setdefault(part.to or part.path, []).append(part.diff)
    return [_reported(os.path.relpath(path, facts.directory), texts) for path, texts in patches.items()]


def _reported(path: str, diffs: list[str]) -> FileDiff:
    patch = "".join(diffs)
    additions, deletions = changed_lines(patch)
    is_new, is_gone = diffs[0].startswith("--- /dev/null"), "\n+++ /dev/null" in diffs[-1]
    status: Literal["added", "modified", "deleted"] = (
        "deleted" if is_gone else "added" if is_new else "modified"
    )
    return FileDiff(file=path, patch=patch, additions=additions, deletions=deletions, status=status)


class RecentlyViewed:
    """The sessions whose changes a client has asked for recently: only theirs are compared again."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, None] = OrderedDict()

    def add(self, session_id: str) -> None:
        self._sessions[session_id] = None
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MAX_RECENTLY_VIEWED:
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
                    continue  # it was deleted in the meantime, or the directory cannot be read
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
