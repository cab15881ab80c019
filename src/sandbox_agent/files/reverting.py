"""Reverting files to their state when the session started, and undoing that.

Everything that will be overwritten or removed is stored in a tree first, and the tree's name is on disk: whatever happens midway,
`undo` restores everything.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from ..errors import Conflict, InvalidRequest, PreconditionFailed
from .below import below, put_link, remove_link
from .draft import Draft
from .entries import etag
from .problems import naming_path
from .roots import Place, Roots
from .snapshot import ABSENT, GITLINK, LINK, NO_VERSION, Change, Snapshot, Version, write_whole

MAX_KEPT = 50
"""How many reverts can be undone."""


class Kept(Struct, frozen=True):
    """A revert that can be undone: the folder before it, and the files that were reverted."""

    tree: str
    paths: list[str]


def revert(
    roots: Roots, snapshot: Snapshot, paths: Sequence[str] | None, etags: Mapping[str, str]
) -> list[str]:
    """Revert these files, or all that have changed. All or nothing."""
    with snapshot.looking(keep=True) as now:
        changed = {change.path: change for change in snapshot.changes(now, diffs=False)}
    wanted = list(dict.fromkeys(paths)) if paths is not None else list(changed)
    for path in wanted:
        if path not in changed:
            raise InvalidRequest(f"{path} has not changed", field="paths", path=path)
        _check(snapshot, changed[path], path in now.large, etags.get(path))
    if not wanted:
        return []
    tags = {path: _current_etag(snapshot, path) for path in wanted}
    with snapshot.looking() as again:
        # So that the tags match what is stored.
        if again.tree != now.tree:
            raise PreconditionFailed("the directory has just changed")
    _keep(snapshot, [*kept(snapshot), Kept(now.tree, wanted)])
    _give_back(roots, snapshot, {path: changed[path].old for path in wanted}, tags)
    return wanted


def undo(roots: Roots, snapshot: Snapshot) -> list[str]:
    """Undo the last revert. Refused if one of its files matches neither the state before nor after the revert."""
    reverts = kept(snapshot)
    if not reverts:
        raise Conflict("there is nothing to undo")
    last = reverts[-1]
    with snapshot.looking() as looked:
        now = snapshot.versions(looked.tree, looked.git)
    before = snapshot.versions(last.tree)
    base = snapshot.versions(snapshot.base.tree)
    for path in last.paths:
        known = [versions.get(path, NO_VERSION) for versions in (base, before)]
        if now.get(path, NO_VERSION) not in known:
            raise PreconditionFailed(f"{path} has changed since", path=path)
    _give_back(roots, snapshot, {path: before.get(path, NO_VERSION) for path in last.paths}, {})
    _keep(snapshot, reverts[:-1])
    return last.paths


def kept(snapshot: Snapshot) -> list[Kept]:
    try:
        return msgspec.json.decode((snapshot.folder / "kept.json").read_bytes(), type=list[Kept])
    except FileNotFoundError:
        return []


def _keep(snapshot: Snapshot, reverts: list[Kept]) -> None:
    write_whole(snapshot.folder / "kept.json", reverts[-MAX_KEPT:])


def size_and_etag(path: str) -> tuple[int | None, str]:
    """The tag of a file as it is now; of a link itself."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None, ABSENT
    return status.st_size, etag(status)


def _current_etag(snapshot: Snapshot, path: str) -> str:
    return size_and_etag(os.path.join(snapshot.base.directory, path))[1]


def _check(snapshot: Snapshot, change: Change, is_large: bool, seen: str | None) -> None:
    if is_large or change.path in snapshot.base.large:
        raise Conflict(f"{change.path} is too large to be stored", path=change.path)
    if GITLINK in (change.old.mode, change.new.mode):
        raise Conflict(f"{change.path} is a nested repository", path=change.path)
    current = _current_etag(snapshot, change.path)
    if seen is not None and seen != current:
        raise PreconditionFailed(f"{change.path} has changed", path=change.path, etag=current)


# -- writing --------------------------------------------------------------------------------------


def _give_back(
    roots: Roots, snapshot: Snapshot, versions: Mapping[str, Version], tags: Mapping[str, str]
) -> None:
    """Write these versions, after removing the paths without one: a file may replace a folder."""
    directory = snapshot.base.directory
    start = roots.open_folder(directory)
    try:
        for path, version in sorted(versions.items(), key=lambda item: item[1].exists):
            with naming_path(os.path.join(directory, path)):
                if path in tags and _current_etag(snapshot, path) != tags[path]:
                    raise PreconditionFailed(f"{path} has just changed", path=path)
                if version.exists:
                    _write(roots, snapshot, start, path, version)
                else:
                    _remove(roots, start, path)
    finally:
        os.close(start)


def _write(roots: Roots, snapshot: Snapshot, start: int, path: str, version: Version) -> None:
    *parts, name = path.split("/")
    git = snapshot.git()
    with below(roots, start, path, parts) as place:
        place.name = name
        if version.mode == LINK:
            put_link(place, os.fsdecode(git.run("cat-file", "blob", version.blob)))
            return
        remove_link(place)
        draft = Draft(roots, place)
        try:
            git.write(draft.file, "cat-file", "blob", version.blob)
            draft.commit(mode=_mode(place, draft, version))
        finally:
            draft.close()


def _mode(place: Place, draft: Draft, version: Version) -> int:
    """git stores only whether a file is executable; the other permissions are kept."""
    try:
        mode = stat.S_IMODE(place.status().st_mode)
    except FileNotFoundError:
        mode = stat.S_IMODE(os.fstat(draft.file).st_mode)
    return mode | (mode & 0o444) >> 2 if version.mode == "100755" else mode & ~0o111


def _remove(roots: Roots, start: int, path: str) -> None:
    """Remove a file, and folders that become empty."""
    parts = path.split("/")
    try:
        with below(roots, start, path, parts[:-1], make=False) as place:
            os.unlink(parts[-1], dir_fd=place.folder)
    except FileNotFoundError:
        return
    for end in range(len(parts) - 1, 0, -1):
        with below(roots, start, path, parts[: end - 1], make=False) as place:
            try:
                os.rmdir(parts[end - 1], dir_fd=place.folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                return
