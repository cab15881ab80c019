"""Checks of what a client chooses for a session: its directory, its modes, its model."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection

from ..agents.base import Agent
from ..errors import InvalidRequest, ModeNotSupported, PermissionDenied, SandboxAgentError
from ..schema.features import Catalogue
from ..schema.inputs import Settings

CHOICES = ("model", "variant")
"""The settings that an agent may restrict to what it lists."""

Offered = Callable[[], Awaitable[Catalogue]]
"""Asks an agent what it offers."""


def check_settings(agent: Agent, settings: Settings, *, no_bypass: bool) -> None:
    check_directory(settings.directory)
    if settings.permission_mode == "bypass" and no_bypass:
        raise PermissionDenied("this daemon was started with --no-bypass")
    if settings.permission_mode not in agent.permission_modes:
        raise ModeNotSupported(
            f"{agent.title} has no permission mode {settings.permission_mode}", agent=agent.name
        )


async def check_mode(agent: Agent, settings: Settings, version: str | None, offered: Offered) -> None:
    """Only the agent knows the modes that its user has defined."""
    known_modes = agent.modes_of(version)
    if settings.agent_mode not in {mode.id for mode in known_modes}:
        modes = (await offered()).modes or known_modes
        if settings.agent_mode not in {mode.id for mode in modes}:
            known = ", ".join(mode.id for mode in modes)
            raise ModeNotSupported(
                f"{agent.title} has no mode {settings.agent_mode}; it has {known}", agent=agent.name
            )


async def check_choice(agent: Agent, settings: Settings, chosen: Collection[str], offered: Offered) -> None:
    """Refuse a model or variant that the agent would not use. If it does not list what it has, nothing is refused."""
    for field in sorted(agent.ignores.intersection(chosen)):
        if getattr(settings, field) is not None:
            raise InvalidRequest(
                f"{agent.title} does not let you choose its {field}", field=field, agent=agent.name
            )
    model = settings.model if "model" in agent.chooses.intersection(chosen) else None
    variant = settings.variant if "variant" in agent.chooses.intersection(chosen) else None
    if model is None and variant is None:
        return
    try:
        catalogue = await offered()
    except SandboxAgentError:
        return
    if model is not None and not agent.takes_model(model, catalogue):
        raise InvalidRequest(f"{agent.title} has no model {model}", field="model", agent=agent.name)
    if variant is not None and not agent.takes_variant(variant, settings.model, catalogue):
        text = f"{agent.title} has no variant {variant} for this model"
        raise InvalidRequest(text, field="variant", agent=agent.name)


def check_absolute(directory: str) -> None:
    if not os.path.isabs(directory) or "\0" in directory:
        raise InvalidRequest(f"directory {directory} is not an absolute path", field="directory")


def check_directory(directory: str) -> None:
    check_absolute(directory)
    # `os.path.isdir` also rejects impossible names.
    if not os.path.isdir(directory):
        raise InvalidRequest(f"there is no directory {directory}", field="directory")
