"""Users who talk to sessions while something breaks, and what must be true of their sessions afterwards."""

from __future__ import annotations

import threading
import time
from collections import Counter

import httpx2
import msgspec
from tests.cluster.nodes import Node
from tests.daemons import SECONDS, of_type, wait_until

from sandbox_agent.schema.events import decode_event
from sandbox_agent.testing.rules import violations


class Talker:
    """Sends messages to a session until it is stopped, each with a key until it is answered."""

    def __init__(self, node: Node, session: str) -> None:
        self._node, self._session = node, session
        self.accepted: dict[str, str] = {}
        """Turn to message."""
        self.strange: list[str] = []
        """Answers that a client must never get."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def _talk(self) -> None:
        for number in range(10_000):
            if self._over.is_set():
                return
            # Also the last one, whose outcome may be unknown: it could start a turn after we have looked.
            while not self._say(f"hello {number}", f"key {number}"):
                pass

    def _say(self, text: str, key: str) -> bool:
        try:
            answer = self._node.client.post(
                f"/v1/sessions/{self._session}/messages", {"message": text}, **{"idempotency-key": key}
            )
        except httpx2.TransportError:  # the node is being exchanged
            time.sleep(0.02)
            return False
        if answer.status_code == 202:
            self.accepted[answer.json()["turnId"]] = text
            return True
        if answer.status_code not in (429, 503):
            self.strange.append(answer.text)
        time.sleep(0.02)  # what a client does with Retry-After
        return False

    def go_on(self, messages: int = 3) -> None:
        """Wait until so many more were accepted."""
        wanted = len(self.accepted) + messages
        wait_until(lambda: len(self.accepted) >= wanted)

    def stop(self) -> None:
        self._over.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()


def check(node: Node, session: str, talker: Talker) -> None:
    """Every acknowledged message has run once, nothing has run twice, and the log has no gap."""
    talker.stop()
    assert talker.strange == [], talker.strange[:3]
    wait_until(lambda: node.client.get(f"/v1/sessions/{session}").status_code == 200)
    wait_until(lambda: node.client.info(session)["state"] == "idle")
    events = node.client.events(session)
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    started = Counter(data["turn_id"] for data in of_type(events, "turn.started"))
    assert set(started.values()) == {1}
    assert talker.accepted.keys() <= started.keys()
    counts = Counter(
        data["item"]["content"][0]["text"]
        for data in of_type(events, "item.completed")
        if data["item"]["role"] == "user"
    )
    assert set(counts.values()) == {1}
    assert violations(decode_event(msgspec.json.encode(event)) for event in events) == []
