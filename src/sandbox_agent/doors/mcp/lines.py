"""MCP with one program over a connection of lines. Its requests are served in tasks, which end with the connection."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import msgspec

from ...agents.jsonrpc import Call, Note, RequestId, RpcError, read
from ...ops.delegation import Lines
from .frames import INVALID_REQUEST, Cancelled, unreadable
from .reporting import messages_of
from .server import Server, refusal

MAX_REQUESTS = 100
"""Requests that may be open at the same time."""


async def converse(server: Server, lines: Lines) -> None:
    """Serve it until it is gone."""
    conversation = _Conversation(server, lines)
    try:
        while (line := await lines.receive()) is not None:
            await conversation.take(line)
    finally:
        await conversation.close()


class _Conversation:
    def __init__(self, server: Server, lines: Lines) -> None:
        self._server = server
        self._lines = lines
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    async def take(self, line: bytes) -> None:
        try:
            message = read(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self._lines.send(unreadable(error))
            return
        match message:
            case Call(id) if id in self._open:
                await self._refuse(message, f"the request id {id} is in use")
            case Call() if len(self._open) >= MAX_REQUESTS:
                await self._refuse(message, "too many requests are open")
            case Call(id):
                task = asyncio.get_running_loop().create_task(self._serve(message))
                self._open[id] = task
                task.add_done_callback(lambda _: self._open.pop(id, None))
            case Note("notifications/cancelled"):
                self._cancel(message)

    async def close(self) -> None:
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, call: Call) -> None:
        async with aclosing(messages_of(self._server, call, None)) as messages:
            async for message in messages:
                if message is not None:
                    await self._lines.send(message)

    async def _refuse(self, call: Call, reason: str) -> None:
        await self._lines.send(refusal(call, RpcError(reason, INVALID_REQUEST)))

    def _cancel(self, note: Note) -> None:
        """The caller no longer waits. Work that its call has started continues."""
        try:
            cancelled = msgspec.json.decode(note.params, type=Cancelled).request_id
        except (msgspec.DecodeError, RecursionError):
            return
        if cancelled is not None and (task := self._open.get(cancelled)) is not None:
            task.cancel()
