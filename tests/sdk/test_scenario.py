"""The scenario that every SDK must pass, with the blocking and the async Python client."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from sandbox_agent import (
    AnswerNeeded,
    AsyncSandboxAgent,
    AsyncSession,
    Event,
    PermissionRequested,
    QuestionRequested,
    SandboxAgent,
    Session,
    TurnError,
    TurnFailed,
)

from ..daemons import Daemon
from .conftest import TOKEN, endpoint_of, kill_and_restart
from .scenario import PAGE, Step, check_log, load


def test_the_scenario_with_the_blocking_client(mortal: Daemon) -> None:
    turns: list[list[Event]] = []
    log: list[Event] = []
    with SandboxAgent.connect(endpoint_of(mortal), TOKEN) as client, ThreadPoolExecutor(1) as threads:
        for step in load().steps:
            match step.do:
                case "create":
                    session = client.sessions.create(step.session_id, agent=step.agent)
                    assert {"healthy": True, "state": session.get().state} == step.expect
                    follower = threads.submit(list, session.events(follow=True))
                case "prompt":
                    turns.append(prompt(session, step, mortal))
                    step.check_turn(turns[-1])
                case "result":
                    result(session, step)
                case "read_back":
                    log = read_back(session)
                    check_log(log, turns)
                case "terminate":
                    session.terminate()
                    assert {"state": session.get().state} == step.expect
                case "end_of_follower":
                    seen = follower.result(20)
                    assert seen == read_back(session)
                    assert seen[: len(log)] == log
                case "read_past_the_end":
                    late = threads.submit(list, session.events(offset=len(seen), follow=True))
                    assert late.result(20) == []


def prompt(session: Session, step: Step, daemon: Daemon) -> list[Event]:
    permission, question = step.on_permission, step.on_question
    turn = session.prompt(
        step.message,
        on_permission=(lambda _: permission.decision()) if permission else None,
        on_question=(lambda _: question.answers) if question else None,
    )
    events: list[Event] = []
    for event in turn:
        events.append(event)
        if step.cancels_at(events):
            session.cancel()
        if step.kills_at(events):
            kill_and_restart(daemon)
    return events


def result(session: Session, step: Step) -> None:
    turn = session.prompt(
        step.message,
        timeout=step.timeout_seconds,
        answer_timeout=step.answer_timeout_seconds,
        raise_on_error=step.raise_on_error,
    )
    raised: TurnError | None = None
    try:
        turn.result()
    except TurnError as error:
        raised = error
    step.check_raised(raised)
    match raised:
        case AnswerNeeded(request=PermissionRequested(permission_id)):
            session.permissions.reply(permission_id, step.reply)
        case AnswerNeeded(request=QuestionRequested(question_id)):
            session.questions.reply(question_id, [[step.answer]])
    if not isinstance(raised, TurnFailed):
        step.check_result(turn.result())


def read_back(session: Session) -> list[Event]:
    log: list[Event] = []
    more = True
    while more:
        page = session.client.sessions.events(session.id, offset=len(log), limit=PAGE)
        log += page.events
        more = page.has_more
    return log


def test_the_scenario_with_the_async_client(mortal: Daemon) -> None:
    asyncio.run(asynchronously(mortal))


async def asynchronously(daemon: Daemon) -> None:
    turns: list[list[Event]] = []
    log: list[Event] = []
    async with AsyncSandboxAgent.connect(endpoint_of(daemon), TOKEN) as client, asyncio.TaskGroup() as tasks:
        for step in load().steps:
            match step.do:
                case "create":
                    session = await client.sessions.create(step.session_id, agent=step.agent)
                    assert {"healthy": True, "state": (await session.get()).state} == step.expect
                    follower = tasks.create_task(follow(session))
                case "prompt":
                    turns.append(await prompt_asynchronously(session, step, daemon))
                    step.check_turn(turns[-1])
                case "result":
                    await result_asynchronously(session, step)
                case "read_back":
                    log = await read_back_asynchronously(session)
                    check_log(log, turns)
                case "terminate":
                    await session.terminate()
                    assert {"state": (await session.get()).state} == step.expect
                case "end_of_follower":
                    seen = await asyncio.wait_for(follower, 20)
                    assert seen == await read_back_asynchronously(session)
                    assert seen[: len(log)] == log
                case "read_past_the_end":
                    assert await asyncio.wait_for(follow(session, offset=len(seen)), 20) == []


async def follow(session: AsyncSession, offset: int = 0) -> list[Event]:
    return [event async for event in session.events(offset=offset, follow=True)]


async def prompt_asynchronously(session: AsyncSession, step: Step, daemon: Daemon) -> list[Event]:
    permission, question = step.on_permission, step.on_question

    async def answer(_: object) -> list[list[str]] | None:
        return question.answers if question else None

    turn = session.prompt(
        step.message,
        on_permission=(lambda _: permission.decision()) if permission else None,
        on_question=answer if question else None,
    )
    events: list[Event] = []
    async for event in turn:
        events.append(event)
        if step.cancels_at(events):
            await session.cancel()
        if step.kills_at(events):
            await asyncio.to_thread(kill_and_restart, daemon)
    return events


async def result_asynchronously(session: AsyncSession, step: Step) -> None:
    turn = session.prompt(
        step.message,
        timeout=step.timeout_seconds,
        answer_timeout=step.answer_timeout_seconds,
        raise_on_error=step.raise_on_error,
    )
    raised: TurnError | None = None
    try:
        await turn
    except TurnError as error:
        raised = error
    step.check_raised(raised)
    match raised:
        case AnswerNeeded(request=PermissionRequested(permission_id)):
            await session.permissions.reply(permission_id, step.reply)
        case AnswerNeeded(request=QuestionRequested(question_id)):
            await session.questions.reply(question_id, [[step.answer]])
    if not isinstance(raised, TurnFailed):
        step.check_result(await turn)


async def read_back_asynchronously(session: AsyncSession) -> list[Event]:
    log: list[Event] = []
    more = True
    while more:
        page = await session.client.sessions.events(session.id, offset=len(log), limit=PAGE)
        log += page.events
        more = page.has_more
    return log
