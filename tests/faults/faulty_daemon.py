"""A daemon whose mock adapter raises internal errors when a prompt or model name asks for them. Arguments: its command line."""

from __future__ import annotations

import runpy
import sys
from typing import Any, cast

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Wire
from sandbox_agent.agents.frames import InFrame
from sandbox_agent.agents.mock import Mock, MockWire
from sandbox_agent.schema.events import SessionMetadata
from sandbox_agent.schema.inputs import Settings
from sandbox_agent.schema.world import World


class FaultyWire(MockWire):
    def receive(self, frame: InFrame) -> None:
        """What an adapter raises in `feed` is an event. Around it, nothing is expected to go wrong."""
        super().receive(frame)
        if _ends_with(frame, b"fault in the wire"):
            raise RuntimeError("the wire broke")

    def feed(self, frame: InFrame) -> None:
        if _ends_with(frame, b"fault in the adapter"):
            raise RuntimeError("the adapter broke")
        if self._conversation is not None and b'"delta":"3@' in cast(bytes, frame):
            # It cannot be encoded. Nothing but a piece of a stream is written with it.
            self._conversation.scribe.native_session_id = cast(Any, object())
        super().feed(frame)


def _ends_with(frame: InFrame, words: bytes) -> bool:
    """A text with these words has ended; what an agent repeats at a resume has no such end."""
    return b'"text_end"' in cast(bytes, frame) and words in cast(bytes, frame)


class NeverReady(MockWire):
    def receive(self, frame: InFrame) -> None:
        raise RuntimeError("the wire broke at once")


class Faulty(Mock):
    def wire(self, world: World) -> Wire:
        return FaultyWire(world)

    def metadata(self, version: str | None, settings: Settings) -> SessionMetadata:
        if settings.model == "fault in a step":
            raise RuntimeError("the step broke")
        return super().metadata(version, settings)


class FaultyAtStart(Mock):
    name = "faulty-at-start"

    def wire(self, world: World) -> Wire:
        return NeverReady(world)


AGENTS["mock"] = Faulty()
AGENTS["faulty-at-start"] = FaultyAtStart()
sys.argv = sys.argv[3:]  # python -m sandbox_agent ...
runpy.run_module("sandbox_agent", run_name="__main__", alter_sys=True)
