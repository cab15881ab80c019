"""The socket through which one process of an agent calls the tools of its session's client.

The agent starts `tool_server.py`, an MCP server, which finds the tools, the secret and the socket in a folder that only the owner
can enter. One connection is one call: a line `{"secret", "tool", "arguments"}` arrives, the line of a `ToolOutcome` goes back. The
folder is gone with the process.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from ..private_files import write_private
from ..schema.inputs import McpServer
from ..schema.tools import Tool, ToolOutcome
from ..session.inputs import Input, ToolCalled, ToolGivenUp, ToolUnannounced
from .framing import LineSplitter
from .private_folder import private_folder
from .tool_schemas import ToolSchemas

logger = logging.getLogger("sandbox_agent.tools")

DEFAULT_SECONDS = 600.0
ANNOUNCE_SECONDS = 1.0
"""How long the agent may take to announce a call that it has already made, with its arguments."""
LAST_ANNOUNCE_SECONDS = 5.0
"""How long it may take to announce it at all."""
REQUEST_SECONDS = 10.0
"""How long a connection may take to say what it wants."""
MAX_REQUEST_BYTES = 1 << 20
MAX_CALLS = 64
"""Calls that may wait at once."""
GRACE_SECONDS = 30.0
"""How much longer the agent waits than we do: our answer says more than its own timeout."""

SERVER = Path(__file__).with_name("tool_server.py")


class _Request(Struct, frozen=True):
    secret: str
    tool: str
    arguments: Any = msgspec.field(default_factory=dict)


_request = msgspec.json.Decoder(_Request)


class ClientTools:
    def __init__(
        self, tools: Sequence[Tool], timeout_ms: int | None, attempt: int, step: Callable[[Input], None]
    ) -> None:
        self.attempt = attempt
        self.step = step
        self.seconds = timeout_ms / 1000 if timeout_ms is not None else DEFAULT_SECONDS
        self.secret = secrets.token_urlsafe(32)
        self.calls: dict[str, _Call] = {}
        self.schemas = ToolSchemas(tools)
        self._tools = tools
        self._keys = (f"client-tool-{number}" for number in itertools.count(1))
        self._folder: Path | None = None
        self._listener: asyncio.Server | None = None

    async def open(self, instance: str) -> McpServer:
        """Listen, and return the server that the agent has to start."""
        self._folder = folder = private_folder(instance)
        write_private(folder / "tools.json", msgspec.json.encode(self._tools))
        write_private(folder / "secret", self.secret.encode())
        self._listener = await asyncio.get_running_loop().create_unix_server(
            lambda: _Call(self, next(self._keys)), str(folder / "socket")
        )
        timeout_ms = round((self.seconds + GRACE_SECONDS) * 1000)
        # The script alone, without our package: it starts with every process.
        arguments = ("-I", "-S", str(SERVER), str(folder))
        return McpServer(sys.executable, arguments, timeout_ms=timeout_ms)

    def give(self, key: str, outcome: ToolOutcome) -> None:
        if call := self.calls.get(key):
            call.answer(outcome)

    def close(self) -> None:
        """Calls that wait get no answer, which their server reports as an error."""
        if self._listener is not None:
            self._listener.close()
        for call in list(self.calls.values()):
            call.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class _Call(asyncio.Protocol):
    """One call of a tool, from its request to its outcome."""

    def __init__(self, tools: ClientTools, key: str) -> None:
        self._tools = tools
        self._key = key
        self._lines = LineSplitter(MAX_REQUEST_BYTES)
        self._asked = False
        self._timers: list[asyncio.TimerHandle] = []
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if len(self._tools.calls) >= MAX_CALLS:
            self._fail(f"{MAX_CALLS} calls are already waiting for an answer")
            return
        self._tools.calls[self._key] = self
        self._after(REQUEST_SECONDS, self.close)

    def data_received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if self._asked or self._transport.is_closing():
                self.close()
                return
            self._asked = True
            self._stop_timers()
            if isinstance(line, bytes):
                self._call(line)
            else:
                self._fail(f"the arguments are larger than {MAX_REQUEST_BYTES >> 20} MiB")

    def _call(self, line: bytes) -> None:
        tools = self._tools
        try:
            request = _request.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            self.close()
            return
        if not secrets.compare_digest(request.secret.encode(), tools.secret.encode()):
            self.close()
            return
        if problem := tools.schemas.problem_with(request.tool, request.arguments):
            self._fail(problem)
            return
        self._after(
            ANNOUNCE_SECONDS, lambda: tools.step(ToolUnannounced(tools.attempt, self._key, final=False))
        )
        self._after(LAST_ANNOUNCE_SECONDS, lambda: tools.step(ToolUnannounced(tools.attempt, self._key)))
        self._after(tools.seconds, self._give_up)
        tools.step(ToolCalled(tools.attempt, self._key, request.tool, request.arguments))

    def _give_up(self) -> None:
        why = f"no client answered this call within {self._tools.seconds:g} s"
        self._tools.step(ToolGivenUp(self._tools.attempt, self._key, why))

    def answer(self, outcome: ToolOutcome) -> None:
        self._transport.write(msgspec.json.encode(outcome) + b"\n")
        self.close()

    def close(self) -> None:
        """Nobody waits for this call any more."""
        self._stop_timers()
        self._tools.calls.pop(self._key, None)
        self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._key in self._tools.calls:
            self.close()
            if self._asked:
                why = "the agent no longer waits for the result"
                self._tools.step(ToolGivenUp(self._tools.attempt, self._key, why))

    def _fail(self, why: str) -> None:
        self.answer(ToolOutcome(why, failed=True))

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, act))

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
