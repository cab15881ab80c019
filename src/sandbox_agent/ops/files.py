"""Files of the daemon's machine: read, write, list, move, search and watch them, inside the daemon's roots."""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec
from msgspec import Meta

from ..errors import (
    InvalidRequest,
    PayloadTooLarge,
    PermissionDenied,
    PreconditionFailed,
    RangeNotSatisfiable,
    SessionNotFound,
    Unavailable,
)
from ..files import entries, moving, packing, reading, removal
from ..files.condition import Condition
from ..files.roots import absolute
from ..files.searching import Job
from ..files.upload import Upload
from ..files.watch import Lost, Watch
from ..runtime.daemon import Daemon
from ..runtime.pings import PING_SECONDS
from ..schema.files import (
    EntryPage,
    FileAction,
    FileEntry,
    FileMoved,
    FileStat,
    FileWritten,
    SearchResult,
    Unpacked,
)
from .operation import BYTES, Download, Incoming, OnNode, Stream, operation
from .sessions import SessionId

DEFAULT_PAGE = 1000
WRITE_BYTES = 256 << 10
"""How much of a body to collect before a thread writes it."""

ANY = (InvalidRequest, PermissionDenied, SessionNotFound, Unavailable)
"""Errors that any path can cause."""

Path = Annotated[
    str,
    Meta(
        description="Absolute path, or relative to the session's directory (without a session: to the daemon user's home)."
    ),
]
OptionalPath = Annotated[
    str | None, Meta(description="Directory (default: the one that relative paths start from).")
]
OfSession = Annotated[
    SessionId | None, Meta(description="Session whose directory relative paths start from.")
]


class ListEntries(OnNode, frozen=True, rename="camel"):
    path: OptionalPath = None
    session_id: OfSession = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None,
        Meta(description="Entries per page. Without it, the response is a list of all entries."),
    ] = None
    cursor: Annotated[str | None, Meta(description="`nextCursor` of the previous page.")] = None


class OnePath(OnNode, frozen=True, rename="camel"):
    path: Path
    session_id: OfSession = None


class ReadFile(OnNode, frozen=True, rename="camel"):
    path: Path
    session_id: OfSession = None
    range: Annotated[str | None, Meta(description="Part of the file, e.g. `bytes=0-99`.")] = None
    if_none_match: Annotated[str | None, Meta(description="Return 304 if the file still has this tag.")] = (
        None
    )
    if_range: Annotated[str | None, Meta(description="Use `Range` only if the file still has this tag.")] = (
        None
    )


class WriteFile(OnNode, frozen=True, rename="camel"):
    path: Path
    content: Annotated[
        Incoming, Meta(description="Content of the file; on the command line, the path of a local file.")
    ]
    session_id: OfSession = None
    if_match: Annotated[
        str | None,
        Meta(description="Write only if the file still has this tag; `*` writes only if the file exists."),
    ] = None
    if_none_match: Annotated[
        str | None,
        Meta(
            description="`*` writes only if there is no such file; a tag, only if the file no longer has it."
        ),
    ] = None


class DeleteEntry(OnNode, frozen=True, rename="camel"):
    path: Path
    session_id: OfSession = None
    recursive: Annotated[bool, Meta(description="Also delete a directory that is not empty.")] = False


class MoveEntry(OnNode, frozen=True, rename={"source": "from", "target": "to", "session_id": "sessionId"}):
    source: Annotated[str, Meta(description="Path to move.")]
    target: Annotated[str, Meta(description="New path. Missing directories are created.")]
    overwrite: Annotated[bool | None, Meta(description="Replace an existing target.")] = None
    session_id: OfSession = None


class UploadBatch(OnNode, frozen=True, rename="camel"):
    content: Annotated[
        Incoming, Meta(description="A tar archive; on the command line, the path of a local file.")
    ]
    path: Annotated[
        str | None, Meta(description="Directory to unpack into; created if it does not exist.")
    ] = None
    session_id: OfSession = None


class DownloadFolder(OnNode, frozen=True, rename="camel"):
    path: OptionalPath = None
    session_id: OfSession = None
    format: Annotated[packing.Format, Meta(description="Format of the archive.")] = "tar"


class Search(OnNode, frozen=True, rename="camel"):
    path: OptionalPath = None
    session_id: OfSession = None
    glob: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Names to match, as in .gitignore: `*.py` at any depth, `src/**/test_*`."),
    ] = None
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Text to find; every line that contains it is a match."),
    ] = None
    regex: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1000)] | None,
        Meta(description="Python regular expression to find, instead of `text`."),
    ] = None
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = False
    ignored: Annotated[bool, Meta(description="Include files ignored by .gitignore.")] = False
    limit: Annotated[int, Meta(ge=1, le=10_000, description="Maximum number of matches to return.")] = 200
    timeout_ms: Annotated[int, Meta(ge=100, le=60_000, description="Time limit in milliseconds.")] = 10_000


class WatchFolder(OnNode, frozen=True, rename="camel"):
    path: OptionalPath = None
    session_id: OfSession = None


async def _path(daemon: Daemon, session_id: str | None, given: str | None) -> str:
    """The absolute path of a request."""
    if session_id is None:
        return absolute(os.path.expanduser("~"), given)
    record = (await daemon.sessions.show(session_id)).view.record
    return absolute(record.settings.directory, given)


async def _entry(daemon: Daemon, session_id: str | None, given: str) -> str:
    """The path of an entry that may be deleted or moved, not of the directory that relative paths start from."""
    if not given.strip("./"):
        raise InvalidRequest(f"`{given}` does not name an entry of a directory", field="path")
    return await _path(daemon, session_id, given)


# -- reading --------------------------------------------------------------------------------------


@operation(
    "GET",
    "/v1/fs/entries",
    *ANY,
    name="fs.entries",
    examples=("sandbox-agent fs entries /srv/project", "sandbox-agent fs entries --session-id demo src"),
    words=("path",),
)
async def list_entries(daemon: Daemon, request: ListEntries) -> list[FileEntry] | EntryPage:
    """List a directory, sorted by name: all entries as a list, or pages with `limit`."""
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    if request.limit is None and request.cursor is None:
        return await files.run(entries.list_entries, files.roots, path)
    limit = request.limit or DEFAULT_PAGE
    return await files.run(entries.page_of_entries, files.roots, path, limit, request.cursor)


@operation("GET", "/v1/fs/stat", *ANY, name="fs.stat", words=("path",))
async def show(daemon: Daemon, request: OnePath) -> FileStat:
    """Show the type, size and times of a path."""
    path = await _path(daemon, request.session_id, request.path)
    return await daemon.files.run(entries.show, daemon.files.roots, path)


@operation(
    "GET",
    "/v1/fs/file",
    *ANY,
    RangeNotSatisfiable,
    name="fs.read",
    examples=(
        "sandbox-agent fs read --session-id demo README.md",
        "sandbox-agent fs read core.bin --range bytes=0-1023 --output head.bin",
    ),
    words=("path",),
    headers={"range": "Range", "if_none_match": "If-None-Match", "if_range": "If-Range"},
)
async def read(daemon: Daemon, request: ReadFile) -> Download:
    """Read a file or a range of it."""
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    file = await files.run(reading.open_file, files.roots, path)
    name = path.rpartition("/")[2]
    tagged = (("etag", file.etag), ("accept-ranges", "bytes"), ("cache-control", "private, no-cache"))
    if request.if_none_match and _names_tag(request.if_none_match, file.etag):
        return Download(BYTES, name, files.pieces(iter(())), headers=tagged, status=304)
    is_current = request.if_range is None or request.if_range == file.etag
    part = reading.range_of(request.range, file.size) if is_current else None
    if part is None:
        return Download(BYTES, name, files.pieces(file.pieces(0, file.size)), file.size, tagged)
    shown = f"bytes {part.start}-{part.start + part.length - 1}/{file.size}"
    pieces = files.pieces(file.pieces(part.start, part.length))
    return Download(BYTES, name, pieces, part.length, (*tagged, ("content-range", shown)), status=206)


def _names_tag(header: str, etag: str) -> bool:
    tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return "*" in tags or etag in tags


@operation(
    "GET",
    "/v1/fs/download",
    *ANY,
    name="fs.download",
    examples=(
        "sandbox-agent fs download /srv/project | tar x",
        "sandbox-agent fs download --session-id demo src --format zip --output src.zip",
    ),
    words=("path",),
)
async def download(daemon: Daemon, request: DownloadFolder) -> Download:
    """Download a directory as an archive, packed while it is sent.

    Links are packed as links. Sockets, pipes, devices, files that the daemon cannot read and the daemon's own files are
    left out.
    """
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    pieces = await files.run(packing.pack, files.roots, path, request.format)
    name = f"{path.rstrip('/').rpartition('/')[2] or 'root'}.{request.format}"
    return Download(packing.MEDIA[request.format], name, files.pieces(pieces))


@operation(
    "GET",
    "/v1/fs/search",
    *ANY,
    name="fs.search",
    examples=(
        "sandbox-agent fs search --session-id demo --glob '*.py' --text import",
        "sandbox-agent fs search /srv/project --regex 'def test_\\w+'",
    ),
    words=("path",),
)
async def search(daemon: Daemon, request: Search) -> SearchResult:
    """Search names and contents below a directory. `truncated` means that there may be more matches.

    Binary files, and files beyond their first 64 MiB, are not searched.
    """
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    folder = await files.run(files.roots.open_folder, path)
    job = Job(
        folder,
        path,
        files.roots.vault.paths,
        request.timeout_ms / 1000,
        request.limit,
        request.glob,
        request.text,
        request.regex,
        request.ignore_case,
        request.ignored,
    )
    return await files.searches.run(job)


@operation(
    "GET",
    "/v1/fs/watch",
    *ANY,
    name="fs.watch",
    examples=("sandbox-agent fs watch --session-id demo",),
    words=("path",),
)
async def watch(daemon: Daemon, request: WatchFolder) -> Stream:
    """Stream changes below a directory, starting now.

    Each frame is a change: `path`, `change` (`created`, `modified`, `deleted`) and `entryType`. A frame named `lost` means
    that changes are missing, because there were too many at once or there are too many directories: read the directory
    again.
    """
    path = await _path(daemon, request.session_id, request.path)
    watched = await daemon.files.run(Watch, daemon.files.roots, path)
    return Stream(_frames(daemon, watched))


async def _frames(daemon: Daemon, watched: Watch) -> AsyncGenerator[bytes | None, None]:
    async for change in watched.changes(daemon.files.run, PING_SECONDS):
        match change:
            case None:
                yield None
            case Lost():
                yield b"event: lost\ndata: {}\n\n"
            case _:
                yield b"data: %b\n\n" % msgspec.json.encode(change)


# -- writing -------------------------------------------------------------------------------------


@operation(
    "PUT",
    "/v1/fs/file",
    *ANY,
    PreconditionFailed,
    PayloadTooLarge,
    name="fs.write",
    examples=(
        "sandbox-agent fs write /srv/project/notes.md notes.md",
        "date | sandbox-agent fs write --session-id demo now.txt -",
    ),
    words=("path",),
    body="stream",
    headers={"if_match": "If-Match", "if_none_match": "If-None-Match"},
)
async def write(daemon: Daemon, request: WriteFile) -> FileWritten:
    """Write a file atomically. Creates missing directories, follows links and keeps the mode."""
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    condition = Condition(request.if_match, request.if_none_match)
    upload = await files.run(Upload, files.roots, path, condition)
    try:
        async for piece in _gathered(request.content):
            await files.run(upload.write, piece)
        etag = await files.run(upload.commit)
        return FileWritten(path, upload.written, etag)
    finally:
        await files.run(upload.close)


async def _gathered(content: Incoming) -> AsyncGenerator[bytes, None]:
    """Collect a body into larger pieces, because each piece is written by a thread."""
    gathered = bytearray()
    async for piece in content.pieces:
        gathered += piece
        if len(gathered) >= WRITE_BYTES:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


@operation("DELETE", "/v1/fs/entry", *ANY, name="fs.delete", words=("path",))
async def delete(daemon: Daemon, request: DeleteEntry) -> FileAction:
    """Delete a file, a link (not its target) or a directory."""
    path = await _entry(daemon, request.session_id, request.path)
    files = daemon.files
    remove = functools.partial(removal.remove, recursive=request.recursive, check=files.check)
    await files.run(remove, files.roots, path)
    return FileAction(path)


@operation("POST", "/v1/fs/mkdir", *ANY, name="fs.mkdir", words=("path",), body="none")
async def make_folder(daemon: Daemon, request: OnePath) -> FileAction:
    """Create a directory and its parents. It may already exist."""
    path = await _path(daemon, request.session_id, request.path)
    await daemon.files.run(moving.make_folder, daemon.files.roots, path)
    return FileAction(path)


@operation("POST", "/v1/fs/move", *ANY, name="fs.move", words=("source", "target"))
async def move(daemon: Daemon, request: MoveEntry) -> FileMoved:
    """Move a file, a link (not its target) or a directory within a file system."""
    source = await _entry(daemon, request.session_id, request.source)
    target = await _entry(daemon, request.session_id, request.target)
    files = daemon.files
    moved = functools.partial(moving.move, overwrite=bool(request.overwrite), check=files.check)
    await files.run(moved, files.roots, source, target)
    return FileMoved(source, target)


@operation(
    "POST",
    "/v1/fs/upload-batch",
    *ANY,
    PayloadTooLarge,
    name="fs.upload_batch",
    examples=("tar c src | sandbox-agent fs upload-batch - /srv/project",),
    words=("path",),
    body="stream",
    media_type="application/x-tar",
)
async def upload_batch(daemon: Daemon, request: UploadBatch) -> Unpacked:
    """Upload a tar archive and unpack it into a directory.

    An archive with anything outside the directory is refused before anything is written: `..`, absolute names, links that
    point outside, names that pass through a link, devices.
    """
    from ..files.unpacking import unpack

    if not request.content.media_type.startswith("application/x-tar"):
        raise InvalidRequest("send a tar archive with `Content-Type: application/x-tar`", field="content")
    path = await _path(daemon, request.session_id, request.path)
    files = daemon.files
    # Refuse an invalid target before the archive is sent.
    with await files.run(files.roots.place, path):
        pass
    spool = await files.run(files.spool)
    try:
        async for piece in _gathered(request.content):
            await files.run(spool.write, piece)
        return await files.run(
            unpack, files.roots, path, spool.file, daemon.config.max_upload_bytes, files.check
        )
    finally:
        await files.run(spool.close)
