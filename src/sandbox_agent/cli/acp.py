"""`acp --agent NAME`: the Agent Client Protocol on stdin and stdout. One JSON per line; the end of stdin is the end."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping

from ..agents import AGENTS
from ..agents.environment import own_family
from ..client.aio.client import AsyncSandboxAgent
from ..config import PREFIX
from ..doors.acp.connection import Connection
from ..runtime.framing import LineSplitter, LineTooLong
from .acp_operations import RemoteOperations
from .background_daemon import BackgroundTransport, find_or_start
from .failures import WrongUsage
from .output import say
from .remote import find_address
from .state import data_dir, is_own, running_daemon

CHUNK = 64 << 10
LINE_LIMIT = 64 << 20
NEEDS_PIPES = "stdin and stdout must be pipes or a terminal, not files"


def acp(args: argparse.Namespace) -> int:
    asyncio.run(_serve(args))
    return 0


async def _serve(args: argparse.Namespace) -> None:
    client, env = _client(args)
    async with client:
        stdout = Stdout(await _writer())
        connection = Connection(RemoteOperations(client, env), stdout, args.agent, args.session)
        try:
            await _read_all(connection)
        finally:
            await connection.close()


def _client(args: argparse.Namespace) -> tuple[AsyncSandboxAgent, Mapping[str, str]]:
    """A client of the daemon that is named or running, or of one that is started, and the variables for its agents."""
    folder = data_dir(args)
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    state = running_daemon(folder)
    # A daemon whose token was chosen by the user needs that token.
    if named or (state is not None and state.token is None):
        address = find_address(args)
        client = AsyncSandboxAgent(address)
        return client, _variables(args.agent) if is_own(folder, address.endpoint) else {}
    address = find_or_start(folder)
    client = AsyncSandboxAgent(address)
    client.transport = BackgroundTransport(folder, address)
    return client, _variables(args.agent)


def _variables(name: str) -> dict[str, str]:
    """The agent's own variables from the editor's environment: the daemon may have been started without them."""
    agent = AGENTS.get(name)
    return own_family(agent, os.environ) if agent else {}


# -- stdin and stdout -------------------------------------------------------------------------------


class Stdout:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, message: bytes, session_id: str | None) -> None:
        self._writer.write(message + b"\n")
        # If nobody reads any more, stdin ends too, and that ends the program.
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()


async def _writer() -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, sys.stdout.buffer
        )
    except ValueError:
        raise WrongUsage(NEEDS_PIPES) from None
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _read_all(connection: Connection) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    except ValueError:
        raise WrongUsage(NEEDS_PIPES) from None
    lines = LineSplitter(LINE_LIMIT)
    while chunk := await reader.read(CHUNK):
        for line in lines.feed(chunk):
            if isinstance(line, LineTooLong):
                say(f"skipped: {line}")
                line = b""  # answered as a message that is not JSON
            await connection.receive(line)
