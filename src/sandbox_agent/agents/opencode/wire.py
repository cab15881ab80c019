"""The protocol of `opencode serve`: one server, many sessions, requests one way and one stream of events the other.

Frames are JSON objects. Out: `{"method","path","body","id"}`, one request each. In: `{"status","for","body","id"}` (an answer; `for` is
"METHOD path", `id` the request's), `{"sse","data"}` (an event) and `{"sse","closed"}` (the stream broke and stands again).

The link that carries them
- starts the process, waits for the line `opencode server listening on <url>` on stdout (a request sent earlier is never answered), and
  authenticates every request with HTTP Basic;
- subscribes to `GET <url>/global/event` before it sends any request, and feeds the JSON of each `data:` line as `{"sse":"/global/event","data":…}`;
- sends each frame of the outbox as a request, `body` null meaning none, without waiting for the answers; only those about the same session
  (`/session/<id>…`) one after the other, in their order. It feeds each answer, `body` null when it is empty or not JSON; a request that
  could not be made is answered with status 0 and `{"data":{"message":…}}`, unless the process ends;
- when the stream breaks while the process lives, subscribes again and then feeds `{"sse":"/global/event","closed":"…"}`: OpenCode replays
  nothing, so this wire asks for what it may have missed. The end of the process is the runtime's to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
from msgspec import Raw, Struct, structs

from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Closed,
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
from . import native
from .conversation import Handed, OpenCodeConversation
from .native import (
    EVENTS,
    IGNORED,
    AnyEvent,
    Frame,
    MessageUpdated,
    NativeError,
    PartUpdated,
    Payload,
    PermissionAsked,
    QuestionAsked,
    Request,
    Session,
    SessionCreated,
    SessionDeleted,
    SessionError,
    ToolMetadata,
    ToolPart,
    decode_part,
    lenient,
)
from .permissions import session_rules
from .requests import (
    catalogue_of,
    failure_in,
    is_user_message,
    make_message_id,
    mcp_config,
    prompt_model,
    prompt_parts,
    scope,
    session_model,
)
from .thread import Thread, attachment_of

OnAnswer = Callable[[int, Raw], None]

_REMEMBERED_EVENTS = 4096
_SESSION = re.compile(r"^/session/(?P<id>[^/]+)(?:/(?P<verb>[^/]+)(?:/(?P<arg>[^/]+))?)?$")
_REQUEST = re.compile(r"^/(?P<kind>permission|question)/(?P<id>[^/]+)/(?P<verb>reply|reject)$")
_APPROVE, _DISAPPROVE = "Yes", "No"  # what the agent's own question about a plan wants to hear


class _Waiting(Struct):
    """A request that has no answer yet."""

    id: str | None
    request: str
    on_answer: OnAnswer
    own: bool = False
    """Asked by this wire, not read from a recording."""


class _Listing(Struct):
    """The three answers that make a catalogue."""

    agents: tuple[native.AgentInfo, ...] | None = None
    providers: native.Providers | None = None
    config: native.Config | None = None
    failed: bool = False


class OpenCodeWire(Wire):
    confirms_close = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversations: list[OpenCodeConversation] = []
        self._threads: dict[str, Thread] = {}
        self._waiting: list[_Waiting] = []
        self._seen: dict[str, None] = {}  # ids of events, oldest first: two streams may tell the same
        self._requests = 0

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._conversations)

    # -- commands -------------------------------------------------------------------------------

    def open(self, start: Start) -> OpenCodeConversation:
        conversation = self._add(start)
        if start.resume and start.native_id is not None:
            self._ask(
                "GET",
                _path(conversation, f"/session/{start.native_id}"),
                None,
                lambda status, body: self._resumed(conversation, status, body),
            )
        else:
            settings = start.settings
            body = native.CreateBody(
                agent=settings.agent_mode,
                model=session_model(settings),
                permission=session_rules(settings.permission_mode, self._strangers(conversation)),
            )
            self._ask(
                "POST",
                _path(conversation, "/session"),
                body,
                lambda status, body: self._created(conversation, status, body),
            )
        return conversation

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        assert isinstance(conversation, OpenCodeConversation)
        settings = conversation.settings
        body = native.PromptBody(
            parts=prompt_parts(prompt),
            messageID=make_message_id(),
            model=prompt_model(settings),
            agent=settings.agent_mode,
            variant=settings.variant,
        )
        handed = conversation.hand_over(_parts_of(prompt), body.messageID, resume_turn=False)
        conversation.unsent.append((handed, body))
        self._send_prompts(conversation)

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        # OpenCode keeps an "always" for the whole directory: ours are remembered by the daemon and given one by one.
        reply: Literal["once", "reject"] = "reject" if decision.reply == "reject" else "once"
        self._reply(conversation, f"/permission/{key}/reply", native.ReplyBody(reply, decision.message))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        assert isinstance(conversation, OpenCodeConversation)
        answers = answer.answers
        if answers is not None and key in conversation.plans:
            answers = ((_APPROVE if answers[:1] == (("approve",),) else _DISAPPROVE,),)
        if answers is None:
            self._reply(conversation, f"/question/{key}/reject", None)
        else:
            self._reply(conversation, f"/question/{key}/reply", native.AnswersBody(answers))

    def cancel(self, conversation: Conversation) -> None:
        self._reply(conversation, f"/session/{conversation.native_id}/abort", None)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        assert isinstance(conversation, OpenCodeConversation)
        old = conversation.settings
        if (settings.directory, settings.mcp) != (old.directory, old.mcp):
            return False
        conversation.settings = settings
        if settings.permission_mode != old.permission_mode:
            self._patch_rules(
                conversation, session_rules(settings.permission_mode, self._strangers(conversation))
            )
        return True

    def close(self, conversation: Conversation) -> None:
        assert isinstance(conversation, OpenCodeConversation)
        if conversation.native_id is None:
            self.notices.append(Closed(conversation))
        else:
            self._abort_all(conversation, conversation.native_id)
            for server in conversation.mcp_servers():
                self._reply(conversation, f"/mcp/{quote(server)}/disconnect", None)
        self._forget(conversation)

    def _abort_all(self, conversation: OpenCodeConversation, native_id: str) -> None:
        """An abort ends the turn, its commands and its sub-agents, but not those in the background."""
        background = (
            thread.id
            for thread in self._threads.values()
            if thread.conversation is conversation and thread.background
        )
        running = {native_id, *background}
        for session_id in tuple(running):

            def aborted(status: int, body: Raw, session_id: str = session_id) -> None:
                running.discard(session_id)
                if not running:
                    self.notices.append(Closed(conversation))

            self._ask("POST", _path(conversation, f"/session/{session_id}/abort"), None, aborted)

    def list_catalogue(self, directory: str) -> None:
        listing = _Listing()
        query = scope(directory)
        for path in ("/agent", "/config/providers", "/config"):
            self._ask("GET", f"{path}{query}", None, self._on_listed(listing, path))

    # -- recordings -----------------------------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        request = msgspec.json.decode(frame, type=native.Request)
        if self._adopt(request):
            return
        url = urlsplit(request.path)
        body = Raw(msgspec.json.encode(request.body))
        directory = parse_qs(url.query).get("directory", [""])[0]
        if request.method == "POST" and url.path == "/session":
            yield from self._sent_create(request, directory, body)
        elif match := _REQUEST.match(url.path):
            yield from self._sent_reply(match["kind"], match["id"], match["verb"], body)
        elif (match := _SESSION.match(url.path)) and match["id"] != "status":
            yield from self._sent_to_session(request, match, directory, body)

    def _adopt(self, request: Request) -> bool:
        """What this wire would have asked by itself, the recorded client asked: its answer is ours."""
        for waiting in self._waiting:
            if waiting.own and waiting.request == f"{request.method} {request.path}":
                waiting.id, waiting.own = request.id, False
                return True
        return False

    def _sent_create(self, request: Request, directory: str, body: Raw) -> Iterator[Action]:
        asked = lenient(body, native.CreateBody, native.CreateBody())
        allows_all = native.PermissionRule("*", "*", "allow") in asked.permission
        model = asked.model
        settings = Settings(
            directory,
            agent_mode=asked.agent or "build",
            permission_mode="bypass" if allows_all else "default",
            model=f"{model.providerID}/{model.id}" if model else None,
            variant=model.variant if model else None,
        )
        conversation = self._recorded(settings, None)
        self._expect(request, lambda status, body: self._created(conversation, status, body))
        yield Began(conversation)

    def _sent_reply(self, kind: str, key: str, verb: str, body: Raw) -> Iterator[Action]:
        conversation = next((one for one in self._conversations if key in one.scribe.pending), None)
        if conversation is None:
            return  # The second answer to something that is decided.
        if kind == "permission":
            reply = msgspec.json.decode(body, type=native.ReplyBody)
            yield Decided(conversation, key, Decision(reply.reply, reply.message))
        elif verb == "reject":
            yield Answered(conversation, key, Answer(None))
        else:
            answers: tuple[tuple[str, ...], ...]
            answers = msgspec.json.decode(body, type=native.AnswersBody).answers
            if key in conversation.plans:
                answers = (("approve" if answers[:1] == ((_APPROVE,),) else "reject",),)
            yield Answered(conversation, key, Answer(answers))

    def _sent_to_session(
        self, request: Request, match: re.Match[str], directory: str, body: Raw
    ) -> Iterator[Action]:
        verb = match["verb"]
        thread = self._threads.get(match["id"])
        conversation = thread.conversation if thread else None
        if conversation is None and (
            verb in ("prompt_async", "message", "command") or request.method == "GET"
        ):
            if request.method == "GET" and verb is not None:
                return
            # It goes on with a conversation from before the recording.
            conversation = self._recorded(Settings(directory), match["id"])
            yield Began(conversation)
            if request.method == "GET":
                resuming = conversation
                self._expect(request, lambda status, body: self._resumed(resuming, status, body))
                return
            conversation.announce("daemon")
        if conversation is None:
            return
        match request.method, verb:
            case "POST", "prompt_async" | "message":
                yield from self._sent_prompt(
                    request, conversation, lenient(body, native.PromptBody, native.PromptBody())
                )
            case "POST", "command":
                command = msgspec.json.decode(body, type=native.CommandBody)
                prompt = Prompt(f"/{command.command} {command.arguments}".rstrip())
                yield from self._sent_turn(request, conversation, prompt, (), command.messageID)
            case "POST", "abort":
                yield Cancelled(conversation)
            case "POST", "permissions":
                old = msgspec.json.decode(body, type=native.OldReplyBody)
                yield Decided(conversation, match["arg"] or "", Decision(old.response))
            case "POST", "fork":
                self._expect(request, self._forked)
            case "DELETE", None:
                conversation.deleted_by_us = True

    def _sent_prompt(
        self, request: Request, conversation: OpenCodeConversation, body: native.PromptBody
    ) -> Iterator[Action]:
        texts = tuple(_texts_in(body))
        files = tuple(
            attachment_of(part.url, part.mime, part.filename)
            for part in body.parts
            if isinstance(part, native.FileInput)
        )
        prompt = Prompt("\n".join(texts), files)
        if prompt.text or files:
            echoed = (*texts, *(file.path for file in files))
            yield from self._sent_turn(request, conversation, prompt, echoed, body.messageID)

    def _sent_turn(
        self,
        request: Request,
        conversation: OpenCodeConversation,
        prompt: Prompt,
        echoed: tuple[str, ...],
        message_id: str | None,
    ) -> Iterator[Action]:
        if conversation.turn.lost:
            conversation.lose_turn()
        resume_turn = conversation.scribe.turn is not None
        handed = conversation.hand_over(echoed, message_id, resume_turn=resume_turn)
        synchronous = not urlsplit(request.path).path.endswith("/prompt_async")
        self._expect(request, self._on_prompt_answered(conversation, handed, synchronous=synchronous))
        yield Prompted(conversation, prompt)

    def _recorded(self, settings: Settings, native_id: str | None) -> OpenCodeConversation:
        assert self.recorded_start is not None
        conversation = self._add(self.recorded_start(settings, native_id))
        if native_id is not None:
            self._threads[native_id] = Thread(native_id, conversation)
        return conversation

    # -- answers --------------------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        message = native.decode_frame(frame)
        if message.status is not None:
            self._answered(message, message.status)
        elif message.data:
            self._event(message.data)
        elif message.sse is not None:
            self._catch_up()
        else:
            raise ValueError("neither an answer nor an event")

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        """Whose frame this is: the first session it names."""
        assert isinstance(frame, bytes)
        for name in re.findall(rb'"(ses_[^"]+)"', frame):
            if thread := self._threads.get(name.decode(errors="replace")):
                return thread.conversation
        return next(iter(self._conversations), None)

    def _answered(self, frame: Frame, status: int) -> None:
        for waiting in self._waiting:
            if (frame.id, frame.request) == (waiting.id, waiting.request):
                self._waiting.remove(waiting)
                waiting.on_answer(status, frame.body)
                return

    def _created(self, conversation: OpenCodeConversation, status: int, body: Raw) -> None:
        if status != 200:
            self._start_failed(conversation, status, body)
            return
        self._opened(conversation, msgspec.json.decode(body, type=Session))

    def _resumed(self, conversation: OpenCodeConversation, status: int, body: Raw) -> None:
        if status != 200:
            self._start_failed(conversation, status, body)
            return
        # The session may have been left in another mode, and its directory has new neighbours.
        conversation.native_id = msgspec.json.decode(body, type=Session).id
        rules = session_rules(conversation.settings.permission_mode, self._strangers(conversation))
        self._patch_rules(conversation, rules)
        self._opened(conversation, msgspec.json.decode(body, type=Session))

    def _start_failed(self, conversation: OpenCodeConversation, status: int, body: Raw) -> None:
        self._forget(conversation)
        message = failure_in(status, body).message
        self.notices.append(StartFailed(conversation, message, gone=conversation.resumed and status == 404))

    def _opened(self, conversation: OpenCodeConversation, session: Session) -> None:
        conversation.report(session)
        self._threads[session.id] = Thread(session.id, conversation)
        conversation.announce("agent")
        self._add_mcp(conversation)
        if not conversation.waiting_mcp:
            self.notices.append(Ready(conversation))

    def _forked(self, status: int, body: Raw) -> None:
        if status == 200 and self.recorded_start is not None:
            session = msgspec.json.decode(body, type=Session)
            conversation = self._recorded(Settings(session.directory), session.id)
            self._opened(conversation, session)

    def _on_prompt_answered(
        self, conversation: OpenCodeConversation, handed: Handed, *, synchronous: bool = False
    ) -> OnAnswer:
        def answered(status: int, body: Raw) -> None:
            if status == 500 and synchronous:
                return  # What went wrong is told by a `session.error`, which comes later.
            if status not in (200, 204):
                conversation.refuse(handed, failure_in(status, body))
            elif status == 200 and is_user_message(body) and handed in conversation.handed:
                # Words without an answer (`noReply`): the turn is over.
                conversation.turn.texts.update(handed.texts)
                conversation.handed.remove(handed)
                conversation.turn.idle = True
                conversation.settle()

        return answered

    def _on_listed(self, listing: _Listing, path: str) -> OnAnswer:
        def listed(status: int, body: Raw) -> None:
            if listing.failed:
                return
            if status != 200:
                listing.failed = True
                self.notices.append(ListFailed(failure_in(status, body).message))
                return
            match path:
                case "/agent":
                    listing.agents = msgspec.json.decode(body, type=tuple[native.AgentInfo, ...])
                case "/config/providers":
                    listing.providers = msgspec.json.decode(body, type=native.Providers)
                case _:
                    listing.config = msgspec.json.decode(body, type=native.Config)
            if listing.agents is not None and listing.providers is not None and listing.config is not None:
                self.notices.append(Listed(catalogue_of(listing.agents, listing.providers, listing.config)))

        return listed

    # -- MCP servers ----------------------------------------------------------------------------

    def _add_mcp(self, conversation: OpenCodeConversation) -> None:
        """Bring the session's MCP servers into its directory, and keep its neighbours away from them."""
        if not conversation.settings.mcp:
            return
        for name, server in zip(conversation.mcp_servers(), conversation.settings.mcp.values(), strict=True):
            conversation.waiting_mcp += 1
            body = {"name": name, "config": mcp_config(server)}
            self._ask("POST", _path(conversation, "/mcp"), body, self._on_mcp(conversation, name))
        for neighbour in self._neighbours(conversation):
            denied = session_rules("bypass", conversation.mcp_servers())[2:]
            self._patch_rules(neighbour, denied)

    def _on_mcp(self, conversation: OpenCodeConversation, server: str) -> OnAnswer:
        def added(status: int, body: Raw) -> None:
            conversation.waiting_mcp -= 1
            known: dict[str, native.McpStatus]
            known = lenient(body, dict[str, native.McpStatus], {}) if status == 200 else {}
            state = known.get(server, native.McpStatus("failed", failure_in(status, body).message))
            if state.status != "connected":
                name = conversation.tool_name(server)
                payload = {"server": name, "status": state.status, "error": state.error}
                conversation.scribe.status("mcp", payload, f"{name}: {state.status}")
            if not conversation.waiting_mcp:
                self.notices.append(Ready(conversation))

        return added

    def _neighbours(self, conversation: OpenCodeConversation) -> list[OpenCodeConversation]:
        return [
            other
            for other in self._conversations
            if other is not conversation and other.directory == conversation.directory and other.native_id
        ]

    def _strangers(self, conversation: OpenCodeConversation) -> list[str]:
        return [server for other in self._neighbours(conversation) for server in other.mcp_servers()]

    def _patch_rules(
        self, conversation: OpenCodeConversation, rules: tuple[native.PermissionRule, ...]
    ) -> None:
        """Add rules to a session's: the last one that fits wins. No prompt goes before they are in force."""

        def patched(status: int, body: Raw) -> None:
            conversation.unruled -= 1
            if status == 200:
                self._send_prompts(conversation)
                return
            for handed, _ in conversation.unsent:
                conversation.refuse(handed, failure_in(status, body))
            conversation.unsent = []

        conversation.unruled += 1
        path = _path(conversation, f"/session/{conversation.native_id}")
        self._ask("PATCH", path, {"permission": rules}, patched)

    def _send_prompts(self, conversation: OpenCodeConversation) -> None:
        if conversation.unruled:
            return
        for handed, body in conversation.unsent:
            path = _path(conversation, f"/session/{conversation.native_id}/prompt_async")
            self._ask("POST", path, body, self._on_prompt_answered(conversation, handed))
        conversation.unsent = []

    # -- events ---------------------------------------------------------------------------------

    def _event(self, data: Raw) -> None:
        payload, directory = native.decode_payload(data)
        if payload.type in IGNORED or self._is_repeated(payload.id):
            return
        kind = EVENTS.get(payload.type)
        if kind is None:
            self._unknown(payload, directory, data)
            return
        event: AnyEvent = msgspec.json.decode(payload.properties, type=kind)
        match event:
            case SessionCreated(info=info):
                self._session_created(info)
            case SessionDeleted():
                self._session_deleted(event)
            case SessionError(sessionID="", error=NativeError() as error):
                for conversation in self._those_in(directory):
                    conversation.scribe.system(error.data.message or error.name)
            case _:
                self._route(event)

    def _is_repeated(self, event_id: str | None) -> bool:
        if event_id is None:
            return False
        if event_id in self._seen:
            return True
        self._seen[event_id] = None
        if len(self._seen) > _REMEMBERED_EVENTS:
            del self._seen[next(iter(self._seen))]
        return False

    def _route(self, event: AnyEvent) -> None:
        thread = self._threads.get(event.sessionID)
        if thread is None:
            return  # Somebody else's conversation on the same server.
        conversation = thread.conversation
        was_running = set(conversation.turn.running)
        thread.receive(event)
        if isinstance(event, PartUpdated):
            self._link_sub_agent(thread, event)
        if conversation.cancelling and conversation.turn.running - was_running:
            self.cancel(conversation)  # The abort came before there was anything to abort.

    def _session_created(self, session: Session) -> None:
        parent = self._threads.get(session.parentID or "")
        if parent is not None and session.id not in self._threads:
            self._threads[session.id] = Thread(session.id, parent.conversation, parent)

    def _session_deleted(self, event: SessionDeleted) -> None:
        thread = self._threads.pop(event.sessionID or event.info.id, None)
        if thread is not None and thread.parent is None:
            ours = thread.conversation.deleted_by_us
            thread.conversation.scribe.end_session(
                "terminated" if ours else "completed", by="daemon" if ours else "agent"
            )

    def _link_sub_agent(self, thread: Thread, event: PartUpdated) -> None:
        """A running `task` call names the session of its sub-agent."""
        part = decode_part(event.part)
        if not isinstance(part, ToolPart) or part.tool != "task":
            return
        metadata = lenient(part.state.metadata, ToolMetadata, ToolMetadata())
        if metadata.sessionId is None:
            return
        child = self._threads.get(metadata.sessionId)
        if child is None:
            child = self._threads[metadata.sessionId] = Thread(
                metadata.sessionId, thread.conversation, thread
            )
        if metadata.background:
            child.background = True
        if child.held is not None or child.call != part.id:
            child.release(part.id, background=metadata.background)

    def _unknown(self, payload: Payload, directory: str | None, data: Raw) -> None:
        owner = lenient(payload.properties, native.Owner, native.Owner())
        thread = self._threads.get(owner.sessionID)
        if thread is None and owner.sessionID:
            return
        for conversation in [thread.conversation] if thread else self._those_in(directory):
            conversation.scribe.unknown(msgspec.json.decode(data))

    def _those_in(self, directory: str | None) -> list[OpenCodeConversation]:
        return [one for one in self._conversations if directory is None or one.directory == directory]

    # -- after the stream broke -----------------------------------------------------------------

    def _catch_up(self) -> None:
        """The stream was broken for a while: ask what became of the turns that are open."""
        directories = []
        for conversation in self._conversations:
            if conversation.scribe.turn is not None:
                conversation.turn.lost = True
                if conversation.directory not in directories:
                    directories.append(conversation.directory)
        for directory in directories:
            query = scope(directory)
            self._ask("GET", f"/permission{query}", None, self._on_requests(PermissionAsked))
            self._ask("GET", f"/question{query}", None, self._on_requests(QuestionAsked))
            self._ask("GET", f"/session/status{query}", None, self._on_statuses(directory))

    def _on_requests(self, kind: type[PermissionAsked] | type[QuestionAsked]) -> OnAnswer:
        def listed(status: int, body: Raw) -> None:
            if status == 200:
                for asked in msgspec.json.decode(body, type=tuple[kind, ...]):  # type: ignore[valid-type]
                    self._route(asked)

        return listed

    def _on_statuses(self, directory: str) -> OnAnswer:
        def listed(status: int, body: Raw) -> None:
            if status != 200:
                return
            busy = msgspec.json.decode(body, type=dict[str, Any]).keys()
            for conversation in self._those_in(directory):
                if conversation.turn.lost:
                    conversation.turn.lost = False
                    self._ask_messages(conversation, running=conversation.native_id in busy)

        return listed

    def _ask_messages(self, conversation: OpenCodeConversation, *, running: bool) -> None:
        def listed(status: int, body: Raw) -> None:
            thread = self._threads.get(conversation.native_id or "")
            if status != 200 or thread is None or conversation.scribe.turn is None:
                return
            for message in msgspec.json.decode(body, type=tuple[native.Listed, ...]):
                self._replay(thread, message)
            if not running and conversation.scribe.turn is not None:
                conversation.handed = []
                if conversation.turn.running:
                    conversation.lose_turn()
                else:
                    conversation.turn.alive = True
                    conversation.idle()

        path = _path(conversation, f"/session/{conversation.native_id}/message")
        self._ask("GET", f"{path}&limit=50", None, listed)

    def _replay(self, thread: Thread, message: native.Listed) -> None:
        """Tell a message of the running turn again; what was heard before gives nothing."""
        if not thread.is_current(message.info):
            return
        begun = structs.replace(message.info, time=native.Time(message.info.time.created))
        thread.receive(MessageUpdated(sessionID=thread.id, info=begun))
        for part in message.parts:
            self._route(PartUpdated(sessionID=thread.id, part=part))
        thread.receive(MessageUpdated(sessionID=thread.id, info=message.info))

    # -- requests -------------------------------------------------------------------------------

    def _add(self, start: Start) -> OpenCodeConversation:
        conversation = OpenCodeConversation(self, start)
        self._conversations.append(conversation)
        return conversation

    def _forget(self, conversation: OpenCodeConversation) -> None:
        self._conversations = [one for one in self._conversations if one is not conversation]
        self._threads = {
            name: thread for name, thread in self._threads.items() if thread.conversation is not conversation
        }

    def _reply(self, conversation: Conversation, path: str, body: object) -> None:
        assert isinstance(conversation, OpenCodeConversation)
        self._ask("POST", _path(conversation, path), body, _ignore)

    def _ask(self, method: str, path: str, body: object, on_answer: OnAnswer) -> None:
        self._requests += 1
        request = Request(method, path, body, str(self._requests))
        self._expect(request, on_answer, own=True)
        self.send(request)

    def _expect(self, request: Request, on_answer: OnAnswer, *, own: bool = False) -> None:
        self._waiting.append(_Waiting(request.id, f"{request.method} {request.path}", on_answer, own))


def _path(conversation: OpenCodeConversation, path: str) -> str:
    return f"{path}{scope(conversation.directory)}"


def _parts_of(prompt: Prompt) -> tuple[str, ...]:
    """What the server repeats of a prompt of ours, part by part."""
    return (prompt.text, *(file.path for file in prompt.attachments))


def _texts_in(body: native.PromptBody) -> Iterator[str]:
    for part in body.parts:
        match part:
            case native.TextInput(text=text) | native.SubtaskInput(prompt=text):
                yield text


def _ignore(status: int, body: Raw) -> None:
    """An answer that nothing depends on: what follows is told by events."""
