"""A conversation with Pi as a transcript: its turns, messages and dialogs.

Messages have no ids and events no session, so everything depends on order: blocks belong to the last
`message_start`. Our turn lasts from the prompt to `agent_settled`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...schema.events import StopReason, Usage
from ...schema.items import Visibility
from ..base import Conversation, Start, Wire
from ..failures import Failure, read_failure
from . import frames as pi
from .calls import Calls
from .dialogs import METHODS, ask_for, asked, permission_in, plain_question, questions_in
from .reading import attachments_of, payload_of

STOPS: dict[str, StopReason] = {"length": "max_tokens", "aborted": "interrupted", "error": "error"}
REFUSALS = {"refusal", "content_filter", "sensitive"}


class PiConversation(Conversation):
    """The state kept between lines."""

    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.ready = False
        self.active = False
        """Between `agent_start` and `agent_settled`."""
        self.compacting = False
        """The turn exists only to compact, and ends with that."""
        self.echoes = 0
        """Prompts that Pi has yet to repeat as user messages."""
        self.queued: list[str] = []
        """Messages that a client sent into a running turn (steer, follow-up); each becomes an item when Pi
        delivers it.
        """
        self.queue: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        """Pi's own queue, as last reported."""
        self.calls = Calls(self)
        self.message = 0
        self.blocks: dict[int, str] = {}
        """Keys of the announced blocks of the current message, by index."""
        self.texts: dict[int, str] = {}
        """Item ids of its text blocks, by index."""
        self.ended: dict[int, pi.Update] = {}
        """How its last blocks ended: a failed message may show that they were cut off."""
        self.model: pi.NativeModel | None = None
        self.forget_turn()

    def works_with(self, model: pi.NativeModel | None) -> None:
        if model and (name := model.full_name):
            self.model = model
            self.scribe.uses(model=name)

    def _context_of(self, message: pi.Message) -> Usage | None:
        """How full the context is after a model call; a call that was cut short does not say."""
        if message.usage is None or not (tokens := message.usage.total()):
            return None
        model = self.model
        same = model is not None and (model.provider, model.id) == (message.provider, message.model)
        return Usage(context_tokens=tokens, context_window=model.context_window if model and same else None)

    def forget_turn(self) -> None:
        self.usage: Usage | None = None
        self.stop: StopReason = "end_turn"
        self.failure: Failure | None = None
        self.is_failure_reported = False
        self.compaction_failed = False

    def spend(self, usage: pi.NativeUsage | None) -> None:
        spent = usage.universal() if usage else None
        if spent and self.scribe.turn:
            self.usage = self.usage + spent if self.usage else spent
            self.scribe.spend(self.usage)

    # -- events

    def event(self, message: pi.AnyFrame, frame: bytes) -> None:
        scribe = self.scribe
        match message:
            case pi.SessionHeader(id):
                self.native_id = id
            case pi.AgentStart():
                self.active = True
                scribe.start_turn(source="agent")
                scribe.status("pi.agent_start")
            case pi.TurnStart():
                scribe.status("pi.turn_start")
            case pi.TurnEnd():
                scribe.status("pi.turn_end")
            case pi.AgentEnd(will_retry):
                scribe.status("pi.agent_end")
                if will_retry is None:
                    self._settle(aborted=False)
            case pi.AgentSettled(aborted):
                self._settle(aborted)
            case pi.QueueUpdate(steering, follow_up):
                # Emptying an empty queue, as every cancel does, is reported as well.
                if (steering, follow_up) != self.queue:
                    self.queue = (steering, follow_up)
                    scribe.status("pi.queue_update", {"steering": steering, "follow_up": follow_up})
            case pi.SessionInfoChanged(name):
                scribe.uses(title=name)
                scribe.status("title", {"title": name}, name)
            case pi.ThinkingLevelChanged(level):
                scribe.status("session", {"variant": level})
            case pi.CompactionStart():
                scribe.status("compaction", payload_of(frame), "started")
            case pi.CompactionEnd():
                self._compacted(message)
            case pi.AutoRetryStart() | pi.SummarizationRetryScheduled() | pi.AutoRetryEnd():
                scribe.status("retry", payload_of(frame), message.detail)
            case pi.SummarizationRetryStart():
                scribe.status("retry", payload_of(frame), "started")
            case pi.SummarizationRetryFinished():
                scribe.status("retry", payload_of(frame), "ended")
            case pi.ExtensionError(path, event, error):
                scribe.error(error, "agent_error", {"extension": path, "event": event})
            case pi.EntryAppended() | pi.BashExecutionUpdate():
                pass

    def tool(self, frame: pi.ToolStart | pi.ToolUpdate | pi.ToolEnd) -> None:
        match frame:
            case pi.ToolStart():
                self.scribe.start_turn(source="agent")
                self.calls.start(frame)
            case pi.ToolUpdate():
                self.calls.update(frame)
            case pi.ToolEnd() if self.scribe.turn:
                self.calls.end(frame)

    def refuse(self, response: pi.Response) -> None:
        failure = read_failure(response.error or f"{response.command} was refused")
        code = "invalid_request" if failure.code == "agent_error" else failure.code
        self.scribe.error(failure.message, code, {"command": response.command})

    def end_without_model_call(self, stop: StopReason) -> None:
        """No model call follows this prompt, unless an extension has begun one of its own."""
        self.echoes = max(0, self.echoes - 1)
        if not self.active:
            self.scribe.end_turn(stop, self.usage)
            self.forget_turn()

    def compacted(self, response: pi.Response) -> None:
        """The compaction that the turn was begun for is done, or was refused."""
        self.compacting = False
        stop: StopReason = "end_turn"
        if not response.success:
            stop = "interrupted" if self.cancelling else "error"
            if stop == "error" and not self.compaction_failed:
                self.refuse(response)
        self.scribe.end_turn(stop, self.usage)
        self.forget_turn()

    def _settle(self, aborted: bool) -> None:
        scribe = self.scribe
        # An abort during a tool or a retry leaves an error behind that does not count.
        cancelled = aborted or (self.cancelling and self.stop == "error")
        stop = "interrupted" if cancelled else self.stop
        failure = self.failure
        if failure and stop in ("error", "refusal") and not self.is_failure_reported and scribe.turn:
            scribe.error(failure.message, failure.code, failure.details)
        scribe.end_turn(stop, self.usage)
        self.active = False
        self.echoes = 0
        self.calls.clear()
        self.forget_turn()

    def _compacted(self, end: pi.CompactionEnd) -> None:
        result = end.result
        facts: dict[str, Any] = {"reason": end.reason, "aborted": end.aborted, "willRetry": end.will_retry}
        if result:
            self.spend(result.usage)
            facts["tokensBefore"] = result.tokens_before
            facts["estimatedTokensAfter"] = result.estimated_tokens_after
            facts["summary"] = result.summary
        self.scribe.status("compaction", facts, "aborted" if end.aborted else "ended")
        if end.error_message and not end.aborted:
            failure = read_failure(end.error_message)
            self.is_failure_reported = self.failure is not None
            self.compaction_failed = True
            self.scribe.error(failure.message, failure.code, failure.details)

    def dialog(self, dialog: pi.Dialog, frame: bytes) -> None:
        """An extension asks or notifies."""
        scribe, calls = self.scribe, self.calls
        if dialog.method not in METHODS:
            payload = msgspec.json.decode(frame)
            facts = {name: value for name, value in payload.items() if name not in ("type", "id", "method")}
            scribe.status(f"pi.{dialog.method}", facts, dialog.message or None)
            return
        if dialog.id in scribe.pending:
            return
        if permission := permission_in(dialog):
            call = calls.key_of(permission.tool_call_id)
            scribe.ask(dialog.id, ask_for(permission, call or permission.tool_call_id))
        elif question := questions_in(dialog):
            call = calls.key_of(question.tool_call_id)
            scribe.question(dialog.id, (asked(each) for each in question.questions), call=call)
        else:
            call = None
            scribe.question(dialog.id, (plain_question(dialog),))
        calls.dialogs[dialog.id] = dialog
        calls.wait_for(call, dialog)

    # -- messages

    def handle_message(self, frame: pi.MessageStart | pi.MessageUpdate | pi.MessageEnd) -> None:
        match frame:
            case pi.MessageUpdate(update):
                self._update(update)
            case pi.MessageStart(pi.Message("assistant")):
                self._start_message()
            case pi.MessageEnd(pi.Message("assistant") as message):
                self._end_message(message)
            case pi.MessageEnd(pi.Message("user") as message):
                self._user_message(message)
            case pi.MessageEnd(pi.Message("toolResult", usage=usage)):
                self.spend(usage)  # the cost of a tool's own model calls; its result came before
            case pi.MessageEnd(pi.Message("custom" | "bashExecution" | "branchSummary" as role) as message):
                shown = message.text or message.summary or message.output or ""
                facts = {"role": role, "customType": message.custom_type, "command": message.command}
                given = {name: value for name, value in facts.items() if value is not None}
                self.scribe.status("injected", {**given, "text": shown}, message.custom_type or role)
            case pi.MessageEnd(pi.Message("system" | "compactionSummary")):
                pass  # the prompt for Pi's own model, and what `compaction_end` has already reported
            case pi.MessageEnd(message):
                self.scribe.unknown(msgspec.to_builtins(message))

    def _start_message(self) -> None:
        self.scribe.start_turn(source="agent")
        self._next_message()

    def _update(self, update: pi.Update) -> None:
        scribe = self.scribe
        scribe.start_turn(source="agent")
        index = update.content_index
        match update.type:
            case "text_delta" | "thinking_delta":
                thinking: Visibility | None = "public" if update.type == "thinking_delta" else None
                item_id = scribe.text(self._block_key(index), update.delta, thinking=thinking)
                if item_id and not thinking:
                    self.texts[index] = item_id
            case "text_start" | "thinking_start":
                self._close_ended()
            case "text_end" | "thinking_end":
                self.ended[index] = update
            case "toolcall_start":
                self._close_ended()
                self._call(index, update.id, update.tool_name)
            case "toolcall_delta":
                if index in self.blocks:
                    scribe.call_delta(self.blocks[index], update.delta)
            case "toolcall_end":
                if update.tool_call:
                    self._end_call(index, update.tool_call)
            case "start" | "done" | "error":
                pass  # covered by the message's own start and end
            case _:
                scribe.unknown(msgspec.to_builtins(update))

    def _close_ended(self) -> None:
        """Another block begins, so those that ended are complete."""
        scribe = self.scribe
        waiting: dict[int, pi.Update] = {}
        for index, end in self.ended.items():
            key = self._block_key(index)
            if end.type == "text_end":
                if item_id := scribe.end_text(key, end.content):
                    self.texts[index] = item_id
            elif scribe.text(key, "") is None:
                # Nothing was streamed: only the whole message shows whether it is redacted.
                waiting[index] = end
            else:
                scribe.end_text(key, end.content, thinking="public")
        self.ended = waiting

    def _end_message(self, message: pi.Message) -> None:
        scribe = self.scribe
        scribe.start_turn(source="agent")
        self.spend(message.usage)
        if self.usage and (context := self._context_of(message)):
            self.usage += context
        failed = message.stop_reason in ("error", "aborted")
        last = len(message.blocks) - 1
        for index, block in enumerate(message.blocks):
            # Blocks follow one another, so only the last block of a message can be cut off.
            cut = failed and index == last
            key = self._block_key(index)
            match block.type:
                case "text":
                    if item_id := scribe.end_text(key, block.text, failed=cut):
                        self.texts[index] = item_id
                case "thinking":
                    visibility: Visibility = "private" if block.redacted else "public"
                    scribe.end_text(key, block.thinking, thinking=visibility, failed=cut)
                case "toolCall":
                    self._end_call(index, block)
        self._close_message(failed)
        self._note_stop(message)
        self._next_message()  # anything that follows belongs to another message

    def _close_message(self, failed: bool) -> None:
        """Blocks missing from the final message were abandoned; calls of a failed one do not run."""
        scribe = self.scribe
        prefix = self._message_key()
        for key in scribe.open_text_keys():
            if key.startswith(prefix):
                scribe.abandon(key)
        if failed:
            for key in self.blocks.values():
                self.calls.give_up(key)

    def _note_stop(self, message: pi.Message) -> None:
        self.stop = STOPS.get(message.stop_reason or "", "end_turn")
        self.failure = None
        if message.stop_reason == "error":
            failure = read_failure(message.error_message or "the model call failed")
            if message.raw_stop_reason in REFUSALS:
                self.stop = "refusal"
                failure = Failure(failure.message, "refusal", failure.details)
            self.failure = failure

    def _user_message(self, message: pi.Message) -> None:
        scribe = self.scribe
        pictures = [block for block in message.blocks if block.type == "image"]
        if message.text in self.queued:
            self.queued.remove(message.text)
            scribe.start_turn(source="agent")
            scribe.user_message(message.text, attachments_of(self, pictures))
        elif self.echoes:
            self.echoes -= 1
        elif message.text or pictures:
            scribe.start_turn(source="agent")
            scribe.user_message(message.text, attachments_of(self, pictures), source="agent")

    def _call(self, index: int, native_id: str, name: str) -> str:
        """Announce the call in this block, once; returns its key."""
        if key := self.blocks.get(index):
            return key
        before = [place for place in self.texts if place < index]
        parent = self.texts[max(before)] if before else None
        self.blocks[index] = self.calls.announce(native_id, self._block_key(index), name, parent)
        return self.blocks[index]

    def _end_call(self, index: int, call: pi.Block) -> None:
        self.calls.end_call(self._call(index, call.id, call.name), call)

    def _next_message(self) -> None:
        self.message += 1
        self.blocks = {}
        self.texts = {}
        self.ended = {}

    def _block_key(self, index: int) -> str:
        return f"{self._message_key()}{index}"

    def _message_key(self) -> str:
        # A turn's id is unique in its session, even if another process continues it.
        turn = self.scribe.turn
        return f"{turn.id if turn else 'no turn'}/{self.message}/"
