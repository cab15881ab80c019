"""What to say about a name that no agent has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown_agent(name: str, known: Iterable[str]) -> str:
    """A message with the agent that was probably meant, or else with all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f": did you mean {near[0]}?" if near else f"; the agents are {', '.join(names)}"
    return f"no agent is called {name}{hint}"
