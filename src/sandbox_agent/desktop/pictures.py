"""Pictures of the screen: PNG is made here, everything else by ffmpeg."""

from __future__ import annotations

import asyncio
import struct
import zlib
from pathlib import Path

from msgspec import Struct

from ..errors import Conflict, DesktopRuntimeFailed, InvalidRequest, Unavailable
from ..processes.processes import Processes
from ..processes.program import ProgramSpec
from ..schema.desktop import PictureFormat
from .x_connection import XConnection

CONVERT_MS = 30_000
BAND_ROWS = 128
LEVEL = 3
"""Screens are flat: a higher level takes longer and saves little."""
MAX_AT_ONCE = 2


class Frame(Struct, frozen=True):
    """Four bytes for each pixel: blue, green, red and an unused one."""

    width: int
    height: int
    pixels: bytes


class Region(Struct, frozen=True):
    x: int
    y: int
    width: int
    height: int


class Pictures:
    """`folder` holds the files that ffmpeg reads and writes."""

    def __init__(self, x: XConnection, processes: Processes, folder: Path) -> None:
        self._x = x
        self._processes = processes
        self._folder = folder
        self._turn = asyncio.Semaphore(MAX_AT_ONCE)
        """Limits the frames in memory, each of which takes tens of megabytes."""
        self._count = 0

    async def take(
        self,
        place: tuple[int, int, int, int],
        format: PictureFormat = "png",
        *,
        quality: int = 85,
        scale: float = 1.0,
        cursor: bool = False,
    ) -> bytes:
        """A part of the screen: its left and top edge, width and height."""
        region = Region(*place)
        async with self._turn:
            pixels = await self._x.image(region.x, region.y, region.width, region.height)
            if cursor:
                pixels = _with_cursor(pixels, region, *await self._x.cursor())
            frame = Frame(region.width, region.height, pixels)
            if format == "png" and scale == 1:
                return await asyncio.to_thread(png, frame)
            return await self._convert(frame, format, quality, scale)

    async def _convert(self, frame: Frame, format: PictureFormat, quality: int, scale: float) -> bytes:
        self._count += 1
        source = self._folder / f"frame-{self._count}"
        target = self._folder / f"picture-{self._count}.{format}"
        width, height = max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
        argv = ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "bgr0"]
        argv += ["-video_size", f"{frame.width}x{frame.height}", "-i", str(source)]
        argv += ["-vf", f"scale={width}:{height}:flags=area", *_encoder(format, quality), "-frames:v", "1"]
        try:
            await asyncio.to_thread(source.write_bytes, frame.pixels)
            done = await self._processes.run(
                ProgramSpec((*argv, str(target)), {}, None, takes_input=False), CONVERT_MS, None
            )
            if done.exit_code != 0:
                raise DesktopRuntimeFailed(f"ffmpeg could not create the image: {done.stderr[-500:].strip()}")
            return await asyncio.to_thread(target.read_bytes)
        except OSError as error:
            raise DesktopRuntimeFailed(f"the image could not be created: {error.strerror}") from error
        except (Conflict, InvalidRequest, Unavailable) as error:
            raise DesktopRuntimeFailed(f"ffmpeg cannot be run: {error.detail}") from error
        finally:
            for path in (source, target):
                path.unlink(missing_ok=True)


def _encoder(format: PictureFormat, quality: int) -> tuple[str, ...]:
    match format:
        case "png":
            return ("-pix_fmt", "rgb24", "-c:v", "png")
        case "jpeg":
            # ffmpeg counts from 2 (best) to 31.
            return ("-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", str(round(31 - quality * 29 / 100)))
        case "webp":
            return ("-c:v", "libwebp", "-quality", str(quality))


def png(frame: Frame) -> bytes:
    packing = zlib.compressobj(LEVEL)
    band = BAND_ROWS * frame.width * 4
    packed = [packing.compress(_rows(frame, start, band)) for start in range(0, len(frame.pixels), band)]
    header = struct.pack(">IIBBBBB", frame.width, frame.height, 8, 2, 0, 0, 0)
    content = b"".join([*packed, packing.flush()])
    chunks = ((b"IHDR", header), (b"IDAT", content), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _rows(frame: Frame, start: int, length: int) -> bytes:
    """A band of the picture, as PNG wants it: red, green and blue, and each row begins with the number of its filter (0 is none)."""
    pixels = frame.pixels[start : start + length]
    colours = bytearray(len(pixels) // 4 * 3)
    colours[0::3], colours[1::3], colours[2::3] = pixels[2::4], pixels[1::4], pixels[0::4]
    row = frame.width * 3
    return b"".join(b"\0" + colours[place : place + row] for place in range(0, len(colours), row))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _with_cursor(
    pixels: bytes, region: Region, left: int, top: int, width: int, height: int, cursor: bytes
) -> bytes:
    """Draw the cursor, whose colours are already multiplied by their alpha."""
    drawn = bytearray(pixels)
    for y in range(max(top, region.y), min(top + height, region.y + region.height)):
        for x in range(max(left, region.x), min(left + width, region.x + region.width)):
            at = ((y - top) * width + x - left) * 4
            through = 255 - cursor[at + 3]
            to = ((y - region.y) * region.width + x - region.x) * 4
            for channel in range(3):
                drawn[to + channel] = min(255, cursor[at + channel] + drawn[to + channel] * through // 255)
    return bytes(drawn)
