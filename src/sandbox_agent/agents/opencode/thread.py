"""Translates one native session: a conversation's own, or that of one of its sub-agents.

One part is one item, opened by its first text. A sub-agent's items belong to the `task` call that runs it;
its prompts and turns produce no events. Until we know that call, its events wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ...schema.events import PermissionStatus
from ..scribe import Scribe
from ..todos import entries_of, tell
from .calls import Calls
from .conversation import DEFAULT_TITLE, OpenCodeConversation, Typed
from .events import (
    AnyEvent,
    GlobalDisposed,
    InstanceDisposed,
    MessageRemoved,
    MessageUpdated,
    PartDelta,
    PartRemoved,
    PartUpdated,
    PermissionAsked,
    PermissionReplied,
    QuestionAsked,
    QuestionRejected,
    QuestionReplied,
    SessionCompacted,
    SessionCreated,
    SessionDeleted,
    SessionError,
    SessionIdle,
    SessionStatus,
    SessionUpdated,
    TodoUpdated,
    UnknownPart,
)
from .messages import (
    AgentPart,
    AnyMessage,
    AnyPart,
    AssistantMessage,
    CompactionPart,
    FilePart,
    PatchPart,
    Pending,
    ReasoningPart,
    RetryPart,
    SnapshotPart,
    StepFinish,
    StepStart,
    SubtaskPart,
    TextPart,
    ToolPart,
    UserMessage,
)
from .requests import attachment_of

MAX_MESSAGES = 10_000
"""How many messages we remember, to recognize late updates of old ones."""
_DECISIONS: dict[str, PermissionStatus] = {
    "once": "accept",
    "always": "accept_for_session",
    "reject": "reject",
}


class SeenMessage(Struct):
    """What we need to know about a message to translate its parts."""

    role: str
    past: bool = False
    """Its turn is over, or the server replays history: its parts produce no events."""
    ours: bool | None = None
    """For a user message: whether it is our prompt; None until a part shows it."""
    fresh: bool = True
    compacts: bool = False
    """For a user message: whether it asks for a compaction, which a summary answers."""
    summary: bool = False
    text_item: str | None = None
    """Its last text, which its calls belong to."""


class Streaming(Struct):
    """A text or a thought that is not complete."""

    message_id: str
    reasoning: bool
    text: str = ""


class Thread:
    def __init__(
        self, session_id: str, conversation: OpenCodeConversation, parent: Thread | None = None
    ) -> None:
        self.id = session_id
        self.conversation = conversation
        self.parent = parent
        self.call: str | None = None
        """The key of the call that runs this sub-agent."""
        self.background = False
        self.held: list[AnyEvent] | None = None if parent is None else []
        self.calls = Calls(conversation, lambda: self.background)
        self._messages: dict[str, SeenMessage] = {}
        self._streaming: dict[str, Streaming] = {}
        self._noted: set[str] = set()  # parts of this turn that are reported once
        self._summary = ""
        self._halted = False  # an error or an abort: items closed now were cut off
        self._turns = conversation.turns
        self._over = False  # a sub-agent of a turn that is over

    @property
    def scribe(self) -> Scribe:
        return self.conversation.scribe

    # -- routing of events ------------------------------------------------------------------------

    def receive(self, event: AnyEvent) -> None:
        if self._turns != self.conversation.turns:
            self._turns = self.conversation.turns
            self._retire()
        if self._over:
            return
        if self.held is None:
            self._translate(event)
            return
        self.held.append(event)
        if isinstance(event, PermissionAsked | QuestionAsked | SessionIdle):
            # A request of a sub-agent whose call is unknown must not wait.
            self.release(self.parent.calls.running_task() if self.parent else None)

    def release(self, call: str | None, *, background: bool = False) -> None:
        """The call that runs this sub-agent is known now."""
        self.background = background
        self.call = call or self.call
        self._over = False
        held, self.held = self.held or [], None
        for event in held:
            self._translate(event)

    def ignore(self, messages: Iterable[str]) -> None:
        """These messages are history: their parts produce no events."""
        for message_id in messages:
            self._remember(message_id, SeenMessage("assistant", past=True))

    def is_current(self, message: AnyMessage) -> bool:
        """Whether a message that the server lists belongs to the running turn."""
        seen = self._messages.get(message.id)
        if isinstance(message, UserMessage):
            return seen is None and self.conversation.is_pending(message.id)
        parent = self._messages.get(message.parentID)
        return not seen.past if seen else parent is not None and not parent.past

    @property
    def is_over(self) -> bool:
        """A sub-agent of a turn that is over: its events are ignored."""
        ended = self._over or self._turns != self.conversation.turns
        return self.parent is not None and ended and not self.background

    def _retire(self) -> None:
        """The turn is over: late updates of its messages produce no events."""
        if self.background:
            return
        self._over = self.parent is not None
        for message in self._messages.values():
            message.past = True
        self._streaming.clear()
        self.calls.clear()
        self._noted.clear()
        self._halted = False

    def _translate(self, event: AnyEvent) -> None:
        self._flush_typed(event)
        match event:
            case PartDelta():
                self._delta(event)
            case PartUpdated(part=part):
                self._part(part)
            case UnknownPart(part=payload):
                self.scribe.unknown(payload)
            case MessageUpdated(info=UserMessage() as info):
                self._user_message(info)
            case MessageUpdated(info=AssistantMessage() as info):
                self._assistant_message(info)
            case SessionStatus(status=status):
                if status.type == "retry":
                    self._retry(event)
                elif status.type == "busy" and self.parent is None:
                    self.conversation.busy()
                elif status.type == "idle":
                    self._idle()
            case SessionIdle():
                self._idle()
            case SessionError(error=error):
                self._halted = True
                if error is not None and self.parent is None:
                    self.conversation.native_error(error)
            case SessionUpdated(info=info):
                self._title(info.title)
            case SessionCompacted():
                payload = {"phase": "completed", "summary": self._summary}
                self.scribe.status("compaction", payload, parent=self._parent_item())
            case TodoUpdated(todos=todos):
                tell(self.scribe, entries_of(todos) or (), parent=self._parent_item())
            case PermissionAsked():
                self.calls.ask(event)
            case PermissionReplied(requestID=key, reply=reply):
                self.scribe.decide(key, _DECISIONS[reply], "agent", source="agent")
                self._rejected(reply == "reject")
            case QuestionAsked():
                self.calls.question(event)
            case QuestionReplied(requestID=key, answers=answers):
                self.scribe.answer(key, answers, "agent", source="agent")
            case QuestionRejected(requestID=key):
                self.scribe.answer(key, None, "agent", source="agent")
                self._rejected(True)
            case PartRemoved(partID=part_id):
                self._abandon(part_id)
            case MessageRemoved():
                pass  # Reverted history stays in the log.
            case SessionCreated() | SessionDeleted() | InstanceDisposed() | GlobalDisposed():
                pass  # Handled by the wire.

    # -- messages -------------------------------------------------------------------------------

    def _user_message(self, info: UserMessage) -> None:
        if info.id not in self._messages:
            copied = info.summary is not None or 0 < info.time.created < self.conversation.created
            message = self._remember(
                info.id, SeenMessage("user", past=self.parent is not None, fresh=not copied)
            )
            if self.parent is None and self.conversation.take_echo(info.id, None):
                message.ours = True

    def _assistant_message(self, info: AssistantMessage) -> None:
        completed = info.time.completed is not None
        message = self._messages.get(info.id)
        if message is None:
            # A message that is complete when it first appears is history copied by a fork, or was aborted at once.
            past = completed and not self._answers_us(info)
            message = self._remember(info.id, SeenMessage("assistant", past=past, summary=info.summary))
            if not past:
                self._halted = False
                if self.parent is None:
                    self.conversation.take_echo(info.parentID, None)
                    self.conversation.message_began(info)
                    self._tell_typed()
        if message.past or not completed:
            return
        for part_id in [key for key, open_text in self._streaming.items() if open_text.message_id == info.id]:
            self._abandon(part_id)
        if self.parent is None:
            self.conversation.message_ended(info)

    def _remember(self, message_id: str, message: SeenMessage) -> SeenMessage:
        self._messages[message_id] = message
        if len(self._messages) > MAX_MESSAGES:
            del self._messages[next(iter(self._messages))]
        return message

    def _answers_us(self, info: AssistantMessage) -> bool:
        prompt = self._messages.get(info.parentID)
        if prompt is None or prompt.past or not prompt.fresh:
            return False
        return prompt.ours is True or prompt.compacts

    def _flush_typed(self, event: AnyEvent) -> None:
        """Write a user message that is not ours once its last part is there."""
        typed = self.conversation.typed if self.parent is None else None
        if typed is None or isinstance(event, PartUpdated | SessionUpdated):
            return
        if self.scribe.turn is not None and not isinstance(event, MessageUpdated):
            self._tell_typed()

    def _tell_typed(self) -> None:
        typed, self.conversation.typed = self.conversation.typed, None
        if typed is not None:
            text = "\n".join(typed.texts)
            self.scribe.user_message(text, typed.files, native_id=typed.message_id, source="agent")

    # -- parts ----------------------------------------------------------------------------------

    def _part(self, part: AnyPart) -> None:
        message = self._messages.get(part.messageID)
        if message is None:
            if self.scribe.turn is None or (
                isinstance(part, ToolPart) and not isinstance(part.state, Pending)
            ):
                return  # Old results are updated when the agent drops them from its context.
            injected = isinstance(part, TextPart) and part.is_injected
            message = self._remember(part.messageID, SeenMessage("user" if injected else "assistant"))
        if message.role == "user":
            self._user_part(message, part)
        elif not message.past:
            self._assistant_part(message, part)

    def _user_part(self, message: SeenMessage, part: AnyPart) -> None:
        if message.past or message.ours or self.parent is not None:
            return
        match part:
            case CompactionPart(id=part_id, auto=auto, overflow=overflow):
                message.ours = False
                message.compacts = True
                if part_id not in self._noted:
                    self._noted.add(part_id)
                    self.conversation.turn.overflow = None
                    self.scribe.status("compaction", {"phase": "started", "auto": auto, "overflow": overflow})
            case TextPart(is_injected=True, text=text):
                unnamed = any(pending.message_id is None for pending in self.conversation.pending_prompts)
                if message.ours is None and not unnamed:
                    # No part of this message was typed: the agent's program sends it to its model.
                    message.ours = True
                    self.scribe.status("injected", {"text": text}, native_id=part.messageID)
            case TextPart(text=text) | SubtaskPart(prompt=text):
                if self._is_typed(message, part.messageID, text) and text:
                    self._typed(part.messageID).texts.append(text)
            case FilePart(url=url, mime=mime, filename=filename):
                file = attachment_of(url, mime, filename)
                if self._is_typed(message, part.messageID, file.path):
                    self._typed(part.messageID).files.append(file)
            case _:
                pass  # Mentions show in the calls that follow.

    def _is_typed(self, message: SeenMessage, message_id: str, text: str) -> bool:
        if message.ours is None:
            message.ours = not message.fresh or self.conversation.take_echo(message_id, text)
        return not message.ours

    def _typed(self, message_id: str) -> Typed:
        typed = self.conversation.typed
        if typed is None or typed.message_id != message_id:
            typed = self.conversation.typed = Typed(message_id)
        return typed

    def _assistant_part(self, message: SeenMessage, part: AnyPart) -> None:
        match part:
            case TextPart(synthetic=True, id=key, text=text):
                if key not in self._noted:
                    self._noted.add(key)
                    self.scribe.status("injected", {"text": text}, native_id=part.messageID)
            case TextPart(id=key, text=text, time=time):
                self._text(message, part.messageID, key, text, done=time.end is not None, reasoning=False)
            case ReasoningPart(id=key, text=text, time=time):
                self._text(message, part.messageID, key, text, done=time.end is not None, reasoning=True)
            case ToolPart():
                self.calls.tell(part, self._parent_item() or message.text_item)
            case StepStart(id=key):
                if key not in self._noted:
                    self._noted.add(key)
                    self._abandon_streams()  # A new attempt: items the last one left open were cut off.
            case StepFinish(id=key):
                if key not in self._noted:
                    self._noted.add(key)
                    self.conversation.add_usage(part, of_sub_agent=self.parent is not None)
            case RetryPart(id=key, attempt=attempt, error=error):
                if key not in self._noted:
                    self._noted.add(key)
                    payload = {"attempt": attempt, "message": error.data.message}
                    detail = f"attempt {attempt}: {error.data.message}"
                    self.scribe.status("retry", payload, detail, parent=self._parent_item())
            case FilePart() | CompactionPart() | PatchPart() | SnapshotPart() | SubtaskPart() | AgentPart():
                pass

    def _delta(self, event: PartDelta) -> None:
        message = self._messages.get(event.messageID)
        if event.field != "text" or (message and (message.past or message.role == "user")):
            return
        if message is None:
            message = self._remember(event.messageID, SeenMessage("assistant"))
            if self.parent is None:
                self.conversation.wake()
        streaming = self._streaming.get(event.partID)
        if streaming is None:
            streaming = self._streaming[event.partID] = Streaming(event.messageID, False)
        streaming.text += event.delta
        self._say(message, event.partID, streaming, event.delta)

    def _text(
        self, message: SeenMessage, message_id: str, key: str, text: str, *, done: bool, reasoning: bool
    ) -> None:
        if message.summary:
            self._summary = text or self._summary
            return
        streaming = self._streaming.setdefault(key, Streaming(message_id, reasoning))
        streaming.reasoning = reasoning
        if not done:
            if text.startswith(streaming.text):
                delta = text[len(streaming.text) :]
                streaming.text = text
                self._say(message, key, streaming, delta)
            return
        del self._streaming[key]
        item = self.scribe.end_text(
            _text_key(key),
            text,
            native_id=key,
            parent=self._parent_item(),
            thinking="public" if reasoning else None,
            outlives_turn=self.background,
            failed=self._halted and bool(streaming.text),
        )
        if not reasoning:
            message.text_item = item or message.text_item

    def _say(self, message: SeenMessage, key: str, streaming: Streaming, delta: str) -> None:
        if message.summary:
            return
        item = self.scribe.text(
            _text_key(key),
            delta,
            native_id=key,
            parent=self._parent_item(),
            thinking="public" if streaming.reasoning else None,
            outlives_turn=self.background,
        )
        if not streaming.reasoning:
            message.text_item = item or message.text_item

    # -- session events ---------------------------------------------------------------------------

    def _rejected(self, rejected: bool) -> None:
        if rejected and self.parent is None:
            self.conversation.turn.rejected = True

    def _idle(self) -> None:
        if self.parent is None:
            self.conversation.idle()
        else:
            self._abandon_streams()

    def _retry(self, event: SessionStatus) -> None:
        self._abandon_streams()
        self.calls.cut_off()
        status = event.status
        payload = {"attempt": status.attempt, "message": status.message, "next": status.next}
        detail = f"attempt {status.attempt}: {status.message}"
        self.scribe.status("retry", payload, detail, parent=self._parent_item())

    def _title(self, title: str) -> None:
        if self.parent is not None or not title or title == self.conversation.title:
            return
        old_title, self.conversation.title = self.conversation.title, title
        if old_title is not None and not title.startswith(DEFAULT_TITLE):
            self.scribe.uses(title=title)
            self.scribe.status("title", {"title": title}, title)

    def _abandon(self, part_id: str) -> None:
        self._streaming.pop(part_id, None)
        self.scribe.abandon(_text_key(part_id))

    def _abandon_streams(self) -> None:
        for part_id in list(self._streaming):
            self._abandon(part_id)

    def _parent_item(self) -> str | None:
        if self.parent is None or self.call is None:
            return None
        return self.scribe.call_item(self.call)


def _text_key(part_id: str) -> str:
    """Texts and calls have separate keys: a part that changes its type must not close the other."""
    return f"text:{part_id}"
