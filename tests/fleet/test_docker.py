"""Sandboxes as containers, against a stand-in that knows the shapes of the engine's API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.fleet.engine import Container, StandIn, engine

from sandbox_agent.errors import InvalidRequest, Unavailable
from sandbox_agent.providers import Sandbox, SandboxSpec
from sandbox_agent.providers import docker as providers_docker
from sandbox_agent.providers.docker import DockerProvider
from sandbox_agent.providers.engine import Engine

PORT = 41234
CONTAINER = "sandbox-agent-team.one"
VOLUMES = [f"{CONTAINER}-home", f"{CONTAINER}-work"]
SECRET = "not-for-everybody"
RUNNING = Sandbox("one", "running", f"http://127.0.0.1:{PORT}")


@pytest.fixture
def docker(tmp_path: Path) -> Iterator[StandIn]:
    with engine(tmp_path / "docker.sock", PORT) as stand_in:
        yield stand_in


@asynccontextmanager
async def provided(
    folder: Path, fleet: str = "team", socket: str = "docker.sock"
) -> AsyncIterator[DockerProvider]:
    provider = DockerProvider(Engine(folder / socket), fleet, "sandbox-agent", "db")
    try:
        yield provider
    finally:
        await provider.close()


def spec(folder: Path, name: str = "one") -> SandboxSpec:
    for file in ("token", "url"):
        (folder / file).write_text(SECRET)
    return SandboxSpec(
        name=name, token_file=folder / "token", database_url_file=folder / "url", flags=("--no-bypass",)
    )


def test_a_sandbox_is_a_container_with_volumes_that_outlive_it(docker: StandIn, tmp_path: Path) -> None:
    async def story() -> None:
        async with provided(tmp_path) as provider:
            assert await provider.start(spec(tmp_path)) == RUNNING
            assert await provider.start(spec(tmp_path)) == RUNNING
            assert_private(docker.containers[CONTAINER])
            await provider.stop("one")
            assert docker.containers == {}
        # Another program finds it again, and one of another fleet does not.
        async with provided(tmp_path) as provider, provided(tmp_path, "others") as others:
            assert await provider.list() == [Sandbox("one", "stopped")]
            assert await others.list() == []
            await provider.remove("one")
            assert (await provider.list(), docker.volumes) == ([], {})

    asyncio.run(story())


def assert_private(container: Container) -> None:
    """Only this machine reaches it, and its secrets are files, which no list of containers shows."""
    created = container.spec
    assert created.cmd == [
        *("server", "--node-name", "one", "--drain-seconds", "30"),
        *("--token-file", "/run/sandbox-agent/token"),
        *("--database-url-file", "/run/sandbox-agent/database-url", "--no-bypass"),
    ]
    assert created.labels == {"sandbox-agent.fleet": "team", "sandbox-agent.node": "one"}
    assert created.host_config.port_bindings == {"2468/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}
    assert created.host_config.network_mode == "db"
    mounts = [(mount.source, mount.target) for mount in created.host_config.mounts]
    assert mounts == [(VOLUMES[0], "/data"), (VOLUMES[1], "/workspace")]
    secret = SECRET.encode()
    assert container.files == {
        "/run/sandbox-agent/token": secret,
        "/run/sandbox-agent/database-url": secret,
    }
    assert SECRET not in repr(created)


def test_a_container_that_has_ended_is_dead_and_replaced_with_its_volumes(
    docker: StandIn, tmp_path: Path
) -> None:
    async def story() -> None:
        async with provided(tmp_path) as provider:
            await provider.start(spec(tmp_path))
            first = docker.containers[CONTAINER].id
            docker.containers[CONTAINER].status = "exited"
            assert await provider.get("one") == Sandbox("one", "dead")
            assert await provider.start(spec(tmp_path)) == RUNNING
            assert docker.containers[CONTAINER].id != first
            assert sorted(docker.volumes) == VOLUMES

    asyncio.run(story())


def test_a_container_whose_program_died_before_it_started_it_is_replaced(
    docker: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers_docker, "ABANDONED_SECONDS", 0.3)

    async def story() -> None:
        async with provided(tmp_path) as provider:
            await provider.start(spec(tmp_path))
            # It may lack its secrets, so nobody else starts it.
            docker.containers[CONTAINER] = Container("abandoned", docker.containers[CONTAINER].spec)
            assert await provider.start(spec(tmp_path)) == RUNNING
        assert docker.containers[CONTAINER].id != "abandoned"
        assert docker.containers[CONTAINER].files
        assert docker.asked.count(f"POST containers/{CONTAINER}/start") == 2

    asyncio.run(story())


def test_two_programs_start_one_container(docker: StandIn, tmp_path: Path) -> None:
    async def story() -> None:
        async with provided(tmp_path) as one, provided(tmp_path) as two:
            programs = [one, two, one, two]
            found = await asyncio.gather(*(each.start(spec(tmp_path)) for each in programs))
        assert found == [RUNNING] * 4
        assert list(docker.containers) == [CONTAINER]

    asyncio.run(story())


def test_a_container_that_another_program_is_removing_is_waited_for(docker: StandIn, tmp_path: Path) -> None:
    async def story() -> None:
        async with provided(tmp_path) as provider:
            await provider.start(spec(tmp_path))
            docker.containers[CONTAINER].status = "removing"
            starting = asyncio.create_task(provider.start(spec(tmp_path)))
            while f"DELETE containers/{CONTAINER}" not in docker.asked and not starting.done():
                await asyncio.sleep(0.01)
            del docker.containers[CONTAINER]
            assert await starting == RUNNING

    asyncio.run(story())


def test_a_missing_image_or_engine_is_named(docker: StandIn, tmp_path: Path) -> None:
    docker.images.clear()

    async def story() -> None:
        async with provided(tmp_path) as provider:
            with pytest.raises(InvalidRequest, match="no image sandbox-agent"):
                await provider.start(spec(tmp_path))
        async with provided(tmp_path, socket="nothing.sock") as nowhere:
            with pytest.raises(Unavailable, match=r"nothing\.sock"):
                await nowhere.list()

    asyncio.run(story())
