"""The scribe writes a session's events so that the rules of the contract hold, whatever the agent says.

Adapters tell it what they see in the agent's own words ("text for block 3", "call 7 has its result", "the
turn is over") under keys of their choice; the scribe opens, closes, pairs and numbers. It is pure: ids and
the clock are given to it, and what it writes waits in `drafts` until the log takes it.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from ..schema.events import (
    AgentUnparsed,
    AnyData,
    AskedQuestion,
    Choice,
    DecidedBy,
    ErrorCode,
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionMetadata,
    PermissionRequested,
    PermissionResolved,
    PermissionStatus,
    QuestionMetadata,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    SessionMetadata,
    SessionStarted,
    Source,
    Stderr,
    StopReason,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
    Usage,
)
from ..schema.ids import MakeId
from ..schema.inputs import Attachment, Rule
from ..schema.items import (
    ContentPart,
    FileRef,
    Image,
    Item,
    ItemStatus,
    Json,
    Kind,
    Reasoning,
    Role,
    StatusPart,
    Text,
    ToolCall,
    ToolResult,
    Visibility,
)

__all__ = ["Ask", "AskKind", "Draft", "Frame", "Pending", "Rule", "Scribe", "Turn"]

AskKind = Literal["edit", "command", "read", "other"]


class Frame:
    """The native frame that a wire is translating; every event it causes carries it as `raw`."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes: bytes | None = None


class Draft(Struct, frozen=True, gc=False):
    """An event before the log has given it sequence, id and time."""

    data: AnyData
    source: Source
    native_session_id: str | None
    raw: bytes | None


class Ask(Struct, frozen=True):
    """A permission an agent asks for."""

    action: str
    """The tool's native name."""
    input: Any
    kind: AskKind = "other"
    call: str | None = None
    """The key of the tool call it belongs to, if the agent says."""
    paths: tuple[str, ...] | None = None
    diff: str | None = None
    reason: str | None = None
    needs: tuple[Rule, ...] = ()
    """What must be covered by remembered rules for the answer to be given without asking."""
    always: tuple[Rule, ...] = ()
    """What an "always" remembers; `needs` when empty."""


class Pending(Struct):
    """A permission or a question that waits for its answer, under the adapter's key."""

    id: str
    key: str
    requested: PermissionRequested | QuestionRequested
    ask: Ask | None = None


class Turn(Struct):
    id: str
    began: float
    failed: bool = False
    """An `error` event was written in this turn: one failure is one event."""
    stop_reason: StopReason | None = None
    """Why we ended it ourselves, whatever the agent calls its end."""


class _OpenText:
    """A message or a thought that is being streamed."""

    __slots__ = ("chunks", "item_id", "native_id", "outlives_turn", "parent_id", "role", "visibility")

    def __init__(
        self,
        item_id: str,
        native_id: str | None,
        parent_id: str | None,
        role: Role,
        visibility: Visibility | None,
        outlives_turn: bool,
    ) -> None:
        self.item_id = item_id
        self.native_id = native_id
        self.parent_id = parent_id
        self.role = role
        self.visibility = visibility
        self.outlives_turn = outlives_turn
        self.chunks: list[str] = []

    def item(self, status: ItemStatus, text: str) -> Item:
        part = Text(text) if self.visibility is None else Reasoning(text, self.visibility)
        return Item(self.item_id, self.native_id, self.parent_id, "message", self.role, status, (part,))


class _OpenCall:
    """A tool call that has no result yet, and its result once that has begun."""

    __slots__ = (
        "call_id",
        "chunks",
        "completed",
        "item_id",
        "name",
        "native_id",
        "outlives_turn",
        "parent_id",
        "result_id",
    )

    def __init__(
        self,
        item_id: str,
        native_id: str | None,
        parent_id: str | None,
        name: str,
        call_id: str,
        outlives_turn: bool,
    ) -> None:
        self.item_id = item_id
        self.native_id = native_id
        self.parent_id = parent_id
        self.name = name
        self.call_id = call_id
        self.outlives_turn = outlives_turn
        self.chunks: list[str] = []  # fragments of the arguments; after completion, of the output
        self.completed = False
        self.result_id: str | None = None

    def call_item(self, status: ItemStatus, arguments: str) -> Item:
        part = ToolCall(self.name, arguments, self.call_id)
        return Item(self.item_id, self.native_id, self.parent_id, "tool_call", "assistant", status, (part,))

    def result_item(
        self, status: ItemStatus, output: str, exit_code: int | None, extra: tuple[ContentPart, ...]
    ) -> Item:
        assert self.result_id is not None
        part = ToolResult(self.call_id, output, exit_code)
        return Item(
            self.result_id,
            self.native_id,
            self.parent_id,
            "tool_result",
            "tool",
            status,
            (part, *extra),
        )


class Scribe:
    """Writes the events of one session."""

    def __init__(
        self,
        make_id: MakeId,
        clock: Callable[[], float],
        used_call_ids: Iterable[str] = (),
        image_folder: str = "",
    ) -> None:
        self.drafts: list[Draft] = []
        self.blobs: dict[str, bytes] = {}
        """Images to store beside the log before the drafts that name them."""
        self.new_call_ids: list[str] = []
        self.frame = Frame()
        self.native_session_id: str | None = None
        self.turn: Turn | None = None
        self.started = False
        self.ended = False
        self.pending: dict[str, Pending] = {}
        self._make_id = make_id
        self._clock = clock
        self._image_folder = image_folder
        self._used_call_ids = set(used_call_ids)
        self._texts: dict[str, _OpenText] = {}
        self._calls: dict[str, _OpenCall] = {}
        self._closed: dict[str, str] = {}  # key -> item id of what is complete

    # -- session and turn ---------------------------------------------------------------------

    def start_session(self, metadata: SessionMetadata, source: Source = "daemon") -> None:
        self.started = True
        self._write(SessionStarted(metadata), source)

    def end_session(
        self,
        reason: Literal["completed", "error", "terminated"],
        *,
        by: Source = "daemon",
        message: str | None = None,
        exit_code: int | None = None,
        stderr: Stderr | None = None,
    ) -> None:
        """End the session and all that is open in it. Nothing is written afterwards."""
        if self.ended:
            return
        if self.turn:
            self.end_turn("error" if reason == "error" else "interrupted", source="daemon")
        self.close_background()
        self._write(SessionEnded(reason, by, message, exit_code, stderr), by)
        self.ended = True

    def start_turn(
        self,
        turn_id: str | None = None,
        *,
        source: Source = "daemon",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Open a turn; one that is open already goes on."""
        if self.turn is None:
            self.turn = Turn(turn_id or self._make_id("turn"), self._clock())
            self._write(TurnStarted(self.turn.id, metadata=metadata), source)

    def end_turn(
        self,
        stop_reason: StopReason,
        usage: Usage | None = None,
        *,
        duration_ms: int | None = None,
        source: Source = "agent",
    ) -> None:
        """Close what the turn left open, then the turn. Without an open turn this does nothing."""
        turn = self.turn
        if turn is None:
            return
        for key in list(self.pending):
            self._reject_unanswered(key)
        self._fail_open(lambda item: not item.outlives_turn)
        if duration_ms is None:
            duration_ms = round((self._clock() - turn.began) * 1000)
        reason = turn.stop_reason or stop_reason
        self._write(TurnEnded(turn.id, TurnMetadata(reason, duration_ms, usage)), source)
        self.turn = None

    def crash(
        self, exit_code: int | None, signal: str | None, stderr: Stderr | None, message: str = ""
    ) -> None:
        """The agent's process is gone by itself: an error of the open turn, nothing between turns."""
        if self.turn:
            how = signal or f"exit code {exit_code}"
            details = {"exit_code": exit_code, "signal": signal, "stderr": stderr}
            self.error(
                message or f"the agent's process exited ({how})",
                "agent_process_exited",
                details,
                source="daemon",
            )
            self.end_turn("error", source="daemon")
        self.close_background()

    def close_background(self) -> None:
        """Close what may outlive a turn, because the process or the session ends."""
        for key in list(self.pending):
            self._reject_unanswered(key)
        self._fail_open(lambda item: True)

    # -- messages and thinking ----------------------------------------------------------------

    def user_message(
        self,
        text: str,
        attachments: Iterable[Attachment] = (),
        *,
        native_id: str | None = None,
        parent: str | None = None,
        source: Source = "daemon",
    ) -> None:
        """A prompt: started, given its full delta and completed at once."""
        parts: list[ContentPart] = [Text(text)] if text else []
        for file in attachments:
            mime = file.mime or mimetypes.guess_type(file.path)[0]
            is_image = mime is not None and mime.startswith("image/")
            parts.append(Image(file.path, mime) if is_image else FileRef(file.path, "read"))
        if not parts:
            return  # an empty prompt is no message
        item_id = self._make_id("itm")
        self._start(item_id, native_id, parent, "message", "user", (), source)
        if text:
            self._write(ItemDelta(item_id, native_id, text), source)
        self._complete(Item(item_id, native_id, parent, "message", "user", "completed", tuple(parts)), source)

    def text(
        self,
        key: str,
        delta: str,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        thinking: Visibility | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """Stream text (or thinking) of the item under this key; the first text opens it. Returns the item's id.

        Empty text opens nothing, and a key that was closed stays closed.
        """
        open_text = self._texts.get(key)
        if open_text is None:
            if not delta or key in self._closed:
                return self._closed.get(key)
            open_text = self._open_text(key, native_id, parent, thinking, outlives_turn)
        elif not delta:
            return open_text.item_id
        open_text.chunks.append(delta)
        self._write(ItemDelta(open_text.item_id, open_text.native_id, delta), source)
        return open_text.item_id

    def end_text(
        self,
        key: str,
        final: str | None = None,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        thinking: Visibility | None = None,
        outlives_turn: bool = False,
        failed: bool = False,
    ) -> str | None:
        """Complete a message; `final` is its whole text where the agent repeats it. Returns the item's id.

        Text that was never streamed gets one synthetic delta. A final text that contradicts what was streamed
        fails the streamed item and becomes an item of its own: deltas always add up to their item.
        """
        open_text = self._texts.get(key)
        if open_text is None:
            if not final or key in self._closed:
                return self._closed.get(key)
            self.text(
                key,
                final,
                native_id=native_id,
                parent=parent,
                thinking=thinking,
                outlives_turn=outlives_turn,
                source="daemon",
            )
            open_text = self._texts[key]
        streamed = "".join(open_text.chunks)
        if failed or final is None or final == streamed:
            return self._close_text(key, open_text, streamed, failed)
        if final.startswith(streamed):
            rest = final[len(streamed) :]
            self._write(ItemDelta(open_text.item_id, open_text.native_id, rest), "daemon")
            return self._close_text(key, open_text, final, failed)
        self._close_text(key, open_text, streamed, failed=True, source="daemon")
        del self._closed[key]
        return self.end_text(
            key,
            final,
            native_id=open_text.native_id,
            parent=open_text.parent_id,
            thinking=open_text.visibility,
            outlives_turn=open_text.outlives_turn,
        )

    def abandon(self, key: str) -> None:
        """The agent gave this message or call up (retry, steer, refusal): it fails, holding what was streamed."""
        if open_text := self._texts.get(key):
            self._close_text(key, open_text, "".join(open_text.chunks), failed=True, source="daemon")
        elif call := self._calls.get(key):
            if not call.completed:
                self._complete_call(call, "failed", "".join(call.chunks), "daemon")
            self.result(key, "", failed=True, source="daemon")

    def abandon_call(self, key: str) -> None:
        """The agent gave this call up (retry, interrupt): its result fails, and so does a call that was not final."""
        if call := self._calls.get(key):
            if not call.completed:
                self._complete_call(call, "failed", "".join(call.chunks), "daemon")
            self.result(key, "".join(call.chunks), failed=True, source="daemon")

    def open_text_keys(self) -> list[str]:
        """Keys of messages and thoughts that are being streamed."""
        return list(self._texts)

    # -- tools --------------------------------------------------------------------------------

    def call(
        self,
        key: str,
        name: str,
        *,
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """Begin a tool call whose arguments are not final yet. Returns its item id; a second time changes nothing."""
        if key in self._calls or key in self._closed:
            return self.call_item(key)
        unique = self._unique_call_id(call_id or key)
        opened = _OpenCall(
            self._make_id("itm"), native_id or call_id or key, parent, name, unique, outlives_turn
        )
        self._calls[key] = opened
        self._write(ItemStarted(opened.call_item("in_progress", "")), source)
        return opened.item_id

    def call_delta(self, key: str, fragment: str) -> None:
        """Stream a fragment of the arguments."""
        call = self._calls.get(key)
        if call and not call.completed and fragment:
            call.chunks.append(fragment)
            self._write(ItemDelta(call.item_id, call.native_id, fragment), "agent")

    def end_call(
        self,
        key: str,
        name: str,
        arguments: str,
        *,
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """The arguments are final: complete the call, beginning it first if it was not announced."""
        self.call(
            key,
            name,
            call_id=call_id,
            native_id=native_id,
            parent=parent,
            outlives_turn=outlives_turn,
            source=source,
        )
        call = self._calls.get(key)
        if call is None or call.completed:
            return self.call_item(key)
        call.name = name
        self._complete_call(call, "completed", arguments, source)
        return call.item_id

    def result_delta(self, key: str, fragment: str) -> None:
        """Stream a preview of a call's output."""
        call = self._calls.get(key)
        if call and fragment:
            self._start_result(call, "agent")
            call.chunks.append(fragment)
            assert call.result_id is not None
            self._write(ItemDelta(call.result_id, call.native_id, fragment), "agent")

    def start_result(self, key: str) -> None:
        """The tool runs: open its result, so that readers see it before there is output."""
        if call := self._calls.get(key):
            self._start_result(call, "agent")

    def result(
        self,
        key: str,
        output: str,
        *,
        exit_code: int | None = None,
        extra: Iterable[ContentPart] = (),
        failed: bool = False,
        source: Source = "agent",
    ) -> None:
        """A call's outcome. A result without a call we know opens a stub call first; a second one is ignored."""
        if key in self._closed:
            return
        if key not in self._calls:
            self.end_call(key, "unknown", "{}", source="daemon")
        call = self._calls.pop(key)
        self._start_result(call, source)
        status: ItemStatus = "failed" if failed else "completed"
        self._complete(call.result_item(status, output, exit_code, tuple(extra)), source)
        self._closed[key] = call.item_id

    def keep_running(self, key: str) -> None:
        """The agent carries this call on in the background: its result may come after the turn."""
        if call := self._calls.get(key):
            self._start_result(call, "agent")  # only what began in the turn may end after it
            call.outlives_turn = True

    def call_item(self, key: str) -> str | None:
        """The item id of a call, open or complete: the parent of what a sub-agent does."""
        call = self._calls.get(key)
        return call.item_id if call else self._closed.get(key)

    def has_open_call(self, key: str) -> bool:
        return key in self._calls

    def open_call_keys(self) -> list[str]:
        return list(self._calls)

    def image(self, data: bytes, mime: str) -> Image:
        """An image that the agent made, to be stored as an attachment of the session."""
        suffix = mimetypes.guess_extension(mime) or ""
        name = hashlib.sha256(data).hexdigest()[:24] + suffix
        self.blobs[name] = data
        return Image(self._image_folder + name, mime)

    # -- permissions and questions ------------------------------------------------------------

    def ask(self, key: str, ask: Ask) -> None:
        """The agent asks for permission; what waits under this key already is not asked again."""
        if key in self.pending:
            return
        metadata = PermissionMetadata(
            ask.action, ask.input, self._call_id(ask.call), ask.paths, ask.diff, ask.reason
        )
        requested = PermissionRequested(self._make_id("perm"), ask.action, "requested", metadata)
        self.pending[key] = Pending(requested.permission_id, key, requested, ask)
        self._write(requested, "agent")

    def decide(
        self,
        key: str,
        status: PermissionStatus,
        by: DecidedBy,
        message: str | None = None,
        *,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a permission; False when it is not pending (any more)."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, PermissionRequested):
            return False
        del self.pending[key]
        asked = pending.requested
        told = asked.metadata
        assert told is not None
        metadata = PermissionMetadata(
            told.tool_name,
            told.input,
            told.call_id,
            told.paths,
            told.diff,
            told.reason,
            by,
            message,
        )
        self._write(PermissionResolved(asked.permission_id, asked.action, status, metadata), source)
        return True

    def question(self, key: str, questions: Iterable[AskedQuestion], *, call: str | None = None) -> None:
        """The agent asks one or more questions in one request."""
        asked = tuple(questions)
        first = asked[0] if asked else AskedQuestion("", "", ())
        metadata = QuestionMetadata(asked, call_id=self._call_id(call))
        self._request_question(key, first.question, tuple(option.label for option in first.options), metadata)

    def plan(self, key: str, plan: str, *, call: str | None = None) -> None:
        """The agent wants a plan approved: a question whose answers are `approve` and `reject`."""
        choices = (Choice("approve", "Go on with this plan"), Choice("reject", "Keep planning"))
        metadata = QuestionMetadata(
            (AskedQuestion(plan, "Plan", choices),), call_id=self._call_id(call), plan=True
        )
        self._request_question(key, plan, ("approve", "reject"), metadata)

    def answer(
        self,
        key: str,
        answers: tuple[tuple[str, ...], ...] | None,
        by: DecidedBy,
        message: str | None = None,
        *,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a question; None, and `reject` to a plan, reject it. False when it is not pending."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, QuestionRequested):
            return False
        del self.pending[key]
        asked = pending.requested
        told = asked.metadata
        rejected = answers is None or (bool(told.plan) and answers[:1] == (("reject",),))
        labels = None if rejected or answers is None else [label for one in answers for label in one]
        metadata = QuestionMetadata(
            told.questions, None if rejected else answers, by, message, told.call_id, told.plan
        )
        self._write(
            QuestionResolved(
                asked.question_id,
                asked.prompt,
                asked.options,
                "rejected" if rejected else "answered",
                metadata,
                None if labels is None else ", ".join(labels),
            ),
            source,
        )
        return True

    # -- facts --------------------------------------------------------------------------------

    def status(
        self,
        label: str,
        payload: Any = None,
        detail: str | None = None,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        source: Source = "agent",
    ) -> None:
        """A fact that is neither said nor done: usage, plan, title, retry, compaction."""
        content: tuple[ContentPart, ...] = (StatusPart(label, detail), Json(payload))
        self._whole("status", None, content, native_id, parent, source)

    def system(self, text: str, *, parent: str | None = None) -> None:
        """Something the agent's program says, not its model."""
        self._whole("system", "system", (Text(text),), None, parent, "agent", delta=text)

    def unknown(self, payload: Any, *, native_id: str | None = None) -> None:
        """A native message of a type we do not know, kept as it is."""
        self._whole("unknown", None, (Json(payload),), native_id, None, "agent")

    def error(
        self,
        message: str,
        code: ErrorCode | None = None,
        details: dict[str, Any] | None = None,
        *,
        source: Source = "agent",
    ) -> None:
        if self.turn:
            self.turn.failed = True
        self._write(ErrorEvent(message, code, details), source)

    def unparsed(self, error: str, location: str) -> None:
        """A native payload that we should have understood and did not."""
        raw = self.frame.bytes
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        self._write(AgentUnparsed(error, location, digest), "daemon")

    # -- after a restart ----------------------------------------------------------------------

    def recover(self, events: Iterable[Event]) -> None:
        """Learn from stored events what is open, so that it can be closed: the scribe that opened it is gone."""
        self.started = True
        started = None
        for event in events:
            self.native_session_id = event.native_session_id
            if self.turn is not None and started is not None:
                # Clocks do not survive a restart: the turn lasted as long as the log says.
                lasted = datetime.fromisoformat(event.time) - datetime.fromisoformat(started)
                self.turn.began = self._clock() - lasted.total_seconds()
            match event.data:
                case TurnStarted(turn_id):
                    self.turn = Turn(turn_id, self._clock())
                    started = event.time
                case TurnEnded():
                    self.turn = None
                case SessionEnded():
                    self.ended = True
                case PermissionRequested(id) | QuestionRequested(id):
                    self.pending[id] = Pending(id, id, event.data)
                case PermissionResolved(id) | QuestionResolved(id):
                    self.pending.pop(id, None)
                case ItemStarted(item):
                    self._recover_start(item)
                case ItemDelta(item_id, _, delta):
                    self._recover_delta(item_id, delta)
                case ItemCompleted(item):
                    self._recover_end(item)

    def _recover_start(self, item: Item) -> None:
        # Nothing outlives the turn: the process that would have carried it on is gone.
        match item.content:
            case (Text() | Reasoning(), *_) if item.role == "assistant":
                visibility = part.visibility if isinstance(part := item.content[0], Reasoning) else None
                self._texts[item.item_id] = _OpenText(
                    item.item_id, item.native_item_id, item.parent_id, "assistant", visibility, False
                )
            case (ToolCall(name, _, call_id), *_):
                self._calls[call_id] = _OpenCall(
                    item.item_id, item.native_item_id, item.parent_id, name, call_id, False
                )
            case (ToolResult(call_id), *_) if call := self._calls.get(call_id):
                call.result_id = item.item_id

    def _recover_delta(self, item_id: str, delta: str) -> None:
        if open_text := self._texts.get(item_id):
            open_text.chunks.append(delta)
        for call in self._calls.values():
            if item_id in (call.item_id, call.result_id):
                call.chunks.append(delta)

    def _recover_end(self, item: Item) -> None:
        self._texts.pop(item.item_id, None)
        match item.content:
            case (ToolCall(_, _, call_id), *_) if call := self._calls.get(call_id):
                call.completed = True
                call.chunks = []
            case (ToolResult(call_id), *_):
                self._calls.pop(call_id, None)

    def nothing_open(self) -> bool:
        return self.turn is None and not (self._texts or self._calls or self.pending)

    # -- how it is done -----------------------------------------------------------------------

    def _write(self, data: AnyData, source: Source) -> None:
        if not self.ended:
            self.drafts.append(Draft(data, source, self.native_session_id, self.frame.bytes))

    def _start(
        self,
        item_id: str,
        native_id: str | None,
        parent: str | None,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        source: Source,
    ) -> None:
        self._write(ItemStarted(Item(item_id, native_id, parent, kind, role, "in_progress", content)), source)

    def _complete(self, item: Item, source: Source) -> None:
        self._write(ItemCompleted(item), source)

    def _whole(
        self,
        kind: Kind,
        role: Role | None,
        content: tuple[ContentPart, ...],
        native_id: str | None,
        parent: str | None,
        source: Source,
        delta: str | None = None,
    ) -> None:
        item_id = self._make_id("itm")
        self._start(item_id, native_id, parent, kind, role, content, source)
        if delta:
            self._write(ItemDelta(item_id, native_id, delta), source)
        self._complete(Item(item_id, native_id, parent, kind, role, "completed", content), source)

    def _open_text(
        self,
        key: str,
        native_id: str | None,
        parent: str | None,
        thinking: Visibility | None,
        outlives_turn: bool,
    ) -> _OpenText:
        opened = _OpenText(self._make_id("itm"), native_id, parent, "assistant", thinking, outlives_turn)
        self._texts[key] = opened
        self._write(ItemStarted(opened.item("in_progress", "")), "agent")
        return opened

    def _close_text(
        self, key: str, open_text: _OpenText, text: str, failed: bool, source: Source = "agent"
    ) -> str:
        del self._texts[key]
        self._closed[key] = open_text.item_id
        self._complete(open_text.item("failed" if failed else "completed", text), source)
        return open_text.item_id

    def _complete_call(self, call: _OpenCall, status: ItemStatus, arguments: str, source: Source) -> None:
        call.completed = True
        call.chunks = []
        self._complete(call.call_item(status, arguments), source)

    def _start_result(self, call: _OpenCall, source: Source) -> None:
        if not call.completed:
            # The tool ran, so the arguments that were streamed are all there is.
            self._complete_call(call, "completed", "".join(call.chunks) or "{}", "daemon")
        if call.result_id is None:
            call.result_id = self._make_id("itm")
            self._write(ItemStarted(call.result_item("in_progress", "", None, ())), source)

    def _fail_open(self, chosen: Callable[[_OpenText | _OpenCall], bool]) -> None:
        for key, open_text in list(self._texts.items()):
            if chosen(open_text):
                self.abandon(key)
        for key, call in list(self._calls.items()):
            if chosen(call):
                self.abandon_call(key)

    def _reject_unanswered(self, key: str) -> None:
        message = "not answered before the turn ended"
        if not self.decide(key, "reject", "daemon", message):
            self.answer(key, None, "daemon", message)

    def _request_question(
        self, key: str, prompt: str, options: tuple[str, ...], metadata: QuestionMetadata
    ) -> None:
        if key in self.pending:
            return
        requested = QuestionRequested(self._make_id("q"), prompt, options, "requested", metadata)
        self.pending[key] = Pending(requested.question_id, key, requested)
        self._write(requested, "agent")

    def _call_id(self, key: str | None) -> str | None:
        """The call id a reader knows a call by; what the agent calls it while we have not seen the call."""
        call = self._calls.get(key) if key else None
        return call.call_id if call else key

    def _unique_call_id(self, call_id: str) -> str:
        """Models repeat call ids; within a session ours do not."""
        unique, n = call_id, 1
        while unique in self._used_call_ids:
            n += 1
            unique = f"{call_id}#{n}"
        self._used_call_ids.add(unique)
        self.new_call_ids.append(unique)
        return unique
