"""Sessions as clients see them: ours, those of sub-agents, and drafts that get their agent with the first prompt."""

from __future__ import annotations

from ... import __version__
from ...errors import SessionNotFound
from ...schema.sessions import SessionInfo
from .catalogue import DEFAULT, Catalogue
from .ids import PROJECT, drafted_at, milliseconds, owner_of
from .operations import Operations
from .shapes import Cache, Session, SessionModel, Times, Tokens
from .thread import Facts


def facts_of(info: SessionInfo, catalogue: Catalogue) -> Facts:
    offer = catalogue.offer(info.agent, info.directory)
    model = info.model if info.model and offer.has(info.model) else DEFAULT
    mode = "plan" if info.permission_mode == "plan" else info.agent_mode
    if mode == DEFAULT:
        mode = "build"
    return Facts(info.session_id, info.directory, info.agent, mode, model, info.variant)


def session_of(info: SessionInfo, facts: Facts) -> Session:
    usage = info.usage
    cache = Cache(read=usage.cache_read_tokens or 0, write=usage.cache_write_tokens or 0)
    return Session(
        id=info.session_id,
        slug=info.session_id,
        project_id=PROJECT,
        directory=info.directory,
        title=info.title or f"New session - {info.created_at}",
        agent=facts.mode,
        model=SessionModel(id=facts.model, provider_id=facts.agent, variant=facts.variant),
        version=__version__,
        time=Times(created=milliseconds(info.created_at), updated=milliseconds(info.updated_at)),
        cost=usage.cost_usd or 0.0,
        tokens=Tokens(
            input=usage.input_tokens or 0,
            output=usage.output_tokens or 0,
            reasoning=usage.reasoning_tokens or 0,
            cache=cache,
        ),
    )


def draft(session_id: str, directory: str, agent: str) -> Session | None:
    """The session that a draft will be; None if the id is not that of a draft."""
    created = drafted_at(session_id)
    if created is None:
        return None
    return Session(
        id=session_id,
        slug=session_id,
        project_id=PROJECT,
        directory=directory,
        title="New session",
        agent="build",
        model=SessionModel(id=DEFAULT, provider_id=agent),
        version=__version__,
        time=Times(created=created, updated=created),
    )


async def owner(operations: Operations, theirs: str) -> SessionInfo | None:
    """Our session behind an id of a client; None for a draft."""
    try:
        return await operations.session(owner_of(theirs))
    except SessionNotFound:
        if drafted_at(theirs) is None:
            raise
        return None
