"""Replaying recordings: facts that hold for every agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sandbox_agent.agents import TRANSLATORS
from sandbox_agent.schema.events import ItemCompleted, TurnEnded
from sandbox_agent.schema.items import Text
from sandbox_agent.session.player import translate

NONSENSE: list[Any] = [None, 1, [], {}, "no JSON", {"type": "user"}, {"method": "POST", "path": "/session"}]
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
@pytest.mark.parametrize("agent", TRANSLATORS)
def test_malformed_client_input_does_not_end_the_recording(agent: str, nonsense: Any) -> None:
    """A recording of how an agent handles it is useful, too."""
    native = min((TRANSCRIPTS / agent).glob("*text*/native.jsonl"), default=None)
    native = native or min((TRANSCRIPTS / agent).glob("*/native.jsonl"))
    lines = native.read_bytes().splitlines()
    written = msgspec.json.encode({"dir": "in", "t": 0.0, "msg": nonsense})
    data = [item.event.data for item in translate(TRANSLATORS[agent], [*lines, written, *lines[-1:]])]
    kinds = [type(item) for item in data]
    assert ItemCompleted in kinds
    assert TurnEnded in kinds


def test_an_invalid_image_does_not_drop_its_prompt() -> None:
    broken = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
    message = {"role": "user", "content": [{"type": "text", "text": "look"}, broken]}
    steps = [("in", {"type": "user", "message": message}), ("out", {"type": "keep_alive"})]
    lines = [msgspec.json.encode({"dir": dir, "t": 0.0, "msg": msg}) for dir, msg in steps]
    items = [item.event.data for item in translate(TRANSLATORS["claude"], lines)]
    [item] = [item.item for item in items if isinstance(item, ItemCompleted)]
    assert item.content == (Text("look"),)
