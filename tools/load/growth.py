"""`python -m tools.load.growth`: measures the daemon with logs from a thousand to five million events.

Half of the events are in one long session, the rest in sessions of ten. Response times should not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx2

from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import AppendEvents, Change, EventRow, SaveSession, SessionRecord
from sandbox_agent.store.sqlite import SqliteStore
from tools.daemon import Daemon
from tools.page import fill, machine

from .plot import line_chart

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "contributing" / "reliability.mdx"
PLOT = CHECKOUT / "docs" / "images" / "growth.svg"
CACHE = CHECKOUT / ".cache" / "load"
STARTS = 9
"""On a busy machine, even the fastest of a few starts is slow."""
SIZES = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)
LONG = "long"
SHORT_EVENTS = 10
GROUP = 5_000
NOW = "2026-01-01T00:00:00.000Z"
FLAT = 2.0
"""How much more the largest log may cost than the smallest, plus a millisecond of noise."""


class Filler:
    """Writes events directly through the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settings = Settings("/", "build")
        self._position = 0
        self._long = 0
        self._sessions = 0

    def fill(self, events: int) -> None:
        store = SqliteStore(self._path, "normal")
        self._position = store.position()
        self._long = len_of_long(store)
        changes: list[Change] = []
        waiting = 0
        while self._position < events:
            changes += (
                self._short_session() if self._sessions * SHORT_EVENTS < self._long else self._more_of_long()
            )
            waiting += SHORT_EVENTS
            if waiting >= GROUP:
                store.write(changes)
                changes, waiting = [], 0
        store.write(changes)
        store.close()

    def _short_session(self) -> Iterator[Change]:
        self._sessions += 1
        name = f"short-{self._sessions}"
        yield SaveSession(SessionRecord(name, "mock", self._settings, NOW, NOW, event_count=SHORT_EVENTS))
        yield AppendEvents(name, [self._row(name, number) for number in range(1, SHORT_EVENTS + 1)])

    def _more_of_long(self) -> Iterator[Change]:
        first = self._long + 1
        self._long += SHORT_EVENTS
        yield SaveSession(SessionRecord(LONG, "mock", self._settings, NOW, NOW, event_count=self._long))
        yield AppendEvents(LONG, [self._row(LONG, number) for number in range(first, self._long + 1)])

    def _row(self, session: str, sequence: int) -> EventRow:
        """As long as a typical delta."""
        self._position += 1
        body = (
            f'{{"event_id":"evt_{self._position:020x}","sequence":{sequence},"time":"{NOW}","session_id":"{session}",'
            f'"native_session_id":null,"source":"agent","synthetic":false,"type":"item.delta","data":{{"item_id":"itm_'
            f'{sequence:020x}","native_item_id":null,"delta":"number {sequence}"}},"raw":null}}'
        ).encode()
        return EventRow(sequence, body, b'{"type":"text","delta":"number %d"}' % sequence)


def len_of_long(store: SqliteStore) -> int:
    record = store.session(LONG)
    return record.event_count if record is not None else 0


class Measures:
    """Response times in milliseconds: the fastest of several, because noise only adds."""

    def __init__(self, daemon: Daemon, http: httpx2.AsyncClient, rounds: int) -> None:
        self._daemon = daemon
        self._http = http
        self._rounds = rounds

    async def all(self) -> dict[str, float]:
        events = (await self._get(f"/v1/sessions/{LONG}"))["eventCount"]
        last, middle = events - 100, events // 2
        found = {
            "page of 100 events at the end": await self._fastest(
                lambda: self._get(f"/v1/sessions/{LONG}/events?offset={last}&limit=100")
            ),
            "page of 100 events in the middle": await self._fastest(
                lambda: self._get(f"/v1/sessions/{LONG}/events?offset={middle}&limit=100")
            ),
            "list of 50 sessions": await self._fastest(lambda: self._get("/v1/sessions?limit=50")),
            "stream, until the first event": await self._fastest(self._first_event),
        }
        # The first message starts the agent.
        await self._message()
        found["message, until it is durable (202)"] = await self._fastest(self._message, pause=self._at_rest)
        return found

    async def _get(self, path: str) -> dict[str, int]:
        answer = await self._http.get(path)
        answer.raise_for_status()
        body: dict[str, int] = answer.json()
        return body

    async def _first_event(self) -> None:
        events = (await self._get(f"/v1/sessions/{LONG}"))["eventCount"]
        headers = {"last-event-id": str(events - 1)}
        async with self._http.stream("GET", f"/v1/sessions/{LONG}/events/sse", headers=headers) as stream:
            async for chunk in stream.aiter_raw():
                if b"data: " in chunk:
                    return

    async def _message(self) -> None:
        answer = await self._http.post(f"/v1/sessions/{LONG}/messages", json={"message": "hi"})
        answer.raise_for_status()

    async def _at_rest(self) -> None:
        while (await self._get(f"/v1/sessions/{LONG}"))["state"] != "idle":  # type: ignore[comparison-overlap]
            await asyncio.sleep(0.005)

    async def _fastest(
        self, ask: Callable[[], Awaitable[object]], pause: Callable[[], Awaitable[None]] | None = None
    ) -> float:
        taken = []
        for _ in range(self._rounds):
            if pause is not None:
                await pause()
            began = time.perf_counter()
            await ask()
            taken.append(time.perf_counter() - began)
        return min(taken) * 1000


async def measure(folder: Path, sizes: list[int], rounds: int) -> dict[int, dict[str, float]]:
    data = folder / "data"
    data.mkdir(mode=0o700)
    filler = Filler(data / "log.db")
    found: dict[int, dict[str, float]] = {}
    for size in sizes:
        print(f"growth: {size} events ...", file=sys.stderr, flush=True)
        filler.fill(size)
        daemon = Daemon(folder)
        try:
            starts = []
            for _ in range(STARTS):
                starts.append(await daemon.start())
                if len(starts) < STARTS:
                    await daemon.kill()
            async with httpx2.AsyncClient(base_url=daemon.address, timeout=60, trust_env=False) as http:
                figures = await Measures(daemon, http, rounds).all()
            found[size] = {
                "restart after `kill -9`, until it answers": min(starts) * 1000,
                **figures,
                "memory of the daemon (MiB)": daemon.memory() / (1 << 20),
                "log on disk (MiB)": (data / "log.db").stat().st_size / (1 << 20),
            }
            await daemon.stop()
        finally:
            await daemon.kill()
    return found


def grown(found: dict[int, dict[str, float]]) -> list[str]:
    """The figures that grow but should not."""
    first, last = found[min(found)], found[max(found)]
    timed = [name for name in first if not name.startswith("log on disk")]
    return [name for name in timed if last[name] > first[name] * FLAT + 1]


def table(found: dict[int, dict[str, float]]) -> str:
    sizes = sorted(found)
    head = f"| milliseconds, fastest of several | {' | '.join(f'{size:,}' for size in sizes)} | largest / smallest |"
    lines = [head, "|---" + "|---:" * (len(sizes) + 1) + "|"]
    for name in found[sizes[0]]:
        values = [found[size][name] for size in sizes]
        ratio = "" if name.startswith("log on disk") else f"{values[-1] / values[0]:.2f}"
        lines.append(f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} | {ratio} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.load.growth", description=__doc__)
    add = parser.add_argument
    add("--events", type=int, default=SIZES[-1], help="events of the largest log (default 5000000)")
    add("--rounds", type=int, default=30, help="requests per figure (default 30)")
    add("--write-docs", action="store_true", help=f"write table and plot into {PAGE.relative_to(CHECKOUT)}")
    options = parser.parse_args()
    sizes = [size for size in SIZES if size < options.events] + [options.events]
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="growth-", dir=CACHE))
    began = time.monotonic()
    try:
        found = asyncio.run(measure(folder, sizes, options.rounds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = f"{table(found)}\n\n{time.monotonic() - began:.0f} s on {machine()}."
    print(text)
    print(*(f"GROWS: {name}" for name in grown(found)), sep="\n")
    if options.write_docs:
        names = [name for name in found[sizes[0]] if not name.endswith("(MiB)")]
        series = {name.replace("`", ""): [found[size][name] for size in sizes] for name in names}
        PLOT.write_text(line_chart(sizes, series, "events in the log", "milliseconds"))
        fill(PAGE, "growth", text)
    return 1 if grown(found) else 0


if __name__ == "__main__":
    sys.exit(main())
