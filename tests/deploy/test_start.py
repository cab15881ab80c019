"""`SandboxAgent.start(sandbox=...)`: the providers that need no package of others. `make deploy-examples` tests the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.deploy.engine import RunningEngine
from tests.fleet.engine import serving

from sandbox_agent import AsyncSandboxAgent, ClientError, DaemonNotStarted, InvalidRequest, SandboxAgent
from sandbox_agent.providers import DockerProvider, LocalProvider, Provider
from sandbox_agent.providers.engine import Engine

pytestmark = pytest.mark.slow
FAILS = ["--log-level", "shouting"]


class Place:
    """A provider, and what is left of its sandboxes."""

    def __init__(self, folder: Path, engine: RunningEngine | None) -> None:
        self._folder = folder
        self._engine = engine

    def provider(self) -> Provider:
        if self._engine is None:
            return LocalProvider(self._folder / "sandboxes")
        return DockerProvider(Engine(self._folder / "docker.sock"))

    def left(self) -> list[str]:
        if self._engine is None:
            return [path.name for path in (self._folder / "sandboxes").glob("*")]
        return [*self._engine.containers, *self._engine.volumes]


@pytest.fixture(params=["local", "docker"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("SANDBOX_AGENT_DATA_DIR", str(tmp_path / "own"))
    if request.param == "local":
        yield Place(tmp_path, None)
        return
    engine = RunningEngine(tmp_path / "engine")
    with serving(engine, tmp_path / "docker.sock"):
        yield Place(tmp_path, engine)
    engine.close()


def test_a_sandbox_of_a_name_keeps_its_sessions_while_it_is_paused(place: Place, tmp_path: Path) -> None:
    provider = place.provider()
    with SandboxAgent.start(sandbox=provider, name="kept", env={"OF_THE_AGENT": "yes"}) as client:
        session = client.sessions.create(agent="mock")
        session.prompt("hello").result()
        first = client.address()
        assert client.exec("printenv", "OF_THE_AGENT").stdout == "yes\n"
    # It outlives its client, and is found with the same token.
    with SandboxAgent.start(sandbox=provider, name="kept") as client:
        assert (client.sandbox_name, client.address()) == ("kept", first)
        client.pause()
    with SandboxAgent.start(sandbox=place.provider(), name="kept") as client:
        assert client.address().token != first.token
        assert "message 2 of this conversation" in client.session(session.id).prompt("again").result().text
        client.kill()
    assert place.left() == []
    assert [path for path in (tmp_path / "own").rglob("*") if path.is_file()] == []


def test_a_sandbox_on_this_machine_is_not_asked_through_a_proxy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with SandboxAgent.start(sandbox=place.provider()) as client:
        assert client.exec("echo", "here").stdout == "here\n"


def test_a_sandbox_without_a_name_is_gone_with_its_client(place: Place) -> None:
    async def story() -> None:
        async with AsyncSandboxAgent.start(sandbox=place.provider()) as client:
            names = await asyncio.gather(client.system.health(), client.system.health())
            assert [health.status for health in names] == ["ok", "ok"]
            assert len({name.removesuffix("-home").removesuffix("-work") for name in place.left()}) == 1
            with pytest.raises(InvalidRequest, match="without a name cannot be found again"):
                await client.pause()
        assert place.left() == []

    asyncio.run(story())


def test_a_daemon_that_does_not_start_is_reported_and_leaves_nothing(place: Place) -> None:
    for name in ("named", None):
        with (
            pytest.raises(DaemonNotStarted, match="shouting"),
            SandboxAgent.start(sandbox=place.provider(), name=name, flags=FAILS),
        ):
            pytest.fail("it started")
    assert place.left() == []


def test_a_sandbox_that_existed_is_kept_when_its_daemon_does_not_start(place: Place) -> None:
    with SandboxAgent.start(sandbox=place.provider(), name="kept") as client:
        client.pause()
    before = place.left()
    with (
        pytest.raises(DaemonNotStarted, match="shouting"),
        SandboxAgent.start(sandbox=place.provider(), name="kept", flags=FAILS),
    ):
        pytest.fail("it started")
    assert set(before) <= set(place.left())


def test_a_client_in_a_notebook_may_start_a_sandbox(place: Place) -> None:
    async def cell() -> str:
        # Here a loop is running already.
        with SandboxAgent.start(sandbox=place.provider()) as client:
            return client.system.health().status

    assert asyncio.run(cell()) == "ok"


def test_wrong_usage_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="pass `sandbox` as well"):
        SandboxAgent.start(name="x")
    with pytest.raises(InvalidRequest, match="it cannot be combined with `sandbox`"):
        SandboxAgent.start(sandbox=LocalProvider(tmp_path), data_dir=tmp_path)
    with pytest.raises(InvalidRequest, match="only a client from start"):
        SandboxAgent.connect("http://127.0.0.1:1").kill()
    with (
        pytest.raises((InvalidRequest, ClientError), match="1 to 64 characters"),
        SandboxAgent.start(sandbox=LocalProvider(tmp_path), name="../x"),
    ):
        pytest.fail("it started")
