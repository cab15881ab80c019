"""What clients can choose: agents appear as providers, their models as models, their modes as OpenCode's agents,
and their commands as commands.

An agent lists its models itself, which can take seconds because its process has to start. A client waits for that only a short
time, and gets the default model of an agent that is slower. Its list is kept for the next request.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from typing import Any

from msgspec import Struct, field

from ...errors import SandboxAgentError
from ...schema.answers import AgentInfo
from ...schema.features import COMPACT, Command, Mode, Model
from .operations import Operations
from .shapes import Shape

DEFAULT = "default"
"""The model that an agent uses if none is chosen."""
WAIT_SECONDS = 3.0
FRESH_SECONDS = 300.0
RETRY_SECONDS = 30.0
MAX_OFFERS = 200
CONTEXT_TOKENS = 200_000
OUTPUT_TOKENS = 32_000
USUAL_MODES = ("build", "plan")


class Offer(Struct, frozen=True):
    """What one agent offers in a directory."""

    models: tuple[Model, ...] = ()
    modes: tuple[Mode, ...] = ()
    commands: tuple[Command, ...] = ()
    default_model: str | None = None
    asked_at: float = 0.0

    def has(self, model: str) -> bool:
        return any(offered.id == model for offered in self.models)


class Limits(Shape, frozen=True):
    context: int = field(default_factory=lambda: CONTEXT_TOKENS)
    output: int = field(default_factory=lambda: OUTPUT_TOKENS)


_MEDIA = {"text": True, "audio": False, "image": True, "video": False, "pdf": True}
CAPABILITIES: dict[str, Any] = {
    "temperature": False,
    "reasoning": True,
    "attachment": True,
    "toolcall": True,
    "input": _MEDIA,
    "output": {**_MEDIA, "image": False, "pdf": False},
    "interleaved": False,
}


class OfferedModel(Shape, frozen=True):
    id: str
    provider_id: str
    name: str
    variants: dict[str, dict[str, Any]]  # the keys are the choices
    limit: Limits = field(default_factory=Limits)
    api: dict[str, str] = field(default_factory=lambda: {"id": "", "url": "", "npm": ""})
    capabilities: dict[str, Any] = field(default_factory=lambda: CAPABILITIES)
    cost: dict[str, Any] = field(
        default_factory=lambda: {"input": 0, "output": 0, "cache": {"read": 0, "write": 0}}
    )
    status: str = field(default_factory=lambda: "active")
    options: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    release_date: str = field(default_factory=str, name="release_date")


class Provider(Shape, frozen=True):
    id: str
    name: str
    models: dict[str, OfferedModel]
    source: str = field(default_factory=lambda: "custom")
    env: tuple[str, ...] = field(default_factory=tuple)
    options: dict[str, Any] = field(default_factory=dict)


class OfferedAgent(Shape, frozen=True):
    """A mode, which OpenCode calls an agent."""

    name: str
    mode: str = field(default_factory=lambda: "primary")
    description: str | None = None
    permission: tuple[str, ...] = field(default_factory=tuple)
    options: dict[str, Any] = field(default_factory=dict)


class OfferedCommand(Shape, frozen=True):
    name: str
    description: str
    template: str = field(default_factory=str)
    hints: tuple[str, ...] = field(default_factory=tuple)
    source: str = field(default_factory=lambda: "command")


class Catalogue:
    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._offers: OrderedDict[tuple[str, str], Offer] = OrderedDict()
        self._asking: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def providers(self, directory: str) -> list[Provider]:
        listed = await self._operations.agents()
        await self._ask([info for info in listed if info.installed], directory)
        return [self._provider(info.id, directory) for info in sorted(listed, key=_worth)]

    async def modes(self, directory: str) -> list[OfferedAgent]:
        listed = await self._operations.agents()
        await self._ask([info for info in listed if info.installed], directory)
        modes = {name: OfferedAgent(name=name) for name in USUAL_MODES}
        for info in listed:
            for mode in self.offer(info.id, directory).modes:
                if mode.id not in modes and mode.id != DEFAULT:
                    about = mode.description or mode.name
                    modes[mode.id] = OfferedAgent(name=mode.id, description=about)
        return list(modes.values())

    async def commands(self, directory: str, agent: str | None) -> list[OfferedCommand]:
        """The commands of one agent, or of all; two agents may have commands of the same name."""
        listed = sorted(await self._operations.agents(), key=_worth)
        asked = [info for info in listed if info.installed and agent in (None, info.id)]
        await self._ask(asked, directory)
        commands: dict[str, OfferedCommand] = {}
        for info in asked:
            title = self._operations.title(info.id)
            for command in self.offer(info.id, directory).commands:
                about = f"{command.description} ({title})" if agent is None else command.description
                commands.setdefault(command.name, OfferedCommand(name=command.name, description=about))
        commands.pop(COMPACT.name, None)  # clients have their own
        return list(commands.values())

    async def best(self) -> str:
        """The agent of a client that names none."""
        return min(await self._operations.agents(), key=_worth).id

    async def connected(self) -> list[str]:
        return [info.id for info in await self._operations.agents() if info.installed]

    def offer(self, agent: str, directory: str) -> Offer:
        """What is known of an agent."""
        return self._offers.get((agent, directory), Offer())

    async def complete_offer(self, agent: str, directory: str) -> Offer:
        """What an agent offers; asks it if that is not known."""
        infos = [info for info in await self._operations.agents() if info.id == agent and info.installed]
        await self._ask(infos, directory)
        return self.offer(agent, directory)

    def _provider(self, agent: str, directory: str) -> Provider:
        offer = self.offer(agent, directory)
        models = {DEFAULT: OfferedModel(id=DEFAULT, provider_id=agent, name="Default", variants={})}
        for model in offer.models:
            models[model.id] = OfferedModel(
                id=model.id,
                provider_id=agent,
                name=model.name or model.id,
                variants={variant: {} for variant in model.variants or ()},
            )
        return Provider(id=agent, name=self._operations.title(agent), models=models)

    # -- asking -------------------------------------------------------------------------------

    async def _ask(self, infos: list[AgentInfo], directory: str) -> None:
        """Ask agents whose offer is missing or old; wait a short time for those whose offer is missing."""
        if not os.path.isdir(directory):
            return
        waiting = []
        for info in infos:
            key = (info.id, directory)
            known = self._offers.get(key)
            if known and time.monotonic() - known.asked_at < FRESH_SECONDS:
                continue
            task = self._asking.get(key)
            if task is None:
                task = self._asking[key] = self._operations.spawn(self._ask_one(*key))
            if known is None:
                waiting.append(task)
        if waiting:
            await asyncio.wait(waiting, timeout=WAIT_SECONDS)

    async def _ask_one(self, agent: str, directory: str) -> None:
        # An agent that fails offers its default, and is asked again soon. Creating a session says what is wrong.
        offer = Offer(asked_at=time.monotonic() - FRESH_SECONDS + RETRY_SECONDS)
        try:
            models = await self._operations.models(agent, directory)
            modes = await self._operations.modes(agent, directory)
            commands = await self._operations.commands(agent, directory)
            offer = Offer(
                tuple(models.models),
                tuple(modes.modes),
                tuple(commands),
                models.default_model,
                asked_at=time.monotonic(),
            )
        except SandboxAgentError:
            pass
        finally:
            del self._asking[agent, directory]
            self._offers[agent, directory] = offer
            self._offers.move_to_end((agent, directory))
            while len(self._offers) > MAX_OFFERS:
                self._offers.popitem(last=False)


def _worth(info: AgentInfo) -> tuple[bool, ...]:
    """Agents that can be used come first, the one that is part of the daemon last."""
    return (
        info.source == "built-in",
        not info.installed,
        not info.credentials_available,
        info.stability != "stable",
    )
