"""The socket through which an agent uses the desktop: who may use it, and what it refuses without a desktop."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from sandbox_agent.desktop.desktop import Desktop
from sandbox_agent.desktop.tools import TOOLS, DesktopTools, scaling
from sandbox_agent.processes.processes import Processes
from sandbox_agent.runtime.desktop_tools import DesktopSocket
from sandbox_agent.schema.desktop import LOOKING_TOOLS
from sandbox_agent.schema.world import REAL


async def answers(folder: Path, *requests: bytes) -> list[bytes]:
    """What each line gets, on a socket for a desktop that is not started."""
    spawn = asyncio.ensure_future
    processes = Processes(folder / "processes", "test", spawn)
    desktop = Desktop(processes, folder / "desktop", lambda: folder, spawn, REAL)
    socket = DesktopSocket(DesktopTools(desktop))
    server = await socket.open("test")
    place = Path(server.args[-1])
    try:
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        tools = json.loads((place / "tools.json").read_bytes())
        assert {tool["name"] for tool in tools if tool["annotations"]["readOnlyHint"]} == LOOKING_TOOLS
        secret = (place / "secret").read_bytes()
        found = []
        for request in requests:
            reader, writer = await asyncio.open_unix_connection(str(place / "socket"))
            writer.write(request.replace(b"SECRET", secret) + b"\n")
            found.append(await asyncio.wait_for(reader.read(), 20))
            writer.close()
            await writer.wait_closed()
    finally:
        socket.close()
    assert not place.exists()
    return found


@pytest.mark.parametrize(
    "line", [b"", b"nonsense", b'{"secret":"wrong","tool":"wait"}', b"[" * 5000, b"\xff"]
)
def test_an_unknown_caller_gets_no_answer(tmp_path: Path, line: bytes) -> None:
    assert asyncio.run(answers(tmp_path, line)) == [b""]


def test_a_call_with_wrong_arguments_fails_before_anything_is_started(tmp_path: Path) -> None:
    calls: list[tuple[str, Any]] = [
        ("fly", {}),
        ("click", {"x": 1}),
        ("click", {"x": -1, "y": 1}),
        ("type", {"text": ""}),
        ("wait", {"seconds": 1e9}),
        ("key", [1]),
    ]
    lines = [
        json.dumps({"secret": "SECRET", "tool": tool, "arguments": given}).encode() for tool, given in calls
    ]
    outcomes = [json.loads(answer) for answer in asyncio.run(answers(tmp_path, *lines))]
    assert [outcome["failed"] for outcome in outcomes] == [True] * len(calls)
    assert "no tool `fly`" in outcomes[0]["output"]
    assert all("arguments are wrong" in outcome["output"] for outcome in outcomes[1:])
    assert TOOLS.keys() > LOOKING_TOOLS


@pytest.mark.parametrize(
    ("width", "height"), [(640, 480), (1280, 800), (1920, 1200), (4096, 64), (4096, 4096)]
)
def test_a_place_in_the_picture_is_the_same_place_on_the_screen(width: int, height: int) -> None:
    view = scaling(width, height)
    assert max(view.to_picture(width), view.to_picture(height)) <= 1568
    assert view.to_picture(width) * view.to_picture(height) <= 1.16e6
    for x, y in ((0, 0), (width // 2, height // 3), (width - 1, height - 1)):
        there = view.to_screen(x * view.factor, y * view.factor)
        assert there == (x, y)
