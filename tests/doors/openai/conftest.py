"""A real daemon, and OpenAI's own client at its door."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Self

import httpx2
import openai
import pytest
from tests.daemons import SECONDS, Daemon, running
from tests.doors.opencode.conftest import scripted_daemon

__all__ = ["scripted_daemon"]

TOKEN = "sixteen-characters-or-more"


class Native:
    """What the daemon itself says about its sessions."""

    def __init__(self, daemon: Daemon) -> None:
        self._http = httpx2.Client(
            base_url=f"http://127.0.0.1:{daemon.port}/v1",
            headers={"authorization": f"Bearer {TOKEN}"},
            timeout=SECONDS,
            verify=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        response = self._http.get(path, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def events(self, session_id: str) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.get(f"/sessions/{session_id}/events", limit=1000)["events"]
        return events

    def prompts(self) -> list[str]:
        """What all agents of the daemon were asked, in all sessions."""
        return sorted(
            part["text"]
            for session in self.get("/sessions", limit=1000)["sessions"]
            for event in self.events(session["sessionId"])
            if event["type"] == "item.completed" and event["data"]["item"]["role"] == "user"
            for part in event["data"]["item"]["content"]
            if part["type"] == "text"
        )

    def until(self, happens: Callable[[], object]) -> None:
        deadline = time.monotonic() + SECONDS
        while not happens():
            assert time.monotonic() < deadline
            time.sleep(0.05)


def client_of(port: int, **options: Any) -> openai.OpenAI:
    given = {"api_key": TOKEN, "timeout": SECONDS, "max_retries": 0, **options}
    return openai.OpenAI(base_url=f"http://127.0.0.1:{port}/openai/v1", **given)


def session_of(response: Any) -> str:
    """The session of a response or a completion."""
    return str(response.id).split("_")[-1]


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running(Daemon(tmp_path_factory.mktemp("openai") / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[openai.OpenAI]:
    with client_of(daemon.port) as client:
        yield client


@pytest.fixture
def native(daemon: Daemon) -> Iterator[Native]:
    with Native(daemon) as native:
        yield native
