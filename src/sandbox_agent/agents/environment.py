"""The environment of an agent's process: a small safe base and the agent's own variables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..config import PREFIX
from .base import Agent

BASE_VARIABLES = frozenset(
    "PATH HOME LANG LANGUAGE TERM TMPDIR TZ USER LOGNAME SHELL SSL_CERT_FILE SSL_CERT_DIR "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split()
)
BASE_PREFIXES = ("XDG_", "LC_")
INSIDE = f"{PREFIX}INSIDE"
"""Tells our own program that an agent of a session has started it."""


def environment(agent: Agent, ours: Mapping[str, str], session: Mapping[str, str]) -> dict[str, str]:
    """A small safe base, the agent's own family of variables, and what the session adds; no other variable of
    the daemon.
    """
    return {**dict(_allowed(agent, ours)), **session}


def own_family(agent: Agent, ours: Mapping[str, str]) -> dict[str, str]:
    """The daemon's variables that belong to the agent: its keys and its other settings."""
    return dict(_named(agent.env_families, ours))


def _allowed(agent: Agent, ours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return _named((*BASE_VARIABLES, *BASE_PREFIXES, *agent.env_families), ours)


def _named(families: Collection[str], ours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A family that ends with an underscore is a prefix, any other is the name of one variable."""
    names = {family for family in families if not family.endswith("_")}
    prefixes = tuple(family for family in families if family.endswith("_"))
    for name, value in ours.items():
        # Our own settings include the token: no agent gets them, whatever its families are.
        if (name in names or name.startswith(prefixes)) and not name.startswith(PREFIX):
            yield name, value
