"""The socket through which one process of an agent uses the desktop.

The agent starts `tool_server.py` as for a client's tools. One connection is one call, which the daemon carries out itself: whether
it may is decided before, when the agent asks for permission.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ..private_files import write_private
from ..schema.inputs import McpServer
from ..schema.tools import ToolOutcome
from .client_tools import MAX_REQUEST_BYTES, REQUEST_SECONDS, SERVER
from .private_folder import private_folder

if TYPE_CHECKING:
    from ..desktop.tools import DesktopTools

logger = logging.getLogger("sandbox_agent.tools")

MAX_CALLS = 8
TIMEOUT_MS = 660_000
"""Longer than any action takes."""


class _Request(Struct, frozen=True):
    secret: str
    tool: str
    arguments: Any = msgspec.field(default_factory=dict)


class DesktopSocket:
    def __init__(self, tools: DesktopTools) -> None:
        self._tools = tools
        self._secret = secrets.token_urlsafe(32)
        self._calls: set[asyncio.Task[None]] = set()
        self._folder: Path | None = None
        self._listener: asyncio.Server | None = None

    async def open(self, instance: str) -> McpServer:
        """Listen, and return the server that the agent has to start."""
        from ..desktop.tools import described

        self._folder = folder = private_folder(instance)
        write_private(folder / "tools.json", msgspec.json.encode(described()))
        write_private(folder / "secret", self._secret.encode())
        self._listener = await asyncio.start_unix_server(
            self._accept, str(folder / "socket"), limit=MAX_REQUEST_BYTES
        )
        arguments = ("-I", "-S", str(SERVER), str(folder))
        return McpServer(sys.executable, arguments, timeout_ms=TIMEOUT_MS)

    def close(self) -> None:
        """Accept nothing more. `end` then ends what was launched."""
        if self._listener is not None:
            self._listener.close()
        for call in self._calls:
            call.cancel()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def end(self) -> None:
        self.close()
        await self._tools.leave()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            outcome = await self._answer(reader)
            if outcome is not None:
                writer.write(msgspec.json.encode(outcome) + b"\n")
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass  # nobody waits for it any more
        except Exception:
            logger.exception("a tool of the desktop failed")
        finally:
            self._calls.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> ToolOutcome | None:
        """None for an unknown caller, and for an agent that no longer waits."""
        try:
            line = await asyncio.wait_for(reader.readline(), REQUEST_SECONDS)
            request = msgspec.json.decode(line, type=_Request)
        except (TimeoutError, ValueError, RecursionError):
            return None
        if not secrets.compare_digest(request.secret.encode(), self._secret.encode()):
            return None
        if len(self._calls) > MAX_CALLS:
            return ToolOutcome(f"{MAX_CALLS} calls are already being carried out", failed=True)
        acting = asyncio.ensure_future(self._tools.call(request.tool, request.arguments))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((acting, leaving), return_when=asyncio.FIRST_COMPLETED)
            return await acting if acting.done() else None
        finally:
            for task in (acting, leaving):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(acting, leaving, return_exceptions=True)
