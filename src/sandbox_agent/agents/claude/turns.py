"""The turns of a conversation: those of our prompts, and those that Claude begins by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.events import StopReason, Usage
from ..scribe import Turn
from .frames import ApiUsage, Result
from .outcome import (
    Context,
    Failure,
    error_code_of,
    error_details_of,
    message_of,
    of_model_call,
    stop_reason_of,
    usage_of,
)

if TYPE_CHECKING:
    from .conversation import ClaudeConversation


class Turns:
    def __init__(self, conversation: ClaudeConversation) -> None:
        self.awaiting: set[str] = set()
        """Prompts without a result, by uuid."""
        self.failure: Failure | None = None
        """The failure of this turn, unless Claude recovers from it."""
        self.context = Context()
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._begun: set[str] = set()  # the awaited prompts that Claude works on
        self._carried: Usage | None = None
        self._spent: Usage | None = None
        self._own_turn: Turn | None = None

    @property
    def is_unprompted(self) -> bool:
        """The open turn is one that Claude began by itself."""
        return self._own_turn is not None and self._own_turn is self._scribe.turn

    def begin_unprompted(self, owner: str | None) -> None:
        """Claude begins a turn by itself: a background task ended, or a timer fired. Sub-agents have no
        turns.
        """
        if owner is None and self._scribe.turn is None:
            self._scribe.start_turn(source="agent")
            self._own_turn = self._scribe.turn

    def end_unprompted(self) -> None:
        """A turn of Claude's own that produced nothing: no result will follow."""
        if self.is_unprompted:
            self.end("end_turn", self._carried)

    def result(self, result: Result) -> bool:
        """The end of the turn; False if it belongs to another turn (a wake-up that ran before our prompt)."""
        usage = usage_of(result, self.context)
        if self._carried is not None:
            usage = self._carried if usage is None else self._carried + usage
        if self._is_of_another_turn(result):
            self._carried = usage
            return False
        stop_reason = stop_reason_of(result, self.failure, self._conversation.cancelling)
        message = message_of(result, self.failure)
        if stop_reason == "error" or (stop_reason == "refusal" and result.is_error):
            if self._scribe.turn is not None:
                details = error_details_of(result, self.failure)
                self._scribe.error(message, error_code_of(result, self.failure), details)
        elif stop_reason in ("limit", "max_tokens") and result.is_error:
            self._scribe.status("limit", error_details_of(result, self.failure), message)
        elif self.failure is not None and stop_reason != "interrupted":
            self._scribe.system(self.failure.text)  # it failed and recovered
        self.awaiting -= set(result.user_message_uuids) or self.awaiting
        self._begun &= self.awaiting
        self.end(stop_reason, usage)
        return True

    def spend(self, usage: ApiUsage) -> None:
        """Add the tokens of a model call. Claude reports the cost with the result."""
        if self._scribe.turn is not None:
            spent = of_model_call(usage)
            self._spent = self._spent + spent if self._spent else spent
            self._scribe.spend(self._spent)

    def _is_of_another_turn(self, result: Result) -> bool:
        by_itself = result.origin is not None and result.origin.kind != "human"
        waiting = (
            self.awaiting.isdisjoint(result.user_message_uuids) if self.awaiting else result.queued_turn_count
        )
        return by_itself and bool(waiting) and not self.is_unprompted

    def lifecycle(self, uuid: str, state: str) -> None:
        """The state of a prompt changed. One that is removed from Claude's queue before it began gets no
        result.
        """
        if state == "started":
            self._begun.add(uuid)
        elif state != "queued" and uuid in self.awaiting:
            self.awaiting.discard(uuid)
            if uuid not in self._begun and not self.awaiting:
                self.end("interrupted", self._carried)

    def end(self, stop_reason: StopReason, usage: Usage | None) -> None:
        self.failure = None
        self._carried = None
        self._spent = None
        self._own_turn = None
        self._conversation.messages.end_turn()
        self._scribe.end_turn(stop_reason, usage)
