"""Turns with a real daemon: what waits, what is answered elsewhere, what is read again."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.busy import busy

from sandbox_agent import (
    AnswerNeeded,
    AsyncSandboxAgent,
    Conflict,
    Decision,
    Event,
    FunctionTool,
    PermissionRequested,
    SandboxAgent,
    Session,
    TokenInvalid,
    TurnFailed,
    TurnTimeout,
)

from ..daemons import Daemon
from .conftest import TOKEN, endpoint_of

LONG = "pace 1000 50"
"""A turn that takes most of a minute."""


@pytest.fixture
def session(endpoint: str) -> Iterator[Session]:
    with SandboxAgent.connect(endpoint, TOKEN) as client:
        made = client.sessions.create(agent="mock")
        yield made
        made.delete()


def test_a_prompt_that_is_withdrawn_while_it_waits_ends_without_a_turn(session: Session) -> None:
    running = session.prompt("slow 60")
    next(running)
    waiting = session.prompt("second", idempotency_key="second")
    queued = session.send_message("second", idempotency_key="second")
    assert queued.queued
    session.withdraw(queued.turn_id)
    assert [event.type for event in waiting] == ["item.completed"]
    assert (waiting.turn_id, waiting.transcript.stop_reason) == (None, None)
    running.cancel()
    assert running.result().stop_reason == "interrupted"


def test_a_prompt_that_ends_the_session_ends_with_it(session: Session) -> None:
    seen = [event.type for event in session.prompt("end")]
    assert seen[-1] in ("turn.ended", "session.ended")
    with pytest.raises(Conflict, match="the session has ended"):
        session.prompt("more").result()


@pytest.mark.parametrize("prompt", ["permission x", "question", "call leave"])
def test_a_session_that_is_deleted_before_it_gets_its_answer_ends_its_turn(
    endpoint: str, prompt: str
) -> None:
    with SandboxAgent.connect(endpoint, TOKEN) as client:

        def leave() -> str:
            deleted.delete()
            return "Red"

        deleted = client.sessions.create(agent="mock", tools=[leave])
        turn = deleted.prompt(prompt, on_permission=lambda _: leave() == "Red", on_question=lambda _: leave())
        assert turn.result().stop_reason == "interrupted"


def test_a_turn_that_is_read_again_asks_nothing_that_was_answered(session: Session) -> None:
    asked: list[PermissionRequested] = []

    def allow(request: PermissionRequested) -> Decision:
        asked.append(request)
        return Decision("once")

    def read() -> list[Event]:
        return list(session.prompt("permission x", idempotency_key="one", on_permission=allow))

    first, again = read(), read()
    assert first == again
    assert len(asked) == 1


def test_a_permission_that_nobody_answers_stops_the_reader_and_not_the_turn(session: Session) -> None:
    with pytest.raises(AnswerNeeded, match=r"permission to use `bash`.*on_permission=") as needed:
        for _ in session.prompt("permission x", answer_timeout=0.2):
            pass
    [waiting] = session.permissions.list().permissions
    assert (needed.value.request, session.get().state) == (waiting, "requires_action")


def test_without_an_answer_timeout_a_question_is_left_to_another_client(
    session: Session, endpoint: str
) -> None:
    turn = session.prompt("question", answer_timeout=None)
    while next(turn).type != "question.requested":
        pass
    with SandboxAgent.connect(endpoint, TOKEN) as other, ThreadPoolExecutor(1) as threads:
        result = threads.submit(turn.result)
        [asked] = other.questions.list(session.id).questions
        other.questions.reply(session.id, asked.question_id, [["Blue"]])
        assert result.result(20).text == "You chose: Blue."


def test_a_callback_that_raises_is_asked_again_when_the_turn_is_read_on(session: Session) -> None:
    answers = iter([1 / 2, "once"])
    turn = session.prompt("permission x", on_permission=lambda _: next(answers))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"on_permission returned 0\.5"):
        turn.result()
    assert turn.result().text == "The command said: x"


def test_a_failed_turn_raises_while_its_text_is_read(session: Session) -> None:
    pieces: list[str] = []
    with pytest.raises(TurnFailed, match="the model is overloaded") as failed:
        pieces.extend(session.prompt("error").text())
    assert "".join(pieces) == failed.value.transcript.text == "I am about to fail."
    assert [event.type for event in session.prompt("error")][-1] == "turn.ended"


def test_a_limit_of_the_session_raises_too(endpoint: str) -> None:
    with SandboxAgent.connect(endpoint, TOKEN) as client:
        session = client.sessions.create(agent="mock", turn_timeout_ms=300)
        with pytest.raises(TurnFailed) as failed:
            session.prompt("slow 60").result()
    assert (failed.value.stop_reason, failed.value.message) == ("limit", "the turn took longer than 0.3 s")


def test_a_turn_that_takes_too_long_while_it_streams_is_cancelled(session: Session) -> None:
    began = time.monotonic()
    with pytest.raises(TurnTimeout, match=r"longer than 0\.5 seconds"):
        session.prompt(LONG, timeout=0.5).result()
    assert time.monotonic() - began < busy(20)
    assert session.get().state == "idle"


def test_a_time_limit_holds_after_an_event_shortly_before_it(session: Session) -> None:
    """A connection is opened when all the time is left, and the event is followed by a long silence."""
    session.send_message("slow 5")
    turn = session.prompt("late 60", timeout=6, on_permission=lambda _: "once")
    heard: list[float] = []
    with pytest.raises(TurnTimeout):
        heard.extend(time.monotonic() for _ in turn)
    assert time.monotonic() - heard[-1] < 5


def test_a_turn_that_waits_too_long_in_the_queue_is_withdrawn_and_the_running_one_goes_on(
    session: Session,
) -> None:
    running = session.prompt(LONG)
    next(running)
    with pytest.raises(TurnTimeout):
        session.prompt("second", timeout=0.3).result()
    assert (session.queue().messages, session.get().state) == ([], "running")
    running.cancel()
    assert running.result().stop_reason == "interrupted"


def test_a_turn_that_has_ended_cancels_no_other(session: Session) -> None:
    first = session.prompt("hello")
    next(first)
    other = session.prompt(LONG)
    while next(other).source != "agent":
        pass
    first.cancel()
    assert session.get().state == "running"
    other.cancel()
    assert (first.result().stop_reason, other.result().stop_reason) == ("end_turn", "interrupted")


def test_a_time_limit_holds_for_a_daemon_that_does_not_answer(mortal: Daemon) -> None:
    with SandboxAgent.connect(endpoint_of(mortal), TOKEN) as client:
        session = client.sessions.create(agent="mock")
        os.kill(mortal.pid, signal.SIGSTOP)
        try:
            with pytest.raises(TurnTimeout, match="has not accepted the message yet"):
                session.prompt("hello", timeout=0.5).result()
        finally:
            os.kill(mortal.pid, signal.SIGCONT)


def test_a_time_limit_holds_while_the_daemon_is_away(mortal: Daemon) -> None:
    with SandboxAgent.connect(endpoint_of(mortal), TOKEN) as client:
        turn = client.sessions.create(agent="mock").prompt("slow 60", timeout=1.5)
        next(turn)
        mortal.kill()
        began = time.monotonic()
        with pytest.raises(TurnTimeout, match="could not be cancelled: no daemon at"):
            turn.result()
        assert time.monotonic() - began < busy(20)


async def never(_: PermissionRequested) -> bool:
    await asyncio.Event().wait()
    return True


def test_a_time_limit_holds_while_a_callback_waits(session: Session, endpoint: str) -> None:
    async def ask() -> None:
        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            await client.session(session.id).prompt("permission x", timeout=0.5, on_permission=never)

    with pytest.raises(TurnTimeout):
        asyncio.run(ask())
    assert session.get().state == "idle"
    with pytest.raises(TurnTimeout):
        session.prompt("permission x", timeout=0.5, on_permission=never).result()
    assert session.get().state == "idle"


def test_a_time_limit_holds_while_a_tool_runs(endpoint: str) -> None:
    release = threading.Event()

    async def call() -> str:
        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            session = await client.sessions.create(agent="mock", tools=[FunctionTool("dig", dig)])
            try:
                await session.prompt("call dig", timeout=0.5)
            except TurnTimeout:
                return (await session.get()).state
            finally:
                release.set()
        raise AssertionError("the tool has ended before the turn")

    def dig(_: object) -> str:
        release.wait(30)
        return "deep"

    assert asyncio.run(call()) == "idle"


def test_an_answer_that_comes_after_the_time_limit_is_not_given(session: Session) -> None:
    def too_late(_: PermissionRequested) -> bool:
        threading.Event().wait(0.6)
        return True

    turn = session.prompt("permission x", timeout=0.5, on_permission=too_late)
    with pytest.raises(TurnTimeout):
        turn.result()
    assert [event.data.status for event in turn if event.type == "permission.resolved"] == ["reject"]


def test_a_request_answered_in_the_loop_does_not_raise(session: Session) -> None:
    for event in session.prompt("permission x", answer_timeout=0):
        if event.type == "permission.requested":
            session.permissions.reply(event.data.permission_id, "always")


def test_a_wrong_token_is_refused_with_where_to_set_it(endpoint: str) -> None:
    with (
        SandboxAgent.connect(endpoint, "wrong") as client,
        pytest.raises(TokenInvalid, match="SANDBOX_AGENT_TOKEN"),
    ):
        client.agents.list()
