"""The start and end of a session: create, terminate, delete, daemon shutdown, and ends that cannot be written."""

from __future__ import annotations

from msgspec import Struct

from ..errors import SandboxAgentError, SessionNotFound, Unavailable
from ..schema.events import SessionEnded
from ..store.base import DeleteSession, SaveSecrets
from . import admission, turns
from .core import NO_CALLER, Core
from .effects import Arm, Disarm, RemoveFiles
from .inputs import Command, Delete, Drain, OpenFailed, Rest, Stalled, Terminate, Timer
from .phases import (
    WITH_TURN,
    Absent,
    Deleting,
    Ended,
    Ending,
    Gone,
    Handing,
    Idle,
    New,
    Resting,
)


class Created(Struct, frozen=True):
    native_id: str | None
    problem: SandboxAgentError | None = None
    """Why the agent could not be started: the session has ended with it."""


# -- create -------------------------------------------------------------------------------------


def announce(core: Core) -> None:
    if not core.scribe.started:
        core.scribe.start_session(core.agent.metadata(core.record.agent_version, core.record.settings))


def created(core: Core, phase: New) -> None:
    announce(core)
    _write_session(core, phase, None)


def not_created(core: Core, phase: New, failed: OpenFailed) -> None:
    """An installed agent that fails to start leaves a session that ended with that error. Any other failure leaves nothing."""
    if not failed.exited:
        core.refuse(phase.create.id, failed.problem)
        core.enter(Gone())
        return
    announce(core)
    facts = failed.problem.facts
    core.scribe.end_session(
        "error",
        message=failed.problem.detail,
        exit_code=facts.get("exitCode"),
        stderr=facts.get("stderr"),
    )
    _write_session(core, phase, failed.problem)


def _write_session(core: Core, phase: New, problem: SandboxAgentError | None) -> None:
    create, before = phase.create, core.snapshot()
    secrets = SaveSecrets(core.record.session_id, create.secrets)
    number = core.propose(create.id, before, secrets)
    core.enter(Idle() if problem is None else Ended())
    core.answer(create.id, Created(core.record.native_id, problem), after=number)


def create_refused(core: Core) -> None:
    """Stop what was started for it; no client has seen it."""
    core.stop()
    core.enter(Gone())


# -- terminate and delete -----------------------------------------------------------------------


def stop_at_once(core: Core) -> None:
    """Stop the session's process without waiting for anything, not even the disk."""
    core.stop()
    core.emit(Arm("patience", core.limits.patience))


def terminate(core: Core, command: Terminate | Delete) -> None:
    match core.phase:
        case Ended():
            if isinstance(command, Delete):
                core.end_commands = (command,)
                _delete(core)
            else:
                core.answer(command.id)
        case Ending():
            core.end_commands = (*core.end_commands, command)
            core.emit(Arm("patience", core.limits.patience))
        case _:
            stop_at_once(core)
            core.end_commands = (command,)
            _end(core, SessionEnded("terminated", "daemon"))


def agent_left(core: Core, requested_end: SessionEnded) -> None:
    """The agent has ended the conversation."""
    core.stop()
    _end(core, requested_end)


def _end(core: Core, end: SessionEnded) -> None:
    """Write everything else before the end: nothing may follow it."""
    if isinstance(core.phase, WITH_TURN):
        core.emit(Disarm("cancel"))
    withdrawn = [admission.take_out(core, head.turn_id) for head in core.queue]
    core.scribe.end_session(end.reason, by=end.terminated_by)
    number = core.fact(*withdrawn)
    core.drop_stale_instructions()
    if core.admission == "probing":
        core.admission = "known"
    core.enter(Ending(number))
    turns.answer_cancels(core)


def finish_ending(core: Core, phase: Ending) -> bool:
    """Finish once the end is written and no process of the session is left."""
    if phase.number > core.committed or not isinstance(core.link, Absent):
        return False
    core.emit(Disarm("patience"))
    core.enter(Ended())
    for command in core.end_commands:
        if isinstance(command, Terminate):
            core.answer(command.id)
    core.end_commands = tuple(
        end_command for end_command in core.end_commands if isinstance(end_command, Delete)
    )
    if core.end_commands:
        _delete(core)
    return True


def _delete(core: Core) -> None:
    before = core.snapshot()
    core.enter(Deleting())
    core.propose(None, before, DeleteSession(core.record.session_id), deletes=True)


def deleted(core: Core) -> None:
    core.enter(Gone())
    core.emit(RemoveFiles(core.record.folder))
    _answer_end_commands(core)


def _answer_end_commands(core: Core) -> None:
    end_commands, core.end_commands = core.end_commands, ()
    for command in end_commands:
        core.answer(command.id)


def refuse_end_commands(core: Core, problem: SandboxAgentError) -> None:
    end_commands, core.end_commands = core.end_commands, ()
    for command in end_commands:
        core.refuse(command.id, problem)


def turn_away(core: Core, command: Command) -> None:
    """Refuse a command that comes too late: the session is deleted, or the daemon is stopping."""
    if isinstance(core.phase, Gone):
        id = core.record.session_id
        core.refuse(command.id, SessionNotFound(f"no session {id}", sessionId=id))
    else:
        core.refuse(command.id, Unavailable("the daemon is stopping", retryAfter=5))


# -- the daemon stops ---------------------------------------------------------------------------


def drain(core: Core, _: Drain) -> None:
    core.startable = False


def rest(core: Core, command: Rest) -> None:
    core.startable = False
    core.stop()
    core.emit(Arm("patience", core.limits.rest))
    match core.phase:
        case New(create):
            core.refuse(create.id, Unavailable("the daemon is stopping", retryAfter=5))
            core.scribe.take()
        case Ending() | Ended() | Gone() | Deleting():
            pass
        case _:
            core.scribe.end_turn("outcome_unknown", source="daemon")
            core.scribe.close_background()
            core.fact()
    turns.answer_cancels(core)
    for end_command in core.end_commands:
        if isinstance(end_command, Delete):
            core.refuse(end_command.id, Unavailable("the daemon is stopping", retryAfter=5))
    core.end_commands = (
        *(end_command for end_command in core.end_commands if not isinstance(end_command, Delete)),
        command,
    )
    core.scribe.pen.ended = True  # this daemon writes no further output of the agent
    core.enter(Resting(core.last))


def finish_resting(core: Core, phase: Resting) -> bool:
    if not core.end_commands or phase.number > core.committed or not isinstance(core.link, Absent):
        return False
    core.emit(Disarm("patience"))
    _answer_end_commands(core)
    return True


# -- ends that cannot be written ----------------------------------------------------------------


def stalled(core: Core, news: Stalled) -> None:
    _lose_patience(core, news.problem)


def patience_ran_out(core: Core, _: Timer) -> None:
    problem = Unavailable(
        "the change is not written to disk yet; the session's processes were stopped anyway",
        retryAfter=5,
        sessionId=core.record.session_id,
    )
    _lose_patience(core, problem)


def _lose_patience(core: Core, problem: SandboxAgentError) -> None:
    """Answer everyone who waits for an uncommitted fact. The facts stay, and are written as soon as possible."""
    core.give_up_waiting(problem)
    for index, waiting in enumerate(core.inbox):
        if isinstance(waiting, Terminate | Delete | Rest):
            core.refuse(waiting.id, problem)
            core.inbox[index] = type(waiting)(NO_CALLER)
    if isinstance(core.phase, Handing):
        turns.refuse_cancels(core, problem)
    if isinstance(core.phase, Ending | Resting):
        refuse_end_commands(core, problem)
