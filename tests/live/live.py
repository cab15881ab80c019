"""The tools of a live test: an agent behind a daemon, and prompts that a scripted and a real model both
understand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from sandbox_agent.agents.base import Agent
from sandbox_agent.schema.ids import random_id
from sandbox_agent.testing.rules import violations
from sandbox_agent.testing.scripted_model import SCENARIOS as KNOWN
from sandbox_agent.testing.scripted_model import (
    Command,
    Delay,
    HttpError,
    Read,
    Request,
    Scenario,
    ScriptedModel,
    Step,
    Text,
    Usage,
)

from .client import DaemonProcess, Fifo, Refused, Session, Turn
from .tried import behaviour

REAL = os.environ.get("MODEL") == "real"

HELLO = "Hello from the scripted model. This text comes in several deltas."
PLAN_WORDS = "Make a plan for a file greeting.txt that says hello, and ask me to approve it. Do nothing else."
QUESTION_WORDS = (
    "Use your tool for questions to ask me two questions at once: which colour the button should have (Red or Blue), "
    "and, with several choices allowed, which checks should run (Lint, Tests or Types). Then repeat my answers."
)
SUBAGENT_WORDS = (
    "Start a sub-agent whose only job is to run the shell command: touch inner.txt && echo inner-output"
)

SKILL_WORDS = ("zebra-care", "Groom a striped horse.")


def _twice(command: str) -> list[Step]:
    return [Command(command), Text("Once more."), Command(command), Text("Done twice.")]


def _read_then_slow(words: str) -> list[Step]:
    slow = KNOWN["slow"]
    return [Read("begin.txt"), *(slow(words) if callable(slow) else slow)]


def _spend(calls: str) -> list[Step]:
    """Model calls of one cent each, where a million tokens cost a dollar."""
    steps: list[Step] = []
    for number in range(1, int(calls) + 1):
        steps += [Text(f"Call {number}."), Command(f"sleep 0.5; echo {number}"), Usage(10_000, 0)]
    return [*steps, Text("All spent.")]


def _late(scenario: str) -> list[Step]:
    steps = {**KNOWN, **SCENARIOS}[scenario]
    return [Delay(1.0), *(steps("") if callable(steps) else steps)]


# The server says when to retry: otherwise some agents would take over a minute for their attempts.
SERVER_ERROR = HttpError(500, "Scripted server error", retry_after=0)
SCENARIOS: Mapping[str, Scenario] = {
    "twice": _twice,
    "read_then_slow": _read_then_slow,
    "late": _late,
    "spend": _spend,
    "error_500": [SERVER_ERROR],
}


def _numbers(words: int) -> str:
    return f"the numbers from 1 to {words * 20} in words, all of them"


def contents(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """Every file, with whether it is executable."""
    return {
        str(file.relative_to(folder)): (file.read_bytes(), bool(file.stat().st_mode & 0o100))
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


class Live:
    """One agent on one daemon, with a workspace."""

    real = REAL

    def __init__(self, agent: Agent, daemon: DaemonProcess, model: ScriptedModel, workspace: Path) -> None:
        self.agent = agent
        self.behaviour = behaviour(agent.name)
        self.daemon = daemon
        self.model = model
        self.workspace = workspace
        self.sessions: list[Session] = []

    def session(self, **settings: Any) -> Session:
        """A new session in the workspace."""
        session = Session(self.daemon, random_id("live"))
        body = {"agent": self.agent.name, "directory": str(self.workspace), **settings}
        created = session.call("POST", "", body)
        assert created["healthy"], created
        self.sessions.append(session)
        return session

    def adopt(self, session_id: str) -> Session:
        """A session that another program created."""
        session = Session(self.daemon, session_id)
        self.sessions.append(session)
        return session

    def skilled_session(self) -> Session:
        """A session with a skill, about which the model should get `SKILL_WORDS`."""
        name, description = SKILL_WORDS
        folder = self.workspace.with_name(f"{self.workspace.name}-skills") / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\nBrush it.\n")
        self.model.look_for(*SKILL_WORDS)
        return self.session(skills={"sources": [{"type": "local", "source": str(folder.parent)}]})

    def say(self, scenario: str, argument: str, words: str) -> str:
        """A prompt: a marker for the scripted model, or text that makes a real one do the same."""
        if REAL:
            return words
        return f"SCENARIO:{scenario}:{quote_plus(argument)}" if argument else f"SCENARIO:{scenario}"

    def command(self, command: str) -> str:
        return self.say(
            "command", command, f"Run exactly this shell command, once, and nothing else: {command}"
        )

    def knows(self, turn: Turn, word: str, messages: int) -> bool:
        """Whether a turn whose prompt asked for `word` shows that the agent remembers earlier messages."""
        return word in turn.text.lower() if REAL else f"(user message {messages})" in turn.text

    def slow(self, words: int) -> str:
        """A prompt whose answer takes seconds."""
        return self.say("slow", str(words), f"Write {_numbers(words)}.")

    def echo(self, words: str) -> str:
        return words if REAL else f"{words} SCENARIO:echo"

    def failing(self, scenario: str) -> str:
        """A prompt whose answer fails."""
        return (
            self.say("late", scenario, "")
            if self.behaviour.answers_old_message
            else self.say(scenario, "", "")
        )

    def begin(self, session: Session, words: int) -> str:
        """Start a slow answer and return its turn once the agent works on it."""
        turn_id = self.send_slow(session, words)
        self.wait_until_at_work(session, turn_id)
        return turn_id

    def send_slow(self, session: Session, words: int) -> str:
        if self.agent.capabilities.streaming_deltas:
            return session.send(self.slow(words))
        # If a message is visible only when it is complete, use a tool first: the message begins after its
        # result.
        (self.workspace / "begin.txt").write_text("Go on.\n")
        asked = f"Read the file begin.txt with your tool for it. When you have, write {_numbers(words)}."
        return session.send(self.say("read_then_slow", str(words), asked))

    def wait_until_at_work(self, session: Session, turn_id: str) -> None:
        if self.agent.capabilities.streaming_deltas:
            session.first_delta(turn_id)
        else:
            session.first_result(turn_id)

    def begin_deed(self, session: Session) -> str:
        """A turn whose command has left its trace in `deeds.txt` and keeps running for minutes; its result is
        unknown.
        """
        fifo = Fifo(self.workspace / "told")
        turn_id = session.send(self.command("echo ran >> deeds.txt; echo done > told; exec sleep 300"))
        assert fifo.read_line() == "done"
        fifo.close()
        session.first_call(turn_id)
        return turn_id

    def asked_model(self, matches: Callable[[Request], bool]) -> Request:
        """The model's requests."""
        return self.model.wait_for(matches)

    def asked_times(self, name: str, times: int, within: float = 30) -> None:
        """Wait until the model was asked this often for the prompt with this name."""

        def often(_: Request) -> bool:
            asked = [
                request
                for request in self.model.requests
                if request.kind == "turn" and name in request.prompt
            ]
            return len(asked) >= times

        self.model.wait_for(often, within)

    def get(self, path: str, **query: str) -> Any:
        response = self.daemon.http.get(path, params=query)
        if not response.is_success:
            raise Refused(response)
        return response.json()

    def check_rules(self) -> None:
        """Check the ten rules on all stored events, and that the streamed events are the stored ones."""
        problems: list[str] = []
        for session in self.sessions:
            at_rest = session.info["state"] in ("idle", "ended")
            problems += violations(session.stored(), complete=at_rest)
            session.call("POST", "/terminate")
            stored = session.stored()
            problems += violations(stored)
            assert session.events == stored[: len(session.events)]
        assert problems == []
