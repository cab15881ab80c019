"""The token: required on every route, compared as a whole, never delayed if valid, throttled if wrong."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import httpx2
import pytest
from tests.daemons import SECONDS, Client, Daemon, client_of, done, refusal

from sandbox_agent.http.gate import WRONG_TOKENS_PER_MINUTE
from sandbox_agent.ops import OPERATIONS

PUBLIC = {"/v1/health", "/v1/ready"}

_addresses = (f"127.0.{high}.{low}" for high, low in itertools.product(range(1, 250), range(1, 250)))


class Stranger:
    """A client with its own address: wrong tokens are counted by address."""

    def __init__(self, daemon: Daemon) -> None:
        self._base = f"http://127.0.0.1:{daemon.port}"
        transport = httpx2.HTTPTransport(local_address=next(_addresses), verify=False)
        self._http = httpx2.Client(transport=transport, timeout=SECONDS)

    def request(
        self, method: str, path: str, headers: list[tuple[str, str]] | dict[str, str] | None = None
    ) -> httpx2.Response:
        return self._http.request(method, self._base + path, headers=headers)

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def stranger(daemon: Daemon) -> Iterator[Stranger]:
    stranger = Stranger(daemon)
    yield stranger
    stranger.close()


def test_every_route_requires_the_token_except_health_and_ready(client: Client, stranger: Stranger) -> None:
    described = done(client.get("/openapi.json"))["paths"]
    routes = [(method.upper(), path) for path, methods in described.items() for method in methods]
    assert len(routes) == len(OPERATIONS)
    answers = {}
    for method, path in routes:
        answer = stranger.request(method, re.sub(r"{\w+}", "x", path))
        answers[path] = answer.status_code
        if path not in PUBLIC:
            assert refusal(answer) == (401, "token_invalid"), path
            assert answer.headers["www-authenticate"] == "Bearer"
    assert {path for path, status in answers.items() if status != 401} == PUBLIC


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/openapi.json"),
        ("GET", "/docs"),
        ("POST", "/"),
        ("GET", "/v1/nothing"),
        ("PUT", "/v1/sessions"),
        ("POST", "/v1/health/../sessions"),
        ("GET", "/v1/health/x"),
        ("POST", "/v1/health"),
        ("GET", "//v1/sessions"),
        ("GET", "/v1/sessions?x=/v1/health"),
    ],
)
def test_without_the_token_nothing_else_can_be_learned(stranger: Stranger, method: str, path: str) -> None:
    answer = stranger.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer {token}"},
        {"authorization": "bearer {token}"},
        {"Authorization": "BEARER   {token}"},
        {"x-sandbox-token": "{token}"},
        {"X-Sandbox-Token": "{token}"},
    ],
)
def test_the_right_token_is_accepted(stranger: Stranger, token: str, headers: dict[str, str]) -> None:
    given = {name: value.format(token=token) for name, value in headers.items()}
    assert stranger.request("GET", "/v1/sessions", given).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer wrong"},
        {"authorization": "Bearer"},
        {"authorization": ""},
        {"authorization": "{token}"},
        {"authorization": "Basic {token}"},
        {"authorization": "Bearer {token}{token}"},
        {"authorization": "Bearer {token} {token}"},
        {"authorization": "Bearer {token},{token}"},
        {"authorization": "Bearer {token}x"},
        {"authorization": "Bearer x{token}"},
        {"authorization": 'Bearer "{token}"'},
        {"authorization": "Bearer null"},
        {"x-sandbox-token": ""},
        {"x-sandbox-token": "{token}{token}"},
        {"x-sandbox-token": "Bearer {token}"},
        {"cookie": "token={token}"},
        {"x-api-key": "{token}"},
        {"x-forwarded-for": "127.0.0.1"},
        {"authorization": "Bearer wrong", "x-forwarded-user": "root"},
    ],
)
def test_a_token_that_is_not_exactly_right_is_refused(
    stranger: Stranger, token: str, headers: dict[str, str]
) -> None:
    given = {name: value.format(token=token) for name, value in headers.items()}
    assert refusal(stranger.request("GET", "/v1/sessions", given)) == (401, "token_invalid")


def test_every_part_of_the_token_counts(daemon: Daemon, token: str) -> None:
    """Truncated anywhere, or in another case."""
    wrong = [token[:length] for length in range(1, len(token))] + [token.upper(), token[::-1]]
    for start in range(0, len(wrong), WRONG_TOKENS_PER_MINUTE):
        stranger = Stranger(daemon)
        for guess in wrong[start : start + WRONG_TOKENS_PER_MINUTE]:
            answer = stranger.request("GET", "/v1/sessions", {"authorization": f"Bearer {guess}"})
            assert refusal(answer) == (401, "token_invalid"), guess
        stranger.close()


def test_a_wrong_token_in_one_header_is_not_saved_by_an_empty_one(stranger: Stranger) -> None:
    given = {"authorization": "Bearer wrong", "x-sandbox-token": ""}
    assert refusal(stranger.request("GET", "/v1/sessions", given)) == (401, "token_invalid")


# -- in the query -------------------------------------------------------------------------------


def test_a_stream_accepts_the_token_in_its_query(daemon: Daemon, client: Client, token: str) -> None:
    session = client.create()
    with client_of(daemon) as browser:
        for path in (f"/v1/sessions/{session}/events/sse", "/v1/events/sse"):
            with browser.reader(f"{path}?offset=0&access_token={token}") as reader:
                assert reader.status == 200
                next(reader.events())


def test_a_stream_refuses_a_wrong_token_in_its_query(stranger: Stranger) -> None:
    for query in ("", "?access_token=", "?access_token=wrong"):
        answer = stranger.request("GET", f"/v1/events/sse{query}")
        assert refusal(answer) == (401, "token_invalid")


def test_no_other_route_accepts_the_token_in_its_query(
    client: Client, stranger: Stranger, token: str
) -> None:
    described = done(client.get("/openapi.json"))["paths"]
    for path, methods in described.items():
        for method, operation in methods.items():
            if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
                continue
            if "101" in operation["responses"]:
                continue  # a browser can give a WebSocket no header either
            answer = stranger.request(method.upper(), f"{re.sub(r'{.+?}', 'x', path)}?access_token={token}")
            assert answer.status_code == (200 if path in PUBLIC else 401), path


# -- throttling ---------------------------------------------------------------------------------


def test_wrong_tokens_are_throttled_and_a_right_one_is_not(daemon: Daemon, token: str) -> None:
    stranger, neighbour = Stranger(daemon), Stranger(daemon)
    wrong, right = {"authorization": "Bearer wrong"}, {"authorization": f"Bearer {token}"}
    answers = [stranger.request("GET", "/v1/sessions", wrong) for _ in range(WRONG_TOKENS_PER_MINUTE + 3)]
    assert [refusal(answer) for answer in answers] == [
        *[(401, "token_invalid")] * WRONG_TOKENS_PER_MINUTE,
        *[(429, "rate_limited")] * 3,
    ]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert stranger.request("GET", "/v1/sessions", right).status_code == 200
    assert refusal(neighbour.request("GET", "/v1/sessions", wrong)) == (401, "token_invalid")
    stranger.close()
    neighbour.close()


def test_missing_tokens_are_not_counted(stranger: Stranger) -> None:
    for _ in range(WRONG_TOKENS_PER_MINUTE * 3):
        assert refusal(stranger.request("GET", "/v1/sessions")) == (401, "token_invalid")
    answer = stranger.request("GET", "/v1/sessions", {"authorization": "Bearer wrong"})
    assert refusal(answer) == (401, "token_invalid")
