"""What a fleet makes of a gateway that answers, but cannot use the database."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

import httpx2
import pytest
from tests.cluster.logs import Logs
from tests.cluster.proxy import Proxy
from tests.daemons import SECONDS
from tests.fleet.programs import TOKEN

from sandbox_agent.fleet import fleet as fleets
from sandbox_agent.fleet.fleet import Fleet, FleetSettings
from sandbox_agent.presence import lock_holder
from sandbox_agent.providers.local import LocalProvider


def test_an_outage_of_the_database_does_not_end_the_gateway(
    logs: Logs, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(fleets, "HUNG_SECONDS", 0.2)
    proxy = Proxy(logs.server.port)
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "url").write_text(logs.through(proxy, logs.new()))
    settings = FleetSettings(
        name="gate",
        token=TOKEN,
        token_file=tmp_path / "token",
        database_url_file=tmp_path / "url",
        flags=("--lease-seconds", "2", "--drain-seconds", "0"),
        look_seconds=0.05,
    )
    try:
        asyncio.run(_outage(LocalProvider(tmp_path / "sandboxes"), settings, proxy, caplog))
    finally:
        proxy.close()


async def _outage(
    provider: LocalProvider, settings: FleetSettings, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    async with httpx2.AsyncClient() as http:
        fleet = Fleet(provider, settings, http)
        await fleet.started("gate")
        data = provider._folder / "gate" / "data"
        pid = lock_holder(data)
        watching = asyncio.create_task(fleet.watch())
        try:
            proxy.is_refusing = True
            proxy.cut()
            deadline = time.monotonic() + SECONDS
            while len(caplog.records) < 20:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            assert all("cannot list the nodes" in record.message for record in caplog.records)
            assert lock_holder(data) == pid
        finally:
            watching.cancel()
            await fleet.close()
            proxy.is_refusing = False
            await provider.remove("gate")
            await provider.close()
