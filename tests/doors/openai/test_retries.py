"""A request that a client sends again runs its prompt once; two equal requests run it twice."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.responses import Response
from tests.daemons import SECONDS, Daemon, running

from .conftest import TOKEN, Native, client_of, session_of
from .proxy import Fault, proxy


def words() -> str:
    """A prompt that no other test sends."""
    return f"hello {uuid.uuid4().hex}"


def retrying(port: int) -> openai.OpenAI:
    return client_of(port, max_retries=2)


@pytest.mark.door("OpenAI", "retried request")
@pytest.mark.parametrize("fault", ["500", "cut"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_retried_response_runs_once(daemon: Daemon, native: Native, fault: Fault, stream: bool) -> None:
    prompt = words()
    with proxy(daemon.port, fault, fault) as between, retrying(between.port) as client:
        if stream:
            *_, last = client.responses.create(model="mock", input=prompt, stream=True)
            assert last.type == "response.completed"
            first = last.response
        else:
            first = client.responses.create(model="mock", input=prompt)
        assert not between.faults
        assert first.output_text == f"You said: {prompt} (message 1 of this conversation)"
        between.faults += [fault]
        second = client.responses.create(model="mock", input=prompt, previous_response_id=first.id)
    assert second.output_text == f"You said: {prompt} (message 2 of this conversation)"
    assert native.prompts().count(prompt) == 2


@pytest.mark.door("OpenAI", "retried request")
@pytest.mark.parametrize("fault", ["500", "cut"])
def test_a_retried_completion_runs_once(daemon: Daemon, native: Native, fault: Fault) -> None:
    prompt, session = words(), uuid.uuid4().hex
    with proxy(daemon.port, fault) as between, retrying(between.port) as client:
        asked: Any = {"model": "mock", "messages": [{"role": "user", "content": prompt}]}
        client.chat.completions.create(**asked)
        for number in (1, 2):
            between.faults += [fault]
            answer = client.chat.completions.create(**asked, extra_headers={"x-session-id": session})
            expected = f"You said: {prompt} (message {number} of this conversation)"
            assert answer.choices[0].message.content == expected
    assert native.prompts().count(prompt) == 3


def test_equal_requests_at_once_are_each_answered_by_their_own_turn(daemon: Daemon, native: Native) -> None:
    prompt = words()
    answers: list[Response] = []

    def ask() -> None:
        with retrying(between.port) as client:
            answers.append(client.responses.create(model="mock", input=prompt))

    with proxy(daemon.port, "500", "500", "500") as between:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
    assert len({session_of(answer) for answer in answers}) == 3
    assert native.prompts().count(prompt) == 3


def test_a_named_request_runs_once_however_often_it_comes(client: openai.OpenAI, native: Native) -> None:
    prompt = words()
    named = {"Idempotency-Key": uuid.uuid4().hex}
    first = client.responses.create(model="mock", input=prompt, extra_headers=named)
    assert client.responses.create(model="mock", input=prompt, extra_headers=named) == first
    with pytest.raises(openai.UnprocessableEntityError):
        client.responses.create(model="mock", input=words(), extra_headers=named)
    session = {"x-session-id": uuid.uuid4().hex, **named}
    asked: Any = {
        "model": "mock",
        "messages": [{"role": "user", "content": prompt}],
        "extra_headers": session,
    }
    answer = client.chat.completions.create(**asked)
    assert client.chat.completions.create(**asked) == answer
    assert native.prompts().count(prompt) == 2


def test_two_continuations_at_once_are_one(daemon: Daemon, client: openai.OpenAI, native: Native) -> None:
    first = client.responses.create(model="mock", input=words())
    results: list[object] = []

    def go_on(text: str) -> None:
        try:
            with client_of(daemon.port) as own:
                results.append(own.responses.create(model="mock", input=text, previous_response_id=first.id))
        except openai.BadRequestError as error:
            results.append(error)

    threads = [threading.Thread(target=go_on, args=(words(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    refused = [each for each in results if isinstance(each, openai.BadRequestError)]
    assert (len(results), len(refused)) == (4, 3)
    assert native.get(f"/sessions/{session_of(first)}")["turns"] == 2


@pytest.mark.door("OpenAI", "daemon killed", "retried request")
def test_a_killed_daemon_finds_the_response_and_the_request_again(tmp_path: Path) -> None:
    prompt = "slow 60"
    daemon = Daemon(tmp_path / "data", "--token", TOKEN)
    with running(daemon):
        with client_of(daemon.port) as client:
            stream = client.responses.create(model="mock", input=prompt, stream=True)
            begun = next(iter(stream))
            assert begun.type == "response.created"
            for event in stream:
                if event.type == "response.output_text.delta":
                    break
            daemon.kill()
        daemon.start()
        with client_of(daemon.port) as client, Native(daemon) as native:
            found = client.responses.retrieve(begun.response.id)
            assert found.status == "failed"
            assert found.output_text
            body = stream.response.request.content
            again = httpx2.post(
                f"http://127.0.0.1:{daemon.port}/openai/v1/responses",
                content=body,
                headers={
                    "authorization": f"Bearer {TOKEN}",
                    "content-type": "application/json",
                    "x-stainless-retry-count": "1",
                },
                timeout=SECONDS,
            )
            assert f'"id":"{found.id}"' in again.text
            assert native.prompts() == [prompt]
            continued = client.responses.create(model="mock", input="hello", previous_response_id=found.id)
            assert continued.output_text == "You said: hello (message 2 of this conversation)"
