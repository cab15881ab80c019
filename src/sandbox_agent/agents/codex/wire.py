"""The protocol of one `codex app-server` process, which carries every conversation as a thread of its own.

Frames are routed by thread id alone. Our requests have string ids, so they never collide with the numeric ids
of other clients in recordings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw

from ... import __version__
from ...schema.features import Catalogue
from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import (
    Action,
    Conversation,
    Files,
    Listed,
    ListFailed,
    Ready,
    Start,
    StartFailed,
    Wait,
    Wire,
)
from ..frames import InFrame
from ..jsonrpc import Call, Note, Reply, Request, Rpc, RpcError, key_of, read
from ..lenient import readable_part, surface_of
from ..nesting import shallow
from .awaited import (
    Awaited,
    Beginning,
    Greeting,
    Leaving,
    Listing,
    Opening,
    Prompting,
    Steering,
    Stopping,
    prompting,
)
from .commands import (
    ClientCapabilities,
    ClientInfo,
    Command,
    Initialize,
    ListModels,
    OnThread,
    OpenThread,
)
from .conversation import OPENING_SANDBOX, CodexConversation, access, config_of, plans, roots_of, turn_params
from .errors import failure_of
from .frames import (
    IGNORED,
    NOTIFICATIONS,
    ItemCompleted,
    ModelPage,
    Params,
    RequestResolved,
    ThreadOpened,
    Turn,
    TurnAnswer,
    TurnCompleted,
    TurnDiffUpdated,
    TurnError,
    TurnStarted,
)
from .modes import MODES
from .pending import OpenRequest, Pending
from .recorded import RecordedClient
from .requests import REQUESTS, UNSUPPORTED
from .stopping import Stopper
from .thread import HeldPatch, Thread
from .threads import Threads

UNWANTED = (
    "account/rateLimits/updated",
    "remoteControl/status/changed",
    "thread/readState/changed",
)
"""The most frequent notifications we ignore: codex can leave them out."""

LATE_SECONDS = 0.5
"""How long the end of a turn waits for the output of stopped commands, which usually takes milliseconds."""

AGENT_SECONDS = 5.0
"""How long it waits for the usage of its sub-agents; later usage counts towards the next turn."""

_address = msgspec.json.Decoder(Params)
_notes = {method: msgspec.json.Decoder(kind) for method, kind in NOTIFICATIONS.items()}


class CodexWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._greeted = False
        self._waiting: list[Request] = []  # requested before the handshake was over
        self._conversations: list[CodexConversation] = []
        self._threads = Threads()
        self._rpc: Rpc[Awaited, OpenRequest] = Rpc(self.send, lambda n: f"sandbox-agent-{n}")
        self._pending = Pending(self._rpc)
        self._stopper = Stopper(self._call)
        self._recorded = RecordedClient(self, self._rpc, self._threads, self._pending)

    # -- commands -----------------------------------------------------------------------------

    def connected(self) -> None:
        client = ClientInfo(name="sandbox-agent", title="sandbox-agent", version=__version__)
        capabilities = ClientCapabilities(opt_out_notification_methods=UNWANTED)
        params = Initialize(client_info=client, capabilities=capabilities)
        self._rpc.call("initialize", params, Greeting())

    def open(self, start: Start) -> CodexConversation:
        conversation = CodexConversation(self, start)
        self.add(conversation)
        resumes = start.resume and start.native_id is not None
        settings = start.settings
        policy, _ = access(settings.permission_mode)
        params = OpenThread(
            thread_id=start.native_id if resumes else None,
            cwd=settings.directory,
            model=settings.model,
            approval_policy=policy,
            sandbox=OPENING_SANDBOX,
            config=config_of(settings),
            # Codex remembers them with the thread.
            selected_capability_roots=() if resumes else roots_of(settings),
            exclude_turns=resumes,
        )
        method = "thread/resume" if resumes else "thread/start"
        self._call(method, params, Opening(conversation, resumes))
        return conversation

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        thread = _thread_of(conversation)
        thread.conversation.wants_interrupt = False
        if prompt.command:
            # Its only command: any other is refused earlier.
            self._call("thread/compact/start", OnThread(thread_id=thread.id), prompting(thread, ()))
            return
        params = turn_params(thread, prompt)
        thread.conversation.sent_settings = thread.conversation.settings
        self._call("turn/start", params, prompting(thread, params.input))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self._pending.decide(key, decision)

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        self._pending.answer(key, answer)

    def cancel(self, conversation: Conversation) -> None:
        assert isinstance(conversation, CodexConversation)
        conversation.release_turns()
        # Until codex has reported the turn there is nothing to interrupt, and the turn would run to its end.
        started = conversation.thread is not None and conversation.thread.running is not None
        conversation.wants_interrupt = conversation.scribe.turn is not None and not started
        for thread in conversation.threads():
            self._stopper.interrupt(thread)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        """Takes effect with the next prompt. A thread's directory and MCP servers are fixed when it is
        opened.
        """
        now = conversation.settings
        conversation.settings = settings
        return (now.directory, now.mcp) == (settings.directory, settings.mcp)

    def close(self, conversation: Conversation) -> None:
        assert isinstance(conversation, CodexConversation)
        if conversation in self._conversations:
            self._conversations.remove(conversation)
        conversation.closed = True
        for thread in conversation.threads():
            self._threads.leave(thread)
            if thread.running:
                self._stopper.interrupt(thread)
            else:
                self._stopper.leave(thread)

    def list_catalogue(self, directory: str) -> None:
        self._call("model/list", ListModels(), Listing())

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._conversations)

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        assert isinstance(frame, bytes)
        try:
            thread = self._threads.find(_thread_id(read(shallow(frame))))
        except msgspec.DecodeError:
            thread = None
        if thread is not None:
            return thread.conversation
        # A frame without a thread belongs to no conversation, unless there is only one.
        alone = self._conversations[0] if len(self._conversations) == 1 else None
        return alone if alone and alone.scribe.started else None

    def add(self, conversation: CodexConversation) -> None:
        self._conversations.append(conversation)

    # -- sending requests ---------------------------------------------------------------------

    def _call(self, method: str, params: Command, awaited: Awaited) -> None:
        request = self._rpc.request(method, params, awaited)
        if self._greeted:
            self.send(request)
        else:
            self._waiting.append(request)

    # -- frames from codex ----------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        try:
            self._handle_frame(frame)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._end_unread(frame)
            raise

    def _handle_frame(self, frame: bytes) -> None:
        message: Reply | Note | Call | None
        try:
            message = read(frame)
        except RecursionError:
            if (message := self._rpc.read_surface(frame)) is None:
                raise
        match message:
            case Note():
                self._handle_notification(message, frame)
            case Reply():
                self._handle_answer(message)
            case Call():
                self._rpc.attend(message, lambda call: self._handle_request(call, frame))
        if self._threads.claimed:
            for waiting in self._threads.claim():
                self.receive(waiting)

    def _handle_notification(self, note: Note, frame: bytes) -> None:
        if note.method in IGNORED:
            return
        thread_id = _address.decode(note.params).thread_id
        thread = self._threads.find(thread_id)
        if note.method not in NOTIFICATIONS:
            self._handle_unknown(thread, frame)
        elif thread is not None:
            self._handle(thread, _notes[note.method].decode(note.params), note.params, frame)
        elif thread_id is not None and note.method != "turn/diff/updated":
            self._keep(thread_id, frame)

    def _handle(self, thread: Thread, note: Params, payload: Raw, frame: bytes) -> None:
        if isinstance(note, TurnDiffUpdated):
            thread.turn_diff.update(note.diff)
        thread.tell_patch()
        if self._threads.has_left(thread.id):
            if isinstance(note, TurnStarted):
                thread.running = note.turn.id
                self._stopper.interrupt(thread)
            return
        match note:
            case TurnStarted(turn=turn):
                thread.start_turn(turn)
                if thread is thread.conversation.thread and thread.conversation.wants_interrupt:
                    thread.conversation.wants_interrupt = False
                    self._stopper.interrupt(thread)
            case TurnCompleted(turn=turn):
                self._end_turn(thread, turn)
            case RequestResolved(request_id=id):
                self._pending.withdraw(key_of(id))
            case ItemCompleted(turn_id=turn_id, item=item) if thread.items.awaits_diff(turn_id, item):
                thread.held_patch = HeldPatch(turn_id, item, frame)
            case _:
                thread.handle(note, payload)
        if isinstance(note, ItemCompleted | TurnCompleted):
            thread.conversation.release_complete_turns()
        for agent, call in thread.items.started_agents:
            self._threads.adopt(agent, thread.conversation, call)
        thread.items.started_agents.clear()

    def _end_turn(self, thread: Thread, turn: Turn) -> None:
        if thread.end_turn(turn):
            self._pending.drop(thread)
        if thread.held:
            seconds = LATE_SECONDS if thread.stops_commands else AGENT_SECONDS
            self.notices.append(Wait(thread.conversation, seconds))

    def waited(self, conversation: Conversation) -> None:
        assert isinstance(conversation, CodexConversation)
        conversation.release_turns()

    def _end_unread(self, frame: bytes) -> None:
        """The turn ends even if its end cannot be read."""
        match surface_of(frame):
            case {"method": "turn/completed", "params": params}:
                fields = params if isinstance(params, dict) else {}
            case _:
                return
        thread = self._threads.find(str(fields.get("threadId")))
        if thread is None and isinstance(alone := self.conversation_of(frame), CodexConversation):
            thread = alone.thread
        if thread is None or self._threads.has_left(thread.id):
            return
        failed = TurnError(message="the agent reported the end of its turn in an unknown form")
        fallback = {"id": thread.running or "", "status": "failed", "error": failed}
        self._end_turn(thread, readable_part(Turn, fields.get("turn"), **fallback))

    def _handle_unknown(self, thread: Thread | None, frame: bytes) -> None:
        owner = thread.conversation if thread else self.conversation_of(frame)
        if owner is not None:
            owner.scribe.unknown(msgspec.json.decode(frame))

    def _keep(self, thread_id: str, frame: bytes) -> None:
        for dropped in self._threads.keep(thread_id, frame):
            if isinstance(message := read(dropped), Call):
                self._rpc.refuse(message.id, "no client can answer")

    def _handle_request(self, call: Call, frame: bytes) -> None:
        thread_id = _thread_id(call)
        thread = self._threads.find(thread_id)
        if call.method not in REQUESTS:
            if call.method not in UNSUPPORTED:
                self._handle_unknown(thread, frame)
            self._rpc.refuse(call.id, f"{call.method} is not supported")
        elif thread is not None and not self._threads.has_left(thread.id):
            self._pending.put(thread, call)
        elif thread_id is None or thread is not None:
            self._rpc.refuse(call.id, "no client can answer")
        else:
            self._keep(thread_id, frame)

    # -- answers to our requests --------------------------------------------------------------

    def _handle_answer(self, reply: Reply) -> None:
        awaited = self._rpc.answered(reply.id)
        failed, result = reply.error, reply.result
        match awaited:
            case Greeting():
                self._finish_greeting(failed)
            case Opening():
                self._finish_opening(awaited, failed, result)
            case Prompting(thread=thread):
                if failed is not None:
                    _tell_refused(awaited, failed)
                else:
                    _note_turn(thread, result)
            case Steering(thread=thread, prompt=prompt):
                _tell_steered(thread, prompt, refused=failed is not None)
            case Beginning(thread=thread) if failed is None:
                _note_turn(thread, result)
                thread.scribe.start_turn(source="agent")
            case Stopping(thread=thread) if self._threads.has_left(thread.id):
                self._stopper.unsubscribe(thread)
            case Leaving(thread=thread):
                self._threads.forget(thread)
            case Listing():
                self._finish_listing(awaited, failed, result)

    def _finish_greeting(self, failed: RpcError | None) -> None:
        if failed is not None and failed.message != "Already initialized":
            for request in self._waiting:
                match self._rpc.answered(request.id):
                    case Opening(conversation=conversation):
                        self._fail_opening(conversation, failed, gone=False)
                    case Listing():
                        self.notices.append(ListFailed(failed.message))
        else:
            self._greeted = True
            self._rpc.notify("initialized")
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
        conversation.is_continued = opening.resumes or answer.thread.forked_from_id is not None
        conversation.opened(thread, answer)
        # A new thread uses the settings it was opened with, except the collaboration mode, which only a turn
        # can set.
        unsent = opening.resumes or plans(conversation.settings)
        conversation.sent_settings = None if unsent else conversation.settings
        self._threads.own(thread)
        if conversation.closed:
            self._threads.leave(thread)
            self._stopper.leave(thread)
            return
        conversation.announce("agent")
        self.notices.append(Ready(conversation))

    def _fail_opening(self, conversation: CodexConversation, failed: RpcError, *, gone: bool) -> None:
        if conversation in self._conversations:
            self._conversations.remove(conversation)
        self.notices.append(StartFailed(conversation, failed.message, gone))

    def _finish_listing(self, listing: Listing, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            self.notices.append(ListFailed(failed.message))
            return
        page = msgspec.json.decode(result, type=ModelPage)
        listing = listing.with_page(page)
        if page.next_cursor:
            self._call("model/list", ListModels(cursor=page.next_cursor), listing)
        else:
            self.notices.append(Listed(Catalogue(listing.models, MODES, listing.default)))

    # -- recordings ---------------------------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        return self._recorded.read(frame)


def _thread_of(conversation: Conversation) -> Thread:
    assert isinstance(conversation, CodexConversation)
    assert conversation.thread is not None, "a prompt before the thread was opened"
    return conversation.thread


def _tell_refused(prompting: Prompting, failed: RpcError) -> None:
    """Codex refuses the prompt: an error of its turn."""
    thread = prompting.thread
    if prompting.text in thread.prompts:
        thread.prompts.remove(prompting.text)
    thread.conversation.wants_interrupt = False
    thread.conversation.sent_settings = None
    failure = failure_of(TurnError(message=failed.message, codex_error_info="badRequest"))
    thread.scribe.error(failure.message, failure.code, {"code": failed.code})
    if not prompting.joins:
        thread.scribe.end_turn("error", thread.conversation.take_usage())


def _tell_steered(thread: Thread, prompt: Prompt, *, refused: bool) -> None:
    """A prompt that codex refuses in the middle of a turn never reached it."""
    if not refused:
        thread.scribe.start_turn(source="agent")
        thread.scribe.user_message(prompt.text, prompt.attachments)
    elif prompt.text in thread.prompts:
        thread.prompts.remove(prompt.text)


def _is_gone(failed: RpcError) -> bool:
    return "no rollout found" in failed.message


def _note_turn(thread: Thread, result: Raw) -> None:
    answer = msgspec.json.decode(result, type=TurnAnswer)
    if turn_id := answer.turn.id if answer.turn else answer.turn_id:
        thread.note_turn(turn_id)


def _thread_id(message: Reply | Note | Call) -> str | None:
    return None if isinstance(message, Reply) else _address.decode(message.params).thread_id
