"""The HTTP response behind a method's result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

from .call import Answer

T = TypeVar("T")


class RawResponse(NamedTuple, Generic[T]):
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    content: bytes
    parsed: T
    """What the method normally returns."""


_recorded: ContextVar[list[Answer] | None] = ContextVar("recorded", default=None)


@contextmanager
def recording() -> Iterator[list[Answer]]:
    """The responses that this task or thread gets in the block."""
    answers: list[Answer] = []
    token = _recorded.set(answers)
    try:
        yield answers
    finally:
        _recorded.reset(token)


def record(answer: Answer) -> Answer:
    if (answers := _recorded.get()) is not None:
        answers.append(answer)
    return answer


def raw_response(answers: list[Answer], parsed: T) -> RawResponse[T]:
    if not answers:
        raise TypeError("with_raw_response() takes a method that sends a request and returns its response")
    last = answers[-1]
    return RawResponse(last.status, last.headers, last.content, parsed)
