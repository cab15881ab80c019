"""The carrier: keeps the agents' own conversations in the shared store, so that another machine can resume a session.

After each turn it stores what the agent has added to its files. Before a conversation is resumed on a machine that lacks it, the carrier
brings it there, whole or not at all. A manifest says what is stored and up to which event of the log: what the agent wrote later is lost
with its disk, and the resume is refused if the log has a finished turn that the stored conversation lacks.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from msgspec import Struct

from ..agents.base import KeptByProgram, KeptFiles
from ..errors import Conflict, SandboxAgentError
from ..processes.guarded import GONE_SECONDS, Guarded
from ..schema.events import StopReason
from ..store.shared import PART_BYTES, Fenced, SharedStore
from .carried import CarriedConversation

logger = logging.getLogger("sandbox_agent.carrier")

MAX_BYTES = 64 << 20
SETTLE_SECONDS = 1.0
"""Agents may still write to their files after they have reported the end of a turn."""
PROGRAM_SECONDS = 60.0
MANIFEST = "manifest"
EXPORT = "export"
PAGE_EVENTS = 500
PAGE_BYTES = 4 << 20

FINISHED: frozenset[StopReason] = frozenset({"end_turn", "max_tokens", "refusal", "limit"})

_encode = msgspec.json.Encoder().encode


class StoredPart(Struct, frozen=True):
    """A file of a conversation."""

    path: str
    """Below the agent's folder; `export` for what its program printed."""
    size: int
    sha256: str
    name: str
    """Its name in the store. What cannot be appended gets a new name, so that a manifest never names half a file."""


class Manifest(Struct, frozen=True):
    native_id: str
    disk: str
    """The data directory of the machine that has it, and may have more of it."""
    sequence: int
    """The last event of the log before it was read."""
    files: tuple[StoredPart, ...]


class TooLarge(Exception):
    """The conversation is too large to be carried."""


class _Turn(Struct):
    stop_reason: StopReason


class _Data(Struct):
    turn_id: str
    metadata: _Turn


class _Ended(Struct):
    """A stored `turn.ended` event."""

    type: str
    data: _Data


class Carrier:
    def __init__(self, store: SharedStore, disk: str, instance: str, spawn: Callable[..., object]) -> None:
        self._store = store
        self._disk = disk
        self._instance = instance
        self._spawn = spawn
        self._wanted: dict[str, tuple[CarriedConversation, int]] = {}
        self._working: dict[str, asyncio.Event] = {}
        """Sessions whose conversation is being stored."""
        self._finishing = asyncio.Event()
        self.on_left_out: Callable[[str, str], None] = lambda session_id, words: None
        """A session's conversation cannot be carried, and why."""
        self._left_out: set[str] = set()

    # -- storing ------------------------------------------------------------------------------

    def keep(self, conversation: CarriedConversation, sequence: int) -> None:
        """A turn has ended with this event: store what the agent has added."""
        session_id = conversation.session_id
        self._wanted[session_id] = (conversation, sequence)
        if session_id not in self._working:
            self._working[session_id] = asyncio.Event()
            self._spawn(self._work(session_id))

    async def finish(self, seconds: float) -> None:
        """Store what is not stored yet, before the daemon stops."""
        self._finishing.set()
        done = [asyncio.ensure_future(event.wait()) for event in self._working.values()]
        if done:
            _, late = await asyncio.wait(done, timeout=seconds)
            for each in late:
                each.cancel()

    async def _work(self, session_id: str) -> None:
        try:
            while (wanted := self._wanted.pop(session_id, None)) is not None:
                conversation, sequence = wanted
                if isinstance(conversation.kept, KeptFiles):
                    await self._try(conversation, sequence)
                try:
                    await asyncio.wait_for(self._finishing.wait(), SETTLE_SECONDS)
                except TimeoutError:
                    pass
                if session_id not in self._wanted:
                    await self._try(conversation, sequence)
        finally:
            self._working.pop(session_id).set()

    async def _try(self, conversation: CarriedConversation, sequence: int) -> None:
        try:
            await self._keep(conversation, sequence)
        except TooLarge as error:
            if conversation.session_id not in self._left_out:
                self._left_out.add(conversation.session_id)
                self.on_left_out(conversation.session_id, str(error))
        except Fenced:
            pass  # another node runs the session
        except (SandboxAgentError, OSError) as error:
            logger.warning(
                "the conversation of session %s could not be stored in the log: %s",
                conversation.session_id,
                error,
            )

    async def _keep(self, conversation: CarriedConversation, sequence: int) -> None:
        kept = conversation.kept
        if isinstance(kept, KeptFiles):
            await asyncio.to_thread(lambda: self._put(conversation, sequence, dict(_files(kept))))
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, EXPORT)
            code = await self._run(kept.export, conversation, path)
            if code != 0:
                raise OSError(f"`{' '.join(kept.export[1:])}` ended with {code}")
            await asyncio.to_thread(lambda: self._put(conversation, sequence, {EXPORT: path}))

    def _put(self, conversation: CarriedConversation, sequence: int, paths: Mapping[str, Path]) -> None:
        if not paths:
            return
        session_id = conversation.session_id
        before = self._manifest(session_id)
        known = before.files if before is not None and before.native_id == conversation.native_id else ()
        by_path = {part.path: part for part in known}
        parts = tuple(
            self._put_file(session_id, name, path, by_path.get(name)) for name, path in sorted(paths.items())
        )
        manifest = Manifest(conversation.native_id, self._disk, sequence, parts)
        if manifest == before:
            return
        self._put_manifest(session_id, manifest)
        for part in before.files if before is not None else ():
            if part.name not in {each.name for each in parts}:
                self._store.put_file(session_id, "conversation", part.name, ())

    def _put_file(self, session_id: str, name: str, path: Path, known: StoredPart | None) -> StoredPart:
        with path.open("rb") as file:
            measured = _measure(file, known.size if known else 0, whole=name == EXPORT)
            if measured.size > MAX_BYTES:
                raise TooLarge(f"the agent's conversation is larger than {MAX_BYTES >> 20} MiB")
            grows = known is not None and measured.sha256_of_known == known.sha256
            if known is not None and grows and measured.size == known.size:
                return known
            stored_as = known.name if known is not None and grows else secrets.token_hex(8)
            first_part = known.size // PART_BYTES if known is not None and grows else 0
            parts = _parts(file, first_part * PART_BYTES, measured.size)
            self._store.put_file(session_id, "conversation", stored_as, parts, first_part=first_part)
        return StoredPart(name, measured.size, measured.sha256, stored_as)

    def _put_manifest(self, session_id: str, manifest: Manifest) -> None:
        self._store.put_file(session_id, "conversation", MANIFEST, [_encode(manifest)])

    def _manifest(self, session_id: str) -> Manifest | None:
        body = b"".join(self._store.get_file(session_id, "conversation", MANIFEST))
        return msgspec.json.decode(body, type=Manifest) if body else None

    # -- bringing -----------------------------------------------------------------------------

    async def bring(self, conversation: CarriedConversation, *, even_if_older: bool = False) -> None:
        """Make sure that the agent can resume. Raises `Conflict` if the log knows more than the stored conversation."""
        manifest = await asyncio.to_thread(self._manifest, conversation.session_id)
        # Without one, the agent itself reports whether it has the conversation.
        if manifest is None or manifest.native_id != conversation.native_id:
            return
        if await asyncio.to_thread(self._is_here, conversation, manifest):
            return
        if not even_if_older:
            await asyncio.to_thread(self._require_newest, conversation.session_id, manifest)
        await self._bring(conversation, manifest)
        moved = msgspec.structs.replace(manifest, disk=self._disk)
        await asyncio.to_thread(self._put_manifest, conversation.session_id, moved)
        logger.info("restored the conversation of session %s on this machine", conversation.session_id)

    def _is_here(self, conversation: CarriedConversation, manifest: Manifest) -> bool:
        """This disk wrote it last, or has all that is stored and more, as a shared home directory does."""
        kept = conversation.kept
        if isinstance(kept, KeptByProgram):
            return manifest.disk == self._disk
        here = dict(_files(kept))
        if manifest.disk == self._disk:
            return bool(here)
        return all(part.path in here and _is_longer(here[part.path], part) for part in manifest.files)

    def _require_newest(self, session_id: str, manifest: Manifest) -> None:
        after, turn_id = manifest.sequence, None
        while rows := self._store.read(session_id, after, PAGE_EVENTS, PAGE_BYTES):
            after = rows[-1].sequence
            for row in rows:
                if b'"turn.ended"' in row.body and (turn := _finished(row.body)) is not None:
                    turn_id = turn
        if turn_id is not None:
            raise Conflict(
                "the stored conversation lacks the last turn",
                sessionId=session_id,
                carriedTo=manifest.sequence,
                lastTurn=turn_id,
            )

    async def _bring(self, conversation: CarriedConversation, manifest: Manifest) -> None:
        kept, session_id = conversation.kept, conversation.session_id
        if isinstance(kept, KeptFiles):
            await asyncio.to_thread(self._write_files, session_id, kept.root, manifest.files)
            return
        with tempfile.TemporaryDirectory() as folder:
            await asyncio.to_thread(self._write_files, session_id, Path(folder), manifest.files)
            code = await self._run([*kept.import_, f"{folder}/{EXPORT}"], conversation, Path(os.devnull))
        if code != 0:
            raise Conflict(
                f"`{' '.join(kept.import_[1:])}` exited with {code} for the stored conversation",
                sessionId=session_id,
            )

    def _write_files(self, session_id: str, root: Path, parts: Sequence[StoredPart]) -> None:
        for part in parts:
            path = root / part.path
            if ".." in path.parts or not path.is_relative_to(root):
                raise Conflict(f"{part.path} is not a valid path for a conversation", sessionId=session_id)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            try:
                with open(partial, "xb", opener=_private) as file:
                    digest = self._copy(session_id, part, file)
                    os.fsync(file.fileno())
                if digest != part.sha256:
                    raise Conflict("the stored conversation is damaged", sessionId=session_id)
                partial.rename(path)
            finally:
                partial.unlink(missing_ok=True)

    def _copy(self, session_id: str, part: StoredPart, file: BinaryIO) -> str:
        """It may be longer in the store than its manifest says, if storing more of it was interrupted."""
        digest, left = hashlib.sha256(), part.size
        for content in self._store.get_file(session_id, "conversation", part.name):
            file.write(content[:left])
            digest.update(content[:left])
            left -= min(left, len(content))
        return digest.hexdigest()

    async def _run(self, argv: list[str], conversation: CarriedConversation, output: Path) -> int | None:
        gone = asyncio.Event()
        guarded = Guarded(self._instance, gone.set)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        printed = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            guarded.start(argv, conversation.environ, conversation.directory, nothing, printed, nothing)
        finally:
            os.close(nothing)
            os.close(printed)
        try:
            await asyncio.wait_for(gone.wait(), PROGRAM_SECONDS)
        except TimeoutError:
            raise OSError(f"`{' '.join(argv[1:])}` took longer than {PROGRAM_SECONDS:g} s") from None
        finally:
            if not guarded.is_gone:
                guarded.stop(at_once=True)
                await asyncio.wait_for(gone.wait(), GONE_SECONDS)
            guarded.reap()
        return guarded.returncode


class _Measured(NamedTuple):
    size: int
    """Up to the end of the last whole line."""
    sha256: str
    sha256_of_known: str
    """Of as many bytes as were stored before."""


def _measure(file: BinaryIO, known: int, *, whole: bool) -> _Measured:
    digest, of_known = hashlib.sha256(), hashlib.sha256()
    size = read = 0
    rest = b""
    while chunk := file.read(PART_BYTES):
        of_known.update(chunk[: max(0, known - read)])
        read += len(chunk)
        if read > MAX_BYTES:
            return _Measured(read, "", "")
        end = len(chunk) if whole else chunk.rfind(b"\n") + 1
        if end:
            digest.update(rest + chunk[:end])
            size, rest = read - len(chunk) + end, chunk[end:]
        else:
            rest += chunk
    return _Measured(size, digest.hexdigest(), of_known.hexdigest())


def _parts(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    file.seek(start)
    while start < end and (content := file.read(min(PART_BYTES, end - start))):
        yield content
        start += len(content)


def _files(kept: KeptFiles) -> Iterable[tuple[str, Path]]:
    for path in kept.root.glob(kept.pattern):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(kept.root)), path


def _is_longer(path: Path, part: StoredPart) -> bool:
    with path.open("rb") as file:
        measured = _measure(file, part.size, whole=False)
    return measured.size > part.size and measured.sha256_of_known == part.sha256


def _finished(body: bytes) -> str | None:
    """The turn, if this event is the end of a turn that the agent has finished."""
    try:
        event = msgspec.json.decode(body, type=_Ended)
    except msgspec.ValidationError:
        return None  # the words are part of some text
    is_finished = event.type == "turn.ended" and event.data.metadata.stop_reason in FINISHED
    return event.data.turn_id if is_finished else None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
