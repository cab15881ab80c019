"""A large file through our daemon, compared with the same file through a plain uvicorn application.

Two of our commits are compared in the same way.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from .daemons import Ours, Side, Unusable, running
from .measures import Bench, measure
from .report import Metric

START_SECONDS = 20.0
READ_BYTES = 1 << 20


@measure("download")
def download(bench: Bench) -> list[Metric]:
    """From the request to the last byte, of a file that is in the system's cache."""
    ours = [daemon for daemon in bench.daemons if isinstance(daemon, Ours)]
    if not ours:
        return []
    size = 64 << 20 if bench.quick else 1 << 30
    rival = " (peer: plain uvicorn)" if len(ours) == 1 else ""
    metric = Metric("download", f"download of {size >> 20} MiB{rival}", "ms", 2.0)
    file = bench.folder / "large"
    with file.open("wb") as content:
        for _ in range(size // READ_BYTES):
            content.write(bytes(READ_BYTES))
    with ExitStack() as stack:
        places: dict[Side, tuple[int, str]] = {}
        if len(ours) == 1:
            places["peer"] = (stack.enter_context(_plain_uvicorn(file)), "/")
        for daemon in ours:
            target = stack.enter_context(running(daemon, bench.folder))
            places[daemon.side] = (target.port, f"/v1/fs/file?path={quote(str(file))}")
        for port, path in places.values():
            _fetch(port, path, size)
        for _ in range(bench.rounds):
            for side, (port, path) in places.items():
                metric.values[side].append(_fetch(port, path, size) * 1e3)
    file.unlink()
    return [metric]


def _fetch(port: int, path: str, size: int) -> float:
    """The seconds that it took. By hand, because a client's own work would hide that of the server."""
    buffer = bytearray(READ_BYTES)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        began = time.monotonic()
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        count = 0
        while received := connection.recv_into(buffer):
            count += received
        seconds = time.monotonic() - began
    if count < size:
        raise Unusable(f"{path} has {count} bytes of {size}")
    return seconds


PLAIN = """
import asyncio, os, sys, uvicorn

async def app(scope, receive, send):
    with open(sys.argv[2], "rb") as file:
        length = str(os.fstat(file.fileno()).st_size).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        while piece := await asyncio.to_thread(file.read, 64 << 10):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

uvicorn.run(app, fd=int(sys.argv[1]), log_level="error", lifespan="off", loop="uvloop", http="httptools")
"""


@contextmanager
def _plain_uvicorn(file: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = subprocess.Popen(
            [sys.executable, "-c", PLAIN, str(listening.fileno()), str(file)],
            pass_fds=(listening.fileno(),),
        )
        try:
            yield listening.getsockname()[1]
        finally:
            server.kill()
            server.wait(START_SECONDS)
