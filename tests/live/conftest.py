"""The live suite: real agents behind a real daemon, on the scripted model or, with `MODEL=real`, on the user's own keys.

One daemon and one model server per worker; every test has its own sessions and workspace. After each test the ten rules are
checked on all events of its sessions. What an adapter declares in `gaps` is tried all the same, and must not work.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Agent
from sandbox_agent.schema.ids import random_id
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.rules import violations
from sandbox_agent.testing.scripted_model import Command, Request, Scenario, ScriptedModel, Text

from . import coverage
from .client import DaemonProcess, Refused, Session, Turn
from .features import Feature

LIVE_AGENTS = ("claude", "codex", "opencode", "pi", "amp")
"""The agents that this suite drives."""

REAL = os.environ.get("MODEL") == "real"
CHECKOUT = Path(__file__).parents[2]
PAGE, README = CHECKOUT / "docs" / "coverage.md", CHECKOUT / "README.md"


def _twice(command: str) -> list[Any]:
    return [Command(command), Text("Once more."), Command(command), Text("Done twice.")]


SCENARIOS: Mapping[str, Scenario] = {"twice": _twice}


# -- selection --------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("live", "the real agents")
    group.addoption("--agent", action="append", choices=LIVE_AGENTS, help="drive only this agent; repeatable")
    group.addoption("--write-coverage", action="store_true", help="write the coverage matrix of this run")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "feature(feature): the feature that a live test tries")
    config.pluginmanager.register(CoverageReport(config), "live-coverage")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "agent" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--agent") or LIVE_AGENTS
        metafunc.parametrize("agent", [name for name in LIVE_AGENTS if name in chosen], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker("live")


def _feature_of(item: pytest.Item) -> Feature | None:
    mark = item.get_closest_marker("feature")
    return mark.args[0] if mark else None


def _agent_of(item: pytest.Item) -> Agent:
    assert isinstance(item, pytest.Function)
    return AGENTS[str(item.callspec.params["agent"])]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if (feature := _feature_of(item)) is not None and REAL and feature.scripted_only:
        pytest.skip(feature.scripted_only)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A feature that an adapter declares missing must really be missing."""
    feature = _feature_of(pyfuncitem)
    reason = _agent_of(pyfuncitem).gaps.get(feature.name) if feature else None
    if feature is None or reason is None:
        return (yield)
    try:
        yield
    except AssertionError:
        pyfuncitem.user_properties.append(("gap", reason))
        return True
    pytest.fail(
        f"{_agent_of(pyfuncitem).title} declares a gap, `{feature.name}`, but it works: take it out of `gaps`"
    )


# -- what ran ---------------------------------------------------------------------------------


class CoverageReport:
    """Collects the outcomes, also those of other workers, and holds them against the committed matrix."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcomes: dict[tuple[str, str], coverage.Ran] = {}
        self._said: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = dict(report.user_properties)
        if "feature" not in facts or report.outcome == "skipped":
            return
        key = (str(facts["agent"]), str(facts["feature"]))
        before = self._outcomes.get(key)
        failed = report.failed or (before is not None and before.outcome == "fails")
        outcome: coverage.Outcome = "fails" if failed else "no" if "gap" in facts else "yes"
        self._outcomes[key] = coverage.Ran(key[0], str(facts["version"]), key[1], outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self._config, "workerinput") or not self._outcomes or REAL:
            return
        known = coverage.read(PAGE.read_text()) if PAGE.exists() else {}
        matrix = coverage.merged(known, list(self._outcomes.values()))
        files = {PAGE: coverage.page(matrix), README: coverage.in_readme(README.read_text(), matrix)}
        stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
        if self._config.getoption("--write-coverage"):
            coverage.write({path: files[path] for path in stale})
            self._said = [f"wrote {path.relative_to(CHECKOUT)}" for path in stale]
        elif stale:
            names = ", ".join(str(path.relative_to(CHECKOUT)) for path in stale)
            self._said = [
                f"{names}: not what just ran. If it is right, write it with `make live` (or --write-coverage).",
                *coverage.differences(known, matrix),
            ]
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._said:
            terminalreporter.section("coverage matrix")
            for line in self._said:
                terminalreporter.line(line)


# -- the machine ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def scripted_model() -> Iterator[ScriptedModel]:
    with ScriptedModel(scenarios=SCENARIOS) as model:
        yield model


@pytest.fixture(scope="session")
def environ(scripted_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The daemon's environment: everything the agents need to find the model, and nothing of the user's."""
    programs = agent_cache.cache_folder() / "bin"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    if REAL:
        return {**os.environ, "PATH": path}
    home = tmp_path_factory.mktemp("home")
    offline: dict[str, str] = {}
    for name in LIVE_AGENTS:
        offline |= offline_environment(name, scripted_model.base_url, home)
    ours = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {"PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", **ours, **offline}


@pytest.fixture(scope="session")
def shared_daemon(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path_factory.mktemp("daemon") / "data", environ)
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def versions(shared_daemon: DaemonProcess) -> dict[str, str]:
    """What the agents call their versions; asked once, because some take long to say it."""
    agents = shared_daemon.http.get("/v1/agents").json()["agents"]
    return {agent["id"]: str(agent.get("version")) for agent in agents}


@pytest.fixture
def own_daemon(environ: dict[str, str], tmp_path: Path) -> Iterator[DaemonProcess]:
    """A daemon that a test may kill."""
    (tmp_path / "daemon").mkdir()
    daemon = DaemonProcess(tmp_path / "daemon" / "data", environ)
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def keep_server(shared_daemon: DaemonProcess) -> Callable[[Agent], None]:
    """A session that stays, so that a shared server lives on between tests."""
    kept: set[str] = set()

    def keep(agent: Agent) -> None:
        if agent.name not in kept:
            kept.add(agent.name)
            Session(shared_daemon, random_id("kept")).call("POST", "", {"agent": agent.name})

    return keep


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Agent:
    """The agent under test, installed."""
    name: str = request.param
    try:
        agent_cache.install(name)
    except agent_cache.CannotInstall as error:
        if os.environ.get("CI") or shutil.which(name) is None:
            _leave_out(name, error)
    return AGENTS[name]


def _leave_out(name: str, error: Exception) -> None:
    said = f"LEFT OUT: {name} cannot be installed here, so nothing is known about it: {error}"
    if os.environ.get("CI"):
        pytest.fail(said, pytrace=False)
    pytest.skip(said)


# -- what a test has to work with -------------------------------------------------------------


class Live:
    """One agent on one daemon, with a workspace."""

    real = REAL

    def __init__(self, agent: Agent, daemon: DaemonProcess, model: ScriptedModel, workspace: Path) -> None:
        self.agent = agent
        self.daemon = daemon
        self.model = model
        self.workspace = workspace
        self.sessions: list[Session] = []

    def session(self, **settings: Any) -> Session:
        """A new session in the workspace."""
        session = Session(self.daemon, random_id("live"))
        body = {"agent": self.agent.name, "directory": str(self.workspace), **settings}
        created = session.call("POST", "", body)
        assert created["healthy"], created
        self.sessions.append(session)
        return session

    def say(self, scenario: str, argument: str, words: str) -> str:
        """A prompt: a marker for the scripted model, or words that make a real one do the same."""
        if REAL:
            return words
        return f"SCENARIO:{scenario}:{quote_plus(argument)}" if argument else f"SCENARIO:{scenario}"

    def command(self, command: str) -> str:
        return self.say(
            "command", command, f"Run exactly this shell command, once, and nothing else: {command}"
        )

    def knows(self, turn: Turn, word: str, messages: int) -> bool:
        """Whether a turn whose prompt asked for `word` shows that the agent remembers the messages before it."""
        return word in turn.text.lower() if REAL else f"(user message {messages})" in turn.text

    def begin(self, session: Session, prompt: str) -> str:
        """Send a prompt and return its turn when the agent is at work on it."""
        token = random_id("token")
        turn_id = session.send(f"{prompt} {token}")
        if self.agent.capabilities.streaming_deltas:
            session.first_delta(turn_id)
        else:
            self.model.wait_for(lambda request: token in request.prompt)
        return turn_id

    def asked_model(self, found: Callable[[Request], bool]) -> Request:
        """What the model was asked."""
        return self.model.wait_for(found)

    def get(self, path: str, **query: str) -> Any:
        response = self.daemon.http.get(path, params=query)
        if not response.is_success:
            raise Refused(response)
        return response.json()

    def check_rules(self) -> None:
        """The ten rules, on all that was stored; and what was streamed is what was stored."""
        found: list[str] = []
        for session in self.sessions:
            at_rest = session.info["state"] in ("idle", "ended")
            found += violations(session.stored(), complete=at_rest)
            session.call("POST", "/terminate")
            stored = session.stored()
            found += violations(stored)
            assert session.events == stored[: len(session.events)]
        assert found == []


@pytest.fixture
def live(
    request: pytest.FixtureRequest,
    agent: Agent,
    versions: dict[str, str],
    scripted_model: ScriptedModel,
    tmp_path: Path,
) -> Iterator[Live]:
    wants_own = "own_daemon" in request.fixturenames
    daemon: DaemonProcess = request.getfixturevalue("own_daemon" if wants_own else "shared_daemon")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    live = Live(agent, daemon, scripted_model, workspace)
    if agent.capabilities.shared_process and not wants_own:
        request.getfixturevalue("keep_server")(agent)
    feature = _feature_of(request.node)
    assert feature is not None
    request.node.user_properties += [
        ("feature", feature.name),
        ("agent", agent.name),
        ("version", versions[agent.name]),
    ]
    yield live
    live.check_rules()
