"""The example on Daytona if `DAYTONA_API_KEY` is set, and on a stand-in in any case; what goes wrong, on the stand-in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest
from examples.deploy.daytona.main import main
from examples.deploy.daytona.stand_in import StandIn
from examples.deploy.machine import BINARY, CONVERSATION, free_port

from sandbox_agent import DaemonNotStarted, SandboxAgent
from sandbox_agent.providers import DaytonaProvider


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_AGENT_DATA_DIR", str(tmp_path))


def provider(sdk: StandIn, **more: Any) -> DaytonaProvider:
    return DaytonaProvider(sdk=cast(Any, sdk), port=free_port(), **more)


def states(sdk: StandIn) -> list[str]:
    return [sandbox.machine.state for sandbox in sdk.sandboxes]


@pytest.mark.skipif(
    not os.environ.get("DAYTONA_API_KEY"), reason="DAYTONA_API_KEY is not set: only the stand-in is tested"
)
def test_on_daytona_the_conversation_goes_on_after_a_stop(capsys: pytest.CaptureFixture[str]) -> None:
    main(DaytonaProvider(binary=BINARY), "mock")
    assert capsys.readouterr().out.splitlines() == CONVERSATION


def test_the_conversation_goes_on_after_a_stop_and_the_sandbox_is_deleted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sdk = StandIn()
    main(provider(sdk, binary=BINARY), "mock")
    assert capsys.readouterr().out.splitlines() == CONVERSATION
    assert states(sdk) == ["gone"]


def test_the_token_is_in_no_command_and_in_no_file_that_is_left(tmp_path: Path) -> None:
    sdk = StandIn()
    with SandboxAgent.start(sandbox=provider(sdk, binary=BINARY)) as client:
        token = client.address().token
        machine = sdk.sandboxes[0].machine
        assert token is not None
        assert token not in "\n".join(machine.commands)
        assert list(machine.home.glob(".sandbox-agent-*")) == []
    assert states(sdk) == ["gone"]


def test_a_daemon_that_does_not_start_is_told_and_its_sandbox_is_deleted() -> None:
    sdk = StandIn()
    start = SandboxAgent.start(sandbox=provider(sdk, binary=BINARY), flags=["--log-level", "shouting"])
    with pytest.raises(DaemonNotStarted, match="shouting"), start:
        pytest.fail("it started")
    assert states(sdk) == ["gone"]


def test_a_sandbox_without_the_daemon_says_how_to_get_it_in() -> None:
    sdk = StandIn()
    with (
        pytest.raises(DaemonNotStarted, match="does not contain sandbox-agent"),
        SandboxAgent.start(sandbox=provider(sdk)),
    ):
        pytest.fail("it started")
    assert states(sdk) == ["gone"]
