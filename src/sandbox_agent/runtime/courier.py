"""The courier: requests for sessions of other nodes, and their answers, by way of the shared store.

Nodes need no connection to each other. A command that was not taken in time was certainly not carried out. Once it is taken, only
its answer says what happened; if its node dies first, the outcome is unknown, and the client repeats the request with its idempotency key.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from ..errors import Unavailable
from ..store.shared import Command, Node, SharedStore
from .sessions import Spawn
from .shared_log import SharedLog

logger = logging.getLogger("sandbox_agent.courier")

TAKE_SECONDS = 10.0
"""How long a node has to take a command."""
ANSWER_POLL_SECONDS = 0.5
COMMAND_POLL_SECONDS = 1.0
"""How often the store is asked if no notification arrives."""

Found = TypeVar("Found")


class Carriage(Protocol):
    """Operations as bytes."""

    def pack(self, operation: Any, request: Any, node: str) -> bytes: ...

    def unpack(self, operation: Any, status: int, answer: bytes) -> Any:
        """The result; raises if the answer is a problem."""

    def carry_out(self, name: str, request: bytes) -> Awaitable[tuple[int, bytes]]:
        """Carry out what another node asks for. Problems are answers, too."""


class Courier:
    def __init__(self, log: SharedLog, carriage: Carriage, spawn: Spawn) -> None:
        self._log = log
        self._store: SharedStore = log.store
        self._carriage = carriage
        self._spawn = spawn
        self._answered: dict[int, asyncio.Event] = {}
        self._commands = asyncio.Event()
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """Commands that wait for another node's answer."""
        return len(self._answered)

    def start(self) -> None:
        self._spawn(self._serve())

    def close(self) -> None:
        """This node is stopping: nobody may wait for another node's answer any longer."""
        self._is_closed = True
        for event in self._answered.values():
            event.set()

    # -- asking -------------------------------------------------------------------------------

    async def ask(self, node: Node, operation: Any, request: Any, session_id: str | None) -> Any:
        """Let another node carry out an operation."""
        packed = self._carriage.pack(operation, request, node.name)
        id = await self._log.ask(
            lambda: self._store.post_command(
                node.incarnation, session_id, operation.name, packed, TAKE_SECONDS
            )
        )
        self._answered[id] = asyncio.Event()
        try:
            status, answer = await self._answer(id, node)
        finally:
            del self._answered[id]
            self._spawn(self._remove(id))
        return self._carriage.unpack(operation, status, answer)

    async def _answer(self, id: int, node: Node) -> tuple[int, bytes]:
        deadline = time.monotonic() + TAKE_SECONDS
        event = self._answered[id]
        while True:
            try:
                async with asyncio.timeout(ANSWER_POLL_SECONDS):
                    await event.wait()
            except TimeoutError:
                pass
            event.clear()
            if self._is_closed:
                raise _unknown("this node stopped before the other one answered", node)
            state = await self._ask_about(node, lambda: self._store.answer_of(id))
            if state is not None and state.status is not None:
                return state.status, state.answer
            if state is None or (state.is_taken and not state.owner_lives):
                raise _unknown(f"node {node.name} stopped before it answered", node)
            if state.is_taken:
                if state.is_expired:
                    raise _unknown(f"node {node.name} does not answer", node)
                continue
            is_late = time.monotonic() > deadline or not state.owner_lives
            if is_late and await self._ask_about(node, lambda: self._store.withdraw_command(id)):
                raise Unavailable(f"node {node.name} does not answer", retryAfter=1, node=node.name)

    async def _ask_about(self, node: Node, question: Callable[[], Found]) -> Found:
        """Ask the store about a command that the other node may be carrying out."""
        try:
            return await self._log.ask(question)
        except Unavailable as problem:
            raise _unknown(problem.detail, node) from None

    async def _remove(self, id: int) -> None:
        try:
            await self._log.ask(lambda: self._store.withdraw_command(id))
        except Unavailable:
            pass  # the store removes old ones by itself

    def answered(self, id: int) -> None:
        if (event := self._answered.get(id)) is not None:
            event.set()

    # -- serving ------------------------------------------------------------------------------

    def wake(self) -> None:
        self._commands.set()

    async def _serve(self) -> None:
        while True:
            try:
                async with asyncio.timeout(COMMAND_POLL_SECONDS):
                    await self._commands.wait()
            except TimeoutError:
                pass
            self._commands.clear()
            if self._log.failure is not None:
                continue
            try:
                for command in await self._log.ask(lambda: self._store.take_commands(TAKE_SECONDS)):
                    self._spawn(self._carry_out(command))
            except Exception as error:
                logger.warning("commands of other nodes cannot be read: %s", error)

    async def _carry_out(self, command: Command) -> None:
        renewing = self._spawn(self._renew(command.id))
        try:
            status, answer = await self._carriage.carry_out(command.operation, command.request)
            await self._reply(command.id, status, answer)
        finally:
            renewing.cancel()

    async def _reply(self, id: int, status: int, answer: bytes) -> None:
        """The other node waits for it, so it is not lost with a connection."""
        deadline = time.monotonic() + TAKE_SECONDS
        while True:
            try:
                await self._log.ask(lambda: self._store.answer_command(id, status, answer))
                return
            except Unavailable:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(ANSWER_POLL_SECONDS)

    async def _renew(self, id: int) -> None:
        """Some take long, such as a create that installs its agent."""
        while True:
            await asyncio.sleep(TAKE_SECONDS / 3)
            with contextlib.suppress(Unavailable):
                await self._log.ask(lambda: self._store.renew_command(id, TAKE_SECONDS))


def _unknown(why: str, node: Node) -> Unavailable:
    return Unavailable(
        f"{why}: the request may have been carried out",
        retryAfter=1,
        node=node.name,
        outcome="unknown",
    )
