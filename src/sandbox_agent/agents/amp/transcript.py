"""An Amp thread as a transcript: its messages, calls and results, and where its turns end."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import msgspec

from ...schema.events import QuestionRequested, StopReason, Usage
from ...schema.inputs import Attachment
from ...schema.items import ContentPart, Image, arguments_of
from ..base import Conversation, Ending, Start, Wire
from ..failures import Failure, read_failure
from ..files import bytes_in
from ..lenient import convert
from ..titles import title_of_call
from ..todos import entries_of, tell
from .frames import (
    Assistant,
    Block,
    ImageSource,
    Message,
    Question,
    ReadImage,
    Result,
    ResultBlock,
    ToolInput,
    ToolOutput,
    User,
    UserQuestions,
)
from .modes import ASK_USER
from .tools import ask_of, changes_of, kind_of, output_of, read

CANCELLED = "User cancelled"
SENTENCE_ENDS = (".", "!", "?", "…", "。", '"', ")", "`")
NOT_AWAITED = "the agent did not wait for the answer"


class AmpConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.ready = False
        self.echoes = 0
        """Prompts that Amp has yet to repeat as user messages."""
        self.messages = 0
        self.calls: dict[str, list[str]] = {}
        """Keys of the calls without a result, by Amp's id."""
        self.inputs: dict[str, tuple[str, ToolInput]] = {}
        """Tool and input of those calls, by key."""
        self.asking: dict[str, str] = {}
        """The calls whose questions are open."""
        self.usage: Usage | None = None

    @property
    def answers_old_message(self) -> bool:
        """A resumed thread begins with its last message if that was never answered, and only then reads ours."""
        return self.resumed and self.echoes > 0

    def end_turn(self, stop: StopReason) -> None:
        self.scribe.end_turn(stop, self.usage)
        self.usage = None

    def assistant(self, frame: Assistant) -> None:
        scribe = self.scribe
        message = frame.message
        inner = frame.parent_tool_use_id is not None
        parent = self._sub_agent_of(frame.parent_tool_use_id)
        if not inner:
            scribe.start_turn(source="agent")
        elif parent is None and scribe.turn is None:
            scribe.unknown(msgspec.to_builtins(frame))  # a sub-agent of a call we never saw
            return
        outlives_turn = parent is not None
        if message.usage and scribe.turn:
            spent = message.usage.universal()
            if not inner:
                spent += message.usage.context()
            self.usage = self.usage + spent if self.usage else spent
            scribe.spend(self.usage)
        self.messages += 1
        text_item: str | None = None
        for index, block in enumerate(message.blocks):
            key = f"{scribe.turn.id if scribe.turn else 'after'}/{self.messages}/{index}"
            match block.type:
                case "text":
                    item_id = scribe.end_text(key, block.text, parent=parent, outlives_turn=outlives_turn)
                    text_item = item_id or text_item
                case "thinking":
                    scribe.end_text(
                        key, block.thinking, parent=parent, thinking="public", outlives_turn=outlives_turn
                    )
                case "tool_use":
                    self._call(block, parent or text_item, outlives_turn)
                case "redacted_thinking":
                    pass  # it must not be shown
                case _:
                    scribe.unknown(msgspec.to_builtins(block))
        if not inner:
            self._end_of_turn(message)

    def _end_of_turn(self, message: Message) -> None:
        """A message without a call is the main agent's last."""
        if any(block.type == "tool_use" for block in message.blocks) or self.answers_old_message:
            return
        match message.stop_reason:
            case None:
                # Amp does not say why it stopped. Text that breaks off in mid-sentence was cut off; a refusal
                # is complete or empty.
                text = "".join(block.text for block in message.blocks if block.type == "text").rstrip()
                self.end_turn("refusal" if not text or text.endswith(SENTENCE_ENDS) else "max_tokens")
            case "max_tokens" | "refusal" as stop:
                self.end_turn(stop)
            case _:
                self.end_turn("end_turn")

    def _call(self, block: Block, parent: str | None, outlives_turn: bool) -> None:
        scribe = self.scribe
        key = self._new_call_key(block.id)
        self.calls.setdefault(block.id, []).append(key)
        self.inputs[key] = (block.name, convert(block.input, ToolInput) or ToolInput())
        scribe.end_call(
            key,
            block.name,
            arguments_of({} if block.input is None else block.input),
            kind=kind_of(block.name),
            title=title_of_call(block.name, block.input, kind_of(block.name)),
            call_id=block.id,
            parent=parent,
            outlives_turn=outlives_turn,
        )
        scribe.start_result(key)

    def user(self, frame: User) -> None:
        scribe = self.scribe
        for block in frame.message.blocks:
            if block.type == "tool_result":
                self._call_result(block)
        if frame.parent_tool_use_id is not None:
            return  # a sub-agent's prompt is already in the call that started it
        text = "".join(block.text for block in frame.message.blocks if block.type == "text")
        if not text and not any(block.type == "image" for block in frame.message.blocks):
            return
        if self.echoes:
            self.echoes -= 1
            return
        scribe.start_turn(source="agent")
        scribe.user_message(text, self.attachments(frame.message.blocks), source="agent")

    def _call_result(self, block: Block) -> None:
        scribe = self.scribe
        if block.tool_use_id not in self.calls and scribe.turn is None:
            return
        key = self._waiting_call(block.tool_use_id) or self._new_call_key(block.tool_use_id)
        tool, given = self.inputs.pop(key, ("", ToolInput()))
        if question := self.asking.pop(key, None):
            scribe.withdraw(question, "agent", NOT_AWAITED, source="agent")
        parts = block.content if isinstance(block.content, tuple) else ()
        text = block.content if isinstance(block.content, str) else "".join(part.text for part in parts)
        if tool == "create_file" and self.settings.permission_mode == "bypass":
            self._discard_late_snapshot(key, given)
        facts = read(text)
        result = convert(facts, ToolOutput) or ToolOutput()
        extra: list[ContentPart] = [] if block.is_error else changes_of(tool, given, result)
        extra += [image for part in parts if (image := self._image(part))]
        output = output_of(result) if result.output is not None else text
        if (seen := convert(facts, ReadImage)) and (image := self._read_image(seen)):
            extra.append(image)
            output = seen.path
        elif (blocks := convert(facts, tuple[ResultBlock, ...])) or (facts == [] and kind_of(tool) == "mcp"):
            extra += self._images(blocks or ())
            output = "\n".join(each.text for each in blocks or () if each.type == "text")
        scribe.result(key, output, exit_code=result.exit_code, extra=extra, failed=block.is_error)
        if tool == "todo_write" and not block.is_error and (entries := entries_of(given.todos)) is not None:
            tell(scribe, entries)

    def _discard_late_snapshot(self, key: str, given: ToolInput) -> None:
        """Amp did not wait until we had read the file, so a snapshot that begins like the new content may be
        too late.
        """
        changes, path = self.scribe.calls.changes, given.path or ""
        seen = changes.seen(key, path)
        if (
            seen is not None
            and seen.data is not None
            and (given.content or "").encode().startswith(seen.data)
        ):
            changes.discard(key, path)

    def finish(self, result: Result) -> Ending:
        """The process is about to end: at the end of its input, by an error, or by a signal."""
        scribe = self.scribe
        message = result.error or result.result or "the turn failed"
        cancelled = message.startswith(CANCELLED) or self.cancelling
        if result.is_error and not cancelled and self.answers_old_message:
            return Ending(self, unread=_failure(message, result))
        if cancelled and result.is_error:
            self.end_turn("interrupted")
        elif not result.is_error:
            self.end_turn("end_turn")
        else:
            if scribe.turn:
                failure = _failure(message, result)
                scribe.error(failure.message, failure.code, failure.details)
            self.end_turn("error")
        return Ending(self)

    def ask(self, key: str, asked: Question | UserQuestions) -> bool:
        """Ask on behalf of a call; False if the call belongs to an old turn."""
        # The question and the message with its call arrive over two channels, in either order.
        if isinstance(asked, UserQuestions):
            call = self._call_that_asks()
            if self._is_left_over(call):
                return False
            if call is not None:
                self.asking[call] = key
            self.scribe.question(key, asked.questions, call=call)
            return True
        id = asked.tool_use_id
        keys = self.calls.get(id or "")
        if self._is_left_over(keys[0] if keys else None):
            return False
        self.scribe.ask(key, ask_of(asked, keys[0] if keys else id and self._new_call_key(id)))
        return True

    def _is_left_over(self, call: str | None) -> bool:
        """A resumed process begins with the calls that had no result, and drops them when it reads our
        message.
        """
        return self.scribe.turn is None or (self.answers_old_message and call is None)

    def asks_user(self, key: str) -> bool:
        """Whether this key belongs to a question for the user, and not to a permission."""
        pending = self.scribe.pending.get(key)
        return pending is not None and isinstance(pending.requested, QuestionRequested)

    def _call_that_asks(self) -> str | None:
        """The oldest call of our question tool that does not wait for an answer yet: MCP does not say which
        call it is.
        """
        asks = (key for key, (tool, _) in self.inputs.items() if tool == ASK_USER)
        return next((key for key in asks if key not in self.asking), None)

    def attachments(self, blocks: Iterable[Block]) -> tuple[Attachment, ...]:
        """Images of a prompt that we did not write: stored like images that agents create."""
        images = (self._image(block) for block in blocks)
        return tuple(Attachment(image.path, image.mime) for image in images if image)

    def _image(self, block: Block) -> Image | None:
        if block.type != "image" or block.source is None:
            return None
        data = bytes_in(block.source.data)
        return self.scribe.image(data, block.source.media_type) if data else None

    def _images(self, blocks: Iterable[ResultBlock]) -> list[Image]:
        sources = (ImageSource(block.mime_type, block.data) for block in blocks if block.type == "image")
        images = (self._image(Block("image", source=source)) for source in sources)
        return [image for image in images if image]

    def _read_image(self, seen: ReadImage) -> Image | None:
        source = ImageSource(seen.image_info.mime_type, seen.content)
        return self._image(Block("image", source=source))

    def _sub_agent_of(self, call: str | None) -> str | None:
        if call is None:
            return None
        keys = self.calls.get(call) or [call]
        return self.scribe.call_item(keys[0])

    def _waiting_call(self, native_id: str) -> str | None:
        keys = self.calls.get(native_id, [])
        key = keys.pop(0) if keys else None
        if not keys:
            self.calls.pop(native_id, None)
        return key

    def _new_call_key(self, native_id: str) -> str:
        for n in itertools.count(1):
            key = native_id if n == 1 else f"{native_id}#{n}"
            if self.scribe.call_item(key) is None:
                return key
        raise AssertionError("unreachable: counting never ends")


def _failure(message: str, result: Result) -> Failure:
    failure = read_failure(message)
    return Failure(message, failure.code, {"subtype": result.subtype, **(failure.details or {})})
