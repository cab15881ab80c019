"""One conversation with an ACP agent: passes its updates to the scribe.

The protocol marks neither the end of a message nor a turn that the agent begins by itself. A message ends
where something else begins. Text outside of a turn is kept until it is complete and then becomes a turn of
its own.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...schema.events import StopReason, Usage
from ...schema.items import Visibility
from .. import todos
from ..base import Conversation, Start, Wire
from ..files import bytes_in
from ..jsonrpc import Request
from .frames import (
    AgentInfo,
    Chunk,
    Commands,
    Compaction,
    ConfigOptions,
    Content,
    CurrentMode,
    MessageChunk,
    Notice,
    Plan,
    SessionInfo,
    SlashCommand,
    ThoughtChunk,
    TokenUsage,
    ToolCall,
    Update,
    UsageUpdate,
)
from .options import Choosing, Offer
from .tools import Call

STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "max_tokens": "max_tokens",
    "max_turn_requests": "limit",
    "refusal": "refusal",
    "cancelled": "interrupted",
}
FINISHED = ("end_turn", "max_tokens", "limit")
"""Stop reasons after which a message in progress counts as complete."""


MAX_CALLS = 10_000
"""How many calls of a process we remember by the agent's ids."""

MAX_UNPROMPTED = 1_000
"""How much text we buffer outside of a turn before we write it."""


class _Message(Struct, frozen=True):
    """The message or thought that is being streamed."""

    key: str
    thinks: bool
    native_id: str | None
    parent: str | None


class AcpConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.is_open = False
        self.replays = False
        """History is being replayed."""
        self.offer = Offer()
        self.initial_mode: str | None = None
        self.to_choose: list[tuple[Choosing, str]] = []
        self.choosing = False
        self.held: list[Request] = []
        """Prompts held back until all choices are made."""
        self._calls: dict[str, Call] = {}
        self._message: _Message | None = None
        self._messages = 0
        self._unprompted: list[Chunk] = []
        self._title: str | None = None
        self.tells_skills = not start.resume
        """The next prompt must say which skills there are."""
        self.commands: tuple[SlashCommand, ...] | None = None
        """What the session offers; None until the agent has sent it."""
        self._commands: tuple[str, ...] | None = None
        self._reported_commands: tuple[str, ...] | None = None
        self._context: dict[str, Any] | None = None
        self._full: Usage | None = None
        self._cost: float | None = None
        self._billed: float | None = None if start.resume else 0.0

    # -- the session --------------------------------------------------------------------------

    @property
    def session_id(self) -> str:
        assert self.native_id is not None, "the session is not open yet"
        return self.native_id

    def opened(self, offer: Offer) -> None:
        """The agent has opened the conversation."""
        self.offer = offer
        self.replays = False
        if not self.resumed:
            self.initial_mode = offer.current("mode")

    def chosen(self, agent: AgentInfo | None) -> None:
        """All choices are made. The first time, this is announced."""
        self.is_open = True
        self.scribe.uses(model=self.offer.current("model"))
        if not self.resumed:
            facts = {"agent": agent, **self.offer.facts()} if agent else self.offer.facts()
            self.scribe.status("session", msgspec.to_builtins(facts))

    def offers(self, offer: Offer) -> None:
        """The agent sent its choices again; changes are reported as facts of the session."""
        before, self.offer = self.offer.facts(), offer
        changed = {name: value for name, value in offer.facts().items() if before.get(name) != value}
        self.scribe.uses(model=offer.current("model"))
        if changed and self.is_open and not self.replays:
            self.scribe.status("session", changed)

    # -- updates ------------------------------------------------------------------------------

    def handle(self, update: Update, payload: Raw) -> None:
        if self.scribe.turn is not None:
            self._report_commands()
        match update:
            case CurrentMode(current_mode_id=mode):
                self.offers(self.offer.chosen("mode", mode))
            case ConfigOptions(config_options=options):
                self.offers(self.offer.with_options(options))
            case UsageUpdate():
                self._handle_usage(update)
            case Commands(available_commands=commands):
                self.commands = commands
                # Reported with the next turn: a session that has just begun does not need to show it yet.
                self._commands = tuple(command.name for command in commands)
            case _ if self.replays:
                pass
            case MessageChunk() | ThoughtChunk():
                self._handle_chunk(update)
            case ToolCall():
                self._handle_call(update)
            case SessionInfo(title=title):
                if title and title != self._title:
                    self._title = title
                    self.scribe.uses(title=title)
                    self.scribe.status("title", {"title": title}, title)
            case Plan(entries=entries, plan=plan):
                todos.tell(self.scribe, todos.entries_of(plan.entries if plan else entries) or ())
            case Notice(title=title):
                self.scribe.status("notice", _facts(payload), title)
            case Compaction(status=status):
                self.scribe.status("compaction", _facts(payload), status)

    def _report_commands(self) -> None:
        # A resumed process repeats what the first one reported.
        if self._commands is not None and self._commands != self._reported_commands and not self.resumed:
            self.scribe.status("commands", {"commands": list(self._commands)})
            self._reported_commands = self._commands
        self._commands = None

    def _handle_usage(self, update: UsageUpdate) -> None:
        self._context = {"used": update.used, "size": update.size}
        self._full = (
            Usage(context_tokens=update.used, context_window=update.size or None) if update.used else None
        )
        if update.cost is not None:
            self._context["cost"] = msgspec.to_builtins(update.cost)
            self._cost = update.cost.amount if update.cost.currency == "USD" else self._cost
            if self.replays:
                self._billed = self._cost
            elif cost := self._cost_of_turn():
                self.scribe.spend(Usage(cost_usd=cost))
            self.write_unprompted()

    # -- messages and thoughts ----------------------------------------------------------------

    def _handle_chunk(self, chunk: Chunk) -> None:
        if self.scribe.turn is None:
            self._unprompted.append(chunk)
            if len(self._unprompted) >= MAX_UNPROMPTED:
                self.write_unprompted()
        else:
            self.write_unprompted()
            self._say(chunk)

    def _say(self, chunk: Chunk) -> None:
        text = _text_of(chunk.content)
        if text is None:
            self._show(chunk.content)
            return
        if not text:
            return
        thinks = isinstance(chunk, ThoughtChunk)
        message = self._message
        arrived = (thinks, chunk.message_id, chunk.parent)
        if message and (message.thinks, message.native_id, message.parent) != arrived:
            self.end_message()
            message = None
        if message is None:
            assert self.scribe.turn is not None
            self._messages += 1
            key = f"{self.scribe.turn.id}/{self._messages}"
            message = self._message = _Message(key, thinks, chunk.message_id, chunk.parent)
        visibility: Visibility | None = "public" if thinks else None
        self.scribe.text(
            message.key,
            text,
            native_id=message.native_id,
            parent=self._parent(message.parent),
            thinking=visibility,
            outlives_turn=message.parent is not None,
        )

    def end_message(self) -> None:
        if self._message is not None:
            self.scribe.end_text(self._message.key)
            self._message = None

    def _show(self, content: Content) -> None:
        """Content of a message that is not text."""
        facts: dict[str, Any] = {"mime": content.mime_type}
        if content.type == "image" and (data := bytes_in(content.data)):
            facts["path"] = self.scribe.image(data, content.mime_type or "").path
        self.end_message()
        self.scribe.status(content.type, facts)

    def write_unprompted(self) -> None:
        """Text outside of a turn becomes a turn of its own, which the agent began by itself."""
        if not self._unprompted:
            return
        chunks, self._unprompted = self._unprompted, []
        in_turn = self.scribe.turn is not None
        self.scribe.start_turn(source="agent")
        for chunk in chunks:
            self._say(chunk)
        self.end_message()
        if not in_turn:
            self.scribe.end_turn("end_turn", self._spent(None))

    def _parent(self, call_id: str | None) -> str | None:
        call = self._calls.get(call_id) if call_id else None
        if call is None:
            return None
        if call.opened and not call.is_over:
            self._end_call(call)  # its sub-agent is running, so its arguments are final
        return self.scribe.call_item(call.key)

    # -- tools --------------------------------------------------------------------------------

    def call(self, update: ToolCall) -> Call:
        """The call with this id; a new one if the id is unknown or starts over."""
        previous = self._calls.get(update.tool_call_id)
        begins = type(update) is ToolCall
        if previous is not None and not (begins and previous.is_over):
            return previous
        key, n = update.tool_call_id, 1
        while self.scribe.call_item(key) is not None:
            n += 1
            key = f"{update.tool_call_id}#{n}"
        call = self._calls[update.tool_call_id] = Call(update.tool_call_id, key, "")
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]
        return call

    def call_key(self, call_id: str | None) -> str | None:
        """The scribe's key of the latest call with this id."""
        call = self._calls.get(call_id or "")
        return call.key if call else call_id

    def _handle_call(self, update: ToolCall) -> None:
        call = self.call(update)
        if call.is_over:
            return  # an update of a call that is over
        call.learn(update)
        call.name = call.name or call.kind or "tool"
        if not call.opened:
            self.end_message()
        outside = self.scribe.turn is None and not call.opened
        if outside:
            self.write_unprompted()
            self.scribe.start_turn(source="agent")
        self._tell_call(call)
        if outside:
            if not call.is_over:
                self._end_call(call)
                self.scribe.keep_running(call.key)
            self.scribe.end_turn("end_turn")

    def _tell_call(self, call: Call) -> None:
        if not call.opened:
            call.opened = True
            self.scribe.call(
                call.key,
                call.name,
                kind=call.tool_kind(),
                call_id=call.id,
                native_id=call.id,
                parent=self._parent(call.parent),
                outlives_turn=call.parent is not None,
            )
        if call.status == "pending":
            return
        self._end_call(call)
        if not call.is_over:
            self.scribe.result_delta(call.key, call.preview())
            return
        if self._message is not None and self._message.native_id is None:
            # The model has seen the result, so later text is a new message.
            self.end_message()
        self.scribe.result(
            call.key,
            call.result(),
            exit_code=call.exit_code(),
            extra=call.shown(self.scribe),
            failed=call.status == "failed",
        )
        call.forget()

    def _end_call(self, call: Call) -> None:
        self.scribe.end_call(call.key, call.name, call.arguments(), kind=call.tool_kind(), title=call.title())

    # -- the end of a turn --------------------------------------------------------------------

    def end_turn(self, stop_reason: StopReason, usage: TokenUsage | None = None) -> None:
        if stop_reason in FINISHED:
            self.end_message()
        self._message = None
        for call in self._calls.values():
            if call.opened and call.status == "pending" and call.input.value:
                # The call fails with its turn and keeps the arguments received so far.
                self.scribe.call_delta(call.key, call.arguments())
        if self._context is not None and self.scribe.turn is not None:
            self.scribe.status("usage", self._context)
            self._context = None
        self.scribe.end_turn(stop_reason, self._spent(usage))

    def _spent(self, counts: TokenUsage | None) -> Usage | None:
        spent = self._cost_of_turn()
        self._billed = self._cost if self._cost is not None else self._billed
        if counts is None or not counts.total_tokens:
            usage = Usage(cost_usd=spent) if spent else None
        else:
            usage = _usage(counts, spent)
        return usage + self._full if usage and self._full else usage or self._full

    def _cost_of_turn(self) -> float | None:
        """Agents report the sum for the whole session."""
        cost, billed = self._cost, self._billed
        if cost is None or billed is None:
            return None
        return round(cost - billed if cost >= billed else cost, 12)


def _usage(counts: TokenUsage, cost: float | None) -> Usage:
    """Input includes cache and output includes thinking: whatever the total exceeds their sum by was counted
    separately.
    """
    extra = counts.total_tokens - counts.input_tokens - counts.output_tokens
    cached = (counts.cached_read_tokens or 0) + (counts.cached_write_tokens or 0)
    input_tokens, output_tokens = counts.input_tokens, counts.output_tokens
    if cached and extra >= cached:
        input_tokens += cached
        extra -= cached
    if counts.thought_tokens and extra >= counts.thought_tokens:
        output_tokens += counts.thought_tokens
    return Usage(
        input_tokens,
        output_tokens,
        counts.cached_read_tokens,
        counts.cached_write_tokens,
        counts.thought_tokens,
        cost,
    )


def _text_of(content: Content) -> str | None:
    match content.type:
        case "text":
            return content.text
        case "resource_link":
            return f"[{content.name or content.uri}]({content.uri})"
        case "resource" if content.resource is not None:
            return content.resource.text or f"[{content.resource.uri}]({content.resource.uri})"
    return None


def _facts(payload: Raw) -> Any:
    """An update as the agent wrote it, without its kind."""
    facts = msgspec.json.decode(payload)
    facts.pop("sessionUpdate", None)
    facts.pop("_meta", None)
    return facts
