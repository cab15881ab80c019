"""Drives OpenCode's terminal interface in tmux and reads its screen. Every wait looks until a deadline."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from sandbox_agent.testing import agent_cache

TOKEN = "sixteen-characters-or-more"
SECONDS = 90.0
"""A start takes 3 seconds on an idle machine and far longer on a busy one."""


def opencode_program() -> str:
    program = agent_cache.cache_folder() / "bin" / "opencode"
    if not program.exists() or shutil.which("tmux") is None:
        pytest.skip("opencode is not in the cache (`make test` fetches it), or there is no tmux")
    return str(program)


def client_environment(home: Path, token: str) -> dict[str, str]:
    """A home of its own: the client must not find the user's settings, nor what another test chose."""
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
        "OPENCODE_SERVER_PASSWORD": token,
    }


class Tui:
    def __init__(self, argv: list[str], environ: dict[str, str], columns: int = 110) -> None:
        self._argv, self._environ, self._columns = argv, environ, columns
        self._socket = f"tui-{uuid.uuid4().hex[:12]}"

    def __enter__(self) -> Self:
        variables = [f"{name}={value}" for name, value in self._environ.items()]
        command = " ".join(map(shlex.quote, ["env", "-i", *variables, *self._argv]))
        line = f'{command}; echo "[exit $?]"; sleep 3600'
        self._tmux("new-session", "-d", "-s", "t", "-x", str(self._columns), "-y", "50", line)
        self._tmux("set-option", "-g", "escape-time", "0")
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    def expect(self, pattern: str, *, absent: bool = False) -> str:
        """Wait until the screen matches, or no longer does."""
        deadline = time.monotonic() + SECONDS
        while True:
            screen = self.screen()
            if bool(re.search(pattern, screen, re.DOTALL)) != absent:
                return screen
            wanted = "still there" if absent else "not seen"
            assert time.monotonic() < deadline, f"{pattern!r} {wanted}; the screen:\n{screen}"
            time.sleep(0.1)

    def press(self, *keys: str) -> None:
        for key in keys:
            self._tmux("send-keys", "-t", "t", key)
            # The interface takes keys that come at once for a paste.
            time.sleep(0.2)

    def interrupt(self) -> None:
        """The second press counts once the interface asks for it; two that arrive at once would be another key."""
        deadline = time.monotonic() + SECONDS
        while "· interrupted" not in self.screen():
            assert time.monotonic() < deadline, self.screen()
            self.press("Escape")
            asked_until = time.monotonic() + 3
            while time.monotonic() < asked_until and "again to interrupt" not in self.screen():
                time.sleep(0.1)

    def write(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", "-l", "--", text)
        self.expect(re.escape(text))

    def prompt(self, text: str) -> None:
        self.write(text)
        self.press("Enter")

    def choose_command(self, name: str) -> None:
        """Type a command, and choose it once it is offered."""
        self.write(name)
        self.expect(f"{name} +[A-Z].*{name}")
        self.press("Enter")

    def answer_questions(self) -> None:
        """Choose the first option of both questions of the scripted model, and submit."""
        self.expect("Which colour should the button have.*1. Red")
        self.press("Enter")
        self.expect("Which checks should run.*1. ")
        self.press("Enter")
        if "Review" not in self.expect(r"\[✓\]|Review"):  # it takes several answers
            self.press("Tab")
        self.expect("Review.*Colour: Red.*Checks: Lint")
        self.press("Enter")


def attached(
    port: int, tmp_path: Path, *more: str, name: str = "home", agent: str = "mock", columns: int = 110
) -> Tui:
    """The interface at the door of a daemon whose token is `TOKEN`."""
    url = f"http://127.0.0.1:{port}/opencode/@{agent}"
    argv = [opencode_program(), "attach", url, "--dir", str(tmp_path), *more]
    return Tui(argv, client_environment(tmp_path / name, TOKEN), columns)


class Cable:
    """A connection to the daemon that can be cut: a proxy of bytes with an address that stays."""

    def __init__(self, port: int) -> None:
        self.target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                self._open.add(source)
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._open.discard(source)
        source.close()

    def cut(self) -> None:
        """Every connection breaks; new ones are possible."""
        for end in list(self._open):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self._listener.close()
        self.cut()


@contextmanager
def cable_to(port: int) -> Iterator[Cable]:
    cable = Cable(port)
    try:
        yield cable
    finally:
        cable.close()
