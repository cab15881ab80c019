"""What a session wants done. The runtime carries out effects in order and does nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..agents.scribe import Draft
from ..schema.inputs import Answer as QuestionAnswer
from ..schema.inputs import Decision, Prompt, Settings
from ..schema.tools import ToolOutcome
from ..store.base import Change
from .inputs import TimerKind
from .view import View


class Append(Struct, frozen=True):
    """All of it, or nothing."""

    number: int
    drafts: list[Draft]
    changes: Sequence[Change]
    view: View | None
    """What clients see once it is written; None if unchanged."""
    refusable: bool
    """An offer: the log may refuse it, and then nothing has happened. A fact is kept until it is written."""
    blobs: Mapping[str, bytes]
    """Files to store first, by name."""
    deletes: bool = False
    """It deletes the session."""


class Answer(Struct, frozen=True):
    """The answer to a command: a result, or the error that its caller gets."""

    command: int
    result: Any = None


class Connect(Struct, frozen=True):
    attempt: int
    settings: Settings
    native_id: str | None
    resume: bool
    carried: bool = False
    """A conversation restored from the log may lack the last turns."""


class GivePrompt(Struct, frozen=True):
    turn: str
    prompt: Prompt


class GiveDecision(Struct, frozen=True):
    key: str
    decision: Decision


class GiveAnswer(Struct, frozen=True):
    key: str
    answer: QuestionAnswer


class GiveToolResult(Struct, frozen=True):
    key: str
    outcome: ToolOutcome


class Interrupt(Struct, frozen=True):
    pass


class Switch(Struct, frozen=True):
    settings: Settings


Instruction = GivePrompt | GiveDecision | GiveAnswer | GiveToolResult | Interrupt | Switch


class Instruct(Struct, frozen=True):
    """A message to the agent."""

    attempt: int
    instruction: Instruction


class Stop(Struct, frozen=True):
    """End the process, or leave the shared one; `Closed` follows."""

    attempt: int


class Arm(Struct, frozen=True):
    kind: TimerKind
    seconds: float
    tag: str = ""


class Disarm(Struct, frozen=True):
    kind: TimerKind


class LookUpKey(Struct, frozen=True):
    send: int
    key: str


class LookUpAsked(Struct, frozen=True):
    command: int
    id: str


class Load(Struct, frozen=True):
    """The body of a queued message."""

    turn: str


Question = LookUpKey | LookUpAsked | Load
"""Lookups in the store."""


class RemoveFiles(Struct, frozen=True):
    folder: str


Effect = (
    Append | Answer | Connect | Instruct | Stop | Arm | Disarm | LookUpKey | LookUpAsked | Load | RemoveFiles
)
