"""One session: its queue, its turns, and what waits for an answer.

Everything that changes a session happens on the event loop. A prompt, a decision and an answer reach the agent only after they
are on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import hashlib
import logging
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..agents.base import Agent
from ..agents.failures import Failure
from ..agents.scribe import Pending, Recovery, Scribe, Turn
from ..errors import (
    AgentProcessExited,
    Conflict,
    IdempotencyMismatch,
    Internal,
    NotFound,
    SandboxAgentError,
    SessionNotFound,
)
from ..schema.events import PermissionRequested, QuestionRequested, decode_event
from ..schema.ids import random_id
from ..schema.inputs import Answer, Decision, Prompt, Settings
from ..schema.world import REAL
from ..store.base import (
    Change,
    Dequeue,
    Enqueue,
    KeyRow,
    QueuedMessage,
    RememberKey,
    ResolvePending,
    SaveSession,
    Secrets,
    SessionRecord,
)
from .approvals import STATUS, remember
from .attached import Attached
from .log import now

if TYPE_CHECKING:
    from .daemon import Daemon

logger = logging.getLogger("sandbox_agent.session")

CANCEL_SECONDS = 5.0
MOST_HAND_OVERS = 3
"""So many processes may end before they read a prompt."""


class Accepted(NamedTuple):
    """A message that was taken in."""

    turn_id: str
    queued: bool
    """It waits for other turns."""
    repeated: bool = False
    """Its key was known, so that this is a turn of the past."""


class Session(Attached):
    def __init__(self, daemon: Daemon, agent: Agent, record: SessionRecord, secrets: Secrets) -> None:
        super().__init__(daemon, agent, record, secrets)
        self.queue: deque[QueuedMessage] = deque()
        self._accept_lock = asyncio.Lock()
        self._pump: object | None = None
        self._starting: QueuedMessage | None = None
        self._cancel_start = False
        self._prompt: QueuedMessage | None = None
        """Of the running turn."""
        self._hand_overs = 0
        """How many processes were given it."""
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._idle_timer: asyncio.TimerHandle | None = None
        self._turn_timer: asyncio.TimerHandle | None = None

    # -- life -------------------------------------------------------------------------------

    async def begin(self) -> SandboxAgentError | None:
        """Start the agent for the first time. A start that fails ends the session with that error, which is returned."""
        # The first event tells the version. An agent that is not installed raises here and nothing is created.
        self.record.agent_version = (await self._program()).version
        if not self.agent.capabilities.shared_process:
            self._announce()
        failure: SandboxAgentError | None = None
        try:
            await self.attach()
        except AgentProcessExited as error:
            failure = error
        self._announce()
        if failure is not None:
            self.scribe.end_session(
                "error",
                message=failure.detail,
                exit_code=failure.facts.get("exitCode"),
                stderr=failure.facts.get("stderr"),
            )
        self.record.native_id = self.scribe.native_session_id
        return failure

    def _announce(self) -> None:
        if not self.scribe.started:
            metadata = self.agent.metadata(self.record.agent_version, self.record.settings)
            self.scribe.start_session(metadata)

    async def recover(self) -> None:
        """After a restart: what was open is closed, and what was queued goes on."""
        log, record = self._daemon.log, self.record
        call_ids = await log.look_up(lambda: log.store.call_ids(record.session_id))
        scribe = Scribe(REAL, call_ids, self._image_folder())
        self.scribe = self._prepare(scribe)
        recovery = Recovery(scribe)
        self.saved = True
        waiting = await log.look_up(lambda: log.store.pending(record.session_id))
        changes: list[Change] = [ResolvePending(record.session_id, row.id) for row in waiting]
        if record.open_since is not None:
            after = record.open_since - 1
            while rows := await log.read(record.session_id, after):
                recovery.read(decode_event(row.body) for row in rows)
                after = rows[-1].sequence
            # No process is left, so nothing goes on in the background either: all of it ends with the turn.
            scribe.close_background()
            scribe.end_turn("outcome_unknown", source="daemon")
        # A daemon that was killed while it created the session wrote it down, and no event yet.
        self._announce()
        self.queue.extend(await log.look_up(lambda: log.store.queue(record.session_id)))
        if changes or self.scribe.drafts:
            await self.flush(*changes)

    async def terminate(self) -> None:
        """End the session and everything it started; idempotent."""
        if not self.record.ended:
            changes = [self._withdrawn(message) for message in self.queue]
            self.queue.clear()
            self.scribe.end_session("terminated")
            done = self.flush(*changes)
            await self._detach()
            # With a full disk the end cannot be written yet; it will be when there is space again.
            await asyncio.wait([asyncio.ensure_future(done)], timeout=1.0)
        else:
            await self._detach()

    async def let_go(self) -> None:
        """The session was not kept after all: end what was started for it."""
        self._given_up = True
        await self._detach()

    async def wait_at_rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at_rest.wait(), max(0.0, seconds))

    async def rest(self) -> None:
        """The daemon stops: end the turn as unknown and let the agent go."""
        self._given_up = True
        self.scribe.end_turn("outcome_unknown", source="daemon")
        self.scribe.close_background()
        done = self.flush()
        await self._detach()
        # Readers see the end before they are sent away, unless the disk is full.
        await asyncio.wait([done], timeout=1.0)

    def _session_over(self) -> None:
        self._daemon.spawn(self._detach())

    # -- messages ---------------------------------------------------------------------------

    async def send(self, prompt: Prompt, *, key: str | None, fresh: bool) -> Accepted:
        """Accept a message: durable when this returns."""
        async with self._accept_lock:
            digest = hashlib.sha256(msgspec.json.encode((prompt, fresh))).digest()
            # A repeated key is answered also when the session has ended since: the turn it names is in the log.
            if key is not None and (turn_id := await self._known_key(key, digest)):
                waits = any(message.turn_id == turn_id for message in self.queue)
                return Accepted(turn_id, waits, repeated=True)
            self._require_open()
            await self._require_conversation(fresh)
            self._require_open()
            message = QueuedMessage(random_id("turn"), prompt, now(), fresh)
            remembered: list[Change] = []
            if key is not None:
                remembered.append(RememberKey(self.id, key, KeyRow(digest, message.turn_id)))
            if self._can_start_now():
                await self._start_now(message, remembered)
                return Accepted(message.turn_id, queued=False)
            return Accepted(message.turn_id, await self._enqueue(message, remembered))

    def _can_start_now(self) -> bool:
        """Nothing runs, nothing waits and the agent is there: a message need not pass through the queue."""
        idle = self.scribe.turn is None and not self.queue and self._pump is None
        there = self.host is not None and not self.host.process.is_ending and self._conversation is not None
        return idle and there and self._opening is None and not self._restart_when_idle

    async def _start_now(self, message: QueuedMessage, remembered: list[Change]) -> None:
        self._stop_idle_timer()
        self._begin_turn(message)
        turn = self.scribe.turn
        self.flush()
        try:
            await self.log.commit(remembered)
        except SandboxAgentError:
            # The disk refused it and so do we. What was begun is told as a turn that failed, once it can be.
            if turn is not None and self.scribe.turn is turn:
                self.scribe.error("the message could not be written down", source="daemon")
                self.scribe.end_turn("error", source="daemon")
                self.flush()
            raise
        self._hand_over(turn, message)

    async def _enqueue(self, message: QueuedMessage, remembered: list[Change]) -> bool:
        await self.log.commit([Enqueue(self.id, message), *remembered])
        if self.record.ended:
            # Terminated while the message was written: nothing will run it.
            self._daemon.log.append(self.log, (), [Dequeue(self.id, message.turn_id)])
            self._require_open()
        waits = self.scribe.turn is not None or bool(self.queue) or self._starting is not None
        self.queue.append(message)
        if waits:
            self._tell_queue(message, "queued")
            self.flush()
        self.wake()
        return waits

    def _hand_over(self, turn: Turn | None, message: QueuedMessage) -> None:
        """Give the prompt to the agent, unless the turn is over already: cancelled while it was written down."""
        self._unheard = None
        if turn is None or self.scribe.turn is not turn:
            return
        if self._conversation is None or self.host is None or self.host.process.is_ending:
            self._unheard = turn
            self._daemon.spawn(self._hand_over_anew(turn, message))
        elif self._conversation.cancelling:
            self.scribe.end_turn("interrupted", source="daemon")
            self.flush()
        else:
            self._prompt = message
            self._hand_overs += 1
            self._give_prompt(message.prompt)

    def _give_prompt(self, prompt: Prompt) -> None:
        try:
            self._tell(
                lambda host, conversation: host.wire.prompt(
                    conversation, prompt, _read(host.wire.wants(prompt))
                )
            )
        except Exception as error:
            # The turn is open already, and nobody else would end it.
            logger.exception("a prompt of session %s could not be handed over", self.id)
            self._fail_turn(Internal(f"the prompt could not be handed over: {error}"))
            self.flush()

    def _prompt_unread(self, failure: Failure) -> None:
        turn = self.scribe.turn
        if turn is None or self._prompt is None:
            return
        if self._hand_overs < MOST_HAND_OVERS:
            self._unheard = turn
            self._daemon.spawn(self._hand_over_anew(turn, self._prompt))
        else:
            self.scribe.error(failure.message, failure.code, failure.details)
            self.scribe.end_turn("error")

    async def _hand_over_anew(self, turn: Turn, message: QueuedMessage) -> None:
        """The agent ended before it read the prompt, so nothing of the turn crashed: the next process gets it."""
        if self._restart_when_idle:
            await self._detach()
        failure = await self._try_to_attach(message)
        if self.scribe.turn is turn and failure is not None:
            self._fail_turn(failure)
        await self.flush()
        self._hand_over(turn, message)

    async def _try_to_attach(self, message: QueuedMessage) -> SandboxAgentError | None:
        try:
            await self.attach(fresh=message.fresh)
        except SandboxAgentError as error:
            return error
        return None

    def _fail_turn(self, failure: SandboxAgentError) -> None:
        self.scribe.error(failure.detail, _error_code(failure), failure.facts, source="daemon")
        self.scribe.end_turn("error", source="daemon")

    async def _known_key(self, key: str, digest: bytes) -> str | None:
        store = self._daemon.log.store
        row = await self._daemon.log.look_up(lambda: store.key(self.id, key))
        if row is None:
            return None
        if row.digest != digest:
            raise IdempotencyMismatch("this Idempotency-Key was used with another message", sessionId=self.id)
        return row.turn_id

    async def _require_conversation(self, fresh: bool) -> None:
        """Refuse a message whose conversation is gone. Any other failure to start is an error of its turn."""
        idle = self.scribe.turn is None and not self.queue
        if idle and self.record.native_stored and not fresh:
            if self._restart_when_idle:
                await self._detach()
            try:
                await self.attach()
            except Conflict:
                raise
            except SandboxAgentError:
                pass

    async def withdraw(self, turn_id: str) -> None:
        message = next((one for one in self.queue if one.turn_id == turn_id), None)
        if message is None or message is self._starting:
            raise NotFound("no such message waits in the queue", sessionId=self.id, turnId=turn_id)
        self.queue.remove(message)
        await self.flush(self._withdrawn(message))

    def _withdrawn(self, message: QueuedMessage) -> Change:
        self._tell_queue(message, "withdrawn")
        return Dequeue(self.id, message.turn_id)

    def _tell_queue(self, message: QueuedMessage, state: str) -> None:
        self.scribe.status("queue", {"turn_id": message.turn_id, "state": state}, source="daemon")

    def _require_open(self) -> None:
        if self.record.ended:
            raise Conflict("the session has ended", sessionId=self.id)

    # -- turns ------------------------------------------------------------------------------

    def wake(self) -> None:
        """Start the next queued message if nothing stands in its way."""
        if self._pump is None and self._may_start_next():
            self._pump = self._daemon.spawn(self._start_next())

    def _may_start_next(self) -> bool:
        """A daemon that stops, or does not know the agent any more, leaves the queue to a later life."""
        idle = self.scribe.turn is None and not self.record.ended
        able = self.agent.name in self._daemon.agents and not self._daemon.draining
        return idle and able and bool(self.queue)

    async def _start_next(self) -> None:
        try:
            while self._may_start_next():
                await self._start_turn(self.queue[0])
        finally:
            self._pump = None

    async def _start_turn(self, message: QueuedMessage) -> None:
        self._starting = message
        self._cancel_start = False
        try:
            if self._restart_when_idle:
                await self._detach()
            failure = await self._try_to_attach(message)
        finally:
            self._starting = None
        if self.record.ended or message not in self.queue or self._daemon.draining:
            return
        self.queue.remove(message)
        self._stop_idle_timer()
        self._begin_turn(message)
        if failure is not None:
            self._fail_turn(failure)
        elif self._cancel_start:
            self.scribe.end_turn("interrupted", source="daemon")
        turn = self.scribe.turn
        await self.flush(Dequeue(self.id, message.turn_id))
        self._hand_over(turn, message)

    def _begin_turn(self, message: QueuedMessage) -> None:
        self.scribe.start_turn(message.turn_id)
        self.scribe.user_message(message.prompt.text, message.prompt.attachments)
        self._unheard = self.scribe.turn
        self._prompt, self._hand_overs = None, 0
        if self._conversation is not None:
            self._conversation.cancelling = False
            self.record.prompted = True
        if self.record.turn_timeout_ms is not None:
            seconds = self.record.turn_timeout_ms / 1000
            self._turn_timer = asyncio.get_running_loop().call_later(seconds, self._turn_timed_out)

    def _turn_timed_out(self) -> None:
        if self.scribe.turn:
            self.scribe.error(f"the turn took longer than {self.record.turn_timeout_ms} ms", source="daemon")
            self.scribe.turn.stop_reason = "limit"
            self._daemon.spawn(self.cancel())

    async def cancel(self) -> None:
        """End the running turn; the session and its queue stay. Returns when the turn has ended."""
        if self._starting is not None:
            self._cancel_start = True
        turn = self.scribe.turn
        if turn is None:
            return
        if self._conversation is not None and not self._conversation.cancelling:
            self._conversation.cancelling = True
            for pending in list(self.scribe.pending.values()):
                self._reject(pending, "the turn was cancelled")
            self.flush()
            self._tell(lambda host, conversation: host.wire.cancel(conversation))
            if self.host is not None and self.host.wire.interrupts_by_signal:
                self.host.interrupt()
                self._restart_when_idle = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at_rest.wait(), CANCEL_SECONDS)
        if self.scribe.turn is turn:
            # The agent does not listen: end the turn without it. The next message resumes the conversation.
            self.scribe.end_turn("interrupted", source="daemon")
            self.flush()
            await self._detach()
        # The end of the turn is in the log when this returns, unless the disk is full.
        await asyncio.wait([self.log.append((), ())], timeout=1.0)

    def _turn_began(self) -> None:
        self._at_rest.clear()
        if self._conversation is not None:
            self._conversation.cancelling = False  # that was another turn

    def _turn_over(self) -> None:
        self._at_rest.set()
        if self._turn_timer is not None:
            self._turn_timer.cancel()
        self._arm_idle_timer()
        asyncio.get_running_loop().call_soon(self.wake)

    def _arm_idle_timer(self) -> None:
        self._stop_idle_timer()
        seconds = self._daemon.config.idle_seconds
        self._idle_timer = asyncio.get_running_loop().call_later(seconds, self._give_back)

    def _give_back(self) -> None:
        """Nothing happened for long: stop the process. The next message resumes the conversation."""
        may_go = self._conversation is None or self._conversation.can_resume
        if may_go and self.scribe.nothing_open() and self._starting is None and not self.queue:
            self._daemon.spawn(self._detach())

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    # -- permissions and questions ----------------------------------------------------------

    async def decide(self, permission_id: str, decision: Decision) -> None:
        pending = await self._pending(permission_id, PermissionRequested)
        self._daemon.log.require_writable()
        if decision.reply == "always" and pending.ask is not None:
            self.record.rules = remember(pending.ask, self.record.rules)
        self.scribe.decide(pending.key, STATUS[decision.reply], "client", decision.message)
        await self.flush()
        self._tell(lambda host, conversation: host.wire.decide(conversation, pending.key, decision))

    async def answer(self, question_id: str, answer: Answer) -> None:
        pending = await self._pending(question_id, QuestionRequested)
        self._daemon.log.require_writable()
        requested = pending.requested
        if (
            isinstance(requested, QuestionRequested)
            and requested.metadata.plan
            and answer.answers is not None
        ):
            approved = answer.answers[:1] != (("reject",),)
            if approved:
                self._leave_plan()
            else:
                answer = Answer(None, answer.message)
        self.scribe.answer(pending.key, answer.answers, "client", answer.message)
        await self.flush()
        self._tell(lambda host, conversation: host.wire.answer(conversation, pending.key, answer))

    async def _pending(self, id: str, kind: type[PermissionRequested | QuestionRequested]) -> Pending:
        found = next((one for one in self.scribe.pending.values() if one.id == id), None)
        if found is not None and isinstance(found.requested, kind):
            return found
        store = self._daemon.log.store
        if found is None and await self._daemon.log.look_up(lambda: store.was_asked(self.id, id)):
            raise Conflict("this was answered before", sessionId=self.id, id=id)
        raise NotFound("nothing with this id waits for an answer", sessionId=self.id, id=id)

    def _reject(self, pending: Pending, message: str) -> None:
        if not self.scribe.decide(pending.key, "reject", "daemon", message):
            self.scribe.answer(pending.key, None, "daemon", message)

    def _leave_plan(self) -> None:
        """An approved plan is the way out of plan mode."""
        settings = self.record.settings
        mode = "default" if settings.permission_mode == "plan" else settings.permission_mode
        agent_mode = "build" if settings.agent_mode == "plan" else settings.agent_mode
        self.record.settings = msgspec.structs.replace(settings, permission_mode=mode, agent_mode=agent_mode)
        if self._conversation is not None:
            self._conversation.settings = self._settings()

    # -- settings ---------------------------------------------------------------------------

    async def configure(self, settings: Settings, title: str | None) -> None:
        if not self.saved:
            raise SessionNotFound(f"no session {self.id}", sessionId=self.id)  # it is being deleted
        self.record.title = title if title is not None else self.record.title
        if settings != self.record.settings:
            self.record.settings = settings
            if self.host is not None and self._conversation is not None:
                switched = self.host.wire.configure(self._conversation, self._settings())
                self._conversation.settings = self._settings()
                self._restart_when_idle = self._restart_when_idle or not switched
                self.host.flush()
        self.record.updated_at = now()
        await self.log.commit([SaveSession(copy.copy(self.record))])
        self._tell_state()


def _error_code(failure: SandboxAgentError) -> Any:
    return "agent_process_exited" if isinstance(failure, AgentProcessExited) else "agent_error"


def _read(paths: tuple[str, ...]) -> dict[str, bytes]:
    files = {}
    for path in paths:
        with contextlib.suppress(OSError):
            files[path] = Path(path).read_bytes()
    return files
