"""The process of an agent that asks for permission through helper programs: their questions and answers are frames too.

A helper connects to the socket named by `SANDBOX_AGENT_DELEGATE`, in a folder that only the owner can enter. Each connection is one
question: a line that goes to the wire undecoded, as a `DelegateAsk`. A `DelegateReply` is the answer; every other frame goes to
the agent's stdin.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from ..agents.frames import DelegateAsk, DelegateReply, OutFrame
from .framing import LineSplitter
from .private_folder import private_folder
from .process import AgentProcess, Exit, ExitHandler, FramesHandler

VARIABLE = "SANDBOX_AGENT_DELEGATE"


class DelegatingProcess(AgentProcess):
    def __init__(self, instance: str, on_frames: FramesHandler, on_exit: ExitHandler) -> None:
        super().__init__(instance, on_frames, self._process_exited)
        self._instance = instance
        self._pass_on = on_frames
        self._tell_exit = on_exit
        self._ids = (f"delegate-{number}" for number in itertools.count(1))
        self._connections: dict[str, _Connection] = {}
        self._folder: Path | None = None
        self._listener: asyncio.Server | None = None

    async def start(self, argv: Sequence[str], env: Mapping[str, str], directory: str) -> None:
        self._folder = private_folder(self._instance)
        path = self._folder / "socket"
        try:
            self._listener = await asyncio.get_running_loop().create_unix_server(
                lambda: _Connection(next(self._ids), self._connections, self._pass_on), str(path)
            )
            await super().start(argv, {**env, VARIABLE: f"unix:{path}"}, directory)
        except BaseException:
            self._close()
            raise

    def write(self, frames: Sequence[OutFrame]) -> None:
        lines = []
        for frame in frames:
            if not isinstance(frame, DelegateReply):
                lines.append(frame)
            elif connection := self._connections.get(frame.id):
                connection.answer(frame)
        if lines:
            super().write(lines)

    def _process_exited(self, exit: Exit) -> None:
        self._close()
        self._tell_exit(exit)

    def _close(self) -> None:
        """Open questions get no answer, which counts as a rejection."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._connections.values()):
            connection.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class _Connection(asyncio.Protocol):
    """One question and its answer; the dictionary holds the open ones."""

    def __init__(self, id: str, open_ones: dict[str, _Connection], on_frames: FramesHandler) -> None:
        self._id = id
        self._open_ones = open_ones
        self._pass_on = on_frames
        self._lines = LineSplitter()
        self._asked = False
        self._transport: asyncio.Transport

    def answer(self, reply: DelegateReply) -> None:
        line = msgspec.json.encode({"allow": reply.allow, "message": reply.message, "answers": reply.answers})
        self._transport.write(line + b"\n")
        self.close()

    def close(self) -> None:
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._open_ones[self._id] = self

    def data_received(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if self._asked or not isinstance(line, bytes):
                self.close()
                return
            self._asked = True
            self._pass_on([DelegateAsk(self._id, line)])

    def connection_lost(self, error: Exception | None) -> None:
        self._open_ones.pop(self._id, None)
