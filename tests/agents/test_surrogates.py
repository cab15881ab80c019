"""Half a character in an agent's frame costs that character, and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Raw

from sandbox_agent.agents import TRANSLATORS
from sandbox_agent.agents.frames import DelegateAsk, HttpReply, InFrame, Lost, ServerEvent
from sandbox_agent.agents.surrogates import without_surrogates
from sandbox_agent.schema.events import decode_event
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


@pytest.mark.parametrize(
    ("native", "text"),
    [
        (rb'"cut \ud83d"', "cut \ufffd"),
        (rb'"\uDE80 cut"', "\ufffd cut"),
        (rb'"\ud83d\ud83d\ude80\ude80"', "\ufffd\U0001f680\ufffd"),
        (rb'"whole \ud83d\ude80 \uD83D\uDE80"', "whole \U0001f680 \U0001f680"),
        (rb'"written \\ud83d, not meant"', "written \\ud83d, not meant"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (rb'"\ud7ff\ue000"', "\ud7ff\ue000"),
    ],
)
def test_half_a_character_is_replaced_and_a_whole_one_kept(native: bytes, text: str) -> None:
    mended = without_surrogates(native)
    assert isinstance(mended, bytes)
    assert msgspec.json.decode(mended) == text


@pytest.mark.parametrize(
    ("frame", "mended"),
    [
        (ServerEvent(rb'"\ud83d"'), ServerEvent(rb'"\ufffd"')),
        (HttpReply(200, "GET /", body=Raw(rb'"\ud83d"')), HttpReply(200, "GET /", body=Raw(rb'"\ufffd"'))),
        (DelegateAsk("d1", rb'"\ud83d"'), DelegateAsk("d1", rb'"\ud83d"')),
        (Lost("gone"), Lost("gone")),
    ],
)
def test_output_is_mended_and_a_delegates_request_is_not(frame: InFrame, mended: InFrame) -> None:
    assert without_surrogates(frame) == mended


@pytest.mark.parametrize("agent", ["amp", "claude", "codex", "opencode", "pi"])
def test_a_recording_with_half_a_character_is_understood(agent: str) -> None:
    lines = (TRANSCRIPTS / agent / "text" / "native.jsonl").read_bytes().splitlines()
    cut = [line.replace(b"Hello", rb"Hell\ud83d") if b'"dir": "out"' in line else line for line in lines]
    events = [decode_event(msgspec.json.encode(each.event)) for each in translate(TRANSLATORS[agent], cut)]
    assert violations(events) == []
    assert any("Hell\ufffd from" in str(event.data) for event in events)
