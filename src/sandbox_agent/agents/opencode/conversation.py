"""A conversation's turn: what began it, what is still running in it, and when it is over.

OpenCode says `idle` too often (twice after an error or an abort, the first time before its last message is complete)
and too seldom (never for a prompt it refuses). A turn is over with the `idle` after its last message is complete: were it
ended before, the second `idle` would come in the next turn.
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


class Handed(Struct):
    """A prompt on its way: OpenCode repeats it as a user message, which gives no event."""

    message_id: str | None
    """Ours, sent along; clients in recordings mostly leave the id to the server."""
    texts: tuple[str, ...] = ()
    """What it repeats; empty for a slash command, whose text is the server's."""


class Typed(Struct):
    """A user message that is not ours, held until its parts are together and a turn can take it."""

    message_id: str
    texts: list[str] = []
    files: list[Attachment] = []


class Plan(Struct):
    """The file that the agent writes its plans to."""

    file: str = ""
    """The end of its path."""
    path: str | None = None
    """All of it, once something was written there."""
    written: str = ""
    """What was written there last."""


class TurnState:
    """What is known of the running turn. A new one stands ready whenever a turn is over."""

    def __init__(self) -> None:
        self.alive = False
        """The agent answered in this turn, or failed to. An `idle` before that belongs to the turn before, and so may a `busy`."""
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
        """The context was too long. An error only if no compaction follows."""
        self.texts: set[str] = set()
        """What was prompted in this turn: a compaction may repeat it."""
        self.usage: Usage | None = None
        self.model: str | None = None
        """The one that answers."""
        self.answered = False
        """The server is done with the command of this turn: its next `idle` is the end."""
        self.lost = False
        """The event stream broke in this turn, and the server said nothing since."""
        self.idled = False
        """An `idle` came after the prompt was taken and before any answer: if an error follows, that was the end."""
        self.feedback: str | None = None
        """What the user said to a plan that was rejected."""


class OpenCodeConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        if not self.directory:
            # A recorded client that left it to the server, which tells when it opens the session.
            self._metadata = structs.replace(self._metadata, directory=None)
        self.turn = TurnState()
        self.turns = 0
        """How many turns are over."""
        self.handed: list[Handed] = []
        self.typed: Typed | None = None
        self.title: str | None = None
        self.created = 0.0
        self.waiting_mcp = 0
        """MCP servers that are being added before the conversation is ready."""
        self.unruled = 0
        """Changes of its rules that the server has not confirmed."""
        self.unsent: list[tuple[Handed, PromptBody | Prompt]] = []
        """Prompts and commands that wait for that."""
        self.deleted_by_us = False
        self.plans: set[str] = set()
        """Questions that are plans to approve."""
        self.plan = Plan()
        self.windows: Mapping[str, int] = {}
        """How much the contexts of models hold."""
        self.feed_back: Callable[[str], None] | None = None
        """Gives the agent what the user said to its plan, in the running turn."""
        self._expects_trace = False

    @property
    def directory(self) -> str:
        return self.settings.directory

    def report(self, session: Session) -> None:
        """What the server says of the session it opened for us."""
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
        """Sessions in one directory share their MCP servers; the name says whose one is."""
        return f"{MCP_PREFIX}{(self.native_id or '')[-4:]}_"

    def mcp_servers(self) -> tuple[str, ...]:
        return tuple(f"{self.mcp_prefix()}{name}" for name in self.settings.mcp)

    def tool_name(self, tool: str) -> str:
        """The name as the client knows it, without the mark of whose server it is."""
        return tool.removeprefix(self.mcp_prefix())

    def title_of(self, tool: str, input: Any) -> str:
        """What a call of this tool is about."""
        name = self.tool_name(tool)
        for server in self.settings.mcp if name != tool else ():
            if name.startswith(f"{server}_"):
                return mcp_title(server, name.removeprefix(f"{server}_"))
        return title_of(name, input, kind_of(tool))

    # -- prompts --------------------------------------------------------------------------------

    def hand_over(self, parts: Iterable[str], message_id: str | None, *, resume_turn: bool) -> Handed:
        """A prompt is sent: its texts and the paths of its files, nothing for a slash command, whose text we do not know."""
        if not resume_turn:
            self._next_turn()
        handed = Handed(message_id, tuple(part for part in parts if part))
        self.handed.append(handed)
        self.turn.idle = False
        return handed

    def take_echo(self, message_id: str, text: str | None) -> bool:
        """Whether this user message is a prompt of ours that the server repeats."""
        for handed in self.handed:
            unnamed = handed.message_id is None and text is not None
            if handed.message_id == message_id or (unnamed and (text in handed.texts or not handed.texts)):
                self.handed.remove(handed)
                self.turn.texts.update(handed.texts)
                return True
        return text is not None and self.scribe.turn is not None and text in self.turn.texts

    def is_handed(self, message_id: str) -> bool:
        return any(handed.message_id == message_id for handed in self.handed)

    def refuse(self, handed: Handed, failure: Failure) -> None:
        """The server did not take the prompt."""
        if handed in self.handed:
            self.handed.remove(handed)
            self.fail(failure)
            self.turn.idle = True
            self.settle()

    def withdraw_unsent(self) -> bool:
        """A cancel came before the server heard of the prompt: it never will, and the turn is over."""
        if not self.unsent:
            return False
        for handed, _ in self.unsent:
            self.handed.remove(handed)
        self.unsent = []
        self.turn.idle = True
        self.settle()
        return True

    def give_up(self, handed: Handed) -> None:
        """Nothing comes of a command."""
        if handed in self.handed:
            self.handed.remove(handed)
            self.turn.idle = True
            self.settle()

    def finish(self, handed: Handed) -> None:
        """The server is done with a command, which it does not repeat. What it tells of it may come later than its answer."""
        if handed in self.handed:
            self.handed.remove(handed)
            self.turn.answered = True
            self.settle()

    def end_overdue(self) -> None:
        """What the server told of a command has had its time to come."""
        if self.turn.answered and not self.turn.running:
            self.turn.idle = True
            self.settle()

    # -- the turn -------------------------------------------------------------------------------

    def wake(self) -> None:
        """The agent does something: in the turn that is open, or in one it begins by itself."""
        self.turn.lost = False
        if not self.turn.alive:
            self.turn.alive = True
            self._expects_trace = False
        if self.scribe.turn is None:
            self.scribe.start_turn(source="agent")

    def message_began(self, message: AssistantMessage) -> None:
        self.wake()
        if message.modelID and not message.summary:
            self.turn.model = f"{message.providerID}/{message.modelID}"
            self.scribe.uses(model=self.turn.model)
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
        # An abort that came before the model was called gives an `idle` alone.
        began = self.turn.alive or self.turn.answered or (self.cancelling and not self.handed)
        if began and not self.turn.running:
            self.turn.busy = False
            self.turn.idle = True
            self.settle()
        elif not self.handed and not self.turn.running:
            self.turn.idled = True

    def add_usage(self, step: StepFinish, *, of_sub_agent: bool) -> None:
        tokens, model = step.tokens, self.turn.model
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

    def native_error(self, error: NativeError, *, of_message: bool = False) -> None:
        """`session.error`, or the error that a message ended with: mostly the same, told twice."""
        if errors.is_stack_trace(error) and self._expects_trace:
            self._expects_trace = False
            return
        if self.scribe.turn is None:
            return  # A turn's error can come late; between turns nothing fails.
        if error.name == errors.ABORTED:
            self.turn.aborted = True
        elif error.name == errors.OUTPUT_LENGTH:
            self.turn.finish = "length"
        elif error.name == errors.OVERFLOW and not of_message:
            self.turn.overflow = error
        else:
            self._expects_trace = error.name == "UnknownError"
            self.fail(failure_of(error))
        if not of_message and not self.turn.busy and self.handed:
            # The prompt was refused before it became a message: no `idle` will follow.
            self.handed.pop(0)
            self.turn.idle = True
        if not of_message and self.turn.idled:
            self.turn.idle = True
        self.settle()

    def fail(self, failure: Failure) -> None:
        """One failure is one event, however often it is told."""
        self.turn.alive = True
        self.turn.overflow = None
        if failure not in self.turn.failures:
            self.turn.failures.append(failure)
            self.scribe.error(failure.message, failure.code, failure.details)

    def settle(self) -> None:
        """End the turn if it is over."""
        turn = self.turn
        if self.scribe.turn is None or not turn.idle or turn.running or self.handed:
            return
        if turn.overflow is not None:
            self.fail(failure_of(turn.overflow))
        if self._goes_on():
            return
        self.scribe.end_turn(self._stop_reason(), turn.usage)
        self._next_turn()

    def _goes_on(self) -> bool:
        """A rejected plan ends the turn at the server: what the user said to it goes there as a prompt of the same turn."""
        feedback, self.turn.feedback = self.turn.feedback, None
        if feedback is None or self.cancelling or self.turn.failures or self.feed_back is None:
            return False
        self.turn.alive = False
        self.feed_back(feedback)
        return True

    def lose_turn(self) -> None:
        """The server that ran the turn does not know it any more."""
        self.scribe.crash(None, None, None, "the agent's server was lost and with it the running turn")
        self._next_turn()

    def _next_turn(self) -> None:
        self.turn = TurnState()
        self.turns += 1
        self.handed = []

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
