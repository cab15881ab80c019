"""`python -m tools.bench.stores`: commits to PostgreSQL beside commits to SQLite, on a disk whose flush takes exactly 2 ms.

Both write the same events in turns, in one run, so that their ratio holds on any machine. Then three nodes write to one log, and a
reader on another node waits for what one of them commits.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import AppendEvents, Change, EventRow, SaveSession, SessionRecord, Store
from sandbox_agent.store.postgres import PostgresStore, Seal
from sandbox_agent.store.shared import Appended
from sandbox_agent.store.sqlite import SqliteStore
from tools.page import fill, machine, wrapped
from tools.postgres import PostgresServer

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "contributing" / "benchmarks.mdx"
FLUSH_MICROSECONDS = 2000
SIZES = (1, 20, 200)
EXPECTED = {1: 1.3, 20: 1.6, 200: 1.7}
"""The ratios of the median, on an idle machine, that the design was chosen by."""
SESSIONS = 100
BODY, RAW = b"b" * 368, b"r" * 220
ROUNDS = 8
TIME = "2026-01-01T00:00:00.000Z"


class Writer:
    """Appends events to 100 sessions, as many per commit as asked for."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self._ids = [f"{name}-{n}" for n in range(SESSIONS)]
        self._next = itertools.cycle(self._ids)
        self._heads = dict.fromkeys(self._ids, 0)
        store.write(SaveSession(SessionRecord(id, "mock", Settings("/tmp"), TIME, TIME)) for id in self._ids)

    def commit(self, events: int, body: bytes = BODY) -> float:
        """How long it takes in milliseconds."""
        changes: list[Change] = []
        for id in itertools.islice(self._next, events):
            self._heads[id] += 1
            changes.append(AppendEvents(id, [EventRow(self._heads[id], body, RAW)]))
        begun = time.perf_counter()
        self.store.write(changes)
        return (time.perf_counter() - begun) * 1000


def joined(url: str, name: str) -> PostgresStore:
    store = PostgresStore(url, Seal([]))
    store.join(name, f"folder of {name}", 60, "bench")
    return store


# -- one writer ---------------------------------------------------------------------------------


def compared(sqlite: Writer, postgres: Writer, commits: int) -> Iterator[str]:
    yield (
        "| events per commit | SQLite p10 / p50 / p99 ms | PostgreSQL p10 / p50 / p99 ms | SQLite events/s "
        "| PostgreSQL events/s | ratio of p10 | ratio of p50 | expected |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|"
    for size in SIZES:
        times: dict[Writer, list[float]] = {sqlite: [], postgres: []}
        for _ in range(ROUNDS):
            for writer in times:
                times[writer] += [writer.commit(size) for _ in range(commits // ROUNDS)]
        (ours, theirs) = times.values()
        # On a machine that others use, the fastest tenth is what the stores need themselves.
        ratios = f"{_fastest(theirs) / _fastest(ours):.2f} | {median(theirs) / median(ours):.2f}"
        rates = [f"{size * len(each) / sum(each) * 1000:,.0f}" for each in (ours, theirs)]
        yield (
            f"| {size} | {_shown(ours)} | {_shown(theirs)} | {' | '.join(rates)} | {ratios} | {EXPECTED[size]} |"
        )


def _shown(times: list[float]) -> str:
    return f"{_fastest(times):.2f} / {median(times):.2f} / {quantiles(times, n=100)[98]:.1f}"


def _fastest(times: list[float]) -> float:
    return quantiles(times, n=10)[0]


# -- several nodes ------------------------------------------------------------------------------


def rate(url: str, nodes: int, seconds: float) -> float:
    """Events per second of so many nodes together, each a process of its own, 20 per commit."""
    writers = [_child("write", url, f"{nodes}-{n}", str(seconds)) for n in range(nodes)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()  # it has joined
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    return sum(float(writer.communicate()[0]) for writer in writers)


def write(url: str, name: str, seconds: float) -> None:
    writer = Writer(joined(url, name), name)
    print("ready", flush=True)
    sys.stdin.readline()
    begun, events = time.monotonic(), 0
    while time.monotonic() < begun + seconds:
        writer.commit(20)
        events += 20
    print(events / (time.monotonic() - begun))
    writer.store.close()


def woken(url: str, commits: int) -> tuple[list[float], list[float]]:
    """Milliseconds of commits of one event, and from their start until a reader on another node has read them."""
    store = joined(url, "speaker")
    writer = Writer(store, "speaker")
    reader = _child("read", url, "listener", str(commits))
    assert reader.stdout is not None
    reader.stdout.readline()
    times = []
    for _ in range(commits):
        times.append(writer.commit(1, str(time.monotonic_ns()).encode().ljust(len(BODY))))
        time.sleep(0.005)  # one wake-up each
    delays = [float(line) for line in reader.communicate()[0].split()]
    store.close()
    return times, delays


def read(url: str, name: str, commits: float) -> None:
    store = joined(url, name)
    seen = store.heads({f"speaker-{n}": "" for n in range(SESSIONS)})
    hints = store.hints()
    next(hints)
    print("ready", flush=True)
    while sum(seen.values()) < commits:
        hint = next(hints)
        behind = {id: seen[id] for id in hint.heads} if isinstance(hint, Appended) else seen
        for id, events in store.read_many(behind, 1000).items():
            now = time.monotonic_ns()
            seen[id] = events[-1].sequence
            print(*((now - int(event.body)) / 1e6 for event in events), sep="\n")
    store.close()


def _child(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tools.bench.stores", *words]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_without_preload()
    )


def _without_preload() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


# -- the run ------------------------------------------------------------------------------------


def run(commits: int, seconds: float) -> str:
    """Runs with the slow disk preloaded, and gives it to the server, too."""
    preload = {name: os.environ[name] for name in ("LD_PRELOAD", "FLUSH_MICROSECONDS")}
    server = PostgresServer({"autovacuum": "on", "shared_buffers": "128MB"}, preload)
    memory = server.folder.parent  # where the server's files are
    with contextlib.ExitStack() as stack:
        stack.callback(server.remove)
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=memory))
        server.start()
        stores = (SqliteStore(Path(folder) / "log.db"), joined(server.url(server.new_schema()), "one"))
        for store in stores:
            stack.callback(store.close)
        lines = list(compared(Writer(stores[0], "a"), Writer(stores[1], "a"), commits))
        url = server.url(server.new_schema())
        joined(url, "first").close()
        single, three = rate(url, 1, seconds), rate(url, 3, seconds)
        times, delays = woken(url, commits)
    lines += [
        "",
        "| | |",
        "|---|---:|",
        f"| one node, three nodes, each a process with 20 events per commit | {single:,.0f}, {three:,.0f} events/s |",
        f"| three nodes to one | {three / single:.2f} |",
        f"| commit of one event, p10 / p50 / p99 | {_shown(times)} ms |",
        f"| from its start until a reader on another node has read it, p10 / p50 / p99 | {_shown(delays)} ms |",
        f"| that time divided by the commit's, p50 | {median(delays) / median(times):.2f} |",
        "",
        f"{commits} commits of each kind; {machine()}.",
    ]
    return wrapped("\n".join(lines))


def main() -> int:
    if sys.argv[1:2] in (["write"], ["read"]):
        (write if sys.argv[1] == "write" else read)(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(prog="python -m tools.bench.stores", description=__doc__)
    parser.add_argument("--commits", type=int, default=400, help="of each kind (default 400)")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="how long nodes write together (default 10)"
    )
    parser.add_argument("--write-docs", action="store_true", help="write the figures into the docs")
    options = parser.parse_args()
    if "FLUSH_MICROSECONDS" not in os.environ:
        return _again_with_a_slow_disk()
    text = run(options.commits, options.seconds)
    print(text)
    if options.write_docs:
        fill(PAGE, "stores", text)
    return 0


def _again_with_a_slow_disk() -> int:
    """A library can only be preloaded into a new process."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server runs as another user
        library = Path(folder) / "slowdisk.so"
        source = Path(__file__).with_name("slowdisk.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
        slow = {"LD_PRELOAD": str(library), "FLUSH_MICROSECONDS": str(FLUSH_MICROSECONDS)}
        return subprocess.run(
            [sys.executable, "-m", "tools.bench.stores", *sys.argv[1:]], env=os.environ | slow
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
