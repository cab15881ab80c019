"""Incoming messages: idempotency keys, the queue, and probing the stored conversation. Also changes of settings."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..errors import Conflict, IdempotencyMismatch, NotFound, RateLimited, SandboxAgentError
from ..schema.inputs import Settings
from ..store.base import Change, Dequeue, Enqueue, KeyRow, QueuedHead, QueuedMessage, RememberKey
from . import enforcement, life, turns
from .core import Core
from .effects import LookUpKey
from .inputs import Configure, KeyFound, Send, Withdraw
from .phases import Ended, Ending, Gone, Handing, Idle, Open, Resting, Starting

CARRIED = ", or with `resume: carried` to continue from the stored conversation"


class Accepted(Struct, frozen=True):
    """A message that was accepted."""

    turn_id: str
    queued: bool
    """It waits for other turns."""
    repeated: bool = False
    """The key was used before: this is the earlier turn."""


# -- messages -----------------------------------------------------------------------------------


def send(core: Core, command: Send) -> None:
    core.sends.append(command)


def admit_next(core: Core) -> bool:
    """Process the first waiting message. Returns whether it made progress."""
    if not core.sends or core.admission == "looking":
        return False
    if core.admission == "probing":
        if isinstance(core.phase, Idle) and not _is_usable(core):
            return False
        core.admission = "known"  # the conversation is open, or this message no longer waits for it
    command = core.sends[0]
    if command.key is not None and core.admission is None:
        core.admission = "looking"
        core.emit(LookUpKey(command.id, command.key))
    else:
        _admit(core, command)
    return True


def key_found(core: Core, found: KeyFound) -> None:
    if core.admission != "looking" or core.sends[0].id != found.send:
        return
    command, row = core.sends[0], found.row
    if row is None:
        core.admission = "known"
    elif row.digest != command.digest:
        _settle(core)
        problem = IdempotencyMismatch(
            "this Idempotency-Key was used with another message", sessionId=core.record.session_id
        )
        core.refuse(command.id, problem)
    else:
        # Answer even if the session has ended since: the turn is in the log.
        _settle(core)
        waits = any(head.turn_id == row.turn_id for head in core.queue)
        core.answer(command.id, Accepted(row.turn_id, waits, repeated=True))


def _admit(core: Core, command: Send) -> None:
    phase = core.phase
    match phase:
        case Gone() | Resting():
            _settle(core)
            life.turn_away(core, command)
        case Ended() | Ending():
            _settle(core)
            core.answer(command.id, Conflict("the session has ended", sessionId=core.record.session_id))
        case _ if enforcement.holds_back(core):
            _settle(core)
            core.answer(command.id, enforcement.refusal(core))
        case Idle() if not core.queue and core.startable:
            _begin_or_try(core, command)
        case _:
            _enqueue(core, command)


def _begin_or_try(core: Core, command: Send) -> None:
    """Nothing runs and nothing waits."""
    if _is_usable(core):
        _begin_now(core, command)
    elif core.record.native_stored and not command.fresh:
        # The message is accepted only if the agent still has the conversation.
        core.admission = "probing"
    else:
        _enqueue(core, command)


def _is_usable(core: Core) -> bool:
    return isinstance(core.link, Open) and not core.link.stale


def _begin_now(core: Core, command: Send) -> None:
    """The agent is connected, so the message skips the queue."""
    _settle(core)
    before = core.snapshot()
    message = _message(core, command)
    turns.write_beginning(core, message)
    number = core.propose(command.id, before, *_remembered(core, command, message))
    core.enter(Handing(message.turn_id, message, number))
    core.answer(command.id, Accepted(message.turn_id, queued=False), after=number)


def _enqueue(core: Core, command: Send) -> None:
    message = _message(core, command)
    size = len(msgspec.json.encode(message))
    limits = core.limits
    if (
        len(core.queue) >= limits.queued_messages
        or size + sum(head.size for head in core.queue) > limits.queued_bytes
    ):
        _settle(core)
        waiting = f"{len(core.queue)} messages are already queued"
        core.answer(command.id, RateLimited(waiting, retryAfter=5, sessionId=core.record.session_id))
        return
    _settle(core)
    before = core.snapshot()
    waits = not isinstance(core.phase, Idle) or bool(core.queue)
    if waits:
        _tell_queue(core, message.turn_id, "queued")
    core.queue = (*core.queue, QueuedHead(message.turn_id, message.created_at, message.fresh, size))
    enqueue = Enqueue(core.record.session_id, message)
    number = core.propose(command.id, before, enqueue, *_remembered(core, command, message))
    core.answer(command.id, Accepted(message.turn_id, waits), after=number)


def try_failed(core: Core, problem: SandboxAgentError, gone: bool) -> None:
    """Probing the conversation failed: either it is gone, or the failure becomes the turn's error."""
    command = core.sends[0]
    _settle(core)
    if gone:
        core.refuse(command.id, _gone(core, problem))
        return
    if enforcement.holds_back(core):  # a limit was lowered in the meantime
        core.answer(command.id, enforcement.refusal(core))
        return
    before = core.snapshot()
    message = _message(core, command)
    turns.write_beginning(core, message, reaches_agent=False)
    turns.write_failure(core, problem)
    number = core.propose(command.id, before, *_remembered(core, command, message))
    core.answer(command.id, Accepted(message.turn_id, queued=False), after=number)


def _gone(core: Core, problem: SandboxAgentError) -> Conflict:
    facts = problem.facts if isinstance(problem, Conflict) else {}
    return Conflict(
        f"the agent's own conversation is gone ({problem.detail}); send the message with `fresh: true` "
        f"to start a new one in this session{CARRIED if 'carriedTo' in facts else ''}",
        **{**facts, "sessionId": core.record.session_id},
    )


def _settle(core: Core) -> None:
    """The first message is decided; the next one can be processed."""
    core.sends.popleft()
    core.admission = None


def _message(core: Core, command: Send) -> QueuedMessage:
    turn_id, moment = core.world.make_id("turn"), core.world.now()
    return QueuedMessage(turn_id, command.prompt, moment, command.fresh, command.carried)


def _remembered(core: Core, command: Send, message: QueuedMessage) -> list[Change]:
    if command.key is None:
        return []
    row = KeyRow(command.digest, message.turn_id)
    return [RememberKey(core.record.session_id, command.key, row)]


# -- the queue ----------------------------------------------------------------------------------


def withdraw(core: Core, command: Withdraw) -> None:
    if all(head.turn_id != command.turn for head in core.queue):
        facts = {"sessionId": core.record.session_id, "turnId": command.turn}
        core.answer(command.id, NotFound("no such message is in the queue", **facts))
        return
    before = core.snapshot()
    number = core.propose(command.id, before, take_out(core, command.turn))
    if isinstance(core.phase, Starting) and core.phase.head.turn_id == command.turn:
        core.enter(Idle())  # cancels stay noted: a refusal brings the message back
    core.answer(command.id, after=number)


def take_out(core: Core, turn: str) -> Change:
    """Announce that a queued message will not run, and remove it."""
    _tell_queue(core, turn, "withdrawn")
    return dequeue(core, turn)


def dequeue(core: Core, turn: str) -> Change:
    core.queue = tuple(head for head in core.queue if head.turn_id != turn)
    return Dequeue(core.record.session_id, turn)


def _tell_queue(core: Core, turn: str, state: str) -> None:
    core.scribe.status("queue", {"turn_id": turn, "state": state}, source="daemon")


# -- settings -----------------------------------------------------------------------------------


def configure(core: Core, command: Configure) -> None:
    wanted: dict[str, Any] = {
        name: value
        for name in ("model", "variant", "agent_mode", "permission_mode")
        if (value := getattr(command, name)) is not None
    }
    policy = core.record.policy if command.policy is None else command.policy
    if core.record.ended and (wanted or command.policy is not None or command.limits):
        core.answer(command.id, Conflict("the session has ended", sessionId=core.record.session_id))
        return
    before = core.snapshot()
    settings: Settings = msgspec.structs.replace(core.record.settings, **wanted)
    title = core.record.title if command.title is None else command.title
    limits = command.limits.applied_to(core.record.limits) if command.limits else core.record.limits
    wanted_record = msgspec.structs.replace(
        core.record, settings=settings, title=title, policy=policy, limits=limits
    )
    if wanted_record == core.record:
        core.answer(command.id)
        return
    core.record = wanted_record
    core.answer(command.id, after=core.propose(command.id, before))
