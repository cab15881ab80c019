"""Amp's stream-json protocol: one process, one thread.

Amp does not stream: messages and results arrive whole. The main agent's last message ends a turn; `result`
arrives only when the process ends, with the reason. There is no message for "stop": SIGINT ends both turn and
process.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Iterator

import msgspec

from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import Action, Answered, Began, Conversation, Decided, Files, Prompted, Ready, Start, Wire
from ..files import images_in, mime_of
from ..frames import UNREADABLE, DelegateAsk, DelegateReply, InFrame
from .frames import (
    Assistant,
    Block,
    ImageSource,
    Message,
    Result,
    System,
    User,
    decode,
    decode_question,
    decode_written,
    recorded_question,
)
from .transcript import AmpConversation


class AmpWire(Wire):
    interrupts_by_signal = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversation: AmpConversation | None = None

    def conversations(self) -> Iterable[Conversation]:
        return () if self._conversation is None else (self._conversation,)

    # -- commands

    def open(self, start: Start) -> Conversation:
        return self._begin(start)

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        text = prompt.text
        blocks: list[Block] = []
        for file in prompt.attachments:
            if (data := files.get(file.path)) is not None:
                source = ImageSource(mime_of(file) or "", base64.b64encode(data).decode())
                blocks.append(Block("image", source=source))
            else:
                text += f"\n\nAttached file: {file.path}"
        if text:
            blocks.insert(0, Block("text", text))
            self._of(
                conversation
            ).echoes += 1  # Amp does not repeat images, so a prompt without text is not repeated
        self.send(User(Message(tuple(blocks))))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self.outbox.append(DelegateReply(key, decision.reply != "reject", decision.message))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        self.outbox.append(DelegateReply(key, answer.answers is not None, answers=answer.answers))

    def cancel(self, conversation: Conversation) -> None:
        """The runtime sends SIGINT: see `interrupts_by_signal`."""

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        before = conversation.settings
        same_process = (
            (before.directory, before.agent_mode, before.mcp)
            == (settings.directory, settings.agent_mode, settings.mcp)
        ) and ((before.permission_mode == "bypass") == (settings.permission_mode == "bypass"))
        if same_process:
            conversation.settings = settings
        return same_process

    # -- recordings

    def launched(self, argv: list[str]) -> Iterator[Action]:
        options = dict(itertools.pairwise(argv))
        bypass = "--dangerously-allow-all" in argv
        settings = Settings("", permission_mode="bypass" if bypass else "default")
        conversation = self._recorded(settings, options.get("continue"))
        yield Began(conversation)
        text = options.get("-x") or options.get("--execute") or ""
        if text and not text.startswith("-"):
            conversation.echoes += 1
            yield Prompted(conversation, Prompt(text))

    def sent(self, frame: bytes) -> Iterator[Action]:
        conversation = self._conversation
        if conversation is None:
            conversation = self._recorded(Settings(""), None)
            yield Began(conversation)
        match decode_written(frame):
            case User(message):
                text = "".join(block.text for block in message.blocks if block.type == "text")
                conversation.echoes += bool(text)
                yield Prompted(conversation, Prompt(text, conversation.attachments(message.blocks)))
            case DelegateReply(id, allow, why, answers):
                if conversation.asks_user(id):
                    yield Answered(conversation, id, Answer(answers))
                    return
                yield Decided(conversation, id, Decision("once" if allow else "reject", why))

    def recorded_frame(self, frame: bytes) -> InFrame:
        asked = recorded_question(frame)
        return frame if asked is None else asked

    # -- frames

    def feed(self, frame: InFrame) -> None:
        conversation = self._current()
        match frame:
            case bytes() if conversation is not None:
                self._line(conversation, frame)
            case DelegateAsk() if conversation is not None:
                self._asked(conversation, frame)
            case DelegateAsk(id):
                self.outbox.append(DelegateReply(id, False))  # there is no way to ask

    def _line(self, conversation: AmpConversation, line: bytes) -> None:
        match message := decode(line):
            case System("init"):
                self._opened(conversation, message)
            case System() | None:
                conversation.scribe.unknown(msgspec.json.decode(line))
            case Assistant():
                conversation.assistant(message)
            case User():
                conversation.user(message)
            case Result():
                self.notices.append(conversation.finish(message))

    def _asked(self, conversation: AmpConversation, asked: DelegateAsk) -> None:
        try:
            if not conversation.ask(asked.id, decode_question(asked.body)):
                self.outbox.append(DelegateReply(asked.id, False))
        except Exception:
            # The agent waits for an answer even if we cannot read its request.
            self.outbox.append(DelegateReply(asked.id, False, UNREADABLE))
            raise

    def _opened(self, conversation: AmpConversation, init: System) -> None:
        if init.session_id:
            conversation.native_id = init.session_id
        if not conversation.ready:
            conversation.ready = True
            self.notices.append(Ready(conversation))

    # -- helpers

    def _current(self) -> AmpConversation | None:
        """The conversation; a recording without a beginning starts with its first frame."""
        if self._conversation is None and self.recorded_start is not None:
            self._recorded(Settings(""), None).announce("daemon")
        return self._conversation

    def _begin(self, start: Start) -> AmpConversation:
        self._conversation = AmpConversation(self, start)
        return self._conversation

    def _recorded(self, settings: Settings, native_id: str | None) -> AmpConversation:
        assert self.recorded_start is not None
        return self._begin(self.recorded_start(settings, native_id))

    def _of(self, conversation: Conversation) -> AmpConversation:
        assert isinstance(conversation, AmpConversation)
        return conversation
