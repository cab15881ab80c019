"""Which clients of a door do what: tests marked with `door` write the table of docs/door-coverage.md."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "door-coverage.md"
HEAD = """\
# What the doors are tested for

Written by `make doors ARGS=--write-coverage`: each row is a test with the real client.

| door | client | feature | agent |
|---|---|---|---|
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "door(door, client, *features, agent): what a test tries at a door")
    config.pluginmanager.register(DoorReport(config), "door-coverage")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("door"):
            door, client, *features = mark.args
            params = (
                item.callspec.params
                if isinstance(item, pytest.Function) and hasattr(item, "callspec")
                else {}
            )
            agent = mark.kwargs.get("agent") or params.get("agent", "mock")
            for feature in features:
                item.user_properties.append(("door", f"| {door} | {client} | {feature} | {agent} |"))


class DoorReport:
    """Adds the rows of this run to the page; a test that failed takes its rows away."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._rows: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.outcome != "skipped":
            for name, row in report.user_properties:
                if name == "door":
                    self._rows[str(row)] = self._rows.get(str(row), True) and report.passed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workerinput") or not self._config.getoption("--write-coverage"):
            return
        if self._rows:
            known = PAGE.read_text().splitlines() if PAGE.exists() else []
            before = {line for line in known if line.startswith("| ") and not line.startswith("| door |")}
            failed = {row for row, passed in self._rows.items() if not passed}
            rows = sorted((before | set(self._rows)) - failed)
            PAGE.write_text(HEAD + "".join(f"{row}\n" for row in rows))
