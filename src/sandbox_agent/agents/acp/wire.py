"""The Agent Client Protocol over one process, which carries one conversation.

A turn is one `session/prompt`; its answer ends the turn. Requests meant for an editor (files, terminals) are
not offered, and are refused so that the agent does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw

from ... import __version__
from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import (
    Action,
    Conversation,
    Files,
    Listed,
    ListFailed,
    Start,
    Wait,
    Wire,
)
from ..files import images_in
from ..frames import InFrame
from ..jsonrpc import Call, Note, Reply, Rpc, RpcError, read
from .awaited import Awaited, Choose, Forgetting, Greeting, Listing, Opening, Prompting
from .errors import failure_of
from .frames import (
    AUTHENTICATION_REQUIRED,
    IGNORED,
    IGNORED_UPDATES,
    PROTOCOL_VERSION,
    REQUEST_CANCELLED,
    CancelRequest,
    ClientInfo,
    Commands,
    Elicitation,
    Initialize,
    Initialized,
    OnSession,
    OpenSession,
    PermissionRequest,
    PromptSession,
    SessionOpened,
    SlashCommand,
    Updated,
    UpdateKind,
    updates,
)
from .frames import Prompted as PromptOver
from .options import Offer
from .pending import OpenRequest, Pending
from .prompts import blocks_of, skills_block
from .recorded import RecordedClient
from .setup import Setup
from .transcript import STOP_REASONS, AcpConversation

CAPABILITIES: dict[str, Any] = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"compaction": {}, "notices": {}},
    "elicitation": {"form": {}},
}

SECONDS_FOR_COMMANDS = 5.0
"""How long we wait for an agent's commands after it has opened a session."""


class AcpWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._waiting: list[Callable[[], None]] = []  # what to do after the handshake
        self._conversations: list[AcpConversation] = []
        self._wants_catalogue = False
        self._listing: AcpConversation | None = None
        """We are waiting for the commands."""
        self._listed: tuple[SlashCommand, ...] = ()
        """Commands of a session opened only to list what the agent offers."""
        self._rpc: Rpc[Awaited, OpenRequest] = Rpc(self.send, version="2.0")
        self._pending = Pending(self._rpc)
        self._setup = Setup(self, self._rpc)
        self._recorded = RecordedClient(self, self._rpc, self._pending)

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._conversations)

    def add(self, conversation: AcpConversation) -> None:
        self._conversations.append(conversation)

    # -- commands -----------------------------------------------------------------------------

    def connected(self) -> None:
        client = ClientInfo(name="sandbox-agent", title="sandbox-agent", version=__version__)
        params = Initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=CAPABILITIES, client_info=client
        )
        self._rpc.call("initialize", params, Greeting())

    def open(self, start: Start) -> AcpConversation:
        conversation = AcpConversation(self, start)
        self.add(conversation)
        self._when_greeted(lambda: self._setup.open(conversation))
        return conversation

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt) if self._setup.capabilities.prompt_capabilities.image else ()

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        assert isinstance(conversation, AcpConversation)
        blocks = blocks_of(prompt, files)
        skills = conversation.settings.skills
        if skills is not None and conversation.tells_skills and not prompt.command:
            conversation.tells_skills = False
            blocks.insert(0, skills_block(skills))
        params = PromptSession(session_id=conversation.session_id, prompt=blocks)
        request = self._rpc.request("session/prompt", params, Prompting(conversation))
        if conversation.choosing:
            conversation.held.append(request)
        else:
            self.send(request)

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self._pending.decide(key, decision)

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        self._pending.answer(key, answer)

    def cancel(self, conversation: Conversation) -> None:
        assert isinstance(conversation, AcpConversation)
        if any(request.method == "session/prompt" for request in conversation.held):
            # The agent has not seen this prompt, and will not.
            conversation.held.clear()
            conversation.tells_skills = not conversation.resumed
            conversation.end_turn("interrupted")
            return
        self._rpc.notify("session/cancel", OnSession(session_id=conversation.session_id))
        self._pending.drop(conversation)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        assert isinstance(conversation, AcpConversation)
        before, conversation.settings = conversation.settings, settings
        if (before.directory, before.mcp) != (settings.directory, settings.mcp):
            return False
        if settings.model is not None and before.model != settings.model:
            conversation.to_choose.append(("model", settings.model))
        if settings.variant is not None and before.variant != settings.variant:
            conversation.to_choose.append(("variant", settings.variant))
        planned, plans = (each.permission_mode == "plan" for each in (before, settings))
        if (before.agent_mode, planned) != (settings.agent_mode, plans):
            self._setup.want_mode(conversation)
        self._setup.choose_next(conversation)
        return True

    def list_catalogue(self, directory: str) -> None:
        conversation = next((each for each in self._conversations if each.is_open), None)
        if conversation is not None and conversation.commands is not None:
            self.notices.append(Listed(conversation.offer.catalogue(conversation.commands)))
            return
        if conversation is not None:
            # Agents send their commands unasked, some time after they have opened a session; those without
            # commands send nothing.
            self._listing = conversation
            self.notices.append(Wait(conversation, SECONDS_FOR_COMMANDS))
            return
        self._wants_catalogue = True
        params = OpenSession(cwd=directory, mcp_servers=[])
        self._when_greeted(lambda: self._rpc.call("session/new", params, Listing()))

    def waited(self, conversation: Conversation) -> None:
        assert isinstance(conversation, AcpConversation)
        if conversation is self._listing:
            conversation.commands = ()  # until it says otherwise
            self._list(conversation, ())

    def _list(self, conversation: AcpConversation, commands: tuple[SlashCommand, ...]) -> None:
        self._listing = None
        self.notices.append(Listed(conversation.offer.catalogue(commands)))

    def _when_greeted(self, then: Callable[[], None]) -> None:
        if self._setup.agent is None:
            self._waiting.append(then)
        else:
            then()

    # -- frames from the agent ----------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
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

    def of_session(self, session_id: str) -> AcpConversation | None:
        """The conversation of a session; an unknown id belongs to the one being opened."""
        for conversation in self._conversations:
            if conversation.native_id == session_id:
                return conversation
        return next((conversation for conversation in self._conversations if not conversation.is_open), None)

    def _requester(self, session_id: str) -> AcpConversation | None:
        """The conversation a request belongs to: one with an unknown session id comes from a sub-agent."""
        alone = self._conversations[0] if len(self._conversations) == 1 else None
        return self.of_session(session_id) or alone

    def _handle_notification(self, note: Note, frame: bytes) -> None:
        match note.method:
            case "session/update":
                self._handle_update(msgspec.json.decode(note.params, type=Updated), frame)
            case "$/cancel_request":
                id = msgspec.json.decode(note.params, type=CancelRequest).request_id
                if id is not None:
                    self._pending.withdraw(id)
            case method if method not in IGNORED:
                self._handle_unknown(frame)

    def _handle_update(self, updated: Updated, frame: bytes) -> None:
        conversation = self.of_session(updated.session_id)
        kind = msgspec.json.decode(updated.update, type=UpdateKind).session_update
        if conversation is None and self._wants_catalogue:
            if kind == "available_commands_update":
                self._listed = msgspec.json.decode(updated.update, type=Commands).available_commands
            return
        if kind in IGNORED_UPDATES:
            return
        if conversation is None or kind not in updates:
            self._handle_unknown(frame)
        else:
            conversation.handle(updates[kind].decode(updated.update), updated.update)
            if conversation is self._listing and conversation.commands is not None:
                self._list(conversation, conversation.commands)

    def _handle_unknown(self, frame: bytes) -> None:
        conversation = next(iter(self._conversations), None)
        if conversation is not None and conversation.is_open:
            conversation.scribe.unknown(msgspec.json.decode(frame))

    def _handle_request(self, call: Call, frame: bytes) -> None:
        match call.method:
            case "session/request_permission":
                asked = msgspec.json.decode(call.params, type=PermissionRequest)
                self._pending.put_permission(call.id, self._requester(asked.session_id), asked)
            case "elicitation/create":
                form = msgspec.json.decode(call.params, type=Elicitation)
                self._pending.put_form(call.id, self._requester(form.session_id), form, call.params)
            case method:
                if not method.startswith(("fs/", "terminal/", "mcp/")):
                    self._handle_unknown(frame)
                self._rpc.refuse(call.id, f"{method} is not supported")

    # -- answers to our requests --------------------------------------------------------------

    def _handle_answer(self, reply: Reply) -> None:
        failed, result = reply.error, reply.result
        if reply.id is None and failed is not None:
            self._handle_unknown(msgspec.json.encode({"error": failed}))
        match self._rpc.answered(reply.id):
            case Greeting():
                self._finish_greeting(failed, result)
            case Opening() as opening:
                self._setup.finish_opening(opening, failed, result)
            case Prompting(conversation):
                self._finish_turn(conversation, failed, result)
            case Choose() as choice:
                self._setup.finish_choice(choice, failed, result)
            case Listing():
                self._finish_listing(failed, result)
            case Forgetting(offer):
                self.notices.append(Listed(offer.catalogue(self._listed)))

    def _finish_greeting(self, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            self._fail_greeting(failure_of(failed).message)
            return
        agent = msgspec.json.decode(result, type=Initialized)
        if agent.protocol_version != PROTOCOL_VERSION:
            version = agent.protocol_version
            self._fail_greeting(f"the agent speaks version {version} of the protocol, not {PROTOCOL_VERSION}")
            return
        self._setup.agent = agent
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def _fail_greeting(self, message: str) -> None:
        for conversation in self._conversations:
            self._setup.fail(conversation, message)
        if self._wants_catalogue:
            self.notices.append(ListFailed(message))

    def _finish_listing(self, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            needs_login = failed.code == AUTHENTICATION_REQUIRED
            self.notices.append(
                ListFailed(self._setup.login_advice(failed) if needs_login else failure_of(failed).message)
            )
            return
        opened = msgspec.json.decode(result, type=SessionOpened)
        offer = Offer.of(opened)
        if opened.session_id is not None and self._setup.capabilities.session_capabilities.delete is not None:
            # Otherwise it would show up in the user's list of sessions.
            self._rpc.call("session/delete", OnSession(session_id=opened.session_id), Forgetting(offer))
        else:
            self.notices.append(Listed(offer.catalogue(self._listed)))

    def _finish_turn(self, conversation: AcpConversation, failed: RpcError | None, result: Raw) -> None:
        conversation.write_unprompted()
        if failed is None:
            try:
                over = msgspec.json.decode(result, type=PromptOver)
            except (msgspec.ValidationError, RecursionError):
                self._finish_turn(
                    conversation, RpcError("the agent ended the turn with an unknown stop reason"), result
                )
                raise
            stop_reason = STOP_REASONS.get(over.stop_reason, "end_turn")
            if conversation.cancelling and stop_reason == "end_turn":
                stop_reason = "interrupted"  # some agents do not distinguish the two
            conversation.end_turn(stop_reason, over.usage)
        elif conversation.cancelling or failed.code == REQUEST_CANCELLED:
            conversation.end_turn("interrupted")
        else:
            failure = failure_of(failed)
            conversation.scribe.error(failure.message, failure.code, failure.details)
            conversation.end_turn("refusal" if failure.code == "refusal" else "error")
        self._pending.drop(conversation)

    # -- recordings ---------------------------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        return self._recorded.read(frame)
