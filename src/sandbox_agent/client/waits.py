"""The time limits of a turn: how long it may take, and how long the agent waits for an answer. Does no waiting itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import InvalidRequest
from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.tools import ToolRequest
from .failures import AnswerNeeded, TurnTimeout
from .transcript import Transcript

if TYPE_CHECKING:
    from .asking import Request

ANSWER_SECONDS = 60.0
TIMER_SECONDS = 0.005
"""This close to a deadline it counts as passed: a timer may fire early."""


class DeadlinePassed(Exception):
    """A read did not return before its deadline."""


class ReadAgain(Exception):
    """A connection must be replaced by one whose reads end before the deadline."""


class Waits:
    """Deadlines on the monotonic clock, counted from the first read of the turn."""

    def __init__(
        self,
        timeout: float | None,
        answer_timeout: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, seconds in (("timeout", timeout), ("answer_timeout", answer_timeout)):
            if seconds is not None and math.isnan(seconds):
                raise InvalidRequest(f"`{name}` is NaN, and such a time never comes")
        self._timeout = timeout
        self._answer_timeout = answer_timeout
        self._clock = clock
        self._end: float | None = None
        self._asked: dict[str, tuple[Request, float]] = {}
        self._is_begun = False

    def begin(self) -> None:
        """Reading again after an exception restarts the deadlines, but the turn times out only once."""
        self._asked.clear()
        if not self._is_begun and self._timeout is not None:
            self._end = self._clock() + self._timeout
        else:
            self._end = None if self._is_over() else self._end
        self._is_begun = True

    def nobody_answers(self, request: Request) -> None:
        if self._answer_timeout is not None:
            self._asked[_id_of(request)] = (request, self._clock() + self._answer_timeout)

    def look(self, transcript: Transcript) -> None:
        """Drop requests that were answered in the meantime."""
        pending = {*transcript.permissions, *transcript.questions, *transcript.tool_requests}
        self._asked = {name: asked for name, asked in self._asked.items() if name in pending}

    @property
    def end(self) -> float | None:
        """The deadline of the turn."""
        return self._end

    def until(self) -> float | None:
        """The deadline of the next read."""
        deadlines = [deadline for _, deadline in self._asked.values()]
        return min([*deadlines, *([] if self._end is None else [self._end])], default=None)

    def is_sooner_than(self, until: float | None) -> bool:
        ours = self.until()
        return ours is not None and (until is None or ours < until)

    def error(self, transcript: Transcript) -> TurnTimeout | AnswerNeeded | None:
        """The exception to raise now, if any."""
        if self._is_over():
            return TurnTimeout(f"the turn took longer than {self._timeout} seconds", transcript)
        for request, deadline in self._asked.values():
            if self._has_passed(deadline):
                return AnswerNeeded(self._need(request), request, transcript)
        return None

    def _is_over(self) -> bool:
        return self._end is not None and self._has_passed(self._end)

    def _has_passed(self, deadline: float) -> bool:
        return deadline - self._clock() <= TIMER_SECONDS

    def _need(self, request: Request) -> str:
        match request:
            case PermissionRequested():
                wanted, group = f"permission to use `{request.action}`", "permissions"
                remedy = "give prompt() a callback (on_permission=...)"
            case QuestionRequested():
                wanted, group = f"an answer to: {request.prompt}", "questions"
                remedy = "give prompt() a callback (on_question=...)"
            case ToolRequest():
                wanted, group = f"the result of your tool `{request.name}`", "tool_calls"
                remedy = "give its function to client.session(id, tools=[...])"
        return (
            f"the agent is waiting for {wanted}, and no one answered within {self._answer_timeout} seconds: "
            f"{remedy}, answer with session.{group}.reply(), "
            "or let it wait for another client with answer_timeout=None"
        )


def _id_of(request: Request) -> str:
    match request:
        case PermissionRequested(id) | QuestionRequested(id) | ToolRequest(id):
            return id
