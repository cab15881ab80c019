"""How a real agent is tried on the scripted model: the settings that keep it on this machine, and the ways it has of its own.

Each agent that can be fetched has one `Scripted`, `SCRIPTED` in `agents/<name>/scripted.py`. Only tests and tools load it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .base import Agent

KEY = "sk-scripted"


class Offline(Struct, frozen=True):
    """Settings of one agent. The variables are of its own family, so they pass the daemon's filter of the environment."""

    env: Mapping[str, str]
    files: Mapping[Path, str] = {}
    """To be written before it starts."""


class Scripted(Struct, frozen=True):
    """What the live suite must know of an agent; the defaults are what most agents do."""

    offline: Callable[[str, Path], Offline]
    """The settings for a model's address, without `/v1`, and a home."""
    other_model: tuple[str, str] = ("other", "other")
    """A model that is not the default, by the agent's name for it and by the provider's."""
    subagent_model: str | None = None
    """The model that is offered sub-agents, where the default is not."""
    tells_exit_codes: bool = True
    """It tells the exit code of a command that went well."""
    failed_output: str = "to-stderr\n"
    """What it makes of a command that writes `to-stderr` and ends with 3."""
    writes_unseen: bool = False
    """In `bypass` it writes a file at once, and tells nothing but that it did: a busy daemon may look too late to make the diff."""
    ends_when_rejected: bool = False
    """A question that is rejected ends the turn: its model is asked no more."""
    tells_arguments: bool = True
    """It tells which arguments a command takes."""
    fails_late: bool = False
    """A resumed process begins with the message that failed, until it has read the new one. Where the model fails at once, as
    none does over a network, that may be too late, and the new turn fails over the old message."""


def scripted(agent: Agent) -> Scripted:
    """What an agent's folder says; ValueError where it says nothing."""
    name = f"{type(agent).__module__}.scripted"
    try:
        found: Scripted = import_module(name).SCRIPTED
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ValueError(f"{agent.name} does not say how it runs on a scripted model: no {name}") from None
    return found


def pretty(value: dict[str, Any]) -> str:
    """Settings in JSON, as a person would write them."""
    return msgspec.json.format(msgspec.json.encode(value)).decode()
