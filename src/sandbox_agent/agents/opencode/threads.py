"""The conversations on one server, the threads they run in, and the owner of each event."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .conversation import OpenCodeConversation
from .events import (
    AnyEvent,
    GlobalDisposed,
    InstanceDisposed,
    MessageUpdated,
    PartUpdated,
    ReceivedEvent,
    SessionCreated,
    SessionDeleted,
    SessionError,
    UnknownEvent,
    decode,
)
from .messages import NativeError, Session, ToolMetadata, ToolPart, lenient
from .thread import Thread

MAX_REMEMBERED = 4096
"""How many events we remember by id, since two streams may send the same, and how many messages of others."""
_SESSION_ID = re.compile(rb'"(ses_[^"]+)"')


class Threads:
    def __init__(
        self,
        cancel: Callable[[OpenCodeConversation], None],
        forget: Callable[[str | None], None],
    ) -> None:
        self.conversations: list[OpenCodeConversation] = []
        self._cancel = cancel
        self._forget = forget
        self._threads: dict[str, Thread] = {}
        self._seen: dict[str, None] = {}  # ids of events, oldest first
        self._unopened: dict[str, str] = {}
        """Messages of sessions that are not open, with their session, oldest first."""

    def add(self, conversation: OpenCodeConversation) -> None:
        self.conversations.append(conversation)

    def begin(self, native_id: str, conversation: OpenCodeConversation) -> None:
        """The conversation is open on the server, under this id."""
        thread = self._threads[native_id] = Thread(native_id, conversation)
        # A fork copies its history while we wait for its id: parts of it may arrive after that.
        thread.ignore(message for message, session in self._unopened.items() if session == native_id)

    def forget(self, conversation: OpenCodeConversation) -> None:
        self.conversations = [each for each in self.conversations if each is not conversation]
        self._keep(lambda thread: thread.conversation is not conversation)

    def get(self, native_id: str | None) -> Thread | None:
        return self._threads.get(native_id or "")

    def in_directory(self, directory: str | None) -> list[OpenCodeConversation]:
        return [
            conversation
            for conversation in self.conversations
            if directory is None or conversation.directory == directory
        ]

    def in_background(self, conversation: OpenCodeConversation) -> list[str]:
        """The sub-agents that run beside the turn."""
        threads = self._threads.values()
        return [thread.id for thread in threads if thread.conversation is conversation and thread.background]

    def reject_others(self, conversation: OpenCodeConversation, key: str) -> None:
        """One permission was rejected, and with it the other requests of its session."""
        for thread in self._threads.values():
            if thread.conversation is conversation:
                thread.calls.reject_others(key)

    def named_in(self, frame: bytes) -> Thread | None:
        """The first conversation that a frame names, whatever else it says."""
        names = (name.decode(errors="replace") for name in _SESSION_ID.findall(frame))
        return next((self._threads[name] for name in names if name in self._threads), None)

    # -- events -------------------------------------------------------------------------------

    def handle(self, data: bytes) -> None:
        received = decode(data)
        if received is None or self._is_repeated(received.id):
            return
        match received.event:
            case SessionCreated(info=info):
                self._session_created(info)
            case SessionDeleted() as deleted:
                self._session_deleted(deleted)
            case SessionError(sessionID="", error=NativeError() as error):
                for conversation in self.in_directory(received.directory):
                    conversation.scribe.system(error.data.message or error.name)
            case InstanceDisposed(directory=directory):
                self._forget(directory)
            case GlobalDisposed():
                self._forget(None)
            case UnknownEvent() as unknown:
                self._unknown(received, unknown)
            case event:
                self.route(event)

    def route(self, event: AnyEvent) -> None:
        thread = self._threads.get(event.sessionID)
        if thread is None:
            # Another client's conversation on the same server, or one that we do not know yet.
            if isinstance(event, MessageUpdated):
                self._unopened[event.info.id] = event.sessionID
                _drop_oldest(self._unopened)
            return
        conversation = thread.conversation
        was_running = set(conversation.turn.running)
        thread.receive(event)
        if isinstance(event, PartUpdated):
            self._link_sub_agent(thread, event)
        if conversation.cancelling and conversation.turn.running - was_running:
            self._cancel(conversation)  # The abort came before there was anything to abort.

    def _is_repeated(self, event_id: str | None) -> bool:
        if event_id is None:
            return False
        if event_id in self._seen:
            return True
        self._seen[event_id] = None
        _drop_oldest(self._seen)
        return False

    def _session_created(self, session: Session) -> None:
        parent = self.get(session.parentID)
        if parent is not None and session.id not in self._threads:
            self._add_sub_agent(session.id, parent)

    def _session_deleted(self, event: SessionDeleted) -> None:
        thread = self._threads.pop(event.sessionID or event.info.id, None)
        if thread is not None and thread.parent is None:
            ours = thread.conversation.deleted_by_us
            thread.conversation.scribe.agent_left(
                "terminated" if ours else "completed", by="daemon" if ours else "agent"
            )

    def _link_sub_agent(self, thread: Thread, event: PartUpdated) -> None:
        """A running `task` call names the session of its sub-agent."""
        part = event.part
        if not isinstance(part, ToolPart) or part.tool != "task":
            return
        metadata = lenient(part.state.metadata, ToolMetadata, ToolMetadata())
        if metadata.sessionId is None:
            return
        child = self._threads.get(metadata.sessionId) or self._add_sub_agent(metadata.sessionId, thread)
        if metadata.background:
            child.background = True
        if child.held is not None or child.call != part.id:
            child.release(part.id, background=metadata.background)

    def _add_sub_agent(self, session_id: str, parent: Thread) -> Thread:
        # Those of past turns are silent; one that is called again is linked again.
        self._keep(lambda thread: not thread.is_over)
        child = self._threads[session_id] = Thread(session_id, parent.conversation, parent)
        return child

    def _unknown(self, received: ReceivedEvent, unknown: UnknownEvent) -> None:
        thread = self.get(unknown.sessionID)
        if thread is None and unknown.sessionID:
            return
        for conversation in [thread.conversation] if thread else self.in_directory(received.directory):
            conversation.scribe.unknown(unknown.payload)

    def _keep(self, keeps: Callable[[Thread], bool]) -> None:
        self._threads = {name: thread for name, thread in self._threads.items() if keeps(thread)}


def _drop_oldest(remembered: dict[str, Any]) -> None:
    if len(remembered) > MAX_REMEMBERED:
        del remembered[next(iter(remembered))]
