"""Recordings of the screen, made by ffmpeg.

A recording is written in fragments that can each be played, so one that was cut short, even by `kill -9`, plays up to that point.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from ..errors import Conflict, DesktopRuntimeFailed, NotFound, Unavailable
from ..private_files import write_private
from ..processes.process import Process
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..schema.desktop import RecordingInfo, RecordingStatus
from ..schema.world import World
from .display import Display

logger = logging.getLogger("sandbox_agent.desktop")

MAX_RECORDINGS = 100
MAX_BYTES = 2 << 30
STOP_SECONDS = 10.0
BEGIN_SECONDS = 30.0
POLL_SECONDS = 0.02
PIECE_BYTES = 256 << 10
HEAD_BYTES = 8 << 10
ENCODERS = ("libx264", "libopenh264", "mpeg4")
"""Not every distribution has the first."""


class Record(Struct, frozen=True, omit_defaults=True):
    """What is stored beside the video."""

    number: int
    started_at: str
    status: RecordingStatus = "recording"
    ended_at: str | None = None
    process_id: str | None = None

    @property
    def id(self) -> str:
        return f"rec_{self.number}"


class Recordings:
    def __init__(self, folder: Path, processes: Processes, world: World) -> None:
        self._folder = folder
        self._processes = processes
        self._world = world
        self._records: dict[str, Record] | None = None
        self._last_number = 0
        self._active: tuple[Record, Process] | None = None
        self._changing = asyncio.Lock()
        self._encoder: str | None = None

    # -- looking ------------------------------------------------------------------------------

    async def list(self) -> tuple[RecordingInfo, ...]:
        await self._settle()
        return tuple([self._info(record) for record in (await self._loaded()).values()])

    async def get(self, id: str) -> RecordingInfo:
        await self._settle()
        return self._info(await self._find(id))

    async def open(self, id: str) -> tuple[int, AsyncGenerator[bytes, None]]:
        """The size of a finished recording, and its content."""
        await self._settle()
        record = await self._find(id)
        if record.status == "recording":
            raise Conflict(f"recording {id} is not finished: stop it first", id=id)
        try:
            file = await asyncio.to_thread(self._video(record).open, "rb")
        except OSError as error:
            raise NotFound(f"the file of recording {id} is gone", id=id, resource="recording") from error
        size = self._info(record).bytes

        async def pieces() -> AsyncGenerator[bytes, None]:
            with file:
                while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                    yield piece

        return size, pieces()

    async def _find(self, id: str) -> Record:
        record = (await self._loaded()).get(id)
        if record is None:
            raise NotFound(f"no recording {id[:40]}", id=id[:40], resource="recording")
        return record

    def _info(self, record: Record) -> RecordingInfo:
        video = self._video(record)
        size = 0
        with contextlib.suppress(OSError):
            size = video.stat().st_size
        return RecordingInfo(
            record.id, video.name, record.status, size, record.started_at, record.ended_at, record.process_id
        )

    def _video(self, record: Record) -> Path:
        return self._folder / f"{record.id}.mp4"

    # -- changing -----------------------------------------------------------------------------

    async def start(self, display: Display, fps: int) -> RecordingInfo:
        await self._settle()
        async with self._changing:
            records = await self._loaded()
            if self._active is not None:
                raise Conflict(
                    f"recording {self._active[0].id} is still running: stop it first", id=self._active[0].id
                )
            if len(records) >= MAX_RECORDINGS:
                raise Conflict(
                    f"there are {MAX_RECORDINGS} recordings: delete some first", limit=MAX_RECORDINGS
                )
            self._last_number += 1
            record = Record(self._last_number, self._world.now())
            await self._save(record)
            try:
                process = await self._record(display, record, fps)
            except BaseException:
                await asyncio.to_thread(self._remove, record)
                raise
            record = structs.replace(record, process_id=process.id)
            records[record.id] = record
            self._active = (record, process)
            return self._info(record)

    async def _record(self, display: Display, record: Record, fps: int) -> Process:
        video = self._video(record)
        size = display.resolution
        argv = ["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-framerate", str(fps)]
        argv += ["-video_size", f"{size.width}x{size.height}", "-i", display.name]
        # Most players take only even sizes. A fragment begins with each second.
        argv += ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-c:v", await self._best_encoder()]
        argv += ["-preset", "ultrafast", "-tune", "zerolatency"] if argv[-1] == "libx264" else []
        argv += ["-pix_fmt", "yuv420p", "-g", str(fps)]
        argv += ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-flush_packets", "1"]
        argv += ["-fs", str(MAX_BYTES), str(video)]
        spec = ProgramSpec(argv, {**display.env, "AV_LOG_FORCE_NOCOLOR": "1"}, None, takes_input=False)
        process = await self._processes.create(spec, interactive=False, owner="desktop")
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                while not process.exited.is_set() and not self._info(record).bytes:
                    await asyncio.sleep(POLL_SECONDS)
        except BaseException as error:
            if process.program is not None:
                process.program.kill()
            if isinstance(error, TimeoutError):
                raise DesktopRuntimeFailed(f"ffmpeg did not begin in {BEGIN_SECONDS:g} s") from None
            raise
        if process.exited.is_set():
            raise DesktopRuntimeFailed(f"ffmpeg does not record; see the logs of process {process.id}")
        return process

    async def _best_encoder(self) -> str:
        if self._encoder is None:
            spec = ProgramSpec(("ffmpeg", "-v", "error", "-encoders"), {}, None, takes_input=False)
            known = (await self._processes.run(spec, None, None)).stdout.split()
            self._encoder = next((name for name in ENCODERS if name in known), ENCODERS[-1])
        return self._encoder

    async def stop(self) -> RecordingInfo:
        async with self._changing:
            if self._active is None:
                raise Conflict("nothing is being recorded")
            record, process = self._active
            if process.program is not None:
                process.program.terminate()
                try:
                    await asyncio.wait_for(process.exited.wait(), STOP_SECONDS)
                except TimeoutError:
                    await process.program.stop()
            return self._info(await self._finish(record))

    async def finish(self) -> None:
        """Stop the recording, if there is one."""
        if self._active is not None:
            await self.stop()

    async def _settle(self) -> None:
        """Close a recording whose ffmpeg has ended by itself."""
        async with self._changing:
            if self._active is not None and self._active[1].exited.is_set():
                await self._finish(self._active[0])

    async def _finish(self, record: Record) -> Record:
        self._active = None
        ended = await asyncio.to_thread(self._ended, record)
        assert self._records is not None
        self._records[record.id] = ended
        await self._save(ended)
        return ended

    def _ended(self, record: Record) -> Record:
        """A recording with a fragment is complete up to its end."""
        head = b""
        with contextlib.suppress(OSError), self._video(record).open("rb") as file:
            head = file.read(HEAD_BYTES)
        status: RecordingStatus = "completed" if b"moof" in head else "failed"
        return structs.replace(record, status=status, ended_at=self._world.now())

    async def delete(self, id: str) -> None:
        async with self._changing:
            record = await self._find(id)
            if self._active is not None and self._active[0].id == id:
                raise Conflict(f"recording {id} is not finished: stop it first", id=id)
            try:
                await asyncio.to_thread(self._remove, record)
            except OSError as error:
                raise Unavailable(f"it cannot be deleted: {error.strerror}", retryAfter=5) from error
            assert self._records is not None
            self._records.pop(id, None)

    # -- the disk -----------------------------------------------------------------------------

    async def _loaded(self) -> dict[str, Record]:
        if self._records is None:
            found = await asyncio.to_thread(self._load)
            if self._records is None:
                self._records = found
        return self._records

    def _load(self) -> dict[str, Record]:
        """All records. One that an earlier daemon did not finish ended with it."""
        found = []
        for path in self._folder.glob("rec_*.json"):
            try:
                record = msgspec.json.decode(path.read_bytes(), type=Record)
            except (OSError, msgspec.DecodeError) as error:
                logger.warning("%s is not the record of a recording: %s", path, error)
                continue
            found.append(self._ended(record) if record.status == "recording" else record)
        found.sort(key=lambda record: record.number)
        with contextlib.suppress(OSError, ValueError):
            self._last_number = int((self._folder / "last").read_text())
        self._last_number = max([self._last_number, *(record.number for record in found)])
        return {record.id: record for record in found}

    async def _save(self, record: Record) -> None:
        path = self._folder / f"{record.id}.json"
        try:
            await asyncio.to_thread(write_private, path, msgspec.json.encode(record), durable=True)
        except OSError as error:
            raise Unavailable(f"the record cannot be written: {error.strerror}", retryAfter=5) from error

    def _remove(self, record: Record) -> None:
        """Delete the files of a recording. Its number is not used again."""
        write_private(self._folder / "last", str(self._last_number).encode())
        for path in (self._folder / f"{record.id}.json", self._video(record)):
            path.unlink(missing_ok=True)
