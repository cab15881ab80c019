"""Turns: start, hand-over to the agent, end and cancel."""

from __future__ import annotations

from ..errors import AgentProcessExited, SandboxAgentError
from ..schema.events import ErrorCode, TurnEnded, TurnStarted
from ..store.base import QueuedMessage
from . import admission, life, requests
from .core import NO_CALLER, Core
from .effects import Arm, Disarm, GivePrompt, Interrupt, Load
from .inputs import Broken, Cancel, DeliveryFailed, Loaded, OutputReady, Steered, Timer, Withdraw
from .phases import (
    WITH_TURN,
    Cancelling,
    Ended,
    Ending,
    Gone,
    Handing,
    Idle,
    New,
    Open,
    Reopening,
    Resting,
    Running,
    Starting,
    current_turn,
)

# -- beginning ----------------------------------------------------------------------------------


def write_beginning(core: Core, message: QueuedMessage, *, reaches_agent: bool = True) -> None:
    """A turn starts with its prompt. `prompted` is written before the agent receives anything."""
    core.scribe.start_turn(message.turn_id)
    prompt = message.prompt
    core.scribe.user_message(prompt.text, prompt.attachments, native_id=prompt.client_id)
    if reaches_agent and not core.record.prompted:
        core.change(prompted=True)


def write_failure(core: Core, problem: SandboxAgentError) -> None:
    code: ErrorCode = "agent_process_exited" if isinstance(problem, AgentProcessExited) else "agent_error"
    core.scribe.error(problem.detail, code, problem.facts, source="daemon")
    core.scribe.end_turn("error", source="daemon")


def start_next(core: Core) -> None:
    """Load the body of the first queued message from the store."""
    head = core.queue[0]
    core.enter(Starting(head))
    core.emit(Load(head.turn_id))


def loaded(core: Core, found: Loaded) -> None:
    phase = core.phase
    if not isinstance(phase, Starting) or phase.head.turn_id != found.turn:
        return
    if found.message is None:
        core.fact(admission.dequeue(core, found.turn))
        core.enter(Idle())
        answer_cancels(core)
        return
    core.enter(Starting(phase.head, found.message))
    if core.cancels:
        _cancel_start(core, found.message)


def begin(core: Core, message: QueuedMessage) -> None:
    """Start the turn of a queued message. The message was accepted, so this is a fact."""
    dequeue = admission.dequeue(core, message.turn_id)
    write_beginning(core, message)
    number = core.fact(dequeue)
    core.enter(Handing(message.turn_id, message, number))


def fail_to_begin(core: Core, message: QueuedMessage, problem: SandboxAgentError) -> None:
    """No agent could be opened for a queued message: its turn begins and fails."""
    dequeue = admission.dequeue(core, message.turn_id)
    write_beginning(core, message, reaches_agent=False)
    write_failure(core, problem)
    core.fact(dequeue)
    core.enter(Idle())


def hand_over(core: Core, phase: Handing) -> bool:
    """Once the turn is written, pass it to the agent, unless it was cancelled in the meantime."""
    if phase.number > core.committed:
        return False
    if core.cancels:
        core.scribe.end_turn("interrupted", source="daemon")
        core.fact()
        core.enter(Idle())
        answer_cancels(core)
        return True
    if isinstance(core.link, Open):
        give_prompt(core, phase.turn, phase.message, tries=1)
    else:
        core.enter(Reopening(phase.turn, phase.message))
    return True


def give_prompt(core: Core, turn: str, message: QueuedMessage, tries: int) -> None:
    core.enter(Running(turn, message, tries))
    core.instruct_now(GivePrompt(turn, message.prompt))


# -- output of the agent --------------------------------------------------------------------------


def output_ready(core: Core, _: OutputReady) -> None:
    """The scribe has written more than item deltas."""
    scribe = core.scribe
    if isinstance(core.phase, New):
        return  # kept until the session is created
    if isinstance(core.phase, Ending | Ended | Gone | Resting):
        scribe.take()
        return
    replies = requests.judge(core)
    if scribe.requested_end is not None:
        life.agent_left(core, scribe.requested_end)
        return
    notable = [data for _, data in scribe.notable]
    number = core.fact()
    for data in notable:
        if isinstance(data, TurnStarted):
            _began(core, data.turn_id)
        elif isinstance(data, TurnEnded):
            over(core, number)
    for reply in replies:
        core.instruct(reply, after=number)


def _began(core: Core, turn: str) -> None:
    """The agent began a turn by itself. A message that was about to start stays in the queue."""
    if isinstance(core.phase, Idle | Starting):
        core.enter(Running(turn))
        # Cancels came when the message was about to start: those of its turn are handled again, and the others may not wait for this turn.
        core.inbox.extend(cancel for cancel in core.cancels if cancel.turn is not None)
        core.cancels = tuple(cancel for cancel in core.cancels if cancel.turn is None)
        if core.cancels:
            cancel_turn(core)


def over(core: Core, number: int) -> None:
    """The turn ends with this append."""
    phase = core.phase
    if not isinstance(phase, WITH_TURN):
        return
    core.enter(Idle())
    if isinstance(phase, Cancelling):
        core.emit(Disarm("cancel"))
    answer_cancels(core, after=number)


def end_by_us(core: Core) -> None:
    """Append the end of the turn, which the scribe has already written."""
    over(core, core.fact())


def delivery_failed(core: Core, failed: DeliveryFailed) -> None:
    if core.is_current(failed.attempt) and isinstance(core.phase, Running | Cancelling):
        core.scribe.error(failed.message, "agent_error", source="daemon")
        core.scribe.end_turn("error", source="daemon")
        end_by_us(core)


def broken(core: Core, fault: Broken) -> None:
    """An internal error while processing the agent's output ends this turn and this process, and nothing else."""
    core.stop()
    if isinstance(core.phase, WITH_TURN):
        core.scribe.error(fault.message, "agent_error", source="daemon")
        core.scribe.end_turn("error", source="daemon")
    core.scribe.close_background()
    if not isinstance(core.phase, New):
        end_by_us(core)


def steered(core: Core, input: Steered) -> None:
    """Recordings only: a prompt was sent during a turn."""
    core.scribe.user_message(input.prompt.text, input.prompt.attachments)
    core.fact()


# -- cancelling ---------------------------------------------------------------------------------


def cancel(core: Core, command: Cancel) -> None:
    current = current_turn(core.phase)
    if command.turn is not None and command.turn != current:
        _cancel_other(core, command.id, command.turn)
        return
    if current is None:
        core.answer(command.id)
        return
    core.cancels = (*core.cancels, command)
    match core.phase:
        case Starting(_, QueuedMessage() as message):
            _cancel_start(core, message)
        case Reopening() | Running():
            cancel_turn(core)


def _cancel_other(core: Core, command: int, turn: str) -> None:
    """Cancel a turn that does not run: it is still in the queue, or it is over."""
    if any(head.turn_id == turn for head in core.queue):
        admission.withdraw(core, Withdraw(command, turn))
    else:
        core.answer(command)


def _cancel_start(core: Core, message: QueuedMessage) -> None:
    """Start and end the turn of a message that was about to run. The link keeps opening for the next message."""
    dequeue = admission.dequeue(core, message.turn_id)
    write_beginning(core, message, reaches_agent=False)
    core.scribe.end_turn("interrupted", source="daemon")
    core.fact(dequeue)
    core.enter(Idle())
    answer_cancels(core)


def answer_cancels(core: Core, *, after: int | None = None) -> None:
    """Answer all cancels once this append is written."""
    cancels, core.cancels = core.cancels, ()
    for cancel in cancels:
        core.answer(cancel.id, after=after)


def refuse_cancels(core: Core, problem: SandboxAgentError) -> None:
    """Answer all cancels with this problem. They still count."""
    for cancel in core.cancels:
        core.refuse(cancel.id, problem)
    core.cancels = tuple(Cancel(NO_CALLER, cancel.turn) for cancel in core.cancels)


def cancel_turn(core: Core) -> None:
    """Interrupt the agent, and wait for it to end the turn."""
    phase = core.phase
    assert isinstance(phase, Reopening | Running)
    if isinstance(phase, Reopening):
        core.scribe.end_turn("interrupted", source="daemon")
        end_by_us(core)
        return
    core.scribe.requests.withdraw_all("the turn was cancelled")
    core.fact()
    core.drop_stale_instructions()
    core.instruct_now(Interrupt())
    if isinstance(core.link, Open) and core.link.by_signal:
        make_stale(core)
    core.emit(Arm("cancel", core.limits.cancel, phase.turn))
    core.enter(Cancelling(phase.turn))


def make_stale(core: Core) -> None:
    link = core.link
    if isinstance(link, Open) and not link.stale:
        core.link_to(Open(link.attempt, link.settings, link.by_signal, stale=True))


def cancel_ran_out(core: Core, timer: Timer) -> None:
    """The agent did not react to the cancel: end the turn without it. The next message resumes the conversation."""
    if isinstance(core.phase, Cancelling) and core.phase.turn == timer.tag:
        core.scribe.end_turn("interrupted", source="daemon")
        core.scribe.close_background()
        core.stop()
        end_by_us(core)
