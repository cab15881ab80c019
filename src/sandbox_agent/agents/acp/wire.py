"""The Agent Client Protocol over one process, which carries one conversation.

A turn is one `session/prompt`: its answer is the end of the turn. What the agent may ask of an editor (files, terminals) we do
not offer and refuse, so that nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ... import __version__
from ...schema.events import ErrorCode
from ...schema.inputs import Answer as QuestionAnswer
from ...schema.inputs import Decision, McpServer, Prompt, Settings
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
from ..files import images_in
from ..frames import InFrame
from .errors import failure_of, says_gone, text_of
from .forms import Field, answers_in, content_of, fields_of, questions_of
from .frames import (
    AUTHENTICATION_REQUIRED,
    IGNORED,
    IGNORED_UPDATES,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION,
    REQUEST_CANCELLED,
    AgentCapabilities,
    Answer,
    CancelRequest,
    ClientInfo,
    Elicitation,
    Envelope,
    FormAnswer,
    Initialize,
    Initialized,
    Notification,
    OnSession,
    OpenSession,
    Option,
    OptionSet,
    PermissionAnswer,
    PermissionRequest,
    PromptSession,
    Refusal,
    Request,
    RequestId,
    RpcError,
    SentPrompt,
    SentSession,
    SessionOpened,
    Updated,
    UpdateKind,
    envelopes,
    updates,
)
from .frames import Prompted as PromptOver
from .options import Choosing, Offer, wanted_mode
from .permissions import CANCELLED, answer_of, ask_of, decision_in, plan_in
from .prompts import blocks_of, prompt_in
from .transcript import STOP_REASONS, AcpConversation

CAPABILITIES: dict[str, Any] = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"compaction": {}, "notices": {}},
    "elicitation": {"form": {}},
}
WITHDRAWN = "the agent withdrew its request"


# -- what we wait for: the request of ours that an answer belongs to -------------------------------


class Greeting(Struct, frozen=True):
    pass


class Opening(Struct, frozen=True):
    conversation: AcpConversation
    resumes: bool


class Prompting(Struct, frozen=True):
    conversation: AcpConversation


class Choose(Struct, frozen=True):
    """A choice of ours; without a name, one of a recorded client's."""

    conversation: AcpConversation
    what: Choosing | None = None
    value: str = ""


class Listing(Struct, frozen=True):
    """A session that is opened only to see what it offers."""


class Forgetting(Struct, frozen=True):
    offer: Offer


Awaited = Greeting | Opening | Prompting | Choose | Listing | Forgetting


# -- what the agent waits for ------------------------------------------------------------------


class Permission(Struct, frozen=True):
    options: tuple[Option, ...]
    is_plan: bool


class Form(Struct, frozen=True):
    fields: tuple[Field, ...]


class Asked(Struct, frozen=True):
    id: RequestId
    conversation: AcpConversation
    request: Permission | Form


class AcpWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._agent: Initialized | None = None
        self._waiting: list[Callable[[], None]] = []  # what is to be done after the handshake
        self._count = 0
        self._awaited: dict[RequestId, Awaited] = {}
        self._asked: dict[str, Asked] = {}
        self._conversations: list[AcpConversation] = []
        self._wants_catalogue = False

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._conversations)

    # -- commands -----------------------------------------------------------------------------

    def connected(self) -> None:
        client = ClientInfo(name="sandbox-agent", title="sandbox-agent", version=__version__)
        params = Initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=CAPABILITIES, client_info=client
        )
        self._request("initialize", params, Greeting())

    def open(self, start: Start) -> AcpConversation:
        conversation = AcpConversation(self, start)
        self._conversations.append(conversation)
        self._when_greeted(lambda: self._open(conversation))
        return conversation

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt) if self._capabilities.prompt_capabilities.image else ()

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        assert isinstance(conversation, AcpConversation)
        blocks = blocks_of(prompt, files)
        params = PromptSession(session_id=_session_id(conversation), prompt=blocks)
        request = self._make_request("session/prompt", params, Prompting(conversation))
        if conversation.choosing:
            conversation.held.append(request)
        else:
            self.send(request)

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        asked = self._asked.pop(key, None)
        if asked and isinstance(asked.request, Permission):
            self.send(Answer(id=asked.id, result=answer_of(decision, asked.request.options)))

    def answer(self, conversation: Conversation, key: str, answer: QuestionAnswer) -> None:
        asked = self._asked.pop(key, None)
        if asked is None:
            return
        match asked.request:
            case Permission(options):
                approved = answer.answers == (("approve",),)
                decision = Decision("once" if approved else "reject", answer.message)
                self.send(Answer(id=asked.id, result=answer_of(decision, options)))
            case Form(fields):
                given = FormAnswer(action="decline")
                if answer.answers is not None:
                    given = FormAnswer(action="accept", content=content_of(fields, answer.answers))
                self.send(Answer(id=asked.id, result=given))

    def cancel(self, conversation: Conversation) -> None:
        assert isinstance(conversation, AcpConversation)
        if any(request.method == "session/prompt" for request in conversation.held):
            # The agent has not heard of this prompt, and will not.
            conversation.held.clear()
            conversation.end_turn("interrupted")
            return
        params = OnSession(session_id=_session_id(conversation))
        self.send(Notification(method="session/cancel", params=params))
        self._drop_requests(conversation)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        assert isinstance(conversation, AcpConversation)
        before, conversation.settings = conversation.settings, settings
        if (before.directory, before.mcp) != (settings.directory, settings.mcp):
            return False
        if settings.model is not None and before.model != settings.model:
            conversation.to_choose.append(("model", settings.model))
        if settings.variant is not None and before.variant != settings.variant:
            conversation.to_choose.append(("variant", settings.variant))
        planned, plans = (one.permission_mode == "plan" for one in (before, settings))
        if (before.agent_mode, planned) != (settings.agent_mode, plans):
            self._want_mode(conversation)
        self._choose_next(conversation)
        return True

    def list_catalogue(self, directory: str) -> None:
        known = next((one for one in self._conversations if one.is_open), None)
        if known is not None:
            self.notices.append(Listed(known.offer.catalogue()))
            return
        self._wants_catalogue = True
        params = OpenSession(cwd=directory, mcp_servers=[])
        self._when_greeted(lambda: self._request("session/new", params, Listing()))

    # -- how requests are sent ----------------------------------------------------------------

    @property
    def _capabilities(self) -> AgentCapabilities:
        return (self._agent.agent_capabilities if self._agent else None) or AgentCapabilities()

    def _when_greeted(self, then: Callable[[], None]) -> None:
        if self._agent is None:
            self._waiting.append(then)
        else:
            then()

    def _make_request(self, method: str, params: Any, awaited: Awaited) -> Request:
        self._count += 1
        self._awaited[self._count] = awaited
        return Request(id=self._count, method=method, params=params)

    def _request(self, method: str, params: Any, awaited: Awaited) -> None:
        self.send(self._make_request(method, params, awaited))

    def _refuse(self, id: RequestId, message: str, code: int = METHOD_NOT_FOUND) -> None:
        self.send(Refusal(id=id, error=RpcError(message, code)))

    # -- opening a conversation ---------------------------------------------------------------

    def _open(self, conversation: AcpConversation) -> None:
        servers = conversation.settings.mcp
        over_http = [name for name, server in servers.items() if server.url is not None]
        if over_http and not self._capabilities.mcp_capabilities.http:
            self._fail_start(conversation, f"the agent takes no MCP servers over HTTP: {over_http[0]}")
            return
        params = OpenSession(
            cwd=conversation.settings.directory,
            mcp_servers=[_mcp_server(name, server) for name, server in servers.items()],
        )
        if not conversation.resumed or conversation.native_id is None:
            self._request("session/new", params, Opening(conversation, resumes=False))
            return
        params = msgspec.structs.replace(params, session_id=conversation.native_id)
        if self._capabilities.session_capabilities.resume is not None:
            self._request("session/resume", params, Opening(conversation, resumes=True))
        elif self._capabilities.load_session:
            conversation.replays = True
            self._request("session/load", params, Opening(conversation, resumes=True))
        else:
            self._fail_start(conversation, "the agent cannot go on with an old conversation", gone=True)

    def _finish_opening(self, opening: Opening, failed: RpcError | None, result: Raw) -> None:
        conversation = opening.conversation
        if failed is not None:
            needs_login = failed.code == AUTHENTICATION_REQUIRED
            message = self._login_advice(failed) if needs_login else failure_of(failed).message
            gone = opening.resumes and not needs_login and says_gone(failed, conversation.native_id)
            self._fail_start(conversation, message, gone=gone)
            return
        opened = msgspec.json.decode(result, type=SessionOpened | None) or SessionOpened()
        if opened.session_id is not None:
            conversation.native_id = opened.session_id
        conversation.opened(Offer.of(opened))
        can = self._capabilities
        conversation.can_resume = can.load_session or can.session_capabilities.resume is not None
        if self.recorded_start is None:
            settings = conversation.settings
            wanted: list[tuple[Choosing, str | None]] = [
                ("model", settings.model),
                ("variant", settings.variant),
            ]
            conversation.to_choose += [(what, value) for what, value in wanted if value is not None]
            self._want_mode(conversation)
        self._choose_next(conversation)

    def _login_advice(self, failed: RpcError) -> str:
        methods = (self._agent.auth_methods if self._agent else None) or ()
        ways = "; ".join(f"{one.name}: {one.description}" if one.description else one.name for one in methods)
        return f"the agent wants a login first ({ways or text_of(failed)})"

    def _fail_start(self, conversation: AcpConversation, message: str, *, gone: bool = False) -> None:
        conversation.replays = False
        self.notices.append(StartFailed(conversation, message, gone))

    # -- choosing model, variant and mode -----------------------------------------------------

    def _want_mode(self, conversation: AcpConversation) -> None:
        mode = wanted_mode(conversation.settings, conversation.offer, conversation.initial_mode)
        if mode is not None:
            conversation.to_choose.append(("mode", mode))

    def _choose_next(self, conversation: AcpConversation) -> None:
        """One choice after the other: what can be chosen depends on what was chosen before."""
        while conversation.to_choose and not conversation.choosing:
            what, value = conversation.to_choose.pop(0)
            if conversation.offer.current(what) == value:
                continue
            setting = conversation.offer.setting(what, value, _session_id(conversation))
            if setting is None:
                self._fail_choice(conversation, RpcError(f"the agent lets nobody choose its {what}"), what)
            else:
                conversation.choosing = True
                self._request(setting.method, setting.params, Choose(conversation, what, value))
        if conversation.choosing:
            return
        if not conversation.is_open:
            conversation.chosen(self._agent.agent_info if self._agent else None)
            self.notices.append(Ready(conversation))
        for request in conversation.held:
            self.send(request)
        conversation.held.clear()

    def _finish_choice(self, choice: Choose, failed: RpcError | None, result: Raw) -> None:
        conversation = choice.conversation
        conversation.choosing = False
        if failed is not None:
            self._fail_choice(conversation, failed, choice.what)
        else:
            answer = msgspec.json.decode(result, type=OptionSet | None)
            if answer is not None and answer.config_options is not None:
                conversation.offers(conversation.offer.with_options(answer.config_options))
            elif choice.what is not None:
                conversation.offers(conversation.offer.chosen(choice.what, choice.value))
        self._choose_next(conversation)

    def _fail_choice(self, conversation: AcpConversation, failed: RpcError, what: Choosing | None) -> None:
        failure = failure_of(failed)
        if not conversation.is_open:
            conversation.to_choose.clear()
            conversation.is_open = True  # it is over: no `Ready` follows
            self._fail_start(conversation, failure.message)
            return
        code: ErrorCode = "model_not_found" if what == "model" else "invalid_request"
        conversation.scribe.error(failure.message, code, failure.details)

    # -- frames of the agent ------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        envelope = envelopes.decode(frame)
        if envelope.method is None:
            self._hear_answer(envelope)
        elif envelope.id is UNSET or envelope.id is None:
            self._hear_notification(envelope.method, envelope.params, frame)
        else:
            self._hear_request(envelope.id, envelope.method, envelope.params, frame)

    def _of_session(self, session_id: str) -> AcpConversation | None:
        """The conversation of a session; one whose id is not known yet is the one that is being opened."""
        for conversation in self._conversations:
            if conversation.native_id == session_id:
                return conversation
        return next((one for one in self._conversations if not one.is_open), None)

    def _asker(self, session_id: str) -> AcpConversation | None:
        """Whom a request is for: one of a session that we do not know comes from a sub-agent."""
        alone = self._conversations[0] if len(self._conversations) == 1 else None
        return self._of_session(session_id) or alone

    def _hear_notification(self, method: str, params: Raw, frame: bytes) -> None:
        match method:
            case "session/update":
                self._hear_update(msgspec.json.decode(params, type=Updated), frame)
            case "$/cancel_request":
                self._withdraw(msgspec.json.decode(params, type=CancelRequest).request_id)
            case _ if method not in IGNORED:
                self._hear_unknown(frame)

    def _hear_update(self, told: Updated, frame: bytes) -> None:
        conversation = self._of_session(told.session_id)
        kind = msgspec.json.decode(told.update, type=UpdateKind).session_update
        if kind in IGNORED_UPDATES or (conversation is None and self._wants_catalogue):
            return
        if conversation is None or kind not in updates:
            self._hear_unknown(frame)
        else:
            conversation.hear(updates[kind].decode(told.update), told.update)

    def _hear_unknown(self, frame: bytes) -> None:
        conversation = next(iter(self._conversations), None)
        if conversation is not None and conversation.is_open:
            conversation.scribe.unknown(msgspec.json.decode(frame))

    # -- requests of the agent ----------------------------------------------------------------

    def _hear_request(self, id: RequestId, method: str, params: Raw, frame: bytes) -> None:
        try:
            match method:
                case "session/request_permission":
                    self._put_permission(id, msgspec.json.decode(params, type=PermissionRequest))
                case "elicitation/create":
                    self._put_form(id, msgspec.json.decode(params, type=Elicitation), params)
                case _:
                    self._refuse(id, f"{method} is not supported")
                    if not method.startswith(("fs/", "terminal/", "mcp/")):
                        self._hear_unknown(frame)
        except msgspec.ValidationError:
            self._refuse(id, "the request was not understood", -32602)
            raise

    def _put_permission(self, id: RequestId, asked: PermissionRequest) -> None:
        conversation = self._asker(asked.session_id)
        if conversation is None:
            self.send(Answer(id=id, result=CANCELLED))
            return
        conversation.end_message()
        call = conversation.call(asked.tool_call)
        call.learn_asked(asked.tool_call)
        call.name = call.name or call.kind or "tool"
        key = _key(id)
        plan = plan_in(call)
        self._asked[key] = Asked(id, conversation, Permission(asked.options, plan is not None))
        if plan is not None:
            conversation.scribe.plan(key, plan, call=call.key)
        else:
            conversation.scribe.ask(key, ask_of(call))

    def _put_form(self, id: RequestId, form: Elicitation, payload: Raw) -> None:
        conversation = self._asker(form.session_id)
        if conversation is None or form.mode != "form" or conversation.scribe.turn is None:
            # A page to visit, or a form that nobody is there to see.
            self.send(Answer(id=id, result=FormAnswer(action="decline")))
            if conversation is not None:
                conversation.scribe.status("elicitation", msgspec.json.decode(payload), form.message)
            return
        conversation.end_message()
        fields = fields_of(form)
        self._asked[_key(id)] = Asked(id, conversation, Form(fields))
        conversation.scribe.question(_key(id), questions_of(form, fields), call=form.tool_call_id)

    def _withdraw(self, id: RequestId | None) -> None:
        """The agent does not wait for this answer any more."""
        asked = self._asked.pop(_key(id), None) if id is not None else None
        if asked is None:
            return
        self._refuse(asked.id, "the request was cancelled", REQUEST_CANCELLED)
        key, scribe = _key(asked.id), asked.conversation.scribe
        if not scribe.decide(key, "reject", "agent", WITHDRAWN, source="agent"):
            scribe.answer(key, None, "agent", WITHDRAWN, source="agent")

    def _drop_requests(self, conversation: AcpConversation) -> None:
        """The turn ends, so nobody answers: the agent must be told."""
        for key, asked in list(self._asked.items()):
            if asked.conversation is conversation:
                del self._asked[key]
                is_form = isinstance(asked.request, Form)
                self.send(Answer(id=asked.id, result=FormAnswer(action="cancel") if is_form else CANCELLED))

    # -- answers to our requests --------------------------------------------------------------

    def _hear_answer(self, envelope: Envelope) -> None:
        if envelope.id is UNSET or envelope.id is None:
            if envelope.error is not None:
                self._hear_unknown(msgspec.json.encode({"error": envelope.error}))
            return
        failed, result = envelope.error, envelope.result
        match self._awaited.pop(envelope.id, None):
            case Greeting():
                self._finish_greeting(failed, result)
            case Opening() as opening:
                self._finish_opening(opening, failed, result)
            case Prompting(conversation):
                self._finish_turn(conversation, failed, result)
            case Choose() as choice:
                self._finish_choice(choice, failed, result)
            case Listing():
                self._finish_listing(failed, result)
            case Forgetting(offer):
                self.notices.append(Listed(offer.catalogue()))

    def _finish_greeting(self, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            self._fail_greeting(failure_of(failed).message)
            return
        agent = msgspec.json.decode(result, type=Initialized)
        if agent.protocol_version != PROTOCOL_VERSION:
            version = agent.protocol_version
            self._fail_greeting(f"the agent speaks version {version} of the protocol, not {PROTOCOL_VERSION}")
            return
        self._agent = agent
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def _fail_greeting(self, message: str) -> None:
        for conversation in self._conversations:
            self._fail_start(conversation, message)
        if self._wants_catalogue:
            self.notices.append(ListFailed(message))

    def _finish_listing(self, failed: RpcError | None, result: Raw) -> None:
        if failed is not None:
            needs_login = failed.code == AUTHENTICATION_REQUIRED
            self.notices.append(
                ListFailed(self._login_advice(failed) if needs_login else failure_of(failed).message)
            )
            return
        opened = msgspec.json.decode(result, type=SessionOpened)
        offer = Offer.of(opened)
        if opened.session_id is not None and self._capabilities.session_capabilities.delete is not None:
            # It would stand in the user's list of sessions.
            self._request("session/delete", OnSession(session_id=opened.session_id), Forgetting(offer))
        else:
            self.notices.append(Listed(offer.catalogue()))

    def _finish_turn(self, conversation: AcpConversation, failed: RpcError | None, result: Raw) -> None:
        conversation.say_unsaid()
        if failed is None:
            over = msgspec.json.decode(result, type=PromptOver)
            stop_reason = STOP_REASONS.get(over.stop_reason, "end_turn")
            if conversation.cancelling and stop_reason == "end_turn":
                stop_reason = "interrupted"  # some agents do not tell the two apart
            conversation.end_turn(stop_reason, over.usage)
        elif conversation.cancelling or failed.code == REQUEST_CANCELLED:
            conversation.end_turn("interrupted")
        else:
            failure = failure_of(failed)
            conversation.scribe.error(failure.message, failure.code, failure.details)
            conversation.end_turn("refusal" if failure.code == "refusal" else "error")
        self._drop_requests(conversation)

    # -- recordings: what a client wrote ------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        try:
            envelope = envelopes.decode(frame)
            if envelope.method is None:
                yield from self._read_answer(envelope)
            else:
                yield from self._read_request(envelope.id, envelope.method, envelope.params)
        except msgspec.DecodeError:
            return  # a client may write nonsense; the agent answers it with an error

    def _read_request(self, id: Any, method: str, params: Raw) -> Iterator[Action]:
        if method == "initialize":
            self._awaited[id] = Greeting()
            return
        sent = msgspec.json.decode(params, type=SentSession)
        if method in ("session/new", "session/load", "session/resume"):
            yield Began(self._read_opening(id, method, sent))
            return
        conversation = self._of_session(sent.session_id or "")
        if conversation is None:
            return
        match method:
            case "session/prompt":
                self._awaited[id] = Prompting(conversation)
                blocks = msgspec.json.decode(params, type=SentPrompt).prompt
                yield Prompted(conversation, prompt_in(blocks, conversation.scribe))
            case "session/cancel":
                yield Cancelled(conversation)
            case "session/set_mode" | "session/set_model" | "session/set_config_option":
                self._awaited[id] = Choose(conversation)

    def _read_opening(self, id: Any, method: str, sent: SentSession) -> AcpConversation:
        assert self.recorded_start is not None
        native_id = None if method == "session/new" else sent.session_id
        conversation = AcpConversation(self, self.recorded_start(Settings(sent.cwd), native_id))
        conversation.replays = method == "session/load"
        self._conversations.append(conversation)
        self._awaited[id] = Opening(conversation, resumes=native_id is not None)
        return conversation

    def _read_answer(self, envelope: Envelope) -> Iterator[Action]:
        if envelope.id is UNSET or envelope.id is None:
            return
        key = _key(envelope.id)
        asked = self._asked.pop(key, None)
        if asked is None:
            return
        conversation, failed = asked.conversation, envelope.error
        message = failed.message if failed else None
        match asked.request:
            case Permission(options, is_plan):
                decision = Decision("reject", message)
                if failed is None:
                    given = msgspec.json.decode(envelope.result, type=PermissionAnswer)
                    decision = decision_in(given, options)
                if not is_plan:
                    yield Decided(conversation, key, decision)
                elif decision.reply == "reject":
                    yield Answered(conversation, key, QuestionAnswer(None, decision.message))
                else:
                    yield Answered(conversation, key, QuestionAnswer((("approve",),), decision.message))
            case Form(fields):
                content = None
                if failed is None:
                    form = msgspec.json.decode(envelope.result, type=FormAnswer)
                    content = form.content or {} if form.action == "accept" else None
                answers = None if content is None else answers_in(fields, content)
                yield Answered(conversation, key, QuestionAnswer(answers, message))


def _session_id(conversation: AcpConversation) -> str:
    assert conversation.native_id is not None, "the session is not open yet"
    return conversation.native_id


def _mcp_server(name: str, server: McpServer) -> dict[str, Any]:
    if server.url is not None:
        headers = [{"name": key, "value": value} for key, value in server.headers.items()]
        return {"type": "http", "name": name, "url": server.url, "headers": headers}
    env = [{"name": key, "value": value} for key, value in server.env.items()]
    return {"name": name, "command": server.command, "args": server.args, "env": env}


def _key(id: RequestId) -> str:
    return msgspec.json.encode(id).decode()
