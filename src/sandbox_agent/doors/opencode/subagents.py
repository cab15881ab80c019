"""The session in which a client shows the work of a sub-agent."""

from __future__ import annotations

from ... import __version__
from .calls import Call
from .ids import PROJECT
from .shapes import Session, SessionModel, Times
from .thread import Facts


def task_of(call: Call) -> str:
    """What a sub-agent is to do, in a few words. Any call may start one, not only a tool for tasks."""
    return str(call.rendered.input.get("description") or call.given.title)


def child_session(facts: Facts, call: Call) -> Session:
    """The session of a sub-agent."""
    kind = call.rendered.input.get("subagent_type") or "general"
    return Session(
        id=call.child_id,
        slug=call.item_id,
        project_id=PROJECT,
        directory=facts.directory,
        title=f"{task_of(call)} (@{kind} subagent)",
        agent="subagent",
        model=SessionModel(id=facts.model, provider_id=facts.agent),
        version=__version__,
        time=Times(created=call.started, updated=call.started),
        parent_id=call.part.session_id,
    )
