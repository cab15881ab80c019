"""Starts the turn that a request asks for, exactly once: a retried request gets the turn of the first attempt.

Clients retry when the answer to a request is lost, and say only that this is not the first attempt. A retry has the same body, so
the digest of the body marks what the first attempt started: it is part of the id of a new session, and of the message in the log.
Both survive a crash of the daemon. Two requests with equal bodies of which neither is a retry are two requests.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import OrderedDict
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple
from weakref import WeakValueDictionary

from msgspec import Struct

from ...errors import (
    InvalidRequest,
    NotFound,
    SessionAlreadyExists,
    SessionNotFound,
)
from ...schema.sessions import SessionInfo
from ..calling import require_started
from ..exchange import DoorRequest
from . import history
from .history import FoundTurn
from .ids import TurnName
from .models import adapt, read_choice
from .operations import Operations
from .prompts import Prompt, read_prompt
from .refusals import Refusals
from .requests import InputMessage

RETRY_SECONDS = 1800
"""How long after the last change of a turn a retry still finds it. Clients retry until their timeout has passed, ten minutes
by default."""
OLDEST_SECONDS = 86_400
"""Sessions that were created before are not looked at."""
MAX_CLAIMS = 10_000
BUSY = ("running", "requires_action")


class Identity(Struct, frozen=True):
    """How a request is recognized."""

    digest: str
    mark: str
    attempt: int
    """0 unless the client sends it again."""
    is_named: bool
    """The client has named it with an `Idempotency-Key`."""

    @property
    def may_be_known(self) -> bool:
        return self.is_named or self.attempt > 0

    @property
    def key(self) -> str | None:
        return f"openai:{self.digest}" if self.is_named else None


def identity_of(request: DoorRequest, body: bytes) -> Identity:
    headers = (b"x-session-id", b"x-permission-mode", b"x-directory")
    of_body = _digest(request.path.encode(), *(request.headers.get(name, b"") for name in headers), body)
    name = request.headers.get(b"idempotency-key")
    digest = _digest(b"named", name) if name else of_body
    count = request.header(b"x-stainless-retry-count")
    attempt = int(count) if count.isdecimal() and len(count) < 6 else 0
    return Identity(digest, f"openai:{digest}.{of_body}", attempt, bool(name))


def is_ours(mark: str | None) -> bool:
    """Whether a message came through this door."""
    return mark is not None and mark.startswith("openai:")


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()[:24]


class Wanted(Struct, frozen=True):
    """What a request asks for."""

    identity: Identity
    model: str
    messages: tuple[InputMessage, ...]
    field: str
    """The member of the request that has the messages."""
    instructions: str | None = None
    previous: TurnName | None = None
    referenced: TurnName | None = None
    """The turn of the last item that the messages name. They also contain what came before it."""
    session_id: str | None = None
    permission_mode: str | None = None
    directory: str | None = None
    suspends: bool = False

    def prompt(self, *, only_new: bool = False) -> Prompt:
        return read_prompt(self.messages, self.field, instructions=self.instructions, only_new=only_new)


class Begun(NamedTuple):
    name: TurnName
    after: int
    """The turn starts after this event."""


class Intake:
    def __init__(self, operations: Operations) -> None:
        self.refusals = Refusals(operations)
        self._operations = operations
        self._beginning: dict[str, set[asyncio.Future[None]]] = {}
        self._claims: OrderedDict[str, int] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By session; each exists for as long as a request uses it."""

    async def begin(self, wanted: Wanted) -> Begun:
        digest = wanted.identity.digest
        if wanted.identity.may_be_known and (others := self._beginning.get(digest)):
            # An earlier attempt, whose client is gone, may still be creating the session.
            await asyncio.wait(others)
        done = asyncio.get_running_loop().create_future()
        self._beginning.setdefault(digest, set()).add(done)
        try:
            begun = await self._begin(wanted)
        finally:
            done.set_result(None)
            self._beginning[digest].discard(done)
            if not self._beginning[digest]:
                del self._beginning[digest]
        self.refusals.watch(*begun, suspends=wanted.suspends)
        return begun

    async def _begin(self, wanted: Wanted) -> Begun:
        if wanted.previous is not None:
            return await self._continue(wanted, wanted.previous)
        if wanted.referenced is not None:
            try:
                return await self._continue(wanted, wanted.referenced)
            except Diverged:
                pass  # the client went back, or to another agent: a new session gets the conversation as text
        if wanted.session_id is None:
            return await self._begin_new(wanted)
        try:
            info = await self._operations.session(wanted.session_id)
        except SessionNotFound:
            prompt = wanted.prompt()
            await self._create(wanted.session_id, wanted)
            return await self._send(wanted.session_id, prompt, wanted.identity.mark, wanted.identity.key, 0)
        return await self._begin_in(wanted, info)

    # -- in a new session ---------------------------------------------------------------------

    async def _begin_new(self, wanted: Wanted) -> Begun:
        prompt, identity = wanted.prompt(), wanted.identity
        session_id = await self._earlier_session(identity) if identity.may_be_known else None
        if session_id is None:
            end = "" if identity.is_named else f"-{secrets.token_hex(6)}"
            session_id = f"openai-{identity.digest}{end}"
            await self._create(session_id, wanted)
        # With a key, because the first attempt may have sent its message or may have been killed before.
        return await self._send(session_id, prompt, identity.mark, f"openai:{identity.digest}", 0)

    async def _earlier_session(self, identity: Identity) -> str | None:
        if identity.is_named:
            try:
                return (await self._operations.session(f"openai-{identity.digest}")).session_id
            except SessionNotFound:
                return None
        found = []
        async with aclosing(self._operations.sessions()) as sessions:
            async for info in sessions:
                if _age(info.created_at) > OLDEST_SECONDS:
                    break
                is_recent = info.state in BUSY or _age(info.updated_at) < RETRY_SECONDS
                if is_recent and info.session_id.startswith(f"openai-{identity.digest}-"):
                    found.append(info.session_id)
        return self._claimed(found, identity.attempt)

    def _claimed(self, found: list[str], attempt: int) -> str | None:
        """Of several equal requests, the one that this attempt repeats: each is repeated by its own client only."""
        if not found:
            return None
        chosen = next((each for each in found if self._claims.get(each, 0) < attempt), found[0])
        self._claims[chosen] = attempt
        self._claims.move_to_end(chosen)
        if len(self._claims) > MAX_CLAIMS:
            self._claims.popitem(last=False)
        return chosen

    async def _create(self, session_id: str, wanted: Wanted) -> None:
        choice = await read_choice(self._operations, wanted.model, wanted.directory)
        try:
            created = await self._operations.create(
                session_id,
                agent=choice.agent,
                model=choice.model,
                variant=choice.variant,
                permission_mode=wanted.permission_mode,
                directory=wanted.directory,
            )
        except SessionAlreadyExists:
            return  # two requests at once: the other one was first
        require_started(created)

    # -- in a session that exists -------------------------------------------------------------

    async def _begin_in(self, wanted: Wanted, info: SessionInfo) -> Begun:
        identity = wanted.identity
        if identity.may_be_known and (known := await self._earlier_turn(wanted, info)):
            return Begun(TurnName(info.session_id, known.turn_id), known.after)
        begun = await self._send_next(wanted, info, wanted.prompt(only_new=info.turns > 0))
        if identity.is_named and (turn := await history.find(self._operations, *begun.name)):
            return Begun(begun.name, turn.after)  # the key may be older than what was looked at
        return begun

    async def _earlier_turn(self, wanted: Wanted, info: SessionInfo) -> FoundTurn | None:
        found: dict[str, FoundTurn] = {}
        is_running = info.state in BUSY
        async with aclosing(history.turns(self._operations, info.session_id)) as turns:
            async for turn in turns:
                if not is_running and _age(turn.time) > RETRY_SECONDS:
                    break
                if turn.mark == wanted.identity.mark:
                    found[turn.turn_id] = turn
                if not turn.is_waiting:
                    is_running = False  # only the newest one that has started can be running
        chosen = self._claimed(list(found), max(wanted.identity.attempt, 1))
        return found[chosen] if chosen else None

    async def _continue(self, wanted: Wanted, previous: TurnName) -> Begun:
        # A response has one continuation: a second one that comes at the same time must see the first.
        lock = self._locks.setdefault(previous.session_id, asyncio.Lock())
        async with lock:
            try:
                info = await self._operations.session(previous.session_id)
                newest, newer = await self._newer(previous)
            except SessionNotFound:
                raise _unknown(previous) from None
            if wanted.previous is None and wanted.model.partition("/")[0] != info.agent:
                raise Diverged("the conversation continues with another agent", field="model")
            if newest is None or newer is None:
                return await self._send_next(wanted, info, wanted.prompt(only_new=wanted.previous is None))
        if wanted.identity.may_be_known and newer.mark == wanted.identity.mark:
            return Begun(TurnName(info.session_id, newer.turn_id), newer.after)
        raise _fork(previous, TurnName(info.session_id, newest.turn_id))

    async def _newer(self, previous: TurnName) -> tuple[FoundTurn | None, FoundTurn | None]:
        """The newest turn after a response and the oldest one after it; None if it is the latest."""
        newest = newer = None
        async with aclosing(history.turns(self._operations, previous.session_id)) as turns:
            async for turn in turns:
                if turn.turn_id == previous.turn_id:
                    return newest, newer
                newest, newer = newest or turn, turn
        raise _unknown(previous)

    # -- sending ------------------------------------------------------------------------------

    async def _send_next(self, wanted: Wanted, info: SessionInfo, prompt: Prompt) -> Begun:
        choice = await read_choice(self._operations, wanted.model, info.directory)
        await adapt(self._operations, info, choice, wanted.permission_mode)
        identity = wanted.identity
        return await self._send(info.session_id, prompt, identity.mark, identity.key, info.event_count)

    async def _send(self, session_id: str, prompt: Prompt, mark: str, key: str | None, after: int) -> Begun:
        attachments = [
            await self._operations.upload(session_id, file.content, file.filename, file.mime)
            for file in prompt.files
        ]
        turn_id = await self._operations.send(session_id, prompt.text, tuple(attachments), mark, key)
        return Begun(TurnName(session_id, turn_id), after)


def _unknown(previous: TurnName) -> NotFound:
    return NotFound(f"no response {previous.response_id}", field="previous_response_id")


class Diverged(InvalidRequest):
    """The request does not continue the latest response of its session."""


def _fork(previous: TurnName, latest: TurnName) -> Diverged:
    return Diverged(
        f"{previous.response_id} is not the latest response of its session, and an agent's conversation cannot be forked: "
        f"continue with {latest.response_id} or start a new one",
        field="previous_response_id",
    )


def _age(moment: str) -> float:
    return time.time() - datetime.fromisoformat(moment).timestamp()
