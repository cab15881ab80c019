"""Translates the events of one session into OpenCode's messages and bus events. No I/O, no clock, no ids of its own.

A prompt is a user message, and everything that the agent does about it is one assistant message with a part for each text,
thought and tool call. The items of a sub-agent are messages of a child session, which is named after the call that started it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from ...schema.events import (
    ErrorEvent,
    Event,
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
)
from ...schema.features import COMPACT
from ...schema.items import (
    FileRef,
    Image,
    Item,
    Json,
    Reasoning,
    StatusPart,
    Text,
    ToolCall,
    ToolResult,
)
from . import tools
from .calls import Call, Calls
from .files import file_part
from .ids import child_id, given_ids, message_id, milliseconds, part_id
from .requests import Requests
from .shapes import (
    BUSY,
    IDLE,
    AboutSession,
    AnyPart,
    BusEvent,
    CompactionPart,
    MessageChanged,
    MessageRemoved,
    MessageWithParts,
    PartChanged,
    PartGrew,
    Problem,
    ReasoningPart,
    Session,
    SessionChanged,
    SessionFailed,
    Span,
    Status,
    StatusChanged,
    TextPart,
    Todo,
    TodosChanged,
    ToolPart,
    ToolState,
)
from .subagents import child_session, task_of
from .thread import Facts, Thread, Writing

ABORTED = Problem(name="MessageAbortedError", data={"message": "Aborted"})
UNKNOWN_OUTCOME = Problem(
    name="UnknownError", data={"message": "The daemon stopped during this turn; its outcome is unknown."}
)
FINISHES = {"max_tokens": "length", "limit": "length", "refusal": "content-filter"}


class Queued(Struct, frozen=True):
    """Where a waiting message was accepted: this names it, also once its turn starts, unless its client did."""

    sequence: int
    moment: int
    id: str


class _QueueFact(Struct, frozen=True):
    turn_id: str
    state: str


class _Entry(Struct, frozen=True):
    text: str
    status: str


class _Plan(Struct, frozen=True):
    entries: tuple[_Entry, ...] = ()


Fact = TypeVar("Fact")


class Transcript:
    """`max_messages` is how many messages of each thread are kept; a reader that only follows keeps none."""

    def __init__(self, facts: Facts, max_messages: int = 0) -> None:
        self.facts = facts
        self.sequence = 0
        """The last event that was taken."""
        self.status = IDLE
        self.todos: tuple[Todo, ...] = ()
        self.main = Thread(facts.session_id, facts, max_messages)
        self.children: dict[str, Thread] = {}
        """The work of sub-agents, by the id that clients see."""
        self.child_sessions: dict[str, Session] = {}
        self.calls = Calls()
        self.requests = Requests(facts.session_id)
        self._max_messages = max_messages
        self._in_turn = False
        self._turn_began = 0
        self._place: Queued | None = None
        """Where the prompt of the running turn was accepted, until it is shown."""
        self._asked_to_compact = False
        self.queued: dict[str, Queued] = {}
        """The messages that wait, by their turn."""
        self.newly_queued: str | None = None
        """The turn of a message that the last event put into the queue."""
        self._out: list[BusEvent] = []
        self.main.out = self._out

    # -- reading ------------------------------------------------------------------------------

    def messages(self, thread_id: str) -> list[MessageWithParts]:
        thread = self.main if thread_id == self.main.id else self.children.get(thread_id)
        if thread is None:
            return []
        thread.settle()
        return [entry.listed() for entry in thread.entries.values()]

    def snapshot(self, since: int) -> Iterator[BusEvent]:
        """The latest turn and everything that changed after a moment, for a reader that may have missed it. All of it can
        be repeated.
        """
        since = min(since, self._turn_began)
        for id, session in self.child_sessions.items():
            yield BusEvent(type="session.updated", properties=SessionChanged(session_id=id, info=session))
        for thread in (self.main, *self.children.values()):
            thread.settle()
            for entry in list(thread.entries.values()):
                if entry.touched >= since or entry.info == thread.assistant:
                    yield from repeated(entry.listed(), entry.touched)
        if self.todos:
            todos = TodosChanged(session_id=self.main.id, todos=self.todos)
            yield BusEvent(type="todo.updated", properties=todos)
        status = StatusChanged(session_id=self.main.id, status=self.status)
        yield BusEvent(type="session.status", properties=status)
        yield from self.requests.snapshot()

    def name_queued(self, turn_id: str, id: str) -> None:
        """A client has chosen the id of a message that waits."""
        if place := self.queued.get(turn_id):
            self.queued[turn_id] = msgspec.structs.replace(place, id=id)

    def change_facts(self, facts: Facts) -> None:
        for thread in (self.main, *self.children.values()):
            thread.facts = facts
        self.facts = facts

    def keep_nothing(self) -> None:
        """From now on, follow only."""
        self._max_messages = 0
        for thread in (self.main, *self.children.values()):
            thread.keep_nothing()

    # -- taking events ------------------------------------------------------------------------

    def take(self, event: Event) -> list[BusEvent]:
        """Take the next event; one that was taken already gives nothing."""
        if event.sequence <= self.sequence:
            return []
        self.sequence = event.sequence
        self._out.clear()
        self.newly_queued = None
        self._moment = milliseconds(event.time)
        match event.data:
            case TurnStarted(turn_id=turn_id):
                self._start_turn(turn_id)
            case ItemStarted(item=item):
                self._item_started(item)
            case ItemDelta() as delta:
                self._item_grew(delta)
            case ItemCompleted(item=item):
                self._item_completed(item)
            case PermissionRequested() as request:
                self._permission_asked(request)
            case PermissionResolved() as resolved:
                self._out.append(self.requests.permission_resolved(resolved))
            case QuestionRequested() as request:
                call = self.calls.with_call_id(request.metadata.call_id)
                self._out.append(self.requests.question_asked(request, call))
            case QuestionResolved() as resolved:
                if call := self.calls.with_call_id(resolved.metadata.call_id):
                    call.answers = resolved.metadata.answers
                self._out.append(self.requests.question_resolved(resolved))
            case ErrorEvent() as error:
                self._fail(_problem(error, self.facts.agent))
            case TurnEnded() as ended:
                self._end_turn(ended)
            case SessionEnded(reason="error", message=message):
                self._fail(Problem(name="UnknownError", data={"message": message or "The agent failed."}))
                self._set_status(IDLE)
        return list(self._out)

    def _emit(self, type: str, properties: AboutSession) -> None:
        self._out.append(BusEvent(type=type, properties=properties))

    def _set_status(self, status: Status, thread_id: str | None = None) -> None:
        if thread_id is None:
            self.status = status
        id = thread_id or self.main.id
        self._emit("session.status", StatusChanged(session_id=id, status=status))
        if status == IDLE:
            self._emit("session.idle", AboutSession(session_id=id))

    def _fail(self, problem: Problem) -> None:
        self.main.fail(problem, self._moment)
        self._emit("session.error", SessionFailed(session_id=self.main.id, error=problem))

    # -- turns --------------------------------------------------------------------------------

    def _start_turn(self, turn_id: str) -> None:
        self._in_turn, self._turn_began = True, self._moment
        self._place = self.queued.pop(turn_id, None) or self._here()
        self._set_status(BUSY)

    def _here(self) -> Queued:
        id = message_id(self.main.id, self.sequence, self._moment)
        return Queued(self.sequence, self._moment, id)

    def _end_turn(self, ended: TurnEnded) -> None:
        reason, moment = ended.metadata.stop_reason, self._moment
        if reason == "interrupted":
            self._fail(ABORTED)
        elif reason == "outcome_unknown":
            self._fail(UNKNOWN_OUTCOME)
        self.main.complete(moment, FINISHES.get(reason, "stop"), ended.metadata.usage)
        self._in_turn, self._place = False, None
        self._set_status(IDLE)

    # -- items --------------------------------------------------------------------------------

    def _item_started(self, item: Item) -> None:
        if item.kind == "message" and item.role == "assistant":
            self._start_text(item)
        elif item.kind == "tool_call":
            self._start_call(item)
        elif item.kind == "tool_result" and (result := _result_of(item)):
            self.calls.begin_result(result.call_id, item.item_id)

    def _item_grew(self, delta: ItemDelta) -> None:
        if delta.kind == "message" and delta.role == "assistant":
            thread = self._thread(None if delta.parent_id is msgspec.UNSET else delta.parent_id)
            part = thread.grow(delta.item_id, delta.delta)
            if part is not None:
                grew = PartGrew(
                    session_id=thread.id, message_id=part.message_id, part_id=part.id, delta=delta.delta
                )
                self._emit("message.part.delta", grew)
        elif delta.kind == "tool_result":
            call = self.calls.of_result(delta.item_id)
            if call is not None and call.grow(delta.delta):
                self._show_call(call, call.running())

    def _item_completed(self, item: Item) -> None:
        match item.kind:
            case "message" if item.role == "user":
                self._add_prompt(item)
            case "message":
                self._end_text(item)
            case "tool_call":
                self._call_is_final(item)
            case "tool_result":
                self._end_call(item)
            case "status":
                self._take_status(item)

    def _thread(self, parent_id: str | None) -> Thread:
        """The thread of an item: that of a sub-agent if its parent is a call."""
        call = self.calls.get(parent_id) if parent_id else None
        return self._child(call) if call is not None else self.main

    def _child(self, call: Call) -> Thread:
        id = call.child_id
        thread = self.children.get(id)
        if thread is None:
            thread = self.children[id] = Thread(id, self.facts, self._max_messages)
            thread.out = self._out
            session = self.child_sessions[id] = child_session(self.facts, call)
            for change in (
                "session.created",
                "session.updated",
            ):  # the terminal interface takes the second only
                self._emit(change, SessionChanged(session_id=id, info=session))
            self._set_status(BUSY, id)
            created = self._moment
            thread.add_user(message_id(id, call.sequence, created), created, created)
            prompt = str(call.rendered.input.get("prompt") or task_of(call))
            text = TextPart(
                id=part_id(id, call.sequence), session_id=id, message_id=thread.user_id, text=prompt
            )
            thread.show_part(text, created)
        return thread

    def _answering(self, thread: Thread) -> str:
        """The id of the assistant's message to which a new part belongs."""
        if self.status.type == "retry" and thread is self.main:
            self._set_status(BUSY)
        if thread.assistant is None:
            self._place = None  # a prompt that still comes follows this message
            mode = None if thread is self.main else "subagent"
            thread.begin(message_id(thread.id, self.sequence, self._moment), self._moment, mode)
        assert thread.assistant is not None
        return thread.assistant.id

    # -- prompts ------------------------------------------------------------------------------

    def _add_prompt(self, item: Item) -> None:
        thread, moment = self._thread(item.parent_id), self._moment
        thread.complete(moment, "stop")
        # A second prompt of the same turn has its own place.
        place, self._place = self._place or self._here(), None
        words = next((part.text.split() for part in item.content if isinstance(part, Text)), [])
        self._asked_to_compact = words[:1] == [f"/{COMPACT.name}"]
        given = given_ids(item.native_item_id)
        id = given[0] if given else message_id(thread.id, place.sequence, place.moment)
        thread.add_user(id, place.moment, moment)
        for part in self._prompt_parts(item, id, thread, place.sequence, given[1:]):
            thread.show_part(part, moment)
        if self._in_turn:
            thread.begin(message_id(thread.id, self.sequence + 1, moment), moment)

    def _prompt_parts(
        self, item: Item, message: str, thread: Thread, sequence: int, given: tuple[str, ...]
    ) -> Iterator[AnyPart]:
        for index, part in enumerate(item.content):
            id = given[index] if index < len(given) else part_id(thread.id, sequence, index)
            if isinstance(part, Text):
                yield TextPart(id=id, session_id=thread.id, message_id=message, text=part.text)
            elif isinstance(part, Image | FileRef):
                yield file_part(part, id, thread.id, message)

    # -- text and thinking --------------------------------------------------------------------

    def _start_text(self, item: Item) -> None:
        thread = self._thread(item.parent_id)
        message = self._answering(thread)
        id, time = part_id(thread.id, self.sequence), Span(start=self._moment)
        is_thought = any(isinstance(part, Reasoning) for part in item.content)
        kind = ReasoningPart if is_thought else TextPart
        part = kind(id=id, session_id=thread.id, message_id=message, text="", time=time)
        thread.writing[item.item_id] = Writing(part)
        # Clients drop a delta of a part that they do not know.
        thread.show_part(part, self._moment)

    def _end_text(self, item: Item) -> None:
        thread = self._thread(item.parent_id)
        writing = thread.writing.pop(item.item_id, None)
        if writing is None:
            return
        text = "".join(part.text for part in item.content if isinstance(part, Text | Reasoning))
        started = writing.part.time.start if writing.part.time else self._moment
        time = Span(start=started, end=self._moment)
        thread.show_part(msgspec.structs.replace(writing.part, text=text, time=time), self._moment)

    # -- tools --------------------------------------------------------------------------------

    def _start_call(self, item: Item) -> None:
        given = next((part for part in item.content if isinstance(part, ToolCall)), None)
        if given is None:
            return
        thread = self._thread(item.parent_id)
        rendered = tools.rendered(given)
        state = ToolState(status="pending", input={}, raw="")
        part = ToolPart(
            id=part_id(thread.id, self.sequence),
            session_id=thread.id,
            message_id=self._answering(thread),
            tool=rendered.tool,
            call_id=given.call_id,
            state=state,
        )
        call = Call(item.item_id, self.sequence, given, rendered, part, self._moment)
        call.child_id = child_id(self.facts.session_id, item.item_id)
        self.calls.add(call)
        self._show_call(call, state)

    def _call_is_final(self, item: Item) -> None:
        call = self.calls.get(item.item_id)
        given = next((part for part in item.content if isinstance(part, ToolCall)), None)
        if call is None or given is None:
            return
        call.given, call.rendered, call.started = given, tools.rendered(given), self._moment
        self._show_call(call, call.running())

    def _end_call(self, item: Item) -> None:
        result = _result_of(item)
        call = self.calls.pop(result.call_id) if result else None
        if call is None or result is None:
            return
        self._show_call(call, call.ended(item, self.facts.directory, self._moment))
        child = self.children.get(call.child_id)
        if child is not None:
            child.complete(self._moment, "stop")
            self._set_status(IDLE, child.id)

    def _show_call(self, call: Call, state: ToolState) -> None:
        call.part = msgspec.structs.replace(call.part, tool=call.rendered.tool, state=state)
        self._thread_with(call.part.session_id).show_part(call.part, self._moment)

    def _thread_with(self, id: str) -> Thread:
        return self.main if id == self.main.id else self.children[id]

    # -- permissions and statuses -------------------------------------------------------------

    def _permission_asked(self, request: PermissionRequested) -> None:
        call = self.calls.with_call_id(request.metadata.call_id)
        if call is not None and call.part.state.status == "pending":
            # Clients take the details from the input of a call that is no longer pending.
            arguments = msgspec.json.encode(request.metadata.input).decode()
            call.rendered = tools.rendered(msgspec.structs.replace(call.given, arguments=arguments))
            self._show_call(call, call.running())
        self._out.append(self.requests.permission_asked(request, call))

    def _take_status(self, item: Item) -> None:
        label = next((part for part in item.content if isinstance(part, StatusPart)), None)
        facts = next((part.json for part in item.content if isinstance(part, Json)), None)
        if label is None or item.parent_id is not None:
            return
        match label.label:
            case "plan":
                entries = plan.entries if (plan := _read(facts, _Plan)) else ()
                self.todos = tuple(Todo(content=entry.text, status=entry.status) for entry in entries)
                self._emit("todo.updated", TodosChanged(session_id=self.main.id, todos=self.todos))
            case "retry" if self._in_turn:
                message = label.detail or "retrying"
                self._set_status(Status(type="retry", attempt=1, message=message, next=self._moment))
            case "queue":
                self._take_queue(_read(facts, _QueueFact))
            case "compaction":
                self._take_compaction()

    def _take_compaction(self) -> None:
        """Clients draw a line below the prompt in whose turn it happened."""
        if self.main.user_id:
            part = CompactionPart(
                id=part_id(self.main.id, self.sequence),
                session_id=self.main.id,
                message_id=self.main.user_id,
                auto=not self._asked_to_compact,
            )
            self.main.show_part(part, self._moment)
        self._emit("session.compacted", AboutSession(session_id=self.main.id))

    def _take_queue(self, fact: _QueueFact | None) -> None:
        if fact is None:
            return
        if fact.state == "queued":
            self.queued[fact.turn_id] = self._here()
            self.newly_queued = fact.turn_id
        elif place := self.queued.pop(fact.turn_id, None):
            self._emit("message.removed", MessageRemoved(session_id=self.main.id, message_id=place.id))


def repeated(message: MessageWithParts, moment: int) -> Iterable[BusEvent]:
    """A message as events."""
    thread_id = message.info.session_id
    yield BusEvent(type="message.updated", properties=MessageChanged(session_id=thread_id, info=message.info))
    for part in message.parts:
        yield BusEvent(
            type="message.part.updated", properties=PartChanged(session_id=thread_id, part=part, time=moment)
        )


def _read(facts: object, type: type[Fact]) -> Fact | None:
    """The payload of a status; None if it has another shape, since an agent may use the same label."""
    try:
        return msgspec.convert(facts, type)
    except msgspec.ValidationError:
        return None


def _result_of(item: Item) -> ToolResult | None:
    return next((part for part in item.content if isinstance(part, ToolResult)), None)


def _problem(error: ErrorEvent, agent: str) -> Problem:
    if error.code == "authentication_failed":
        return Problem(name="ProviderAuthError", data={"providerID": agent, "message": error.message})
    if error.code == "agent_process_exited":
        return Problem(name="UnknownError", data={"message": error.message})
    return Problem(name="APIError", data={"message": error.message, "isRetryable": False})
