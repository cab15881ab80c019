"""The images run as an unprivileged user on a read-only root, keep their state in the volume, and stop when told to."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.desktops import RED, find, size_of

from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing.scripted_model import steps

from .container import Container, container_for, started
from .image import USER, Image

SKELETON = {".bash_logout", ".bashrc", ".profile"}
"""What a new user has."""


@pytest.fixture
def container(slim: Image, tmp_path: Path, port: int) -> Iterator[Container]:
    with started(Container(slim, tmp_path, port)) as container:
        yield container


def test_the_root_is_read_only_and_the_user_has_no_privileges(container: Container) -> None:
    made = container.call(
        "POST",
        "/v1/processes/run",
        {"command": "sh", "args": ["-c", "id -u; touch /etc/x /opt/x 2>&1; touch /data/x /tmp/x && echo ok"]},
    )
    lines = made["stdout"].split("\n")
    assert (lines[0], lines[-2]) == (str(USER), "ok")
    assert made["stdout"].count("Read-only file system") == 2


def test_what_it_recorded_is_in_the_volume_after_a_stop(container: Container) -> None:
    container.create("kept", "mock")
    ended = container.turn("kept", "hello")[-1]
    assert ended["data"]["metadata"]["stop_reason"] == "end_turn"
    assert container.stop() == 0
    container.start()
    assert container.call("GET", "/v1/sessions/kept/events")["events"][-1]["event_id"] == ended["event_id"]


def test_a_stop_lets_a_short_turn_end(container: Container) -> None:
    container.create("busy", "mock")
    container.call("POST", "/v1/sessions/busy/messages", {"message": "slow 1"})
    assert container.stop() == 0
    container.start()
    events = container.call("GET", "/v1/sessions/busy/events")["events"]
    (ended,) = [event for event in events if event["type"] == "turn.ended"]
    assert ended["data"]["metadata"]["stop_reason"] == "end_turn"


def test_the_image_says_who_it_runs_as_and_what_it_keeps(slim: Image) -> None:
    config = slim.config
    assert config["User"] == f"{USER}:{USER}"
    assert config["Entrypoint"][:2] == ["tini", "--"]
    assert list(config["Volumes"]) == ["/data"]
    assert list(config["ExposedPorts"]) == ["2468/tcp"]


def test_a_log_in_postgresql_can_be_opened_from_the_image(container: Container) -> None:
    made = container.call(
        "POST",
        "/v1/processes/run",
        {"command": "/opt/sandbox-agent/bin/python3", "args": ["-c", "import psycopg, cryptography"]},
    )
    assert (made["exitCode"], made["stderr"]) == (0, "")


def test_the_health_check_passes_while_it_runs_and_fails_when_it_does_not(container: Container) -> None:
    assert container.check(container.image.health) == 0
    container.stop()
    assert container.check(container.image.health) != 0


def test_the_page_is_in_the_image(container: Container) -> None:
    with urllib.request.urlopen(f"{container.address}/ui/", timeout=10) as page:
        assert b"<div id=" in page.read()


def test_no_compiler_and_no_node_is_left_in_the_image(slim: Image) -> None:
    programs = {
        file.name
        for folder in ("usr/bin", "usr/local/bin", "opt/sandbox-agent/bin")
        for file in (slim.root / folder).iterdir()
    }
    assert not programs & {"cc", "gcc", "g++", "make", "node", "npm", "pip", "pip3"}
    megabytes = slim.size() / 1e6
    print(f"the image has {megabytes:.0f} MB")
    assert megabytes < 450


def test_a_real_agent_works_in_the_image(slim: Image, tmp_path: Path, port: int) -> None:
    with container_for("claude", slim, tmp_path, port) as container:
        container.create("real", "claude", permissionMode="bypass")
        assert container.ends_well("real")


# -- with agents ----------------------------------------------------------------------------------


def test_the_larger_image_has_every_agent_and_no_traces_of_their_installation(with_agents: Image) -> None:
    assert {file.name for file in (with_agents.root / "opt/agents/bin").iterdir()} == set(RECIPES)
    # Root installed them: the user could not change what they had left.
    assert {file.name for file in (with_agents.root / "data").iterdir()} <= SKELETON
    assert not list((with_agents.root / "tmp").iterdir())
    print(f"the image with agents has {with_agents.size() / 1e6:.0f} MB")


@pytest.mark.parametrize("agent", sorted(RECIPES))
def test_each_agent_of_the_larger_image_works(
    with_agents: Image, tmp_path: Path, port: int, agent: str
) -> None:
    with container_for(agent, with_agents, tmp_path, port, preinstalled=True) as container:
        assert container.call("GET", f"/v1/agents/{agent}")["installed"]
        container.create("real", agent, permissionMode="bypass")
        assert container.ends_well("real")


# -- with a desktop -------------------------------------------------------------------------------


def test_an_agent_sees_the_desktop_of_its_image(with_desktop: Image, tmp_path: Path, port: int) -> None:
    print(f"the image with a desktop has {with_desktop.size() / 1e6:.0f} MB")
    with container_for("claude", with_desktop, tmp_path, port) as container:
        started = container.call("POST", "/v1/desktop/start", {"width": 800, "height": 600})
        assert started["state"] == "active", started
        container.call(
            "POST", "/v1/desktop/launch", {"app": "xterm", "args": ["-bg", "#ff0000"], "wait": True}
        )
        picture = container.fetch("GET", "/v1/desktop/screenshot")
        assert size_of(picture) == (800, 600)
        assert find(picture, RED)
        container.create("real", "claude", permissionMode="bypass", desktop=True)
        script = [steps.Mcp("desktop", "screenshot", {}), steps.Text("Done.")]
        events = container.turn("real", f"SCRIPT:{msgspec.json.encode(script).decode()}")
        parts = [
            part["type"] for event in events for part in event["data"].get("item", {}).get("content", [])
        ]
        assert "image" in parts
        assert container.call("POST", "/v1/desktop/stop")["state"] == "inactive"
