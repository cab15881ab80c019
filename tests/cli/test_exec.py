"""`exec`, as a real program: pipes pass byte by byte, and a real terminal is the command's terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.daemons import SECONDS, Client, Daemon, done, running

CLI = [sys.executable, "-m", "sandbox_agent"]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("exec") / "data")) as daemon:
        yield daemon


@pytest.fixture
def environ(daemon: Daemon, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}",
    }


def execute(environ: dict[str, str], *words: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*CLI, "exec", *words], env=environ, input=given, capture_output=True, timeout=SECONDS
    )
    return done.returncode, done.stdout, done.stderr


def processes(daemon: Daemon) -> list[object]:
    client = Client(daemon)
    try:
        found: list[object] = done(client.get("/v1/processes"))["processes"]
    finally:
        client.close()
    return found


def test_streams_and_exit_code_are_those_of_the_command(environ: dict[str, str], daemon: Daemon) -> None:
    script = "echo $A; pwd; echo err >&2; exit 7"
    words = ("--env", "A=b c", "--cwd", "/", "--", "sh", "-c", script)
    assert execute(environ, *words) == (7, b"b c\n/\n", b"err\n")
    assert processes(daemon) == []


def test_a_signal_is_128_and_its_number(environ: dict[str, str]) -> None:
    assert execute(environ, "--", "sh", "-c", "kill -TERM $$")[0] == 128 + signal.SIGTERM
    without_name = signal.SIGRTMIN + 1
    assert execute(environ, "--", "sh", "-c", f"kill -{without_name} $$")[0] == 128 + without_name


def test_stdin_passes_byte_by_byte_and_ends(environ: dict[str, str]) -> None:
    content = bytes(range(256)) * 2000
    assert execute(environ, "-i", "--", "cat", given=content) == (0, content, b"")


def test_without_i_the_input_is_empty(environ: dict[str, str]) -> None:
    assert execute(environ, "--", "cat", given=b"unread") == (0, b"", b"")


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc/hostname", 126)])
def test_a_program_that_cannot_run_has_the_exit_code_of_a_shell(
    environ: dict[str, str], program: str, code: int
) -> None:
    exit_code, out, err = execute(environ, "--", program)
    assert (exit_code, out) == (code, b"")
    assert f"cannot run {program}: ".encode() in err


def test_t_needs_a_terminal(environ: dict[str, str]) -> None:
    code, _, err = execute(environ, "-t", "--", "true")
    assert code == 2
    assert b"-t needs a terminal" in err


def test_closed_streams_are_empty(environ: dict[str, str], daemon: Daemon) -> None:
    script = f"exec {CLI[0]} -m sandbox_agent exec -i -- sh -c 'cat; echo out; exit 3' <&- >&-"
    ran = subprocess.run(["sh", "-c", script], env=environ, stderr=subprocess.PIPE, timeout=SECONDS)
    assert (ran.returncode, ran.stderr) == (3, b"")
    assert processes(daemon) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_to_exec_ends_the_command(
    environ: dict[str, str], daemon: Daemon, number: int, code: int
) -> None:
    command = [*CLI, "exec", "--", "sh", "-c", "echo ready; sleep 60"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(number)
        assert running.wait(SECONDS) == code
    assert processes(daemon) == []


# -- on a terminal --------------------------------------------------------------------------------


class Terminal:
    """A command on a terminal of ours: what it shows, and keys to press."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self.fd = fd
        self.shown = b""

    def until(self, wanted: bytes) -> None:
        deadline = time.monotonic() + SECONDS
        while wanted not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if select.select([self.fd], [], [], 1)[0]:
                self.shown += os.read(self.fd, 4096)

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def resize(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def exit_code(self) -> int:
        try:
            while piece := os.read(self.fd, 4096):
                self.shown += piece
        except OSError:
            pass  # the end of a terminal
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def on_terminal(environ: dict[str, str], *words: str) -> Iterator[Terminal]:
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*CLI, *words], environ)
    terminal = Terminal(pid, fd)
    try:
        terminal.resize(100, 30)
        yield terminal
    finally:
        os.close(fd)


def test_a_terminal_is_the_commands_terminal(environ: dict[str, str]) -> None:
    script = (
        "trap 'over=1' INT; trap 'stty size' WINCH; stty size; until [ $over ]; do sleep 0.05; done; "
        "echo interrupted; read a; echo got $a; exit 5"
    )
    with on_terminal(environ, "exec", "-it", "--", "sh", "-c", script) as terminal:
        terminal.until(b"30 100")
        terminal.resize(90, 20)
        terminal.until(b"20 90")
        terminal.type(b"\x03")
        terminal.until(b"interrupted")
        terminal.type(b"typed\r")
        assert terminal.exit_code() == 5
        assert b"got typed" in terminal.shown


def test_t_without_i_passes_on_no_keys(environ: dict[str, str], daemon: Daemon) -> None:
    script = "echo ready; read line; echo got $line"
    with on_terminal(environ, "exec", "-t", "--", "sh", "-c", script) as terminal:
        terminal.until(b"ready")
        terminal.type(b"unread\r\x03")
        assert terminal.exit_code() == 130
        assert b"got" not in terminal.shown
    assert processes(daemon) == []


def test_a_running_terminal_can_be_watched_and_left_running(environ: dict[str, str], daemon: Daemon) -> None:
    client = Client(daemon)
    body = {"command": "sh", "args": ["-c", "echo ready; cat"], "tty": True}
    id = done(client.post("/v1/processes", body))["id"]
    with on_terminal(environ, "processes", "terminal", id) as terminal:
        terminal.until(b"ready")
        terminal.type(b"typed\r")
        terminal.until(b"typed\r\ntyped\r\n")
        os.kill(terminal.pid, signal.SIGKILL)
        assert terminal.exit_code() == -signal.SIGKILL
    assert done(client.get(f"/v1/processes/{id}"))["status"] == "running"
    done(client.post(f"/v1/processes/{id}/kill"))
    client.delete(f"/v1/processes/{id}")
    client.close()
