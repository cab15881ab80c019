"""Runs the tests of processes and links on each kind of event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from tests.daemons import SECONDS

Body = Callable[[], Coroutine[Any, Any, None]]
Run = Callable[[Body], None]


@pytest.fixture(params=[pytest.param("asyncio", marks=pytest.mark.slow), "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """The daemon itself uses uvloop."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else None

    def run(body: Body) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(asyncio.wait_for(body(), SECONDS))

    return run
