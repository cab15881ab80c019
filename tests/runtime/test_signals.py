"""An agent whose process ends with a cancelled or a failed turn: its session goes on, in a real daemon with real processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox_agent.agents.amp import Amp
from sandbox_agent.config import Config
from sandbox_agent.errors import Conflict
from sandbox_agent.runtime.daemon import Daemon
from sandbox_agent.runtime.session import Session
from sandbox_agent.schema.events import ErrorEvent, ItemCompleted, TurnEnded, TurnStarted, decode_event
from sandbox_agent.schema.inputs import Prompt, Settings
from sandbox_agent.schema.items import StatusPart, Text
from sandbox_agent.store.base import Secrets
from sandbox_agent.testing.rules import violations

SECONDS = 20.0
AGENT = Path(__file__).with_name("signalled_agent.py")


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(body(), SECONDS))


@asynccontextmanager
async def session_in(tmp_path: Path) -> AsyncIterator[Session]:
    folder = tmp_path / "data"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "amp"
    program.write_text(f"#!{sys.executable}\n{AGENT.read_text()}")
    program.chmod(0o700)
    (tmp_path / "threads").mkdir()
    daemon = Daemon(Config(data_dir=str(folder), database_url="memory:"), {"amp": Amp()})
    await daemon.start()
    try:
        secrets = Secrets({"AMP_THREADS": str(tmp_path / "threads")})
        session, failure = await daemon.create("s", "amp", Settings(str(tmp_path)), secrets)
        assert failure is None
        yield session
    finally:
        await daemon.stop()


async def events(session: Session) -> list[Any]:
    rows = await session._daemon.log.read("s", 0, 10_000)
    return [decode_event(row.body) for row in rows]


async def told(session: Session) -> list[str]:
    """The session in short: what was said, the errors and how turns ended."""
    found = await events(session)
    assert violations(found) == []
    words = []
    for event in found:
        match event.data:
            case ItemCompleted(item) if item.role == "assistant":
                words += [part.text for part in item.content if isinstance(part, Text)]
            case ItemCompleted(item) if item.kind == "status":
                words += [part.label for part in item.content if isinstance(part, StatusPart)]
            case ErrorEvent(message):
                words.append(message)
            case TurnEnded(_, metadata):
                words.append(metadata.stop_reason)
    return words


async def turn(session: Session, text: str, *, fresh: bool = False) -> None:
    await session.send(Prompt(text), key=None, fresh=fresh)
    await ended(session)


async def ended(session: Session) -> None:
    """Wait until as many turns have ended as were sent, and nothing waits."""
    async for batch in session._daemon.log.follow(session.log, 0, 60.0):
        assert batch is not None
        found = await events(session)
        open_turns = sum(isinstance(event.data, TurnStarted) for event in found) - sum(
            isinstance(event.data, TurnEnded) for event in found
        )
        if not open_turns and not session.queue and any(isinstance(one.data, TurnEnded) for one in found):
            return


def test_a_cancel_by_signal_is_no_crash_and_the_next_message_resumes(tmp_path: Path) -> None:
    async def body() -> None:
        async with session_in(tmp_path) as session:
            await turn(session, "one")
            await session.send(Prompt("hang"), key=None, fresh=False)
            await session.send(Prompt("two"), key=None, fresh=False)
            await session.cancel()
            await ended(session)
            # The third line is what the process wrote down after its last word: it was given the time.
            assert await told(session) == ["one 1", "end_turn", "queue", "interrupted", "two 3", "end_turn"]

    run(body)
