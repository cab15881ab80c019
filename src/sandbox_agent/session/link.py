"""The process behind a session: started when there is work, restarted after it exits, stopped when idle."""

from __future__ import annotations

from ..agents.failures import Failure
from ..errors import SandboxAgentError
from ..policy import settings_for_agent
from ..schema.inputs import Settings
from ..store.base import QueuedMessage
from . import admission, enforcement, life, requests, turns
from .core import Core
from .effects import Arm, Connect, Disarm, Switch
from .inputs import Closed, Dying, Exited, Leaving, NotCarried, OpenFailed, Ready, Stale, Timer, Undelivered
from .phases import (
    Absent,
    Cancelling,
    Closing,
    Deleting,
    Ended,
    Ending,
    Gone,
    Idle,
    New,
    Open,
    Opening,
    Reopening,
    Resting,
    Running,
    Starting,
)

MAX_TRIES = 3
"""Processes that may exit before reading a prompt, after which its turn fails."""

UNREAD = Failure("the agent's process ended before it read the prompt", "agent_process_exited")


def proceed(core: Core) -> bool:
    """The only place that starts work. Returns whether it started any."""
    phase, link = core.phase, core.link
    if isinstance(phase, Idle) and core.queue and core.startable and core.admission != "probing":
        if not enforcement.holds_back(core):
            turns.start_next(core)
            return True
    elif isinstance(phase, Starting) and phase.message is not None and enforcement.holds_back(core):
        core.enter(Idle())  # the message stays in the queue
        turns.answer_cancels(core)
        return True
    if _wants_link(core):
        match link:
            case Absent():
                connect(core)
                return True
            case Open(stale=True):
                core.stop()
                return True
            case Open():
                if isinstance(phase, Starting):
                    assert phase.message is not None
                    turns.begin(core, phase.message)
                    return True
                if isinstance(phase, Reopening):
                    turns.give_prompt(core, phase.turn, phase.message, phase.tries + 1)
                    return True
    if isinstance(link, Open) and not link.stale and link.settings != (current := _settings_for_agent(core)):
        core.instruct_now(Switch(current))
        core.link_to(Open(link.attempt, current, link.by_signal))
    _watch_idleness(core)
    return False


def _wants_link(core: Core) -> bool:
    match core.phase:
        case Starting(_, message):
            return core.startable and message is not None
        case Reopening():
            return True
        case Idle():
            return core.admission == "probing"
    return False


def connect(core: Core, *, fresh: bool = False) -> None:
    """Start a process that resumes the conversation, or begins one."""
    attempt, record, current = core.next_attempt(), core.record, _settings_for_agent(core)
    resume = record.prompted and not fresh
    core.link_to(Opening(attempt, current, resume, fresh))
    core.emit(Connect(attempt, current, record.native_id, resume, _takes_carried(core)))


def _takes_carried(core: Core) -> bool:
    """Whether the message that needs the link is content with a conversation that lacks the last turns."""
    if core.admission == "probing":
        return core.sends[0].carried
    message = _message_of(core)
    return message is not None and message.carried


def _settings_for_agent(core: Core) -> Settings:
    """The settings as the agent gets them."""
    settings = core.record.settings
    if settings.permission_mode != "bypass":
        return settings
    return settings_for_agent(settings, requests.rules_of(core), core.agent.name)


def ready(core: Core, news: Ready) -> None:
    link = core.link
    if not isinstance(link, Opening) or link.attempt != news.attempt:
        return
    # A process started with outdated settings is restarted before the next turn.
    stale = link.settings != _settings_for_agent(core)
    core.link_to(Open(link.attempt, link.settings, news.by_signal, stale))
    if news.version is not None and news.version != core.record.agent_version:
        core.change(agent_version=news.version)
    if isinstance(core.phase, New):
        life.created(core, core.phase)
    elif core.scribe.drafts:
        core.fact()


def open_failed(core: Core, failed: OpenFailed) -> None:
    link = core.link
    if not isinstance(link, Opening) or link.attempt != failed.attempt:
        return
    core.link_to(Absent())
    if isinstance(core.phase, New):
        life.not_created(core, core.phase, failed)
    elif not link.fresh and _may_start_over(core, failed):
        _start_over(core)
    else:
        _give_up(core, failed.problem, failed.gone)


def _may_start_over(core: Core, failed: OpenFailed) -> bool:
    """Whether a lost conversation may be replaced: it was never stored, or the message asks for a fresh one."""
    message = _message_of(core)
    fresh = message is not None and message.fresh
    if failed.gone:
        return fresh or not core.record.native_stored
    # The agent does not report the conversation as gone, but cannot resume it either.
    return failed.exited and fresh and core.record.prompted


def _message_of(core: Core) -> QueuedMessage | None:
    return core.phase.message if isinstance(core.phase, Starting | Reopening) else None


def _start_over(core: Core) -> None:
    lost = core.record.native_id
    core.scribe.native_session_id = None
    core.scribe.status(
        "resume_lost",
        {"native_session_id": lost},
        "the agent had not stored this conversation, so a new one begins",
        source="daemon",
    )
    chosen = core.agent.choose_native_id(core.world)
    core.scribe.native_session_id = chosen
    # A turn that is written already goes to the next process. After a kill, no one could tell whether it did.
    core.change(native_id=chosen, native_stored=False, prompted=isinstance(core.phase, Reopening))
    core.fact()
    connect(core, fresh=True)


def _give_up(core: Core, problem: SandboxAgentError, gone: bool) -> None:
    match core.phase:
        case Starting(_, QueuedMessage() as message):
            turns.fail_to_begin(core, message, problem)
        case Reopening():
            turns.write_failure(core, problem)
            turns.end_by_us(core)
        case Idle() if core.admission == "probing":
            admission.try_failed(core, problem, gone)


def leaving(core: Core, news: Leaving) -> None:
    """The process takes no more prompts. A prompt it never read goes to the next process."""
    if not core.is_current(news.attempt):
        return
    turns.make_stale(core)
    if news.unread is not None:
        _pass_on(core, news.unread)


def undelivered(core: Core, news: Undelivered) -> None:
    if core.is_current(news.attempt):
        turns.make_stale(core)
        _pass_on(core, UNREAD)


def _pass_on(core: Core, failure: Failure) -> None:
    phase = core.phase
    if not isinstance(phase, Running) or phase.message is None:
        return
    if phase.tries < MAX_TRIES:
        core.enter(Reopening(phase.turn, phase.message, phase.tries))
        return
    core.scribe.error(failure.message, failure.code, failure.details)
    core.scribe.end_turn("error")
    turns.end_by_us(core)


def stale(core: Core, news: Stale) -> None:
    if core.is_current(news.attempt):
        turns.make_stale(core)


def dying(core: Core, news: Dying) -> None:
    """Send it nothing more; its last output is processed before its exit."""
    if core.is_current(news.attempt):
        core.link_to(Closing(news.attempt))


def exited(core: Core, exit: Exited) -> None:
    """The process exited by itself: during a turn that is a crash, between turns it is harmless."""
    if not core.is_current(exit.attempt):
        return
    core.link_to(Absent())
    scribe = core.scribe
    match core.phase:
        case Running():
            scribe.crash(exit.code, exit.signal, exit.stderr, exit.message)
            turns.end_by_us(core)
        case Cancelling():
            scribe.end_turn("interrupted", source="daemon")
            scribe.close_background()
            turns.end_by_us(core)
        case _:
            _close_background(core)


def closed(core: Core, news: Closed) -> None:
    """The process that the session stopped is gone."""
    if isinstance(core.link, Closing) and core.link.attempt == news.attempt:
        core.link_to(Absent())
        if isinstance(core.phase, Running | Cancelling):  # the agent began it while it was being stopped
            core.scribe.end_turn("interrupted", source="daemon")
            core.scribe.close_background()
            turns.end_by_us(core)
        else:
            _close_background(core)


def not_carried(core: Core, news: NotCarried) -> None:
    if isinstance(core.phase, Ended | Ending | Gone | New | Deleting | Resting):
        return
    core.scribe.status(
        "conversation_not_carried",
        {"native_session_id": core.record.native_id},
        f"{news.reason}, so only this machine can continue the conversation",
        source="daemon",
    )
    core.fact()


def _close_background(core: Core) -> None:
    if isinstance(core.phase, New | Gone):
        return
    core.scribe.close_background()
    if core.scribe.drafts:
        core.fact()


# -- idleness -----------------------------------------------------------------------------------


def _watch_idleness(core: Core) -> None:
    idle = _may_rest(core)
    if idle and not core.idle_armed:
        core.emit(Arm("idle", core.limits.idle))
    elif core.idle_armed and not idle:
        core.emit(Disarm("idle"))
    core.idle_armed = idle


def _may_rest(core: Core) -> bool:
    return (
        isinstance(core.phase, Idle)
        and isinstance(core.link, Open)
        and not core.queue
        and not core.sends
        and core.scribe.nothing_open()
    )


def idled(core: Core, timer: Timer) -> None:
    """The idle timeout passed: stop the process, unless its conversation could not be resumed."""
    core.idle_armed = False
    if timer.tag == "resumable" and _may_rest(core):
        core.stop()
