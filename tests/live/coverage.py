"""The coverage matrix: the results of the last whole run of this suite, by feature and agent.

It is a Markdown table that is read back, so that a run of one agent or one test changes only what it covered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from tools.page import wrapped

from .features import FEATURES
from .tried import TRIED

Outcome = Literal["yes", "no", "fails"]

BEGIN, END = "<!-- coverage:begin -->", "<!-- coverage:end -->"
HEAD = """\
---
title: "Compatibility"
description: "What works with each agent, according to the tests."
---

Every cell of this table is the result of a test that drives the real agent through the daemon's HTTP API, on a scripted
model. [Testing](/contributing/testing) explains how to run these tests.
"""


class Column(Struct):
    """One agent: its version and results."""

    version: str
    cells: dict[str, Outcome] = field(default_factory=dict)


Matrix = dict[str, Column]


class Ran(Struct, frozen=True):
    """One test that ran."""

    agent: str
    version: str
    feature: str
    outcome: Outcome


def merged(before: Matrix, ran: list[Ran]) -> Matrix:
    """The matrix after a run: only what ran has changed."""
    matrix = {agent: Column(column.version, dict(column.cells)) for agent, column in before.items()}
    for test in ran:
        column = matrix.setdefault(test.agent, Column(test.version))
        column.version = test.version
        column.cells[test.feature] = test.outcome
    return matrix


def table(matrix: Matrix) -> str:
    agents = sorted(matrix, key=list(TRIED).index)
    rows = [
        ["Feature", *(TRIED[agent].title for agent in agents)],
        ["---"] * (len(agents) + 1),
        ["Name", *(f"`{agent}`" for agent in agents)],
        ["Tested version", *(matrix[agent].version for agent in agents)],
        ["Stability", *(TRIED[agent].stability for agent in agents)],
    ]
    for name, feature in FEATURES.items():
        rows.append([feature.title, *(matrix[agent].cells.get(name, "") for agent in agents)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def summary(matrix: Matrix) -> str:
    """One line for each agent, for the README."""
    rows = [["Agent", "Name", "Tested version", "Stability", "Features"], ["---"] * 5]
    for agent in sorted(matrix, key=list(TRIED).index):
        cells = [outcome for name, outcome in matrix[agent].cells.items() if name in FEATURES]
        works = f"{cells.count('yes')} of {len(FEATURES)}"
        rows.append([TRIED[agent].title, f"`{agent}`", matrix[agent].version, TRIED[agent].stability, works])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page(matrix: Matrix) -> str:
    gaps = [
        f"- {TRIED[agent].title}, {FEATURES[name].title}: {TRIED[agent].gaps[name]}\n"
        for agent in sorted(matrix, key=list(TRIED).index)
        for name in FEATURES
        # A gap that is no longer declared stays "no" until the feature has run.
        if matrix[agent].cells.get(name) == "no" and name in TRIED[agent].gaps
    ]
    why = f"\n## What an agent cannot do, and why\n\n{wrapped(''.join(gaps))}" if gaps else ""
    return f"{HEAD}\n{table(matrix)}{why}"


def read(text: str) -> Matrix:
    """The matrix of a page, without agents and features that no longer exist."""
    rows = [_cells(line) for line in text.splitlines() if line.startswith("| ")]
    if len(rows) < 5:
        return {}
    titles = {feature.title: name for name, feature in FEATURES.items()}
    matrix: Matrix = {}
    for at, name in enumerate(rows[2][1:], start=1):
        agent = name.strip("`")
        if agent not in TRIED:
            continue
        column = matrix[agent] = Column(rows[3][at])
        for row in rows[5:]:
            match row[at]:
                case "yes" | "no" | "fails" as outcome if row[0] in titles:
                    column.cells[titles[row[0]]] = outcome
    return matrix


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def in_readme(readme: str, matrix: Matrix) -> str:
    """The README with a line for each agent between its markers; unchanged if it has none."""
    inside = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
    return inside.sub(lambda _: f"{BEGIN}\n{summary(matrix)}{END}", readme)


def differences(before: Matrix, after: Matrix) -> list[str]:
    """The differences between the committed matrix and the results of a run."""
    lines = []
    for agent, column in after.items():
        old = before.get(agent, Column("nothing"))
        if old.version != column.version:
            lines.append(f"{agent}: the matrix is about version {old.version}, {column.version} ran")
        for name, outcome in column.cells.items():
            if (recorded := old.cells.get(name)) != outcome:
                lines.append(
                    f"{agent}, {FEATURES[name].title}: the matrix says {recorded or 'nothing'}, not {outcome}"
                )
    return lines


def write(files: Mapping[Path, str]) -> None:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
