"""Models and modes: three answers of the server that make one catalogue."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Raw

from ...schema.features import Catalogue, Mode, Model
from ..base import Listed, ListFailed, Wire
from . import bodies
from .asking import Asking, OnAnswer
from .requests import failure_in, scope


class Listing:
    def __init__(self, wire: Wire, asking: Asking) -> None:
        self._wire = wire
        self._asking = asking
        self._agents: tuple[bodies.AgentInfo, ...] | None = None
        self._providers: bodies.Providers | None = None
        self._config: bodies.Config | None = None
        self._failed = False

    def begin(self, directory: str) -> None:
        for path in ("/agent", "/config/providers", "/config"):
            self._asking.ask("GET", f"{path}{scope(directory)}", None, self._on_answer(path))

    def _on_answer(self, path: str) -> OnAnswer:
        def answered(status: int, body: Raw) -> None:
            if self._failed:
                return
            if status != 200:
                self._failed = True
                self._wire.notices.append(ListFailed(failure_in(status, body).message))
            else:
                self._read(path, body)

        return answered

    def _read(self, path: str, body: Raw) -> None:
        match path:
            case "/agent":
                self._agents = msgspec.json.decode(body, type=tuple[bodies.AgentInfo, ...])
            case "/config/providers":
                self._providers = msgspec.json.decode(body, type=bodies.Providers)
            case _:
                self._config = msgspec.json.decode(body, type=bodies.Config)
        if self._agents is not None and self._providers is not None and self._config is not None:
            self._wire.notices.append(Listed(_catalogue(self._agents, self._providers, self._config)))


def _catalogue(
    agents: Iterable[bodies.AgentInfo], providers: bodies.Providers, config: bodies.Config
) -> Catalogue:
    modes = [one for one in agents if one.mode != "subagent" and not one.hidden]
    models = [
        Model(f"{provider.id}/{key}", model.name, tuple(model.variants) or None)
        for provider in providers.providers
        for key, model in provider.models.items()
    ]
    first = next((one.id for one in providers.providers if one.id in providers.default), None)
    default = config.model or (f"{first}/{providers.default[first]}" if first else None)
    return Catalogue(
        tuple(models),
        tuple(Mode(one.name, one.name.replace("-", " ").capitalize(), one.description) for one in modes),
        default,
    )
