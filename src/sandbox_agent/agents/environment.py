"""The environment that an agent's process sees: a small safe base and what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..config import PREFIX
from .base import Agent

BASE_VARIABLES = frozenset(
    "PATH HOME LANG LANGUAGE TERM TMPDIR TZ USER LOGNAME SHELL SSL_CERT_FILE SSL_CERT_DIR "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split()
)
BASE_PREFIXES = ("XDG_", "LC_")


def environment(agent: Agent, ours: Mapping[str, str], session: Mapping[str, str]) -> dict[str, str]:
    """A small safe base, the agent's own family of variables, and what the session adds; nothing else of ours."""
    return {**dict(_allowed(agent, ours)), **session}


def _allowed(agent: Agent, ours: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    names = BASE_VARIABLES | {family for family in agent.env_families if not family.endswith("_")}
    prefixes = BASE_PREFIXES + tuple(family for family in agent.env_families if family.endswith("_"))
    for name, value in ours.items():
        # Our own settings hold the token: they are for no agent, whatever its families are.
        if (name in names or name.startswith(prefixes)) and not name.startswith(PREFIX):
            yield name, value
