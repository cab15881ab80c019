"""The phases of a session (`Phase`), its link to an agent (`Link`), and the allowed transitions (`ALLOWED`)."""

from __future__ import annotations

from msgspec import Struct

from ..schema.inputs import Settings
from ..store.base import QueuedHead, QueuedMessage
from .inputs import Create

# -- phases -----------------------------------------------------------------------------------


class New(Struct, frozen=True):
    """Not in the store yet, so no client can see it."""

    create: Create


class Idle(Struct, frozen=True):
    """No turn runs. Background work that outlives a turn may still be open."""


class Starting(Struct, frozen=True):
    """A queued message waits for its body, or for the link."""

    head: QueuedHead
    message: QueuedMessage | None = None


class Handing(Struct, frozen=True):
    """The turn is being written; the agent has not seen it."""

    turn: str
    message: QueuedMessage
    number: int
    """Of the append that writes it."""


class Reopening(Struct, frozen=True):
    """The turn is written, but no process has taken it."""

    turn: str
    message: QueuedMessage
    tries: int = 0


class Running(Struct, frozen=True):
    turn: str
    message: QueuedMessage | None = None
    """None if the agent began the turn by itself."""
    tries: int = 1
    """How many processes were offered the prompt."""


class Cancelling(Struct, frozen=True):
    turn: str


class Ending(Struct, frozen=True):
    """`session.ended` is appended, but it is not written yet or the process is still alive."""

    number: int


class Ended(Struct, frozen=True):
    pass


class Deleting(Struct, frozen=True):
    pass


class Resting(Struct, frozen=True):
    """The daemon is stopping."""

    number: int


class Gone(Struct, frozen=True):
    """Deleted, or never created; the runtime drops it."""


Phase = (
    New
    | Idle
    | Starting
    | Handing
    | Reopening
    | Running
    | Cancelling
    | Ending
    | Ended
    | Deleting
    | Resting
    | Gone
)

# -- links ------------------------------------------------------------------------------------


class Absent(Struct, frozen=True):
    pass


class Opening(Struct, frozen=True):
    attempt: int
    settings: Settings
    resume: bool
    fresh: bool = False
    """The second attempt for a message: the conversation was lost, and this one is new."""


class Open(Struct, frozen=True):
    attempt: int
    settings: Settings
    by_signal: bool = False
    """The agent has no interrupt message; only a signal, which ends its process, stops a turn."""
    stale: bool = False
    """It must be restarted before the next turn."""


class Closing(Struct, frozen=True):
    """It accepts nothing more; `Closed` or `Exited` follows."""

    attempt: int


Link = Absent | Opening | Open | Closing

ALLOWED: dict[type[Phase], tuple[type[Phase], ...]] = {
    New: (Idle, Ended, Gone, Ending, Resting),
    Idle: (Starting, Handing, Running, Ending, Resting),
    Starting: (Idle, Starting, Handing, Running, Ending, Resting),
    Handing: (Idle, Running, Reopening, Ending, Resting),
    Reopening: (Idle, Running, Reopening, Ending, Resting),
    Running: (Idle, Running, Reopening, Cancelling, Ending, Resting),
    Cancelling: (Idle, Running, Cancelling, Ending, Resting),
    Ending: (Ending, Ended, Resting),
    Ended: (Deleting, Resting),
    Deleting: (Ended, Gone, Resting),
    Resting: (Resting,),
    Gone: (Resting,),
}
"""The phases that may follow each phase. A refused offer always returns to the phase before it."""

WITH_TURN = (Handing, Reopening, Running, Cancelling)


def current_turn(phase: Phase) -> str | None:
    """The turn that runs or is about to."""
    if isinstance(phase, Starting):
        return phase.head.turn_id
    return phase.turn if isinstance(phase, WITH_TURN) else None
