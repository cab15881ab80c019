"""The setup that a server does when a directory is first used: it loads settings, models, tools and more.

A prompt would trigger it, but an abort in the meantime interrupts it for good: from then on every prompt in
that directory fails with "All fibers interrupted", or ends at once as if it had been aborted. So we trigger
each part by a request that is never aborted, and hold prompts back until all are done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Raw

from . import bodies
from .asking import Asking, OnAnswer
from .messages import lenient
from .requests import scope

PROVIDERS = "/config/providers"
PARTS = (PROVIDERS, "/agent", "/command", "/experimental/tool/ids", "/formatter", "/lsp", "/mcp", "/skill")
"""One request for each part of the setup."""
MAX_REMEMBERED = 1024
"""How many directories we remember as set up. A forgotten one is requested again, which costs little."""


class Bootstrap:
    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._done: dict[str, None] = {}  # directories, oldest first
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._unfinished: dict[str, set[str]] = {}  # directory -> parts without an answer
        self._windows: dict[str, int] = {}

    @property
    def windows(self) -> Mapping[str, int]:
        """The size of each model's context window, where known."""
        return self._windows

    def when_done(self, directory: str, then: Callable[[], None]) -> None:
        if directory in self._done and directory not in self._waiting:
            then()
            return
        begun = directory in self._waiting
        self._waiting.setdefault(directory, []).append(then)
        if not begun:
            self._unfinished[directory] = set(PARTS)
            for part in PARTS:
                path = f"{part}{scope(directory)}"
                # One directory's setup must not wait for another's.
                self._asking.ask("GET", path, None, self._on_answer(directory, part), long=True)

    def forget(self, directory: str | None) -> None:
        """The server has discarded its setup, for one directory or for all."""
        for gone in [directory] if directory is not None else list(self._done):
            self._done.pop(gone, None)

    def _on_answer(self, directory: str, part: str) -> OnAnswer:
        def answered(status: int, body: Raw) -> None:
            if part == PROVIDERS and status == 200:
                self._learn(lenient(body, bodies.Providers, bodies.Providers()))
                self._done[directory] = None
                if len(self._done) > MAX_REMEMBERED:
                    del self._done[next(iter(self._done))]
            self._unfinished[directory].discard(part)
            if not self._unfinished[directory]:
                del self._unfinished[directory]
                # The prompts report what went wrong.
                for then in self._waiting.pop(directory):
                    then()

        return answered

    def _learn(self, providers: bodies.Providers) -> None:
        for provider in providers.providers:
            for name, model in provider.models.items():
                if model.limit.context:
                    self._windows[f"{provider.id}/{name}"] = round(model.limit.context)
