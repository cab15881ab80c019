"""Turns with a real daemon: what waits, what is answered elsewhere, what is read again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from sandbox_agent import (
    Conflict,
    Decision,
    Event,
    PermissionRequested,
    SandboxAgent,
    Session,
    TokenInvalid,
    Unanswered,
)

from .conftest import TOKEN


@pytest.fixture
def session(endpoint: str) -> Iterator[Session]:
    with SandboxAgent.connect(endpoint, TOKEN) as client:
        made = client.sessions.create(agent="mock")
        yield made
        made.delete()


def test_a_prompt_that_is_withdrawn_while_it_waits_ends_without_a_turn(session: Session) -> None:
    running = session.prompt("slow")
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


def test_a_permission_that_nobody_answers_is_warned_about(session: Session) -> None:
    turn = session.prompt("permission x")
    while next(turn).type != "permission.requested":
        pass
    session.send_message("another")  # so that there is something to read while nobody answers
    with pytest.warns(Unanswered, match=r"waits for permission to use `bash`: give prompt\(\) a callback"):
        next(turn)
    turn.close()


def test_one_that_is_answered_in_the_loop_is_not(session: Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for event in session.prompt("permission x"):
            if isinstance(event.data, PermissionRequested):
                session.permissions.reply(event.data.permission_id, "always")


def test_a_wrong_token_is_told_where_to_give_it(endpoint: str) -> None:
    with (
        SandboxAgent.connect(endpoint, "wrong") as client,
        pytest.raises(TokenInvalid, match="SANDBOX_AGENT_TOKEN"),
    ):
        client.agents.list()
