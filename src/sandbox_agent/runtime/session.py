"""One session: its queue, its turns, what waits for an answer, and the agent behind it.

Everything that changes a session happens on the event loop and goes through `flush`, which turns what the scribe wrote into one
commit together with the session's record. A prompt, a decision and an answer reach the agent only after that commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..agents.base import Agent, Conversation, Ending, Notice, Ready, Start, StartFailed
from ..agents.scribe import Draft, Pending, RecoveringScribe, Scribe, Turn
from ..errors import (
    AgentNotInstalled,
    AgentProcessExited,
    Conflict,
    IdempotencyMismatch,
    NotFound,
    SandboxAgentError,
    Timeout,
)
from ..schema.events import (
    ItemCompleted,
    ItemDelta,
    ItemStarted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    SessionEnded,
    TurnEnded,
    TurnStarted,
    Usage,
    decode_event,
)
from ..schema.ids import random_id
from ..schema.inputs import Answer, Decision, Prompt, Settings
from ..schema.sessions import SessionInfo, SessionState, SessionUsage
from ..store.base import (
    AddPending,
    Change,
    Dequeue,
    Enqueue,
    KeyRow,
    PendingRow,
    QueuedMessage,
    RememberCalls,
    RememberKey,
    ResolvePending,
    SaveSession,
    Secrets,
    SessionRecord,
)
from .approvals import STATUS, remember, verdict
from .host import Host, Seat
from .log import SessionLog, now
from .process import Exit
from .programs import Program

if TYPE_CHECKING:
    from .daemon import Daemon

logger = logging.getLogger("sandbox_agent.session")

CANCEL_SECONDS = 5.0
EXIT_SECONDS = 2.0


_ITEM_EVENTS = frozenset((ItemDelta, ItemStarted, ItemCompleted))


class ConversationGone(SandboxAgentError):
    """The agent does not know the conversation that we asked it to resume."""

    type, status, title = "conflict", 409, "Conversation gone"


class Session:
    def __init__(self, daemon: Daemon, agent: Agent, record: SessionRecord, secrets: Secrets) -> None:
        self.agent = agent
        self.record = record
        self.log: SessionLog = daemon.log.session(record.session_id, record.event_count)
        self.queue: deque[QueuedMessage] = deque()
        self.host: Host | None = None
        self.saved = False
        """The session is in the store; before that, nothing may be appended."""
        self._daemon = daemon
        self.scribe = self._prepare(Scribe(random_id, time.monotonic, (), self._image_folder()))
        self._secrets = secrets
        self._conversation: Conversation | None = None
        self._opening: asyncio.Future[None] | None = None
        self._failing = (
            False  # the agent said that the start fails; its exit adds facts, not a second failure
        )
        self._attach_lock = asyncio.Lock()
        self._accept_lock = asyncio.Lock()
        self._pump: object | None = None
        self._starting: QueuedMessage | None = None
        self._cancel_start = False
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._judged: set[str] = set()
        self._record_changed = True
        self._restart_when_idle = False
        self._idle_timer: asyncio.TimerHandle | None = None
        self._turn_timer: asyncio.TimerHandle | None = None
        self._announced: tuple[SessionState, str | None] | None = None

    def _prepare(self, scribe: Scribe) -> Scribe:
        scribe.native_session_id = self.record.native_id
        scribe.started = self.record.event_count > 0
        scribe.ended = self.record.ended
        return scribe

    def _image_folder(self) -> str:
        return f"{self._daemon.attachments.folder(self.id)}/"

    @property
    def id(self) -> str:
        return self.record.session_id

    @property
    def state(self) -> SessionState:
        if self.record.ended:
            return "ended"
        if self.scribe.pending:
            return "requires_action"
        return "running" if self.scribe.turn else "idle"

    def info(self) -> SessionInfo:
        return session_info(self.record, self.state)

    # -- life ---------------------------------------------------------------------------------

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
        scribe = RecoveringScribe(random_id, time.monotonic, call_ids, self._image_folder())
        self.scribe = self._prepare(scribe)
        self.saved = True
        waiting = await log.look_up(lambda: log.store.pending(record.session_id))
        changes: list[Change] = [ResolvePending(record.session_id, row.id) for row in waiting]
        if record.open_since is not None:
            after = record.open_since - 1
            while rows := await log.read(record.session_id, after):
                scribe.recover(decode_event(row.body) for row in rows)
                after = rows[-1].sequence
            # No process is left, so nothing goes on in the background either: all of it ends with the turn.
            scribe.close_background()
            scribe.end_turn("outcome_unknown", source="daemon")
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
        await self._detach()

    async def wait_at_rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at_rest.wait(), max(0.0, seconds))

    async def rest(self) -> None:
        """The daemon stops: end the turn as unknown and let the agent go."""
        self.scribe.end_turn("outcome_unknown", source="daemon")
        self.scribe.close_background()
        self.flush()
        await self._detach()

    # -- messages -----------------------------------------------------------------------------

    async def send(self, prompt: Prompt, *, key: str | None, fresh: bool) -> tuple[str, bool]:
        """Accept a message: durable when this returns. Gives the turn's id, and whether it has to wait."""
        self._require_open()
        async with self._accept_lock:
            digest = hashlib.sha256(msgspec.json.encode((prompt, fresh))).digest()
            if key is not None and (turn_id := await self._known_key(key, digest)):
                return turn_id, any(message.turn_id == turn_id for message in self.queue)
            await self._require_conversation(fresh)
            self._require_open()
            message = QueuedMessage(random_id("turn"), prompt, now(), fresh)
            remembered: list[Change] = []
            if key is not None:
                remembered.append(RememberKey(self.id, key, KeyRow(digest, message.turn_id)))
            if self._can_start_now():
                await self._start_now(message, remembered)
                return message.turn_id, False
            return message.turn_id, await self._enqueue(message, remembered)

    def _can_start_now(self) -> bool:
        """Nothing runs, nothing waits and the agent is there: a message need not pass through the queue."""
        idle = self.scribe.turn is None and not self.queue and self._pump is None
        return (
            idle and self._conversation is not None and self._opening is None and not self._restart_when_idle
        )

    async def _start_now(self, message: QueuedMessage, remembered: list[Change]) -> None:
        self._stop_idle_timer()
        self._begin_turn(message)
        turn = self.scribe.turn
        self.flush()
        try:
            await self._daemon.log.commit(remembered)
        except SandboxAgentError:
            # The disk refused it and so do we. What was begun is told as a turn that failed, once it can be.
            if turn is not None and self.scribe.turn is turn:
                self.scribe.error("the message could not be written down", source="daemon")
                self.scribe.end_turn("error", source="daemon")
                self.flush()
            raise
        self._hand_over(turn, message)

    async def _enqueue(self, message: QueuedMessage, remembered: list[Change]) -> bool:
        await self._daemon.log.commit([Enqueue(self.id, message), *remembered])
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
        """Give the prompt to the agent, unless it died or the turn was cancelled while it was written down."""
        if turn is not None and self.scribe.turn is turn and self._conversation is not None:
            self._tell(lambda host, conversation: host.wire.prompt(conversation, message.prompt))

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

    # -- turns --------------------------------------------------------------------------------

    def wake(self) -> None:
        """Start the next queued message if nothing stands in its way."""
        may_start = self.queue and self.scribe.turn is None and not self.record.ended
        if may_start and self._pump is None and not self._daemon.draining:
            self._pump = self._daemon.spawn(self._start_next())

    async def _start_next(self) -> None:
        try:
            while self.queue and self.scribe.turn is None and not self.record.ended:
                await self._start_turn(self.queue[0])
        finally:
            self._pump = None

    async def _start_turn(self, message: QueuedMessage) -> None:
        self._starting = message
        self._cancel_start = False
        failure: SandboxAgentError | None = None
        try:
            if self._restart_when_idle:
                await self._detach()
            await self.attach(fresh=message.fresh)
        except SandboxAgentError as error:
            failure = error
        finally:
            self._starting = None
        if self.record.ended or message not in self.queue:
            return
        self.queue.remove(message)
        self._stop_idle_timer()
        self._begin_turn(message)
        if failure is not None:
            self.scribe.error(failure.detail, _error_code(failure), failure.facts, source="daemon")
            self.scribe.end_turn("error", source="daemon")
        elif self._cancel_start:
            self.scribe.end_turn("interrupted", source="daemon")
        turn = self.scribe.turn
        await self.flush(Dequeue(self.id, message.turn_id))
        self._hand_over(turn, message)

    def _begin_turn(self, message: QueuedMessage) -> None:
        self.scribe.start_turn(message.turn_id)
        self.scribe.user_message(message.prompt.text, message.prompt.attachments)
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

    # -- permissions and questions ------------------------------------------------------------

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

    # -- settings -----------------------------------------------------------------------------

    async def configure(self, settings: Settings, title: str | None) -> None:
        self.record.title = title if title is not None else self.record.title
        if settings != self.record.settings:
            self.record.settings = settings
            if self.host is not None and self._conversation is not None:
                switched = self.host.wire.configure(self._conversation, self._settings())
                self._conversation.settings = self._settings()
                self._restart_when_idle = self._restart_when_idle or not switched
                self.host.flush()
        self.record.updated_at = now()
        await self._daemon.log.commit([SaveSession(copy.copy(self.record))])
        self._tell_state()

    def _settings(self) -> Settings:
        return msgspec.structs.replace(self.record.settings, mcp=self._secrets.mcp)

    # -- the agent behind it ------------------------------------------------------------------

    async def attach(self, *, fresh: bool = False) -> None:
        """Have a process that knows this conversation: the one that runs, or a new one that resumes it."""
        async with self._attach_lock:
            if self.host is not None:
                return
            try:
                await self._open(resume=self.record.prompted)
            except ConversationGone as error:
                if self.record.native_stored and not fresh:
                    raise Conflict(
                        f"the agent's own conversation is gone ({error.detail}); send the message with `fresh: true` "
                        "to start a new one in this session",
                        sessionId=self.id,
                    ) from None
                lost = self.record.native_id
                self.record.native_id = self.scribe.native_session_id = None
                self.record.native_stored = self.record.prompted = False
                self.scribe.status(
                    "resume_lost",
                    {"native_session_id": lost},
                    "the agent had not stored this conversation; it starts anew",
                    source="daemon",
                )
                await self._open(resume=False)

    async def _open(self, *, resume: bool) -> None:
        if self.record.native_id is None:
            self.record.native_id = self.agent.choose_native_id()
        program = await self._program()
        self.record.agent_version = program.version
        host = await self._daemon.hosts.get(self._seat(program, resume))
        self.host = host
        self._opening = asyncio.get_running_loop().create_future()
        self._failing = False
        metadata = self.agent.metadata(program.version, self.record.settings)
        start = Start(self.scribe, self._settings(), metadata, self.record.native_id, resume)
        try:
            self._conversation = host.open(start, self)
            host.flush()
            await asyncio.wait_for(self._opening, self._daemon.config.start_seconds)
        except TimeoutError:
            await self._detach()
            seconds = self._daemon.config.start_seconds
            raise Timeout(
                f"{self.agent.title} did not answer in {seconds:g} s", agent=self.agent.name
            ) from None
        except BaseException:
            await self._detach()
            raise
        finally:
            self._opening = None

    async def _program(self) -> Program:
        """The agent's program, in the version that was asked for."""
        program = await self._daemon.programs.program(self.agent)
        wanted = self.record.pinned_version
        if wanted is not None and wanted != program.version:
            raise AgentNotInstalled(
                f"{self.agent.title} {wanted} is not installed; {program.path} is {program.version}",
                agent=self.agent.name,
                version=program.version,
            )
        return program

    def _seat(self, program: Program, resume: bool) -> Seat:
        return Seat(self.agent, program, self._settings(), self._secrets.env, self.record.native_id, resume)

    async def _detach(self) -> None:
        """Let the process go, or our place on it."""
        host, conversation = self.host, self._conversation
        self.host = self._conversation = None
        self._restart_when_idle = False
        self._stop_idle_timer()
        if host is not None:
            await self._daemon.hosts.release(host, conversation)

    def _tell(self, say: Callable[[Host, Conversation], None]) -> None:
        """Say something to the agent, if it is there."""
        if self.host is not None and self._conversation is not None:
            say(self.host, self._conversation)
            self.host.flush()

    def notice(self, notice: Notice) -> None:
        opening = self._opening
        match notice:
            case Ready() if opening is not None and not opening.done():
                opening.set_result(None)
            case StartFailed(_, message, gone) if opening is not None and not opening.done():
                self._failing = True
                self._daemon.spawn(self._fail_opening(opening, message, gone))
            case Ending():
                self._restart_when_idle = True

    async def _fail_opening(self, opening: asyncio.Future[None], message: str, gone: bool) -> None:
        """A process of our own is about to exit: its exit code and stderr belong to the failure."""
        facts: dict[str, Any] = {"agent": self.agent.name}
        if self.host is not None and not self.agent.capabilities.shared_process:
            process = self.host.process
            process.close_input()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.ended.wait(), EXIT_SECONDS)
            facts |= {"stderr": process.stderr(), "exitCode": process.exit_code}
        if not opening.done():
            kind = ConversationGone if gone else AgentProcessExited
            opening.set_exception(kind(message, **facts))

    def process_exited(self, exit: Exit) -> None:
        """The process is gone by itself (or was shared and is gone): a crash of the turn, nothing between turns."""
        conversation, opening = self._conversation, self._opening
        self.host = self._conversation = None
        self._restart_when_idle = False
        self._stop_idle_timer()
        if opening is not None and not opening.done() and not self._failing:
            gone = conversation is not None and conversation.resumed and self.agent.is_gone(exit.stderr_text)
            kind = ConversationGone if gone else AgentProcessExited
            opening.set_exception(
                kind(exit.describe(), agent=self.agent.name, exitCode=exit.code, stderr=exit.stderr)
            )
        if conversation is not None and conversation.cancelling:
            self.scribe.end_turn("interrupted", source="daemon")
        self.scribe.crash(exit.code, exit.signal, exit.stderr)
        self.flush()

    # -- the log ------------------------------------------------------------------------------

    def flush(self, *changes: Change) -> asyncio.Future[None]:
        """Commit what the scribe wrote, with the record and these changes. The future is done when it is on disk."""
        scribe, record = self.scribe, self.record
        if not self.saved or (not scribe.drafts and not changes):
            return _done()
        replies = self._judge() if scribe.pending else []
        drafts, scribe.drafts = scribe.drafts, []
        known = (record.native_id, record.open_since)
        written = [*changes, *self._note(drafts)]
        if scribe.new_call_ids:
            written.append(RememberCalls(self.id, scribe.new_call_ids))
            scribe.new_call_ids = []
        if scribe.blobs:
            self._store_images()
        record.event_count += len(drafts)
        record.native_id = scribe.native_session_id
        record.updated_at = now()
        # Most batches are deltas: they change nothing but the count, and that can be read from the log itself.
        if written or known != (record.native_id, record.open_since) or self._record_changed:
            self._record_changed = False
            written.append(SaveSession(copy.copy(record)))
        done = self.log.append(drafts, written)
        if replies:
            # A future of its own, in the same commit: the caller may give up waiting for the other.
            self.log.append((), ()).add_done_callback(lambda _: self._send_replies(replies))
        self._tell_state()
        return done

    def _store_images(self) -> None:
        """Images that agents make, before the events that name them. A full disk keeps them in memory until it is back."""
        for name, content in list(self.scribe.blobs.items()):
            try:
                self._daemon.attachments.write(self.id, name, content)
            except OSError:
                logger.exception("an image of session %s could not be stored yet", self.id)
                return
            del self.scribe.blobs[name]

    def _judge(self) -> list[tuple[str, Decision]]:
        """Answer what needs nobody; the request and its resolution are committed together."""
        replies = []
        for pending in list(self.scribe.pending.values()):
            if pending.ask is None or pending.id in self._judged:
                continue
            self._judged.add(pending.id)
            judged = verdict(pending.ask, self.record.settings.permission_mode, self.record.rules)
            if judged is not None:
                decision, by = judged
                self.scribe.decide(pending.key, STATUS[decision.reply], by, decision.message)
                replies.append((pending.key, decision))
        return replies

    def _send_replies(self, replies: list[tuple[str, Decision]]) -> None:
        for key, decision in replies:
            self._tell(lambda host, conversation: host.wire.decide(conversation, key, decision))  # noqa: B023

    def _note(self, drafts: list[Draft]) -> list[Change]:
        """Keep the record true to the events."""
        record = self.record
        changes: list[Change] = []
        for number, draft in enumerate(drafts, start=record.event_count + 1):
            if type(draft.data) in _ITEM_EVENTS:
                continue
            self._record_changed = True
            match draft.data:
                case TurnStarted(turn_id):
                    record.turn_id = turn_id
                    record.open_since = record.open_since or number
                    self._at_rest.clear()
                case TurnEnded(_, metadata):
                    record.turn_id = None
                    record.native_stored = record.native_stored or metadata.stop_reason == "end_turn"
                    if metadata.usage is not None:
                        record.usage = (record.usage or Usage()) + metadata.usage
                    self._turn_over()
                case PermissionRequested() as asked:
                    changes.append(
                        AddPending(self.id, _pending_row(asked.permission_id, "permission", asked))
                    )
                case QuestionRequested() as asked:
                    changes.append(AddPending(self.id, _pending_row(asked.question_id, "question", asked)))
                case PermissionResolved(id) | QuestionResolved(id):
                    changes.append(ResolvePending(self.id, id))
                case SessionEnded():
                    record.ended = True
                    self._daemon.spawn(self._detach())
        if record.open_since is not None and self.scribe.nothing_open():
            record.open_since = None
        return changes

    def _turn_over(self) -> None:
        self._at_rest.set()
        if self._turn_timer is not None:
            self._turn_timer.cancel()
        loop = asyncio.get_running_loop()
        self._stop_idle_timer()
        self._idle_timer = loop.call_later(self._daemon.config.idle_seconds, self._give_back)
        loop.call_soon(self.wake)

    def _give_back(self) -> None:
        """Nothing happened for long: stop the process. The next message resumes the conversation."""
        if self.scribe.nothing_open() and self._starting is None and not self.queue:
            self._daemon.spawn(self._detach())

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _tell_state(self) -> None:
        shown = (self.state, self.record.title)
        if shown != self._announced:
            self._announced = shown
            self._daemon.session_changed(self)

    def _require_open(self) -> None:
        if self.record.ended:
            raise Conflict("the session has ended", sessionId=self.id)


def session_info(record: SessionRecord, state: SessionState | None = None) -> SessionInfo:
    """What clients see of a session. One that is not in memory is at rest."""
    settings = record.settings
    return SessionInfo(
        record.session_id,
        record.agent,
        settings.agent_mode,
        settings.permission_mode,
        settings.model,
        settings.variant,
        record.title,
        settings.directory,
        record.native_id,
        state or ("ended" if record.ended else "idle"),
        record.ended,
        record.event_count,
        record.created_at,
        record.updated_at,
        SessionUsage.of(record.usage),
    )


def _done() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.set_result(None)
    return future


def _pending_row(id: str, kind: Any, asked: PermissionRequested | QuestionRequested) -> PendingRow:
    return PendingRow(id, kind, msgspec.json.encode(asked))


def _error_code(failure: SandboxAgentError) -> Any:
    return "agent_process_exited" if isinstance(failure, AgentProcessExited) else "agent_error"
