"""What this machine has for tests in a browser, and what every run of the tests says when it is missing."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

from sandbox_agent.http.inspector import FOLDER

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The browser to use: what `CHROMIUM` names, or the system's."""
    wanted = os.environ.get("CHROMIUM")
    return shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, NAMES)), None)


def missing() -> str | None:
    """Why the page cannot be tried in a browser here."""
    if not (FOLDER / "index.html").exists():
        return "the page is not built (`make setup` builds it where npm is)"
    if chromium() is None:
        return "there is no chromium (CHROMIUM=path names one)"
    return None


class BrowserReport:
    """Reports skipped tests in one line; with `CI` set, that is a failure."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._why: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._why = dict(report.user_properties).get("no_browser", self._why)  # type: ignore[assignment]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._why and os.environ.get("CI") and not hasattr(self._config, "workerinput"):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._why:
            line = f"LEFT OUT, so nothing is known about the inspector in a browser: {self._why}"
            terminalreporter.line(line, red=True, bold=True)
