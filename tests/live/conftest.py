"""The live suite: real agents behind a real daemon, on the scripted model or, with `MODEL=real`, on the
user's own keys.

Each worker has one daemon and one model server; every test has its own sessions and workspace. After each
test the ten rules are checked on all events of its sessions. For a feature that an adapter declares in
`gaps`, a check of what the agent does instead runs in place of the test.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.npm_packages import build_sdk

from sandbox_agent.agents.base import Agent
from sandbox_agent.schema.events import SessionStarted
from sandbox_agent.schema.ids import random_id
from sandbox_agent.testing import agent_cache
from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .client import DaemonProcess, Session
from .features import Feature
from .gaps import Check, check_of
from .live import REAL, SCENARIOS, Live
from .tried import ACP_FLAGS, TRIED, cannot_run, chosen, installs

# -- selection --------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "feature(feature, on_quick_agents=False): the feature that a live test tries, and whether on all quick agents",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "agent" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("feature")
        assert mark is not None
        agents = chosen(metafunc.config.getoption("--agent"), mark.args[0].name, **mark.kwargs)
        metafunc.parametrize("agent", agents, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _feature_of(item) is not None:
            item.add_marker("live")


def _feature_of(item: pytest.Item) -> Feature | None:
    mark = item.get_closest_marker("feature")
    return mark.args[0] if mark else None


def _agent_of(item: pytest.Item) -> Agent:
    assert isinstance(item, pytest.Function)
    return TRIED[str(item.callspec.params["agent"])]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot be tested here, before anything is started for it."""
    feature = _feature_of(item)
    if feature is None:
        return
    if REAL and feature.scripted_only:
        pytest.skip(feature.scripted_only)
    name = _agent_of(item).name
    if why := cannot_run(name):
        item.user_properties += [("agent", name), ("left_out", why)]
        pytest.skip("the agent is not installed")


_proved: set[tuple[str, Check]] = set()
"""Checks that passed: a check that covers several features runs once."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """If an adapter declares the feature a gap, check what the agent does instead."""
    feature = _feature_of(pyfuncitem)
    if feature is None or feature.name not in _agent_of(pyfuncitem).gaps:
        return None
    agent = _agent_of(pyfuncitem)
    check = check_of(agent.name, feature.name)
    if check is None:
        pytest.fail(
            f"{agent.title} declares a gap, `{feature.name}`, that no check covers: "
            "add a check of what it does instead to tests/live/gaps.py",
            pytrace=False,
        )
    live = pyfuncitem.funcargs["live"]
    assert isinstance(live, Live)
    if (agent.name, check) not in _proved:
        check(live)
        _proved.add((agent.name, check))
    pyfuncitem.user_properties.append(("gap", agent.gaps[feature.name]))
    return True


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
    for name in {program for agent in TRIED for program in installs(agent)}:
        offline |= offline_environment(name, scripted_model.base_url, home)
    ours = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {"PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", **ours, **offline}


@pytest.fixture(scope="session")
def shared_daemon(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path_factory.mktemp("daemon") / "data", environ, ACP_FLAGS)
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def second_daemon(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path_factory.mktemp("daemon") / "data", environ, ACP_FLAGS)
    yield daemon
    daemon.stop()


@pytest.fixture
def own_daemon(second_daemon: DaemonProcess) -> DaemonProcess:
    """A daemon that a test may kill."""
    second_daemon.revive()
    return second_daemon


@pytest.fixture(scope="session")
def version_of(shared_daemon: DaemonProcess) -> Callable[[Agent], str]:
    """The version an agent reports; asked once, because some take long to answer."""

    @functools.cache
    def ask(agent: Agent) -> str:
        session = Session(shared_daemon, random_id("kept"))
        session.call("POST", "", {"agent": agent.name})
        started = session.stored()[0].data
        assert isinstance(started, SessionStarted)
        assert started.metadata is not None
        if not agent.capabilities.shared_process:
            session.call("POST", "/terminate")
        # A shared server lives as long as any of its sessions: the one that stays keeps it from test to test.
        return str(started.metadata.agent_version)

    return ask


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Agent:
    return TRIED[request.param]


@pytest.fixture
def live(
    request: pytest.FixtureRequest,
    agent: Agent,
    version_of: Callable[[Agent], str],
    scripted_model: ScriptedModel,
    tmp_path: Path,
) -> Iterator[Live]:
    wants_own = "own_daemon" in request.fixturenames
    daemon: DaemonProcess = request.getfixturevalue("own_daemon" if wants_own else "shared_daemon")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    live = Live(agent, daemon, scripted_model, workspace)
    feature = _feature_of(request.node)
    assert feature is not None
    request.node.user_properties += [
        ("feature", feature.name),
        ("agent", agent.name),
        ("version", version_of(agent)),
    ]
    yield live
    live.check_rules()


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Node.js, with the TypeScript SDK built."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        pytest.skip("NO node AND npm ON THIS MACHINE: the TypeScript SDK is not tested")
    build_sdk(tmp_path_factory)
    return node
