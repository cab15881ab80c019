"""Installs agents: uses an installed version if it matches, otherwise tries one source after another.

Synchronous, for a thread or a command. Several processes may install into the same data directory at the same time.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..agents.base import Agent
from ..agents.environment import environment
from ..errors import InstallFailed
from ..schema.answers import Installed
from .downloads import Downloads
from .fetcher import Fetcher
from .machine import Machine, this_machine
from .node import Node
from .npm import PackedFolder, Registry
from .npm_settings import read_npm_settings
from .npm_source import NpmSource
from .problems import SourceFailed
from .progress import Progress, Tell, to_nobody
from .publishers import RECIPES, Recipe
from .shelf import Receipt, Shelf, size_of
from .version import LATEST, ask_version, check_version, is_version

Source = Downloads | NpmSource


class Attempt(Struct, frozen=True):
    """A source that failed."""

    source: str
    reason: str


class Installer:
    """`mirror` is a directory or URL that replaces all other download sources."""

    def __init__(
        self,
        data_dir: Path,
        mirror: str | None = None,
        environ: Mapping[str, str] = os.environ,
        machine: Machine | None = None,
        recipes: Mapping[str, Recipe] = RECIPES,
    ) -> None:
        self.shelf = Shelf(data_dir)
        self._mirror = _address(mirror) if mirror else None
        self._environ = environ
        self._machine = machine or this_machine()
        self._recipes = recipes
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Stop at the next piece of a download."""
        self._stopped.set()

    def install(
        self,
        agent: Agent,
        version: str | None = None,
        *,
        reinstall: bool = False,
        default: bool = True,
        tell: Tell = to_nobody,
    ) -> Installed:
        """Install an agent if needed. Without a version, use any installed one or download the tested one.

        With `default`, the version becomes the default.
        """
        check_version(version)
        if not reinstall and version != LATEST and (there := self._present(agent, version, default)):
            return there
        target = version or agent.tested_version
        if target is None:
            raise self._cannot_fetch(agent)
        return self.fetch(agent, target, reinstall=reinstall, default=default, tell=tell)

    def fetch(
        self,
        agent: Agent,
        version: str,
        *,
        reinstall: bool = False,
        default: bool = True,
        tell: Tell = to_nobody,
    ) -> Installed:
        """Install a version into the data directory, whatever is on PATH."""
        recipe = self._recipes.get(agent.name)
        if recipe is None:
            raise self._cannot_fetch(agent)
        try:
            with self.shelf.lock(agent.name, self._stopped, tell):
                # Another process may have installed it while we waited.
                if not reinstall and (there := self._shelved(agent, version, default)):
                    return there
                return self._fetch(agent, recipe, version, reinstall, default, tell)
        except OSError as error:
            why = f"{agent.title} cannot be installed into {self.shelf.bin.parent}: {error}"
            raise InstallFailed(why, agent=agent.name, version=version) from None

    def _present(self, agent: Agent, version: str | None, default: bool) -> Installed | None:
        """The agent, if the right version is in the data directory or on PATH."""
        if version is not None and (there := self._shelved(agent, version, default)):
            return there
        path = self.shelf.find(agent)
        reported = ask_version(path, environment(agent, self._environ, {})) if path else None
        # A program that does not report its version is broken and replaced; one that cannot be downloaded is used as it is.
        if (
            path is None
            or (reported is None and agent.name in self._recipes)
            or version not in (None, reported)
        ):
            return None
        return Installed(True, reported, str(path), self.shelf.source_of(agent, path))

    def _shelved(self, agent: Agent, version: str, default: bool) -> Installed | None:
        receipt = self.shelf.receipt(agent.name, version)
        # A receipt proves what was installed, not what is left of it after a power cut or a clean-up.
        if receipt is None or self._ask(agent, self.shelf.program(receipt)) != version:
            return None
        return self._installed(agent, receipt, default, already=True)

    def _fetch(
        self, agent: Agent, recipe: Recipe, version: str, reinstall: bool, default: bool, tell: Tell
    ) -> Installed:
        """Install from the first source that has the version."""
        failed: list[Attempt] = []
        for source in self._sources(agent, recipe):
            tell(Progress("asking", source.name))
            try:
                exact = _newest(source) if version == LATEST else version
                if version == LATEST and not reinstall and (there := self._shelved(agent, exact, default)):
                    return there
                receipt = self._take(agent, source, exact, tell)
            except (SourceFailed, OSError) as error:
                reason = _without_credentials(str(error))
                failed.append(Attempt(source.name, reason))
                tell(Progress("failed", source.name, reason=reason))
            else:
                return self._installed(agent, receipt, default, already=False)
        why = "; ".join(f"{attempt.source}: {attempt.reason}" for attempt in failed)
        raise InstallFailed(
            f"{agent.title} {version} could not be installed. {why}",
            agent=agent.name,
            version=version,
            sources=msgspec.to_builtins(failed),
        )

    def _sources(self, agent: Agent, recipe: Recipe) -> Iterator[Source]:
        """The download sources, in order. With a mirror, no other source is contacted."""
        fetcher = Fetcher(self._stopped)
        node = Node(self.shelf, self._machine, self._environ, self._stopped)
        try:
            if recipe.downloads is not None:
                yield Downloads(agent.name, recipe, self._machine, fetcher, self._mirror)
            if self._mirror:
                yield NpmSource(recipe, self._machine, PackedFolder(self._mirror, fetcher), node)
                return
            registry = Registry(read_npm_settings(self._environ), self._stopped)
            try:
                yield NpmSource(recipe, self._machine, registry, node)
            finally:
                registry.close()
        finally:
            fetcher.close()

    def _take(self, agent: Agent, source: Source, version: str, tell: Tell) -> Receipt:
        """Download a version, check that it runs, and move it into place."""
        with self.shelf.staging(agent.name) as staged:
            fetched = source.fetch(version, staged, tell)
            tell(Progress("checking", source.name))
            reported = self._ask(agent, staged / fetched.entry)
            if reported != version:
                answer = f"reports version {reported}" if reported else "does not report its version"
                raise SourceFailed(f"the download of {version} {answer}; this machine is {self._machine.key}")
            receipt = Receipt(
                agent.name, version, str(fetched.entry), source.name, size_of(staged), fetched.checksum
            )
            self.shelf.place(staged, receipt)
        return receipt

    def _ask(self, agent: Agent, program: Path) -> str | None:
        """Ask for the version in a temporary home, so that the program leaves nothing behind."""
        with tempfile.TemporaryDirectory(prefix="sandbox-agent-home-") as home:
            environ = {"PATH": self._environ.get("PATH", os.defpath), "HOME": home, **agent.quiet}
            return ask_version(program, environ)

    def _cannot_fetch(self, agent: Agent) -> InstallFailed:
        return InstallFailed(
            f"{agent.title} cannot be downloaded: put its program on PATH or into {self.shelf.bin}",
            agent=agent.name,
        )

    def _installed(self, agent: Agent, receipt: Receipt, default: bool, *, already: bool) -> Installed:
        path = self.shelf.program(receipt)
        if default:
            path = self.shelf.make_default(receipt, agent.executables)
        return Installed(already, receipt.version, str(path), receipt.source)


def _newest(source: Source) -> str:
    version = source.newest()
    if not is_version(version):
        raise SourceFailed(f"the newest version is {version[:80]!r}, which is not a valid version")
    return version


def _without_credentials(text: str) -> str:
    """A reason for clients: the address of a mirror or a registry may contain a password."""
    return re.sub(r"://[^/@\s]+@", "://", text)


def _address(mirror: str) -> str:
    """A URL, or the absolute path of a directory."""
    if mirror.startswith("file://"):
        mirror = mirror.removeprefix("file://")
    return mirror.rstrip("/") if "://" in mirror else str(Path(mirror).expanduser().absolute())
