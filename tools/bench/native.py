"""Drives one agent through its native protocol, as a good client would: a separate process that runs `Say` orders.

One long-lived agent on plain pipes or on its own HTTP server, without our guardian, log or HTTP. Independent of our
adapters, so that it has none of their costs: it searches bytes for markers instead of parsing.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import sys
import time
import uuid
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, cast

import msgspec
import uvloop
from msgspec import Struct

from sandbox_agent.testing.offline import offline_environment

from .load import Client, Marks, Order, Outcome, Reader, follow, post, take_orders

START_SECONDS = 60.0


class Say(Order, frozen=True):
    """Prompt the agent and wait for its own end of the turn."""

    prompt: str


class Plan(Struct, frozen=True):
    """The agent to drive, and its directories."""

    agent: str
    program: str
    home: str
    model_url: str

    @property
    def workspace(self) -> Path:
        return Path(self.home) / "workspace"

    def environment(self) -> dict[str, str]:
        given = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**given, **offline_environment(self.agent, self.model_url, Path(self.home))}


class Ear(asyncio.SubprocessProtocol):
    """Waits for one marker at a time on the agent's stdout."""

    def __init__(self) -> None:
        self._rest = b""
        self._stderr = b""
        self._mark = self._delta = b"\0"
        self._heard: asyncio.Future[tuple[float, bytes]] = asyncio.get_running_loop().create_future()
        self.deltas = 0

    def listen_for(self, mark: str, delta: str = "\0") -> asyncio.Future[tuple[float, bytes]]:
        """The first line with this marker, and its time. Counts lines with the other marker."""
        self._mark, self._delta = mark.encode(), delta.encode()
        self._heard = asyncio.get_running_loop().create_future()
        self.deltas = 0
        return self._heard

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        now = time.perf_counter()
        if fd != 1:
            self._stderr = (self._stderr + data)[-2000:]
            return
        lines, _, rest = (self._rest + data).rpartition(b"\n")
        self._rest = rest
        self.deltas += lines.count(self._delta)
        at = lines.find(self._mark)
        if at >= 0 and not self._heard.done():
            line = lines[lines.rfind(b"\n", 0, at) + 1 :].partition(b"\n")[0]
            self._heard.set_result((now, line))

    def process_exited(self) -> None:
        if not self._heard.done():
            self._heard.set_exception(
                RuntimeError(f"the agent ended: {self._stderr.decode(errors='replace')}")
            )


class Native(ABC):
    """One agent, driven through its native protocol."""

    end: ClassVar[str]
    """Marker of the end of a turn."""
    delta: ClassVar[str]
    """Marker of each piece of text (or of the whole text, if the agent does not stream)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @abstractmethod
    def command(self) -> list[str]: ...

    async def start(self) -> None:
        self.plan.workspace.mkdir(parents=True, exist_ok=True)
        loop = asyncio.get_running_loop()
        self.process, self.ear = await loop.subprocess_exec(
            Ear,
            self.plan.program,
            *self.command(),
            cwd=self.plan.workspace,
            env=self.plan.environment(),
            # As the daemon starts its agents: the kernel distributes the CPU by session.
            start_new_session=True,
        )
        await asyncio.wait_for(self.open(), START_SECONDS)

    @abstractmethod
    async def open(self) -> None:
        """Initialize the agent and start a conversation."""

    def write(self, *messages: object) -> None:
        stdin = cast(asyncio.WriteTransport, self.process.get_pipe_transport(0))
        stdin.write(b"".join(msgspec.json.encode(message) + b"\n" for message in messages))

    async def ask(self, *messages: object, answer: str) -> bytes:
        heard = self.ear.listen_for(answer)
        self.write(*messages)
        return (await heard)[1]

    @abstractmethod
    def prompt(self, text: str) -> object: ...

    async def turn(self, order: Say) -> Outcome:
        ended = self.ear.listen_for(self.end, self.delta)
        message = self.prompt(order.prompt)
        began = time.perf_counter()
        self.write(message)
        try:
            at, _ = await asyncio.wait_for(ended, order.seconds)
        except TimeoutError:
            return Outcome(hung=1)
        return Outcome(delivered=(self.ear.deltas,), turn=at - began)


class Claude(Native):
    """stream-json with the control protocol."""

    end = '"type":"result"'
    delta = '"text_delta"'

    def command(self) -> list[str]:
        return [
            *("--print", "--verbose", "--include-partial-messages"),
            *("--input-format=stream-json", "--output-format=stream-json"),
            *("--permission-prompt-tool=stdio", f"--session-id={uuid.uuid4()}"),
        ]

    async def open(self) -> None:
        hello = {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}
        await self.ask(hello, answer='"control_response"')

    def prompt(self, text: str) -> object:
        return {"type": "user", "message": {"role": "user", "content": text}, "client_composed": True}


class Codex(Native):
    """app-server, with the same access as under the daemon."""

    end = '"method":"turn/completed"'
    delta = '"method":"item/agentMessage/delta"'

    def command(self) -> list[str]:
        return ["app-server"]

    async def open(self) -> None:
        client = {"clientInfo": {"name": "bench", "title": "bench", "version": "1"}}
        await self.ask({"id": 1, "method": "initialize", "params": client}, answer='"id":1,')
        access = {"approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
        new = {"id": 2, "method": "thread/start", "params": {"cwd": str(self.plan.workspace), **access}}
        opened = await self.ask({"method": "initialized"}, new, answer='"id":2,')
        self._thread = msgspec.json.decode(opened)["result"]["thread"]["id"]

    def prompt(self, text: str) -> object:
        words = [{"type": "text", "text": text}]
        return {"id": 3, "method": "turn/start", "params": {"threadId": self._thread, "input": words}}


class Pi(Native):
    """rpc, without the extension that the daemon adds."""

    end = '"type":"agent_settled"'
    delta = '"text_delta"'

    def command(self) -> list[str]:
        return ["--mode", "rpc", "--session-id", str(uuid.uuid4())]

    async def open(self) -> None:
        await self.ask({"type": "get_state", "id": "1"}, answer='"command":"get_state"')

    def prompt(self, text: str) -> object:
        return {"type": "prompt", "message": text, "id": "2"}


class Amp(Native):
    """stream-json, without an initialization; a turn ends with the answer."""

    end = delta = '"stop_reason":"end_turn"'

    def command(self) -> list[str]:
        return ["-x", "--stream-json", "--stream-json-input"]

    async def open(self) -> None:
        pass

    def prompt(self, text: str) -> object:
        return {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}


class OpenCode(Native):
    """serve: prompts on one keep-alive connection, events on another."""

    end = '"status":{"type":"idle"}'
    delta = '"message.part.delta"'

    def command(self) -> list[str]:
        return ["serve", "--hostname", "127.0.0.1", "--port", "0"]

    async def open(self) -> None:
        _, line = await self.ear.listen_for("listening on")
        self._port = int(re.findall(rb":(\d+)", line)[-1])
        where = f"?directory={self.plan.workspace}"
        self._path = f"/session/{self._new_session(where)}/prompt_async{where}"
        loop = asyncio.get_running_loop()
        marks = Marks(self.delta, self.end)
        self._client = await self._connect()
        _, self._events = await loop.create_connection(lambda: Reader(marks), "127.0.0.1", self._port)
        self._events.transport.write(follow(self._port, "/global/event"))
        await self._events.status

    def _new_session(self, where: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=START_SECONDS)
        connection.request("POST", f"/session{where}", b"{}", {"Content-Type": "application/json"})
        created = msgspec.json.decode(connection.getresponse().read(), type=dict[str, object])
        connection.close()
        return str(created["id"])

    async def _connect(self) -> Client:
        _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", self._port)
        return client

    def prompt(self, text: str) -> object:
        return {"parts": [{"type": "text", "text": text}]}

    async def turn(self, order: Say) -> Outcome:
        self._events.begin()
        if self._client.transport.is_closing():  # the server has closed a connection that was idle for long
            self._client = await self._connect()
        request = post(self._port, self._path, msgspec.json.encode(self.prompt(order.prompt)))
        began = time.perf_counter()
        answer = self._client.ask(request)
        try:
            await asyncio.wait_for(asyncio.gather(answer, self._events.turn_ended), order.seconds)
        except TimeoutError:
            return Outcome(hung=1)
        assert self._events.ended_at is not None
        wrong = int(answer.result() >= 300)
        return Outcome(wrong=wrong, delivered=(self._events.events,), turn=self._events.ended_at - began)


NATIVE: dict[str, type[Native]] = {
    "claude": Claude,
    "codex": Codex,
    "opencode": OpenCode,
    "pi": Pi,
    "amp": Amp,
}


async def main() -> None:
    plan = msgspec.json.decode(sys.argv[1], type=Plan)
    native = NATIVE[plan.agent](plan)
    await native.start()
    await take_orders(Say, native.turn)


if __name__ == "__main__":
    uvloop.run(main())
