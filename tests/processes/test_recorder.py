"""The output recorder: a full disk loses nothing, and a flood does not delay others."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from tests.daemons import PAUSE, SECONDS

from sandbox_agent.processes.recorder import BURST, RATE, READ_BYTES, REFILL, Recorder, Source
from sandbox_agent.schema.processes import LogStream


class Kept:
    """Takes everything, as long as there is room."""

    is_followed = True

    def __init__(self) -> None:
        self.data = bytearray()
        self.has_room = True
        self.refused = 0
        self.news = asyncio.Event()

    def take(self, stream: LogStream, data: bytes, *, is_rest: bool) -> int:
        if not self.has_room:
            self.refused += 1
            raise OSError("the disk is full")
        self.data += data
        return len(data)

    def notify(self) -> None:
        self.news.set()


@pytest.fixture
def run() -> Callable[[Callable[[Recorder], Coroutine[Any, Any, None]]], None]:
    def run(body: Callable[[Recorder], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            recorder = Recorder(asyncio.get_running_loop())
            try:
                await asyncio.wait_for(body(recorder), SECONDS)
            finally:
                recorder.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())

    return run


Run = Callable[[Callable[[Recorder], Coroutine[Any, Any, None]]], None]


def piped(recorder: Recorder, sink: Kept) -> tuple[int, asyncio.Event]:
    """The end to write to, and what is set when all was read."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    ended = asyncio.Event()

    def end() -> None:
        os.close(reader)
        ended.set()

    recorder.add(Source(reader, "stdout", sink, end))
    return writer, ended


def test_all_output_arrives_before_the_end(run: Run) -> None:
    async def body(recorder: Recorder) -> None:
        sink = Kept()
        writer, ended = piped(recorder, sink)
        await asyncio.to_thread(lambda: [os.write(writer, b"%06d\n" % number) for number in range(20_000)])
        os.close(writer)
        await ended.wait()
        assert bytes(sink.data) == b"".join(b"%06d\n" % number for number in range(20_000))

    run(body)


def test_a_full_disk_makes_the_process_wait_and_loses_nothing(run: Run) -> None:
    async def body(recorder: Recorder) -> None:
        sink = Kept()
        sink.has_room = False
        writer, ended = piped(recorder, sink)
        writing = asyncio.get_running_loop().create_task(
            asyncio.to_thread(lambda: [os.write(writer, b"x" * 1000) for _ in range(500)])
        )
        while sink.refused < 2:
            await asyncio.sleep(PAUSE)
        assert not writing.done()
        sink.has_room = True
        await writing
        os.close(writer)
        await ended.wait()
        assert len(sink.data) == 500_000

    run(body)


def test_a_flood_is_slowed_down_and_others_are_not(run: Run) -> None:
    async def body(recorder: Recorder) -> None:
        flood, quiet = Kept(), Kept()
        flooding, flood_ended = piped(recorder, flood)
        writer, ended = piped(recorder, quiet)
        size = RATE // 4
        began = time.monotonic()
        pouring = asyncio.get_running_loop().create_task(
            asyncio.to_thread(lambda: [os.write(flooding, bytes(65536)) for _ in range(size // 65536)])
        )
        while not pouring.done():
            quiet.news.clear()
            os.write(writer, b"x")
            await quiet.news.wait()
        os.close(flooding)
        os.close(writer)
        await flood_ended.wait()
        await ended.wait()
        assert len(flood.data) == size
        assert time.monotonic() - began > 0.2
        assert len(quiet.data) > 10

    run(body)


def test_many_floods_share_one_rate(run: Run) -> None:
    async def body(recorder: Recorder) -> None:
        sinks = [Kept() for _ in range(16)]
        pipes = [piped(recorder, sink) for sink in sinks]
        began = time.monotonic()
        floods = [subprocess.Popen(["yes"], stdout=writer) for writer, _ in pipes]
        await asyncio.sleep(0.5)
        written = sum(len(sink.data) for sink in sinks)
        took = time.monotonic() - began
        for flood in floods:
            flood.kill()
            flood.wait()
        for writer, ended in pipes:
            os.close(writer)
            await ended.wait()
        assert written < took * (RATE + 16 * REFILL) + 16 * (BURST + READ_BYTES)

    run(body)


def test_a_source_that_is_held_open_can_be_finished(run: Run) -> None:
    async def body(recorder: Recorder) -> None:
        sink = Kept()
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        ended = asyncio.Event()
        source = Source(reader, "stdout", sink, ended.set)
        recorder.add(source)
        os.write(writer, b"last words")
        recorder.finish(source)
        await ended.wait()
        assert bytes(sink.data) == b"last words"
        os.close(reader)
        os.close(writer)

    run(body)
