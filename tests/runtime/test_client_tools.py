"""The socket for a client's tools: who may use it, for what, and how much of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox_agent.runtime import client_tools
from sandbox_agent.runtime.client_tools import ClientTools
from sandbox_agent.schema.inputs import McpServer
from sandbox_agent.schema.tools import Tool, ToolOutcome
from sandbox_agent.session.inputs import Input, ToolCalled, ToolGivenUp

TOOLS = (Tool("look", "Look something up.", {"type": "object", "properties": {"at": {"type": "string"}}}),)


class ToolSocket:
    """A socket with tools, and the inputs that the session gets through it."""

    def __init__(self, tools: ClientTools, server: McpServer, inputs: asyncio.Queue[Input]) -> None:
        self.tools = tools
        self.server = server
        self.inputs = inputs
        self.folder = Path(server.args[-1])
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(str(self.folder / "socket"))
        self._writers.append(writer)
        return reader, writer

    async def disconnect(self) -> None:
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def ask(self, **request: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(json.dumps({"secret": self.tools.secret, "tool": "look", **request}).encode() + b"\n")
        return reader, writer

    async def called(self) -> ToolCalled:
        news = await asyncio.wait_for(self.inputs.get(), 10)
        assert isinstance(news, ToolCalled)
        return news


@asynccontextmanager
async def tool_socket(timeout_ms: int | None = None) -> AsyncIterator[ToolSocket]:
    inputs: asyncio.Queue[Input] = asyncio.Queue()
    tools = ClientTools(TOOLS, timeout_ms, 1, inputs.put_nowait)
    socket = ToolSocket(tools, await tools.open("test"), inputs)
    try:
        yield socket
    finally:
        tools.close()
        await socket.disconnect()


def test_a_call_gets_its_outcome() -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            reader, _ = await socket.ask(arguments={"at": "x"})
            call = await socket.called()
            assert (call.name, call.arguments) == ("look", {"at": "x"})
            socket.tools.give(call.key, ToolOutcome("found"))
            assert json.loads(await reader.readline()) == {"output": "found"}

    asyncio.run(run())


def test_only_the_owner_can_enter_and_nothing_secret_is_on_the_command_line() -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            assert stat.S_IMODE(socket.folder.stat().st_mode) == 0o700
            for name in ("secret", "tools.json"):
                assert stat.S_IMODE((socket.folder / name).stat().st_mode) == 0o600
            assert socket.tools.secret not in " ".join(socket.server.args) + str(socket.server.env)
        assert not socket.folder.exists()

    asyncio.run(run())


@pytest.mark.parametrize(
    "line",
    [b"{}\n", b"nonsense\n", b'{"secret":"wrong","tool":"look"}\n', b"[" * 5000 + b"\n", b"\xff\xfe\n"],
)
def test_an_unknown_caller_gets_no_answer(line: bytes) -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            reader, writer = await socket.connect()
            writer.write(line)
            assert await asyncio.wait_for(reader.read(), 10) == b""
            assert socket.inputs.empty()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"tool": "other"}, "there is no tool"),
        ({"arguments": {"at": 1}}, "do not match"),
        ({"arguments": [1]}, "not an object"),
        ({"arguments": {"at": "x" * (2 << 20)}}, "larger than 1 MiB"),
    ],
)
def test_a_call_that_no_client_should_see_fails(request_: dict[str, Any], reason: str) -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            reader, _ = await socket.ask(**request_)
            outcome = json.loads(await asyncio.wait_for(reader.readline(), 10))
            assert outcome["failed"]
            assert reason in outcome["output"]
            assert socket.inputs.empty()

    asyncio.run(run())


def test_more_calls_than_may_wait_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_tools, "MAX_CALLS", 2)

    async def run() -> None:
        async with tool_socket() as socket:
            for _ in range(2):
                await socket.ask(arguments={})
                await socket.called()
            reader, _ = await socket.ask(arguments={})
            assert "2 calls are already waiting" in (await asyncio.wait_for(reader.readline(), 10)).decode()

    asyncio.run(run())


def test_an_agent_that_hangs_up_takes_its_call_back() -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            _, writer = await socket.ask(arguments={})
            call = await socket.called()
            writer.close()
            news = await asyncio.wait_for(socket.inputs.get(), 10)
            assert isinstance(news, ToolGivenUp)
            assert (news.key, news.why) == (call.key, "the agent no longer waits for the result")
            assert socket.tools.calls == {}

    asyncio.run(run())


def test_the_server_answers_mcp_and_reports_progress_while_it_waits() -> None:
    async def run() -> None:
        async with tool_socket() as socket:
            assert socket.server.command is not None
            server = await asyncio.create_subprocess_exec(
                socket.server.command,
                "-c",
                # The same script, but impatient.
                "import runpy, sys; sys.argv = sys.argv[1:]; import threading; wait = threading.Event.wait; "
                "threading.Event.wait = lambda self, timeout=None: wait(self, timeout and min(timeout, 0.05)); "
                "runpy.run_path(sys.argv[0], run_name='__main__')",
                *socket.server.args[2:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            assert server.stdin is not None
            assert server.stdout is not None

            def send(method: str, **params: Any) -> None:
                assert server.stdin is not None
                line = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
                server.stdin.write(json.dumps(line).encode() + b"\n")

            async def message() -> dict[str, Any]:
                assert server.stdout is not None
                found: dict[str, Any] = json.loads(await asyncio.wait_for(server.stdout.readline(), 20))
                return found

            send("initialize", protocolVersion="2025-06-18")
            assert (await message())["result"]["capabilities"] == {"tools": {}}
            send("tools/list")
            (tool,) = (await message())["result"]["tools"]
            assert (tool["name"], tool["inputSchema"]["type"]) == ("look", "object")
            send("nonsense")
            assert (await message())["error"]["code"] == -32601
            send("tools/call", name="look", arguments={"at": "x"}, _meta={"progressToken": 7})
            call = await socket.called()
            assert (await message())["params"]["progressToken"] == 7
            socket.tools.give(call.key, ToolOutcome("no luck", failed=True))
            while "result" not in (last := await message()):
                pass
            assert last["result"] == {"content": [{"type": "text", "text": "no luck"}], "isError": True}
            server.stdin.close()
            assert await asyncio.wait_for(server.wait(), 20) == 0

    asyncio.run(run())
