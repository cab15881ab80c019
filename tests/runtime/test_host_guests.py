"""A host between one process and those who talk over it: nobody misses anything, and nobody pays for others."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from sandbox_agent.agents.base import Conversation, Notice, Place, Ready, Start, Wire
from sandbox_agent.agents.mock import Mock, MockWire
from sandbox_agent.agents.scribe import Scribe
from sandbox_agent.runtime.host import Host, Tap
from sandbox_agent.runtime.log import Log
from sandbox_agent.runtime.process import Exit
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.schema.world import REAL, World
from sandbox_agent.store.memory import MemoryStore

SOON = 10.0


class Guest:
    """A session's place, which writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Notice | str] = []

    def heard(self) -> None:
        self.told.append("heard")

    def notice(self, notice: Notice) -> None:
        self.told.append(notice)

    def dying(self) -> None:
        self.told.append("dying")

    def exited(self, exit: Exit) -> None:
        self.told.append("exited")

    def broken(self, message: str) -> None:
        self.told.append(message)


class SharedWire(MockWire):
    """Any number of conversations."""

    def open(self, start: Start) -> Conversation:
        return Conversation(self, start)


class Shared(Mock):
    def wire(self, world: World) -> Wire:
        return SharedWire(world)


def host_of(agent: Mock, folder: Path, native_id: str, tap: Tap | None = None) -> Host:
    place = Place(Path(sys.executable), folder, {})
    launch = agent.launch(place, Settings(str(folder)), native_id, False)
    return Host(agent, launch, Log(MemoryStore()), REAL, "test", lambda host, exit: None, tap)


def start(agent: Mock, native_id: str) -> Start:
    settings = Settings("/ws")
    return Start(Scribe(REAL), settings, agent.metadata(None, settings), native_id)


def test_what_an_agent_says_before_anybody_listens_is_heard_then(tmp_path: Path) -> None:
    async def scenario() -> None:
        said = asyncio.Event()
        agent, guest = Mock(), Guest()
        host = host_of(agent, tmp_path, "c", lambda direction, _: said.set() if direction == "out" else None)
        await host.start(dict(os.environ), str(tmp_path))
        try:
            await asyncio.wait_for(said.wait(), SOON)
            conversation = host.open(start(agent, "c"), guest)
            assert guest.told == []
            host.begin()
            assert guest.told == [Ready(conversation)]
        finally:
            await host.end()

    asyncio.run(scenario())


def test_an_exit_is_told_behind_all_that_the_process_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        agent, guest = Mock(), Guest()
        host = host_of(agent, tmp_path, "c")
        conversation = host.open(start(agent, "c"), guest)
        await host.start(dict(os.environ), str(tmp_path))
        host.process.close_input()
        await asyncio.wait_for(host.process.ended.wait(), SOON)
        assert guest.told == ["dying"]
        host.begin()
        assert guest.told == ["dying", Ready(conversation), "exited"]

    asyncio.run(scenario())


def test_only_those_are_told_who_have_something_to_hear(tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = Shared()
        host = host_of(agent, tmp_path, "c")
        guests = [Guest() for _ in range(100)]
        conversations = [host.open(start(agent, f"c{number}"), guest) for number, guest in enumerate(guests)]
        conversations[42].scribe.start_turn("t")
        host.flush()
        host.flush()
        assert [number for number, guest in enumerate(guests) if guest.told] == [42]
        assert guests[42].told == ["heard"]

    asyncio.run(scenario())
