"""Tools that are functions of the program, with a real daemon and the mock agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox_agent import (
    AnswerNeeded,
    AsyncSandboxAgent,
    FunctionTool,
    InvalidRequest,
    SandboxAgent,
    ToolImage,
    ToolRequest,
    ToolSource,
    ToolSpec,
)

from .conftest import TOKEN

CALL = 'call weather {"city": "Bonn"}'


def weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"rain in {city} for {days} days"


@pytest.fixture
def client(endpoint: str) -> Iterator[SandboxAgent]:
    with SandboxAgent.connect(endpoint, TOKEN) as connected:
        yield connected


def reply_to_call(client: SandboxAgent, tool: ToolSource, prompt: str = CALL) -> str:
    return client.sessions.create(agent="mock", tools=[tool]).prompt(prompt).result().text


def test_a_function_is_enough(client: SandboxAgent) -> None:
    session = client.sessions.create(agent="mock", tools=[weather])
    assert session.prompt(CALL).result().text == "weather returned: rain in Bonn for 1 days"
    turn = client.session(session.id).prompt('call weather {"city": "Ulm", "days": 2}')
    assert turn.result().text == "weather returned: rain in Ulm for 2 days"
    assert turn.transcript.tool_requests == {}


def test_a_coroutine_function_runs_too(client: SandboxAgent) -> None:
    async def weather(city: str) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"city": city}

    assert reply_to_call(client, weather) == 'weather returned: {"city":"Bonn"}'


def test_an_error_of_the_function_is_one_of_the_tool(client: SandboxAgent) -> None:
    def weather(city: str) -> str:
        raise LookupError(f"no {city}")

    assert reply_to_call(client, weather) == "weather failed: LookupError: no Bonn"


def test_a_result_that_the_daemon_refuses_fails_the_call(client: SandboxAgent) -> None:
    def weather(city: str) -> list[object]:
        return [city, ToolImage("not base64")]

    assert "weather failed: the result of the tool was refused: an image" in reply_to_call(client, weather)


def test_a_tool_with_a_schema_of_its_own(client: SandboxAgent) -> None:
    image = ToolImage.of(b"map")
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = FunctionTool("weather", lambda given: [given["city"], image], "The weather.", schema)
    assert reply_to_call(client, tool) == "weather returned: Bonn[image]"


def test_an_agent_learns_which_argument_is_wrong(client: SandboxAgent) -> None:
    assert "weather failed: the arguments" in reply_to_call(client, weather, 'call weather {"town": "Bonn"}')


def test_a_bad_function_is_refused_before_the_session_exists(client: SandboxAgent) -> None:
    def lookup(*cities: str) -> None: ...

    with pytest.raises(TypeError, match=r"lookup\(\) cannot be a tool: the parameter `cities`"):
        client.sessions.create("no-such-session", agent="mock", tools=[lookup])
    with pytest.raises(InvalidRequest, match="two tools are called `weather`"):
        client.sessions.create(agent="mock", tools=[weather, weather])


def test_a_call_without_a_function_waits_for_another_client(client: SandboxAgent, endpoint: str) -> None:
    session = client.sessions.create(agent="mock", tools=[ToolSpec("weather")])
    turn = session.prompt("call weather {}", answer_timeout=0.1)
    with pytest.raises(
        AnswerNeeded, match=r"the result of your tool `weather`.*client\.session\(id, tools="
    ) as needed:
        turn.result()
    assert isinstance(needed.value.request, ToolRequest)
    with SandboxAgent.connect(endpoint, TOKEN) as other:
        [waiting] = other.tool_calls.list(session.id).tool_calls
        assert waiting == needed.value.request
        other.tool_calls.reply(session.id, waiting.call_id, output="sun")
    assert turn.result().text == "weather returned: sun"


def test_a_restarted_program_gives_its_functions_again(client: SandboxAgent, endpoint: str) -> None:
    session = client.sessions.create(agent="mock", tools=[ToolSpec("weather")])
    turn = session.prompt("call weather {}", answer_timeout=0.1, idempotency_key="once")
    with pytest.raises(AnswerNeeded):
        turn.result()
    with SandboxAgent.connect(endpoint, TOKEN) as restarted:
        again = restarted.session(session.id, tools=[FunctionTool("weather", lambda _: "sun")])
        assert (
            again.prompt("call weather {}", idempotency_key="once").result().text == "weather returned: sun"
        )


def test_calls_are_served_for_a_prompt_of_another_client(client: SandboxAgent, endpoint: str) -> None:
    session = client.sessions.create(agent="mock", tools=[weather])
    with SandboxAgent.connect(endpoint, TOKEN) as other, ThreadPoolExecutor(1) as threads:
        turn = other.session(session.id).prompt(CALL, answer_timeout=None)
        while not turn.transcript.tool_requests:
            next(turn)
        served = threads.submit(session.serve_tools)
        assert turn.result().text == "weather returned: rain in Bonn for 1 days"
        assert other.session(session.id).prompt(CALL).result().text.startswith("weather returned: rain")
        session.terminate()
        served.result(20)


def test_a_call_runs_once_however_many_readers_there_are(client: SandboxAgent) -> None:
    ran: list[str] = []
    runs, both_saw_it = threading.Event(), threading.Event()

    def weather(city: str) -> str:
        ran.append(city)
        runs.set()
        assert both_saw_it.wait(20)
        return "rain"

    session = client.sessions.create(agent="mock", tools=[weather])
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(session.prompt(CALL, idempotency_key="one").result)
        second = client.session(session.id).prompt(CALL, idempotency_key="one", answer_timeout=0)
        while not second.transcript.tool_requests:
            next(second)
        assert runs.wait(20)
        both_saw_it.set()
        assert second.result().text == first.result(20).text == "weather returned: rain"
    assert ran == ["Bonn"]


def test_the_async_client_runs_blocking_functions_beside_its_loop(endpoint: str) -> None:
    async def main() -> str:
        loop, loop_runs = asyncio.get_running_loop(), threading.Event()

        def weather(city: str) -> str:
            loop.call_soon_threadsafe(loop_runs.set)
            assert loop_runs.wait(20)
            return f"sun in {city}"

        async def stocks(name: str) -> str:
            await asyncio.sleep(0)
            return f"{name} rises"

        async with AsyncSandboxAgent.connect(endpoint, TOKEN) as client:
            session = await client.sessions.create(agent="mock", tools=[weather, stocks])
            first = await session.prompt(CALL)
            second = await session.prompt('call stocks {"name": "X"}')
            return f"{first.text}, {second.text}"

    assert asyncio.run(main()) == "weather returned: sun in Bonn, stocks returned: X rises"
