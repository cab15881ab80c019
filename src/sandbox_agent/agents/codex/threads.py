"""The threads of one process: those with an owner, those that wait for one, and those that we have left.

A sub-agent's thread is announced only after its first frames, so frames of an unknown thread wait until it
has an owner.
"""

from __future__ import annotations

from .conversation import CodexConversation
from .thread import Thread

MAX_ORPHANS = 256
MAX_ORPHANED_BYTES = 16 << 20
"""Bounds for threads that wait for an owner, and for their frames; codex stays far below them."""

MAX_LEFT = 10_000


class Threads:
    def __init__(self) -> None:
        self._owned: dict[str, Thread] = {}
        self._orphans: dict[str, list[bytes]] = {}
        self._orphaned_bytes = 0
        self._left: dict[str, None] = {}  # oldest first
        self.claimed: list[str] = []
        """Threads that have found their owner since the last `claim`."""

    def find(self, thread_id: str | None) -> Thread | None:
        return self._owned.get(thread_id or "")

    def own(self, thread: Thread) -> None:
        self._owned[thread.id] = thread
        self._left.pop(thread.id, None)
        self.claimed.append(thread.id)

    def adopt(self, agent: str, conversation: CodexConversation, call: str | None) -> None:
        """A sub-agent's thread belongs to the conversation whose call started it."""
        if agent not in self._owned:
            conversation.agents[agent] = Thread(agent, conversation, parent=call, is_agent=True)
            self.own(conversation.agents[agent])

    def forget(self, thread: Thread) -> None:
        if self._owned.get(thread.id) is thread:
            del self._owned[thread.id]

    def leave(self, thread: Thread) -> None:
        """The conversation is closed: ignore the thread's frames from now on."""
        self._left[thread.id] = None
        if len(self._left) > MAX_LEFT:
            del self._left[next(iter(self._left))]

    def has_left(self, thread_id: str) -> bool:
        return thread_id in self._left

    def keep(self, thread_id: str, frame: bytes) -> list[bytes]:
        """Keep a thread's frames until it has an owner. Returns the frames that were dropped."""
        if thread_id in self._left:
            return [frame]
        self._orphans.setdefault(thread_id, []).append(frame)
        self._orphaned_bytes += len(frame)
        dropped: list[bytes] = []
        while len(self._orphans) > MAX_ORPHANS or self._orphaned_bytes > MAX_ORPHANED_BYTES:
            dropped += self._take(next(iter(self._orphans)))
        return dropped

    def claim(self) -> list[bytes]:
        """The frames that waited for these threads' owner."""
        claimed, self.claimed = self.claimed, []
        return [frame for thread_id in claimed for frame in self._take(thread_id)]

    def _take(self, thread_id: str) -> list[bytes]:
        frames = self._orphans.pop(thread_id, [])
        self._orphaned_bytes -= sum(map(len, frames))
        return frames
