"""A conversation's turn: what began it, what still runs in it, and when it is over.

OpenCode sends `idle` too often (twice after an error or an abort, the first time before its last message is
complete) and too rarely (never for a prompt it refuses). A turn ends with the `idle` after its last message
is complete: if it ended earlier, the second `idle` would fall into the next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from ...schema.events import StopReason, Usage
from ...schema.inputs import Attachment, Prompt
from ..base import Conversation, Start, Wire
from ..failures import Failure
from ..titles import mcp_title, title_of
from . import errors
from .bodies import PromptBody
from .errors import failure_of
from .messages import AssistantMessage, NativeError, Session, StepFinish
from .tools import MCP_PREFIX, kind_of

DEFAULT_TITLE = "New session - "


class PendingPrompt(Struct):
    """A prompt on its way: OpenCode repeats it as a user message, which produces no event."""

    message_id: str | None
    """The id we sent along; clients in recordings usually leave it to the server."""
    texts: tuple[str, ...] = ()
    """The texts it repeats; empty for a slash command, whose text comes from the server."""


class Typed(Struct):
    """A user message that is not ours, held until all its parts are there and a turn can take it."""

    message_id: str
    texts: list[str] = []
    files: list[Attachment] = []


class Plan(Struct):
    """The file that the agent writes its plans to."""

    file: str = ""
    """The end of its path."""
    path: str | None = None
    """Its full path, once something was written there."""
    written: str = ""
    """What was written there last."""


class TurnState:
    """The state of the running turn. It is replaced as soon as a turn is over."""

    def __init__(self) -> None:
        self.alive = False
        """The agent answered in this turn, or failed to. An `idle` before that belongs to the previous turn,
        and a `busy` may.
        """
        self.busy = False
        self.idle = False
        self.running: set[str] = set()
        """Assistant messages that are not complete."""
        self.aborted = False
        self.rejected = False
        """A permission or a question was rejected, and the model was not called since."""
        self.finish: str | None = None
        self.failures: list[Failure] = []
        self.overflow: NativeError | None = None
        """The context was too long. This is an error only if no compaction follows."""
        self.texts: set[str] = set()
        """The prompts of this turn: a compaction may repeat them."""
        self.usage: Usage | None = None
        self.answered = False
        """The server has finished the command of this turn. Its events may follow, and before them an `idle` of the
        previous turn.
        """
        self.lost = False
        """The event stream broke in this turn, and no event arrived since."""
        self.idled = False
        """An `idle` came after the prompt was accepted and before any answer: if an error follows, that was
        the end.
        """
        self.feedback: str | None = None
        """The user's feedback on a rejected plan."""


class OpenCodeConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        if not self.directory:
            # A recorded client may leave it to the server, which reports it when it opens the session.
            self._metadata = structs.replace(self._metadata, directory=None)
        self.turn = TurnState()
        self.turns = 0
        """How many turns are over."""
        self.pending_prompts: list[PendingPrompt] = []
        self.typed: Typed | None = None
        self.title: str | None = None
        self.created = 0.0
        self.waiting_mcp = 0
        """MCP servers that must be added before the conversation is ready."""
        self.unconfirmed_rules = 0
        """Rule changes that the server has not confirmed."""
        self.unsent: list[tuple[PendingPrompt, PromptBody | Prompt]] = []
        """Prompts and commands that wait for them."""
        self.has_left = False
        """The session no longer uses the server: nothing is sent for it except what ends its work."""
        self.deleted_by_us = False
        self.plans: set[str] = set()
        """Questions that are plans to approve."""
        self.plan = Plan()
        self.model: str | None = None
        """The model of its last answer."""
        self.windows: Mapping[str, int] = {}
        """The context window sizes of models."""
        self.allow: Callable[[str], None] = lambda key: None
        """Allows a call without asking anyone."""
        self.feed_back: Callable[[str], None] | None = None
        """Sends the agent the user's feedback on its plan, in the running turn."""
        self._expects_trace = False

    @property
    def directory(self) -> str:
        return self.settings.directory

    def report(self, session: Session) -> None:
        """Report the session that the server opened for us."""
        directory = session.directory or self.directory
        self.native_id = session.id
        self.title = session.title
        if session.title and not session.title.startswith(DEFAULT_TITLE):
            self.scribe.uses(title=session.title)
        self.created = session.time.created
        self.plan.file = session.plan_file
        self.settings = structs.replace(self.settings, directory=directory)
        self._metadata = structs.replace(
            self._metadata, directory=directory, agent_version=session.version or self._metadata.agent_version
        )

    def mcp_prefix(self) -> str:
        """Sessions in one directory share their MCP servers; the name shows which session a server belongs
        to.
        """
        return f"{MCP_PREFIX}{(self.native_id or '')[-4:]}_"

    def mcp_servers(self) -> tuple[str, ...]:
        return tuple(f"{self.mcp_prefix()}{name}" for name in self.settings.mcp)

    def tool_name(self, tool: str) -> str:
        """The name as the client knows it, without the prefix of its server."""
        return tool.removeprefix(self.mcp_prefix())

    def title_of(self, tool: str, input: Any) -> str:
        """A title for a call of this tool."""
        name = self.tool_name(tool)
        for server in self.settings.mcp if name != tool else ():
            if name.startswith(f"{server}_"):
                return mcp_title(server, name.removeprefix(f"{server}_"))
        return title_of(name, input, kind_of(tool))

    # -- prompts --------------------------------------------------------------------------------

    def add_prompt(self, parts: Iterable[str], message_id: str | None, *, resume_turn: bool) -> PendingPrompt:
        """A prompt is sent: its texts and the paths of its files; nothing for a slash command, whose text we
        do not know.
        """
        if not resume_turn:
            self._next_turn()
        pending = PendingPrompt(message_id, tuple(part for part in parts if part))
        self.pending_prompts.append(pending)
        self.turn.idle = False
        return pending

    def take_echo(self, message_id: str, text: str | None) -> bool:
        """Whether this user message is the server's copy of one of our prompts."""
        for pending in self.pending_prompts:
            unnamed = pending.message_id is None and text is not None
            if pending.message_id == message_id or (unnamed and (text in pending.texts or not pending.texts)):
                self.pending_prompts.remove(pending)
                self.turn.texts.update(pending.texts)
                return True
        return text is not None and self.scribe.turn is not None and text in self.turn.texts

    def is_pending(self, message_id: str) -> bool:
        return any(pending.message_id == message_id for pending in self.pending_prompts)

    def refuse(self, pending: PendingPrompt, failure: Failure) -> None:
        """The server refused the prompt."""
        if pending in self.pending_prompts:
            self.pending_prompts.remove(pending)
            self.fail(failure)
            self.turn.idle = True
            self.settle()

    def withdraw_unsent(self) -> bool:
        """A cancel arrived before the prompt was sent: it is dropped, and the turn is over."""
        if not self.unsent:
            return False
        for pending, _ in self.unsent:
            self.pending_prompts.remove(pending)
        self.unsent = []
        self.turn.idle = True
        self.settle()
        return True

    def leave(self) -> None:
        self.has_left = True
        self.unsent = []

    def give_up(self, pending: PendingPrompt) -> None:
        """A command produces nothing."""
        if pending in self.pending_prompts:
            self.pending_prompts.remove(pending)
            self.turn.idle = True
            self.settle()

    def finish(self, pending: PendingPrompt) -> None:
        """The server has finished a command, which it does not repeat. Its events may arrive after its
        answer.
        """
        if pending in self.pending_prompts:
            self.pending_prompts.remove(pending)
            self.turn.answered = True
            self.settle()

    def end_overdue(self) -> None:
        """The events of a finished command have had time to arrive."""
        if self.turn.answered and not self.turn.running:
            self.turn.idle = True
            self.settle()

    # -- the turn -------------------------------------------------------------------------------

    def wake(self) -> None:
        """The agent is active: in the open turn, or in one it begins by itself."""
        self.turn.lost = False
        if not self.turn.alive:
            self.turn.alive = True
            self._expects_trace = False
        if self.scribe.turn is None:
            self.scribe.start_turn(source="agent")

    def message_began(self, message: AssistantMessage) -> None:
        self.wake()
        if message.modelID and not message.summary:
            self.model = f"{message.providerID}/{message.modelID}"
            self.scribe.uses(model=self.model)
        self.turn.running.add(message.id)
        self.turn.busy = True
        self.turn.idle = False
        self.turn.rejected = False
        self.turn.finish = None
        if message.summary:
            self.turn.overflow = None

    def message_ended(self, message: AssistantMessage) -> None:
        self.turn.running.discard(message.id)
        self.turn.finish = message.finish
        if message.error is not None:
            self.native_error(message.error, of_message=True)
        self.settle()

    def busy(self) -> None:
        if self.scribe.turn is not None:
            self.turn.lost = False
            self.turn.busy = True
            self.turn.idle = False

    def idle(self) -> None:
        # An abort before the model was called produces only an `idle`.
        began = self.turn.alive or (self.cancelling and not self.pending_prompts)
        if began and not self.turn.running:
            self.turn.busy = False
            self.turn.idle = True
            self.settle()
        elif not self.pending_prompts and not self.turn.running:
            self.turn.idled = True

    def add_usage(self, step: StepFinish, *, of_sub_agent: bool) -> None:
        tokens, model = step.tokens, self.model
        spent = Usage(
            input_tokens=round(tokens.input + tokens.cache.read + tokens.cache.write),
            output_tokens=round(tokens.output + tokens.reasoning),
            cache_read_tokens=round(tokens.cache.read),
            cache_write_tokens=round(tokens.cache.write),
            reasoning_tokens=round(tokens.reasoning),
            cost_usd=step.cost,
            context_tokens=None if of_sub_agent else round(tokens.total()),
            context_window=None if of_sub_agent or model is None else self.windows.get(model),
        )
        self.turn.usage = spent if self.turn.usage is None else self.turn.usage + spent
        self.scribe.spend(self.turn.usage)

    def native_error(self, error: NativeError, *, of_message: bool = False) -> None:
        """`session.error`, or the error that a message ended with: usually the same, reported twice."""
        if errors.is_stack_trace(error) and self._expects_trace:
            self._expects_trace = False
            return
        if self.scribe.turn is None:
            return  # A turn's error can arrive late; between turns nothing fails.
        if error.name == errors.ABORTED:
            self.turn.aborted = True
        elif error.name == errors.OUTPUT_LENGTH:
            self.turn.finish = "length"
        elif error.name == errors.OVERFLOW and not of_message:
            self.turn.overflow = error
        else:
            self._expects_trace = error.name == "UnknownError"
            self.fail(failure_of(error))
        if not of_message and not self.turn.busy and self.pending_prompts:
            # The prompt was refused before it became a message: no `idle` will follow.
            self.pending_prompts.pop(0)
            self.turn.idle = True
        if not of_message and self.turn.idled:
            self.turn.idle = True
        self.settle()

    def fail(self, failure: Failure) -> None:
        """One failure is one event, however often it is reported."""
        self.turn.alive = True
        self.turn.overflow = None
        if failure not in self.turn.failures:
            self.turn.failures.append(failure)
            self.scribe.error(failure.message, failure.code, failure.details)

    def settle(self) -> None:
        """End the turn if it is over."""
        turn = self.turn
        if self.scribe.turn is None or not turn.idle or turn.running or self.pending_prompts:
            return
        if turn.overflow is not None:
            self.fail(failure_of(turn.overflow))
        if self._continue_with_feedback():
            return
        self.scribe.end_turn(self._stop_reason(), turn.usage)
        self._next_turn()

    def _continue_with_feedback(self) -> bool:
        """A rejected plan ends the turn on the server: the user's feedback is sent as a prompt of the same
        turn.
        """
        feedback, self.turn.feedback = self.turn.feedback, None
        if feedback is None or self.cancelling or self.turn.failures or self.feed_back is None:
            return False
        self.turn.alive = False
        self.feed_back(feedback)
        return True

    def lose_turn(self) -> None:
        """The server that ran the turn no longer knows it."""
        self.scribe.crash(None, None, None, "the agent's server was lost and with it the running turn")
        self._next_turn()

    def _next_turn(self) -> None:
        self.turn = TurnState()
        self.turns += 1
        self.pending_prompts = []

    def _stop_reason(self) -> StopReason:
        turn = self.turn
        if any(failure.code == "refusal" for failure in turn.failures):
            return "refusal"
        if turn.failures:
            return "error"
        if self.cancelling or turn.aborted or turn.rejected:
            return "interrupted"
        reasons: dict[str | None, StopReason] = {"length": "max_tokens", "content-filter": "refusal"}
        return reasons.get(turn.finish, "end_turn")
