"""The protocol of one `codex app-server` process, which carries every conversation as a thread of its own.

Frames are routed by their thread id and by nothing else. A sub-agent's thread is announced only after it has begun to
speak, so what an unknown thread says waits until somebody owns it. Requests of ours have string ids: recordings of other
clients, which count, never collide with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ... import __version__
from ...schema.features import Catalogue, Model
from ...schema.inputs import Answer as QuestionAnswer
from ...schema.inputs import Decision, Prompt, Settings
from ...schema.world import World
from ..base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Conversation,
    Decided,
    Files,
    Listed,
    ListFailed,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wire,
)
from ..frames import InFrame
from .conversation import CodexConversation, access, config_of, permission_mode, plans, turn_params
from .errors import failure_of
from .frames import (
    IGNORED,
    NOTIFICATIONS,
    Answer,
    ClientCapabilities,
    ClientInfo,
    Command,
    Envelope,
    Initialize,
    Interrupt,
    ListModels,
    ModelPage,
    Notification,
    OnThread,
    OpenThread,
    Params,
    Refusal,
    Request,
    RequestId,
    RequestResolved,
    RpcError,
    ThreadOpened,
    TurnAnswer,
    TurnCompleted,
    TurnError,
    TurnStarted,
    UserInput,
)
from .modes import MODES
from .requests import REQUESTS, UNSUPPORTED, Approval, Elicitation, Inquiry
from .thread import Thread

UNWANTED = (
    "account/rateLimits/updated",
    "remoteControl/status/changed",
    "thread/readState/changed",
    "turn/diff/updated",
)
"""The loudest of what we ignore: codex need not send it."""

MOST_ORPHANS = 256
"""How many threads without an owner may wait; codex never has so many."""

_envelope = msgspec.json.Decoder(Envelope)
_address = msgspec.json.Decoder(Params)
_notes = {method: msgspec.json.Decoder(kind) for method, kind in NOTIFICATIONS.items()}
_requests = {method: msgspec.json.Decoder(kind) for method, kind in REQUESTS.items()}


# -- what we wait for: the request of ours that an answer belongs to -------------------------------


class Greeting(Struct, frozen=True):
    pass


class Opening(Struct, frozen=True):
    conversation: CodexConversation
    resumes: bool


class Prompting(Struct, frozen=True):
    thread: Thread
    text: str
    joins: bool
    """A turn was running already: codex adds the prompt to it."""


class Beginning(Struct, frozen=True):
    """A client started a turn without a prompt."""

    thread: Thread


class Stopping(Struct, frozen=True):
    thread: Thread


class Leaving(Struct, frozen=True):
    thread: Thread


class Listing(Struct, frozen=True):
    models: tuple[Model, ...] = ()
    default: str | None = None


class Nothing(Struct, frozen=True):
    pass


Awaited = Greeting | Opening | Prompting | Beginning | Stopping | Leaving | Listing | Nothing


class Asked(Struct, frozen=True):
    """A request of codex that waits for our answer."""

    id: RequestId
    thread: Thread
    request: Approval | Inquiry


# -- reading what other clients wrote ---------------------------------------------------------------


class _SentConfig(Struct, frozen=True):
    model_reasoning_effort: Any = None


class _SentThread(Params, frozen=True, kw_only=True):
    cwd: str | None = None
    model: str | None = None
    approval_policy: Any = None
    sandbox: Any = None
    config: _SentConfig | None = None

    def settings(self) -> Settings:
        effort = self.config.model_reasoning_effort if self.config else None
        return Settings(
            self.cwd or "",
            permission_mode=permission_mode(self.approval_policy, self.sandbox),
            model=self.model,
            variant=effort if isinstance(effort, str) else None,
        )


class _SentTurn(Params, frozen=True, kw_only=True):
    input: tuple[UserInput, ...] = ()


class CodexWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._greeted = False
        self._waiting: list[Request] = []  # what was asked for before the handshake was over
        self._count = 0
        self._awaited: dict[RequestId, Awaited] = {}
        self._asked: dict[str, Asked] = {}
        self._conversations: list[CodexConversation] = []
        self._threads: dict[str, Thread] = {}
        self._orphans: dict[str, list[bytes]] = {}
        self._left: set[str] = set()  # threads of conversations that we closed
        self._claimed: list[str] = []  # orphans that have found their owner in this frame

    # -- commands -----------------------------------------------------------------------------

    def connected(self) -> None:
        client = ClientInfo(name="sandbox-agent", title="sandbox-agent", version=__version__)
        capabilities = ClientCapabilities(opt_out_notification_methods=UNWANTED)
        params = Initialize(client_info=client, capabilities=capabilities)
        self.send(self._request("initialize", params, Greeting()))

    def open(self, start: Start) -> CodexConversation:
        conversation = CodexConversation(self, start)
        self._conversations.append(conversation)
        resumes = start.resume and start.native_id is not None
        settings = start.settings
        policy, sandbox = access(settings.permission_mode)
        params = OpenThread(
            thread_id=start.native_id if resumes else None,
            cwd=settings.directory,
            model=settings.model,
            approval_policy=policy,
            sandbox=sandbox,
            config=config_of(settings),
            exclude_turns=resumes,
        )
        method = "thread/resume" if resumes else "thread/start"
        self._call(method, params, Opening(conversation, resumes))
        return conversation

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        thread = _thread_of(conversation)
        params = turn_params(thread, prompt)
        thread.conversation.told = thread.conversation.settings
        thread.conversation.wants_interrupt = False
        self._call("turn/start", params, self._prompting(thread, params.input))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        asked = self._asked.pop(key, None)
        if asked and isinstance(asked.request, Approval):
            self.send(Answer(asked.id, asked.request.reply(decision.reply)))

    def answer(self, conversation: Conversation, key: str, answer: QuestionAnswer) -> None:
        asked = self._asked.pop(key, None)
        if asked and isinstance(asked.request, Inquiry):
            self.send(Answer(asked.id, asked.request.reply(answer.answers)))

    def cancel(self, conversation: Conversation) -> None:
        assert isinstance(conversation, CodexConversation)
        # Before codex has reported the turn there is nothing to interrupt: it would run to its end.
        started = conversation.thread is not None and conversation.thread.running is not None
        conversation.wants_interrupt = conversation.scribe.turn is not None and not started
        for thread in conversation.threads():
            self._interrupt(thread)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        """Takes effect with the next prompt. A thread's directory and MCP servers are fixed when it is opened."""
        now = conversation.settings
        conversation.settings = settings
        return (now.directory, now.mcp) == (settings.directory, settings.mcp)

    def close(self, conversation: Conversation) -> None:
        assert isinstance(conversation, CodexConversation)
        self._forget(conversation)
        conversation.closed = True
        for thread in conversation.threads():
            self._left.add(thread.id)
            if thread.running:
                self._interrupt(thread)
            else:
                self._leave(thread)

    def list_catalogue(self, directory: str) -> None:
        self._call("model/list", ListModels(), Listing())

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._conversations)

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        assert isinstance(frame, bytes)
        try:
            thread_id = _address.decode(_envelope.decode(frame).params).thread_id
        except msgspec.DecodeError:
            thread_id = None
        if thread := self._threads.get(thread_id or ""):
            return thread.conversation
        # What no thread owns is told to nobody, unless there is nobody else.
        alone = self._conversations[0] if len(self._conversations) == 1 else None
        return alone if alone and alone.scribe.started else None

    # -- how requests are sent ----------------------------------------------------------------

    def _request(self, method: str, params: Command, awaited: Awaited) -> Request:
        self._count += 1
        request = Request(f"sandbox-agent-{self._count}", method, params)
        self._awaited[request.id] = awaited
        return request

    def _call(self, method: str, params: Command, awaited: Awaited) -> None:
        request = self._request(method, params, awaited)
        if self._greeted:
            self.send(request)
        else:
            self._waiting.append(request)

    def _prompting(self, thread: Thread, content: tuple[UserInput, ...]) -> Prompting:
        text = thread.conversation.read_input(content).text
        if text:
            thread.prompts.append(text)
        return Prompting(thread, text, joins=thread.running is not None)

    def _interrupt(self, thread: Thread) -> None:
        if thread.running:
            params = Interrupt(thread_id=thread.id, turn_id=thread.running)
            self._call("turn/interrupt", params, Stopping(thread))

    def _kill_commands(self, thread: Thread) -> None:
        """Codex lets a running command survive the turn that is interrupted."""
        self._call("thread/backgroundTerminals/clean", OnThread(thread_id=thread.id), Nothing())

    def _leave(self, thread: Thread) -> None:
        self._kill_commands(thread)
        self._call("thread/unsubscribe", OnThread(thread_id=thread.id), Leaving(thread))

    def _refuse(self, id: RequestId, message: str) -> None:
        self.send(Refusal(id, RpcError(message, -32601)))

    # -- frames of codex ----------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        envelope = _envelope.decode(frame)
        if envelope.method is None:
            self._hear_answer(envelope)
        elif envelope.id is UNSET or envelope.id is None:
            self._hear_notification(envelope.method, envelope.params, frame)
        else:
            self._hear_request(envelope.id, envelope.method, envelope.params, frame)
        for thread_id in self._claim():
            for waiting in self._orphans.pop(thread_id, ()):
                self.receive(waiting)

    def _claim(self) -> list[str]:
        claimed, self._claimed = self._claimed, []
        return claimed

    def _hear_notification(self, method: str, params: Raw, frame: bytes) -> None:
        if method in IGNORED:
            return
        thread_id = _address.decode(params).thread_id
        thread = self._threads.get(thread_id or "")
        if method not in NOTIFICATIONS:
            self._hear_unknown(thread, frame)
        elif thread is not None:
            self._hear(thread, _notes[method].decode(params), params)
        elif thread_id is not None:
            self._keep(thread_id, frame)

    def _hear(self, thread: Thread, note: Params, payload: Raw) -> None:
        if thread.id in self._left:
            if isinstance(note, TurnStarted):
                thread.running = note.turn.id
                self._interrupt(thread)
            return
        match note:
            case TurnStarted(turn=turn):
                thread.start_turn(turn)
                if thread is thread.conversation.thread and thread.conversation.wants_interrupt:
                    thread.conversation.wants_interrupt = False
                    self._interrupt(thread)
            case TurnCompleted(turn=turn):
                if thread.end_turn(turn):
                    self._drop_requests(thread)
            case RequestResolved(request_id=id):
                self._withdraw(_key(id))
            case _:
                thread.hear(note, payload)
        for agent, call in thread.started_agents:
            self._adopt(thread, agent, call)
        thread.started_agents.clear()

    def _hear_unknown(self, thread: Thread | None, frame: bytes) -> None:
        owner = thread.conversation if thread else self.conversation_of(frame)
        if owner is not None:
            owner.scribe.unknown(msgspec.json.decode(frame))

    def _keep(self, thread_id: str, frame: bytes) -> None:
        if thread_id in self._left:
            return
        if thread_id not in self._orphans and len(self._orphans) >= MOST_ORPHANS:
            del self._orphans[next(iter(self._orphans))]
        self._orphans.setdefault(thread_id, []).append(frame)

    def _adopt(self, thread: Thread, agent: str, call: str | None) -> None:
        """A sub-agent's thread belongs to the conversation whose call started it."""
        if agent not in self._threads:
            conversation = thread.conversation
            conversation.agents[agent] = Thread(agent, conversation, parent=call, is_agent=True)
            self._own(conversation.agents[agent])

    def _own(self, thread: Thread) -> None:
        self._threads[thread.id] = thread
        self._left.discard(thread.id)
        self._claimed.append(thread.id)

    # -- requests of codex --------------------------------------------------------------------

    def _hear_request(self, id: RequestId, method: str, params: Raw, frame: bytes) -> None:
        thread_id = _address.decode(params).thread_id
        thread = self._threads.get(thread_id or "")
        if method not in REQUESTS:
            if method not in UNSUPPORTED:
                self._hear_unknown(thread, frame)
            self._refuse(id, f"{method} is not supported")
        elif thread is not None and thread.id not in self._left:
            self._put(id, thread, params, method)
        elif thread_id is None or thread_id in self._left:
            self._refuse(id, "nobody is there to answer")
        else:
            self._keep(thread_id, frame)

    def _put(self, id: RequestId, thread: Thread, params: Raw, method: str) -> None:
        """Put a request to the client."""
        try:
            asked = _requests[method].decode(params)
        except msgspec.ValidationError:
            self._refuse(id, "the request was not understood")
            raise
        if not thread.is_in_turn(asked.turn_id):
            self._refuse(id, "the turn is over")
            return
        key = _key(id)
        if key in self._asked:
            return
        match asked.classify() if isinstance(asked, Elicitation) else asked:
            case Approval() as approval:
                self._asked[key] = Asked(id, thread, approval)
                thread.scribe.ask(key, approval.ask(thread))
            case Inquiry() as inquiry:
                self._asked[key] = Asked(id, thread, inquiry)
                thread.scribe.question(key, inquiry.questions(), call=inquiry.call(thread))
            case _:
                self._refuse(id, f"{method} is not supported")

    def _withdraw(self, key: str) -> None:
        """Codex does not wait any more: our answer has arrived, or the question is void."""
        asked = self._asked.pop(key, None)
        if asked is None:
            return
        scribe, why = asked.thread.scribe, "the agent withdrew its request"
        if not scribe.decide(key, "reject", "agent", why, source="agent"):
            scribe.answer(key, None, "agent", why, source="agent")

    def _drop_requests(self, thread: Thread) -> None:
        """The turn is over, so its requests are rejected; a sub-agent that still waits is told so."""
        for key, asked in list(self._asked.items()):
            if asked.thread is thread:
                self._withdraw(key)
            elif asked.thread.conversation is thread.conversation and not thread.is_agent:
                del self._asked[key]
                match asked.request:
                    case Approval():
                        self.send(Answer(asked.id, asked.request.reply("reject")))
                    case Inquiry():
                        self.send(Answer(asked.id, asked.request.reply(None)))

    # -- answers to our requests --------------------------------------------------------------

    def _hear_answer(self, envelope: Envelope) -> None:
        if envelope.id is UNSET or envelope.id is None:
            return
        awaited = self._awaited.pop(envelope.id, None)
        failed, result = envelope.error, envelope.result
        match awaited:
            case Greeting():
                self._finish_greeting(failed)
            case Opening():
                self._finish_opening(awaited, failed, result)
            case Prompting(thread=thread):
                if failed is not None:
                    self._refused(awaited, failed)
                else:
                    _know_turn(thread, result)
            case Beginning(thread=thread) if failed is None:
                _know_turn(thread, result)
                thread.scribe.start_turn(source="agent")
            case Stopping(thread=thread):
                if thread.id in self._left:
                    self._leave(thread)
                else:
                    self._kill_commands(thread)
            case Leaving(thread=thread):
                if self._threads.get(thread.id) is thread:
                    del self._threads[thread.id]
            case Listing():
                self._finish_listing(awaited, failed, result)

    def _finish_greeting(self, failed: RpcError | None) -> None:
        if failed is not None and failed.message != "Already initialized":
            for request in self._waiting:
                match self._awaited.pop(request.id, None):
                    case Opening(conversation=conversation):
                        self._fail_opening(conversation, failed, gone=False)
                    case Listing():
                        self.notices.append(ListFailed(failed.message))
        else:
            self._greeted = True
            self.send(Notification("initialized"))
            for request in self._waiting:
                self.send(request)
        self._waiting = []

    def _finish_opening(self, opening: Opening, failed: RpcError | None, result: Raw) -> None:
        conversation = opening.conversation
        if failed is not None:
            self._fail_opening(conversation, failed, gone=_is_gone(failed))
            return
        answer = msgspec.json.decode(result, type=ThreadOpened)
        thread = Thread(answer.thread.id, conversation)
        conversation.went_on = opening.resumes or answer.thread.forked_from_id is not None
        conversation.opened(thread, answer)
        # A new thread works with what it was opened with, but for the collaboration mode, which only a turn can set.
        unsaid = opening.resumes or plans(conversation.settings)
        conversation.told = None if unsaid else conversation.settings
        self._own(thread)
        if conversation.closed:
            self._left.add(thread.id)
            self._leave(thread)
            return
        conversation.announce("agent")
        self.notices.append(Ready(conversation))

    def _fail_opening(self, conversation: CodexConversation, failed: RpcError, *, gone: bool) -> None:
        self._forget(conversation)
        self.notices.append(StartFailed(conversation, failed.message, gone))

    def _forget(self, conversation: CodexConversation) -> None:
        self._conversations = [one for one in self._conversations if one is not conversation]

    def _refused(self, prompting: Prompting, failed: RpcError) -> None:
        """Codex does not take the prompt: an error of its turn."""
        thread = prompting.thread
        if prompting.text in thread.prompts:
            thread.prompts.remove(prompting.text)
        thread.conversation.wants_interrupt = False
        failure = failure_of(TurnError(message=failed.message, codex_error_info="badRequest"))
        thread.scribe.error(failure.message, failure.code, {"code": failed.code})
        if not prompting.joins:
            thread.scribe.end_turn("error", thread.conversation.take_usage())

    def _finish_listing(self, listing: Listing, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            self.notices.append(ListFailed(failed.message))
            return
        page = msgspec.json.decode(result, type=ModelPage)
        models = listing.models + tuple(
            Model(
                one.id,
                one.display_name,
                tuple(effort.reasoning_effort for effort in one.supported_reasoning_efforts) or None,
                one.default_reasoning_effort,
            )
            for one in page.data
        )
        default = next((one.id for one in page.data if one.is_default), listing.default)
        if page.next_cursor:
            self._call("model/list", ListModels(cursor=page.next_cursor), Listing(models, default))
        else:
            self.notices.append(Listed(Catalogue(models, MODES, default)))

    # -- recordings: what a client wrote ------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        try:
            envelope = _envelope.decode(frame)
            if envelope.id is UNSET or envelope.id is None:
                return
            if envelope.method is None:
                yield from self._read_answer(envelope.id, envelope)
            else:
                yield from self._read_request(envelope.id, envelope.method, envelope.params)
        except msgspec.DecodeError:
            return  # a client may write nonsense; codex answers it with an error

    def _read_request(self, id: RequestId, method: str, params: Raw) -> Iterator[Action]:
        thread = self._threads.get(_address.decode(params).thread_id or "")
        match method:
            case "initialize":
                self._awaited[id] = Greeting()
            case "thread/start" | "thread/fork" | "thread/resume":
                yield Began(self._read_opening(id, method, params))
            case "turn/start" | "turn/steer" if thread is not None:
                content = msgspec.json.decode(params, type=_SentTurn).input
                self._awaited[id] = self._prompting(thread, content)
                yield Prompted(thread.conversation, thread.conversation.read_input(content))
            case "turn/interrupt" if thread is not None:
                self._awaited[id] = Stopping(thread)
                yield Cancelled(thread.conversation)
            case "review/start" if thread is not None:
                self._awaited[id] = Beginning(thread)
            case "model/list":
                self._awaited[id] = Listing()

    def _read_opening(self, id: RequestId, method: str, params: Raw) -> CodexConversation:
        assert self.recorded_start is not None
        asked = msgspec.json.decode(params, type=_SentThread)
        resumes = method == "thread/resume"
        native_id = asked.thread_id if resumes else None
        conversation = CodexConversation(self, self.recorded_start(asked.settings(), native_id))
        self._conversations.append(conversation)
        self._awaited[id] = Opening(conversation, resumes)
        return conversation

    def _read_answer(self, id: RequestId, envelope: Envelope) -> Iterator[Action]:
        key = _key(id)
        asked = self._asked.pop(key, None)
        if asked is None:
            return
        conversation, failed = asked.thread.conversation, envelope.error is not None
        message = envelope.error.message if envelope.error else None
        match asked.request:
            case Approval() as approval:
                reply = "reject" if failed else approval.read(envelope.result)
                yield Decided(conversation, key, Decision(reply, message))
            case Inquiry() as inquiry:
                answers = None if failed else inquiry.read(envelope.result)
                yield Answered(conversation, key, QuestionAnswer(answers, message))


def _thread_of(conversation: Conversation) -> Thread:
    assert isinstance(conversation, CodexConversation)
    assert conversation.thread is not None, "a prompt before the thread was opened"
    return conversation.thread


def _is_gone(failed: RpcError) -> bool:
    return "no rollout found" in failed.message


def _know_turn(thread: Thread, result: Raw) -> None:
    answer = msgspec.json.decode(result, type=TurnAnswer)
    if turn_id := answer.turn.id if answer.turn else answer.turn_id:
        thread.know_turn(turn_id)


def _key(id: RequestId) -> str:
    return msgspec.json.encode(id).decode()
