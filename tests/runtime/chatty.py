"""A toy agent: its process prints what it is sent, over one wire shared by all conversations."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from sandbox_agent.agents.base import (
    Agent,
    Conversation,
    Files,
    Launch,
    Place,
    Ready,
    Start,
    Wire,
)
from sandbox_agent.agents.frames import InFrame
from sandbox_agent.schema.features import Capabilities
from sandbox_agent.schema.inputs import Answer, Decision, Prompt, Settings
from sandbox_agent.schema.world import World

PROGRAM = """
import sys
for line in sys.stdin.buffer:
    match line.split():
        case [b"exit", code]:
            sys.exit(int(code))
        case [b"flood", name, count]:
            for number in range(int(count)):
                sys.stdout.buffer.write(b"%b %d %b\\n" % (name, number, b"." * 1000))
        case _:
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


class Fault(Exception):
    """An internal error."""


class ChattyWire(Wire):
    """Frames are `NAME WORDS`: words for the conversation of that name."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.received: list[str] = []
        self._conversations: dict[str, Conversation] = {}

    def say(self, text: str) -> None:
        """Make the process print a line."""
        self.outbox.append(text.encode())

    def conversations(self) -> Iterable[Conversation]:
        return self._conversations.values()

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        assert isinstance(frame, bytes)
        return self._conversations.get(frame.split()[0].decode())

    def open(self, start: Start) -> Conversation:
        conversation = Conversation(self, start)
        assert conversation.native_id is not None
        self._conversations[conversation.native_id] = conversation
        self.notices.append(Ready(conversation))
        return conversation

    def close(self, conversation: Conversation) -> None:
        assert conversation.native_id is not None
        del self._conversations[conversation.native_id]

    def receive(self, frame: InFrame) -> None:
        if frame in (b"a fault", b"nobody fault"):
            raise Fault(frame)
        super().receive(frame)

    def waited(self, conversation: Conversation) -> None:
        raise Fault(conversation.native_id)

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        name, words, *_ = frame.decode().split()
        self.received.append(f"{name} {words}")
        if conversation := self._conversations.get(name):
            conversation.scribe.status(words)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        self.say(f"{conversation.native_id} {prompt.text}")

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        raise NotImplementedError

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        raise NotImplementedError

    def cancel(self, conversation: Conversation) -> None:
        raise NotImplementedError


class Chatty(Agent):
    name = "chatty"
    title = "Chatty"
    capabilities = Capabilities(shared_process=True)

    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        return Launch([str(place.executable), "-I", "-S", "-c", PROGRAM])

    def wire(self, world: World) -> Wire:
        return ChattyWire(world)


class Alone(Chatty):
    """The same with a process for each session."""

    name = "alone"
    capabilities = Capabilities()


EXECUTABLE = sys.executable
