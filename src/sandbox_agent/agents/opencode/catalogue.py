"""Models, modes and commands: four answers of the server that make up one catalogue."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from ...schema.features import Catalogue, Command, Mode, Model
from ..base import Listed, ListFailed, Wire
from . import bodies
from .asking import Asking, OnAnswer
from .requests import failure_in, scope


class Listing:
    def __init__(self, wire: Wire, asking: Asking, directory: str) -> None:
        self._wire = wire
        self._asking = asking
        self._directory = directory
        self._agents: tuple[bodies.AgentInfo, ...] | None = None
        self._providers: bodies.Providers | None = None
        self._config: bodies.Config | None = None
        self._commands: tuple[bodies.CommandInfo, ...] | None = None
        self._failed = False

    def begin(self) -> None:
        for path in ("/agent", "/config/providers", "/config", "/command"):
            self._asking.ask("GET", f"{path}{scope(self._directory)}", None, self._on_answer(path))

    def _on_answer(self, path: str) -> OnAnswer:
        def answered(status: int, body: Raw) -> None:
            if self._failed:
                return
            if status != 200:
                self._failed = True
                self._wire.notices.append(ListFailed(failure_in(status, body).message, self._directory))
            else:
                self._read(path, body)

        return answered

    def _read(self, path: str, body: Raw) -> None:
        match path:
            case "/agent":
                self._agents = msgspec.json.decode(body, type=tuple[bodies.AgentInfo, ...])
            case "/config/providers":
                self._providers = msgspec.json.decode(body, type=bodies.Providers)
            case "/command":
                self._commands = msgspec.json.decode(body, type=tuple[bodies.CommandInfo, ...])
            case _:
                self._config = msgspec.json.decode(body, type=bodies.Config)
        agents, providers, config, commands = self._agents, self._providers, self._config, self._commands
        if agents is None or providers is None or config is None or commands is None:
            return
        catalogue = _catalogue(agents, providers, config, commands)
        self._wire.notices.append(Listed(catalogue, self._directory))


def _catalogue(
    agents: Iterable[bodies.AgentInfo],
    providers: bodies.Providers,
    config: bodies.Config,
    commands: Iterable[bodies.CommandInfo],
) -> Catalogue:
    modes = [agent for agent in agents if agent.mode != "subagent" and not agent.hidden]
    models = [
        Model(f"{provider.id}/{key}", model.name, tuple(model.variants) or None)
        for provider in providers.providers
        for key, model in provider.models.items()
    ]
    first = next((provider.id for provider in providers.providers if provider.id in providers.default), None)
    default = config.model or (f"{first}/{providers.default[first]}" if first else None)
    return Catalogue(
        tuple(models),
        tuple(Mode(mode.name, mode.name.replace("-", " ").capitalize(), mode.description) for mode in modes),
        default,
        tuple(
            Command(command.name, command.description or "", " ".join(command.hints)) for command in commands
        ),
    )
