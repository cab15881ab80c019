"""Sessions in memory: loaded only by a command, once at a time, unloaded when at rest, and reloaded after an internal error."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec
import pytest
from tests.runtime.inside import create, data_of, running, turn, until_turn_ends, wait_until
from tests.runtime.recording_outlet import followed

from sandbox_agent.agents.base import Conversation, Files, Wire
from sandbox_agent.agents.mock import Mock, MockWire
from sandbox_agent.errors import (
    Conflict,
    IdempotencyMismatch,
    Internal,
    InvalidRequest,
    SessionAlreadyExists,
    SessionNotFound,
)
from sandbox_agent.ops.approvals import permissions, questions
from sandbox_agent.ops.events import FollowEvents, ReadEvents, follow, read
from sandbox_agent.ops.sessions import (
    CancelTurn,
    ListSessions,
    OneSession,
    ReadQueue,
    SendMessage,
    UpdateSession,
    cancel,
    delete,
    get,
    list_sessions,
    queue,
    send_message,
    terminate,
    update,
)
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.following import SessionFollowing
from sandbox_agent.runtime.group import Group, Written
from sandbox_agent.runtime.host import Host
from sandbox_agent.runtime.hosts import HostRequest
from sandbox_agent.runtime.live import next_command_id
from sandbox_agent.schema.events import SessionEnded, TurnEnded
from sandbox_agent.schema.inputs import Attachment, Prompt, Settings
from sandbox_agent.schema.world import REAL, World
from sandbox_agent.session.inputs import Cancel, Send
from sandbox_agent.store.base import Secrets, Store
from sandbox_agent.store.sqlite import SqliteStore

SHORT = 0.05


def nothing_in_memory(daemon: Daemon) -> bool:
    """No machine, no end of the log, no lock, no process."""
    sessions = daemon.sessions
    return not (sessions._live or sessions._ends or len(sessions._locks) or daemon.hosts.count)


def stop_reasons(data: list[object]) -> list[str]:
    return [event.metadata.stop_reason for event in data if isinstance(event, TurnEnded)]


# -- unloading --------------------------------------------------------------------------------


def test_a_session_at_rest_is_unloaded_and_the_next_message_resumes_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await turn(daemon, "remember me")
            await wait_until(lambda: nothing_in_memory(daemon))
            assert "remember me" in await turn(daemon, "memory")
            await wait_until(lambda: nothing_in_memory(daemon))

    asyncio.run(scenario())


def test_an_ended_session_is_unloaded_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await terminate(daemon, OneSession("s"))
            assert nothing_in_memory(daemon)
            # Also after one that was deleted, and after a command that loads it for nothing.
            await terminate(daemon, OneSession("s"))
            await delete(daemon, OneSession("s"))
            assert nothing_in_memory(daemon)

    asyncio.run(scenario())


def test_reading_loads_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await turn(daemon, "hello")
            await wait_until(lambda: nothing_in_memory(daemon))
            session = OneSession("s")
            assert (await get(daemon, session)).state == "idle"
            assert len((await list_sessions(daemon, ListSessions())).sessions) == 1
            assert (await queue(daemon, ReadQueue("s"))).messages == []
            assert (await permissions(daemon, session)).permissions == []
            assert (await questions(daemon, session)).questions == []
            assert (await read(daemon, ReadEvents("s"))).events
            assert nothing_in_memory(daemon)

    asyncio.run(scenario())


def test_a_command_that_changes_nothing_leaves_nothing_in_memory(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await wait_until(lambda: nothing_in_memory(daemon))
            await cancel(daemon, CancelTurn("s"))
            assert nothing_in_memory(daemon)
            await update(daemon, UpdateSession("s", title="New"))
            assert nothing_in_memory(daemon)
            assert (await get(daemon, OneSession("s"))).title == "New"

    asyncio.run(scenario())


def test_a_stream_that_never_began_leaves_nothing_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_agent.runtime.sessions.UNREAD_SECONDS", SHORT)

    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await terminate(daemon, OneSession("s"))
            count = (await get(daemon, OneSession("s"))).event_count
            assert await follow(daemon, FollowEvents("s", offset=count)) is None
            with pytest.raises(Conflict):
                await follow(daemon, FollowEvents("s", offset=count + 1))
            assert await follow(daemon, FollowEvents("s")) is not None  # its reader goes before it begins
            await wait_until(lambda: nothing_in_memory(daemon))

    asyncio.run(scenario())


def test_a_reader_that_comes_too_late_for_its_end_of_the_log_is_disconnected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes back and finds the one that is in use; on the old one it would wait forever."""
    monkeypatch.setattr("sandbox_agent.runtime.sessions.UNREAD_SECONDS", SHORT)

    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await wait_until(lambda: nothing_in_memory(daemon))
            channel = (await daemon.sessions.end("s")).channel
            await wait_until(lambda: nothing_in_memory(daemon))
            async with followed(SessionFollowing(daemon.log, channel, "s", 0)) as outlet:
                await wait_until(lambda: channel.readers == 0)
            assert outlet.numbers == list(range(1, channel.committed + 1))

    asyncio.run(scenario())


def test_a_reader_stays_while_the_session_is_unloaded_and_reloaded(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            end = await daemon.sessions.end("s")
            async with followed(SessionFollowing(daemon.log, end.channel, "s", 0)) as outlet:
                await wait_until(lambda: daemon.sessions.counts()["sessions_loaded"] == 0)
                assert list(daemon.sessions._ends) == ["s"]
                accepted = await send_message(daemon, SendMessage("s", "hello"))
                await outlet.until(lambda: b"turn.ended" in outlet.text)
                assert accepted.turn_id.encode() in outlet.text
            assert outlet.numbers == list(range(1, len(outlet.numbers) + 1))
            await wait_until(lambda: nothing_in_memory(daemon))

    asyncio.run(scenario())


# -- loading ----------------------------------------------------------------------------------


def test_simultaneous_loads_get_the_same_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await wait_until(lambda: nothing_in_memory(daemon))
            machines = []
            all_have_it = asyncio.Barrier(3)

            async def load() -> None:
                async with daemon.sessions.loaded("s") as live:
                    machines.append(live.machine)
                    await all_have_it.wait()

            await asyncio.gather(load(), load(), daemon.sessions.end("s"), load())
            assert len({id(machine) for machine in machines}) == 1
            assert not daemon.sessions._live

    asyncio.run(scenario())


def test_messages_that_come_at_once_to_a_session_at_rest_all_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            await create(daemon)
            await wait_until(lambda: nothing_in_memory(daemon))
            sent = await asyncio.gather(
                *(send_message(daemon, SendMessage("s", f"message {n}")) for n in range(5))
            )
            for each in sent:
                await until_turn_ends(daemon, each.turn_id)
            assert stop_reasons(list(await data_of(daemon))) == ["end_turn"] * 5

    asyncio.run(scenario())


def test_a_session_is_invisible_while_it_is_created(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            creating = asyncio.create_task(create(daemon))
            await wait_until(lambda: bool(daemon.sessions._live))
            for looking in (
                daemon.sessions.show("s"),
                daemon.sessions.end("s"),
                terminate(daemon, OneSession("s")),
            ):
                with pytest.raises(SessionNotFound):
                    await looking
            with pytest.raises(SessionAlreadyExists):
                await create(daemon)
            await creating
            assert (await get(daemon, OneSession("s"))).state == "idle"

    asyncio.run(scenario())


def test_of_simultaneous_creates_with_one_id_one_succeeds(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            wanted = (create(daemon) for _ in range(6))
            done = await asyncio.gather(*wanted, return_exceptions=True)
            assert [type(result) for result in done if result != "s"] == [SessionAlreadyExists] * 5
            assert daemon.hosts.count == 1

    asyncio.run(scenario())


# -- callers ----------------------------------------------------------------------------------


def test_a_caller_that_goes_away_only_stops_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            async with daemon.sessions.loaded("s") as live:
                asking = asyncio.create_task(live.ask(Send(next_command_id(), Prompt("hello"))))
                await asyncio.sleep(0)
                asking.cancel()
                await asyncio.wait([asking])
                assert asking.cancelled()
                assert not live._callers
            # Nobody waits for it, but it still runs.
            end = await daemon.sessions.end("s")
            async with followed(SessionFollowing(daemon.log, end.channel, "s", 0)) as outlet:
                await outlet.until(lambda: b"turn.ended" in outlet.text)
            assert stop_reasons(list(await data_of(daemon))) == ["end_turn"]

    asyncio.run(scenario())


def test_a_session_is_created_even_if_its_creator_disconnects(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, idle_seconds=SHORT) as daemon:
            creating = asyncio.create_task(create(daemon))
            await wait_until(lambda: bool(daemon.sessions._live))
            creating.cancel()
            await asyncio.wait([creating])
            await wait_until(lambda: nothing_in_memory(daemon))
            assert (await get(daemon, OneSession("s"))).state == "idle"

    asyncio.run(scenario())


# -- internal errors --------------------------------------------------------------------------


class FaultyWorld:
    """A world in which no turn gets an id while `faulty`: a fault in the middle of a step."""

    def __init__(self) -> None:
        self.faulty = False
        self.world: World = msgspec.structs.replace(REAL, make_id=self._make_id)

    def _make_id(self, prefix: str) -> str:
        if self.faulty and prefix == "turn":
            raise ZeroDivisionError("no ids today")
        return REAL.make_id(prefix)


def test_a_fault_in_a_step_ends_the_process_and_the_session_is_loaded_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        faults = FaultyWorld()
        async with running(tmp_path, world=faults.world) as daemon:
            await create(daemon)
            await create(daemon, "other")
            await turn(daemon, "remember me")
            running_turn = await send_message(daemon, SendMessage("s", "hang"))
            waiting = await send_message(daemon, SendMessage("s", "memory"))
            async with daemon.sessions.loaded("s") as live:
                cancelling = asyncio.create_task(live.ask(Cancel(next_command_id())))
                await asyncio.sleep(0)
            faults.faulty = True
            with pytest.raises(Internal, match="ZeroDivisionError"):
                await send_message(daemon, SendMessage("s", "never"))
            faults.faulty = False
            # Other callers get the same error; the turn is closed from the stored state, and the queue continues.
            with pytest.raises(Internal, match="ZeroDivisionError"):
                await cancelling
            await until_turn_ends(daemon, running_turn.turn_id)
            assert "remember me" in await until_turn_ends(daemon, waiting.turn_id)
            reasons = stop_reasons(list(await data_of(daemon)))
            assert reasons == ["end_turn", "outcome_unknown", "end_turn"]
            assert "You said" in await turn(daemon, "hello", "other")
            assert daemon.hosts.count == 2

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert "session s failed on Send" in caplog.text
    assert "no ids today" in caplog.text


def test_what_was_on_its_way_to_the_disk_at_a_fault_is_written_before_the_session_is_loaded_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        faults = FaultyWorld()
        async with running(tmp_path, world=faults.world) as daemon:
            await create(daemon)
            for _ in range(3):
                flooding = await send_message(daemon, SendMessage("s", "flood 100000 100"))
                end = await daemon.sessions.end("s")
                before = end.committed
                await wait_until(lambda end=end, before=before: end.committed > before)  # type: ignore[misc]
                faults.faulty = True
                with pytest.raises(Internal, match="ZeroDivisionError"):
                    await send_message(daemon, SendMessage("s", "never"))
                faults.faulty = False
                await until_turn_ends(daemon, flooding.turn_id)
            assert "You said" in await turn(daemon, "hello")
            assert not daemon.sessions._dropped

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert "cannot be written" not in caplog.text


def test_a_session_whose_reload_fails_for_a_while_is_loaded_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        faults = FaultyWorld()
        async with running(tmp_path, world=faults.world) as daemon:
            await create(daemon)
            hanging = await send_message(daemon, SendMessage("s", "hang"))
            waiting = await send_message(daemon, SendMessage("s", "hello"))
            store, failures = daemon.log.store, 0

            def unreadable(session_id: str) -> None:
                nonlocal failures
                failures += 1
                raise apsw.IOError("disk I/O error")

            faults.faulty = True
            with monkeypatch.context() as patch:
                patch.setattr(store, "session", unreadable)
                with pytest.raises(Internal, match="ZeroDivisionError"):
                    await send_message(daemon, SendMessage("s", "never"))
                await wait_until(lambda: failures > 0)
            faults.faulty = False
            await until_turn_ends(daemon, hanging.turn_id)
            await until_turn_ends(daemon, waiting.turn_id)
            assert stop_reasons(list(await data_of(daemon))) == ["outcome_unknown", "end_turn"]

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    assert "session s cannot be loaded yet: disk I/O error" in caplog.text


def test_a_queue_that_cannot_be_read_at_the_start_continues_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await send_message(daemon, SendMessage("s", "hang"))
            waiting = await send_message(daemon, SendMessage("s", "hello"))
        with monkeypatch.context() as patch:
            failures = 0

            def unreadable(store: Store, session_id: str) -> None:
                nonlocal failures
                failures += 1
                raise apsw.IOError("disk I/O error")

            patch.setattr(SqliteStore, "session", unreadable)
            async with running(tmp_path) as daemon:
                assert failures > 0
                patch.undo()
                assert "You said" in await until_turn_ends(daemon, waiting.turn_id)

    asyncio.run(scenario())


class ClumsyWire(MockWire):
    def close(self, conversation: Conversation) -> None:
        raise ZeroDivisionError("no way out")


class Clumsy(Mock):
    def wire(self, world: World) -> Wire:
        return ClumsyWire(world)


def test_a_fault_while_a_session_leaves_its_agent_does_not_keep_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with running(tmp_path, {"mock": Clumsy()}) as daemon:
            await create(daemon)
            await terminate(daemon, OneSession("s"))
            assert nothing_in_memory(daemon)

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert "no way out" in caplog.text


def test_a_link_is_closed_when_its_process_is_gone_whoever_closes_it(tmp_path: Path) -> None:
    """The session stops it, and after a fault whoever loads the session again waits for it, too."""

    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            async with daemon.sessions.loaded("s") as live:
                first = asyncio.ensure_future(live.close_link())
                await asyncio.sleep(0)
                await live.close_link()
                assert daemon.hosts.count == 0
                await first

    asyncio.run(scenario())


def test_the_readers_of_a_session_that_failed_are_disconnected_and_reconnect(tmp_path: Path) -> None:
    async def scenario() -> None:
        faults = FaultyWorld()
        async with running(tmp_path, world=faults.world) as daemon:
            await create(daemon)
            end = await daemon.sessions.end("s")
            async with followed(SessionFollowing(daemon.log, end.channel, "s", 0)) as outlet:
                faults.faulty = True
                with pytest.raises(Internal):
                    await send_message(daemon, SendMessage("s", "never"))
                faults.faulty = False
                await wait_until(lambda: end.channel.readers == 0)
            again = await daemon.sessions.end("s")
            assert again is not end
            async with followed(SessionFollowing(daemon.log, again.channel, "s", outlet.numbers[-1])) as rest:
                await turn(daemon, "hello")
                await rest.until(lambda: b"turn.ended" in rest.text)
            assert rest.numbers[0] == outlet.numbers[-1] + 1

    asyncio.run(scenario())


# -- files that go with a prompt ----------------------------------------------------------------


class ReadingWire(MockWire):
    """Puts the files of a prompt into its message, as agents do that take images."""

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return tuple(attachment.path for attachment in prompt.attachments)

    def prompt(self, conversation: object, prompt: Prompt, files: Files) -> None:
        contents = [content.decode() for content in files.values()]
        super().prompt(conversation, Prompt(" ".join([prompt.text, *contents])), {})  # type: ignore[arg-type]


class Reading(Mock):
    def wire(self, world: World) -> Wire:
        return ReadingWire(world)


@contextmanager
def busy_threads() -> Iterator[None]:
    """Keep every thread busy while the block runs, so that no file can be read."""
    threads, go_on = ThreadPoolExecutor(1), threading.Event()
    asyncio.get_running_loop().set_default_executor(threads)
    threads.submit(go_on.wait)
    try:
        yield
    finally:
        go_on.set()


def attached(text: str, path: Path) -> Send:
    return Send(next_command_id(), Prompt(text, (Attachment(str(path)),)))


def test_a_cancel_does_not_overtake_a_prompt_whose_files_are_being_read(tmp_path: Path) -> None:
    async def scenario() -> None:
        texts: list[str] = []
        async with running(tmp_path / "data", {"mock": Reading()}) as daemon:
            daemon.hosts.tap = lambda way, frame: texts.append(
                msgspec.json.decode(frame)["type"] if way == "in" else ""
            )
            await create(daemon)
            picture = tmp_path / "picture"
            picture.write_text("of a cat")
            with busy_threads():
                async with daemon.sessions.loaded("s") as live:
                    accepted = await live.ask(attached("slow 60", picture))
                cancelling = asyncio.ensure_future(cancel(daemon, CancelTurn("s")))
                # The loop is free in the meantime, and answers other requests.
                assert (await get(daemon, OneSession("s"))).state == "running"
                await asyncio.wait([cancelling], timeout=SHORT)
                assert [word for word in texts if word] == ["set"]
            await cancelling
            assert "interrupted" in await until_turn_ends(daemon, accepted.turn_id)
            assert [word for word in texts if word] == ["set", "prompt", "cancel"]

    asyncio.run(scenario())


def test_a_prompt_has_the_content_of_its_files_without_deleted_ones(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path / "data", {"mock": Reading()}) as daemon:
            await create(daemon)
            picture = tmp_path / "picture"
            picture.write_text("of a cat")
            for path, words in (
                (picture, "You said: look of a cat ("),
                (tmp_path / "gone", "You said: look ("),
            ):
                async with daemon.sessions.loaded("s") as live:
                    accepted = await live.ask(attached("look", path))
                assert words in await until_turn_ends(daemon, accepted.turn_id)

    asyncio.run(scenario())


def test_a_session_that_is_ended_while_files_are_read_does_not_wait_for_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path / "data", {"mock": Reading()}) as daemon:
            await create(daemon)
            picture = tmp_path / "picture"
            picture.write_text("of a cat")
            with busy_threads():
                async with daemon.sessions.loaded("s") as live:
                    await live.ask(attached("slow 60", picture))
                await terminate(daemon, OneSession("s"))
                assert not daemon.sessions._live
                [end] = [event for event in await data_of(daemon) if isinstance(event, SessionEnded)]
                assert end.reason == "terminated"
            await wait_until(lambda: nothing_in_memory(daemon))

    asyncio.run(scenario())


def test_a_repeated_message_gets_its_turn_even_if_its_file_is_gone(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path / "data") as daemon:
            await create(daemon)
            file = tmp_path / "notes.txt"
            file.write_text("read me, and delete me")
            message = SendMessage("s", "hello", (Attachment(str(file)),), idempotency_key="k")
            sent = await send_message(daemon, message)
            file.unlink()
            assert (await send_message(daemon, message)).turn_id == sent.turn_id
            other = msgspec.structs.replace(message, message="other")
            with pytest.raises(IdempotencyMismatch):
                await send_message(daemon, other)
            with pytest.raises(InvalidRequest):
                await send_message(daemon, msgspec.structs.replace(message, idempotency_key="another"))

    asyncio.run(scenario())


# -- output that must wait ------------------------------------------------------------------------


def test_the_output_of_a_process_that_starts_behind_an_offer_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal takes back what the offer has changed, and nothing else may have changed by then."""

    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await daemon.sessions.suspend("s")
            started, go_on = asyncio.Event(), asyncio.Event()
            start = daemon.hosts.get

            async def slow_start(request: HostRequest) -> Host:
                started.set()
                await go_on.wait()
                return await start(request)

            monkeypatch.setattr(daemon.hosts, "get", slow_start)
            written: list[tuple[Group, Written]] = []
            write = daemon.log._writer.write
            sent = await send_message(daemon, SendMessage("s", "hello"))
            await started.wait()
            monkeypatch.setattr(daemon.log._writer, "write", lambda *work: written.append(work))
            async with daemon.sessions.loaded("s") as live:
                renaming = asyncio.ensure_future(update(daemon, UpdateSession("s", title="New")))
                await wait_until(lambda: bool(written))
                go_on.set()
                await wait_until(lambda: bool(daemon.hosts.count) and live._link._host is not None)  # type: ignore[union-attr]
                assert live._held is live._link._host  # type: ignore[union-attr]
                monkeypatch.setattr(daemon.log._writer, "write", write)
                write(*written[0])
                await renaming
            assert "You said" in await until_turn_ends(daemon, sent.turn_id)

    asyncio.run(scenario())


# -- agents that do not start -------------------------------------------------------------------


class FailsToStart(Mock):
    def launch(self, place, settings, native_id, resume):  # type: ignore[no-untyped-def]
        launch = super().launch(place, settings, native_id, resume)
        return msgspec.structs.replace(launch, argv=["/bin/sh", "-c", "echo broken >&2; exit 3"])


def test_a_session_whose_agent_cannot_start_ends_and_is_unloaded(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, {"mock": FailsToStart()}) as daemon:
            created = await daemon.create("s", "mock", Settings(str(tmp_path)), Secrets())
            assert created.problem is not None
            assert "3" in created.problem.detail
            assert (await get(daemon, OneSession("s"))).state == "ended"
            await wait_until(lambda: nothing_in_memory(daemon))

    asyncio.run(scenario())
