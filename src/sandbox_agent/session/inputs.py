"""Inputs of a session: commands from clients, and news from the log, the store, the link and the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from ..agents.failures import Failure
from ..errors import SandboxAgentError
from ..schema.events import Event, Stderr
from ..schema.inputs import Answer, Decision, PermissionMode, Prompt
from ..schema.limits import Limits
from ..schema.policy import PolicyRule
from ..schema.tools import ToolOutcome
from ..store.base import KeyRow, QueuedHead, QueuedMessage, Secrets

# -- commands: `id` is the runtime's handle for the caller -----------------------------------------


class Create(Struct, frozen=True):
    id: int
    secrets: Secrets


class Send(Struct, frozen=True):
    id: int
    prompt: Prompt
    fresh: bool = False
    key: str | None = None
    digest: bytes = b""
    carried: bool = False


class Withdraw(Struct, frozen=True):
    id: int
    turn: str


class Cancel(Struct, frozen=True):
    id: int
    turn: str | None = None
    """Only this turn; if it is None, whichever runs."""


class Decide(Struct, frozen=True):
    id: int
    permission: str
    decision: Decision


class Reply(Struct, frozen=True):
    id: int
    question: str
    answer: Answer


class ReplyTool(Struct, frozen=True):
    """A client has run its tool."""

    id: int
    call_id: str
    outcome: ToolOutcome


class Configure(Struct, frozen=True):
    """Holds only what changes, so that two of them cannot undo each other."""

    id: int
    title: str | None = None
    model: str | None = None
    variant: str | None = None
    agent_mode: str | None = None
    permission_mode: PermissionMode | None = None
    policy: tuple[PolicyRule, ...] | None = None
    limits: Limits | None = None


class Terminate(Struct, frozen=True):
    id: int


class Delete(Struct, frozen=True):
    id: int


class Drain(Struct, frozen=True):
    """The daemon is about to stop: nothing new begins."""


class Rest(Struct, frozen=True):
    """The daemon stops."""

    id: int


Command = (
    Create | Send | Withdraw | Cancel | Decide | Reply | ReplyTool | Configure | Terminate | Delete | Rest
)

# -- from the log -----------------------------------------------------------------------------


class Committed(Struct, frozen=True):
    """Every append up to this number is on disk."""

    number: int


class Refused(Struct, frozen=True):
    """An offer was not written, and none of it is left in the log."""

    number: int
    problem: SandboxAgentError


class Stalled(Struct, frozen=True):
    """Facts are waiting to be written, for an unknown time."""

    problem: SandboxAgentError


# -- from the store ---------------------------------------------------------------------------


class KeyFound(Struct, frozen=True):
    send: int
    row: KeyRow | None


class AskedBefore(Struct, frozen=True):
    command: int
    id: str
    known: bool


class Loaded(Struct, frozen=True):
    turn: str
    message: QueuedMessage | None


class Replay(Struct, frozen=True):
    """Stored events, from where something may be open."""

    events: Sequence[Event]


class Restored(Struct, frozen=True):
    """The replay is complete; this is the rest of the stored state."""

    pending: tuple[str, ...]
    queue: tuple[QueuedHead, ...]
    startable: bool


# -- from a link: everything about a process carries the number of the attempt that started it ---


class Ready(Struct, frozen=True):
    attempt: int
    version: str | None = None
    by_signal: bool = False


class OpenFailed(Struct, frozen=True):
    attempt: int
    problem: SandboxAgentError
    exited: bool = False
    gone: bool = False
    """The agent does not know the conversation that it was asked to resume."""


class Leaving(Struct, frozen=True):
    """The process ends by itself after this turn, or after it failed before it read the prompt."""

    attempt: int
    unread: Failure | None = None


class Stale(Struct, frozen=True):
    """The process cannot switch to new settings while it runs."""

    attempt: int


class Undelivered(Struct, frozen=True):
    """The process was already ending, so nothing was written to it."""

    attempt: int


class DeliveryFailed(Struct, frozen=True):
    attempt: int
    message: str


class Dying(Struct, frozen=True):
    """The process is gone. Its last output is still to be read; then `Exited` follows."""

    attempt: int


class Exited(Struct, frozen=True):
    attempt: int
    code: int | None = None
    signal: str | None = None
    stderr: Stderr | None = None
    message: str = ""


class Closed(Struct, frozen=True):
    """The process that we stopped, or our place on it, is gone."""

    attempt: int


class ToolCalled(Struct, frozen=True):
    """The agent calls a client's tool; `key` names the call until it is answered."""

    attempt: int
    key: str
    name: str
    arguments: Any


class ToolUnannounced(Struct, frozen=True):
    """The agent has had time enough to announce the call. Unless this is `final`, it may still do so."""

    attempt: int
    key: str
    final: bool = True


class ToolGivenUp(Struct, frozen=True):
    """Nobody answered in time, or the agent no longer waits."""

    attempt: int
    key: str
    why: str


class OutputReady(Struct, frozen=True):
    """The agent has produced output that the session must look at."""


class Broken(Struct, frozen=True):
    """An internal error while processing the agent's output."""

    message: str


class NotCarried(Struct, frozen=True):
    """Other machines cannot get the agent's conversation, and why."""

    reason: str


class Steered(Struct, frozen=True):
    """Recordings only: a prompt into an open turn."""

    prompt: Prompt


OUTPUT_READY = OutputReady()

# -- from the clock ---------------------------------------------------------------------------

TimerKind = Literal["turn", "session", "cancel", "patience", "idle"]


class Timer(Struct, frozen=True):
    kind: TimerKind
    tag: str = ""
    """Which turn, and for a time limit its value; for `idle`, whether the conversation is `resumable`."""


Input = (
    Command
    | Drain
    | Committed
    | Refused
    | Stalled
    | KeyFound
    | AskedBefore
    | Loaded
    | Replay
    | Restored
    | Ready
    | OpenFailed
    | Leaving
    | Stale
    | Undelivered
    | DeliveryFailed
    | Dying
    | Exited
    | Closed
    | ToolCalled
    | ToolUnannounced
    | ToolGivenUp
    | OutputReady
    | Broken
    | NotCarried
    | Steered
    | Timer
)
