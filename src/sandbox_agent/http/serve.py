"""Runs the daemon behind uvicorn until it is stopped; SIGTERM and SIGINT drain it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn

from .. import __version__
from ..config import Config
from ..errors import InvalidRequest, Unavailable
from ..presence import DaemonState, forget, reachable, save
from ..processes.descriptors import raise_limit
from ..runtime.daemon import Daemon
from ..runtime.folder import FolderUnusable
from ..store.base import StoreCorrupt, StoreTooNew
from .app import App
from .connection import Connection
from .gate import is_loopback
from .inspector import address_of
from .logs import configure_logging
from .pages import pages
from .patience import Patience
from .readiness import notify
from .token import Token, token_of
from .websocket import MAX_MESSAGE_BYTES, websocket_protocol

if TYPE_CHECKING:
    from ..ops.carriage import OperationCarriage

logger = logging.getLogger("sandbox_agent.serve")

PARENT_SECONDS = 0.5


def serve(config: Config) -> int:
    """Run until stopped. Returns the exit code."""
    configure_logging(config.log_level)
    raise_limit()
    try:
        token = token_of(config)
        with bound_socket(config) as listening:
            return _run(config, token, listening)
    except (InvalidRequest, Unavailable, FolderUnusable, StoreCorrupt, StoreTooNew) as error:
        print(f"sandbox-agent: {error}", file=sys.stderr)  # noqa: T201
        return 1


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


def _run(config: Config, token: Token | None, listening: socket.socket) -> int:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(config, token, listening))


async def _serve(config: Config, token: Token | None, listening: socket.socket) -> int:
    daemon = Daemon(config)
    server = uvicorn.Server(_uvicorn_config(App(daemon, config, token and token.text, pages())))
    # Own handlers: a signal drains the daemon first, and then stops the server.
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment, method-assign]
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    serving = loop.create_task(server.serve(sockets=[listening]))
    waiting = loop.create_task(stopping.wait())
    watching = loop.create_task(_watch_parent(config.parent_pid, stopping))
    if await _joined(daemon, waiting):
        await daemon.start(_carriage(daemon))
        gc.freeze()
        gc.enable()
        address = _address(config, listening)
        if config.parent_pid is None:  # a daemon that belongs to a program is not for others
            _write_state(daemon.folder, address)
        _print_addresses(address, token)
        notify("READY=1")
        ends: set[asyncio.Future[Any]] = {waiting, serving, daemon.broken}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    watching.cancel()
    logger.info("stopping")
    notify("STOPPING=1")
    if config.parent_pid is None:
        forget(daemon.folder)
    await daemon.stop()
    server.should_exit = True
    await serving
    daemon.release_folder()
    if daemon.broken.done():
        print(f"sandbox-agent: {daemon.broken.result()}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _carriage(daemon: Daemon) -> OperationCarriage | None:
    """How daemons that share a log pass requests on to each other."""
    if daemon.cluster is None:
        return None
    from ..ops.carriage import OperationCarriage

    return OperationCarriage(daemon)


async def _joined(daemon: Daemon, stopping: asyncio.Task[Any]) -> bool:
    """Wait until the daemon has joined those that share its log, or is stopped."""
    joining = asyncio.get_running_loop().create_task(daemon.join())
    await asyncio.wait({joining, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not joining.done():
        joining.cancel()
        return False
    await joining
    return True


async def _watch_parent(parent: int | None, stopping: asyncio.Event) -> None:
    """Stop when the parent program is gone, even by SIGKILL. Polled, because a parent-death signal is sent when the
    starting thread ends, and only on Linux."""
    while parent is not None and not stopping.is_set():
        if os.getppid() != parent:
            stopping.set()
        await asyncio.sleep(PARENT_SECONDS)


def _uvicorn_config(app: App) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=functools.partial(Connection, Patience(), app.is_dialogue),  # type: ignore[arg-type]  # it is only ever called
        ws=websocket_protocol,  # type: ignore[arg-type]  # likewise
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # a terminal's frames are small and must be fast
        lifespan="off",
        loop="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # No client may claim another address with a header.
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )


def _address(config: Config, listening: socket.socket) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"http://{host}:{listening.getsockname()[1]}"


def _write_state(folder: Path, address: str) -> None:
    """For clients on this machine. Without the token: the user who chose it decides where it is kept."""
    with contextlib.suppress(OSError):
        save(folder, DaemonState(os.getpid(), reachable(address), None, __version__))


def _print_addresses(address: str, token: Token | None) -> None:
    print(f"listening on {address}", file=sys.stderr, flush=True)  # noqa: T201
    if token is None and not is_loopback(urlsplit(address).hostname or ""):
        print("warning      no token: anyone who can reach this address can run code", file=sys.stderr)  # noqa: T201
    # Show the token only on a terminal. Other output may be kept in a container's or system's log.
    terminal = next((stream for stream in (sys.stderr, sys.stdout) if stream.isatty()), None)
    lines = [f"inspector    {address_of(address, token.text if token and terminal else None)}"]
    if token and not terminal:
        lines.append(f"token        is in {token.source}")
    with contextlib.suppress(OSError):
        print(*lines, sep="\n", file=terminal or sys.stderr, flush=True)
