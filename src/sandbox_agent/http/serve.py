"""Runs the daemon behind uvicorn until it is told to stop; SIGTERM and SIGINT drain it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .. import __version__
from ..config import Config
from ..errors import InvalidRequest, PayloadTooLarge, SandboxAgentError
from ..presence import DaemonState, forget, reachable, save
from ..runtime.daemon import Daemon
from ..runtime.folder import FolderUnusable
from ..store.base import StoreCorrupt, StoreTooNew
from .app import App
from .inspector import address_of
from .logs import configure_logging
from .outlet import OUTLET, Outlet
from .pages import pages

logger = logging.getLogger("sandbox_agent.serve")

PARENT_SECONDS = 0.5
MOST_HEAD_BYTES = 64 << 10

HOW_TO_TOKEN = """\
refusing to start without a token: anyone who can reach this address could run code.
  --token-file FILE   read the token from a file (recommended), e.g.
                      (umask 077; openssl rand -hex 24 > token) && sandbox-agent server --token-file token
  --token TOKEN       or the variable SANDBOX_AGENT_TOKEN
  --no-token          only where nobody else can connect"""


def serve(config: Config) -> int:
    """Run until stopped. Returns the exit code."""
    configure_logging(config.log_level)
    try:
        token = token_of(config)
        with bound_socket(config) as listening:
            return _run(config, token, listening)
    except (InvalidRequest, FolderUnusable, StoreCorrupt, StoreTooNew) as error:
        print(f"sandbox-agent: {error}", file=sys.stderr)  # noqa: T201
        return 1


def token_of(config: Config) -> str | None:
    """The token to demand; None only when that was said aloud."""
    if config.token_file is not None:
        try:
            token = Path(config.token_file).expanduser().read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"cannot read --token-file {config.token_file}: {error}") from None
        if not token:
            raise InvalidRequest(f"--token-file {config.token_file} is empty")
        return _fit_for_a_header(token)
    if config.token:
        return _fit_for_a_header(config.token)
    if config.no_token:
        return None
    raise InvalidRequest(HOW_TO_TOKEN)


def _fit_for_a_header(token: str) -> str:
    if not token.isascii() or not token.isprintable():
        raise InvalidRequest(
            "a token must be of printable ASCII characters: many clients could not send this one"
        )
    return token


@contextlib.contextmanager
def bound_socket(config: Config) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((config.host, config.port))
        except OSError as error:
            hint = "; is another daemon running? `--port 0` picks a free port"
            raise InvalidRequest(
                f"cannot listen on {config.host}:{config.port}: {error.strerror}"
                f"{hint if error.errno == errno.EADDRINUSE else ''}"
            ) from None
        listening.listen(2048)
        yield listening


def _run(config: Config, token: str | None, listening: socket.socket) -> int:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config, token, listening))


async def _serve(config: Config, token: str | None, listening: socket.socket) -> int:
    daemon = Daemon(config)
    server = uvicorn.Server(_uvicorn_config(App(daemon, config, token, pages())))
    # Our own handlers: a signal drains the daemon first, and stops the server when that is done.
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    serving = loop.create_task(server.serve(sockets=[listening]))
    await daemon.start()
    gc.freeze()
    gc.enable()
    address = _address(config, listening)
    if config.parent_pid is None:  # one that belongs to a program is not for others
        _leave_word(daemon.folder, address)
    _say_where(address, token)
    waiting = loop.create_task(stopping.wait())
    watching = loop.create_task(_watch_parent(config.parent_pid, stopping))
    await asyncio.wait({waiting, serving}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    watching.cancel()
    logger.info("stopping")
    if config.parent_pid is None:
        forget(daemon.folder)
    await daemon.stop()
    server.should_exit = True
    await serving
    return 0


async def _watch_parent(parent: int | None, stopping: asyncio.Event) -> None:
    """Stop when the program that started us is gone, also by SIGKILL. Asked of the system, because a signal at the parent's
    death would come at the end of the thread that started us, and only on Linux."""
    while parent is not None and not stopping.is_set():
        if os.getppid() != parent:
            stopping.set()
        await asyncio.sleep(PARENT_SECONDS)


class _Protocol(HttpToolsProtocol):
    """What cannot be read as HTTP is answered with a problem, like everything else that is wrong."""

    _unfinished = 0  # bytes that have brought neither the end of a head nor a piece of a body
    _in_head = False
    _outlet: Outlet | None = None

    def data_received(self, data: bytes) -> None:
        """The parser keeps a head until it is whole, however long it gets: anybody could fill the memory with one."""
        self._unfinished += len(data)
        super().data_received(data)
        if self._unfinished > MOST_HEAD_BYTES and not self.transport.is_closing():
            if self._in_head and (self.cycle is None or self.cycle.response_complete):
                limit = f"the head of a request may have {MOST_HEAD_BYTES} bytes"
                self._refuse("413 Content Too Large", PayloadTooLarge(limit, limit=MOST_HEAD_BYTES))
            self.transport.close()

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()
        self.scope["extensions"] = {OUTLET: {"open": self._open_outlet}}

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unfinished = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        super().on_body(body)

    def _open_outlet(self) -> Outlet:
        self.flow.resume_reading()  # to see the reader go
        self._outlet = Outlet(self.transport)
        return self._outlet

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._outlet is not None:
            self._outlet.fill()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._outlet is not None:
            self._outlet.drain()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._outlet is not None:
            self._outlet.leave()

    def send_400_response(self, msg: str) -> None:
        self._refuse("400 Bad Request", InvalidRequest("the request cannot be read as HTTP"))

    def _refuse(self, status: str, error: SandboxAgentError) -> None:
        body = msgspec.json.encode(error.problem())
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def _uvicorn_config(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # Nobody may claim another address with a header.
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )


def _address(config: Config, listening: socket.socket) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"http://{host}:{listening.getsockname()[1]}"


def _leave_word(folder: Path, address: str) -> None:
    """For clients on this machine. Without the token: whoever chose it keeps it where they want."""
    with contextlib.suppress(OSError):
        save(folder, DaemonState(os.getpid(), reachable(address), None, __version__))


def _say_where(address: str, token: str | None) -> None:
    print(f"listening on {address}", file=sys.stderr)  # noqa: T201
    sys.stderr.flush()
    # With a token, for whoever reads along. A log that is kept in a file is no place for one.
    is_kept = stat.S_ISREG(os.fstat(sys.stderr.fileno()).st_mode)
    with contextlib.suppress(OSError):
        print(
            f"inspector    {address_of(address, token)}",
            file=sys.stdout if is_kept else sys.stderr,
            flush=True,
        )
