"""Operations on sessions, called inside the daemon: orderings and limits that are hard to reach from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.runtime.inside import create, data_of, running, turn, until_turn_ends, wait_until

from sandbox_agent.errors import (
    Conflict,
    IdempotencyMismatch,
    InvalidRequest,
    NotFound,
    RateLimited,
    SessionNotFound,
)
from sandbox_agent.ops.approvals import (
    RejectQuestion,
    ReplyPermission,
    ReplyQuestion,
    permissions,
    questions,
    reject_question,
    reply_permission,
    reply_question,
)
from sandbox_agent.ops.events import ReadEvents, read
from sandbox_agent.ops.sessions import (
    CancelTurn,
    OneSession,
    QueuedTurn,
    ReadQueue,
    SendMessage,
    UpdateSession,
    accept,
    cancel,
    delete,
    get,
    queue,
    send_message,
    terminate,
    update,
    withdraw,
)
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.schema.events import TurnEnded
from sandbox_agent.session.core import Limits

ONE = OneSession("s")


async def busy(daemon: Daemon, *texts: str) -> list[str]:
    """Create a session with an endless turn and queued messages. Returns their turns."""
    await create(daemon)
    await send_message(daemon, SendMessage("s", "hang"))
    return [(await send_message(daemon, SendMessage("s", text))).turn_id for text in texts]


# -- the queue --------------------------------------------------------------------------------


def test_a_queue_is_read_page_by_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            turns = await busy(daemon, *(f"message {number}" for number in range(5)))
            seen, cursor = [], None
            for size in (2, 2, 1):
                page = await queue(daemon, ReadQueue("s", 2, cursor))
                assert len(page.messages) == size
                seen += [(message.turn_id, message.message) for message in page.messages]
                cursor = page.next_cursor
            assert cursor is None
            assert seen == [(turn_id, f"message {n}") for n, turn_id in enumerate(turns)]

    asyncio.run(scenario())


def test_a_page_continues_after_withdrawn_messages(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            turns = await busy(daemon, *"1234")
            first = await queue(daemon, ReadQueue("s", 2))
            await withdraw(daemon, QueuedTurn("s", turns[1]))
            await withdraw(daemon, QueuedTurn("s", turns[2]))
            rest = await queue(daemon, ReadQueue("s", 2, first.next_cursor))
            assert [message.turn_id for message in rest.messages] == turns[3:]
            with pytest.raises(NotFound):
                await withdraw(daemon, QueuedTurn("s", turns[1]))

    asyncio.run(scenario())


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1" * 19])
def test_an_invalid_cursor_is_refused(tmp_path: Path, cursor: str) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            with pytest.raises(InvalidRequest):
                await queue(daemon, ReadQueue("s", 2, cursor))

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "limits", [Limits(queued_messages=3), Limits(queued_bytes=1_000)], ids=["many", "large"]
)
def test_a_full_queue_takes_no_more_until_there_is_room(tmp_path: Path, limits: Limits) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            daemon.sessions._limits = limits
            turns = await busy(daemon, *("x" * 200 for _ in range(3)))
            for _ in range(2):
                with pytest.raises(RateLimited) as refused:
                    await send_message(daemon, SendMessage("s", "x" * 200))
                assert refused.value.retry_after == 5
            before = (await get(daemon, ONE)).event_count
            await withdraw(daemon, QueuedTurn("s", turns[0]))
            await send_message(daemon, SendMessage("s", "x" * 200))
            assert len((await queue(daemon, ReadQueue("s"))).messages) == 3
            # What was refused left nothing; what was taken and withdrawn did.
            assert (await get(daemon, ONE)).event_count > before

    asyncio.run(scenario())


# -- changes ----------------------------------------------------------------------------------


def test_a_change_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            first = await update(daemon, UpdateSession("s", title="Mine", model="mock-2"))
            position = daemon.log.store.position()
            for same in (UpdateSession("s"), UpdateSession("s", title="Mine", model="mock-2")):
                assert await update(daemon, same) == first
            assert daemon.log.store.position() == position

    asyncio.run(scenario())


def test_an_ended_session_can_only_be_renamed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await terminate(daemon, ONE)
            assert (await update(daemon, UpdateSession("s", title="Old"))).title == "Old"
            with pytest.raises(Conflict):
                await update(daemon, UpdateSession("s", title="Other", model="mock-2"))
            assert (await get(daemon, ONE)).title == "Old"

    asyncio.run(scenario())


# -- orders -----------------------------------------------------------------------------------


def test_after_the_end_messages_conflict_and_ends_are_repeated(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            sent = await send_message(daemon, SendMessage("s", "hello", idempotency_key="k"))
            await until_turn_ends(daemon, sent.turn_id)
            await terminate(daemon, ONE)
            with pytest.raises(Conflict):
                await send_message(daemon, SendMessage("s", "hello"))
            # The turn that the key names is in the log.
            again = await accept(daemon, SendMessage("s", "hello", idempotency_key="k"))
            assert (again.turn_id, again.repeated) == (sent.turn_id, True)
            with pytest.raises(IdempotencyMismatch):
                await send_message(daemon, SendMessage("s", "other", idempotency_key="k"))
            await terminate(daemon, ONE)
            await cancel(daemon, CancelTurn("s"))

    asyncio.run(scenario())


def test_a_deleted_session_is_not_found_by_anything(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await delete(daemon, ONE)
            for asked in (
                get(daemon, ONE),
                read(daemon, ReadEvents("s")),
                queue(daemon, ReadQueue("s")),
                update(daemon, UpdateSession("s", title="x")),
                update(daemon, UpdateSession("s", model="x")),
                send_message(daemon, SendMessage("s", "hello")),
                withdraw(daemon, QueuedTurn("s", "turn_1")),
                cancel(daemon, CancelTurn("s")),
                terminate(daemon, ONE),
                delete(daemon, ONE),
                permissions(daemon, ONE),
                reply_permission(daemon, ReplyPermission("s", "perm_1", "once")),
            ):
                with pytest.raises(SessionNotFound):
                    await asked
            await create(daemon)
            assert "message 1 of this conversation" in await turn(daemon, "hello")

    asyncio.run(scenario())


def test_simultaneous_ends_are_all_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await busy(daemon, "waits")
            ends = [terminate(daemon, ONE), delete(daemon, ONE), terminate(daemon, ONE), delete(daemon, ONE)]
            done = await asyncio.gather(*ends, return_exceptions=True)
            assert all(result is None or isinstance(result, SessionNotFound) for result in done)
            assert None in done
            with pytest.raises(SessionNotFound):
                await get(daemon, ONE)
            assert daemon.hosts.count == 0

    asyncio.run(scenario())


def test_a_second_answer_conflicts_and_an_unknown_request_is_not_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            sent = await send_message(daemon, SendMessage("s", "permission words"))
            end = await daemon.sessions.end("s")
            await wait_until(lambda: end.view is not None and bool(end.view.pending))
            [asked] = (await permissions(daemon, ONE)).permissions
            answers = [
                ReplyPermission("s", asked.permission_id, word) for word in ("once", "reject", "always")
            ]
            done = await asyncio.gather(
                *(reply_permission(daemon, answer) for answer in answers), return_exceptions=True
            )
            assert [type(result) for result in done] == [type(None), Conflict, Conflict]
            assert (await permissions(daemon, ONE)).permissions == []
            await until_turn_ends(daemon, sent.turn_id)
            with pytest.raises(Conflict):
                await reply_permission(daemon, answers[0])
            with pytest.raises(NotFound):
                await reply_permission(daemon, ReplyPermission("s", "perm_none", "once"))

    asyncio.run(scenario())


def test_a_question_that_a_cancel_withdrew_cannot_be_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path) as daemon:
            await create(daemon)
            await send_message(daemon, SendMessage("s", "question"))
            end = await daemon.sessions.end("s")
            await wait_until(lambda: end.view is not None and bool(end.view.pending))
            [asked] = (await questions(daemon, ONE)).questions
            await cancel(daemon, CancelTurn("s"))
            assert (await get(daemon, ONE)).state == "idle"
            with pytest.raises(Conflict):
                await reply_question(daemon, ReplyQuestion("s", asked.question_id, (("yes",),)))
            with pytest.raises(Conflict):
                await reject_question(daemon, RejectQuestion("s", asked.question_id))
            assert isinstance((await data_of(daemon))[-1], TurnEnded)

    asyncio.run(scenario())
