"""What sessions have changed in their directories, and how to revert it.

A session's snapshot is stored with its attachments, in the folder that its record names, and is deleted with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from ..agents.diffs import changed_lines
from ..errors import Conflict, Unavailable
from ..files import reverting
from ..files.entries import readable
from ..files.git import GitFailed
from ..files.snapshot import Change, Snapshot
from ..files.work import Files
from ..schema.changes import ChangedFile, ChangeList, Reverted
from ..schema.items import FileRef, Item
from ..store.base import SessionRecord
from .attachments import Attachments
from .locks import Locks
from .log import Log

PAGE_EVENTS = 500
PAGE_BYTES = 4 << 20
MAX_REPORTED_BYTES = 8 << 20


class SessionChanges:
    def __init__(self, attachments: Attachments, files: Files, log: Log) -> None:
        self._attachments = attachments
        self._files = files
        self._log = log
        self._locks = Locks()

    async def begin(self, folder: str, directory: str) -> None:
        """Take a snapshot of the directory for a new session, before its agent receives anything."""
        await self._files.run(self._snapshot(folder).take, directory, self._files.roots.vault.paths)

    async def discard(self, folder: str) -> None:
        """The session was not created."""
        await self._files.run(self._snapshot(folder).remove)

    async def show(self, record: SessionRecord) -> ChangeList:
        snapshot = self._snapshot(record.folder)
        directory = record.settings.directory
        # The file roots apply here too.
        os.close(await self._files.run(self._files.roots.open_folder, directory))
        if not snapshot.exists:
            return await self._changes_from_events(record, snapshot.notice)
        async with self._locks.hold(record.folder):
            try:
                return await self._files.run(_compared, snapshot)
            except GitFailed as error:
                raise Unavailable(str(error), retryAfter=5) from None

    async def revert(
        self, record: SessionRecord, paths: Sequence[str] | None, etags: Mapping[str, str]
    ) -> Reverted:
        snapshot = self._required(record)
        async with self._locks.hold(record.folder):
            try:
                done = await self._files.run(reverting.revert, self._files.roots, snapshot, paths, etags)
            except GitFailed as error:
                raise Unavailable(str(error), retryAfter=5) from None
        return Reverted(done)

    async def undo(self, record: SessionRecord) -> Reverted:
        snapshot = self._required(record)
        async with self._locks.hold(record.folder):
            try:
                done = await self._files.run(reverting.undo, self._files.roots, snapshot)
            except GitFailed as error:
                raise Unavailable(str(error), retryAfter=5) from None
        return Reverted(done)

    def _snapshot(self, folder: str) -> Snapshot:
        return Snapshot(self._attachments.folder(folder) / "snapshot")

    def _required(self, record: SessionRecord) -> Snapshot:
        snapshot = self._snapshot(record.folder)
        if not snapshot.exists:
            why = snapshot.notice or "the directory is in no git repository"
            raise Conflict(f"there is no snapshot to revert to: {why}", sessionId=record.session_id)
        return snapshot

    # -- without a snapshot -------------------------------------------------------------------

    async def _changes_from_events(self, record: SessionRecord, notice: str | None) -> ChangeList:
        """The changes that the agent reported: all patches of each file, concatenated."""
        patches: dict[str, list[str]] = {}
        after = size = 0
        while size < MAX_REPORTED_BYTES:
            page = partial(self._log.store.read, record.session_id, after, PAGE_EVENTS, PAGE_BYTES)
            rows = await self._log.look_up(page)
            if not rows:
                break
            after = rows[-1].sequence
            for row in rows:
                if b'"file_ref"' in row.body and b'"item.completed"' in row.body:
                    for part in msgspec.json.decode(row.body, type=_Completed).data.item.content:
                        if isinstance(part, FileRef) and part.diff is not None and part.action != "read":
                            patches.setdefault(part.to or part.path, []).append(part.diff)
                            size += len(part.diff)
        files = [
            _changed_file(record.settings.directory, path, "".join(texts)) for path, texts in patches.items()
        ]
        return _summed(record.settings.directory, "events", files, notice=notice)


class _Data(msgspec.Struct):
    item: Item


class _Completed(msgspec.Struct):
    """A stored `item.completed` event."""

    data: _Data


def _changed_file(directory: str, path: str, diff: str) -> ChangedFile:
    added, deleted = changed_lines(diff)
    is_new = "\n--- /dev/null" in f"\n{diff}"
    full = os.path.join(directory, path)
    size, etag = reverting.size_and_etag(full)
    status: Literal["added", "modified", "deleted"] = (
        "deleted" if size is None else "added" if is_new else "modified"
    )
    return ChangedFile(os.path.relpath(full, directory), status, etag, size, added, deleted, diff)


def _compared(snapshot: Snapshot) -> ChangeList:
    with snapshot.looking() as now:
        found = snapshot.changes(now, diffs=True)
    files = [_shown(snapshot.base.directory, change) for change in found]
    return _summed(
        snapshot.base.directory,
        "snapshot",
        files,
        can_undo=bool(reverting.kept(snapshot)),
        commit=snapshot.base.commit,
    )


def _shown(directory: str, change: Change) -> ChangedFile:
    size, etag = reverting.size_and_etag(os.path.join(directory, change.path))
    return ChangedFile(
        readable(change.path), change.status, etag, size, change.additions, change.deletions, change.diff
    )


def _summed(
    directory: str,
    source: Literal["snapshot", "events"],
    files: list[ChangedFile],
    *,
    can_undo: bool = False,
    commit: str | None = None,
    notice: str | None = None,
) -> ChangeList:
    additions = sum(file.additions or 0 for file in files)
    deletions = sum(file.deletions or 0 for file in files)
    return ChangeList(directory, source, files, additions, deletions, can_undo, commit, notice)
