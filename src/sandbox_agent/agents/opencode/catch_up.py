"""Recovers after the event stream broke: OpenCode replays nothing, so we request the state of the open turns."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, structs

from ..base import Wait, Wire
from .asking import Asking, OnAnswer, path_of
from .bodies import Listed
from .conversation import OpenCodeConversation
from .events import MessageUpdated, PartUpdated, PermissionAsked, QuestionAsked
from .messages import Time, decode_part
from .requests import scope
from .thread import Thread
from .threads import Threads

RETRY_SECONDS = 1.0


class CatchUp:
    def __init__(self, wire: Wire, asking: Asking, threads: Threads) -> None:
        self._wire = wire
        self._asking = asking
        self._threads = threads

    def begin(self) -> None:
        """The stream was broken: request the state of the open turns."""
        directories = []
        for conversation in self._threads.conversations:
            if conversation.scribe.turn is not None:
                conversation.turn.lost = True
                if conversation.directory not in directories:
                    directories.append(conversation.directory)
        for directory in directories:
            query = scope(directory)
            self._asking.ask("GET", f"/permission{query}", None, self._on_requests(PermissionAsked))
            self._asking.ask("GET", f"/question{query}", None, self._on_requests(QuestionAsked))
            self._asking.ask("GET", f"/session/status{query}", None, self._on_statuses(directory))

    def _on_requests(self, kind: type[PermissionAsked] | type[QuestionAsked]) -> OnAnswer:
        def listed(status: int, body: Raw) -> None:
            if status == 200:
                for asked in msgspec.json.decode(body, type=tuple[kind, ...]):  # type: ignore[valid-type]
                    self._threads.route(asked)

        return listed

    def _on_statuses(self, directory: str) -> OnAnswer:
        def listed(status: int, body: Raw) -> None:
            if status != 200:
                for conversation in self._threads.in_directory(directory):
                    self._ask_later(conversation)
                return
            busy = msgspec.json.decode(body, type=dict[str, Any]).keys()
            for conversation in self._threads.in_directory(directory):
                if conversation.turn.lost:
                    conversation.turn.lost = False
                    self._ask_messages(conversation, running=conversation.native_id in busy)

        return listed

    def _ask_later(self, conversation: OpenCodeConversation) -> None:
        """The server did not say. A command that it has finished is waited for already."""
        if conversation.turn.lost and not conversation.turn.answered:
            self._wire.notices.append(Wait(conversation, RETRY_SECONDS))

    def _ask_messages(self, conversation: OpenCodeConversation, *, running: bool) -> None:
        def listed(status: int, body: Raw) -> None:
            thread = self._threads.get(conversation.native_id)
            if thread is None or conversation.scribe.turn is None:
                return
            if status != 200:
                conversation.turn.lost = True
                self._ask_later(conversation)
                return
            try:
                for message in msgspec.json.decode(body, type=tuple[Listed, ...]):
                    self._replay(thread, message)
            except msgspec.DecodeError:
                if not running:
                    conversation.lose_turn()
                raise
            if not running and conversation.scribe.turn is not None:
                conversation.pending_prompts = []
                if conversation.turn.running:
                    conversation.lose_turn()
                else:
                    conversation.turn.alive = True
                    conversation.idle()

        path = path_of(conversation, f"/session/{conversation.native_id}/message")
        self._asking.ask("GET", f"{path}&limit=50", None, listed)

    def _replay(self, thread: Thread, message: Listed) -> None:
        """Process a message of the running turn again; parts that were already seen produce nothing."""
        if not thread.is_current(message.info):
            return
        begun = structs.replace(message.info, time=Time(message.info.time.created))
        thread.receive(MessageUpdated(sessionID=thread.id, info=begun))
        for raw in message.parts:
            if (part := decode_part(raw)) is not None:
                self._threads.route(PartUpdated(sessionID=thread.id, part=part))
        thread.receive(MessageUpdated(sessionID=thread.id, info=message.info))
