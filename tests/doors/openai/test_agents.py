"""Every real agent on the scripted model answers OpenAI's client."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.daemons import Daemon

from sandbox_agent.install.publishers import RECIPES
from sandbox_agent.testing import agent_cache

from .conftest import client_of

IN_EVERY_RUN = "codex"
"""The quickest; `make doors` runs all."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.door("OpenAI", "text", "tool calls", "second turn")
@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(agent, marks=() if agent == IN_EVERY_RUN else pytest.mark.long)
        for agent in sorted(RECIPES)
    ],
)
def test_every_agent_answers_and_goes_on(scripted_daemon: Daemon, tmp_path: Path, agent: str) -> None:
    if not (agent_cache.cache_folder() / "bin" / agent).exists():
        pytest.skip("the agent is not in the cache (`make test` fetches it)")
    headers = {"x-permission-mode": "bypass", "x-directory": str(tmp_path)}
    with client_of(scripted_daemon.port, default_headers=headers, timeout=240) as client:
        with client.responses.stream(model=agent, input="SCENARIO:command:echo+from-the-agent") as stream:
            first = stream.until_done().get_final_response()
        assert (first.status, first.error) == ("completed", None)
        assert first.output_text
        assert "echo from-the-agent" in "".join(
            item.summary[0].text for item in first.output if item.type == "reasoning"
        )
        second = client.responses.create(model=agent, input="SCENARIO:text", previous_response_id=first.id)
        assert (second.status, bool(second.output_text)) == ("completed", True)
        completion = client.chat.completions.create(
            model=agent, messages=[{"role": "user", "content": "SCENARIO:text"}]
        )
        assert completion.choices[0].message.content
