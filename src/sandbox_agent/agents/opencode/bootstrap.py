"""The setup that a server does when a directory is first used: it loads settings, plugins and models.

A prompt would trigger it, but an abort in the meantime interrupts it for good: from then on every prompt in
that directory fails with "All fibers interrupted". So we trigger it by a request that is never aborted, and
hold prompts back until it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Raw

from . import bodies
from .asking import Asking
from .messages import lenient
from .requests import scope

MOST_REMEMBERED = 1024
"""How many directories we remember as set up. A forgotten one is requested again, which costs little."""


class Bootstrap:
    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._done: dict[str, None] = {}  # directories, oldest first
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._windows: dict[str, int] = {}

    @property
    def windows(self) -> Mapping[str, int]:
        """The size of each model's context window, where known."""
        return self._windows

    def when_done(self, directory: str, then: Callable[[], None]) -> None:
        if directory in self._done:
            then()
            return
        begun = directory in self._waiting
        self._waiting.setdefault(directory, []).append(then)
        if not begun:
            path = f"/config/providers{scope(directory)}"
            self._asking.ask("GET", path, None, lambda status, body: self._finish(directory, status, body))

    def forget(self, directory: str | None) -> None:
        """The server has discarded its setup, for one directory or for all."""
        for gone in [directory] if directory is not None else list(self._done):
            self._done.pop(gone, None)

    def _finish(self, directory: str, status: int, body: Raw) -> None:
        if status == 200:
            self._learn(lenient(body, bodies.Providers, bodies.Providers()))
            self._done[directory] = None
            if len(self._done) > MOST_REMEMBERED:
                del self._done[next(iter(self._done))]
        # The prompts report what went wrong.
        for then in self._waiting.pop(directory):
            then()

    def _learn(self, providers: bodies.Providers) -> None:
        for provider in providers.providers:
            for name, model in provider.models.items():
                if model.limit.context:
                    self._windows[f"{provider.id}/{name}"] = round(model.limit.context)
