"""Pi's rpc mode (JSON lines) as a wire: one process, one conversation.

Messages have no ids and events no session, so everything hangs on order: the blocks of a message on the last `message_start`,
the results on call ids that models repeat. Our turn lasts from the prompt to `agent_settled`; permissions and questions come as
dialogs of our extension (`extension.ts`), whose titles carry JSON.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ...schema.events import StopReason, Usage
from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.items import ContentPart, Visibility, arguments_of
from ...schema.world import World
from ..base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Conversation,
    Decided,
    Files,
    Listed,
    ListFailed,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wire,
)
from ..failures import Failure, read_failure
from ..files import images_in, mime_of
from ..frames import InFrame
from . import frames as pi
from .dialogs import (
    KINDS,
    METHODS,
    answer_in,
    answer_reply,
    ask_for,
    asked,
    decision_in,
    decision_reply,
    permission_in,
    plain_question,
    questions_in,
)
from .reading import (
    added,
    attachments_of,
    catalogue_of,
    changes_of,
    convert,
    image_of,
    or_empty,
    payload_of,
    read,
)

STOPS: dict[str, StopReason] = {"length": "max_tokens", "aborted": "interrupted", "error": "error"}
REFUSALS = {"refusal", "content_filter", "sensitive"}


class Running(Struct):
    """A call that is being executed: what `tool_execution_end` does not repeat, and how much output we have shown."""

    arguments: pi.ToolArguments
    shown: str = ""


class PiConversation(Conversation):
    """What must be remembered between lines."""

    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.ready = False
        self.active = False
        """Between `agent_start` and `agent_settled`."""
        self.echoes = 0
        """Prompts that Pi has yet to repeat as user messages."""
        self.queued: list[str] = []
        """What a client sent into a running turn (steer, follow-up); it becomes an item when Pi delivers it."""
        self.queue: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        """Pi's own queue, as it last told."""
        self.dialogs: dict[str, pi.Dialog] = {}
        self.asking: dict[str, str] = {}
        """The dialog that a call waits for, by the call's key."""
        self.running: dict[str, Running] = {}
        self.calls: dict[str, list[str]] = {}
        """Keys of the calls that have no result yet, by Pi's id: models repeat ids."""
        self.message = 0
        self.blocks: dict[int, str] = {}
        """Keys of the current message's blocks that were announced, by their index."""
        self.texts: dict[int, str] = {}
        """Item ids of its text blocks, likewise."""
        self.ended: dict[int, pi.Update] = {}
        """How its last blocks ended: a message that fails may still show them to be cut off."""
        self.forget_turn()

    def forget_turn(self) -> None:
        self.usage: Usage | None = None
        self.stop: StopReason = "end_turn"
        self.failure: Failure | None = None
        self.failure_told = False

    def spend(self, usage: pi.NativeUsage | None) -> None:
        spent = usage.universal() if usage else None
        if spent and self.scribe.turn:
            self.usage = self.usage + spent if self.usage else spent


class PiWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversation: PiConversation | None = None
        self._request_ids = (f"sa{n}" for n in itertools.count(1))
        self._listing: set[str] = set()
        self._state: pi.State | None = None

    def conversations(self) -> Iterable[Conversation]:
        return () if self._conversation is None else (self._conversation,)

    # -- commands

    def open(self, start: Start) -> Conversation:
        conversation = self._begin(start)
        self.send(pi.GetState(next(self._request_ids)))
        return conversation

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        self._of(conversation).echoes += 1
        images: list[pi.Picture] = []
        paths: list[str] = []
        for file in prompt.attachments:
            if (data := files.get(file.path)) is not None:
                images.append(pi.Picture(base64.b64encode(data).decode(), mime_of(file) or ""))
            else:
                paths.append(file.path)
        message = prompt.text
        if paths:
            message += "\n\nAttached files:\n" + "\n".join(f"- {path}" for path in paths)
        self.send(pi.PromptCommand(message, next(self._request_ids), tuple(images)))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self._of(conversation).dialogs.pop(key, None)
        self.send(decision_reply(key, decision))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        if dialog := self._of(conversation).dialogs.pop(key, None):
            self.send(answer_reply(dialog, answer))

    def cancel(self, conversation: Conversation) -> None:
        # Pi goes on with what extensions have queued unless the queue is emptied first.
        self.send(pi.ClearQueue(next(self._request_ids)))
        self.send(pi.Abort(next(self._request_ids)))
        # An extension that does not watch for the abort would wait for its answer, and the turn with it.
        for key in self._of(conversation).dialogs:
            self.send(pi.DialogReply(key, cancelled=True))

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        before = conversation.settings
        if settings.mcp != before.mcp or settings.directory != before.directory:
            return False
        new_model = settings.model != before.model
        provider, slash, model = (settings.model or "").partition("/")
        if new_model and not slash:
            return False  # Pi finds a model by half its name only when it starts
        if (new_model or settings.variant != before.variant) and settings.variant is None and before.variant:
            return False
        if new_model:
            self.send(pi.SetModel(provider, model, next(self._request_ids)))
        if settings.variant and (new_model or settings.variant != before.variant):
            self.send(pi.SetThinkingLevel(settings.variant, next(self._request_ids)))
        conversation.settings = settings
        return True

    def list_catalogue(self, directory: str) -> None:
        state, models = next(self._request_ids), next(self._request_ids)
        self._listing = {state, models}
        self.send(pi.GetState(state))
        self.send(pi.GetModels(models))

    # -- recordings

    def launched(self, argv: list[str]) -> Iterator[Action]:
        options = dict(itertools.pairwise(argv))
        settings = Settings("", "default", model=options.get("--model"), variant=options.get("--thinking"))
        yield Began(self._recorded(settings, options.get("--session-id") or options.get("--session")))

    def sent(self, frame: bytes) -> Iterator[Action]:
        conversation = self._conversation
        if conversation is None:
            conversation = self._recorded(Settings("", "default"), None)
            yield Began(conversation)
        match pi.decode_command(frame):
            case pi.PromptCommand(message, _, images, behavior):
                if behavior and (conversation.active or conversation.echoes):
                    conversation.queued.append(message)
                else:
                    conversation.echoes += 1
                    pictures = (pi.Block("image", data=one.data, mime_type=one.mime_type) for one in images)
                    yield Prompted(conversation, Prompt(message, attachments_of(conversation, pictures)))
            case pi.Steer(message) | pi.FollowUp(message):
                conversation.queued.append(message)
            case pi.ClearQueue():
                conversation.queued.clear()
            case pi.Abort():
                yield Cancelled(conversation)
            case pi.DialogReply(cancelled=True) if conversation.cancelling:
                pass  # part of the cancel: Pi's own end of the call or the turn resolves it
            case pi.DialogReply() as reply if dialog := conversation.dialogs.pop(reply.id, None):
                if permission_in(dialog):
                    yield Decided(conversation, reply.id, decision_in(reply))
                else:
                    yield Answered(conversation, reply.id, answer_in(dialog, reply))

    # -- lines

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        message = pi.decode(frame)
        if isinstance(message, pi.Response) and message.id in self._listing:
            self._list(message)
            return
        conversation = self._conversation
        if conversation is None:
            if self.recorded_start is None:
                return  # the process was started to list models: there is nobody to tell
            conversation = self._recorded(Settings("", "default"), None)
            conversation.announce("daemon")
        match message:
            case None:
                conversation.scribe.unknown(msgspec.json.decode(frame))
            case pi.Response():
                self._response(conversation, message)
            case pi.MessageStart() | pi.MessageUpdate() | pi.MessageEnd():
                self._message(conversation, message)
            case pi.ToolStart() | pi.ToolUpdate() | pi.ToolEnd():
                self._tool(conversation, message)
            case pi.Dialog():
                self._dialog(conversation, message, frame)
            case _:
                self._event(conversation, message, frame)

    def _event(self, conversation: PiConversation, message: pi.AnyFrame, frame: bytes) -> None:
        scribe = conversation.scribe
        match message:
            case pi.SessionHeader(id):
                conversation.native_id = id
            case pi.AgentStart():
                conversation.active = True
                scribe.start_turn(source="agent")
                scribe.status("pi.agent_start")
            case pi.TurnStart():
                scribe.status("pi.turn_start")
            case pi.TurnEnd():
                scribe.status("pi.turn_end")
            case pi.AgentEnd(will_retry):
                scribe.status("pi.agent_end")
                if will_retry is None:
                    self._settle(conversation, aborted=False)
            case pi.AgentSettled(aborted):
                self._settle(conversation, aborted)
            case pi.QueueUpdate(steering, follow_up):
                # Emptying an empty queue, as every cancel does, is reported too.
                if (steering, follow_up) != conversation.queue:
                    conversation.queue = (steering, follow_up)
                    scribe.status("pi.queue_update", {"steering": steering, "follow_up": follow_up})
            case pi.SessionInfoChanged(name):
                scribe.status("title", {"title": name}, name)
            case pi.ThinkingLevelChanged(level):
                scribe.status("session", {"variant": level})
            case pi.CompactionStart():
                scribe.status("compaction", payload_of(frame), "started")
            case pi.CompactionEnd():
                self._compacted(conversation, message)
            case pi.AutoRetryStart() | pi.SummarizationRetryScheduled() | pi.SummarizationRetryStart():
                scribe.status("retry", payload_of(frame), "started")
            case pi.AutoRetryEnd() | pi.SummarizationRetryFinished():
                scribe.status("retry", payload_of(frame), "ended")
            case pi.ExtensionError(path, event, error):
                scribe.error(error, "agent_error", {"extension": path, "event": event})
            case pi.EntryAppended() | pi.BashExecutionUpdate():
                pass

    def _response(self, conversation: PiConversation, response: pi.Response) -> None:
        match response.command:
            case "get_state" if response.success:
                self._opened(conversation, msgspec.json.decode(response.data, type=pi.State))
            case "get_state" if not conversation.ready:
                text = response.error or "the agent did not tell its state"
                self.notices.append(StartFailed(conversation, text))
            case "prompt" if response.success:
                accepted = read(response.data, pi.Accepted) or pi.Accepted()
                if accepted.disposition == "handled":
                    self._end_unheard(conversation, "end_turn")
            case "prompt":
                self._refuse(conversation, response)
                if not conversation.active:
                    self._end_unheard(conversation, "error")
                else:
                    conversation.echoes = max(0, conversation.echoes - 1)
            case "steer" | "follow_up" | "set_model" | "set_thinking_level" if not response.success:
                self._refuse(conversation, response)

    def _opened(self, conversation: PiConversation, state: pi.State) -> None:
        gone = conversation.resumed and state.message_count == 0 and not conversation.ready
        if gone and self.recorded_start is None:
            # Asked for a session that it does not have, Pi makes an empty one of that name.
            text = "the agent does not know this conversation any more"
            self.notices.append(StartFailed(conversation, text, gone=True))
            return
        conversation.native_id = state.session_id
        if not conversation.ready:
            conversation.ready = True
            self.notices.append(Ready(conversation))

    def _refuse(self, conversation: PiConversation, response: pi.Response) -> None:
        failure = read_failure(response.error or f"{response.command} was refused")
        code = "invalid_request" if failure.code == "agent_error" else failure.code
        conversation.scribe.error(failure.message, code, {"command": response.command})

    def _end_unheard(self, conversation: PiConversation, stop: StopReason) -> None:
        """No model call follows this prompt, unless an extension has begun one of its own."""
        conversation.echoes = max(0, conversation.echoes - 1)
        if not conversation.active:
            conversation.scribe.end_turn(stop, conversation.usage)
            conversation.forget_turn()

    def _settle(self, conversation: PiConversation, aborted: bool) -> None:
        scribe = conversation.scribe
        # An abort in the middle of a tool or a retry leaves an error behind that is none.
        cancelled = aborted or (conversation.cancelling and conversation.stop == "error")
        stop = "interrupted" if cancelled else conversation.stop
        failure = conversation.failure
        if failure and stop in ("error", "refusal") and not conversation.failure_told and scribe.turn:
            scribe.error(failure.message, failure.code, failure.details)
        scribe.end_turn(stop, conversation.usage)
        conversation.active = False
        conversation.echoes = 0
        conversation.calls.clear()
        conversation.running.clear()
        conversation.dialogs.clear()
        conversation.asking.clear()
        conversation.forget_turn()

    def _compacted(self, conversation: PiConversation, end: pi.CompactionEnd) -> None:
        result = end.result
        facts: dict[str, Any] = {"reason": end.reason, "aborted": end.aborted, "willRetry": end.will_retry}
        if result:
            conversation.spend(result.usage)
            facts["tokensBefore"] = result.tokens_before
            facts["estimatedTokensAfter"] = result.estimated_tokens_after
            facts["summary"] = result.summary
        conversation.scribe.status("compaction", facts, "aborted" if end.aborted else "ended")
        if end.error_message and not end.aborted:
            failure = read_failure(end.error_message)
            conversation.failure_told = conversation.failure is not None
            conversation.scribe.error(failure.message, failure.code, failure.details)

    # -- messages

    def _message(
        self, conversation: PiConversation, frame: pi.MessageStart | pi.MessageUpdate | pi.MessageEnd
    ) -> None:
        match frame:
            case pi.MessageUpdate(update):
                self._update(conversation, update)
            case pi.MessageStart(pi.Message("assistant")):
                self._start_message(conversation)
            case pi.MessageEnd(pi.Message("assistant") as message):
                self._end_message(conversation, message)
            case pi.MessageEnd(pi.Message("user") as message):
                self._user_message(conversation, message)
            case pi.MessageEnd(pi.Message("toolResult", usage=usage)):
                conversation.spend(usage)  # what a tool's own model calls cost; its result came before
            case pi.MessageEnd(pi.Message("custom" | "bashExecution" | "branchSummary" as role) as message):
                shown = message.text or message.summary or message.output or ""
                facts = {"role": role, "customType": message.custom_type, "command": message.command}
                told = {name: value for name, value in facts.items() if value is not None}
                conversation.scribe.status("injected", {**told, "text": shown}, message.custom_type or role)
            case pi.MessageEnd(pi.Message("system" | "compactionSummary")):
                pass  # the prompt Pi gives its model, and what `compaction_end` told already
            case pi.MessageEnd(message):
                conversation.scribe.unknown(msgspec.to_builtins(message))

    def _start_message(self, conversation: PiConversation) -> None:
        conversation.scribe.start_turn(source="agent")
        conversation.message += 1
        conversation.blocks = {}
        conversation.texts = {}
        conversation.ended = {}

    def _update(self, conversation: PiConversation, update: pi.Update) -> None:
        scribe = conversation.scribe
        scribe.start_turn(source="agent")
        index = update.content_index
        match update.type:
            case "text_delta" | "thinking_delta":
                thinking: Visibility | None = "public" if update.type == "thinking_delta" else None
                item_id = scribe.text(self._block_key(conversation, index), update.delta, thinking=thinking)
                if item_id and not thinking:
                    conversation.texts[index] = item_id
            case "text_start" | "thinking_start":
                self._close_ended(conversation)
            case "text_end" | "thinking_end":
                conversation.ended[index] = update
            case "toolcall_start":
                self._close_ended(conversation)
                self._call(conversation, index, update.id, update.tool_name)
            case "toolcall_delta":
                if index in conversation.blocks:
                    scribe.call_delta(conversation.blocks[index], update.delta)
            case "toolcall_end":
                if update.tool_call:
                    self._end_call(conversation, index, update.tool_call)
            case "start" | "done" | "error":
                pass  # the message's own start and end say this
            case _:
                scribe.unknown(msgspec.to_builtins(update))

    def _close_ended(self, conversation: PiConversation) -> None:
        """Another block begins, so the ones that ended are whole."""
        scribe = conversation.scribe
        waiting: dict[int, pi.Update] = {}
        for index, end in conversation.ended.items():
            key = self._block_key(conversation, index)
            if end.type == "text_end":
                if item_id := scribe.end_text(key, end.content):
                    conversation.texts[index] = item_id
            elif scribe.text(key, "") is None:
                waiting[index] = (
                    end  # nothing was streamed: only the whole message tells whether it is redacted
                )
            else:
                scribe.end_text(key, end.content, thinking="public")
        conversation.ended = waiting

    def _end_message(self, conversation: PiConversation, message: pi.Message) -> None:
        scribe = conversation.scribe
        scribe.start_turn(source="agent")
        conversation.spend(message.usage)
        failed = message.stop_reason in ("error", "aborted")
        last = len(message.blocks) - 1
        for index, block in enumerate(message.blocks):
            # Blocks follow one another: when a message is cut off, it is its last block that is not whole.
            cut = failed and index == last
            key = self._block_key(conversation, index)
            match block.type:
                case "text":
                    if item_id := scribe.end_text(key, block.text, failed=cut):
                        conversation.texts[index] = item_id
                case "thinking":
                    visibility: Visibility = "private" if block.redacted else "public"
                    scribe.end_text(key, block.thinking, thinking=visibility, failed=cut)
                case "toolCall":
                    self._end_call(conversation, index, block)
        self._close_message(conversation, failed)
        self._note_stop(conversation, message)
        conversation.message += 1  # whatever follows belongs to another message
        conversation.blocks = {}
        conversation.texts = {}
        conversation.ended = {}

    def _close_message(self, conversation: PiConversation, failed: bool) -> None:
        """What the final message left out was given up; of a failed one no call is run."""
        scribe = conversation.scribe
        prefix = self._message_key(conversation)
        for key in scribe.open_text_keys():
            if key.startswith(prefix):
                scribe.abandon(key)
        if failed:
            for key in conversation.blocks.values():
                scribe.abandon_call(key)
                for waiting in conversation.calls.values():
                    if key in waiting:
                        waiting.remove(key)

    def _note_stop(self, conversation: PiConversation, message: pi.Message) -> None:
        conversation.stop = STOPS.get(message.stop_reason or "", "end_turn")
        conversation.failure = None
        if message.stop_reason == "error":
            failure = read_failure(message.error_message or "the model call failed")
            if message.raw_stop_reason in REFUSALS:
                conversation.stop = "refusal"
                failure = Failure(failure.message, "refusal", failure.details)
            conversation.failure = failure

    def _user_message(self, conversation: PiConversation, message: pi.Message) -> None:
        scribe = conversation.scribe
        pictures = [block for block in message.blocks if block.type == "image"]
        if message.text in conversation.queued:
            conversation.queued.remove(message.text)
            scribe.start_turn(source="agent")
            scribe.user_message(message.text, attachments_of(conversation, pictures))
        elif conversation.echoes:
            conversation.echoes -= 1
        elif message.text or pictures:
            scribe.start_turn(source="agent")
            scribe.user_message(message.text, attachments_of(conversation, pictures), source="agent")

    # -- tools

    def _call(self, conversation: PiConversation, index: int, native_id: str, name: str) -> str:
        """Announce the call in this block, once; returns its key."""
        if key := conversation.blocks.get(index):
            return key
        key = self._new_call_key(conversation, native_id or self._block_key(conversation, index))
        conversation.blocks[index] = key
        conversation.calls.setdefault(native_id, []).append(key)
        before = [place for place in conversation.texts if place < index]
        parent = conversation.texts[max(before)] if before else None
        conversation.scribe.call(key, name, call_id=native_id or None, parent=parent)
        return key

    def _end_call(self, conversation: PiConversation, index: int, call: pi.Block) -> None:
        key = self._call(conversation, index, call.id, call.name)
        waiting = conversation.calls.setdefault(call.id, [])
        if key not in waiting and conversation.scribe.has_open_call(key):
            waiting.append(key)  # its id was not known when it was announced
        conversation.scribe.end_call(key, call.name, arguments_of(or_empty(call.arguments)))

    def _tool(self, conversation: PiConversation, frame: pi.ToolStart | pi.ToolUpdate | pi.ToolEnd) -> None:
        scribe = conversation.scribe
        match frame:
            case pi.ToolStart(native_id, name, args):
                scribe.start_turn(source="agent")
                key = self._call_key(conversation, native_id) or self._nested_call(conversation, frame)
                scribe.end_call(key, name, arguments_of(or_empty(args)))
                scribe.start_result(key)
                arguments = convert(args, pi.ToolArguments) or pi.ToolArguments()
                conversation.running[key] = Running(arguments)
            case pi.ToolUpdate(native_id, partial):
                known = self._call_key(conversation, native_id)
                if known and (running := conversation.running.get(known)):
                    scribe.result_delta(known, added(running.shown, partial.text))
                    running.shown = partial.text
            case pi.ToolEnd() if scribe.turn:
                self._end_tool(conversation, frame)

    def _nested_call(self, conversation: PiConversation, start: pi.ToolStart) -> str:
        """A call that no message announced: a tool made it (`codemode` does)."""
        key = self._new_call_key(conversation, start.tool_call_id)
        conversation.calls.setdefault(start.tool_call_id, []).append(key)
        by = self._call_key(conversation, start.parent_tool_call_id or "")
        parent = conversation.scribe.call_item(by) if by else None
        conversation.scribe.call(key, start.tool_name, call_id=start.tool_call_id, parent=parent)
        return key

    def _end_tool(self, conversation: PiConversation, end: pi.ToolEnd) -> None:
        scribe = conversation.scribe
        key = self._call_key(conversation, end.tool_call_id)
        if key is None:
            key = self._nested_call(conversation, pi.ToolStart(end.tool_call_id, end.tool_name))
        conversation.calls[end.tool_call_id].remove(key)
        running = conversation.running.pop(key, Running(pi.ToolArguments()))
        if dialog := conversation.asking.pop(key, None):
            text = "the agent did not wait for the answer"
            conversation.dialogs.pop(dialog, None)
            if not scribe.decide(dialog, "reject", "agent", text, source="agent"):
                scribe.answer(dialog, None, "agent", text, source="agent")
        extra: list[ContentPart] = [] if end.is_error else changes_of(end, running.arguments)
        extra += [image for block in end.result.content if (image := image_of(conversation, block))]
        outcome = read(end.result.structured_content, pi.CommandOutcome)
        exit_code = outcome.exit_code if outcome and KINDS.get(end.tool_name) == "command" else None
        scribe.result(key, end.result.text, exit_code=exit_code, extra=extra, failed=end.is_error)

    # -- dialogs

    def _dialog(self, conversation: PiConversation, dialog: pi.Dialog, frame: bytes) -> None:
        scribe = conversation.scribe
        if dialog.method not in METHODS:
            payload = msgspec.json.decode(frame)
            told = {name: value for name, value in payload.items() if name not in ("type", "id", "method")}
            scribe.status(f"pi.{dialog.method}", told, dialog.message or None)
            return
        if dialog.id in scribe.pending:
            return
        conversation.dialogs[dialog.id] = dialog
        if permission := permission_in(dialog):
            call = self._call_key(conversation, permission.tool_call_id)
            if call:
                conversation.asking[call] = dialog.id
            scribe.ask(dialog.id, ask_for(permission, call or permission.tool_call_id))
        elif question := questions_in(dialog):
            call = self._call_key(conversation, question.tool_call_id)
            if call:
                conversation.asking[call] = dialog.id
            scribe.question(dialog.id, (asked(one) for one in question.questions), call=call)
        else:
            scribe.question(dialog.id, (plain_question(dialog),))

    # -- the catalogue

    def _list(self, response: pi.Response) -> None:
        assert response.id is not None
        self._listing.discard(str(response.id))
        if response.command == "get_state":
            self._state = read(response.data, pi.State)
        elif not response.success:
            self.notices.append(ListFailed(response.error or "the agent did not list its models"))
        else:
            listed = msgspec.json.decode(response.data, type=pi.Models)
            self.notices.append(Listed(catalogue_of(listed, self._state)))

    # -- how it is done

    def _begin(self, start: Start) -> PiConversation:
        self._conversation = PiConversation(self, start)
        return self._conversation

    def _recorded(self, settings: Settings, native_id: str | None) -> PiConversation:
        assert self.recorded_start is not None
        return self._begin(self.recorded_start(settings, native_id))

    def _of(self, conversation: Conversation) -> PiConversation:
        assert isinstance(conversation, PiConversation)
        return conversation

    def _message_key(self, conversation: PiConversation) -> str:
        # A turn's id is unique in its session, also when another process goes on with it.
        turn = conversation.scribe.turn
        return f"{turn.id if turn else 'no turn'}/{conversation.message}/"

    def _block_key(self, conversation: PiConversation, index: int) -> str:
        return f"{self._message_key(conversation)}{index}"

    def _call_key(self, conversation: PiConversation, native_id: str) -> str | None:
        return next(iter(conversation.calls.get(native_id, ())), None)

    def _new_call_key(self, conversation: PiConversation, native_id: str) -> str:
        for n in itertools.count(1):
            key = native_id if n == 1 else f"{native_id}#{n}"
            if conversation.scribe.call_item(key) is None:
                return key
        raise AssertionError("counting does not end")
