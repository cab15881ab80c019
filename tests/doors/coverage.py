"""The table of doors and features in `docs/doors.mdx`: written by the tests that show them (`--write-coverage`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "doors.mdx"
BEGIN, END = "{/* the table, written by the tests */}", "{/* the end of the table */}"

Cells = dict[tuple[str, str], str]
"""Door and feature -> `yes` or `fails`."""


class DoorReport:
    """Collects what the tests marked with `door` show, and writes or compares the table."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._shown: Cells = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        for mark in item.iter_markers("door"):
            item.user_properties.append(("door", "|".join(mark.args)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "skipped" or (report.when != "call" and report.passed):
            return
        for name, value in report.user_properties:
            if name == "door":
                door, *features = str(value).split("|")
                for feature in features:
                    failed = report.failed or self._shown.get((door, feature)) == "fails"
                    self._shown[door, feature] = "fails" if failed else "yes"

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workerinput") or not self._shown:
            return
        if self._config.getoption("--write-coverage"):
            text = PAGE.read_text()
            PAGE.write_text(written(text, {**read(text), **self._shown}))


def read(text: str) -> Cells:
    """The table of a page."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in _table(text) if line.startswith("|")
    ]
    if len(lines) < 3:
        return {}
    doors = lines[0][1:]
    cells = {(door, row[0]): cell for row in lines[2:] for door, cell in zip(doors, row[1:], strict=True)}
    return {key: cell for key, cell in cells.items() if cell}


def written(text: str, cells: Cells) -> str:
    """The page with this table."""
    doors = sorted({door for door, _ in cells})
    features = sorted({feature for _, feature in cells})
    lines = [f"| feature | {' | '.join(doors)} |", "|---" * (len(doors) + 1) + "|"]
    for feature in features:
        row = " | ".join(cells.get((door, feature), "") for door in doors)
        lines.append(f"| {feature} | {row} |")
    table = "\n".join((BEGIN, "", *lines, "", END))
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: table, text, flags=re.DOTALL)


def _table(text: str) -> list[str]:
    return text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
