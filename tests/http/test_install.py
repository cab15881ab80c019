"""Installing through the API: the response, its progress, and sessions whose agent is not installed yet."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import SECONDS, Client, Daemon, client_of, done, refusal, running
from tests.install.site import Site, program, publish_claude, serving

from sandbox_agent.install.machine import this_machine
from sandbox_agent.runtime.installs import MAX_AT_ONCE

BUILD = this_machine().key
LINK = "bin/claude"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH without agents."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    return str(tools)


Start = Callable[..., Any]


@pytest.fixture
def start(site: Site, tmp_path: Path, bare_path: str) -> Start:
    """A daemon whose mirror is the site."""

    @contextmanager
    def start(*flags: str) -> Iterator[Client]:
        env = {"PATH": bare_path, "SANDBOX_AGENT_NO_INSTALL": "", "SANDBOX_AGENT_MIRROR": site.address}
        with (
            running(Daemon(tmp_path / "data", "--no-token", *flags, env=env)) as daemon,
            client_of(daemon) as client,
        ):
            yield client

    return start


def frames(client: Client, agent: str, body: object) -> list[tuple[str, Any]]:
    """The names and data of a stream."""
    with client.reader(f"/v1/agents/{agent}/install", {"accept": "text/event-stream"}, body) as reader:
        assert reader.status == 200
        return [(frame.fields["event"], frame.data) for frame in reader.frames() if "event" in frame.fields]


def test_an_agent_is_installed_and_then_is_there(site: Site, start: Start, tmp_path: Path) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    link = str(tmp_path / "data" / LINK)
    with start() as client:
        answers = [done(client.post("/v1/agents/claude/install", {})) for _ in range(2)]
        assert answers == [
            {"alreadyInstalled": already, "version": "2.1.325", "path": link, "source": "mirror"}
            for already in (False, True)
        ]
        claude = next(agent for agent in done(client.get("/v1/agents"))["agents"] if agent["id"] == "claude")
        facts = {name: claude[name] for name in ("installed", "version", "path", "source", "size")}
        assert facts == {
            "installed": True,
            "version": "2.1.325",
            "path": link,
            "source": "mirror",
            "size": len(program("2.1.325")),
        }


def test_a_program_without_a_download_is_used_even_without_a_version(start: Start, tmp_path: Path) -> None:
    own = tmp_path / "own-agent"
    own.write_text("#!/bin/sh\nexit 1\n")
    own.chmod(0o700)
    with start("--acp-agent", f"mine={own}") as client:
        answer = done(client.post("/v1/agents/mine/install", {}))
        assert answer == {"alreadyInstalled": True, "version": None, "path": str(own), "source": "path"}


def test_a_client_that_accepts_a_stream_sees_the_progress(site: Site, start: Start, tmp_path: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    size = len(file.body)
    result = {
        "alreadyInstalled": False,
        "version": "2.1.325",
        "path": str(tmp_path / "data" / LINK),
        "source": "mirror",
    }
    with start() as client:
        *steps, last = frames(client, "claude", {})
        assert last == ("result", result)
        assert {name for name, _ in steps} == {"progress"}
        known = [
            {"stage": "asking", "source": "mirror"},
            {"stage": "downloading", "source": "mirror", "file": "claude"},
            {"stage": "downloading", "source": "mirror", "file": "claude", "bytes": size, "total": size},
            {"stage": "checking", "source": "mirror"},
        ]
        # A reader sees the latest of them, not all.
        assert [step for _, step in steps if step not in known] == []
        assert frames(client, "claude", {}) == [("result", {**result, "alreadyInstalled": True})]
        assert frames(client, "mock", {})[0][1]["source"] == "built-in"


def test_a_failure_lists_every_source_that_was_tried(site: Site, start: Start, tmp_path: Path) -> None:
    publish_claude(site, "2.2.0", program("2.2.0"), BUILD)
    with start() as client:
        answer = client.post("/v1/agents/claude/install", {})
        assert refusal(answer) == (500, "install_failed")
        problem = answer.json()
        assert (problem["agent"], problem["version"]) == ("claude", "2.1.325")
        assert [source["source"] for source in problem["sources"]] == ["mirror", "mirror"]
        assert problem["sources"][0]["reason"] == (
            f"there is no version 2.1.325, the newest is 2.2.0 "
            f"({site.address}/claude/2.1.325/manifest.json answered 404)"
        )
        name, streamed = frames(client, "claude", {})[-1]
        assert (name, streamed["sources"]) == ("problem", problem["sources"])
        assert not (tmp_path / "data" / "bin").exists()


def test_two_requests_share_one_download(site: Site, start: Start) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    file.sent, file.gate = 10, threading.Event()
    streams: list[list[tuple[str, Any]]] = []
    with start() as client:
        both = [
            threading.Thread(target=lambda: streams.append(frames(client, "claude", {}))) for _ in range(2)
        ]
        for thread in both:
            thread.start()
        assert site.standing.wait(SECONDS)
        file.gate.set()
        for thread in both:
            thread.join(SECONDS)
    assert [stream[-1][0] for stream in streams] == ["result", "result"]
    assert site.downloads("/claude") == 1


def test_the_number_of_installations_is_limited(site: Site, start: Start) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    file.sent, file.gate = 10, threading.Event()
    with start() as client, ExitStack() as readers:
        for number in range(MAX_AT_ONCE):
            body = {"agentVersion": f"1.0.{number}" if number else "2.1.325"}
            stream = client.reader("/v1/agents/claude/install", {"accept": "text/event-stream"}, body)
            assert readers.enter_context(stream).status == 200
            assert site.standing.wait(SECONDS)
        refused = client.post("/v1/agents/claude/install", {"agentVersion": "9.9.9"})
        assert (refusal(refused), refused.headers["retry-after"]) == ((429, "rate_limited"), "30")
        file.gate.set()
        assert (
            done(client.post("/v1/agents/claude/install", {"agentVersion": "2.1.325"}))["version"]
            == "2.1.325"
        )


def test_the_daemon_stops_in_the_middle_of_a_download(site: Site, start: Start, tmp_path: Path) -> None:
    file = publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    file.sent, file.gate = 10, threading.Event()
    with start() as client:
        with client.reader("/v1/agents/claude/install", {"accept": "text/event-stream"}, {}) as reader:
            assert site.standing.wait(SECONDS)
            assert (client.daemon.stop(), reader.status) == (0, 200)
        client.daemon.start()
        file.gate.set()
        file.sent, file.gate = None, None
        assert done(client.post("/v1/agents/claude/install", {}))["alreadyInstalled"] is False
    assert os.listdir(tmp_path / "data" / "agents" / "claude") == ["2.1.325"]


# -- sessions ---------------------------------------------------------------------------------


def started_version(client: Client, session: str, **settings: object) -> str:
    """Create a session of an agent that does nothing. Returns the version in its first event."""
    answer = done(client.post(f"/v1/sessions/{session}", {"agent": "claude", **settings}))
    client.sessions.append(session)
    assert (answer["healthy"], answer["error"]["exitCode"]) == (False, 7)
    version: str = client.events(session)[0]["data"]["metadata"]["agentVersion"]
    return version


def test_a_session_installs_its_agent_and_the_version_it_names(
    site: Site, start: Start, tmp_path: Path
) -> None:
    for version in ("2.0.0", "2.1.325", "2.2.0"):
        publish_claude(site, version, program(version), BUILD)
    with start() as client:
        asked = {"a": None, "b": "2.0.0", "c": "latest", "d": None}
        versions = {
            name: started_version(client, name, agentVersion=version) for name, version in asked.items()
        }
        assert versions == {"a": "2.1.325", "b": "2.0.0", "c": "2.2.0", "d": "2.1.325"}
        # A version chosen for one session does not become the default.
        link = tmp_path / "data" / LINK
        assert os.readlink(link) == "../agents/claude/2.1.325/claude"
    assert sorted(os.listdir(tmp_path / "data" / "agents" / "claude")) == ["2.0.0", "2.1.325", "2.2.0"]


def test_an_install_that_fails_creates_no_session(start: Start) -> None:
    with start() as client:
        assert refusal(client.post("/v1/sessions/x", {"agent": "claude"})) == (500, "install_failed")
        assert refusal(client.get("/v1/sessions/x")) == (404, "session_not_found")


def test_nothing_is_fetched_for_what_is_refused_anyway(site: Site, start: Start) -> None:
    with start() as client:
        for wrong in ({"directory": "/does/not/exist"}, {"agentVersion": "../../x"}):
            answer = client.post("/v1/sessions/x", {"agent": "claude", **wrong})
            assert refusal(answer) == (400, "invalid_request")
    assert site.asked == []


def test_a_daemon_can_be_configured_to_install_nothing(site: Site, start: Start) -> None:
    publish_claude(site, "2.1.325", program("2.1.325"), BUILD)
    with start("--no-install") as client:
        answer = client.post("/v1/sessions/x", {"agent": "claude"})
        assert refusal(answer) == (404, "agent_not_installed")
        assert answer.json()["detail"].endswith("; this daemon was started with --no-install")
        assert refusal(client.post("/v1/agents/claude/install", {})) == (403, "permission_denied")
        assert done(client.post("/v1/agents/mock/install", {}))["alreadyInstalled"] is True
    assert site.asked == []


def test_lists_fetch_nothing(site: Site, start: Start) -> None:
    with start() as client:
        assert refusal(client.get("/v1/agents/codex/models")) == (404, "agent_not_installed")
    assert site.asked == []


# -- intruders --------------------------------------------------------------------------------


def test_no_request_can_say_where_programs_come_from(site: Site, start: Start) -> None:
    with start() as client:
        for field in ("from", "mirror", "path", "url", "source", "executable"):
            evil = {field: "/tmp/evil"}
            assert refusal(client.post("/v1/agents/claude/install", evil)) == (400, "invalid_request")
            assert refusal(client.post("/v1/sessions/x", {"agent": "claude", **evil})) == (
                400,
                "invalid_request",
            )
        for version in ("../../../tmp/evil", "1.0.0/../../x", "https://evil", ".."):
            answer = client.post("/v1/agents/claude/install", {"agentVersion": version})
            assert refusal(answer) == (400, "invalid_request")
    assert site.asked == []
