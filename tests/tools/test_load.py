"""The load and what it measures: a short run loses nothing, and growth is distinguished from noise."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tools.load import growth
from tools.load.plot import line_chart
from tools.load.readers import Reader

CHECKOUT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.slow
def test_a_short_load_loses_nothing() -> None:
    """`make load` has 100 sessions and 1,000 readers."""
    size = ("--sessions", "5", "--readers", "25", "--seconds", "1")
    command = [sys.executable, "-m", "tools.load", *size]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=110)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "**events lost, duplicated or out of order** | **0** |" in ran.stdout


def frame(id: int, delta: str) -> bytes:
    return b'id: %d\ndata: {"type":"item.delta","delta":"%b"}\n\n' % (id, delta.encode())


def test_a_reader_notices_what_is_missing_doubled_or_out_of_order() -> None:
    async def read(*ids: int) -> list[str]:
        reader = Reader(0, "s", "steady", "seed")
        for id in ids:
            reader.take(frame(id, f"{id}@0.5 "))
        assert len(reader.late) == len(ids)
        return reader.wrong

    assert asyncio.run(read(1, 2, 3)) == []
    assert asyncio.run(read(1, 3)) == ["s: [3]... came after 1"]
    assert asyncio.run(read(1, 1)) == ["s: [1]... came after 1"]
    assert asyncio.run(read(2)) == ["s: [2]... came after 0"]


@pytest.mark.slow
def test_growth_is_measured_on_a_real_daemon(tmp_path: Path) -> None:
    found = asyncio.run(growth.measure(tmp_path, [200, 1000], rounds=2))
    assert found.keys() == {200, 1000}
    assert all(value > 0 for figures in found.values() for value in figures.values())
    assert found[1000]["log on disk (MiB)"] > found[200]["log on disk (MiB)"]


def test_growth_is_distinguished_from_flat_figures() -> None:
    small = {"flat": 5.0, "noise": 0.5, "grows": 5.0, "log on disk (MiB)": 1.0}
    large = {"flat": 9.0, "noise": 1.4, "grows": 50.0, "log on disk (MiB)": 900.0}
    assert growth.grown({1000: small, 5000: large}) == ["grows"]


def test_a_chart_has_a_line_and_a_name_for_every_series() -> None:
    series = {"one & two": [1.0, 2.0, 1.5], "other": [100.0, 100.0, 100.0]}
    chart = ET.fromstring(line_chart([1000, 10_000, 5_000_000], series, "events", "ms"))
    lines = [line.attrib["points"].split() for line in chart.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [3, 3]
    assert len({point.split(",")[1] for point in lines[1]}) == 1  # what is flat is flat
    words = {text.text for text in chart.iter(f"{SVG}text")}
    assert {"one & two", "other", "1 k", "10 k", "5 M", "events", "ms"} <= words
