"""The link to an agent that is an HTTP server, against a real process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from tests.runtime.conftest import Run

from sandbox_agent.agents.base import HttpServer
from sandbox_agent.agents.frames import HttpRequest, InFrame, encode_frame
from sandbox_agent.runtime import http_link
from sandbox_agent.runtime.framing import LineTooLong
from sandbox_agent.runtime.http_link import HttpLink
from sandbox_agent.runtime.process import Exit
from sandbox_agent.schema.events import Stderr

AGENT = Path(__file__).with_name("http_agent.py")
READY = r"agent listening on (http://\S+)"
STREAM_1 = {"sse": "/global/event", "data": {"stream": 1}}


class Talk:
    """A link, and everything received through it."""

    def __init__(self, password: str = "secret") -> None:
        self.received: list[Any] = []
        self.exits: list[Exit] = []
        self.changed = asyncio.Condition()
        server = HttpServer(READY, "/events", "agent", password)
        self.link = HttpLink(server, f"test-link-{os.getpid()}", self._frames, self._exit)
        self._notified: set[asyncio.Task[None]] = set()

    def _frames(self, frames: Sequence[InFrame | LineTooLong]) -> None:
        assert not self.exits
        self.received += [
            msgspec.json.decode(encode_frame(frame)) for frame in frames if not isinstance(frame, LineTooLong)
        ]
        self._notify()

    def _exit(self, exit: Exit) -> None:
        self.exits.append(exit)
        self._notify()

    def _notify(self) -> None:
        task = asyncio.get_running_loop().create_task(self._notify_all())
        self._notified.add(task)
        task.add_done_callback(self._notified.discard)

    async def _notify_all(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def until(self, wanted: Callable[[], object]) -> None:
        async with self.changed:
            await self.changed.wait_for(wanted)

    def write(self, *requests: tuple[str, str] | tuple[str, str, object]) -> None:
        """Each request is given its own path as its id."""
        self.link.write([frame_of(*request) for request in requests])

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        self.write((method, path, body))
        return await self.answer(path)

    async def answer(self, path: str) -> Any:
        await self.until(lambda: self.answered(path))
        return next(frame for frame in self.received if frame.get("id") == path)

    def answered(self, path: str) -> bool:
        return any(frame.get("id") == path for frame in self.received)

    @property
    def events(self) -> list[Any]:
        return [frame for frame in self.received if "sse" in frame]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def frame_of(method: str, path: str, body: object = None) -> HttpRequest:
    return HttpRequest(method, path, Raw(msgspec.json.encode(body)), path)


def answer(status: int, method: str, path: str, body: object) -> dict[str, object]:
    return {"status": status, "for": f"{method} {path}", "id": path, "body": body}


@asynccontextmanager
async def talk(password: str = "secret", **env: str) -> AsyncIterator[Talk]:
    talk = Talk(password)
    await talk.link.start(
        [sys.executable, "-I", "-S", str(AGENT)], {"SECRET": "secret", "PATH": os.environ["PATH"], **env}, "/"
    )
    try:
        yield talk
    finally:
        await talk.link.stop()


def test_early_requests_are_sent_once_the_event_stream_is_open(
    run: Run,
) -> None:
    async def body() -> None:
        async with talk() as agent:
            agent.write(("POST", "/say", "hello"))
            await agent.until(lambda: len(agent.received) == 3)
            event = {"sse": "/global/event", "data": {"said": "hello"}}
            assert agent.received[0] == STREAM_1
            assert sorted(agent.received[1:], key=str) == sorted(
                [event, answer(204, "POST", "/say", None)], key=str
            )

    run(body)


def test_an_answer_carries_status_request_id_and_body(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            asked = {"a": [1, "ü"]}
            given = {"given": asked, "type": "application/json"}
            assert await agent.ask("POST", "/echo", asked) == answer(200, "POST", "/echo", given)
            path = "/got?directory=/a%20b"
            assert await agent.ask("GET", path) == answer(200, "GET", path, {"got": path})
            assert await agent.ask("POST", "/unknown") == answer(
                404, "POST", "/unknown", {"name": "NotFound"}
            )
            assert await agent.ask("GET", "/text") == answer(200, "GET", "/text", None)

    run(body)


def test_only_requests_to_one_resource_wait_for_each_other(
    run: Run,
) -> None:
    async def body() -> None:
        async with talk() as agent:
            agent.write(("POST", "/things/1/wait"), ("GET", "/things/1/next"), ("GET", "/things/2/first"))
            agent.write(("GET", "/other"))
            await agent.answer("/other")
            await agent.answer("/things/2/first")
            await agent.until(lambda: {"sse": "/global/event", "data": "waiting"} in agent.received)
            assert not agent.answered("/things/1/next")
            agent.write(("POST", "/open"))
            await agent.answer("/things/1/next")
            paths = [frame["id"] for frame in agent.received if "things/1" in frame.get("id", "")]
            assert paths == ["/things/1/wait", "/things/1/next"]

    run(body)


def test_events_and_bodies_of_many_megabytes_pass(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            size = 8 << 20
            path = f"/long/{size}"
            assert await agent.ask("POST", path, "z" * size) == answer(
                200, "POST", path, {"long": "y" * size}
            )
            await agent.until(lambda: len(agent.events) == 2)
            assert agent.events == [STREAM_1, {"sse": "/global/event", "data": {"long": "x" * size}}]

    run(body)


def test_a_paused_link_makes_the_server_wait_and_loses_nothing(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            await agent.until(lambda: agent.events)
            agent.link.pause()
            # 25 MiB is more than the sockets between us hold. Answers still come.
            assert (await agent.ask("POST", "/flood/400"))["body"] == {"waits": True}
            assert agent.events == [STREAM_1]
            agent.link.resume()
            await agent.until(lambda: len(agent.events) == 401)
            assert [event["data"][0] for event in agent.events[1:]] == list(range(400))

    run(body)


@pytest.mark.parametrize("how", ["politely", "rudely"])
def test_after_a_reconnect_the_wire_is_notified_and_events_resume(run: Run, how: str) -> None:
    async def body() -> None:
        async with talk() as agent:
            await agent.until(lambda: agent.events)
            await agent.ask("POST", f"/drop/{how}")
            await agent.until(lambda: len(agent.events) == 3)
            await agent.ask("POST", "/say", "after")
            await agent.until(lambda: len(agent.events) == 4)
            reasons = [event.pop("closed") for event in agent.events if "closed" in event]
            assert reasons == ["the stream of events ended"]
            assert [event for event in agent.events if "data" not in event] == [{"sse": "/global/event"}]
            assert [event["data"] for event in agent.events if "data" in event] == [
                {"stream": 1},
                {"stream": 2},
                {"said": "after"},
            ]

    run(body)


def test_a_pause_survives_a_reconnect(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            await agent.until(lambda: agent.events)
            await agent.ask("POST", "/drop/rudely")
            agent.link.pause()
            await agent.until(lambda: any("closed" in event for event in agent.events))
            seen = len(agent.events)
            await agent.ask("POST", "/say", "unheard")
            assert len(agent.events) == seen
            agent.link.resume()
            await agent.until(lambda: agent.events[-1].get("data") == {"said": "unheard"})

    run(body)


def test_a_refused_stream_is_retried(run: Run) -> None:
    async def body() -> None:
        async with talk(REFUSE_STREAMS="2") as agent:
            agent.write(("GET", "/held"))
            await agent.answer("/held")
            assert agent.received == [STREAM_1, answer(200, "GET", "/held", {"got": "/held"})]

    run(body)


def test_an_unanswered_request_to_a_live_server_has_status_0(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_link, "EXIT_SECONDS", 0.05)

    async def body() -> None:
        async with talk() as agent:
            why = "the server closed the connection before it answered"
            assert await agent.ask("POST", "/hang-up") == answer(
                0, "POST", "/hang-up", {"data": {"message": why}}
            )
            refused = await agent.ask("POST", "/nonsense")
            assert refused["status"] == 0
            assert refused["body"]["data"]["message"].startswith("the answer is not HTTP: ")

    run(body)


def test_the_last_output_of_a_dying_server_is_read(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            await agent.until(lambda: agent.events)
            agent.write(("POST", "/things/1/wait"), ("GET", "/things/1/next"))
            await agent.until(lambda: len(agent.received) == 2)
            agent.write(("POST", "/die"))
            await agent.until(lambda: agent.exits)
            assert agent.received == [
                STREAM_1,
                {"sse": "/global/event", "data": "waiting"},
                {"sse": "/global/event", "data": {"last": "words"}},
            ]
            stderr = Stderr(False, "something broke", total_lines=1)
            assert agent.exits == [Exit(3, None, stderr)]
            assert (agent.link.exit_code, agent.link.ended.is_set()) == (3, True)

    run(body)


def test_a_server_that_never_listens_exits_like_any_process(run: Run) -> None:
    async def body() -> None:
        async with talk(DIE_AT_START="1") as agent:
            agent.write(("POST", "/say", "hello"))
            await agent.until(lambda: agent.exits)
            assert agent.received == []
            assert agent.exits == [Exit(1, None, Stderr(False, "no port is free", total_lines=1))]

    run(body)


def test_stop_ends_the_server_its_children_and_open_requests(run: Run) -> None:
    async def body() -> None:
        async with talk() as agent:
            child = (await agent.ask("POST", "/child"))["body"]["pid"]
            assert agent.link.pid is not None
            agent.write(("POST", "/things/1/wait"))
            await agent.until(lambda: {"sse": "/global/event", "data": "waiting"} in agent.received)
            agent.link.pause()
            await agent.link.stop()
            assert [is_alive(pid) for pid in (child, agent.link.pid)] == [False, False]
            assert [exit.signal for exit in agent.exits] == ["SIGTERM"]
            assert not agent.answered("/things/1/wait")

    run(body)


def test_without_the_password_nothing_is_received(run: Run) -> None:
    async def body() -> None:
        async with talk("wrong") as agent:
            agent.write(("GET", "/held"))
        assert agent.received == []

    run(body)
