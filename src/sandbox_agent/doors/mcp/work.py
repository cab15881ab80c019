"""Carries out the tools. Work that a call has started continues without it: a caller that gives up only stops waiting."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any

import msgspec

from ...errors import InvalidRequest, NotFound, RateLimited
from ...ops.agents import InDirectory, ListAgents, list_agents, models, modes
from ...ops.events import ReadEvents, read
from ...runtime.daemon import Daemon
from ...schema.events import Event, TurnStarted, decode_event
from ...schema.ids import random_id
from ...schema.sessions import SessionInfo
from ..acp.local import LocalOperations
from .callers import Caller, Sent
from .progress import Progress
from .tools import (
    MAX_SECONDS,
    AgentList,
    Agents,
    Answer,
    Cancel,
    EventList,
    Events,
    Given,
    ListedAgent,
    ListedSession,
    Result,
    Run,
    Send,
    SessionList,
    Sessions,
    State,
    Turn,
    Wait,
)

Report = Callable[[str], None]
"""Takes what an agent is doing, in a few words."""
MAX_STARTING = 200
MAX_EVENTS_BYTES = 20_000
MAX_EVENT_BYTES = 8_000
PAGE = 200


class Starts:
    """Messages being sent to sessions, which may take minutes if an agent must be installed first. They outlive their calls."""

    def __init__(self, daemon: Daemon) -> None:
        self._spawn = daemon.spawn
        self._starting: dict[str, asyncio.Future[Sent]] = {}

    def begin(self, name: str, work: Callable[[], Coroutine[Any, Any, Sent]]) -> asyncio.Future[Sent]:
        """Start this work, unless it is already under way."""
        if (started := self._starting.get(name)) is not None:
            return started
        if len(self._starting) >= MAX_STARTING:
            raise RateLimited(f"{MAX_STARTING} calls are already starting something", retryAfter=5)
        future: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        self._starting[name] = future
        self._spawn(self._carry_out(name, future, work))
        return future

    def find(self, name: str) -> asyncio.Future[Sent] | None:
        return self._starting.get(name)

    async def _carry_out(
        self, name: str, future: asyncio.Future[Sent], work: Callable[[], Coroutine[Any, Any, Sent]]
    ) -> None:
        try:
            future.set_result(await work())
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:
            future.set_exception(error)
            future.exception()  # nobody may be waiting
        finally:
            del self._starting[name]


class Work:
    """The tools of one caller.

    - `key`: Names a call that may be repeated; a repeated one sends no second message.
    """

    def __init__(self, daemon: Daemon, caller: Caller, starts: Starts) -> None:
        self._daemon = daemon
        self._operations = LocalOperations(daemon)
        self._caller = caller
        self._starts = starts

    async def carry_out(self, given: Given, key: str | None, report: Report) -> Result:
        match given:
            case Run():
                return await self._run(given, key, report)
            case Send():
                return await self._send(given, key)
            case Wait():
                return await self._wait(given, report)
            case Answer():
                return await self._answer(given, report)
            case Cancel(session_id=session_id):
                await self._caller.find(session_id)
                await self._operations.cancel(session_id)
                return State(session_id=session_id, state=(await self._caller.find(session_id)).state)
            case Sessions():
                return await self._sessions(given.limit or 20)
            case Agents():
                return await self._agents(given.agent)
            case Events():
                return await self._events(given)
        raise AssertionError(f"no tool takes {given}")

    # -- turns --------------------------------------------------------------------------------

    async def _run(self, given: Run, key: str | None, report: Report) -> Turn:
        deadline = _deadline(given.timeout_s)
        session_id = given.session_id
        if not given.prompt.strip():
            raise InvalidRequest("`prompt` is empty", field="prompt")
        if session_id is not None:
            if named := [
                name for name in ("agent", "directory", "model", "permission_mode") if getattr(given, name)
            ]:
                raise InvalidRequest(
                    f"`{named[0]}` is for a new session, `session_id` for an existing one", field=named[0]
                )
            sent = await self._sent(session_id, given.prompt, key)
            return await self._watch(Progress(session_id, sent.turn_id, sent.after), deadline, report)
        new_id = _session_for(key)
        report(f"session {new_id} starts")
        starting = self._starts.begin(self._name(new_id), lambda: self._caller.start(new_id, given, key))
        return await self._begun(new_id, starting, deadline, report)

    def _name(self, session_id: str) -> str:
        """A session that is being started; only its caller knows it."""
        return f"{self._caller.name}/{session_id}"

    async def _sent(self, session_id: str, prompt: str, key: str | None) -> Sent:
        name = self._name(random_id("send"))
        return await asyncio.shield(
            self._starts.begin(name, lambda: self._caller.send(session_id, prompt, key))
        )

    async def _begun(
        self, session_id: str, starting: asyncio.Future[Sent], deadline: float, report: Report
    ) -> Turn:
        try:
            async with asyncio.timeout_at(deadline):
                sent = await asyncio.shield(starting)
        except TimeoutError:
            return Turn(session_id=session_id, status="starting", text="", offset=0)
        return await self._watch(Progress(session_id, sent.turn_id, sent.after), deadline, report)

    async def _send(self, given: Send, key: str | None) -> Turn:
        sent = await self._sent(given.session_id, given.prompt, key)
        return Turn(
            session_id=given.session_id,
            status="running",
            text="",
            offset=sent.after,
            turn_id=sent.turn_id,
        )

    async def _wait(self, given: Wait, report: Report) -> Turn:
        deadline = _deadline(given.timeout_s)
        if (starting := self._starts.find(self._name(given.session_id))) is not None:
            return await self._begun(given.session_id, starting, deadline, report)
        return await self._watch(await self._progress(given), deadline, report)

    async def _answer(self, given: Answer, report: Report) -> Turn:
        self._caller.check_answers()
        deadline = _deadline(given.timeout_s)
        info = await self._caller.find(given.session_id)
        if (given.permission_id is None) == (given.question_id is None):
            raise InvalidRequest("give either `permission_id` or `question_id`", field="permission_id")
        if given.permission_id is not None:
            if given.reply is None:
                raise InvalidRequest("`reply` is missing: once, always or reject", field="reply")
            await self._operations.decide(given.session_id, given.permission_id, given.reply, given.message)
        else:
            assert given.question_id is not None
            await self._operations.answer(given.session_id, given.question_id, given.answers)
        progress = await self._progress(Wait(session_id=given.session_id, after=info.event_count))
        return await self._watch(progress, deadline, report)

    async def _progress(self, given: Wait) -> Progress:
        """What a session is doing, or the turn that is named, as far as the log says."""
        info = await self._caller.find(given.session_id)
        if given.after is not None and given.after > info.event_count:
            raise InvalidRequest("`after` is beyond the log", field="after")
        start = await self._turn_start(info, given.turn_id)
        if start is None and given.turn_id is not None:
            if info.state in ("idle", "ended"):
                raise NotFound(f"session {info.session_id} has no turn {given.turn_id}", turnId=given.turn_id)
            start = info.event_count  # it is queued
        progress = Progress(info.session_id, given.turn_id, given.after or 0)
        progress.offset = start or 0
        return progress

    async def _turn_start(self, info: SessionInfo, wanted: str | None) -> int | None:
        """The sequence before the start of a turn, or of the last one; None if it is not in the log."""
        end = info.event_count
        while end > 0:
            begin = max(0, end - PAGE)
            stored = [event async for event in self._stored(info.session_id, begin, end)]
            for event in reversed(stored):
                if isinstance(event.data, TurnStarted) and wanted in (None, event.data.turn_id):
                    return event.sequence - 1
            end = begin
        return None

    async def _stored(self, session_id: str, after: int, end: int) -> AsyncGenerator[Event, None]:
        while after < end:
            page = await read(self._daemon, ReadEvents(session_id, after, min(PAGE, end - after)))
            for body in page.events:
                event = decode_event(bytes(body))
                after = event.sequence
                yield event

    async def _watch(self, progress: Progress, deadline: float, report: Report) -> Turn:
        """Follow the log until the turn has ended or waits for an answer, but not beyond the deadline."""
        committed = (await self._caller.find(progress.session_id)).event_count
        async for event in self._stored(progress.session_id, progress.offset, committed):
            progress.take(event)
        if progress.is_settled:
            return progress.turn()
        try:
            async with (
                asyncio.timeout_at(deadline),
                aclosing(self._operations.events(progress.session_id, progress.offset)) as events,
            ):
                async for event in events:
                    progress.take(event)
                    report(progress.message)
                    if progress.is_settled and await self._stays(progress):
                        break
        except TimeoutError:
            pass
        return progress.turn()

    async def _stays(self, progress: Progress) -> bool:
        """Leave out requests that a rule answers: they do not wait for anyone."""
        return progress.is_over or (await self._caller.find(progress.session_id)).state != "running"

    # -- lists --------------------------------------------------------------------------------

    async def _sessions(self, limit: int) -> SessionList:
        listed: list[ListedSession] = []
        async with aclosing(self._caller.sessions()) as found:
            async for info in found:
                listed.append(_listed(info))
                if len(listed) == limit:
                    break
        return SessionList(sessions=tuple(listed))

    async def _agents(self, named: str | None) -> AgentList:
        if named is not None:
            self._daemon.agent(named)
        listed = []
        for info in (await list_agents(self._daemon, ListAgents())).agents:
            agent = ListedAgent(
                agent=info.id, installed=info.installed, has_credentials=info.credentials_available
            )
            listed.append(await self._with_choices(agent) if info.id == named else agent)
        return AgentList(agents=tuple(listed))

    async def _with_choices(self, agent: ListedAgent) -> ListedAgent:
        place = InDirectory(agent.agent)
        offered = await models(self._daemon, place)
        return msgspec.structs.replace(
            agent,
            models=tuple(model.id for model in offered.models),
            default_model=offered.default_model,
            modes=tuple(mode.id for mode in (await modes(self._daemon, place)).modes),
        )

    async def _events(self, given: Events) -> EventList:
        await self._caller.find(given.session_id)
        offset = given.offset or 0
        page = await read(self._daemon, ReadEvents(given.session_id, offset, given.limit or 100))
        taken: list[msgspec.Raw] = []
        size = 0
        for event in page.events:
            short = _short(event)
            size += len(short)
            if taken and size > MAX_EVENTS_BYTES:
                break
            taken.append(msgspec.Raw(short))
        has_more = page.has_more or len(taken) < len(page.events)
        # Sequences have no gaps.
        return EventList(events=tuple(taken), offset=offset + len(taken), has_more=has_more)


def _session_for(key: str | None) -> str:
    """A repeated call finds the session of its first attempt."""
    return random_id("ses") if key is None else f"ses_{hashlib.sha256(key.encode()).hexdigest()[:20]}"


def _deadline(seconds: float | None) -> float:
    return asyncio.get_running_loop().time() + (MAX_SECONDS if seconds is None else seconds)


def _listed(info: SessionInfo) -> ListedSession:
    return ListedSession(
        session_id=info.session_id,
        agent=info.agent,
        state=info.state,
        permission_mode=info.permission_mode,
        directory=info.directory,
        updated_at=info.updated_at,
        title=info.title,
        model=info.model,
    )


def _short(event: msgspec.Raw) -> bytes:
    """An event; of a long one, its beginning as text."""
    body = bytes(event)
    if len(body) <= MAX_EVENT_BYTES:
        return body
    whole = decode_event(body)
    beginning = body[:MAX_EVENT_BYTES].decode(errors="ignore")
    return msgspec.json.encode(
        {"sequence": whole.sequence, "type": whole.type, "bytes": len(body), "beginning": beginning}
    )
