"""A session on a connection: follows its log, sends updates, answers prompts when their turns end, and asks the client.

Closing a conversation ends nothing in the daemon.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import posixpath
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from ...agents.jsonrpc import RpcError
from ...errors import Conflict, InvalidRequest, NotFound, SandboxAgentError
from ...schema.events import (
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    StopReason,
    TurnEnded,
    TurnMetadata,
    TurnStarted,
)
from ...schema.features import Command
from ...schema.items import Json, StatusPart
from ...schema.options import Choices
from ...schema.sessions import SessionInfo
from . import asking
from .errors import RequestFailed, error_of_turn
from .frames import (
    INTERNAL_ERROR,
    AnyUpdate,
    AvailableCommand,
    AvailableCommands,
    Block,
    ClientCapabilities,
    CommandInput,
    ImageContent,
    Prompted,
    TokenUsage,
)
from .operations import Message, Operations
from .prompts import ReadPrompt, read_prompt
from .settings import ShownSettings
from .updates import Updates, images_in

logger = logging.getLogger("sandbox_agent.doors.acp")

CLOSED = "the session was closed, or opened again, on this connection"
GONE = "the session has ended or was deleted, or the daemon is stopping"
END_SECONDS = 10.0
"""How long a cancelled turn may take to end."""
STOP_REASONS: dict[StopReason, str] = {
    "end_turn": "end_turn",
    "interrupted": "cancelled",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "limit": "max_turn_requests",
}
"""Every other end is an error."""


class Client(Protocol):
    """The client of a conversation."""

    capabilities: ClientCapabilities

    async def update(self, session_id: str, update: AnyUpdate) -> None: ...

    async def ask(self, session_id: str, method: str, params: object) -> Raw:
        """Send a request and wait for its answer; raises `RequestFailed`. Cancelling it withdraws the request."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that ends with the connection."""


class Conversation:
    def __init__(
        self, client: Client, operations: Operations, session: SessionInfo, choices: Choices
    ) -> None:
        self.id = session.session_id
        self.settings = ShownSettings(session, choices)
        self._client = client
        self._operations = operations
        self._updates = Updates(session.directory, client.capabilities)
        self._is_closed = False
        self._following: asyncio.Task[None] | None = None
        self._seen = 0
        self._live_from = 0
        self._has_begun = asyncio.Event()
        self._is_live = asyncio.Event()
        self._why_incomplete: str | None = None
        """Why the replay ended too early."""
        self._sending: set[asyncio.Future[None]] = set()
        self._order = asyncio.Lock()
        self._prompts: dict[str, asyncio.Future[Prompted]] = {}
        self._turn: str | None = None
        self._error: ErrorEvent | None = None
        self._pending: dict[str, PermissionRequested | QuestionRequested] = {}
        self._asks: dict[str, asyncio.Task[None]] = {}
        self._commands: asyncio.Task[None] | None = None
        self._command_names: frozenset[str] = frozenset()
        self._are_listed = asyncio.Event()

    @property
    def has_prompts(self) -> bool:
        return bool(self._prompts or self._sending)

    # -- following the log --------------------------------------------------------------------

    def follow(self, after: int, live_from: int, cost: float = 0.0) -> None:
        """Show the events after a sequence: whole texts up to `live_from`, everything as it comes after it.

        - `cost`: What the session had cost by then.
        """
        if self._is_closed:
            return  # the client has closed it, or opened it again, before it had the answer
        self._seen, self._live_from = after, live_from
        self._updates.cost = cost
        self._has_begun.set()
        self._start_following()
        self._commands = self._client.spawn(self._show_commands())

    async def until_live(self) -> None:
        """Wait until the replay is over. Raises if not everything was shown."""
        await self._is_live.wait()
        self._require_open()
        if self._why_incomplete is not None:
            raise RequestFailed(RpcError(self._why_incomplete, INTERNAL_ERROR))

    async def until_answered(self) -> None:
        """Wait until the end of the turns that were cancelled is known here too."""
        if self._prompts:
            await asyncio.wait(self._prompts.values(), timeout=END_SECONDS)

    def close(self) -> None:
        """Stop showing it; its prompts fail here and continue in the daemon."""
        self._is_closed = True
        self._has_begun.set()
        self._is_live.set()
        self._are_listed.set()
        for task in (self._following, self._commands, *self._asks.values()):
            if task is not None:
                task.cancel()
        self._fail_prompts(CLOSED)

    def _require_open(self) -> None:
        if self._is_closed:
            raise RequestFailed(RpcError(CLOSED, INTERNAL_ERROR))

    def _start_following(self) -> None:
        if self._following is None or self._following.done():
            self._following = self._client.spawn(self._follow())

    async def _follow(self) -> None:
        why = GONE
        try:
            if self._seen >= self._live_from:
                await self._go_live()
            async with contextlib.aclosing(self._operations.events(self.id, self._seen)) as events:
                async for event in events:
                    await self._show(event)
                    self._seen = event.sequence
                    if event.sequence >= self._live_from:
                        await self._go_live()
        except SandboxAgentError as problem:
            why = problem.detail
        except Exception:
            logger.exception("the session %s cannot be shown", self.id)
            why = "internal error"
        finally:
            if not self._is_live.is_set():
                self._why_incomplete = why
                self._is_live.set()
            self._fail_prompts(why)

    def _fail_prompts(self, why: str) -> None:
        for prompt in self._prompts.values():
            if not prompt.done():
                prompt.set_exception(RequestFailed(RpcError(why, INTERNAL_ERROR)))
                prompt.exception()  # nobody may be left to read it

    async def _go_live(self) -> None:
        if self._is_live.is_set():
            return
        for update in self._updates.go_live():
            await self._client.update(self.id, update)
        self._is_live.set()
        for key in self._pending:
            self._ask(key)

    async def _show(self, event: Event) -> None:
        if isinstance(event.data, TurnStarted) or _withdrawn(event) is not None:
            # Only the answer to a message says which turn is ours, and the log may be faster.
            await self._until_sent()
        images = {}
        for image in images_in(event):
            if loaded := await self._load(image.path, image.mime):
                images[image.path] = loaded
        for update in self._updates.translate(event, images):
            await self._client.update(self.id, update)
        if isinstance(event.data, TurnStarted | TurnEnded) and self._is_live.is_set():
            # The log does not tell when another client changes settings.
            with contextlib.suppress(SandboxAgentError):
                await self.show_settings(await self._operations.get(self.id))
        self._note(event)

    async def show_settings(self, session: SessionInfo) -> None:
        """Tell the client the settings that it does not know."""
        for update in self.settings.news(session):
            await self._client.update(self.id, update)

    async def _load(self, path: str, mime: str | None) -> ImageContent | None:
        try:
            content = await self._operations.download(self.id, posixpath.basename(path))
        except SandboxAgentError:
            return None
        return ImageContent(data=base64.b64encode(content).decode(), mime_type=mime or "image/png")

    def _note(self, event: Event) -> None:
        match event.data:
            case TurnStarted(turn_id=turn_id):
                self._turn, self._error = turn_id, None
            case ErrorEvent() as error:
                self._error = error
            case TurnEnded(turn_id=turn_id, metadata=metadata):
                self._turn = None
                self._finish(turn_id, metadata)
            case PermissionRequested(permission_id=key) | QuestionRequested(question_id=key) as asked:
                self._pending[key] = asked
                if self._is_live.is_set():
                    self._ask(key)
            case PermissionResolved(permission_id=key) | QuestionResolved(question_id=key):
                self._pending.pop(key, None)
                if task := self._asks.pop(key, None):
                    task.cancel()
            case _ if (turn := _withdrawn(event)) is not None:
                self._settle(turn, Prompted(stop_reason="cancelled"))

    # -- prompts ------------------------------------------------------------------------------

    async def prompt(self, blocks: Iterable[Block]) -> Prompted:
        """Send a prompt and wait for the end of its turn."""
        read = read_prompt(blocks)
        await self._has_begun.wait()  # a client may send it before it has the answer that opens the session
        self._require_open()
        self._start_following()
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sending.add(sent)
        try:
            async with self._order:  # a prompt with files takes longer, and must not come after the next one
                turn = await self._send(read)
            prompt = self._prompts[turn] = asyncio.get_running_loop().create_future()
            self._updates.mine.add(turn)
            self._start_following()  # it may have broken off in the meantime
        finally:
            self._sending.discard(sent)
            sent.set_result(None)
        try:
            return await self._outcome(prompt)
        finally:
            self._prompts.pop(turn, None)

    async def _outcome(self, prompt: asyncio.Future[Prompted]) -> Prompted:
        try:
            return await asyncio.shield(prompt)
        except asyncio.CancelledError:
            # The client cancels the request itself: that cancels its turn, whose end is the answer.
            if self._is_closed:
                raise
            await self.cancel()
            return await prompt

    async def _send(self, prompt: ReadPrompt) -> str:
        files = [
            await self._operations.upload(self.id, file.content, file.filename, file.mime)
            for file in prompt.files
        ]
        is_command = prompt.command is not None and await self._has_command(prompt.command)
        return await self._operations.send(self.id, Message(prompt.text, tuple(files), is_command))

    async def cancel(self) -> None:
        """Cancel what this client waits for: its queued messages, and whatever the session does now."""
        await self._until_sent()
        # The last one first: withdrawing the first would let the next one start.
        for turn in reversed(list(self._prompts)):
            if turn != self._turn:
                # One that has just started is cancelled below.
                with contextlib.suppress(NotFound, Conflict):
                    await self._operations.withdraw(self.id, turn)
        await self._operations.cancel(self.id)

    async def _until_sent(self) -> None:
        if self._sending:
            await asyncio.wait(self._sending)

    def _finish(self, turn: str, end: TurnMetadata) -> None:
        reason = STOP_REASONS.get(end.stop_reason)
        if reason is None:
            self._settle(turn, RequestFailed(error_of_turn(end.stop_reason, self._error)))
        else:
            self._settle(turn, Prompted(stop_reason=reason, usage=_usage(end)))

    def _settle(self, turn: str, outcome: Prompted | RequestFailed) -> None:
        prompt = self._prompts.get(turn)
        if prompt is None or prompt.done():
            return
        if isinstance(outcome, RequestFailed):
            prompt.set_exception(outcome)
        else:
            prompt.set_result(outcome)

    # -- commands -----------------------------------------------------------------------------

    async def _show_commands(self) -> None:
        """Listing them may start the agent, so nobody waits for it but a prompt that may be one of them."""
        try:
            commands = await self._operations.commands(self.id)
            self._command_names = frozenset(command.name for command in commands)
        except SandboxAgentError:
            return
        finally:
            self._are_listed.set()
        await self._is_live.wait()
        if commands:
            shown = AvailableCommands(available_commands=tuple(map(_available, commands)))
            await self._client.update(self.id, shown)

    async def _has_command(self, name: str) -> bool:
        # Not for the end of the task, which waits for the replay, which may wait for this prompt.
        await self._are_listed.wait()
        return name in self._command_names

    # -- asking the client --------------------------------------------------------------------

    def _ask(self, key: str) -> None:
        self._asks[key] = self._client.spawn(self._ask_and_answer(key, self._pending[key]))

    async def _ask_and_answer(self, key: str, asked: PermissionRequested | QuestionRequested) -> None:
        try:
            if isinstance(asked, PermissionRequested):
                decided = await self._decision(asked)
                self._asks.pop(key, None)
                await self._operations.decide(self.id, key, decided.reply, decided.message)
            else:
                answers = await self._answers(asked)
                self._asks.pop(key, None)
                await self._answer(key, answers)
        except (NotFound, Conflict):
            pass  # someone else was faster
        except SandboxAgentError as problem:
            logger.warning("an answer for session %s was not accepted: %s", self.id, problem)

    async def _decision(self, asked: PermissionRequested) -> asking.Decided:
        call = self._updates.call_id(asked.metadata.call_id)
        params = asking.permission_request(self.id, asked, call)
        try:
            return asking.decision_in(await self._client.ask(self.id, "session/request_permission", params))
        except (RequestFailed, msgspec.DecodeError) as error:
            return asking.Decided("reject", f"the client could not ask: {error}")

    async def _answers(self, asked: QuestionRequested) -> asking.Answers | None:
        call = self._updates.call_id(asked.metadata.call_id)
        try:
            if asked.metadata.plan:
                plan = asking.plan_request(self.id, asked, call)
                answer = await self._client.ask(self.id, "session/request_permission", plan)
                return None if asking.decision_in(answer).reply == "reject" else [["approve"]]
            if self._client.capabilities.shows_forms:
                form = asking.form_request(self.id, asked, call)
                return asking.answers_in_form(
                    asked, await self._client.ask(self.id, "elicitation/create", form)
                )
            return await self._answers_by_options(asked, call)
        except (RequestFailed, msgspec.DecodeError):
            return None

    async def _answers_by_options(self, asked: QuestionRequested, call: str | None) -> asking.Answers | None:
        labels = []
        for question in asked.metadata.questions:
            params = asking.option_request(self.id, asked, question, call)
            answer = await self._client.ask(self.id, "session/request_permission", params)
            label = asking.label_in(question, answer)
            if label is None:
                return None
            labels.append([label])
        return labels

    async def _answer(self, key: str, answers: asking.Answers | None) -> None:
        try:
            await self._operations.answer(self.id, key, answers)
        except InvalidRequest:
            await self._operations.answer(self.id, key, None)


def _withdrawn(event: Event) -> str | None:
    """The turn whose message was withdrawn from the queue, if this event says so."""
    if not isinstance(event.data, ItemCompleted) or event.source != "daemon":
        return None
    match event.data.item.content:
        case [StatusPart(label="queue"), Json(json={"turn_id": str(turn), "state": "withdrawn"})]:
            return turn
    return None


def _available(command: Command) -> AvailableCommand:
    hint = CommandInput(hint=command.arguments) if command.arguments else None
    return AvailableCommand(name=command.name, description=command.description, input=hint)


def _usage(end: TurnMetadata) -> TokenUsage | None:
    usage = end.usage
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return TokenUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        thought_tokens=usage.reasoning_tokens,
        cached_read_tokens=usage.cache_read_tokens,
        cached_write_tokens=usage.cache_write_tokens,
    )
