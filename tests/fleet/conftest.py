"""A fleet on an empty log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.logs import Logs
from tests.fleet.programs import FleetProgram

NewFleet = Callable[..., FleetProgram]


@pytest.fixture
def new_fleet(logs: Logs, tmp_path: Path) -> Iterator[NewFleet]:
    """Fleet programs on one log and one folder. Sandboxes are gone after the test."""
    url = logs.new()
    programs: list[FleetProgram] = []

    def new(*flags: str) -> FleetProgram:
        program = FleetProgram(tmp_path / "fleet", url, *flags)
        programs.append(program)
        return program.start()

    yield new
    for program in programs:
        program.end()
