"""Lines are the same, however the input is chunked."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from sandbox_agent.runtime.framing import LINE_LIMIT, LineSplitter, LineTooLong

LIMIT = 8
LINES = st.lists(st.binary(max_size=LIMIT + 4).map(lambda line: line.replace(b"\n", b".")), max_size=12)


def fed(chunks: list[bytes], limit: int = LIMIT) -> list[bytes | str]:
    """The lines that come out; a skipped line appears as its report."""
    splitter = LineSplitter(limit)
    out = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [str(line) if isinstance(line, LineTooLong) else line for line in out]


def expected(lines: list[bytes]) -> list[bytes | str]:
    too_long = f"a line is longer than {LIMIT} bytes"
    return [line if len(line) <= LIMIT else too_long for line in lines if line]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


@given(LINES, st.lists(st.integers(0, 200), max_size=20))
def test_any_pieces_give_the_same_lines(lines: list[bytes], places: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    assert fed(cut(stream, places)) == expected(lines)


@given(LINES)
def test_single_bytes_give_the_same_lines(lines: list[bytes]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    assert fed([stream[n : n + 1] for n in range(len(stream))]) == expected(lines)


@given(LINES, st.binary(min_size=1, max_size=LIMIT).filter(lambda line: b"\n" not in line))
def test_an_incomplete_line_waits(lines: list[bytes], unfinished: bytes) -> None:
    splitter = LineSplitter(LIMIT)
    splitter.feed(b"".join(line + b"\n" for line in lines) + unfinished)
    assert splitter.feed(b"\n") == [unfinished]


def test_a_line_of_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert fed([b"12345678\n", b"123456789\n", b"after\n"]) == [
        b"12345678",
        "a line is longer than 8 bytes",
        b"after",
    ]


def test_a_line_over_the_limit_is_reported_once() -> None:
    assert fed([b"first\n12345", b"6789", *[b"more" * 10] * 100, b"end\nafter\nnext"]) == [
        b"first",
        "a line is longer than 8 bytes",
        b"after",
    ]


def test_a_line_over_the_limit_is_reported_at_once() -> None:
    splitter = LineSplitter(LIMIT)
    assert [str(line) for line in splitter.feed(b"123456789")] == ["a line is longer than 8 bytes"]


def test_a_carriage_return_belongs_to_its_line() -> None:
    assert fed([b"a\r\n\rb\n"]) == [b"a\r", b"\rb"]


def test_lines_of_64_mebibytes_pass() -> None:
    piece = b"x" * (1 << 20)
    splitter = LineSplitter()
    assert [line for _ in range(64) for line in splitter.feed(piece)] == []
    [line] = splitter.feed(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == 64 << 20 < LINE_LIMIT
