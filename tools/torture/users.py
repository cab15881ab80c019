"""Users of the daemon while it is killed: each has one session at a time, with two readers."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable, Coroutine

import msgspec

from .ledger import Promised
from .world import Refused, World

MESSAGES = (
    "hello",
    "pace 40 3",
    "pace 200 1 5",
    "flood 400 60",
    "tool",
    "parallel",
    "permission",
    "pair",
    "question",
    "subagent",
    "late 1",
    "orphan",
    "crash 3",
    "bigline 300k",
)
"""Prompts for the mock agent: much output, little output, questions, crashes and leftover processes."""

_names = itertools.count(1)


class User:
    def __init__(self, world: World, name: str, seed: str) -> None:
        self._world = world
        self._name = name
        self._random = random.Random(seed)
        self._session = ""
        self._promised = Promised()
        self._readers: list[asyncio.Task[None]] = []

    async def live(self) -> None:
        """One session after another, until cancelled."""
        try:
            with self._world.gate.member():
                while True:
                    await self._create()
                    for _ in range(self._random.randint(4, 40)):
                        await self._act()
                        await asyncio.sleep(self._random.choice((0, 0, 0.01, 0.05)))
                    await self._end()
        finally:
            for reader in self._readers:
                reader.cancel()
            await asyncio.gather(*self._readers, return_exceptions=True)

    async def _create(self) -> None:
        self._session = f"{self._name}-{next(_names)}"
        body = {"agent": "mock", "env": self._world.victim.env}
        # 409: the daemon died before it could acknowledge the session.
        await self._insist("POST", "", (200, 409), body)
        self._promised = self._world.promised[self._session] = Promised()
        self._readers = [task for task in self._readers if not task.done()]
        for patient in (True, False):
            reader = Reader(
                self._world, self._session, self._promised, self._random.random(), patient=patient
            )
            self._readers.append(asyncio.get_running_loop().create_task(reader.follow()))

    async def _end(self) -> None:
        if self._random.random() < 0.3:
            self._promised.deleted = True  # from here on anything may be gone
            await self._insist("DELETE", "", (204, 404))
            self._world.deleted.add(self._session)
            self._world.promised.pop(self._session)
        else:
            await self._insist("POST", "/terminate", (204,))
            self._promised.ended = True

    async def _act(self) -> None:
        acts: dict[Callable[[], Coroutine[None, None, None]], int] = {
            self._say: 5,
            self._answer: 6,
            self._cancel: 1,
            self._withdraw: 1,
            self._rename: 1,
        }
        [act] = self._random.choices(list(acts), list(acts.values()))
        await act()

    async def _say(self) -> None:
        text = f"{self._random.choice(MESSAGES)} no {next(_names)}"
        self._promised.sent.add(text)
        key = f"key {text}"
        # Repeated until it is answered; with its key, it must be a single turn.
        accepted = await self._insist("POST", "/messages", (202,), {"message": text}, key)
        self._promised.turns[str(accepted["turnId"])] = text
        self._world.messages += 1

    async def _answer(self) -> None:
        for kind, body in (("permission", {"reply": self._reply()}), ("question", {"answers": [["Red"]]})):
            listed = await self._world.ask("GET", f"/v1/sessions/{self._session}/{kind}s")
            waiting = listed.json()[f"{kind}s"] if listed is not None else []
            for request in waiting:
                id = request[f"{kind}_id"]
                path = f"/v1/sessions/{self._session}/{kind}s/{id}/reply"
                answer = await self._world.ask("POST", path, body)
                if answer is not None and answer.status_code == 204:
                    self._promised.answered.add(id)
                    self._world.answers += 1

    def _reply(self) -> str:
        return self._random.choice(("once", "once", "reject"))

    async def _cancel(self) -> None:
        await self._world.ask("POST", f"/v1/sessions/{self._session}/cancel")

    async def _withdraw(self) -> None:
        listed = await self._world.ask("GET", f"/v1/sessions/{self._session}/queue")
        waiting = listed.json()["messages"] if listed is not None else []
        if waiting:
            turn = self._random.choice(waiting)["turnId"]
            await self._world.ask("DELETE", f"/v1/sessions/{self._session}/queue/{turn}")

    async def _rename(self) -> None:
        await self._world.ask("PATCH", f"/v1/sessions/{self._session}", {"title": f"no {next(_names)}"})

    async def _insist(
        self, method: str, path: str, wanted: tuple[int, ...], body: object = None, key: str | None = None
    ) -> dict[str, object]:
        """Retry until there is an answer, across restarts; its status must be one of those expected."""
        headers = {} if key is None else {"idempotency-key": key}
        while True:
            answer = await self._world.ask(method, f"/v1/sessions/{self._session}{path}", body, **headers)
            if answer is None:
                continue
            if answer.status_code in wanted:
                found: dict[str, object] = msgspec.json.decode(answer.content or b"{}")
                return found
            raise RuntimeError(f"{method} {answer.url} was answered with {answer.status_code}: {answer.text}")


class Reader:
    """Follows one session across restarts; an impatient reader drops its connection now and then."""

    def __init__(self, world: World, session: str, promised: Promised, seed: float, *, patient: bool) -> None:
        self._world = world
        self._path = f"/v1/sessions/{session}/events/sse"
        self._promised = promised
        self._random = random.Random(seed)
        self._patience = None if patient else 100
        self._last = 0
        self._over = False

    async def follow(self) -> None:
        with self._world.gate.member():
            while not self._over:
                try:
                    await self._read()
                except Refused as refused:
                    if not self._promised.deleted:
                        self._promised.broken.append(f"the cursor {self._last} was {refused}")
                    return

    async def _read(self) -> None:
        drops_after = self._random.randint(1, self._patience) if self._patience else None
        frames = self._world.frames(self._path, self._last)
        try:
            async for sequence, body in frames:
                if sequence != self._last + 1:
                    self._promised.broken.append(f"{sequence} came after {self._last}")
                self._last = sequence
                self._promised.see(sequence, body)
                self._over = b'"type":"session.ended"' in body[:400]
                if drops_after is not None:
                    drops_after -= 1
                if self._over or drops_after == 0:
                    return
            # The stream ended: the daemon died, or the session was deleted.
            self._over = self._promised.deleted
        finally:
            await frames.aclose()  # type: ignore[attr-defined]


class Watcher:
    """Follows all sessions; its events are compared with those of the other readers."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last = 0
        self._sequences: dict[str, int] = {}
        self.broken: list[str] = []

    async def follow(self) -> None:
        with self._world.gate.member():
            while True:
                try:
                    async for position, body in self._world.frames("/v1/events/sse", self._last):
                        self._note(position, body)
                except Refused as refused:
                    self.broken.append(f"position {self._last} was {refused}")
                    return

    def _note(self, position: int, body: bytes) -> None:
        if position <= self._last:
            self.broken.append(f"position {position} came after {self._last}")
        self._last = position
        if not body:
            return
        event = msgspec.json.decode(body, type=_Envelope)
        before = self._sequences.get(event.session_id, 0)
        if event.sequence != before + 1:
            self.broken.append(
                f"{event.session_id}: {event.sequence} came after {before} in the stream of all"
            )
        self._sequences[event.session_id] = event.sequence
        if promised := self._world.promised.get(event.session_id):
            promised.see(event.sequence, body)


class _Envelope(msgspec.Struct):
    session_id: str
    sequence: int
