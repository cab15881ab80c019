"""Callers that wait for a session: for the answer to a command, or for everything so far to be written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import SandboxAgentError
from ..session.effects import Answer


class Callers:
    def __init__(self) -> None:
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._settling: list[asyncio.Future[None]] = []

    def __bool__(self) -> bool:
        """Whether a caller is waiting."""
        return bool(self._answers)

    @contextmanager
    def waiting(self, command: int) -> Iterator[asyncio.Future[Any]]:
        """A caller that disconnects only stops waiting; the command is still carried out."""
        answer = self._answers[command] = asyncio.get_running_loop().create_future()
        try:
            yield answer
        finally:
            del self._answers[command]

    def answer(self, effect: Answer) -> None:
        answer = self._answers.get(effect.command)
        if answer is None or answer.done():
            return
        if isinstance(effect.result, SandboxAgentError):
            answer.set_exception(effect.result)
        else:
            answer.set_result(effect.result)

    def refuse_all(self, problem: SandboxAgentError) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(problem)

    async def until_settled(self) -> None:
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settling.append(written)
        await written

    def tell_settled(self) -> None:
        waiting, self._settling = self._settling, []
        for written in waiting:
            if not written.done():
                written.set_result(None)
