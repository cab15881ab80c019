"""What all tests share."""

from __future__ import annotations

import pytest

# What the live suite asserts outside of its test file is explained too when it fails.
pytest.register_assert_rewrite(f"{__package__}.live")

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
        _let_examples_take_their_time()


def _let_examples_take_their_time() -> None:
    """On a busy machine an example may take long, and that is no failure."""
    from hypothesis import HealthCheck, settings

    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--accept"))
