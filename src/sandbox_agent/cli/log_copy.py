"""`log copy`: moves a log between SQLite and PostgreSQL while no daemon uses it."""

from __future__ import annotations

import argparse
import contextlib
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..errors import InvalidRequest, SandboxAgentError
from ..runtime.folder import DataFolder, FolderUnusable, name_of
from ..runtime.moved_files import FilesToFolder, FilesToStore
from ..store.base import ImpossibleChange, StoreCorrupt, StoreTooNew
from ..store.copyable import CopyableStore
from ..store.copying import Copied, Copy, CopyDiffers
from ..store.opening import (
    LOG_NAME,
    POSTGRES,
    Keys,
    address_of,
    open_postgres,
    open_sqlite,
    sqlite_path,
)
from ..store.shared import Fenced, LogWentBack, NameTaken, OutcomeUnknown, SharedStore
from .failures import CommandFailed, WrongUsage
from .output import can_draw, console, print_json, say, wants_json

if TYPE_CHECKING:
    from ..store.postgres import PostgresStore

LEASE_SECONDS = 15.0

_REFUSALS = (FolderUnusable, StoreCorrupt, StoreTooNew, ImpossibleChange, Fenced, LogWentBack, NameTaken)

Tell = Callable[[int, int], None]


def copy(args: argparse.Namespace) -> int:
    try:
        copied = _copied(args)
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None
    except OutcomeUnknown as error:
        raise CommandFailed(f"the connection broke: {error}; run the command again to continue") from None
    except SandboxAgentError as error:
        raise CommandFailed(error.detail) from None
    except _REFUSALS as error:
        raise CommandFailed(str(error)) from None
    _show(copied, args)
    return 0


def _copied(args: argparse.Namespace) -> Copied:
    source, target = address_of(args.source), address_of(args.target)
    if source.startswith(POSTGRES) == target.startswith(POSTGRES):
        raise WrongUsage(
            "one of the two logs must be in PostgreSQL and the other in SQLite: copy a data directory as files, "
            "and a database with pg_dump"
        )
    with _progress(is_shown=sys.stderr.isatty() and can_draw() and not wants_json(args)) as tell:
        to = _to_postgres if target.startswith(POSTGRES) else _to_sqlite
        return to(source, target, args, tell)


def _to_postgres(source: str, target: str, args: argparse.Namespace, tell: Tell) -> Copied:
    name = _node_name(args)
    with _sqlite_log(source, args, must_exist=True) as (log, data_dir), _postgres_log(target, args) as store:
        ours = name_of(data_dir)
        _require_alone(store, ours)
        store.join(name, ours, LEASE_SECONDS, __version__)
        try:
            _require_finished(log)
            copy = Copy(log, store, FilesToStore(data_dir, store), name, tell)
            copy.require_prefix()
            _claim_all(store)
            copied = copy.run(source)
            _require_alone(store, ours)
            store.mark_copy(None)
        finally:
            with contextlib.suppress(SandboxAgentError):  # the lease ends by itself
                store.leave()
    return copied


def _to_sqlite(source: str, target: str, args: argparse.Namespace, tell: Tell) -> Copied:
    with _postgres_log(source, args) as store, _sqlite_log(target, args) as (log, data_dir):
        ours = name_of(data_dir)
        before = _require_alone(store, ours)
        _require_finished(store)
        copy = Copy(store, log, FilesToFolder(store, data_dir), "", tell)
        copy.require_prefix()
        copied = copy.run("a log in PostgreSQL")
        if _require_alone(store, ours) != before:
            raise CopyDiffers("a daemon has used the source while it was copied: copy again")
        log.mark_copy(None)
    return copied


def _require_finished(source: CopyableStore) -> None:
    if unfinished := source.copied_from():
        raise CommandFailed(f"the source is an unfinished copy of {unfinished}: finish that copy first")


# -- the two logs -------------------------------------------------------------------------------


@contextlib.contextmanager
def _sqlite_log(
    url: str, args: argparse.Namespace, *, must_exist: bool = False
) -> Iterator[tuple[CopyableStore, Path]]:
    """The log and its data directory, which no daemon uses during the copy."""
    path = sqlite_path(url)
    if path.is_dir():
        path /= LOG_NAME
    if must_exist and not path.is_file():
        raise WrongUsage(f"there is no log at {path}")
    given = getattr(args, "data_dir", None)
    folder = DataFolder(Path(given).expanduser().absolute() if given else path.parent)
    with contextlib.closing(folder):
        from ..store.sqlite.connection import require_unused

        require_unused(path)
        with contextlib.closing(open_sqlite(path)) as store:
            yield store, folder.path


@contextlib.contextmanager
def _postgres_log(url: str, args: argparse.Namespace) -> Iterator[PostgresStore]:
    with contextlib.closing(open_postgres(url, Keys(args.secrets_key_file))) as store:
        yield store


def _require_alone(store: SharedStore, ours: str) -> list[int]:
    """Refuse if a daemon uses the log. One that used this data directory is gone: we hold its lock."""
    nodes = store.nodes()
    others = [node for node in nodes if not node.is_fenced and node.folder != ours]
    # A node that is only paused must not write when it wakes up.
    live = [node for node in others if not store.fence(node.incarnation)]
    if live:
        names = ", ".join(node.name for node in live)
        raise CommandFailed(
            f"a daemon uses the log in PostgreSQL (node {names}, seen at {live[0].seen_at}): stop it first"
        )
    return [node.incarnation for node in nodes]


def _claim_all(store: SharedStore) -> None:
    """An earlier try of this copy may have created sessions, perhaps under another name."""
    before: int | None = None
    while page := store.sessions(before, 1000):
        store.claim((record.session_id for _, record in page), moves=True)
        before = page[-1][0]


def _node_name(args: argparse.Namespace) -> str:
    name = args.node_name or re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:64]
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name):
        raise WrongUsage(
            f"--node-name {name}: expected 1 to 64 letters, digits, dots, dashes and underscores"
        )
    return str(name)


# -- output -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _progress(*, is_shown: bool) -> Iterator[Tell]:
    if not is_shown:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("events"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bars:
        task = bars.add_task("events", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _show(copied: Copied, args: argparse.Namespace) -> None:
    if wants_json(args):
        print_json(copied)
        return
    say(
        f"copied and verified {len(copied.sessions)} sessions with {copied.events} events and {copied.files} files, "
        f"{copied.turns} turns of the ledger, {copied.tombstones} deleted sessions"
    )
    if len(copied.homes) > 1:
        homes = ", ".join(f"{name} ({count})" for name, count in sorted(copied.homes.items()))
        say(f"workspaces and conversations are still on the machines of their nodes: {homes}")
