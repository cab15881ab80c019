"""Rejects what an agent asks during a turn of this door: nobody could answer, and the turn would wait forever.

Each turn has one watcher, which the daemon owns, so it outlives the connection of the client. A turn that a restarted daemon takes
from its queue gets its watcher when the client looks at the response.
"""

from __future__ import annotations

import contextlib

from ...errors import SandboxAgentError
from ...schema.events import (
    Event,
    ItemCompleted,
    PermissionRequested,
    QuestionRequested,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    decode_event,
)
from .ids import TurnName
from .notes import NOBODY_TO_ASK
from .operations import Operations
from .turn import is_withdrawn

RELEVANT = (
    b'"state":"withdrawn"',
    *(
        b'"type":"%b"' % kind.TYPE.encode()
        for kind in (TurnStarted, PermissionRequested, QuestionRequested, TurnEnded, SessionEnded)
    ),
)
"""What an event that is worth decoding contains: most are not."""


class Refusals:
    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._watched: set[TurnName] = set()

    def watch(self, name: TurnName, after: int, *, suspends: bool = False) -> None:
        """`suspends` stops the agent's process at the end: nobody is expected to continue the conversation soon."""
        if name not in self._watched:
            self._watched.add(name)
            self._operations.spawn(self._watch(name, after, suspends=suspends))

    async def _watch(self, name: TurnName, after: int, *, suspends: bool) -> None:
        try:
            with contextlib.suppress(SandboxAgentError):  # the session was deleted
                await self._until_end(name, after)
                if suspends:
                    await self._operations.suspend(name.session_id)
        finally:
            self._watched.discard(name)

    async def _until_end(self, name: TurnName, after: int) -> None:
        has_started = False
        async with self._operations.follow(name.session_id, after) as inlet:
            while (frames := await inlet.take()) is not None:
                for frame in frames:
                    if not any(kind in frame.data for kind in RELEVANT):
                        continue
                    event = decode_event(frame.data)
                    match event.data:
                        case TurnStarted(turn_id=name.turn_id):
                            has_started = True
                        case TurnEnded(turn_id=name.turn_id) | SessionEnded():
                            return
                        case ItemCompleted(item) if is_withdrawn(item, name.turn_id):
                            return
                        case _ if has_started:
                            await self._reject(event)

    async def _reject(self, event: Event) -> None:
        with contextlib.suppress(SandboxAgentError):  # a rule or another client was first
            match event.data:
                case PermissionRequested(permission_id=id):
                    await self._operations.reject_permission(event.session_id, id, NOBODY_TO_ASK)
                case QuestionRequested(question_id=id):
                    await self._operations.reject_question(event.session_id, id)
