"""Sessions of an agent that is no longer configured."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.runtime.inside import running
from tests.runtime.recording_outlet import followed

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.mock import Mock
from sandbox_agent.errors import SessionNotFound, UnsupportedAgent
from sandbox_agent.ops.events import ReadEvents, read
from sandbox_agent.ops.sessions import (
    OneSession,
    ReadQueue,
    SendMessage,
    UpdateSession,
    delete,
    get,
    queue,
    send_message,
    update,
)
from sandbox_agent.runtime.following import SessionFollowing
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import Secrets


class Cat(Mock):
    """Named like a program on every PATH, so that the test would notice if that were started."""

    name = "cat"


async def left_with_work(data_dir: Path) -> None:
    """A session that is stopped in the middle of a turn, with a message that waits."""
    async with running(data_dir, {"cat": Cat()}) as daemon:
        await daemon.create("s", "cat", Settings(str(data_dir)), Secrets())
        await send_message(daemon, SendMessage("s", "slow 60"))
        await send_message(daemon, SendMessage("s", "later"))


def test_it_can_be_read_renamed_and_deleted(tmp_path: Path) -> None:
    async def scenario() -> None:
        await left_with_work(tmp_path)
        async with running(tmp_path, AGENTS) as daemon:
            shown = await get(daemon, OneSession("s"))
            assert (shown.agent, shown.state) == ("cat", "running")  # a message waits
            assert len((await read(daemon, ReadEvents("s"))).events) == shown.event_count
            assert (await update(daemon, UpdateSession("s", title="Old"))).title == "Old"
            await delete(daemon, OneSession("s"))
            with pytest.raises(SessionNotFound):
                await get(daemon, OneSession("s"))

    asyncio.run(scenario())


def test_nothing_is_started_for_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        await left_with_work(tmp_path)
        async with running(tmp_path, AGENTS) as daemon:
            with pytest.raises(UnsupportedAgent, match="no agent is called cat"):
                await send_message(daemon, SendMessage("s", "hello"))
            with pytest.raises(UnsupportedAgent):
                await update(daemon, UpdateSession("s", agent_mode="plan"))
            assert daemon.hosts.count == 0

    asyncio.run(scenario())


def test_queued_messages_continue_when_the_agent_is_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        await left_with_work(tmp_path)
        async with running(tmp_path, AGENTS) as daemon:
            waiting = await queue(daemon, ReadQueue("s"))
            assert [message.message for message in waiting.messages] == ["later"]
        async with running(tmp_path, {"cat": Cat()}) as daemon:
            channel = (await daemon.sessions.end("s")).channel
            following = SessionFollowing(daemon.log, channel, "s", 0)
            async with followed(following) as outlet:
                await outlet.until(lambda: b"You said: later" in outlet.text)

    asyncio.run(scenario())
