"""One native thread: a conversation's own, or a sub-agent's, which is folded into the conversation."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from ...schema.events import StopReason, Usage
from ...schema.mcp import McpState, condition_of
from .. import todos
from ..scribe import Turn as ScribeTurn
from .errors import Failure, failure_of
from .frames import (
    ErrorNotice,
    Fact,
    ItemCompleted,
    ItemStarted,
    McpProgress,
    McpStatus,
    NameUpdated,
    OutputDelta,
    Params,
    PlanUpdated,
    Reverted,
    SummaryDelta,
    TerminalInteraction,
    TextDelta,
    ThoughtDelta,
    ThreadUsage,
    Tokens,
    TokenUsageUpdated,
    Turn,
    TurnError,
    Warned,
)
from .items import Items
from .turn_diff import TurnDiff
from .usage import minus

if TYPE_CHECKING:
    from .conversation import CodexConversation


class HeldPatch(Struct, frozen=True):
    turn_id: str | None
    item: Raw
    frame: bytes


class Thread:
    def __init__(
        self, id: str, conversation: CodexConversation, *, parent: str | None = None, is_agent: bool = False
    ) -> None:
        self.id = id
        self.conversation = conversation
        self.scribe = conversation.scribe
        self.is_agent = is_agent
        """A sub-agent's thread: its turns produce no turn events, and its items may outlive the turn."""
        self.parent = parent
        """The item of the call that started the sub-agent."""
        self.running: str | None = None
        """The turn that codex has reported as started and that can be interrupted."""
        self.turn_ids: set[str] = set()
        self.prompts: list[str] = []
        """Prompts that codex has not echoed yet."""
        self.items = Items(self)
        self.turn_diff = TurnDiff()
        self.held_patch: HeldPatch | None = None
        """A complete patch that waits for the diff of the turn."""
        self.held: Turn | None = None
        """The turn that codex has ended but we have not: more of it is about to arrive."""
        self._held_in: ScribeTurn | None = None
        self.stops_commands = False
        """Codex was asked to end the commands of the running turn: their output arrives after the turn."""
        self.is_awaited = False
        """A sub-agent of the running turn, whose usage the turn includes."""
        self._ended: deque[str] = deque(maxlen=64)
        self._failed = False
        self._total: Tokens | None = None
        """Its token counts, as last reported; None until the first report, and again after a revert."""
        self._reverted = False

    # -- turns --------------------------------------------------------------------------------

    def note_turn(self, turn_id: str) -> None:
        """Codex has accepted a prompt and named the turn, which is not running yet."""
        self.release()
        if turn_id not in self._ended:
            self.turn_ids.add(turn_id)

    def start_turn(self, turn: Turn) -> None:
        self.release()
        self.turn_diff = TurnDiff()
        self.running = turn.id
        self.is_awaited = self.is_agent
        self.turn_ids.add(turn.id)
        if turn.root_turn_id and not self.is_agent:
            # A review starts under one id and ends under another.
            self.turn_ids.add(turn.root_turn_id)
        if not self.is_agent:
            self.scribe.start_turn(source="agent")

    def end_turn(self, turn: Turn) -> bool:
        """False if this is not the end of the running turn. The end waits for what is known to follow it; see
        `release`.
        """
        if turn.id in self._ended or (self.turn_ids and turn.id not in self.turn_ids):
            return False
        self.running = None
        self.is_awaited = False
        self.held, self._held_in = turn, self.scribe.turn
        if not self.expects_more:
            self.release()
        return True

    @property
    def expects_more(self) -> bool:
        """The output of stopped commands, or the usage of sub-agents, which are about to end as well."""
        if self.stops_commands and self.items.has_open_commands():
            return True
        agents = () if self.is_agent else self.conversation.agents.values()
        return any(agent.is_awaited for agent in agents)

    def tell_patch(self) -> None:
        """Write the patch that was held back, as an event of the frame it arrived with."""
        held, self.held_patch = self.held_patch, None
        if held is None:
            return
        frame = self.scribe.frame
        now, frame.bytes = frame.bytes, held.frame
        try:
            self.items.handle(held.turn_id, held.item, completed=True)
        finally:
            frame.bytes = now

    def release(self) -> None:
        """End the turn that was held back, unless it has ended in the meantime."""
        turn, self.held = self.held, None
        if turn is None:
            return
        if self.is_agent or self.scribe.turn is self._held_in:
            self._tell_end(turn)
        self._ended.extend({turn.id, *self.turn_ids})
        self.turn_ids.clear()
        self.items.forget()
        self.stops_commands = False
        self._failed = False

    def _tell_end(self, turn: Turn) -> None:
        if turn.status == "failed" and not self._failed:
            self._tell_failure(failure_of(turn.error or TurnError(message="the turn failed")))
        if turn.status == "completed":
            self.items.leave_commands_running()
        if self.is_agent:
            self.items.close()
        else:
            reason = _stop_reason(turn)
            self.scribe.end_turn(reason, self.conversation.take_usage(), duration_ms=turn.duration_ms)

    def _tell_failure(self, failure: Failure) -> None:
        """An error of the turn; the failure of a sub-agent, which its caller survives, is a fact about its call."""
        if self.is_agent:
            facts = {"message": failure.message, "code": failure.code, **failure.details}
            self.status("subagent_error", facts, failure.message)
        else:
            self.scribe.error(failure.message, failure.code, failure.details)

    def is_in_turn(self, turn_id: str | None) -> bool:
        """Whether an event of this turn may be written. Opens the turn if the agent began it by itself."""
        if turn_id in self._ended:
            return False
        if self.is_agent or self.scribe.turn is not None:
            return True
        if turn_id is None:
            return False
        self.turn_ids.add(turn_id)
        self.scribe.start_turn(source="agent")
        return True

    # -- notifications ------------------------------------------------------------------------

    def handle(self, note: Params, payload: Raw) -> None:
        match note:
            case ItemStarted(turn_id=turn_id, item=raw):
                self.items.handle(turn_id, raw, completed=False)
            case ItemCompleted(turn_id=turn_id, item=raw):
                self.items.handle(turn_id, raw, completed=True)
            case TextDelta(turn_id=turn_id, item_id=item_id, delta=delta):
                self.items.text(turn_id, item_id, delta)
            case SummaryDelta(turn_id=turn_id, item_id=item_id, delta=delta, summary_index=index):
                self.items.think(turn_id, item_id, f"summary/{index}", delta)
            case ThoughtDelta(turn_id=turn_id, item_id=item_id, delta=delta, content_index=index):
                self.items.think(turn_id, item_id, f"content/{index}", delta)
            case OutputDelta(turn_id=turn_id, item_id=item_id, delta=delta):
                self.items.preview(turn_id, item_id, delta)
            case McpProgress(turn_id=turn_id, item_id=item_id, message=message) if message:
                self.items.preview(turn_id, item_id, f"{message}\n")
            case TerminalInteraction(stdin=stdin) if stdin:
                self.status("terminal_input", {"stdin": stdin})
            case ErrorNotice():
                self._handle_error(note)
            case TokenUsageUpdated(turn_id=turn_id, token_usage=usage):
                self._count(turn_id, usage)
            case Reverted():
                self._total, self._reverted = None, True
            case PlanUpdated(explanation=explanation, plan=plan):
                todos.tell(self.scribe, todos.entries_of(plan) or (), explanation, parent=self.parent)
            case NameUpdated(thread_name=name) if name and not self.is_agent:
                self.scribe.uses(title=name)
                self.status("title", {"title": name}, name)
            case Warned(message=message):
                self.scribe.system(message, parent=self.parent)
            case McpStatus():
                self._handle_mcp(note)
            case Fact():
                self.status(note.LABEL, msgspec.json.decode(payload))

    def status(self, label: str, payload: Any, detail: str | None = None) -> None:
        self.scribe.status(label, payload, detail, parent=self.parent)

    def _handle_mcp(self, note: McpStatus) -> None:
        if note.name in self.conversation.settings.mcp:
            self.conversation.mcp[note.name] = McpState(condition_of(note.status), note.error)
        if note.status != "starting":
            payload = {"name": note.name, "status": note.status, "error": note.error}
            self.status("mcp", payload, note.error)

    def _handle_error(self, note: ErrorNotice) -> None:
        failure = failure_of(note.error)
        if note.will_retry:
            # Each attempt streams a new message; the old one never completes.
            self.items.abandon_texts()
            why = note.error.additional_details
            detail = f"{failure.message}: {why}" if why else failure.message
            self.status("retry", {"message": failure.message, **failure.details}, detail)
        elif not self._failed:
            self._failed = True
            self._tell_failure(failure)

    def _count(self, turn_id: str | None, usage: ThreadUsage) -> None:
        before, self._total = self._total, usage.total
        if not self.is_agent:
            self.conversation.context = Usage(
                context_tokens=usage.last.total_tokens or None, context_window=usage.model_context_window
            )
        if before is None and (self.conversation.is_continued or self._reverted):
            if turn_id not in self.turn_ids or self.items.compacting:
                return  # a resumed thread repeats its last counts, and so does a compaction before it begins
            before = minus(usage.total, usage.last)
        if before == usage.total:
            return
        spent = minus(usage.total, before or Tokens())
        if spent.input_tokens or spent.output_tokens:
            # A full context window is reported as a total without parts: nothing was spent.
            self.conversation.spend(spent)
        self.status("usage", msgspec.to_builtins(usage))


def _stop_reason(turn: Turn) -> StopReason:
    match turn.status:
        case "interrupted":
            return "interrupted"
        case "failed":
            return failure_of(turn.error).stop_reason if turn.error else "error"
    return "end_turn"
