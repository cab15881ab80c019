"""The output of a process on a real disk: complete entries, in order, as many as fit."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sandbox_agent.processes.output_log import STREAMS, Held, OutputLog, Place
from sandbox_agent.schema.processes import LogStream


def everything(log: OutputLog, after: int = 0, page: int = 1) -> list[tuple[int, bytes]]:
    place, found = Place(after), []
    while entries := log.read(place, page):
        found += [(entry.sequence, entry.data) for entry in entries]
        place = entries[-1].place
    return found


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 1 << 20)
    written = [(number, b"%d" % number * number) for number in range(1, 500)]
    for _, data in written:
        assert log.append("stdout", data) == len(data)
    assert everything(log) == written
    assert everything(OutputLog.found(tmp_path)) == written


@pytest.mark.parametrize("after", [0, 1, 57, 498, 499, 1000])
def test_reading_continues_after_any_entry(tmp_path: Path, after: int) -> None:
    log = OutputLog(tmp_path, 1 << 20)
    for number in range(1, 500):
        log.append("stdout", b"x" * 3000)
        assert log.last == number
    kept = everything(log)
    assert everything(log, after) == [entry for entry in kept if entry[0] > after]


def test_the_oldest_entries_are_dropped_and_numbers_stay(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 100_000)
    for number in range(1, 1001):
        log.append("stdout", b"%04d" % number * 250)
    kept = everything(log)
    assert kept[-1] == (1000, b"1000" * 250)
    assert [number for number, _ in kept] == list(range(kept[0][0], 1001))
    assert 80_000 < sum(path.stat().st_size for path in tmp_path.iterdir()) <= 100_000


def test_large_output_is_split_into_entries(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 10_000)
    log.append("stdout", bytes(range(256)) * 400)
    kept = b"".join(data for _, data in everything(log))
    assert (bytes(range(256)) * 400).endswith(kept)
    assert len(kept) > 5_000


def test_the_tail_covers_only_the_requested_streams(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 1 << 20)
    for number in range(1, 101):
        log.append("stderr" if number % 10 == 0 else "stdout", b"x" * 5000)
    errors: tuple[LogStream, ...] = ("stderr",)
    assert log.before_tail(3, errors, 0) == 79
    assert log.before_tail(3, STREAMS, 0) == 97
    assert log.before_tail(3, errors, 95) == 95
    assert log.before_tail(0, errors, 0) == 100
    assert log.before_tail(1000, errors, 0) == 0


def test_unread_output_is_held(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 16_000, holds=True)
    for _ in range(15):
        log.append("stdout", b"x" * 1000)
    with pytest.raises(Held):
        log.append("stdout", b"x" * 1000)
    assert len(everything(log)) == 15
    log.given = log.last
    assert log.append("stdout", b"more") == 4
    log.given = 0
    log.append("stdout", b"the rest of all" * 2000, is_rest=True)
    assert everything(log)[-1][0] == log.last


def test_a_truncated_entry_is_ignored(tmp_path: Path) -> None:
    log = OutputLog(tmp_path, 1 << 20)
    log.append("stdout", b"whole")
    log.append("stdout", b"cut off")
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    assert everything(OutputLog.found(tmp_path)) == [(1, b"whole")]


def test_a_reader_finds_every_entry_that_it_knows_of(tmp_path: Path) -> None:
    """The reader is another thread, so it may look between any two lines of an append."""
    log = OutputLog(tmp_path, 3_000)
    missed = []

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        last = log.last
        if frame.f_code.co_name == "_append" and last and not log.read(Place(last - 1), 1):
            missed.append(last)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        for _ in range(9):
            log.append("stdout", b"x" * 300)
    finally:
        sys.settrace(before)
    assert missed == []
