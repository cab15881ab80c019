"""Running agents: what waits while nobody may hear them, who is told of their end, and who shares a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.runtime.chatty import EXECUTABLE, Alone, Chatty, ChattyWire

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Agent, Conversation, Notice, Start, Wait
from sandbox_agent.agents.scribe import Scribe
from sandbox_agent.errors import AgentProcessExited, Timeout
from sandbox_agent.runtime.host import MOST_HELD_BYTES, Host
from sandbox_agent.runtime.hosts import Hosts, Seat
from sandbox_agent.runtime.log import Log
from sandbox_agent.runtime.process import Exit
from sandbox_agent.runtime.programs import Program
from sandbox_agent.schema.events import SessionMetadata
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.schema.world import REAL
from sandbox_agent.store.memory import MemoryStore

SOON = 10.0


class Tenant:
    """A place at a host that writes down what it is told."""

    def __init__(self, host: Host, name: str) -> None:
        self.told: list[str] = []
        self.host = host
        self.name = name
        self._changed = asyncio.Event()
        scribe = Scribe(REAL, (), "")
        start = Start(scribe, Settings("/tmp"), SessionMetadata("chatty"), name)
        self.conversation: Conversation = host.open(start, self)
        self.conversation.announce("daemon")
        scribe.take()
        host.wire.frame.touched.clear()

    def heard(self) -> None:
        drafts = self.conversation.scribe.take()
        self._tell(f"heard {sum(draft.type == 'item.completed' for draft in drafts)}")

    def notice(self, notice: Notice) -> None:
        self._tell(type(notice).__name__)

    def dying(self) -> None:
        self._tell("dying")

    def exited(self, exit: Exit) -> None:
        self._tell(f"exited {exit.code}")

    def broken(self, message: str) -> None:
        self._tell(f"broken {message}")

    def _tell(self, word: str) -> None:
        self.told.append(word)
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something that it is told makes this true."""
        async with asyncio.timeout(SOON):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


class Running:
    """Hosts in a folder, and the agent they run."""

    def __init__(self, folder: Path, log: Log, agent: Agent) -> None:
        self.agent = agent
        # Processes are found by it: two tests must not end each other's.
        self.hosts = Hosts(log, folder, str(folder).replace("/", "-"), REAL)

    def seat(self, program: str = EXECUTABLE, **env: str) -> Seat:
        return Seat(self.agent, Program(Path(program), None), Settings("/tmp"), env, None, False)

    async def host(self) -> tuple[Host, ChattyWire]:
        host = await self.hosts.get(self.seat())
        assert isinstance(host.wire, ChattyWire)
        return host, host.wire


@asynccontextmanager
async def running(folder: Path, agent: Agent | None = None) -> AsyncIterator[Running]:
    log = Log(MemoryStore())
    running = Running(folder, log, agent or Chatty())
    try:
        async with asyncio.timeout(3 * SOON):
            yield running
    finally:
        await running.hosts.stop_all()
        await log.close()


def say(host: Host, *words: str) -> None:
    assert isinstance(host.wire, ChattyWire)
    for one in words:
        host.wire.say(one)
    host.flush()


async def become(holds: Callable[[], bool]) -> None:
    """Wait for what nobody tells of."""
    async with asyncio.timeout(SOON):
        while not holds():
            await asyncio.sleep(0.01)


# -- holding ----------------------------------------------------------------------------------


def test_nothing_is_heard_before_there_is_somebody_to_hear_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            say(host, "a early")
            await become(lambda: bool(host._held))
            tenant = Tenant(host, "a")
            assert wire.heard == []
            host.begin()
            assert wire.heard == ["a early"]
            host.begin()  # by the second tenant
            say(host, "a late")
            await tenant.until(lambda: tenant.told.count("heard 1") == 2)
            assert wire.heard == ["a early", "a late"]

    asyncio.run(scenario())


def test_while_one_tenant_holds_it_frames_wait_undecoded_and_in_order(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            host.hold()
            host.hold()
            say(host, "a 1", "b 2", "a 3")
            await become(lambda: len(host._held) == 3)
            host.release()
            assert (wire.heard, a.told, b.told) == ([], ["Ready"], ["Ready"])
            host.release()
            assert wire.heard == ["a 1", "b 2", "a 3"]
            # Each is told once, of all that it was said.
            assert (a.told, b.told) == (["Ready", "heard 2"], ["Ready", "heard 1"])

    asyncio.run(scenario())


def test_what_is_said_meanwhile_waits_behind_what_was_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            host.begin()

            def hold_again() -> None:
                tenant.told.append("heard")
                host.hold()

            tenant.heard = hold_again  # type: ignore[method-assign]
            host.hold()
            say(host, "a 1", "a 2")
            await become(lambda: len(host._held) == 2)
            host.release()
            say(host, "a 3")
            await become(lambda: len(host._held) == 1)
            assert wire.heard == ["a 1", "a 2"]
            host.release()
            assert wire.heard == ["a 1", "a 2", "a 3"]

    asyncio.run(scenario())


def test_an_agent_that_is_held_for_long_has_to_wait_itself(tmp_path: Path) -> None:
    lines = 8_000

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            say(host, f"flood a {lines}")
            await become(lambda: host._pauses == 1)
            # What one read more brings is all that may come on top.
            held = host._held_bytes
            assert MOST_HELD_BYTES < held < 2 * MOST_HELD_BYTES
            await asyncio.sleep(0)
            assert host._held_bytes == held
            host.begin()
            assert (host._pauses, host._held_bytes) == (0, 0)
            await tenant.until(lambda: len(wire.heard) == lines)
            assert wire.heard == [f"a {number}" for number in range(lines)]

    asyncio.run(scenario())


# -- ends -------------------------------------------------------------------------------------


def test_only_those_are_told_who_have_something_to_hear(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenants = [Tenant(host, f"tenant{number}") for number in range(100)]
            host.flush()  # each is told that it may begin
            before = [len(tenant.told) for tenant in tenants]
            tenants[42].conversation.scribe.start_turn("t")
            host.flush()
            host.flush()
            new = [len(tenant.told) - count for tenant, count in zip(tenants, before, strict=True)]
            assert new == [number == 42 for number in range(100)]

    asyncio.run(scenario())


def test_an_exit_is_told_behind_all_that_the_agent_said(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            host.flush()
            host.hold()
            say(host, "a last", "exit 3")
            await tenant.until(lambda: "dying" in tenant.told)
            assert (tenant.told, wire.heard) == (["Ready", "dying"], [])
            assert not host.exit_told.is_set()
            host.release()
            assert tenant.told == ["Ready", "dying", "heard 1", "exited 3"]
            assert (host.exit_told.is_set(), here.hosts.count) == (True, 0)

    asyncio.run(scenario())


def test_one_that_ends_before_it_is_heard_is_told_to_whoever_begins(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            say(host, "a word", "exit 0")
            await tenant.until(lambda: "dying" in tenant.told)
            host.begin()
            assert tenant.told == ["Ready", "dying", "heard 1", "exited 0"]

    asyncio.run(scenario())


def test_a_tenant_that_left_is_told_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            await here.hosts.release(host, a.conversation)
            say(host, "a 1", "b 2", "exit 0")
            await b.until(lambda: "exited 0" in b.told)
            assert wire.heard == ["a 1", "b 2"]
            assert a.told == ["Ready"]

    asyncio.run(scenario())


def test_the_catalogue_of_an_agent_that_ends_instead_is_its_end(tmp_path: Path) -> None:
    class Mute(ChattyWire):
        def list_catalogue(self, directory: str) -> None:
            self.say("exit 7" if directory == "/exit" else "nobody cares")

    class Muted(Alone):
        def wire(self, world: object) -> Mute:
            return Mute(REAL)

    async def scenario() -> None:
        async with running(tmp_path, Muted()) as here:
            host, _ = await here.host()
            with pytest.raises(Timeout):
                await host.catalogue("/", 0.01)
            with pytest.raises(AgentProcessExited, match="7"):
                await host.catalogue("/exit", SOON)
            await here.hosts.release(host, None)
            assert here.hosts.count == 0

    asyncio.run(scenario())


# -- faults of ours ---------------------------------------------------------------------------


def test_a_fault_breaks_the_session_whose_frame_it_was_and_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            host.hold()
            # They are heard in one breath: what came before and after is the other's.
            say(host, "b before", "a fault", "b after")
            await become(lambda: len(host._held) == 3)
            host.release()
            assert a.told == ["Ready", "broken the daemon failed on what the agent said: Fault: b'a fault'"]
            assert b.told == ["Ready", "heard 2"]
            assert wire.heard == ["b before", "b after"]
            say(host, "b later")
            await b.until(lambda: b.told[-1] == "heard 1")

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert "Traceback" in caplog.text
    assert "Fault: b'a fault'" in caplog.text


def test_a_fault_that_is_nobodys_breaks_all_of_them(tmp_path: Path) -> None:
    """What the wire knows of any of them may be wrong."""

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            say(host, "nobody fault")
            await a.until(lambda: len(a.told) == 2)
            assert [tenant.told[1].split()[0] for tenant in (a, b)] == ["broken", "broken"]

    asyncio.run(scenario())


def test_a_fault_after_a_wait_breaks_its_session_and_not_whoever_released_the_host(tmp_path: Path) -> None:
    """That may be the log, which has others to serve."""

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.hold()
            wire.notices.append(Wait(a.conversation, 0))
            host.flush()
            await become(lambda: bool(host._waited))
            host.release()
            assert a.told == ["Ready", "broken the daemon failed on what the agent said: Fault: a"]
            assert b.told == ["Ready"]

    asyncio.run(scenario())


# -- seats ------------------------------------------------------------------------------------


def seat(path: str = "/bin/opencode", version: str = "1.0.0", directory: str = "/ws", **env: str) -> Seat:
    program = Program(Path(path), version)
    return Seat(AGENTS["opencode"], program, Settings(directory), env, None, False)


def test_a_server_is_shared_by_version_and_environment_alone() -> None:
    assert seat(A="1", B="2").key() == seat(directory="/other", B="2", A="1").key()
    others = [seat(A="1"), seat(A="2"), seat(version="1.0.1", A="1"), seat("/opt/opencode", A="1")]
    assert len({other.key() for other in others}) == 4


def test_who_comes_at_the_same_time_is_seated_at_the_same_server(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            seated = await asyncio.gather(*(here.hosts.get(here.seat()) for _ in range(5)))
            other = await here.hosts.get(here.seat(OTHER="1"))
            assert len(set(seated)) == 1
            assert other not in seated
            assert (here.hosts.count, len(here.hosts._locks)) == (2, 0)

    asyncio.run(scenario())


def test_a_server_stays_while_somebody_is_on_the_way_to_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            again, _ = await here.host()
            assert again is host
            await here.hosts.release(host, tenant.conversation)
            assert (host.empty, host.process.ended.is_set()) == (False, False)
            # It changed its mind before it opened anything.
            await here.hosts.release(host, None)
            assert (host.empty, host.process.ended.is_set(), here.hosts.count) == (True, True, 0)
            fresh, _ = await here.host()
            assert fresh is not host

    asyncio.run(scenario())


def test_who_comes_to_a_server_that_has_just_ended_is_told_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            await here.host()
            say(host, "exit 5")
            await tenant.until(lambda: "exited 5" in tenant.told)
            with pytest.raises(AgentProcessExited):
                Tenant(host, "b")
            with pytest.raises(AgentProcessExited):
                await host.catalogue("/", SOON)

    asyncio.run(scenario())


def test_one_that_ends_is_not_shared_any_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            say(host, "exit 5")
            await tenant.until(lambda: "exited 5" in tenant.told)
            fresh, _ = await here.host()
            assert fresh is not host
            status = here.hosts.server_status(here.agent)
            assert status is not None
            assert (status["status"], status["restartCount"]) == ("running", 1)
            assert "5" in status["lastError"]

    asyncio.run(scenario())


def test_a_program_that_cannot_be_started_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            with pytest.raises(AgentProcessExited, match="cannot start"):
                await here.hosts.get(here.seat(VARIABLE="\0"))
            assert (here.hosts.count, len(here.hosts._locks)) == (0, 0)

    asyncio.run(scenario())


def test_a_process_per_session_is_nobody_elses(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Alone()) as here:
            one, two = await asyncio.gather(*(here.hosts.get(here.seat()) for _ in range(2)))
            assert one is not two
            await here.hosts.release(one, None)
            assert (one.process.ended.is_set(), two.process.ended.is_set()) == (True, False)
            assert here.hosts.count == 1

    asyncio.run(scenario())
