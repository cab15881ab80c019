"""Changes of settings that take time, because the agent is asked whether it supports them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox_agent.config import Config
from sandbox_agent.errors import Conflict, SessionNotFound
from sandbox_agent.ops.sessions import OneSession, UpdateSession, delete, terminate, update
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.store.base import Secrets, SessionRecord


class SlowToCheck(Daemon):
    """Checks a change of the mode only when the test lets it."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(Config(data_dir=str(data_dir)))
        self.checking = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def check(self, record: SessionRecord, settings: Settings, changed: Collection[str]) -> None:
        if settings.agent_mode == "plan":
            self.checking.set()
            await self.may_go_on.wait()
        await super().check(record, settings, changed)


@asynccontextmanager
async def checking_a_mode(data_dir: Path) -> AsyncIterator[tuple[SlowToCheck, asyncio.Future[object]]]:
    """A daemon in the middle of a change of a session's mode, and that change."""
    daemon = SlowToCheck(data_dir)
    await daemon.create("s", "mock", Settings(str(data_dir)), Secrets())
    try:
        async with asyncio.timeout(10):
            changing = asyncio.ensure_future(update(daemon, UpdateSession("s", agent_mode="plan")))
            await daemon.checking.wait()
            yield daemon, changing
    finally:
        await daemon.stop()
        daemon.release_folder()


def test_two_changes_at_once_are_both_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with checking_a_mode(tmp_path) as (daemon, changing):
            await update(daemon, UpdateSession("s", model="mock-2", permission_mode="acceptEdits"))
            daemon.may_go_on.set()
            await changing
            settings = (await daemon.sessions.show("s")).view.record.settings
            assert (settings.agent_mode, settings.model, settings.permission_mode) == (
                "plan",
                "mock-2",
                "acceptEdits",
            )

    asyncio.run(scenario())


def test_a_session_that_ends_while_a_change_is_checked_stays_as_it_was(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with checking_a_mode(tmp_path) as (daemon, changing):
            await terminate(daemon, OneSession("s"))
            daemon.may_go_on.set()
            with pytest.raises(Conflict):
                await changing
            assert (await daemon.sessions.show("s")).view.record.settings.agent_mode == "build"

    asyncio.run(scenario())


def test_a_session_that_is_deleted_while_a_change_is_checked_does_not_come_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with checking_a_mode(tmp_path) as (daemon, changing):
            await delete(daemon, OneSession("s"))
            daemon.may_go_on.set()
            with pytest.raises(SessionNotFound):
                await changing
            assert daemon.log.store.session("s") is None

    asyncio.run(scenario())
