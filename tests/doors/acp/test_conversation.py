"""A conversation whose stream of events breaks off while a prompt is on its way to the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from sandbox_agent.doors.acp.conversation import Conversation
from sandbox_agent.doors.acp.frames import AnyUpdate, Block, ClientCapabilities
from sandbox_agent.doors.acp.operations import Message
from sandbox_agent.errors import Unavailable
from sandbox_agent.schema.events import Event, decode_event
from sandbox_agent.schema.features import Command
from sandbox_agent.schema.options import Choices
from sandbox_agent.schema.sessions import SessionInfo

TIME = "2026-01-27T19:10:11.123Z"
SESSION: dict[str, Any] = {
    "sessionId": "s",
    "agent": "mock",
    "agentMode": "build",
    "permissionMode": "default",
    "model": None,
    "variant": None,
    "title": None,
    "directory": "/",
    "nativeSessionId": None,
    "state": "idle",
    "ended": False,
    "eventCount": 1,
    "createdAt": TIME,
    "updatedAt": TIME,
    "usage": {},
}


def _event(sequence: int, type: str, data: dict[str, Any]) -> Event:
    envelope = {"event_id": f"evt_{sequence}", "sequence": sequence, "time": TIME, "session_id": "s"}
    rest = {"native_session_id": None, "source": "daemon", "synthetic": True, "raw": None}
    return decode_event(msgspec.json.encode({**envelope, **rest, "type": type, "data": data}))


STARTED = _event(2, "turn.started", {"phase": "started", "turn_id": "turn_1"})
ENDED = _event(
    3,
    "turn.ended",
    {"phase": "ended", "turn_id": "turn_1", "metadata": {"stop_reason": "end_turn", "duration_ms": 1}},
)


class Distant:
    """A daemon whose first stream breaks off before the prompt is accepted, and an editor that shows nothing."""

    capabilities = ClientCapabilities()

    def __init__(self) -> None:
        self.is_sending = asyncio.Event()
        self.is_broken = asyncio.Event()

    async def events(self, session_id: str, after: int) -> AsyncGenerator[Event, None]:
        if not self.is_broken.is_set():
            await self.is_sending.wait()
            self.is_broken.set()
            raise Unavailable("the daemon is away")
        yield STARTED
        yield ENDED

    async def send(self, session_id: str, message: Message) -> str:
        self.is_sending.set()
        await self.is_broken.wait()
        await asyncio.sleep(0)  # the reader of the stream notices it first
        return "turn_1"

    async def get(self, session_id: str) -> SessionInfo:
        return msgspec.convert(SESSION, SessionInfo)

    async def commands(self, session_id: str) -> Sequence[Command]:
        return ()

    async def update(self, session_id: str, update: AnyUpdate) -> None: ...

    async def ask(self, session_id: str, method: str, params: object) -> Raw:
        raise AssertionError(method)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)


def test_a_prompt_is_answered_if_the_stream_broke_off_while_it_was_sent() -> None:
    async def scenario() -> str:
        distant = Distant()
        session = await distant.get("s")
        conversation = Conversation(distant, distant, session, Choices())  # type: ignore[arg-type]  # what is not called
        conversation.follow(1, 1)
        async with asyncio.timeout(10):
            return (await conversation.prompt([Block(type="text", text="hello")])).stop_reason

    assert asyncio.run(scenario()) == "end_turn"
