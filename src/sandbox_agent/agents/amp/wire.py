"""Amp's stream-json as a wire: one process, one thread.

Amp streams nothing: a message comes whole, and so does a result. The end of a turn is the main agent's last message; `result`
comes only when the process ends, with the reason. There is no word for "stop": SIGINT ends turn and process.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from ...schema.events import StopReason, Usage
from ...schema.features import Catalogue
from ...schema.inputs import Answer, Attachment, Decision, Prompt, Settings
from ...schema.items import ContentPart, FileRef, Image, arguments_of
from ...schema.world import World
from ..base import Action, Began, Conversation, Decided, Ending, Files, Listed, Prompted, Ready, Start, Wire
from ..diffs import diff_of_texts
from ..failures import Failure, read_failure
from ..files import bytes_in, images_in, mime_of
from ..frames import InFrame
from ..scribe import Ask, AskKind, Rule
from .frames import (
    Assistant,
    Block,
    Delegate,
    DelegateReply,
    ImageSource,
    Message,
    ReadImage,
    Result,
    System,
    ToolInput,
    ToolOutput,
    User,
    decode,
    decode_written,
)
from .modes import MODES, READ_ONLY

T = TypeVar("T")

KINDS: dict[str, AskKind] = {
    "Bash": "command",
    "shell_command": "command",
    "create_file": "edit",
    "edit_file": "edit",
    "delete_file": "edit",
    "undo_edit": "edit",
    "apply_patch": "edit",
}
CANCELLED = "User cancelled"


class AmpConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.ready = False
        self.echoes = 0
        """Prompts that Amp has yet to repeat as user messages."""
        self.messages = 0
        self.calls: dict[str, list[str]] = {}
        """Keys of the calls that have no result yet, by Amp's id."""
        self.inputs: dict[str, tuple[str, ToolInput]] = {}
        """Tool and input of those calls, by key."""
        self.usage: Usage | None = None

    @property
    def takes_up_old(self) -> bool:
        """A resumed thread begins with its last message, if that was never answered, and only then reads ours."""
        return self.resumed and self.echoes > 0

    def end_turn(self, stop: StopReason) -> None:
        self.scribe.end_turn(stop, self.usage)
        self.usage = None


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
            self._of(conversation).echoes += 1  # images are not repeated, so neither is a prompt without text
        self.send(User(Message(tuple(blocks))))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self.send(DelegateReply(key, decision.reply != "reject", decision.message))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        """It has no way to ask, so no question ever waits for one."""

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

    def list_catalogue(self, directory: str) -> None:
        self.notices.append(Listed(Catalogue(modes=MODES)))

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
                yield Prompted(conversation, Prompt(text, _attachments(conversation, message.blocks)))
            case DelegateReply(id, allow, why):
                yield Decided(conversation, id, Decision("once" if allow else "reject", why))

    # -- lines

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        conversation = self._conversation
        if conversation is None:
            if self.recorded_start is None:
                return  # nobody opened a conversation: there is nobody to tell
            conversation = self._recorded(Settings(""), None)
            conversation.announce("daemon")
        match message := decode(frame):
            case System("init"):
                self._opened(conversation, message)
            case System() | None:
                conversation.scribe.unknown(msgspec.json.decode(frame))
            case Assistant():
                self._assistant(conversation, message)
            case User():
                self._user(conversation, message)
            case Result():
                self._result(conversation, message)
            case Delegate() if message.id not in conversation.scribe.pending:
                conversation.scribe.ask(message.id, self._ask(conversation, message))

    def _opened(self, conversation: AmpConversation, init: System) -> None:
        if init.session_id:
            conversation.native_id = init.session_id
        if not conversation.ready:
            conversation.ready = True
            self.notices.append(Ready(conversation))

    def _assistant(self, conversation: AmpConversation, frame: Assistant) -> None:
        scribe = conversation.scribe
        message = frame.message
        inner = frame.parent_tool_use_id is not None
        parent = self._sub_agent_of(conversation, frame.parent_tool_use_id)
        if not inner:
            scribe.start_turn(source="agent")
        elif parent is None and scribe.turn is None:
            scribe.unknown(msgspec.to_builtins(frame))  # a sub-agent of a call we never saw
            return
        outlives_turn = parent is not None
        if message.usage and scribe.turn:
            spent = message.usage.universal()
            conversation.usage = conversation.usage + spent if conversation.usage else spent
        conversation.messages += 1
        text_item: str | None = None
        for index, block in enumerate(message.blocks):
            key = f"{scribe.turn.id if scribe.turn else 'after'}/{conversation.messages}/{index}"
            match block.type:
                case "text":
                    said = scribe.end_text(key, block.text, parent=parent, outlives_turn=outlives_turn)
                    text_item = said or text_item
                case "thinking":
                    scribe.end_text(
                        key, block.thinking, parent=parent, thinking="public", outlives_turn=outlives_turn
                    )
                case "tool_use":
                    self._call(conversation, block, parent or text_item, outlives_turn)
                case "redacted_thinking":
                    pass  # nobody may read it
                case _:
                    scribe.unknown(msgspec.to_builtins(block))
        if not inner:
            self._end_of_turn(conversation, message)

    def _end_of_turn(self, conversation: AmpConversation, message: Message) -> None:
        """A message without a call is the main agent's last."""
        if any(block.type == "tool_use" for block in message.blocks) or conversation.takes_up_old:
            return
        match message.stop_reason:
            case None:
                # Amp does not say why it stopped: text was cut off, and nothing at all was refused.
                said = any(block.text for block in message.blocks if block.type == "text")
                conversation.end_turn("max_tokens" if said else "refusal")
            case "max_tokens" | "refusal" as stop:
                conversation.end_turn(stop)
            case _:
                conversation.end_turn("end_turn")

    def _call(
        self, conversation: AmpConversation, block: Block, parent: str | None, outlives_turn: bool
    ) -> None:
        scribe = conversation.scribe
        key = self._new_call_key(conversation, block.id)
        conversation.calls.setdefault(block.id, []).append(key)
        conversation.inputs[key] = (block.name, _convert(block.input, ToolInput) or ToolInput())
        arguments = arguments_of({} if block.input is None else block.input)
        scribe.end_call(
            key, block.name, arguments, call_id=block.id, parent=parent, outlives_turn=outlives_turn
        )
        scribe.start_result(key)

    def _user(self, conversation: AmpConversation, frame: User) -> None:
        scribe = conversation.scribe
        for block in frame.message.blocks:
            if block.type == "tool_result":
                self._call_result(conversation, block)
        if frame.parent_tool_use_id is not None:
            return  # a sub-agent's prompt stands in the call that started it
        text = "".join(block.text for block in frame.message.blocks if block.type == "text")
        if not text and not any(block.type == "image" for block in frame.message.blocks):
            return
        if conversation.echoes:
            conversation.echoes -= 1
            return
        scribe.start_turn(source="agent")
        scribe.user_message(text, _attachments(conversation, frame.message.blocks), source="agent")

    def _call_result(self, conversation: AmpConversation, block: Block) -> None:
        scribe = conversation.scribe
        waiting = conversation.calls.get(block.tool_use_id)
        if not waiting and scribe.turn is None:
            return
        key = waiting.pop(0) if waiting else self._new_call_key(conversation, block.tool_use_id)
        tool, given = conversation.inputs.pop(key, ("", ToolInput()))
        parts = block.content if isinstance(block.content, tuple) else ()
        text = block.content if isinstance(block.content, str) else "".join(part.text for part in parts)
        told = _read(text, ToolOutput) or ToolOutput()
        extra: list[ContentPart] = [] if block.is_error else _changes(tool, given, told)
        extra += [image for part in parts if (image := _image(conversation, part))]
        output = told.output if told.output is not None else text
        if (seen := _read(text, ReadImage)) and (image := _read_image(conversation, seen)):
            extra.append(image)
            output = seen.path
        scribe.result(key, output, exit_code=told.exit_code, extra=extra, failed=block.is_error)

    def _result(self, conversation: AmpConversation, result: Result) -> None:
        """The process is about to end: at the end of its input, by an error, or by a signal."""
        scribe = conversation.scribe
        message = result.error or result.result or "the turn failed"
        cancelled = message.startswith(CANCELLED) or conversation.cancelling
        if result.is_error and not cancelled and conversation.takes_up_old:
            self.notices.append(Ending(conversation, unread=_failure(message, result)))
            return
        self.notices.append(Ending(conversation))
        if not result.is_error:
            conversation.end_turn("end_turn")
            return
        if cancelled:
            conversation.end_turn("interrupted")
            return
        if scribe.turn:
            failure = _failure(message, result)
            scribe.error(failure.message, failure.code, failure.details)
        conversation.end_turn("error")

    def _ask(self, conversation: AmpConversation, asked: Delegate) -> Ask:
        kind = KINDS.get(asked.tool, "read" if asked.tool in READ_ONLY else "other")
        given = _convert(asked.input, ToolInput) or ToolInput()
        command = given.cmd if given.cmd is not None else given.command
        text = command if kind == "command" else given.path
        exact = Rule(asked.tool, text if text is not None else arguments_of(asked.input))
        path = given.path if kind in ("edit", "read") else None
        diff = _asked_diff(asked.tool, given) if path else None
        # The question and the message with its call come over two lines: either may be first.
        keys = conversation.calls.get(asked.tool_use_id or "")
        return Ask(
            asked.tool,
            asked.input,
            kind,
            keys[0] if keys else asked.tool_use_id,
            (path,) if path else None,
            diff,
            needs=(exact,),
            # "Always" is this very command, but any file and any input of another tool.
            always=(exact,) if kind == "command" else (Rule(asked.tool),),
        )

    # -- how it is done

    def _begin(self, start: Start) -> AmpConversation:
        self._conversation = AmpConversation(self, start)
        return self._conversation

    def _recorded(self, settings: Settings, native_id: str | None) -> AmpConversation:
        assert self.recorded_start is not None
        return self._begin(self.recorded_start(settings, native_id))

    def _of(self, conversation: Conversation) -> AmpConversation:
        assert isinstance(conversation, AmpConversation)
        return conversation

    def _sub_agent_of(self, conversation: AmpConversation, call: str | None) -> str | None:
        if call is None:
            return None
        keys = conversation.calls.get(call) or [call]
        return conversation.scribe.call_item(keys[0])

    def _new_call_key(self, conversation: AmpConversation, native_id: str) -> str:
        for n in itertools.count(1):
            key = native_id if n == 1 else f"{native_id}#{n}"
            if conversation.scribe.call_item(key) is None:
                return key
        raise AssertionError("counting does not end")


# -- reading what Amp tells ---------------------------------------------------------------------


def _failure(message: str, result: Result) -> Failure:
    known = read_failure(message)
    return Failure(message, known.code, {"subtype": result.subtype, **(known.details or {})})


def _convert(value: object, kind: type[T]) -> T | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _read(text: str, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        return None


def _changes(tool: str, given: ToolInput, told: ToolOutput) -> list[ContentPart]:
    if given.path is None or KINDS.get(tool) != "edit":
        return []
    if tool == "create_file":
        return [FileRef(given.path, "write")]
    if tool == "delete_file":
        return [FileRef(given.path, "delete")]
    return [FileRef(given.path, "patch", diff=_unfenced(told.diff))]


def _unfenced(diff: str | None) -> str | None:
    """Amp shows a diff as a Markdown code block."""
    if not diff:
        return None
    body = re.sub(r"\A```\w*\n|\n?```\s*\Z", "", diff)
    return body if body.endswith("\n") else f"{body}\n"


def _asked_diff(tool: str, given: ToolInput) -> str | None:
    if tool != "edit_file" or given.path is None or given.old_str is None:
        return None
    return diff_of_texts(given.path, given.old_str, given.new_str or "") or None


def _image(conversation: Conversation, block: Block) -> Image | None:
    if block.type != "image" or block.source is None:
        return None
    data = bytes_in(block.source.data)
    return conversation.scribe.image(data, block.source.media_type) if data else None


def _read_image(conversation: Conversation, seen: ReadImage) -> Image | None:
    source = ImageSource(seen.image_info.mime_type, seen.content)
    return _image(conversation, Block("image", source=source))


def _attachments(conversation: Conversation, blocks: Iterable[Block]) -> tuple[Attachment, ...]:
    """Images of a prompt that we did not write: stored like those that agents make."""
    images = (_image(conversation, block) for block in blocks)
    return tuple(Attachment(image.path, image.mime) for image in images if image)
