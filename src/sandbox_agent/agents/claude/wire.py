"""The stream-json protocol of `claude`: one process per conversation, JSON lines in both directions.

Requests of either side are `control_request`, answered by `control_response` under the same id. Claude uses
`can_use_tool` for permissions, its questions and the approval of a plan; the request's id is our key for all
three.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Raw

from ...schema.events import ErrorCode
from ...schema.features import Catalogue, Command, Model
from ...schema.inputs import Answer, Decision, Prompt, Settings
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
from ..lenient import convert, readable_part, surface_of
from ..nesting import shallow
from ..retries import retry_detail
from . import frames
from .commands import (
    ControlRequestLine,
    ControlResponseLine,
    Permission,
    SentRequest,
    SentResponse,
    SentUser,
    UserLine,
    UserMessage,
    content_of,
    decision_in,
    denial,
    message_in,
    native_mode,
    permission_of,
    prompt_in,
    sent_lines,
)
from .conversation import ClaudeConversation, Waiting
from .frames import (
    CanUseTool,
    ControlRequest,
    ControlResponse,
    Elicitation,
    HookCallback,
    Initialized,
    McpMessage,
    Reply,
    Result,
    UserDialog,
)
from .modes import MODES
from .tools import answers_in, with_answers

CONFIGURING = {"set_model", "set_permission_mode", "apply_flag_settings"}
MAX_WAITING = 1_000
"""How many requests may wait for an answer, for Claude's and ours separately."""

UNANSWERED = "not answered before the turn ended"


class ClaudeWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversation: ClaudeConversation | None = None
        self._request_ids = (f"req_{n}" for n in itertools.count(1))
        self._asked: dict[str, str] = {}  # our requests without an answer: id -> subtype
        self._ready = False
        self._catalogue: Catalogue | None = None
        self._wants_catalogue = False

    def conversations(self) -> Iterable[Conversation]:
        return () if self._conversation is None else (self._conversation,)

    # -- commands -----------------------------------------------------------------------------

    def connected(self) -> None:
        self._request("initialize", forwardSubagentText=True)

    def open(self, start: Start) -> ClaudeConversation:
        self._conversation = ClaudeConversation(self, start)
        if self._ready:
            self.notices.append(Ready(self._conversation))
        return self._conversation

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        assert isinstance(conversation, ClaudeConversation)
        id = self.world.make_uuid()
        conversation.turns.awaiting.add(id)
        self.send(UserLine(UserMessage(content_of(prompt, files)), id, client_composed=not prompt.command))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        if (waiting := self._take(conversation, key)) is not None:
            self._reply(key, permission_of(decision, waiting.input))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        waiting = self._take(conversation, key)
        if waiting is None:
            return
        if answer.answers is None:
            self._reply(key, denial(answer.message))
        elif waiting.request.tool_name == "ExitPlanMode":
            self._reply(key, self._plan_permission(conversation, waiting))
        else:
            self._reply(key, Permission("allow", with_answers(waiting.request.input, answer.answers)))

    def cancel(self, conversation: Conversation) -> None:
        # The prompt may still be in Claude's queue and must not run later.
        self._request("interrupt", cancel_queued=True)

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        before, conversation.settings = conversation.settings, settings
        if (before.directory, before.mcp) != (settings.directory, settings.mcp):
            return False
        if before.model != settings.model:
            self._request("set_model", model=settings.model or "default")
        if before.variant != settings.variant:
            self._request("apply_flag_settings", settings={"effortLevel": settings.variant})
        if native_mode(before) != native_mode(settings):
            self._request("set_permission_mode", mode=native_mode(settings))
        return True

    def list_catalogue(self, directory: str) -> None:
        if self._catalogue is None:
            self._wants_catalogue = True
        else:
            self.notices.append(Listed(self._catalogue))

    def _plan_permission(self, conversation: Conversation, waiting: Waiting) -> Permission:
        """Claude leaves plan mode for the session's own mode."""
        settings = conversation.settings
        leaves_plan = "default" if settings.permission_mode == "plan" else settings.permission_mode
        after = msgspec.structs.replace(settings, agent_mode="build", permission_mode=leaves_plan)
        conversation.settings = after
        mode = {"type": "setMode", "mode": native_mode(after), "destination": "session"}
        return Permission("allow", waiting.input, updatedPermissions=[mode])

    def _take(self, conversation: Conversation, key: str) -> Waiting | None:
        assert isinstance(conversation, ClaudeConversation)
        return conversation.requests.pop(key, None)

    def _request(self, subtype: str, **body: Any) -> None:
        id = next(self._request_ids)
        self._asked[id] = subtype
        if len(self._asked) > MAX_WAITING:
            del self._asked[next(iter(self._asked))]
        self.send(ControlRequestLine(id, {"subtype": subtype, **body}))

    def _reply(self, request_id: str, response: object) -> None:
        reply = Reply("success", request_id, Raw(msgspec.json.encode(response)))
        self.send(ControlResponseLine(reply))

    def _refuse(self, request_id: str, error: str) -> None:
        self.send(ControlResponseLine(Reply("error", request_id, error=error)))

    # -- what claude writes -------------------------------------------------------------------

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        try:
            line = frames.lines.decode(frame)
        except RecursionError:
            if (line := self._surface(frame)) is None:
                raise
        except msgspec.ValidationError:
            self._end_unread(frame)
            raise
        if isinstance(line, ControlResponse):
            self._answered(line.response)
            return
        if (conversation := self._conversation or self._recorded()) is None:
            return
        match line:
            case frames.StreamEvent():
                conversation.messages.stream(line)
            case frames.Assistant():
                conversation.messages.assistant(line)
            case frames.User():
                conversation.user(line)
            case frames.System(subtype):
                conversation.reports.system(subtype, frame)
            case Result():
                self._ended(conversation, line)
            case ControlRequest(id, request):
                self._asked_by_claude(conversation, id, request)
            case frames.ControlCancel(id):
                conversation.withdraw(id)
            case frames.CommandLifecycle(id, state):
                conversation.turns.lifecycle(id, state)
            case frames.ToolProgress(retry) if retry is not None:
                known = convert(retry, frames.SubagentRetry) or frames.SubagentRetry()
                detail = retry_detail(known.attempt, known.max_retries, known.error_category)
                conversation.reports.fact("retry", frame, f"sub-agent, {detail}")
            case frames.ConversationReset():
                conversation.reports.fact("session", frame)
            case frames.AuthStatus():
                conversation.reports.fact("authentication", frame)
            case frames.RateLimit():
                conversation.reports.fact("rate_limit", frame)
            case frames.ToolUseSummary():
                conversation.reports.fact("summary", frame)
            case frames.ActiveGoal():
                conversation.reports.fact("goal", frame)
            case None:
                conversation.scribe.unknown(msgspec.json.decode(frame))
            case _:
                pass  # ToolProgress, PromptSuggestion, KeepAlive, TranscriptMirror: nothing to report

    def _surface(self, frame: bytes) -> frames.AnyLine | None:
        """Reads a line that is nested too deep by its outermost fields: ends the turn, takes the answer, or
        refuses the request.
        """
        line = frames.lines.decode(shallow(frame))
        if isinstance(line, ControlRequest):
            self._refuse(line.request_id, "the request is nested too deep")
        return line if isinstance(line, Result | ControlResponse) else None

    def _end_unread(self, frame: bytes) -> None:
        """The turn ends even if its `result` cannot be read."""
        line = surface_of(frame)
        if self._conversation is not None and isinstance(line, dict) and line.get("type") == "result":
            self._ended(self._conversation, readable_part(Result, line, is_error=True))

    def _answered(self, reply: Reply) -> None:
        asked = self._asked.pop(reply.request_id, None)
        if asked == "initialize":
            self._initialized(reply)
        elif asked in CONFIGURING and reply.error is not None and self._conversation is not None:
            code: ErrorCode = "model_not_found" if reply.error_code == "not_found" else "invalid_request"
            details = {"request": asked, "error_code": reply.error_code}
            self._conversation.scribe.error(reply.error, code, details)

    def _initialized(self, reply: Reply) -> None:
        if reply.error is not None:
            self._fail_start(reply.error)
            return
        self._ready = True
        self._catalogue = _catalogue(msgspec.json.decode(reply.response, type=Initialized))
        if self._wants_catalogue:
            self.notices.append(Listed(self._catalogue))
        if self._conversation is not None:
            self.notices.append(Ready(self._conversation))

    def _fail_start(self, message: str) -> None:
        gone = message.startswith("No conversation found")
        if self._wants_catalogue:
            self.notices.append(ListFailed(message))
        if self._conversation is not None:
            self.notices.append(StartFailed(self._conversation, message, gone))

    def _ended(self, conversation: ClaudeConversation, result: Result) -> None:
        if not self._ready and "initialize" in self._asked.values():
            self._fail_start("; ".join(result.errors) or result.result or "claude could not start")
        elif conversation.turns.result(result):
            for id in conversation.requests:
                self._reply(id, denial(UNANSWERED))
            conversation.requests.clear()

    def _asked_by_claude(self, conversation: ClaudeConversation, id: str, request: Raw) -> None:
        if len(conversation.requests) >= MAX_WAITING:
            self._refuse(id, "too many requests are waiting for an answer")
            return
        try:
            self._put(conversation, id, request)
        except Exception:
            # Claude waits for an answer even if we cannot understand its request.
            self._refuse(id, "the request was not understood")
            raise

    def _put(self, conversation: ClaudeConversation, id: str, request: Raw) -> None:
        match frames.requests.decode(request):
            case CanUseTool() as permission:
                conversation.can_use_tool(id, permission, frames.inputs.decode(request).input)
            case HookCallback():
                self._reply(id, {"continue": True})
            case McpMessage():
                self._refuse(id, "no such server")
            case Elicitation(message):
                # A form of an MCP server: labels cannot answer it.
                conversation.scribe.status("elicitation", msgspec.json.decode(request), message)
                self._reply(id, {"action": "decline"})
            case UserDialog():
                pass
            case None:
                conversation.scribe.unknown(msgspec.json.decode(request))
                self._refuse(id, "unsupported request")

    # -- recordings ---------------------------------------------------------------------------

    def launched(self, argv: list[str]) -> Iterator[Action]:
        named = [
            argument.partition("=")[2]
            for argument in argv
            if argument.startswith(("--session-id=", "--resume="))
        ]
        if (conversation := self._recorded(named[0] if named else None)) is not None:
            yield Began(conversation)

    def sent(self, frame: bytes) -> Iterator[Action]:
        conversation = self._conversation
        if conversation is None:
            conversation = self._recorded()
            assert conversation is not None
            yield Began(conversation)
        try:
            line = sent_lines.decode(frame)
        except msgspec.ValidationError:
            return  # not a line of this protocol: claude refuses it as well
        match line:
            case SentUser(message, id):
                if id is not None:
                    conversation.turns.awaiting.add(id)
                yield Prompted(conversation, prompt_in(message.content, conversation.scribe))
            case SentRequest(id, body):
                self._asked[id] = body.subtype
                if body.subtype == "interrupt":
                    yield Cancelled(conversation)
            case SentResponse(reply):
                yield from self._replied(conversation, reply)

    def _replied(self, conversation: ClaudeConversation, reply: Reply) -> Iterator[Action]:
        key = reply.request_id
        waiting = conversation.requests.pop(key, None)
        if waiting is None:
            return  # too late, or the answer to another request
        request = waiting.request
        permission = Permission(message=reply.error)
        if reply.subtype == "success":
            permission = msgspec.json.decode(reply.response, type=Permission)
        if request.tool_name not in ("AskUserQuestion", "ExitPlanMode"):
            yield Decided(conversation, key, decision_in(permission))
        elif permission.behavior != "allow":
            yield Answered(conversation, key, Answer(None, message_in(permission)))
        elif request.tool_name == "ExitPlanMode":
            yield Answered(conversation, key, Answer((("approve",),)))
        else:
            chosen = answers_in(request.input, permission.updatedInput)
            yield Answered(conversation, key, Answer(chosen))

    def _recorded(self, native_id: str | None = None) -> ClaudeConversation | None:
        if self.recorded_start is None:
            return None
        return self.open(self.recorded_start(Settings(""), native_id))


def _catalogue(answer: Initialized) -> Catalogue:
    models = tuple(
        Model(model.value, model.displayName, model.supportedEffortLevels) for model in answer.models
    )
    default: Literal["default"] | None = "default" if any(model.id == "default" for model in models) else None
    commands = tuple(
        Command(command.name, command.description or "", _hint(command.argumentHint))
        for command in answer.commands
    )
    return Catalogue(models, MODES, default, commands)


def _hint(hint: Any) -> str:
    # `[file]` without quotes is a list in YAML.
    return f"[{', '.join(map(str, hint))}]" if isinstance(hint, list) else str(hint or "")
