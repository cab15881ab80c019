"""Heals a server that an abort has broken.

An abort before the first answer in a directory can interrupt what the server sets up for it. It keeps the interruption, and from then on
every prompt there ends at once with "All fibers interrupted", until the server throws away what it has set up.
"""

from __future__ import annotations

from msgspec import Raw

from .asking import Asking, OnAnswer, path_of
from .conversation import OpenCodeConversation, TurnState
from .opening import Opening
from .prompts import Prompts
from .threads import Threads

MOST_HEALS = 3
"""How often it is tried in one turn."""


class Healing:
    def __init__(self, asking: Asking, threads: Threads, prompts: Prompts, opening: Opening) -> None:
        self._asking = asking
        self._threads = threads
        self._prompts = prompts
        self._opening = opening

    def heal(self, conversation: OpenCodeConversation) -> bool:
        """Begin to; False when it was tried enough in this turn, or would end the turn of somebody else."""
        turn, sent = conversation.turn, conversation.sent
        if conversation.scribe.turn is None or turn.alive or turn.heals == MOST_HEALS or sent is None:
            return False
        others = [one for one in self._threads.conversations if one.scribe.turn and one.turn.alive]
        if any(other.directory == conversation.directory for other in others):
            return False
        turn.heals += 1
        # What is broken may be the server's own, which is thrown away with all directories.
        path = path_of(conversation, "/instance/dispose") if others else "/global/dispose"
        dispose = self._on_disposed(conversation, turn, everywhere=not others)
        # The prompt is given once more, and the model is to read it once.
        message = path_of(conversation, f"/session/{conversation.native_id}/message/{sent.messageID}")
        self._asking.ask(
            "DELETE", message, None, lambda status, body: self._asking.ask("POST", path, None, dispose)
        )
        return True

    def _on_disposed(
        self, conversation: OpenCodeConversation, turn: TurnState, *, everywhere: bool
    ) -> OnAnswer:
        def disposed(status: int, body: Raw) -> None:
            for one in self._threads.those_in(None if everywhere else conversation.directory):
                self._opening.bring_back_mcp(one)
            if conversation.turn is turn and not conversation.cancelling:
                self._prompts.repeat(conversation)

        return disposed
