"""Translates one native session: a conversation's own, or that of one of its sub-agents.

One part is one item, opened by its first text. A sub-agent's items hang under the `task` call that runs it, its prompts and its
own turns give nothing, and until we know which call that is, its events wait.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from msgspec import Struct

from ...schema.events import AskedQuestion, Choice, PermissionStatus
from ...schema.inputs import Attachment
from ...schema.items import ContentPart, FileAction, FileRef, arguments_of
from ..diffs import diff_of_texts
from ..scribe import Scribe
from .conversation import OpenCodeConversation, Typed
from .native import (
    AgentPart,
    AnyEvent,
    AnyMessage,
    AnyPart,
    AssistantMessage,
    CallRef,
    Change,
    CompactionPart,
    Completed,
    Failed,
    FilePart,
    MessageRemoved,
    MessageUpdated,
    PartDelta,
    PartRemoved,
    PartUpdated,
    PatchPart,
    Pending,
    PermissionAsked,
    PermissionReplied,
    QuestionAsked,
    QuestionRejected,
    QuestionReplied,
    ReasoningPart,
    RetryPart,
    Running,
    SessionCompacted,
    SessionCreated,
    SessionDeleted,
    SessionError,
    SessionIdle,
    SessionStatus,
    SessionUpdated,
    SnapshotPart,
    StepFinish,
    StepStart,
    SubtaskPart,
    TextPart,
    TodoUpdated,
    ToolMetadata,
    ToolPart,
    UnknownPart,
    UserMessage,
    decode_part,
    lenient,
)
from .permissions import ask_of

_ABORTED_COMMAND = "User aborted the command"  # how the output of a command ends that an abort killed
_DEFAULT_TITLE = "New session - "
_DECISIONS: dict[str, PermissionStatus] = {
    "once": "accept",
    "always": "accept_for_session",
    "reject": "reject",
}


class Seen(Struct):
    """A message as far as it matters for its parts."""

    role: str
    past: bool = False
    """Its turn is over, or it is history that the server replays: its parts give no events."""
    ours: bool | None = None
    """For a user message: whether it is our prompt; None until a part tells."""
    created: float = 0
    fresh: bool = True
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
        self._messages: dict[str, Seen] = {}
        self._streaming: dict[str, Streaming] = {}
        self._calls: dict[str, ToolPart] = {}  # by part id, as last seen
        self._outputs: dict[str, str] = {}
        self._diffs: dict[str, str] = {}  # part id -> the diff that a permission showed
        self._early_asks: dict[str, PermissionAsked] = {}  # by the part id of their call
        self._noted: set[str] = set()  # parts of this turn that are told once
        self._asked: set[str] = set()  # permissions and questions of all turns
        self._summary = ""
        self._halted = False  # an error or an abort: what is closed now is cut off
        self._turns = conversation.turns
        self._over = False  # a sub-agent of a turn that is over

    @property
    def scribe(self) -> Scribe:
        return self.conversation.scribe

    # -- which events, and when -----------------------------------------------------------------

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
            # Nobody said which call this is, and somebody waits for it.
            self.release(self.parent.running_task() if self.parent else None)

    def release(self, call: str | None, *, background: bool = False) -> None:
        """The call that runs this sub-agent is known."""
        self.background = background
        self.call = call or self.call
        self._over = False
        held, self.held = self.held or [], None
        for event in held:
            self._translate(event)

    def is_current(self, message: AnyMessage) -> bool:
        """Whether a message that the server lists belongs to the running turn."""
        seen = self._messages.get(message.id)
        if isinstance(message, UserMessage):
            return seen is None and self.conversation.is_handed(message.id)
        parent = self._messages.get(message.parentID)
        return not seen.past if seen else parent is not None and not parent.past

    def running_task(self) -> str | None:
        tasks = [
            key for key, part in self._calls.items() if part.tool == "task" and self.scribe.has_open_call(key)
        ]
        return tasks[-1] if tasks else None

    def _retire(self) -> None:
        """The turn is over: what comes late for its messages gives no events."""
        if self.background:
            return
        self._over = self.parent is not None
        for message in self._messages.values():
            message.past = True
        self._streaming.clear()
        self._outputs.clear()
        self._diffs.clear()
        self._early_asks.clear()
        self._calls.clear()
        self._noted.clear()
        self._halted = False

    def _translate(self, event: AnyEvent) -> None:
        self._flush_typed(event)
        match event:
            case PartDelta():
                self._delta(event)
            case PartUpdated(part=part):
                self._part(decode_part(part))
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
                self.scribe.status("plan", {"todos": todos}, parent=self._parent_item())
            case PermissionAsked():
                self._ask(event)
            case PermissionReplied(requestID=key, reply=reply):
                self.scribe.decide(key, _DECISIONS[reply], "agent", source="agent")
                self._rejected(reply == "reject")
            case QuestionAsked():
                self._question(event)
            case QuestionReplied(requestID=key, answers=answers):
                self.scribe.answer(key, answers, "agent", source="agent")
            case QuestionRejected(requestID=key):
                self.scribe.answer(key, None, "agent", source="agent")
                self._rejected(True)
            case PartRemoved(partID=part_id):
                self._abandon(part_id)
            case MessageRemoved() | SessionCreated() | SessionDeleted():
                pass  # History that is reverted stays told; the wire knows what becomes of sessions.

    # -- messages -------------------------------------------------------------------------------

    def _user_message(self, info: UserMessage) -> None:
        if info.id not in self._messages:
            copied = info.summary is not None or 0 < info.time.created < self.conversation.created
            self._messages[info.id] = Seen("user", past=self.parent is not None, fresh=not copied)
            if self.parent is None and self.conversation.take_echo(info.id, None):
                self._messages[info.id].ours = True

    def _assistant_message(self, info: AssistantMessage) -> None:
        completed = info.time.completed is not None
        message = self._messages.get(info.id)
        if message is None:
            # A message that is complete when we first see it is history, copied by a fork, or was aborted at once.
            past = completed and not self._answers_us(info)
            message = self._messages[info.id] = Seen("assistant", past=past, summary=info.summary)
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

    def _answers_us(self, info: AssistantMessage) -> bool:
        prompt = self._messages.get(info.parentID)
        return prompt is not None and prompt.ours is True and prompt.fresh and not prompt.past

    def _flush_typed(self, event: AnyEvent) -> None:
        """A user message that is not ours is told when its last part is there."""
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
        if isinstance(part, UnknownPart):
            self.scribe.unknown(part.payload)
            return
        message = self._messages.get(part.messageID)
        if message is None:
            if self.scribe.turn is None or (
                isinstance(part, ToolPart) and not isinstance(part.state, Pending)
            ):
                return  # Old results are updated when the agent drops them from its memory.
            message = self._messages[part.messageID] = Seen("assistant")
        if message.role == "user":
            self._user_part(message, part)
        elif not message.past:
            self._assistant_part(message, part)

    def _user_part(self, message: Seen, part: AnyPart) -> None:
        if message.past or message.ours or self.parent is not None:
            return
        match part:
            case CompactionPart(id=part_id, auto=auto, overflow=overflow):
                message.ours = False
                if part_id not in self._noted:
                    self._noted.add(part_id)
                    self.conversation.turn.overflow = None
                    self.scribe.status("compaction", {"phase": "started", "auto": auto, "overflow": overflow})
            case TextPart(synthetic=True, text=text):
                unnamed = any(handed.message_id is None for handed in self.conversation.handed)
                if message.ours is None and not unnamed:
                    # Nothing of this message was typed: the agent tells its model something.
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
                pass  # Mentions are told by what comes of them.

    def _is_typed(self, message: Seen, message_id: str, text: str) -> bool:
        if message.ours is None:
            message.ours = not message.fresh or self.conversation.take_echo(message_id, text)
        return not message.ours

    def _typed(self, message_id: str) -> Typed:
        typed = self.conversation.typed
        if typed is None or typed.message_id != message_id:
            typed = self.conversation.typed = Typed(message_id)
        return typed

    def _assistant_part(self, message: Seen, part: AnyPart) -> None:
        match part:
            case TextPart(id=key, text=text, time=time):
                self._text(message, part.messageID, key, text, done=time.end is not None, reasoning=False)
            case ReasoningPart(id=key, text=text, time=time):
                self._text(message, part.messageID, key, text, done=time.end is not None, reasoning=True)
            case ToolPart():
                self._tool(message, part)
            case StepStart(id=key):
                if key not in self._noted:
                    self._noted.add(key)
                    self._abandon_streams()  # A new attempt: what the last one left open was cut off.
            case StepFinish(id=key):
                if key not in self._noted:
                    self._noted.add(key)
                    self.conversation.add_usage(part)
            case RetryPart(id=key, attempt=attempt, error=error):
                if key not in self._noted:
                    self._noted.add(key)
                    payload = {"attempt": attempt, "message": error.data.message}
                    self.scribe.status("retry", payload, error.data.message, parent=self._parent_item())
            case FilePart() | CompactionPart() | PatchPart() | SnapshotPart() | SubtaskPart() | AgentPart():
                pass
            case UnknownPart(payload):
                self.scribe.unknown(payload)

    def _delta(self, event: PartDelta) -> None:
        message = self._messages.get(event.messageID)
        if event.field != "text" or (message and (message.past or message.role == "user")):
            return
        if message is None:
            message = self._messages[event.messageID] = Seen("assistant")
            if self.parent is None:
                self.conversation.wake()
        streaming = self._streaming.get(event.partID)
        if streaming is None:
            streaming = self._streaming[event.partID] = Streaming(event.messageID, False)
        streaming.text += event.delta
        self._say(message, event.partID, streaming, event.delta)

    def _text(
        self, message: Seen, message_id: str, key: str, text: str, *, done: bool, reasoning: bool
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

    def _say(self, message: Seen, key: str, streaming: Streaming, delta: str) -> None:
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

    # -- tools ----------------------------------------------------------------------------------

    def _tool(self, message: Seen, part: ToolPart) -> None:
        self._calls[part.id] = part
        parent = self._parent_item() or message.text_item
        name, arguments = self._named(part)
        metadata = lenient(part.state.metadata, ToolMetadata, ToolMetadata())
        if isinstance(part.state, Pending):
            self.scribe.call(
                part.id,
                name,
                call_id=part.callID,
                native_id=part.id,
                parent=parent,
                outlives_turn=self.background,
            )
            return
        self.scribe.end_call(
            part.id,
            name,
            arguments_of(arguments),
            call_id=part.callID,
            native_id=part.id,
            parent=parent,
            outlives_turn=self.background,
        )
        if asked := self._early_asks.pop(part.id, None):
            self._tell_ask(asked, part)
        match part.state:
            case Running() as state:
                if bytes(state.metadata) != b"{}":
                    self.scribe.start_result(part.id)
                self._preview(part.id, metadata.output)
            case Completed(output=output):
                interrupted = _ABORTED_COMMAND in output[-200:] and metadata.exit is None
                # A denied or unknown tool is told as one that ran and said no.
                failed = part.tool == "invalid" or (part.tool == "bash" and interrupted)
                extra = [] if failed else self._changes(part, metadata)
                extra += [image for file in part.state.attachments for image in self._image(file)]
                self.scribe.result(part.id, output, exit_code=metadata.exit, extra=extra, failed=failed)
            case Failed(error=error):
                self.scribe.result(part.id, error, failed=True)

    def _named(self, part: ToolPart) -> tuple[str, Any]:
        """The tool that the model meant: a call that cannot be made goes on under the name `invalid`."""
        meant = part.state.input.get("tool") if part.tool == "invalid" else None
        return self.conversation.tool_name(meant if isinstance(meant, str) else part.tool), part.state.input

    def _preview(self, key: str, output: str | None) -> None:
        """The output so far is repeated each time; a delta is what lies past the last one."""
        before = self._outputs.get(key, "")
        if output and output.startswith(before):
            self._outputs[key] = output
            self.scribe.result_delta(key, output[len(before) :])

    def _changes(self, part: ToolPart, metadata: ToolMetadata) -> list[ContentPart]:
        if metadata.files:
            return [_file_ref(change) for change in metadata.files]
        if metadata.filediff is not None:
            return [FileRef(metadata.filediff.file, "patch", diff=metadata.filediff.patch)]
        if part.tool != "write" or metadata.filepath is None:
            return []
        diff = self._diffs.get(part.id)
        content = part.state.input.get("content")
        if diff is None and not metadata.exists and isinstance(content, str):
            diff = diff_of_texts(metadata.filepath, None, content)
        return [FileRef(metadata.filepath, "write", diff=diff)]

    def _image(self, file: FilePart) -> list[ContentPart]:
        data = data_of(file.url) if file.mime and file.mime.startswith("image/") else None
        return [] if data is None or file.mime is None else [self.scribe.image(data, file.mime)]

    # -- permissions and questions --------------------------------------------------------------

    def _ask(self, asked: PermissionAsked) -> None:
        if not self._is_new_request(asked.id):
            return
        call = self._call(asked.tool)
        if call and isinstance(call.state, Pending) and bytes(asked.metadata) == b"{}":
            # Nothing to show yet. The arguments are on their way: the two only overtook each other.
            self._early_asks[call.id] = asked
        else:
            self._tell_ask(asked, call)

    def _tell_ask(self, asked: PermissionAsked, call: ToolPart | None) -> None:
        permission = self.conversation.tool_name(asked.permission)
        ask = ask_of(asked, call, self._named(call)[0] if call else permission, permission)
        if call and ask.diff:
            self._diffs[call.id] = ask.diff
        self.scribe.ask(asked.id, ask)

    def _question(self, asked: QuestionAsked) -> None:
        if not self._is_new_request(asked.id):
            return
        call = self._call(asked.tool)
        key = call.id if call else None
        if call and call.tool == "plan_exit" and asked.questions:
            self.conversation.plans.add(asked.id)
            self.scribe.plan(asked.id, asked.questions[0].question, call=key)
            return
        questions = [
            AskedQuestion(
                one.question,
                one.header,
                tuple(Choice(option.label, option.description) for option in one.options),
                one.multiple,
            )
            for one in asked.questions
        ]
        self.scribe.question(asked.id, questions, call=key)

    def _is_new_request(self, key: str) -> bool:
        """The server lists a request for ever when an abort took its turn away: one is asked once."""
        if key in self._asked or (self.scribe.turn is None and not self.background):
            return False
        self._asked.add(key)
        return True

    def _call(self, ref: CallRef | None) -> ToolPart | None:
        if ref is None:
            return None
        for part in reversed(self._calls.values()):
            if (part.messageID, part.callID) == (ref.messageID, ref.callID):
                return part
        return None

    def _rejected(self, rejected: bool) -> None:
        if rejected and self.parent is None:
            self.conversation.turn.rejected = True

    # -- what happens to the session ------------------------------------------------------------

    def _idle(self) -> None:
        if self.parent is None:
            self.conversation.idle()
        else:
            self._abandon_streams()

    def _retry(self, event: SessionStatus) -> None:
        self._abandon_streams()
        for key, part in self._calls.items():
            if isinstance(part.state, Pending) and self.scribe.has_open_call(key):
                self.scribe.result(key, "the model's answer was cut off", failed=True, source="daemon")
        status = event.status
        payload = {"attempt": status.attempt, "message": status.message, "next": status.next}
        self.scribe.status("retry", payload, status.message, parent=self._parent_item())

    def _title(self, title: str) -> None:
        if self.parent is not None or not title or title == self.conversation.title:
            return
        known, self.conversation.title = self.conversation.title, title
        if known is not None and not title.startswith(_DEFAULT_TITLE):
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
    """Texts and calls have keys of their own: a part that changed its type must not close the other."""
    return f"text:{part_id}"


def attachment_of(url: str, mime: str | None, filename: str | None) -> Attachment:
    """A file part as the attachment it was: a path, or for data the name it was given."""
    if url.startswith("file:"):
        return Attachment(unquote(urlsplit(url).path), mime, filename)
    return Attachment(filename or url.partition(",")[0], mime, filename)


def data_of(url: str) -> bytes | None:
    """The bytes of a `data:` URL."""
    head, comma, body = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    try:
        return base64.b64decode(body) if head.endswith(";base64") else unquote_to_bytes(body)
    except binascii.Error:
        return None


def _file_ref(change: Change) -> FileRef:
    actions: dict[str, FileAction] = {"add": "write", "delete": "delete", "move": "move"}
    return FileRef(change.filePath, actions.get(change.type, "patch"), change.movePath, change.patch)
