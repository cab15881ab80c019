"""Lays out the skills of a session. A repository is fetched once and shared; each session gets a copy of its own.

So a later change of a source does not change a running session, and nothing refers to a fetched repository for longer than a copy
takes.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from ..errors import InvalidRequest, Unavailable
from ..files.work import Files
from ..schema.skills import Skill, SkillSource
from .checkout import Checkout
from .folder import Budget, FoundSkill, SkillFolder
from .refusal import SourceRefused
from .repository import Repository, repository_of

FRESH_SECONDS = 600.0
"""After this time a branch or tag is fetched again; a commit never is."""
MAX_KEPT = 16
MAX_FETCHES = 4
MAX_SKILLS = 100


class Fetched:
    """A repository in the data directory."""

    def __init__(self, folder: Path, tree: Path, commit: str) -> None:
        self.folder = folder
        self.tree = tree
        self.commit = commit
        self.fetched_at = time.monotonic()
        self.users = 0


class _Chosen(NamedTuple):
    """A skill, and where it comes from."""

    skill: FoundSkill
    folder: SkillFolder
    source: str
    commit: str | None


class Library:
    def __init__(self, folder: Path, instance: str, files: Files) -> None:
        self._folder = folder
        self._instance = instance
        self._files = files
        self._kept: dict[str, Fetched] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._fetches = asyncio.Semaphore(MAX_FETCHES)

    async def clear(self) -> None:
        """Remove what an earlier daemon fetched."""
        await self._files.run(shutil.rmtree, self._folder, ignore_errors=True)

    async def lay_out(self, sources: Iterable[SkillSource], destination: Path) -> tuple[Skill, ...]:
        """Copy the skills of all sources to a new folder. Of two skills with the same name, the first one counts.

        If this raises, part of the folder may exist.
        """
        laid_out: dict[str, Skill] = {}
        budget = Budget()
        for source in sources:
            try:
                async with self._opened(source) as (folder, commit):
                    chosen = await self._files.run(_choose, source, folder, commit)
                    new = [each for each in chosen if each.skill.name not in laid_out]
                    laid_out |= {each.skill.name: _listed(each) for each in new}
                    if len(laid_out) > MAX_SKILLS:
                        raise SourceRefused(f"a session can have {MAX_SKILLS} skills")
                    await self._files.run(_copy, new, destination, budget)
            except SourceRefused as refused:
                text = f"the skills of `{source.source}` cannot be used: {refused}"
                raise InvalidRequest(text, field="skills", source=source.source) from None
            except OSError as error:
                raise Unavailable(f"the skills cannot be copied: {error.strerror}", retryAfter=5) from error
        return tuple(laid_out.values())

    @asynccontextmanager
    async def _opened(self, source: SkillSource) -> AsyncIterator[tuple[SkillFolder, str | None]]:
        subpath = _checked(source.subpath or "")
        if source.type == "local":
            if not source.source.startswith("/") or "\0" in source.source:
                raise SourceRefused("a local source is an absolute path")
            yield await self._files.run(SkillFolder, source.source, subpath), None
            return
        repository = repository_of(source)
        fetched = await self._fetched(repository, subpath)
        fetched.users += 1
        try:
            yield await self._files.run(SkillFolder, str(fetched.tree)), fetched.commit
        finally:
            fetched.users -= 1
            # Only now: until it has a user, a new one would be surplus itself if all others are in use.
            await self._forget(self._surplus())

    async def _fetched(self, repository: Repository, subpath: str) -> Fetched:
        key = "\n".join((repository.url, repository.ref, subpath))
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            kept = self._kept.get(key)
            if kept is not None:
                if repository.is_pinned or time.monotonic() - kept.fetched_at < FRESH_SECONDS:
                    return kept
                del self._kept[key]
                await self._forget([kept])
            async with self._fetches:
                fetched = await self._fetch(repository, subpath)
            self._kept[key] = fetched
            return fetched

    async def _fetch(self, repository: Repository, subpath: str) -> Fetched:
        self._folder.mkdir(exist_ok=True, mode=0o700)
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        checkout = Checkout(folder, repository, self._instance)
        try:
            return Fetched(folder, checkout.tree, await checkout.fetch(subpath))
        except BaseException:
            await self._files.run(shutil.rmtree, folder, ignore_errors=True)
            raise

    def _surplus(self) -> list[Fetched]:
        """Remove the oldest unused repositories beyond the number that is kept."""
        many = len(self._kept) - MAX_KEPT
        unused = [key for key, kept in self._kept.items() if not kept.users][: max(0, many)]
        return [self._kept.pop(key) for key in unused]

    async def _forget(self, surplus: Sequence[Fetched]) -> None:
        for each in surplus:
            if not each.users:  # else it stays on disk until the next start
                await self._files.run(shutil.rmtree, each.folder, ignore_errors=True)


def _checked(subpath: str) -> str:
    """A path inside the source, without what git would read as something else."""
    parts = [part for part in subpath.split("/") if part not in ("", ".")]
    if ".." in parts or ".git" in parts or not subpath.isprintable():
        raise SourceRefused(f"`{subpath}` is not a directory inside it")
    return "/".join(parts)


def _choose(source: SkillSource, folder: SkillFolder, commit: str | None) -> list[_Chosen]:
    """The skills that a source names; all of them if it names none."""
    own_name = source.source.rstrip("/").removesuffix(".git").rpartition("/")[2]
    found = folder.find((source.subpath or "").rstrip("/").rpartition("/")[2] or own_name)
    if not found:
        raise SourceRefused("there is no SKILL.md in it")
    wanted = source.skills
    if wanted is not None:
        names = {name for skill in found for name in _names(skill)}
        if missing := [name for name in wanted if name not in names]:
            raise SourceRefused(f"it has no skill `{missing[0]}`")
        found = [skill for skill in found if not _names(skill).isdisjoint(wanted)]
    chosen = {skill.name: _Chosen(skill, folder, source.source, commit) for skill in reversed(found)}
    return list(reversed(chosen.values()))


def _names(skill: FoundSkill) -> set[str]:
    return {skill.name, skill.folder.rpartition("/")[2]}


def _listed(chosen: _Chosen) -> Skill:
    skill = chosen.skill
    return Skill(skill.name, skill.description, chosen.source, chosen.commit)


def _copy(chosen: Sequence[_Chosen], destination: Path, budget: Budget) -> None:
    skills = destination / "skills"
    for folder in (destination, skills):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in chosen:
        each.folder.copy(each.skill, skills / each.skill.name, budget)
