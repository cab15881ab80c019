"""What an agent waits for, the callbacks that answer it, and what these may return."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from ..schema.events import PermissionRequested, QuestionRequested
from ..schema.inputs import Answer, Decision, Reply
from ..schema.tools import ToolRequest
from .waiting import in_own_loop, is_in_loop
from .waits import DeadlinePassed

Request: TypeAlias = PermissionRequested | QuestionRequested | ToolRequest
"""A request that an agent waits for."""
PermissionAnswer: TypeAlias = "Reply | bool | Decision"
"""`True` is "once" and `False` is "reject"; a `Decision` can give a reason."""
QuestionAnswer: TypeAlias = "str | Sequence[str | Sequence[str]] | Answer | None"
"""A text for one question; a list with one entry per question, itself a list to choose several labels; None to reject."""

OnPermission: TypeAlias = Callable[[PermissionRequested], "PermissionAnswer | Awaitable[PermissionAnswer]"]
OnQuestion: TypeAlias = Callable[[QuestionRequested], "QuestionAnswer | Awaitable[QuestionAnswer]"]


def decision_of(given: object) -> Decision:
    """Convert the result of a permission callback."""
    match given:
        case Decision():
            return given
        case bool():
            return Decision("once" if given else "reject")
        case "once" | "always" | "reject":
            return Decision(given)
    raise TypeError(
        f'on_permission returned {given!r}: return "once", "always", "reject", True, False or a Decision'
    )


def answer_of(given: object) -> Answer:
    """Convert the result of a question callback."""
    match given:
        case Answer():
            return given
        case None:
            return Answer(None)
        case str():
            return Answer(((given,),))
        case [*entries]:
            return Answer(tuple(_labels(entry) for entry in entries))
    raise TypeError(_WRONG_ANSWER.format(given))


def _labels(entry: object) -> tuple[str, ...]:
    match entry:
        case str():
            return (entry,)
        case [*labels] if all(isinstance(label, str) for label in labels):
            return tuple(map(str, labels))
    raise TypeError(_WRONG_ANSWER.format(entry))


_WRONG_ANSWER = (
    "on_question returned {!r}: return a text, a list with a text or a list of labels for each question, "
    "or None to reject"
)


async def awaited(value: object, until: float | None = None) -> object:
    """The result of a callback, whether it is a coroutine function or not.

    - `until`: When to raise `DeadlinePassed` instead, on the monotonic clock. What is not a coroutine cannot be interrupted.
    """
    if inspect.isawaitable(value):
        value = await value if until is None else await _awaited_before(until, value)
    return _in_time(value, until)


def awaited_here(value: object, until: float | None = None) -> object:
    """The same for the blocking client: a coroutine runs in its own event loop."""
    if not inspect.isawaitable(value):
        return _in_time(value, until)
    import asyncio  # slow to import, and rarely needed here

    if is_in_loop():
        return in_own_loop(awaited(value, until))
    return asyncio.run(awaited(value, until))


def _in_time(value: object, until: float | None) -> object:
    if until is not None and time.monotonic() >= until:
        raise DeadlinePassed
    return value


async def _awaited_before(until: float, value: Awaitable[object]) -> object:
    import asyncio

    limit = asyncio.timeout(until - time.monotonic())
    try:
        async with limit:
            return await value
    except TimeoutError:
        if limit.expired():
            raise DeadlinePassed from None
        raise  # of the callback itself
