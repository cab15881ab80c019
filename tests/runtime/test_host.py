"""Running agents: what happens to output during a hold, who is notified of an exit, and who shares a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.daemons import SECONDS
from tests.runtime.chatty import EXECUTABLE, Alone, Chatty, ChattyWire
from tests.runtime.inside import wait_until

from sandbox_agent.agents.base import Agent, Conversation, Listed, ListFailed, Notice, Start, Wait
from sandbox_agent.agents.frames import InFrame
from sandbox_agent.agents.scribe import Scribe
from sandbox_agent.errors import AgentProcessExited, StreamError, Timeout
from sandbox_agent.processes.guardian import marked
from sandbox_agent.runtime.host import MAX_HELD_BYTES, Host
from sandbox_agent.runtime.hosts import HostRequest, Hosts
from sandbox_agent.runtime.log import Log
from sandbox_agent.runtime.process import Exit
from sandbox_agent.runtime.programs import Program
from sandbox_agent.schema.events import SessionMetadata
from sandbox_agent.schema.features import Catalogue, Command
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.schema.world import REAL
from sandbox_agent.store.memory import MemoryStore


class Tenant:
    """A tenant of a host that records its notifications."""

    def __init__(self, host: Host, name: str) -> None:
        self.notices: list[str] = []
        self.host = host
        self.name = name
        self._changed = asyncio.Event()
        scribe = Scribe(REAL, (), "")
        start = Start(scribe, Settings("/tmp"), SessionMetadata("chatty"), name)
        self.conversation: Conversation = host.open(start, self)
        self.conversation.announce("daemon")
        scribe.take()
        host.wire.frame.touched.clear()

    def output_ready(self) -> None:
        drafts = self.conversation.scribe.take()
        self._tell(f"output {sum(draft.type == 'item.completed' for draft in drafts)}")

    def notice(self, notice: Notice) -> None:
        self._tell(type(notice).__name__)

    def dying(self) -> None:
        self._tell("dying")

    def exited(self, exit: Exit) -> None:
        self._tell(f"exited {exit.code}")

    def broken(self, message: str) -> None:
        self._tell(f"broken {message}")

    def _tell(self, word: str) -> None:
        self.notices.append(word)
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a notification makes this true."""
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


class Running:
    """Hosts in a folder, and the agent they run."""

    def __init__(self, folder: Path, log: Log, agent: Agent) -> None:
        self.agent = agent
        # Processes are found by it: two tests must not end each other's.
        self.hosts = Hosts(log, folder, str(folder).replace("/", "-"), REAL)

    def request(self, program: str = EXECUTABLE, **env: str) -> HostRequest:
        return HostRequest(self.agent, Program(Path(program), None), Settings("/tmp"), env, None, False)

    async def host(self) -> tuple[Host, ChattyWire]:
        host = await self.hosts.get(self.request())
        assert isinstance(host.wire, ChattyWire)
        return host, host.wire


@asynccontextmanager
async def running(folder: Path, agent: Agent | None = None) -> AsyncIterator[Running]:
    log = Log(MemoryStore())
    running = Running(folder, log, agent or Chatty())
    try:
        async with asyncio.timeout(3 * SECONDS):
            yield running
    finally:
        await running.hosts.stop_all()
        await log.close()


def say(host: Host, *words: str) -> None:
    assert isinstance(host.wire, ChattyWire)
    for word in words:
        host.wire.say(word)
    host.flush()


# -- holding ----------------------------------------------------------------------------------


def test_output_waits_for_the_first_tenant(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            say(host, "a early")
            await wait_until(lambda: bool(host._held))
            tenant = Tenant(host, "a")
            assert wire.received == []
            host.begin()
            assert wire.received == ["a early"]
            host.begin()  # by the second tenant
            say(host, "a late")
            await tenant.until(lambda: tenant.notices.count("output 1") == 2)
            assert wire.received == ["a early", "a late"]

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
            await wait_until(lambda: len(host._held) == 3)
            host.release()
            assert (wire.received, a.notices, b.notices) == ([], ["Ready"], ["Ready"])
            host.release()
            assert wire.received == ["a 1", "b 2", "a 3"]
            # Each is notified once, for all of its output.
            assert (a.notices, b.notices) == (["Ready", "output 2"], ["Ready", "output 1"])

    asyncio.run(scenario())


def test_later_output_waits_behind_held_output(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            host.begin()

            def hold_again() -> None:
                tenant.notices.append("output")
                host.hold()

            tenant.output_ready = hold_again  # type: ignore[method-assign]
            host.hold()
            say(host, "a 1", "a 2")
            await wait_until(lambda: len(host._held) == 2)
            host.release()
            say(host, "a 3")
            await wait_until(lambda: len(host._held) == 1)
            assert wire.received == ["a 1", "a 2"]
            host.release()
            assert wire.received == ["a 1", "a 2", "a 3"]

    asyncio.run(scenario())


def test_a_long_hold_applies_back_pressure(tmp_path: Path) -> None:
    lines = 8_000

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            say(host, f"flood a {lines}")
            await wait_until(lambda: host._pauses == 1)
            # At most one more read may arrive on top of that.
            held = host._held_bytes
            assert MAX_HELD_BYTES < held < 2 * MAX_HELD_BYTES
            await asyncio.sleep(0)
            assert host._held_bytes == held
            host.begin()
            assert (host._pauses, host._held_bytes) == (0, 0)
            await tenant.until(lambda: len(wire.received) == lines)
            assert wire.received == [f"a {number}" for number in range(lines)]

    asyncio.run(scenario())


# -- ends -------------------------------------------------------------------------------------


def test_only_tenants_with_output_are_notified(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenants = [Tenant(host, f"tenant{number}") for number in range(100)]
            host.flush()  # each gets its `Ready`
            before = [len(tenant.notices) for tenant in tenants]
            tenants[42].conversation.scribe.start_turn("t")
            host.flush()
            host.flush()
            new = [len(tenant.notices) - count for tenant, count in zip(tenants, before, strict=True)]
            assert new == [number == 42 for number in range(100)]

    asyncio.run(scenario())


def test_an_exit_is_reported_after_all_output(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            host.flush()
            host.hold()
            say(host, "a last", "exit 3")
            await tenant.until(lambda: "dying" in tenant.notices)
            assert (tenant.notices, wire.received) == (["Ready", "dying"], [])
            assert not host.exit_reported.is_set()
            host.release()
            assert tenant.notices == ["Ready", "dying", "output 1", "exited 3"]
            assert (host.exit_reported.is_set(), here.hosts.count) == (True, 0)

    asyncio.run(scenario())


def test_an_early_exit_is_reported_to_the_first_tenant(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            say(host, "a word", "exit 0")
            await tenant.until(lambda: "dying" in tenant.notices)
            host.begin()
            assert tenant.notices == ["Ready", "dying", "output 1", "exited 0"]

    asyncio.run(scenario())


def test_a_tenant_that_left_is_not_notified(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            await here.hosts.release(host, a.conversation)
            say(host, "a 1", "b 2", "exit 0")
            await b.until(lambda: "exited 0" in b.notices)
            assert wire.received == ["a 1", "b 2"]
            assert a.notices == ["Ready"]

    asyncio.run(scenario())


def test_an_exit_during_the_catalogue_request_is_reported(tmp_path: Path) -> None:
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
                await host.catalogue("/exit", SECONDS)
            await here.hosts.release(host, None)
            assert here.hosts.count == 0

    asyncio.run(scenario())


def test_a_process_ends_with_its_last_session_while_its_catalogue_is_awaited(tmp_path: Path) -> None:
    class Mute(ChattyWire):
        def list_catalogue(self, directory: str) -> None:
            self.say("nobody cares")

    class Muted(Alone):
        def wire(self, world: object) -> Mute:
            return Mute(REAL)

    async def scenario() -> None:
        async with running(tmp_path, Muted()) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            listing = asyncio.ensure_future(host.catalogue("/", SECONDS))
            await asyncio.sleep(0)
            await here.hosts.release(host, tenant.conversation)
            assert (host.process.ended.is_set(), here.hosts.count) == (True, 0)
            with pytest.raises(AgentProcessExited):
                await listing

    asyncio.run(scenario())


def test_simultaneous_requests_for_catalogues_get_those_of_their_directories(tmp_path: Path) -> None:
    class Listing(ChattyWire):
        def list_catalogue(self, directory: str) -> None:
            self.say(f"catalogue {directory}")

        def feed(self, frame: InFrame) -> None:
            assert isinstance(frame, bytes)
            directory = frame.decode().split()[1]
            if directory == "/none":
                self.notices.append(ListFailed("there is none", directory))
            else:
                catalogue = Catalogue(commands=(Command(directory, ""),))
                self.notices.append(Listed(catalogue, directory))

    class Lists(Chatty):
        def wire(self, world: object) -> Listing:
            return Listing(REAL)

    async def scenario() -> None:
        async with running(tmp_path, Lists()) as here:
            host, _ = await here.host()
            asked = [host.catalogue(directory, SECONDS) for directory in ("/none", "/a", "/b", "/a")]
            none, *found = await asyncio.gather(*asked, return_exceptions=True)
            assert isinstance(none, StreamError)
            assert [each.commands[0].name for each in found if isinstance(each, Catalogue)] == [
                "/a",
                "/b",
                "/a",
            ]

    asyncio.run(scenario())


# -- internal errors --------------------------------------------------------------------------


def test_an_internal_error_breaks_only_the_session_of_the_frame(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            host.hold()
            # All three arrive in one read; the first and the last belong to the other session.
            say(host, "b before", "a fault", "b after")
            await wait_until(lambda: len(host._held) == 3)
            host.release()
            assert a.notices == [
                "Ready",
                "broken the daemon could not process the output of the agent: Fault: b'a fault'",
            ]
            assert b.notices == ["Ready", "output 2"]
            assert wire.received == ["b before", "b after"]
            say(host, "b later")
            await b.until(lambda: b.notices[-1] == "output 1")

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert "Traceback" in caplog.text
    assert "Fault: b'a fault'" in caplog.text


def test_an_internal_error_without_an_owner_breaks_all_sessions(tmp_path: Path) -> None:
    """What the wire knows about any of them may be wrong."""

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.flush()
            say(host, "nobody fault")
            await a.until(lambda: len(a.notices) == 2)
            assert [tenant.notices[1].split()[0] for tenant in (a, b)] == ["broken", "broken"]

    asyncio.run(scenario())


def test_an_error_after_a_delay_breaks_only_its_own_session(tmp_path: Path) -> None:
    """The caller may be the log, which serves other sessions, too."""

    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, wire = await here.host()
            a, b = Tenant(host, "a"), Tenant(host, "b")
            host.begin()
            host.hold()
            wire.notices.append(Wait(a.conversation, 0))
            host.flush()
            await wait_until(lambda: bool(host._waited))
            host.release()
            assert a.notices == [
                "Ready",
                "broken the daemon could not process the output of the agent: Fault: a",
            ]
            assert b.notices == ["Ready"]

    asyncio.run(scenario())


# -- sharing a server ----------------------------------------------------------------------


def test_simultaneous_requests_share_one_server(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            hosts = await asyncio.gather(*(here.hosts.get(here.request()) for _ in range(5)))
            other = await here.hosts.get(here.request(OTHER="1"))
            assert len(set(hosts)) == 1
            assert other not in hosts
            assert (here.hosts.count, len(here.hosts._locks)) == (2, 0)

    asyncio.run(scenario())


def test_a_server_stays_while_a_session_is_about_to_join(tmp_path: Path) -> None:
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


def test_joining_a_server_that_just_exited_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            await here.host()
            say(host, "exit 5")
            await tenant.until(lambda: "exited 5" in tenant.notices)
            with pytest.raises(AgentProcessExited):
                Tenant(host, "b")
            with pytest.raises(AgentProcessExited):
                await host.catalogue("/", SECONDS)

    asyncio.run(scenario())


def test_a_server_that_ends_is_no_longer_shared(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as here:
            host, _ = await here.host()
            tenant = Tenant(host, "a")
            host.begin()
            say(host, "exit 5")
            await tenant.until(lambda: "exited 5" in tenant.notices)
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
                await here.hosts.get(here.request(VARIABLE="\0"))
            assert (here.hosts.count, len(here.hosts._locks)) == (0, 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("agent", [Chatty(), Alone()], ids=lambda agent: agent.name)
def test_a_start_that_is_cancelled_leaves_no_process(tmp_path: Path, agent: Agent) -> None:
    async def scenario() -> None:
        async with running(tmp_path, agent) as here:
            starting = asyncio.ensure_future(here.hosts.get(here.request()))
            while not marked(here.hosts.instance):
                await asyncio.sleep(0)
            assert not starting.done()
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
            await wait_until(lambda: not marked(here.hosts.instance))
            assert (here.hosts.count, len(here.hosts._locks)) == (0, 0)

    asyncio.run(scenario())


def test_an_unshared_process_serves_one_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Alone()) as here:
            one, two = await asyncio.gather(*(here.hosts.get(here.request()) for _ in range(2)))
            assert one is not two
            await here.hosts.release(one, None)
            assert (one.process.ended.is_set(), two.process.ended.is_set()) == (True, False)
            assert here.hosts.count == 1

    asyncio.run(scenario())
