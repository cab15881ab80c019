"""The part of the live suite that every test run loads, including the process that only distributes tests to
workers.

It holds the options, and a plugin that collects results, compares them with the committed matrix and reports
what was left out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from . import coverage
from .live import REAL
from .tried import CHOICES

CHECKOUT = Path(__file__).parents[2]
PAGE, README = CHECKOUT / "docs" / "compatibility.mdx", CHECKOUT / "README.md"


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("live", "the real agents")
    group.addoption(
        "--agent",
        action="append",
        choices=CHOICES,
        help="test everything on this agent (acp: all that speak it; all: every agent); repeatable",
    )
    group.addoption("--write-coverage", action="store_true", help="write the coverage matrix of this run")


class CoverageReport:
    """Collects results, including those of other workers, and compares them with the committed matrix."""

    def __init__(self, config: pytest.Config, page: Path = PAGE, readme: Path = README) -> None:
        self._config = config
        self._page = page
        self._readme = readme
        self._outcomes: dict[tuple[str, str], coverage.Ran] = {}
        self._left_out: dict[str, str] = {}
        self._said: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts = dict(report.user_properties)
        if "left_out" in facts:
            self._left_out[str(facts["agent"])] = str(facts["left_out"])
        if "feature" not in facts or report.outcome == "skipped":
            return
        key = (str(facts["agent"]), str(facts["feature"]))
        before = self._outcomes.get(key)
        failed = report.failed or (before is not None and before.outcome == "fails")
        outcome: coverage.Outcome = "fails" if failed else "no" if "gap" in facts else "yes"
        self._outcomes[key] = coverage.Ran(key[0], str(facts["version"]), key[1], outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self._config, "workerinput"):
            return  # the process that started the workers has all results
        if self._left_out and os.environ.get("CI"):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        if self._outcomes and not REAL and not self._matches_the_committed():
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _matches_the_committed(self) -> bool:
        """Whether the files agree with the run; with `--write-coverage` they are written first."""
        files = {path: path.read_text() for path in (self._page, self._readme) if path.exists()}
        committed = coverage.read(files.get(self._page, ""))
        matrix = coverage.merged(committed, list(self._outcomes.values()))
        expected = {
            self._page: coverage.page(matrix),
            self._readme: coverage.in_readme(files.get(self._readme, ""), matrix),
        }
        stale = {path: text for path, text in expected.items() if files.get(path, "") != text}
        names = ", ".join(path.name for path in stale)
        if not stale:
            return True
        if self._config.getoption("--write-coverage"):
            coverage.write(stale)
            self._said.append(f"wrote {names}")
            return True
        self._said += [
            f"{names}: differs from what just ran. If the run is right, write it with `make live` (or --write-coverage).",
            *coverage.differences(committed, matrix),
        ]
        return False

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._said:
            terminalreporter.section("coverage matrix")
            for line in self._said:
                terminalreporter.line(line)
        if self._left_out:
            why = "; ".join(sorted(set(self._left_out.values())))
            names = ", ".join(sorted(self._left_out))
            terminalreporter.line(
                f"LEFT OUT, so nothing is known about them: {names}: {why}", red=True, bold=True
            )
