"""The event stream of one client.

A client gets no replay and does not say what it has seen: one that lost its connection would miss what happened in the meantime, and
one that attaches to a running turn would not see its beginning, nor what waits for an answer. So a stream begins with everything
that changed recently, in events that can be repeated, and then follows the log. A client whose machine slept finds a turn that
ended hours ago unfinished on its screen, so while nothing else happens it also gets the latest turns of the last day.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING

import msgspec

from ...errors import SessionNotFound
from ...schema.events import Event, TurnEnded, TurnStarted, decode_event
from ...schema.sessions import SessionInfo
from ..inlet import Frame
from . import diffs, history, readers
from .diffs import comparing
from .ids import milliseconds
from .sessions import facts_of, session_of
from .shapes import BusEvent, DiffChanged, Nothing, SessionChanged, Toast
from .transcript import Transcript, repeated
from .waiting import waiting_messages

if TYPE_CHECKING:
    from .door import Door

HEARTBEAT_SECONDS = 10.0
RECENT_SECONDS = 120
"""A client that lost its connection usually comes back within this time."""
MAX_RECENT = 50
EARLIER_SECONDS = 24 * 3600
MAX_EARLIER = 10
MAX_WORKING = 200
MAX_MESSAGES = 100
"""As many messages as a client keeps of a session."""
MAX_FOLLOWED = 256

_encode = msgspec.json.Encoder().encode
_CONNECTED = BusEvent(type="server.connected", properties=Nothing())
_HEARTBEAT = BusEvent(type="server.heartbeat", properties=Nothing())


class _News(msgspec.Struct, frozen=True):
    deleted: bool = False


class Wrapped(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event of the stream for all directories."""

    payload: BusEvent
    directory: str | None = None
    project: str | None = None


class EventStream:
    def __init__(self, door: Door, *, is_global: bool) -> None:
        self._door = door
        self._operations = door.operations
        self._catalogue = door.catalogue
        self._is_global = is_global
        self._transcripts: OrderedDict[str, Transcript] = OrderedDict()

    async def frames(self) -> AsyncGenerator[bytes | None, None]:
        yield self._framed([_CONNECTED])
        # Follow first: what happens while the snapshot is read comes after it, and is not taken twice.
        async with (
            self._operations.follow_all() as inlet,
            comparing(self._operations, inlet) as self._comparing,
        ):
            with self._door.readers.with_reader(inlet):
                recent, earlier = await self._changed()
                for info in recent:
                    async for text in self._beginning(info):
                        yield text
                while (frames := await inlet.take(0 if earlier else HEARTBEAT_SECONDS)) is not None:
                    if earlier and not frames:
                        async for text in self._beginning(earlier.pop(0)):
                            yield text
                        continue
                    text = b"".join([await self._translated(frame) for frame in frames])
                    yield text or (self._framed([_HEARTBEAT]) if not frames else None)

    def _framed(self, events: Iterable[BusEvent], directory: str | None = None) -> bytes:
        if not self._is_global:
            return b"".join(b"data: %b\n\n" % _encode(event) for event in events)
        project = "global" if directory else None
        return b"".join(b"data: %b\n\n" % _encode(Wrapped(event, directory, project)) for event in events)

    # -- the beginning ------------------------------------------------------------------------

    async def _changed(self) -> tuple[list[SessionInfo], list[SessionInfo]]:
        """Sessions that work, wait for an answer or changed recently, and those that changed earlier."""
        now = time.time() * 1000
        working: list[SessionInfo] = []
        recent: list[SessionInfo] = []
        earlier: list[SessionInfo] = []
        async for info in self._operations.sessions():
            age = now - milliseconds(info.updated_at)
            if info.state in ("running", "requires_action"):
                working.append(info)
            elif age <= RECENT_SECONDS * 1000:
                recent.append(info)
            elif age <= EARLIER_SECONDS * 1000:
                earlier.append(info)
        earlier.sort(key=lambda info: info.updated_at, reverse=True)
        return [*recent[:MAX_RECENT], *working[:MAX_WORKING]], earlier[:MAX_EARLIER]

    async def _beginning(self, info: SessionInfo) -> AsyncGenerator[bytes, None]:
        """What a client may have missed of a session."""
        # One by one: a client that reads slowly is not sent a whole turn at once.
        for event in await self._snapshot(info):
            yield self._framed([event], info.directory)
        self._stop_keeping(info.session_id)

    async def _snapshot(self, info: SessionInfo) -> list[BusEvent]:
        facts = facts_of(info, self._catalogue)
        try:
            transcript = await history.read(self._operations, facts, MAX_MESSAGES)
        except SessionNotFound:
            return []
        since = int((time.time() - RECENT_SECONDS) * 1000)
        self._remember(info.session_id, transcript)
        changed = SessionChanged(session_id=info.session_id, info=session_of(info, facts))
        waiting = await waiting_messages(self._operations, transcript)
        return [
            BusEvent(type="session.updated", properties=changed),
            *transcript.snapshot(since),
            *(
                event
                for message in waiting.values()
                for event in repeated(message, message.info.time.created)
            ),
        ]

    def _stop_keeping(self, session_id: str) -> None:
        if transcript := self._transcripts.get(session_id):
            transcript.keep_nothing()

    # -- following ----------------------------------------------------------------------------

    async def _translated(self, frame: Frame) -> bytes:
        match frame.name:
            case "session":
                return self._session_changed(frame.data)
            case diffs.DIFF:
                changed = msgspec.json.decode(frame.data, type=DiffChanged)
                return self._framed([BusEvent(type="session.diff", properties=changed)])
            case readers.TOAST:
                toast = Toast(message=frame.data.decode())
                return self._framed([BusEvent(type="tui.toast.show", properties=toast)])
        event = decode_event(frame.data)
        transcript = await self._transcript(event)
        if transcript is None:
            return b""
        events = transcript.take(event)
        events += await self._newly_queued(transcript)
        if isinstance(event.data, TurnEnded) and event.session_id in self._door.recently_viewed:
            self._comparing.ask(event.session_id)
        numbered = [
            msgspec.structs.replace(each, id=f"{event.event_id}{index:02x}")
            for index, each in enumerate(events)
        ]
        return self._framed(numbered, transcript.facts.directory)

    def _session_changed(self, body: bytes) -> bytes:
        info = msgspec.json.decode(body, type=SessionInfo)
        facts = facts_of(info, self._catalogue)
        is_deleted = msgspec.json.decode(body, type=_News).deleted
        if transcript := self._transcripts.get(info.session_id):
            transcript.change_facts(facts)
        if is_deleted:
            self._transcripts.pop(info.session_id, None)
        is_new = info.event_count <= 1
        name = "session.deleted" if is_deleted else "session.created" if is_new else "session.updated"
        changed = SessionChanged(session_id=info.session_id, info=session_of(info, facts))
        return self._framed([BusEvent(type=name, properties=changed)], info.directory)

    async def _transcript(self, event: Event) -> Transcript | None:
        transcript = self._transcripts.get(event.session_id)
        if transcript is not None:
            self._transcripts.move_to_end(event.session_id)
            return transcript
        try:
            info = await self._operations.session(event.session_id)
            facts = facts_of(info, self._catalogue)
            if isinstance(event.data, TurnStarted):
                # A turn does not need what came before it.
                transcript = Transcript(facts)
            else:
                transcript = await history.read(self._operations, facts, 0, event.sequence - 1)
        except SessionNotFound:
            return None
        self._remember(event.session_id, transcript)
        return transcript

    def _remember(self, session_id: str, transcript: Transcript) -> None:
        self._transcripts[session_id] = transcript
        while len(self._transcripts) > MAX_FOLLOWED:
            self._transcripts.popitem(last=False)

    async def _newly_queued(self, transcript: Transcript) -> list[BusEvent]:
        """A waiting message is shown at once."""
        if transcript.newly_queued is None:
            return []
        waiting = await waiting_messages(self._operations, transcript)
        message = waiting.get(transcript.newly_queued)
        return [] if message is None else list(repeated(message, message.info.time.created))
