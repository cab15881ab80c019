"""An agent's process behind its guardian, with real processes: its output arrives, and its end is guaranteed."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from tests.busy import busy
from tests.daemons import SECONDS
from tests.runtime.conftest import Run
from tests.runtime.pids import FAMILY, FAMILY_SIZE, Pids

from sandbox_agent.agents.frames import InFrame
from sandbox_agent.agents.stderr import StderrTail
from sandbox_agent.errors import AgentProcessExited
from sandbox_agent.processes import descriptors, guardian
from sandbox_agent.processes.guarded import sweep
from sandbox_agent.runtime.framing import LineTooLong
from sandbox_agent.runtime.process import AgentProcess, Exit
from sandbox_agent.schema.events import Stderr

ENV = {"PATH": os.environ["PATH"]}
INSTANCE = f"test-process-{os.getpid()}"
PYTHON = [sys.executable, "-I", "-S", "-c"]


class Running:
    """A process, and everything read from it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.exits: list[Exit] = []
        self.process = AgentProcess(INSTANCE, self._frames, self._exit)
        self._changed = asyncio.Event()

    def _frames(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        assert not self.exits
        self.lines += [frame.decode() if isinstance(frame, bytes) else str(frame) for frame in frames]
        self._changed.set()

    def _exit(self, exit: Exit) -> None:
        self.exits.append(exit)
        self._changed.set()

    async def lines_read(self, count: int) -> list[str]:
        """The lines, once there are this many."""
        while len(self.lines) < count and not self.exits:
            self._changed.clear()
            await self._changed.wait()
        return self.lines

    async def exit(self) -> Exit:
        await self.process.ended.wait()
        [exit] = self.exits
        return exit


@asynccontextmanager
async def running(
    argv: str | list[str], env: dict[str, str] = ENV, directory: str = "/"
) -> AsyncIterator[Running]:
    """Start a program, or a script for the shell."""
    started = Running()
    await started.process.start(["sh", "-c", argv] if isinstance(argv, str) else argv, env, directory)
    try:
        yield started
    finally:
        await started.process.stop()


# -- the end of a process ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "script, exit, described",
    [
        ("exit 0", Exit(0, None, None), "the agent's process exited (exit code 0)"),
        ("exit 7", Exit(7, None, None), "the agent's process exited (exit code 7)"),
        ("kill -KILL $$", Exit(None, "SIGKILL", None), "the agent's process exited (SIGKILL)"),
        ("kill -SEGV $$", Exit(None, "SIGSEGV", None), "the agent's process exited (SIGSEGV)"),
        ("echo oops >&2; exit 2", Exit(2, None, Stderr(False, "oops", total_lines=1)), None),
    ],
)
def test_its_end_is_reported(run: Run, script: str, exit: Exit, described: str | None) -> None:
    async def body() -> None:
        async with running(script) as agent:
            assert await agent.exit() == exit
            assert described in (None, exit.describe())

    run(body)


def test_all_output_comes_before_the_exit(run: Run) -> None:
    async def body() -> None:
        async with running("seq 1 50000; seq 1 5000 >&2; exit 3") as agent:
            head = "\n".join(map(str, range(1, 21)))
            tail = "\n".join(map(str, range(4951, 5001)))
            assert await agent.exit() == Exit(3, None, Stderr(True, head, tail, 5000))
            assert agent.lines == [str(n) for n in range(1, 50001)]

    run(body)


def test_its_end_does_not_wait_for_children_that_hold_its_pipes(run: Run) -> None:
    async def body() -> None:
        async with running("setsid sleep 1000 & echo $!; read line; exit 5") as agent:
            with Pids(map(int, await agent.lines_read(1))) as pids:
                agent.process.close_input()
                assert await agent.exit() == Exit(5, None, None)
                assert pids.alive() == []

    run(body)


def test_an_agent_that_closes_its_output_and_lives_on_is_stopped(run: Run) -> None:
    async def body() -> None:
        async with running("echo $$; exec >&-; read line") as agent:
            with Pids(map(int, await agent.lines_read(1))) as pids:
                exit = await agent.exit()
                assert exit == Exit(None, "SIGTERM", None, closed_output=True)
                assert exit.describe() == "the agent's process closed its output and was stopped (SIGTERM)"
                assert pids.alive() == []

    run(body)


def test_an_agent_that_closes_its_output_has_a_moment_to_exit_by_itself(run: Run) -> None:
    async def body() -> None:
        async with running("exec >&-; sleep 0.2; exit 3") as agent:
            assert await agent.exit() == Exit(3, None, None)

    run(body)


def test_beyond_1024_descriptors_agents_start_run_and_end(run: Run) -> None:
    """Descriptor numbers that `select` cannot handle."""

    async def body() -> None:
        with many_descriptors(1100):
            async with running("echo ready; read line; exit 3") as agent:
                assert await agent.lines_read(1) == ["ready"]
                agent.process.close_input()
                assert await agent.exit() == Exit(3, None, None)

    run(body)


@contextmanager
def many_descriptors(count: int) -> Iterator[None]:
    """Open this many descriptors, and raise the limit if necessary."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors.raise_limit()
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(count)]
    try:
        yield
    finally:
        for pipe in held:
            os.close(pipe)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_agents_do_not_inherit_the_raised_descriptor_limit() -> None:
    script = """
import asyncio, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 1000))
from sandbox_agent.processes import descriptors
from sandbox_agent.runtime.process import AgentProcess

async def main():
    descriptors.raise_limit()
    print(resource.getrlimit(resource.RLIMIT_NOFILE), flush=True)
    agent = AgentProcess("limits", lambda frames: print(*(frame.decode() for frame in frames)), lambda exit: None)
    await agent.start(["sh", "-c", "ulimit -n"], {}, "/")
    await agent.ended.wait()

asyncio.run(main())
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS)
    assert result.stdout.splitlines() == ["(1000, 1000)", "300"], result.stderr


def test_a_program_that_does_not_exist_exits_with_127(run: Run) -> None:
    async def body() -> None:
        async with running(["/no/such/program", "--flag"]) as agent:
            why = "/no/such/program: No such file or directory"
            assert await agent.exit() == Exit(127, None, Stderr(False, why, total_lines=1))

    run(body)


@pytest.mark.parametrize(
    "argv, env, directory, why",
    [
        (["true"], ENV, "/no/such/folder", "cannot start in /no/such/folder: No such file or directory"),
        (["echo", "a\0b"], ENV, "/", "cannot start in /: embedded null byte"),
        (["true"], {**ENV, "A": "a\0b"}, "/", "cannot start in /: embedded null byte"),
        (["true"], {**ENV, "A=B": "c"}, "/", "cannot start in /: illegal environment variable name"),
    ],
    ids=["no folder", "NUL in an argument", "NUL in a variable", "= in a name"],
)
def test_a_start_that_is_impossible_is_refused(
    argv: list[str], env: dict[str, str], directory: str, why: str
) -> None:
    async def body() -> None:
        before = os.listdir("/proc/self/fd")
        with pytest.raises(AgentProcessExited) as refused:
            await Running().process.start(argv, env, directory)
        assert refused.value.detail == why
        assert os.listdir("/proc/self/fd") == before

    asyncio.run(body())


def test_stop_is_idempotent(run: Run) -> None:
    async def body() -> None:
        async with running("echo ready; read line") as agent:
            await agent.lines_read(1)
            await asyncio.gather(agent.process.stop(), agent.process.stop())
            await agent.process.stop()
            assert await agent.exit() == Exit(None, "SIGTERM", None)

    run(body)


def test_an_agent_that_ignores_sigterm_is_gone_within_two_seconds(run: Run) -> None:
    async def body() -> None:
        async with running(
            "trap '' TERM; setsid sleep 1000 & echo $!; echo $$; while :; do sleep 0.1; done"
        ) as agent:
            with Pids(map(int, await agent.lines_read(2))) as pids:
                began = time.monotonic()
                await agent.process.stop()
                assert time.monotonic() - began < busy(2)
                assert pids.alive() == []
            assert [exit.signal for exit in agent.exits] == ["SIGKILL"]

    run(body)


def test_nothing_that_it_started_is_left_when_stop_returns(run: Run) -> None:
    async def body() -> None:
        async with running(FAMILY + "echo $$; read line") as agent:
            with Pids(map(int, await agent.lines_read(FAMILY_SIZE + 1))) as pids:
                assert len(pids.alive()) == FAMILY_SIZE + 1
                await agent.process.stop()
                assert pids.alive() == []

    run(body)


def test_nothing_is_left_when_the_guardian_itself_is_killed(run: Run) -> None:
    async def body() -> None:
        async with running("(setsid sleep 1000 & echo $!); echo $$; echo $PPID; read line") as agent:
            with Pids(found := [int(pid) for pid in await agent.lines_read(3)]) as pids:
                os.kill(found[-1], signal.SIGKILL)
                assert await agent.exit() == Exit(None, "SIGKILL", None)
                assert pids.alive(SECONDS) == []

    run(body)


def test_a_process_that_escapes_a_killed_guardian_delays_nothing(run: Run) -> None:
    async def body() -> None:
        async with running("(env -i setsid sleep 1000 & echo $!); echo $PPID; read line") as agent:
            hidden, guard = (int(pid) for pid in await agent.lines_read(2))
            try:
                os.kill(guard, signal.SIGKILL)
                assert await agent.exit() == Exit(None, "SIGKILL", None)
            finally:
                os.kill(hidden, signal.SIGKILL)

    run(body)


# Plays the daemon: starts an agent, passes on what it says, and waits forever.
DAEMON = """
import asyncio, sys
from sandbox_agent.runtime.process import AgentProcess

async def main():
    def say(frames):
        for frame in frames:
            print(frame.decode(), flush=True)
    agent = AgentProcess(sys.argv[1], say, print)
    await agent.start(["sh", "-c", sys.argv[2]], {"PATH": sys.argv[3]}, "/")
    await agent.ended.wait()

asyncio.run(main())
"""


@pytest.fixture
def daemon() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-c", DAEMON, INSTANCE, script, ENV["PATH"]]
        started.append(subprocess.Popen(argv, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("temper", ["", "trap '' TERM INT HUP;"], ids=["obedient", "stubborn"])
def test_nothing_is_left_when_the_daemon_is_killed(
    daemon: Callable[[str], subprocess.Popen[bytes]], temper: str
) -> None:
    process = daemon(f"{temper} {FAMILY} echo $PPID; echo $$; while :; do sleep 0.1; done")
    assert process.stdout is not None
    with Pids(int(process.stdout.readline()) for _ in range(FAMILY_SIZE + 2)) as pids:
        assert len(pids.alive()) == FAMILY_SIZE + 2
        process.kill()
        assert pids.alive(3.0) == []


def test_a_sweep_finds_what_an_earlier_daemon_left_behind() -> None:
    env = {**ENV, guardian.MARKER_NAME: f"{INSTANCE}-old/3."}
    with subprocess.Popen(["sleep", "1000"], env=env) as lost, subprocess.Popen(["sleep", "1000"]) as other:
        try:
            assert sweep(f"{INSTANCE}-old/4.") == 0
            assert sweep(f"{INSTANCE}-old/") == 1
            assert lost.wait(SECONDS) == -signal.SIGKILL
            assert other.poll() is None
        finally:
            lost.kill()
            other.kill()


# -- what it is given -------------------------------------------------------------------------


def test_it_inherits_no_descriptor(run: Run) -> None:
    show = """
import os
for fd in sorted(map(int, os.listdir('/proc/self/fd'))):
    if os.path.exists(f'/proc/self/fd/{fd}'):
        print(fd, os.readlink(f'/proc/self/fd/{fd}').partition(':')[0])
"""

    async def body() -> None:
        leaky = os.dup(2)
        os.set_inheritable(leaky, True)
        async with running([*PYTHON, show]) as agent:
            await agent.exit()
            assert agent.lines == ["0 pipe", "1 pipe", "2 pipe"]
        os.close(leaky)

    run(body)


def test_it_is_given_its_environment_its_folder_and_default_signals(run: Run, tmp_path: Path) -> None:
    show = """
import os, signal
print(os.getcwd())
print(sorted(os.environ))
print(open('/proc/self/status').read().partition('SigBlk:')[2].split()[0])
"""

    async def body() -> None:
        async with running([*PYTHON, show], {**ENV, "LANG": "C.UTF-8", "A": "1"}, str(tmp_path)) as agent:
            await agent.exit()
            given = ["A", "LANG", "PATH", guardian.MARKER_NAME]
            assert agent.lines == [str(tmp_path), str(given), "0" * 16]
        async with running("sh -c 'yes | true; exit 0'; kill -PIPE $$") as agent:
            assert await agent.exit() == Exit(None, "SIGPIPE", None)

    run(body)


def test_a_listener_gets_every_write_and_its_outcome(run: Run) -> None:
    async def body() -> None:
        async with running("cat; echo over") as agent:
            agent.process.write([b"one", b"two"])
            assert await agent.lines_read(2) == ["one", "two"]
            agent.process.write([b"x" * 1_000_000])
            agent.process.close_input()
            assert (await agent.exit()).code == 0
            assert agent.lines == ["one", "two", "x" * 1_000_000, "over"]
            agent.process.write([b"nobody hears this"])

    run(body)


def test_writing_to_an_agent_that_does_not_read_is_harmless(run: Run) -> None:
    async def body() -> None:
        async with running("exec <&-; echo deaf; sleep 0.05; exit 6") as agent:
            await agent.lines_read(1)
            for _ in range(20):
                agent.process.write([b"x" * 100_000])
            assert await agent.exit() == Exit(6, None, None)

    run(body)


def test_an_interrupt_reaches_only_the_agent(run: Run) -> None:
    async def body() -> None:
        script = "trap 'echo interrupted' INT; setsid sleep 1000 & echo $!; while :; do sleep 0.01; done"
        async with running(script) as agent:
            with Pids(map(int, await agent.lines_read(1))) as pids:
                agent.process.interrupt()
                assert (await agent.lines_read(2))[1:] == ["interrupted"]
                assert len(pids.alive()) == 1

    run(body)


# -- what it says -----------------------------------------------------------------------------


def test_a_paused_agent_waits_and_loses_nothing(run: Run, tmp_path: Path) -> None:
    # Writes 40 MB, and tells through another pipe whether it had to wait half a second for its reader.
    flood = """
import os, select, sys
line = b'x' * 99 + b'\\n'
poll = select.poll()
poll.register(1, select.POLLOUT)
told = False
for _ in range(10_000):
    if not told and not poll.poll(500):
        told = True
        with open(sys.argv[1], 'w') as fifo:
            fifo.write('waits')
    os.write(1, line * 40)
if not told:
    with open(sys.argv[1], 'w') as fifo:
        fifo.write('never waited')
"""
    os.mkfifo(tmp_path / "told")

    async def body() -> None:
        async with running([*PYTHON, flood, str(tmp_path / "told")]) as agent:
            agent.process.pause()
            state = await asyncio.to_thread((tmp_path / "told").read_text)
            lines = len(agent.lines)
            assert (state, lines < 10_000, agent.exits) == ("waits", True, [])
            agent.process.resume()
            assert await agent.exit() == Exit(0, None, None)
            assert agent.lines == ["x" * 99] * 400_000

    run(body)


def test_a_paused_agent_can_be_stopped(run: Run) -> None:
    async def body() -> None:
        async with running("trap '' TERM; exec yes") as agent:
            await agent.lines_read(1)
            agent.process.pause()
            began = time.monotonic()
            await agent.process.stop()
            assert time.monotonic() - began < busy(2)
            assert [exit.signal for exit in agent.exits] == ["SIGKILL"]

    run(body)


def test_the_output_of_an_agent_that_exits_while_paused_is_read(run: Run) -> None:
    async def body() -> None:
        async with running("echo $PPID; read line; seq 1 1000; exit 9") as agent:
            with Pids(map(int, guard := list(await agent.lines_read(1)))) as pids:
                agent.process.pause()
                agent.process.write([b"go on"])
                assert await asyncio.to_thread(pids.alive, SECONDS) == []
            for _ in range(10):
                await asyncio.sleep(0)  # the loop has seen that the guardian is gone
            assert (agent.lines, agent.exits) == (guard, [])
            agent.process.resume()
            assert await agent.exit() == Exit(9, None, None)
            assert agent.lines == [*guard, *map(str, range(1, 1001))]

    run(body)


def test_stderr_is_cut_into_lines_wherever_the_pipe_was_cut() -> None:
    whole = "".join(f"line {n} ü\r\n" if n % 7 == 0 else f"line {n}\n\n" for n in range(1, 60)) + "unfinished"
    for size in (1, 2, 3, 7, 1000):
        tail = StderrTail()
        for start in range(0, len(whole), size):
            tail.feed_piece(whole[start : start + size])
        lines = [line.rstrip("\r") for line in whole.split("\n")]
        assert tail.read() == Stderr(True, "\n".join(lines[:20]), "\n".join(lines[-50:]), len(lines))


def test_what_stderr_says_is_kept_at_both_ends() -> None:
    def read(count: int) -> Stderr | None:
        tail = StderrTail()
        tail.feed_piece("".join(f"{n}\n" for n in range(1, count + 1)))
        return tail.read()

    def lines(first: int, last: int) -> str:
        return "\n".join(map(str, range(first, last + 1)))

    assert [read(0), read(1), read(70), read(71)] == [
        None,
        Stderr(False, "1", total_lines=1),
        Stderr(False, lines(1, 70), total_lines=70),
        Stderr(True, lines(1, 20), lines(22, 71), 71),
    ]


def test_a_line_of_stderr_that_does_not_end_costs_no_memory() -> None:
    tail = StderrTail()
    for _ in range(1000):
        tail.feed_piece("x" * 1000)
    assert tail.read() == Stderr(False, "x" * 2000, total_lines=1)


def test_characters_of_stderr_survive_the_pieces(run: Run) -> None:
    async def body() -> None:
        # More than a pipe holds, so that it is read in pieces that cut characters in two.
        async with running([*PYTHON, "import os; os.write(2, b'a' + '\\u00e9'.encode() * 400_000)"]) as agent:
            exit = await agent.exit()
            assert exit.stderr == Stderr(False, ("a" + "é" * 400_000)[:2000], total_lines=1)

    run(body)
