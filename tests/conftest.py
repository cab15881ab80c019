"""What all tests share."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .cluster.logs import Logs

# Failed asserts outside of test files show their values too. Here, because the modules must not be imported before.
pytest.register_assert_rewrite(
    f"{__package__}.cluster",
    f"{__package__}.live",
    "sandbox_agent.testing.store_contract",
    "sandbox_agent.testing.shared_store_contract",
)

from .doors.coverage import DoorReport  # noqa: E402
from .inspector.machine import BrowserReport  # noqa: E402
from .live.report import CoverageReport, add_options  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite expected files with what came out")
    # Here, not in live/conftest.py, which pytest reads too late for options when it is told the whole folder.
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CoverageReport(config), "live-coverage")
    config.pluginmanager.register(BrowserReport(config), "browser")
    config.pluginmanager.register(DoorReport(config), "door-coverage")
    config.addinivalue_line("markers", "door(door, *features): the features of a door that a test shows")
    if config.pluginmanager.hasplugin("hypothesispytest"):
        _configure_hypothesis()
    if threading.current_thread() is threading.main_thread():
        _let_programs_get_signals()


def _let_programs_get_signals() -> None:
    """A shell ignores Ctrl-C for what it runs in the background, and nohup ignores SIGHUP. Programs inherit that, unless there is a
    handler; tests send these signals to some."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda *_: None)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto` uses more workers than there are cores: tests spend much of their time waiting."""
    return 2 * (os.cpu_count() or 1) + 1


SLOWEST = ("sdk", "inspector", "react", "live", "faults", "client", "tools", "session", "runtime", "skills")
"""The folders with the tests that take longest."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest first: at the end, no worker waits long for another."""
    places = {folder: place for place, folder in enumerate(SLOWEST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(places)))


def _configure_hypothesis() -> None:
    """No deadline, because examples are slow on a busy machine. Few examples suffice: every run tries others."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "ours", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("ours")


@pytest.fixture(scope="session")
def logs() -> Iterator[Logs]:
    """Logs in PostgreSQL. Each worker has a server: what readers of a whole log see depends on all transactions of a server."""
    from tools.postgres import PostgresServer

    from .cluster.logs import Logs, require_postgres

    require_postgres()
    server = PostgresServer()
    try:
        server.start()
        yield Logs(server)
    finally:
        server.remove()


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--accept"))
