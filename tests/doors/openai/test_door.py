"""What the door refuses, and how it says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.daemons import SECONDS, Daemon

from .conftest import TOKEN

HELLO = {"model": "mock", "input": "hello"}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
CHAT = {"model": "mock", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def door(daemon: Daemon) -> Iterator[httpx2.Client]:
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{daemon.port}/openai/v1",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=SECONDS,
        verify=False,
    ) as door:
        yield door


def error_of(response: httpx2.Response) -> dict[str, Any]:
    """The error as OpenAI's clients read it; the problem says the same."""
    problem = response.json()
    error: dict[str, Any] = problem["error"]
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["status"] == response.status_code
    assert error["message"] == problem["detail"]
    return error


def test_a_wrong_token_is_refused(door: httpx2.Client) -> None:
    for headers in ({"authorization": ""}, {"authorization": "Bearer wrong"}):
        refused = door.get("/models", headers=headers)
        assert (refused.status_code, error_of(refused)["type"]) == (401, "authentication_error")
        assert refused.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    "path, body, param",
    [
        ("/responses", {**HELLO, "tools": [{"type": "function", "name": "x"}]}, "tools"),
        ("/responses", {**HELLO, "text": {"format": {"type": "json_schema"}}}, "text.format"),
        ("/responses", {**HELLO, "conversation": "conv_1"}, "conversation"),
        ("/responses", {**HELLO, "prompt": {"id": "pmpt_1"}}, "prompt"),
        ("/responses", {**HELLO, "input": "  "}, "input"),
        ("/responses", {**HELLO, "input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ("/responses", {**HELLO, "input": [{"role": "wizard", "content": "x"}]}, "input[0]"),
        ("/responses", {**HELLO, "input": 7}, "input"),
        ("/responses", {**HELLO, "input": [{"role": "user", "content": [IMAGE] * 101}]}, "input"),
        ("/responses", {**HELLO, "model": "nobody"}, "model"),
        ("/responses", {**HELLO, "model": "nobody/x@y"}, "model"),
        ("/responses", {"input": "hello"}, "model"),
        ("/chat/completions", {**CHAT, "n": 2}, "n"),
        ("/chat/completions", {**CHAT, "functions": [{"name": "x"}]}, "functions"),
        ("/chat/completions", {**CHAT, "response_format": {"type": "json_object"}}, "response_format"),
        ("/chat/completions", {**CHAT, "messages": []}, "messages"),
        ("/chat/completions", {**CHAT, "messages": [{"role": "assistant", "content": "x"}]}, "messages"),
        (
            "/chat/completions",
            {
                **CHAT,
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}
                ],
            },
            "messages[0]",
        ),
        ("/chat/completions", {**CHAT, "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0]"),
    ],
)  # fmt: skip
def test_what_an_agent_cannot_do_is_refused_by_name(
    door: httpx2.Client, path: str, body: dict[str, Any], param: str
) -> None:
    refused = door.post(path, json=body)
    assert (refused.status_code, error_of(refused)["param"]) == (400, param)
    assert refused.headers["x-should-retry"] == "false"


def test_headers_are_checked(door: httpx2.Client) -> None:
    for name, value in (
        ("x-permission-mode", "yolo"),
        ("x-directory", "/nowhere"),
        ("x-session-id", "a b"),
    ):
        refused = door.post("/chat/completions", json=CHAT, headers={name: value})
        assert (refused.status_code, error_of(refused)["param"]) == (400, name), refused.text


def test_what_has_no_meaning_for_an_agent_is_ignored(door: httpx2.Client) -> None:
    body = {**CHAT, "temperature": 0.1, "max_tokens": 5, "tools": [], "user": "me", "stop": ["x"], "n": 1}
    answered = door.post("/chat/completions", json=body)
    assert answered.json()["choices"][0]["message"]["content"].startswith("You said: hello")


def test_what_does_not_exist_is_not_found(door: httpx2.Client) -> None:
    unknown = "resp_00000000000000000000_nobody"
    for method, path in (
        ("GET", f"/responses/{unknown}"),
        ("GET", "/responses/resp_x"),
        ("POST", f"/responses/{unknown}/cancel"),
        ("GET", "/files"),
    ):
        response = door.request(method, path)
        assert (response.status_code, error_of(response)["type"]) == (404, "invalid_request_error")
    gone = door.post("/responses", json={**HELLO, "previous_response_id": unknown})
    assert (gone.status_code, error_of(gone)["param"]) == (404, "previous_response_id")
    wrong = door.get("/responses")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")


def test_a_body_that_is_not_json_is_refused(door: httpx2.Client) -> None:
    for body, status in ((b"{", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b"[]", 400)):
        refused = door.post("/responses", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == status, refused.text
        error_of(refused)
    assert door.post("/responses", content=b"{}").status_code == 415


def test_a_session_of_another_client_is_continued_and_shown(door: httpx2.Client, daemon: Daemon) -> None:
    native = f"http://127.0.0.1:{daemon.port}/v1/sessions/shared-one"
    headers = {"authorization": f"Bearer {TOKEN}"}
    httpx2.post(native, json={"agent": "mock"}, headers=headers)
    completion = door.post("/chat/completions", json=CHAT, headers={"x-session-id": "shared-one"}).json()
    turn, _, session = completion["id"].removeprefix("chatcmpl-").partition("_")
    assert session == "shared-one"
    response = door.get(f"/responses/resp_{turn}_{session}").json()
    assert response["output"][0]["content"][0]["text"] == completion["choices"][0]["message"]["content"]
    assert response["metadata"] == {"session_id": session, "turn_id": f"turn_{turn}"}


def test_one_model_is_described(door: httpx2.Client) -> None:
    for name in ("mock", "mock%2Fmock-2"):
        assert door.get(f"/models/{name}").json()["owned_by"] == "mock"
    unknown = door.get("/models/no-such-model")
    assert (unknown.status_code, error_of(unknown)["param"]) == (404, "model")


# -- items that are named ---------------------------------------------------------------------


def _items(door: httpx2.Client, *input: dict[str, Any], model: str = "mock") -> list[dict[str, Any]]:
    response = door.post("/responses", json={"model": model, "input": input})
    assert response.status_code == 200, response.text
    output: list[dict[str, Any]] = response.json()["output"]
    return output


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _named(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "item_reference", "id": item["id"]} for item in items]


def _text(items: list[dict[str, Any]]) -> str:
    text: str = items[-1]["content"][0]["text"]
    return text


def test_a_client_that_names_earlier_items_continues_their_session(door: httpx2.Client) -> None:
    first = _items(door, _user("thinking"))
    assert [item["type"] for item in first] == ["reasoning", "message"]
    second = _items(door, _user("thinking"), *_named(first), _user("memory"))
    assert _text(second) == "You said before:\n\n1. thinking"
    third = _items(door, _user("thinking"), *_named(first), _user("memory"), *_named(second), _user("memory"))
    assert _text(third) == "You said before:\n\n1. thinking\n2. memory"


def test_a_client_that_goes_back_or_to_another_agent_gets_a_new_session(door: httpx2.Client) -> None:
    first = _items(door, _user("hello"))
    _items(door, _user("hello"), *_named(first), _user("one way"))
    other_way = _text(_items(door, _user("hello"), *_named(first), _user("another way")))
    # The agent gets the conversation so far, with the text of the item.
    assert "Assistant: You said: hello (message 1 of this conversation)" in other_way
    assert other_way.endswith("another way (message 1 of this conversation)")
    unknown = door.post(
        "/responses", json={"model": "none", "input": [_user("hello"), *_named(first), _user("x")]}
    )
    assert (unknown.status_code, error_of(unknown)["param"]) == (400, "model")


def test_an_item_that_does_not_exist_is_refused(door: httpx2.Client) -> None:
    (item,) = _items(door, _user("hello"))
    for id in ("", "msg_x", item["id"].replace("msg_", "rs_"), "msg_1_00_nobody", "../..", item["id"] + "x"):
        refused = door.post(
            "/responses", json={"model": "mock", "input": [{"type": "item_reference", "id": id}, _user("x")]}
        )
        assert (refused.status_code, error_of(refused)["param"]) == (400, "input[0]"), id
