"""The protocol of `opencode serve`: one server, many sessions, requests in one direction and one event stream
in the other.

The link that carries it

- starts the process, waits for the line `opencode server listening on <url>` on stdout (a request sent
  earlier is never answered), and authenticates every request with HTTP Basic;
- subscribes to `GET <url>/global/event` before it sends any request, and passes on each `data:` line as a
  `ServerEvent`;
- sends each `HttpRequest` without waiting for the answers; only those about the same session
  (`/session/<id>…`) go one after the other, in order. A body of null means none. Each answer is an
  `HttpReply`, its body null if it is empty or not JSON; a request that could not be sent is answered with
  status 0 and `{"data":{"message":…}}`, unless the process ends;
- when the stream breaks while the process lives, subscribes again and then sends `Lost`: OpenCode replays
  nothing, so this wire requests what it may have missed. The runtime reports the end of the process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct, field

from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import Action, Closed, Conversation, Files, Start, Wire
from ..frames import UNREADABLE, HttpReply, HttpRequest, InFrame, Lost, ServerEvent, native_of
from .asking import Asking, path_of
from .bodies import AnswersBody, ReplyBody
from .bootstrap import Bootstrap
from .catalogue import Listing
from .catch_up import CatchUp
from .conversation import OpenCodeConversation
from .opening import Opening
from .permissions import APPROVE
from .prompts import Prompts, Rules
from .recorded import RecordedClient
from .requests import agent_of
from .threads import Threads

_ASKED = re.compile(rb'"type":\s*"(permission|question)\.asked"')
_REQUEST_ID = re.compile(rb'"id":\s*"((?:per|que)_[^"]+)"')


class OpenCodeWire(Wire):
    confirms_close = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._asking = Asking(self)
        self._bootstrap = Bootstrap(self._asking)
        self._threads = Threads(self.cancel, self._bootstrap.forget)
        self._prompts = Prompts(self, self._asking, self._bootstrap)
        self._rules = Rules(self._asking, self._threads, self._prompts)
        self._opening = Opening(
            self, self._asking, self._threads, self._rules, self._prompts, self._bootstrap.windows
        )
        self._catch_up = CatchUp(self, self._asking, self._threads)
        self._recorded = RecordedClient(self._asking, self._threads, self._prompts, self._opening)

    def conversations(self) -> Iterable[Conversation]:
        return tuple(self._threads.conversations)

    # -- commands -----------------------------------------------------------------------------

    def open(self, start: Start) -> OpenCodeConversation:
        return self._opening.begin(start)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        self._prompts.hand_over(_ours(conversation), prompt)

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        ours = _ours(conversation)
        # OpenCode applies an "always" to the whole directory: the daemon remembers ours and allows each call
        # once.
        reply: Literal["once", "reject"] = "reject" if decision.reply == "reject" else "once"
        self._asking.tell(ours, f"/permission/{key}/reply", ReplyBody(reply, decision.message))
        if reply == "reject":
            self._threads.reject_others(ours, key)

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        ours, answers = _ours(conversation), answer.answers
        if key in ours.plans:
            # OpenCode treats any answer other than "no" as "yes".
            answers = answers and ((APPROVE,),)
            ours.turn.feedback = answer.message if answers is None else None
        if answers is None:
            self._asking.tell(ours, f"/question/{key}/reject", None)
        else:
            self._asking.tell(ours, f"/question/{key}/reply", AnswersBody(answers))

    def cancel(self, conversation: Conversation) -> None:
        ours = _ours(conversation)
        if not ours.withdraw_unsent():
            self._asking.tell(ours, f"/session/{ours.native_id}/abort", None)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        old = conversation.settings
        if (settings.directory, settings.mcp) != (old.directory, old.mcp):
            return False
        conversation.settings = settings
        if (settings.permission_mode, agent_of(settings)) != (old.permission_mode, agent_of(old)):
            self._rules.renew(_ours(conversation))
        return True

    def close(self, conversation: Conversation) -> None:
        ours = _ours(conversation)
        ours.leave()
        if ours.native_id is None:
            self.notices.append(Closed(ours))
        else:
            self._abort_all(ours, ours.native_id)
            for server in ours.mcp_servers():
                self._opening.disconnect(ours, server)
        self._threads.forget(ours)

    def _abort_all(self, conversation: OpenCodeConversation, native_id: str) -> None:
        """An abort ends the turn, its commands and its sub-agents, but not those in the background."""
        running = {native_id, *self._threads.in_background(conversation)}
        for session_id in tuple(running):

            def aborted(status: int, body: Raw, session_id: str = session_id) -> None:
                running.discard(session_id)
                if not running:
                    self.notices.append(Closed(conversation))

            self._asking.ask("POST", path_of(conversation, f"/session/{session_id}/abort"), None, aborted)

    def waited(self, conversation: Conversation) -> None:
        ours = _ours(conversation)
        ours.end_overdue()
        if ours.turn.lost:
            self._catch_up.begin()

    def list_catalogue(self, directory: str) -> None:
        Listing(self, self._asking, directory).begin()

    # -- recordings ---------------------------------------------------------------------------

    def sent(self, frame: bytes) -> Iterator[Action]:
        yield from self._recorded.read(msgspec.json.decode(frame, type=HttpRequest))

    def recorded_frame(self, frame: bytes) -> InFrame:
        try:
            line = msgspec.json.decode(frame, type=_RecordedLine)
        except msgspec.DecodeError:
            return frame
        if line.status is not None:
            return HttpReply(line.status, line.request, line.id, line.body)
        if line.sse is None:
            return frame
        return ServerEvent(bytes(line.data)) if line.data else Lost(str(line.closed))

    # -- frames -------------------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        try:
            self._feed(frame)
        except Exception:
            self._refuse_in(native_of(frame))
            raise

    def _feed(self, frame: InFrame) -> None:
        match frame:
            case ServerEvent(data):
                self._threads.handle(data)
            case HttpReply():
                self._asking.answered(frame)
            case Lost():
                self._catch_up.begin()
            case _:
                raise msgspec.ValidationError("neither an answer nor an event")

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        thread = self._threads.named_in(native_of(frame))
        return thread.conversation if thread else next(iter(self._threads.conversations), None)

    def _refuse_in(self, native: bytes) -> None:
        """The agent waits for an answer, even to what we cannot read or show."""
        thread = self._threads.named_in(native)
        if thread is None:
            return
        keys = thread.calls.take_unasked(native)
        if _ASKED.search(native) and (match := _REQUEST_ID.search(native)):
            keys.append(match[1].decode(errors="replace"))
        for key in keys:
            if key.startswith("que_"):
                self._asking.tell(thread.conversation, f"/question/{key}/reject", None)
            else:
                refusal = ReplyBody("reject", UNREADABLE)
                self._asking.tell(thread.conversation, f"/permission/{key}/reply", refusal)


class _RecordedLine(Struct, frozen=True):
    """What a server sent, as a recording stores it: an answer (`status`), an event (`data`), or the end of
    the stream (`closed`).
    """

    status: int | None = None
    request: str = field(name="for", default="")
    id: str | None = None
    body: Raw = Raw(b"null")
    sse: str | None = None
    data: Raw = Raw(b"")
    closed: Any = None


def _ours(conversation: Conversation) -> OpenCodeConversation:
    assert isinstance(conversation, OpenCodeConversation)
    return conversation
