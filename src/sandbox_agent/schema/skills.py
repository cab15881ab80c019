"""Skills: directories with a `SKILL.md`, where they come from, and what a session got."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class SkillSource(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where skills come from: a directory, or a git repository."""

    type: Annotated[
        Literal["local", "git", "github"],
        Meta(
            description="`local`: a directory on the daemon's machine. `git`: a URL. `github`: `owner/name`."
        ),
    ]
    source: Annotated[
        str, Meta(min_length=1, max_length=2_000, description="The directory, URL or repository.")
    ]
    ref: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Meta(description="Branch, tag or commit of a repository (default: its default branch)."),
    ] = None
    subpath: Annotated[
        Annotated[str, Meta(max_length=1_000)] | None, Meta(description="Directory inside the source.")
    ] = None
    skills: Annotated[
        tuple[Annotated[str, Meta(max_length=128)], ...] | None,
        Meta(description="Names of the skills to use (default: all)."),
    ] = None


Sources = Annotated[tuple[SkillSource, ...], Meta(max_length=20, description="Where the skills come from.")]


class SkillsConfig(Struct, frozen=True, forbid_unknown_fields=True):
    sources: Sources


class Skill(Struct, frozen=True, omit_defaults=True):
    """A skill that a session has."""

    name: str
    description: str = ""
    source: Annotated[str, Meta(description="The source it comes from.")] = ""
    commit: Annotated[str | None, Meta(description="The commit, if the source is a repository.")] = None


class SkillList(Struct, frozen=True):
    skills: list[Skill]


class SessionSkills(Struct, frozen=True):
    """A session's skills on disk, as its agent gets them.

    `root` is laid out as a plugin, `skills/<name>/SKILL.md`. It has no manifest: with one, Codex does not find them.
    """

    root: str
    skills: tuple[Skill, ...]

    @property
    def folder(self) -> str:
        return f"{self.root}/skills"

    def folders(self) -> list[str]:
        return [f"{self.folder}/{skill.name}" for skill in self.skills]
