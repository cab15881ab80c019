"""Names of models: `agent`, `agent/model` or `agent/model@variant`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from msgspec import Struct

from ...errors import InvalidRequest, SandboxAgentError
from ...schema.answers import Models
from ...schema.sessions import SessionInfo
from .operations import Operations
from .shapes import ModelEntry, ModelList

DEFAULT = "default"
"""`agent/default` is the same as `agent`."""
LIST_SECONDS = 10.0
"""How long an agent may take to list its models. One that takes longer is listed without them."""


class Choice(Struct, frozen=True):
    agent: str
    model: str | None = None
    variant: str | None = None


async def read_choice(operations: Operations, name: str, directory: str | None) -> Choice:
    agent, _, rest = name.partition("/")
    model, at, variant = rest.rpartition("@")
    if not at:
        return Choice(agent, rest if rest not in ("", DEFAULT) else None)
    # A model's own name may contain the separator.
    offered = (await operations.models(agent, directory)).models
    if any(known.id == rest for known in offered):
        return Choice(agent, rest)
    return Choice(agent, model if model != DEFAULT else None, variant)


def name_of(info: SessionInfo) -> str:
    """What a session uses."""
    name = f"{info.agent}/{info.model}" if info.model else info.agent
    return f"{name}@{info.variant}" if info.model and info.variant else name


async def adapt(operations: Operations, info: SessionInfo, choice: Choice, mode: str | None) -> None:
    """Change a session to what its next message asks for."""
    if choice.agent != info.agent:
        raise InvalidRequest(
            f"this conversation is with `{info.agent}`: start a new one to change the agent", field="model"
        )
    wanted = {"model": choice.model, "variant": choice.variant, "permission_mode": mode}
    changed = {
        name: value for name, value in wanted.items() if value is not None and value != getattr(info, name)
    }
    if changed:
        await operations.update(info.session_id, **changed)


async def list_models(operations: Operations) -> ModelList:
    """The installed agents, and what each of them says it can use."""
    agents = [info.id for info in await operations.agents() if info.installed]
    offers: dict[str, Models] = {}

    async def ask(agent: str) -> None:
        with contextlib.suppress(SandboxAgentError):  # a session with it says what is wrong
            offers[agent] = await operations.models(agent)

    # Those that take longer keep running: what they find is cached for the next request.
    await asyncio.wait([operations.spawn(ask(agent)) for agent in agents], timeout=LIST_SECONDS)
    return ModelList(
        [ModelEntry(name, agent) for agent in agents for name in _names(agent, offers.get(agent))]
    )


def _names(agent: str, offered: Models | None) -> Iterator[str]:
    yield agent
    for model in offered.models if offered else ():
        yield f"{agent}/{model.id}"
        yield from (f"{agent}/{model.id}@{variant}" for variant in model.variants or ())
