"""How a real agent runs on the scripted model: the settings that keep it on this machine, and its
peculiarities.

Each installable agent has one `Scripted`, `SCRIPTED` in `agents/<name>/scripted.py`. Only tests and tools
load it.
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
    """Settings of one agent. The variables belong to its own family, so they pass the daemon's filter of the
    environment.
    """

    env: Mapping[str, str]
    files: Mapping[Path, str] = {}
    """Files to write before it starts."""


class Scripted(Struct, frozen=True):
    """What the live suite must know about an agent; the defaults fit most agents."""

    offline: Callable[[str, Path], Offline]
    """Makes the settings from a model's address, without `/v1`, and a home directory."""
    other_model: tuple[str, str] = ("other", "other")
    """A model that is not the default, by the agent's name for it and by the provider's."""
    subagent_model: str | None = None
    """The model that is offered sub-agents, if not the default."""
    reports_exit_codes: bool = True
    """It reports the exit code of a successful command."""
    failed_output: str = "to-stderr\n"
    """Its output for a command that writes `to-stderr` and exits with 3."""
    writes_unseen: bool = False
    """In `bypass` it writes a file at once and reports only that it did: a busy daemon may read the file too
    late to make the diff.
    """
    ends_when_rejected: bool = False
    """A rejected question ends the turn: the model is not called again."""
    reports_arguments: bool = True
    """It reports which arguments a command takes."""
    reports_mcp: bool = False
    """It reports whether it is connected to an MCP server."""
    tells_reasons: bool = True
    """Its model gets the reason why a request was rejected."""
    answers_old_message: bool = False
    """After a turn that failed or was cancelled, the resumed process begins with the old message, until it has
    read the new one: the new turn may start with part of the old answer. If the model fails at once, as none
    does over a network, the new turn may fail because of the old message.
    """


def scripted(agent: Agent) -> Scripted:
    """The `Scripted` of an agent's package; ValueError if it has none."""
    name = f"{type(agent).__module__}.scripted"
    try:
        declared: Scripted = import_module(name).SCRIPTED
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ValueError(f"{agent.name} does not say how it runs on a scripted model: no {name}") from None
    return declared


def pretty(value: dict[str, Any]) -> str:
    """Formats settings as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value)).decode()
