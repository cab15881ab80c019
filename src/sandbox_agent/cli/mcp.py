"""`mcp`: the Model Context Protocol on stdin and stdout. Passes each request to the daemon, and again if the daemon was restarted."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import aclosing

import msgspec

from ..agents.environment import INSIDE
from ..agents.jsonrpc import Call as RpcCall
from ..agents.jsonrpc import Note, Refusal, RequestId, RpcError, read
from ..client.aio.transport import AsyncTransport
from ..client.call import IDEMPOTENCY_KEY, Call, new_key
from ..client.failures import DaemonUnreachable
from ..config import PREFIX
from ..doors.mcp.frames import INTERNAL_ERROR, INVALID_REQUEST, Cancelled, unreadable
from ..errors import SandboxAgentError
from .ancestors import variable_around
from .background_daemon import find_client
from .failures import CommandFailed
from .stdio import Stdout, lines_of_stdin, open_stdout

MAX_REQUESTS = 100


def mcp(args: argparse.Namespace) -> int:
    if not (getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")) and (
        agent := variable_around(INSIDE)
    ):
        raise CommandFailed(
            f"this command runs inside a session of {agent}, which can start others only if it was created with this server "
            "in `mcp`, as in --mcp agents='sandbox-agent mcp'"
        )
    asyncio.run(_serve(args))
    return 0


async def _serve(args: argparse.Namespace) -> None:
    client, is_ours = find_client(args)
    query = {"agent": args.agent} if args.agent else {}
    if is_ours:  # another machine has other directories
        query["directory"] = os.getcwd()
    async with client:
        bridge = Bridge(client.transport, query, await open_stdout())
        try:
            async with aclosing(lines_of_stdin()) as lines:
                async for line in lines:
                    await bridge.take(line)
        finally:
            await bridge.close()


class Bridge:
    def __init__(self, transport: AsyncTransport, query: dict[str, str], stdout: Stdout) -> None:
        self._transport = transport
        self._query = query
        self._stdout = stdout
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    async def take(self, line: bytes) -> None:
        try:
            message = read(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self._stdout.send(unreadable(error))
            return
        match message:
            case RpcCall(id) if id in self._open or len(self._open) >= MAX_REQUESTS:
                await self._refuse(
                    id, "the request id is in use, or too many requests are open", INVALID_REQUEST
                )
            case RpcCall(id):
                task = asyncio.get_running_loop().create_task(self._pass_on(message, line))
                self._open[id] = task
                task.add_done_callback(lambda _: self._open.pop(id, None))
            case Note("notifications/cancelled", params):
                self._cancel(params)

    async def close(self) -> None:
        """Only the waiting ends: sessions belong to the daemon."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _pass_on(self, request: RpcCall, line: bytes) -> None:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        call = Call("POST", "/mcp", self._query, headers, line)
        try:
            if request.method != "tools/call":
                await self._stdout.send((await self._transport.send(call)).content)
            else:
                call = call.with_header("Accept", "text/event-stream")
                # If the answer is lost, the same key finds what the call has begun.
                await self._follow(call.with_header(IDEMPOTENCY_KEY, new_key()))
        except SandboxAgentError as problem:
            await self._refuse(request.id, problem.detail, INTERNAL_ERROR)

    async def _follow(self, call: Call) -> None:
        """Pass on the messages until the answer, which is the last one."""
        patience = self._transport.patience()
        while True:
            try:
                stream = self._transport.frames(call, lambda _: patience.connected())
                async with aclosing(stream) as frames:
                    async for frame in frames:
                        await self._stdout.send(frame.data)
                        if not isinstance(read(frame.data), Note):
                            return
                raise DaemonUnreachable("the daemon ended the call without an answer", sent=True)
            except SandboxAgentError as error:
                await self._transport.pause(patience, error)

    async def _refuse(self, id: RequestId, reason: str, code: int) -> None:
        await self._stdout.send(
            msgspec.json.encode(Refusal(id=id, error=RpcError(reason, code), version="2.0"))
        )

    def _cancel(self, params: msgspec.Raw) -> None:
        try:
            cancelled = msgspec.json.decode(params, type=Cancelled).request_id
        except (msgspec.DecodeError, RecursionError):
            return
        if cancelled is not None and (task := self._open.get(cancelled)) is not None:
            task.cancel()
