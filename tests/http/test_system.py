"""Health, readiness, figures, agents, and the pages that describe the API."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.daemons import Client, Daemon, client_of, done, refusal, running

from sandbox_agent import __version__
from sandbox_agent.agents import AGENTS
from sandbox_agent.schema.features import Capabilities

CAPABILITIES = set(
    "textMessages toolCalls toolResults questions permissions planMode images fileAttachments sessionLifecycle "
    "errorEvents reasoning commandExecution fileChanges mcpTools streamingDeltas itemStarted variants status "
    "sharedProcess".split()
)


def test_health_returns_the_version(client: Client) -> None:
    assert done(client.get("/v1/health")) == {"status": "ok", "version": __version__}


def test_a_daemon_that_takes_work_is_ready(client: Client) -> None:
    assert done(client.get("/v1/ready")) == {"status": "ready"}


def test_metrics_are_prometheus_text(client: Client) -> None:
    session = client.create()
    client.turn(session, "hi")
    with client.follow(session) as reader:
        next(reader.events())
        answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    figures = dict(re.findall(r"^(sandbox_agent_\w+) (\S+)$", answer.text, re.MULTILINE))
    assert figures.keys() == {
        "sandbox_agent_sessions_loaded",
        "sandbox_agent_turns_running",
        "sandbox_agent_agent_processes",
        "sandbox_agent_log_bytes",
        "sandbox_agent_readers",
        "sandbox_agent_events_committed_total",
        "sandbox_agent_log_writable",
        "sandbox_agent_uptime_seconds",
    }
    assert float(figures["sandbox_agent_agent_processes"]) >= 1
    assert float(figures["sandbox_agent_readers"]) >= 1
    assert figures["sandbox_agent_log_writable"] == "1.0"
    assert "process_resident_memory_bytes" in answer.text


# -- agents -------------------------------------------------------------------------------------


def test_every_agent_is_listed_with_its_capabilities(client: Client) -> None:
    agents = {agent["id"]: agent for agent in done(client.get("/v1/agents"))["agents"]}
    assert agents.keys() == AGENTS.keys()
    for agent in agents.values():
        assert agent["capabilities"].keys() == CAPABILITIES
        assert {type(value) for value in agent["capabilities"].values()} == {bool}
        assert agent["stability"] in ("stable", "experimental")
        assert ("serverStatus" in agent) == agent["capabilities"]["sharedProcess"]
    mock = agents["mock"]
    assert (mock["installed"], mock["credentialsAvailable"], mock["stability"]) == (True, True, "stable")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", mock["version"])
    assert len(CAPABILITIES) == len(Capabilities.__struct_fields__)


def test_a_version_is_read_again_when_the_program_changes(tmp_path: Path) -> None:
    program = tmp_path / "data" / "bin" / "codex"
    program.parent.mkdir(parents=True)

    def install(version: str) -> None:
        program.write_text(f"#!/bin/sh\necho codex-cli {version}\n")
        program.chmod(0o755)

    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        seen = []
        for version in ("1.2.3", "1.2.30"):
            install(version)
            codex = next(
                agent for agent in done(client.get("/v1/agents"))["agents"] if agent["id"] == "codex"
            )
            seen.append((codex["installed"], codex["version"], codex["path"]))
    assert seen == [(True, "1.2.3", str(program)), (True, "1.2.30", str(program))]


def test_modes_and_models_are_those_of_the_agent(client: Client) -> None:
    modes = done(client.get("/v1/agents/mock/modes"))["modes"]
    assert [mode["id"] for mode in modes] == ["build", "plan"]
    assert all(mode.keys() == {"id", "name", "description"} for mode in modes)
    assert done(client.get("/v1/agents/mock/models")) == {
        "models": [
            {"id": "mock-1", "name": "Mock One", "variants": ["low", "high"], "defaultVariant": "low"},
            {"id": "mock-2", "name": "Mock Two"},
        ],
        "defaultModel": "mock-1",
    }


def test_modes_and_models_can_be_asked_for_a_directory(client: Client, tmp_path: Path) -> None:
    for what in ("modes", "models"):
        assert done(client.get(f"/v1/agents/mock/{what}", directory=tmp_path))[what]
        for directory in ("relative", "/does/not/exist", "/etc/hostname"):
            refused = client.get(f"/v1/agents/mock/{what}", directory=directory)
            assert refusal(refused) == (400, "invalid_request"), directory


def test_asking_for_modes_leaves_no_process(tmp_path: Path) -> None:
    from tests.daemons import descendants

    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        done(client.get("/v1/agents/mock/models"))
        assert descendants(daemon.pid) == set()


@pytest.mark.parametrize("what", ["modes", "models"])
def test_an_agent_that_is_not_there_has_no_list(client: Client, what: str) -> None:
    assert refusal(client.get(f"/v1/agents/codex/{what}")) == (404, "agent_not_installed")
    assert refusal(client.get(f"/v1/agents/nobody/{what}")) == (400, "unsupported_agent")


def test_installing_an_installed_agent_says_so(client: Client) -> None:
    answer = done(client.post("/v1/agents/mock/install", {}))
    assert answer.pop("path")
    assert answer == {"alreadyInstalled": True, "version": __version__, "source": "built-in"}
    assert done(client.post("/v1/agents/mock/install"))["alreadyInstalled"] is True


def test_installing_an_unknown_agent_is_refused(client: Client) -> None:
    assert refusal(client.post("/v1/agents/nobody/install", {})) == (400, "unsupported_agent")


# -- pages --------------------------------------------------------------------------------------


def test_the_description_is_openapi(client: Client) -> None:
    described = done(client.get("/openapi.json"))
    assert described["openapi"] == "3.1.0"
    assert described["info"]["version"] == __version__


class _References(HTMLParser):
    """What a page loads from elsewhere, and what runs in it."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script" or any(name.startswith("on") for name, _ in attrs)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_is_self_contained(client: Client) -> None:
    answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    page = _References()
    page.feed(answer.text)
    assert page.scripts == 0
    assert set(page.loaded) == {"/docs/style.css", "/openapi.json"}
    style = client.get("/docs/style.css")
    assert (style.status_code, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "url(" not in style.text
