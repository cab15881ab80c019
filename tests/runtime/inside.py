"""A daemon in the test's own process, for facts that are only visible from inside. Its agents are real processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.daemons import PAUSE, SECONDS
from tests.runtime.paper import followed

from sandbox_agent.agents.base import Agent
from sandbox_agent.config import Config
from sandbox_agent.ops.sessions import SendMessage, accept
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.following import TurnFollowing
from sandbox_agent.schema.events import EventData, decode_event
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.schema.world import REAL, World
from sandbox_agent.store.base import Secrets


@asynccontextmanager
async def running(
    data_dir: Path, agents: dict[str, Agent] | None = None, world: World = REAL, **config: Any
) -> AsyncIterator[Daemon]:
    daemon = Daemon(Config(data_dir=str(data_dir), **{"drain_seconds": 0, **config}), agents, world)
    await daemon.start()
    try:
        async with asyncio.timeout(3 * SECONDS):
            yield daemon
    finally:
        await daemon.stop()
        daemon.release_folder()


async def create(daemon: Daemon, session_id: str = "s", agent: str = "mock") -> str:
    created = await daemon.create(session_id, agent, Settings(str(daemon.folder)), Secrets())
    assert created.problem is None
    return session_id


async def turn(daemon: Daemon, text: str, session_id: str = "s") -> str:
    """A whole turn; all that was streamed of it."""
    before = (await daemon.sessions.show(session_id)).event_count
    accepted = await accept(daemon, SendMessage(session_id, text))
    return await until_turn_ends(daemon, accepted.turn_id, before, session_id)


async def until_turn_ends(daemon: Daemon, turn_id: str, after: int = 0, session_id: str = "s") -> str:
    end = await daemon.sessions.end(session_id)
    following = TurnFollowing(daemon.log, end.channel, session_id, after, turn_id)
    async with followed(following) as paper:
        await paper.until(lambda: b'"type":"turn.ended"' in paper.text)
    return paper.text.decode()


async def data_of(daemon: Daemon, session_id: str = "s") -> list[EventData]:
    """The data of a session's events, up to one page."""
    return [decode_event(row.body).data for row in await daemon.log.read(session_id, 0)]


async def become(holds: Callable[[], bool]) -> None:
    """Poll until this is true."""
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(PAUSE)
