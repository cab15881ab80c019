"""The guardian on its own, controlled over its socket: nothing that an agent started outlives it."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from tests.busy import busy
from tests.daemons import SECONDS, is_stopped, wait_until
from tests.runtime.pids import FAMILY, FAMILY_SIZE, Pids

from sandbox_agent.processes import guardian

INSTANCE = f"test-guardian-{os.getpid()}/"
MARKER = f"{INSTANCE}1."


class Guarded:
    """A guardian, its socket, and the output of its agent."""

    def __init__(
        self,
        command: list[str],
        grace_ms: int,
        env: dict[str, str],
        descriptors: int = 512,
        inside: Sequence[str] = (),
    ) -> None:
        self.control, theirs = socket.socketpair()
        self.control.settimeout(SECONDS)
        argv = [
            *inside,
            sys.executable,
            "-I",
            "-S",
            guardian.__file__,
            str(theirs.fileno()),
            MARKER,
            str(grace_ms),
            str(descriptors),
            "--",
        ]
        self.process = subprocess.Popen(
            [*argv, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._said = self.control.makefile("rb")

    def says(self) -> str:
        """Its next line; empty when it is gone."""
        return self._said.readline().decode().strip()

    def pid(self) -> int:
        word, _, pid = self.says().partition(" ")
        assert word == "started"
        return int(pid)

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().strip()

    def rest(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def tell(self, word: str) -> None:
        self.control.sendall(word.encode() + b"\n")

    def let_go(self) -> None:
        """Close the socket, as the death of the daemon does."""
        self._said.close()
        self.control.close()

    def close(self) -> None:
        self.let_go()
        try:
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                pipe.close()


@contextmanager
def guarded(script: str, *, grace_ms: int = 500, env: dict[str, str] | None = None) -> Iterator[Guarded]:
    env = {"PATH": os.environ["PATH"]} if env is None else env
    running = Guarded(["sh", "-c", script], grace_ms, {**env, guardian.MARKER_NAME: MARKER})
    try:
        yield running
    finally:
        running.close()


@pytest.mark.parametrize(
    "script, report",
    [
        ("exit 0", "exited 0"),
        ("exit 7", "exited 7"),
        ("kill -KILL $$", "exited -9"),
        ("kill -SEGV $$", "exited -11"),
    ],
)
def test_the_exit_of_the_agent_is_reported(script: str, report: str) -> None:
    with guarded(script) as running:
        running.pid()
        assert [running.says(), running.says()] == [report, ""]
        assert running.process.wait(SECONDS) == 0


def test_a_missing_program_is_reported() -> None:
    running = Guarded(["/no/such/program"], 500, {})
    assert [running.says(), running.says()] == ["failed 127 /no/such/program: No such file or directory", ""]
    running.close()


def test_the_agents_pipes_are_its_own() -> None:
    with guarded("read line; echo heard $line; exec >&-; read line; exit 3") as running:
        running.pid()
        assert running.process.stdin is not None
        running.process.stdin.write(b"one\n")
        running.process.stdin.flush()
        # The agent closes its output and lives on: a copy that the guardian kept would hide the end.
        assert running.rest() == b"heard one\n"
        running.process.stdin.write(b"two\n")
        running.process.stdin.flush()
        assert running.says() == "exited 3"


def test_stop_gives_the_agent_a_grace_period() -> None:
    with guarded(
        "trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done", grace_ms=9000
    ) as running:
        running.pid()
        assert running.line() == "ready"
        running.tell("stop")
        assert [running.rest(), running.says(), running.says()] == [b"bye\n", "exited 4", ""]


def test_int_interrupts_only_the_agent() -> None:
    script = "trap 'echo interrupted' INT; setsid sleep 1000 & echo $!; while :; do sleep 0.01; done"
    with guarded(script) as running, Pids([running.pid(), child := int(running.line())]) as pids:
        running.tell("int")
        assert running.line() == "interrupted"
        assert child in pids.alive()
        running.tell("stop")
        assert pids.alive(SECONDS) == []


def test_the_agent_leads_its_own_session() -> None:
    with guarded("read line") as running:
        agent = running.pid()
        assert os.getsid(agent) == agent != os.getsid(running.process.pid)


@pytest.mark.parametrize("how", ["stop", "the daemon dies", "SIGTERM", "the agent exits"])
def test_no_descendant_is_left(how: str) -> None:
    with guarded(FAMILY + "read line") as running:
        agent = running.pid()
        family = [int(running.line()) for _ in range(FAMILY_SIZE)]
        with Pids([agent, *family]) as pids:
            assert len(pids.alive()) == 1 + FAMILY_SIZE
            if how == "stop":
                running.tell("stop")
            elif how == "the daemon dies":
                running.let_go()
            elif how == "SIGTERM":
                running.process.terminate()
            else:
                assert running.process.stdin is not None
                running.process.stdin.close()
            assert running.process.wait(SECONDS) == 0
            # The guardian goes last: when it is gone, so is everything.
            assert pids.alive() == []


def test_processes_that_ignore_signals_are_gone_after_the_grace_period() -> None:
    script = "trap '' TERM INT HUP; setsid sleep 1000 & echo $!; while :; do sleep 0.01; done"
    with guarded(script, grace_ms=100) as running, Pids([running.pid(), int(running.line())]) as pids:
        began = time.monotonic()
        running.tell("stop")
        assert [running.says(), running.says()] == ["exited -9", ""]
        assert pids.alive() == []
        assert time.monotonic() - began < busy(2)


def test_a_stopped_agent_is_ended_too() -> None:
    with guarded("kill -STOP $$", grace_ms=100) as running, Pids([agent := running.pid()]) as pids:
        os.waitid(os.P_PID, running.process.pid, os.WEXITED | os.WNOHANG)
        assert agent in pids.alive()
        running.tell("stop")
        assert running.says() in ("exited -15", "exited -9")
        assert pids.alive() == []


def test_the_grace_period_uses_no_cpu() -> None:
    # A child that ends wakes the guardian; it must not spin from then on until the agent is done.
    script = "trap '(true &); sleep 0.4; echo bye; read line; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
    with guarded(script, grace_ms=9000) as running:
        running.pid()
        assert running.line() == "ready"
        before = processor_seconds(running.process.pid)
        running.tell("stop")
        assert running.line() == "bye"
        spent = processor_seconds(running.process.pid) - before
        assert running.process.stdin is not None
        running.process.stdin.close()
        assert running.says() == "exited 0"
    assert spent < 0.08


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_the_agent_gets_the_environment_it_was_given() -> None:
    given = {"PATH": os.environ["PATH"], "EMPTY": "", "TEXT": "é\n=1"}
    running = Guarded(["env", "-0"], 500, given)
    entries = running.rest().decode().split("\0")
    running.close()
    assert dict(entry.split("=", 1) for entry in entries if entry) == given


def test_the_agent_gets_signals_as_a_shell_gives_them() -> None:
    with guarded("exec grep -E '^Sig(Blk|Ign)' /proc/self/status") as running:
        running.pid()
        masks = dict(line.split(":\t") for line in running.rest().decode().splitlines())
    # The C library keeps 32 and 33 for itself.
    signals = {name: int(mask, 16) & 0x7FFFFFFF for name, mask in masks.items()}
    assert signals == {"SigBlk": 0, "SigIgn": 0}


def test_the_agent_of_a_daemon_in_the_background_gets_signals_as_a_terminal_gives_them() -> None:
    """A shell ignores SIGINT and SIGQUIT for what it starts with `&`, and `nohup` ignores SIGHUP: that is inherited."""
    ignoring = "trap '' INT QUIT HUP PIPE TSTP USR1; exec \"$@\""
    command = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    running = Guarded(command, 500, {}, inside=["sh", "-c", ignoring, "sh"])
    masks = dict(line.split(":\t") for line in running.rest().decode().splitlines())
    running.close()
    signals = {name: int(mask, 16) & 0x7FFFFFFF for name, mask in masks.items()}
    assert signals == {"SigBlk": 0, "SigIgn": 0}


def test_the_agent_gets_the_limit_of_descriptors_that_was_named() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    running = Guarded(["sh", "-c", "ulimit -Sn; ulimit -Hn"], 500, {}, descriptors=100)
    assert running.rest().split() == [b"100", str(hard).encode()]
    running.close()


def test_the_agent_dies_of_a_broken_pipe() -> None:
    with guarded("read line; while :; do echo y; done") as running:
        running.pid()
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.stdin is not None
        running.process.stdin.write(b"go\n")
        running.process.stdin.flush()
        assert running.says() == f"exited {-signal.SIGPIPE}"


def test_marked_processes_are_found_anywhere_in_the_tree() -> None:
    # The child reports its own id, so that it has finished forking by then.
    with guarded("(setsid sh -c 'echo $$; sleep 1000; :' &); read line") as running:
        agent, child = running.pid(), int(running.line())
        assert guardian.marked(MARKER) >= {running.process.pid, agent, child}
        assert guardian.marked(INSTANCE) >= {agent, child}
        assert guardian.marked(f"{INSTANCE}2.") == set()
        assert guardian.descendants(running.process.pid) >= {agent, child}


# -- freezing -----------------------------------------------------------------------------------


def test_processes_of_a_silent_daemon_are_frozen_until_it_sends_again() -> None:
    with guarded(f"{FAMILY}\nwait") as running:
        family = [running.pid(), *(int(running.line()) for _ in range(FAMILY_SIZE))]
        running.tell("hold 50")
        wait_until(lambda: all(map(is_stopped, family)))
        running.tell("hold 60000")
        wait_until(lambda: not any(map(is_stopped, family)))


def test_nothing_acts_after_it_was_frozen() -> None:
    # It starts no program: a shell that waits for a child which is frozen before its exec cannot be stopped any more than it is.
    with guarded("trap 'echo acted' TERM; while :; do read line; done") as running:
        agent = running.pid()
        running.tell("hold 0")
        wait_until(lambda: is_stopped(agent))
        running.tell("stop")
        assert (running.rest(), running.says()) == (b"", "exited -9")
