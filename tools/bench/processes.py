"""Kernel statistics of processes: CPU time, memory, descendants, and leaks."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

PR_SET_CHILD_SUBREAPER = 36
CPU_CLOCK_OF_PROCESS = 2
"""The kernel's clock of a process's CPU time; `/proc/<pid>/stat` has the same in steps of 10 ms."""


class Memory(NamedTuple):
    rss: int
    pss: int


def adopt_orphans() -> None:
    """Adopt processes that a daemon leaves behind, so that they are counted and ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def allow_many_files(wanted: int = 8192) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))


def run_before_others() -> bool:
    """Give this process and its children real-time priority; False if that is not permitted."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    return True


def cpu_seconds(pids: Iterable[int]) -> float:
    return sum(_cpu_seconds(pid) for pid in pids)


def _cpu_seconds(pid: int) -> float:
    try:
        return time.clock_gettime((~pid << 3) | CPU_CLOCK_OF_PROCESS)
    except OSError:  # gone, or a zombie
        return 0.0


class ThreadUse(Struct, frozen=True):
    """Statistics of one thread."""

    user: float = 0.0
    """In seconds, like the next one."""
    system: float = 0.0
    sleeps: int = 0
    """Voluntary context switches."""
    preemptions: int = 0
    """Preemptions."""

    @property
    def cpu(self) -> float:
        return self.user + self.system

    def plus(self, other: ThreadUse, times: int = 1) -> ThreadUse:
        return ThreadUse(
            self.user + times * other.user,
            self.system + times * other.system,
            self.sleeps + times * other.sleeps,
            self.preemptions + times * other.preemptions,
        )


def threads(pid: int) -> dict[int, ThreadUse]:
    """Statistics of each thread of a process, by thread id."""
    return {int(task.name): _thread_use(task) for task in Path(f"/proc/{pid}/task").iterdir()}


def _thread_use(task: Path) -> ThreadUse:
    fields = (task / "stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
    return ThreadUse(
        int(fields[11]) / ticks,
        int(fields[12]) / ticks,
        int(status["voluntary_ctxt_switches"]),
        int(status["nonvoluntary_ctxt_switches"]),
    )


def memory(pids: Iterable[int]) -> Memory:
    """Resident memory in bytes, summed over processes."""
    rss = pss = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
        rss += sizes["Rss:"]
        pss += sizes["Pss:"]
    return Memory(rss, pss)


def children(pid: int) -> list[int]:
    return _families().get(pid, [])


def descendants(pid: int) -> list[int]:
    """All descendants of a process, including zombies, parents first."""
    families = _families()
    found, queue = [], [pid]
    while queue:
        below = families.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _families() -> dict[int, list[int]]:
    """The children of each process."""
    families: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (parent := _parent(int(entry))) is not None:
            families.setdefault(parent, []).append(int(entry))
    return families


def _parent(pid: int) -> int | None:
    try:
        # The name in parentheses may contain anything; state and parent follow the last parenthesis.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def runs_script(pid: int, script: str) -> bool:
    """Whether this process runs the script, rather than having it as an argument of another program."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    first = next((word for word in words[1:] if not word.startswith("-")), "")
    return Path(first).name == script


def belongs_to(pid: int, home: Path) -> bool:
    """Whether a process works in this home or has it as its HOME."""
    folder = Path("/proc") / str(pid)
    try:
        if Path(os.readlink(folder / "cwd")).is_relative_to(home):
            return True
        return str(home).encode() in (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
    except OSError:
        return False


def wait_until_gone(pids: Collection[int], seconds: float) -> list[int]:
    """The processes that are still alive after a time limit."""
    deadline = time.monotonic() + seconds
    while left := [pid for pid in pids if _exists(pid)]:
        if time.monotonic() > deadline:
            return left
        time.sleep(0.02)
    return []


def _exists(pid: int) -> bool:
    _reap(pid)
    return Path(f"/proc/{pid}").exists()


def end(pids: Collection[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until_gone(pids, 1.0)


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
