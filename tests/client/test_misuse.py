"""A program that uses the SDK wrongly gets an error that says what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx2
import pytest

from sandbox_agent import AsyncSandboxAgent, InvalidRequest, SandboxAgent
from sandbox_agent.schema.limits import Limits

ANYWHERE = "http://127.0.0.1:1"


def in_loop(use: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        transport = httpx2.MockTransport(
            lambda _: httpx2.Response(200, json={"status": "ok", "version": "1"})
        )
        async with httpx2.AsyncClient(transport=transport) as http:
            await use(AsyncSandboxAgent.connect(ANYWHERE, http=http))

    asyncio.run(run())


@pytest.mark.filterwarnings("ignore:coroutine")
def test_a_missing_await_is_named() -> None:
    async def use(client: Any) -> None:
        health = client.system.health()
        with pytest.raises(AttributeError, match=r"`health` was not awaited: write `await ….health\(…\)`"):
            _ = health.version

    in_loop(use)


def test_what_is_awaited_can_be_a_task_or_wait_in_a_group() -> None:
    async def use(client: Any) -> None:
        task = asyncio.create_task(client.system.health())
        both = await asyncio.gather(task, client.system.health())
        last = await asyncio.wait_for(client.system.health(), 5)
        assert [answer.status for answer in (*both, last)] == ["ok", "ok", "ok"]

    in_loop(use)


def test_the_asynchronous_client_requires_async_with_and_async_for() -> None:
    async def use(client: Any) -> None:
        with pytest.raises(TypeError, match="write `async with`"):
            client.__enter__()
        turn = client.session("s").prompt("hello")
        with pytest.raises(TypeError, match="AsyncTurn is asynchronous: write `async for`"):
            iter(turn)
        await turn.close()

    in_loop(use)


def test_the_blocking_client_requires_neither() -> None:
    client: Any = SandboxAgent.connect(ANYWHERE)
    turn = client.session("s").prompt("hello")

    async def misuse() -> None:
        with pytest.raises(TypeError, match="write `with`, or use AsyncSandboxAgent"):
            await client.__aenter__()
        with pytest.raises(TypeError, match="write `for`, or use AsyncSandboxAgent"):
            aiter(turn)
        with pytest.raises(TypeError, match="leave out `await`"):
            await turn

    asyncio.run(misuse())
    turn.close()


def test_a_prompt_that_nobody_reads_was_not_sent_and_says_so() -> None:
    turn = SandboxAgent.connect(ANYWHERE).session("s").prompt("hello")
    with pytest.warns(
        RuntimeWarning, match=r"a prompt was never sent: iterate over .* or call its result\(\)"
    ):
        del turn


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_express_is_refused_because_null_would_remove_a_limit(value: float) -> None:
    sent: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.content)
        return httpx2.Response(204)

    with SandboxAgent.connect(ANYWHERE, http=httpx2.Client(transport=httpx2.MockTransport(answer))) as client:
        with pytest.raises(InvalidRequest, match="NaN or infinite"):
            client.session("s").update(limits=Limits(max_cost_usd=value, max_turns=None))
        assert sent == []
