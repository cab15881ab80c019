"""A real desktop for tests: what it needs, a program to use on it, and looking at its pictures."""

from __future__ import annotations

import functools
import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_agent.desktop import requirements

FORM = Path(__file__).with_name("desktop_form.py")
RED = (255, 0, 0)
DEADLINE = 30.0


def require_desktop() -> None:
    """Skip if the programs are missing, with a warning; fail in CI."""
    absent = [*requirements.missing(), *([] if _python() else ["a Python with tkinter"])]
    if absent:
        why = f"NO {', '.join(absent)} ON THIS MACHINE: the desktop is not tested"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)


@functools.cache
def _python() -> str | None:
    for program in (sys.executable, "/usr/bin/python3", shutil.which("python3") or "python3"):
        try:
            done = subprocess.run([program, "-c", "import tkinter"], capture_output=True, timeout=30)
        except OSError:
            continue
        if done.returncode == 0:
            return program
    return None


def form(state: Path) -> dict[str, Any]:
    """The request that launches the form."""
    return {"app": _python(), "args": [str(FORM), str(state)], "wait": True}


def wait_for_form(state: Path, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the form has written this."""
    until = time.monotonic() + DEADLINE
    found: dict[str, Any] = {}
    while time.monotonic() < until:
        if state.exists():
            found = json.loads(state.read_text())
            if is_so(found):
                return found
        time.sleep(0.02)
    raise AssertionError(f"the form says {found}")


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def pixels_of(picture: bytes) -> bytes:
    """Three bytes for each pixel, decoded by another program than ours."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return subprocess.run(command, input=picture, capture_output=True, check=True, timeout=60).stdout


def find(png: bytes, colour: tuple[int, int, int]) -> tuple[int, int]:
    """The middle of what has this colour."""
    width, _ = size_of(png)
    pixels = pixels_of(png)
    wanted = bytes(colour)
    found = [at // 3 for at in range(0, len(pixels), 3) if pixels[at : at + 3] == wanted]
    assert found, f"nothing has the colour {colour}"
    xs, ys = [place % width for place in found], [place // width for place in found]
    return (min(xs) + max(xs)) // 2, (min(ys) + max(ys)) // 2
