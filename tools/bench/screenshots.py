"""A picture of the desktop through our daemon, compared with `import` of ImageMagick on the same display.

Two of our commits are compared in the same way.
"""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from sandbox_agent.desktop import requirements

from .daemons import Ours, Running, running
from .measures import Bench, measure
from .processes import cpu_seconds
from .report import Metric

IDLE_SECONDS = 5.0


@measure("screenshot")
def screenshot(bench: Bench) -> list[Metric]:
    """From the request to the last byte, with a window open; then the CPU time of the daemon while nobody asks for anything."""
    ours = [daemon for daemon in bench.daemons if isinstance(daemon, Ours)]
    absent = [*requirements.missing(), *([] if shutil.which("import") else ["import (ImageMagick)"])]
    if not ours or absent:
        print(f"screenshot: not measured without {', '.join(absent) or 'our daemon'}", file=sys.stderr)
        return []
    rival = " (peer: `import`)" if len(ours) == 1 else ""
    metric = Metric("screenshot", f"screenshot as PNG{rival}", "ms", 1.5)
    idle = Metric("desktop_idle", "CPU time of the daemon per second of an idle desktop", "ms")
    with ExitStack() as stack:
        places = [stack.enter_context(running(daemon, bench.folder)) for daemon in ours]
        environ = {place.daemon.side: _start(place) for place in places}
        for place in places:
            before = cpu_seconds([place.process.pid])
            time.sleep(IDLE_SECONDS)
            used = cpu_seconds([place.process.pid]) - before
            idle.values[place.daemon.side].append(used / IDLE_SECONDS * 1e3)
        for _ in range(bench.rounds):
            for place in places:
                metric.values[place.daemon.side].append(_take(place) * 1e3)
            if len(ours) == 1:
                metric.values["peer"].append(_import(environ[ours[0].side]) * 1e3)
    return [metric, idle]


def _start(place: Running) -> Mapping[str, str]:
    """A desktop with a window. Returns how other programs reach it."""
    place.ask("POST", "/v1/desktop/start", {})
    place.ask("POST", "/v1/desktop/launch", {"app": "display", "args": ["rose:"], "wait": True})
    status = msgspec.json.decode(_get(place, "/v1/desktop/status"))
    (server,) = (process["pid"] for process in status["processes"] if process["name"] == "Xvfb")
    words = Path(f"/proc/{server}/cmdline").read_text().split("\0")
    authority = words[words.index("-auth") + 1]
    return {**os.environ, "DISPLAY": status["display"], "XAUTHORITY": authority}


def _take(place: Running) -> float:
    began = time.monotonic()
    _get(place, "/v1/desktop/screenshot")
    return time.monotonic() - began


def _get(place: Running, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


def _import(environ: Mapping[str, str]) -> float:
    began = time.monotonic()
    subprocess.run(
        ["import", "-window", "root", "png:-"], env=environ, check=True, capture_output=True, timeout=60
    )
    return time.monotonic() - began
