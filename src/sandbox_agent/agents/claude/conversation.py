"""A conversation with Claude: one object each for messages, calls, requests and notices."""

from __future__ import annotations

from msgspec import Raw, Struct

from ..base import Conversation, Start, Wire
from .blocks import decoded, text_of
from .calls import Calls
from .frames import CanUseTool, McpToolResult, ToolResultBlock, User
from .messages import Messages
from .reports import Reports
from .tools import ask_of, plan_of, questions_of
from .turns import Turns

LEAVING_PLAN = "The agent is ready to leave plan mode."

OTHER_SENDERS = {"human", "channel", "peer"}
"""Origins of a user message that a person or another program sent, rather than the `claude` program."""


class Waiting(Struct, frozen=True):
    """A request that Claude waits for."""

    request: CanUseTool
    input: Raw
    """The tool's input as Claude wrote it: Claude expects it back when the tool is allowed."""


class ClaudeConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.requests: dict[str, Waiting] = {}
        """Requests that Claude waits for, by id."""
        self.turns = Turns(self)
        self.calls = Calls(self)
        self.messages = Messages(self, self.calls)
        self.reports = Reports(self)

    # -- user messages ------------------------------------------------------------------------

    def user(self, frame: User) -> None:
        """Tool results, and text that the program injects. Our own prompts are either not repeated or marked
        as replayed.
        """
        owner = frame.parent_tool_use_id
        content = decoded(frame.message.content)
        text = text_of(content)
        if frame.isReplay and not (frame.isSynthetic or text.startswith("<local-command-")):
            return
        for block, _ in content:
            if isinstance(block, ToolResultBlock | McpToolResult):
                self.calls.result(owner, block, frame.tool_use_result)
        if not text or owner is not None:
            return  # a sub-agent's prompt is already in the arguments of its call
        if frame.origin and frame.origin.kind in OTHER_SENDERS and not frame.isSynthetic:
            self.turns.begin_unprompted(None)
            self.scribe.user_message(text, native_id=frame.uuid, source="agent")
        else:
            self.scribe.status("injected", {"text": text})

    # -- permissions and questions ------------------------------------------------------------

    def can_use_tool(self, request_id: str, request: CanUseTool, input: Raw) -> None:
        if request_id in self.requests:
            return  # repeated: not a new request
        if request.agent_id is None:
            self.turns.begin_unprompted(None)
        call = self.calls.key(request.tool_use_id) if request.tool_use_id else None
        match request.tool_name:
            case "AskUserQuestion":
                self.scribe.question(request_id, questions_of(request.input), call=call)
            case "ExitPlanMode":
                # The plan is in the request if there is a plan file, otherwise in the arguments of the call,
                # if anywhere.
                plan = plan_of(request.input) or self.calls.plan(request.tool_use_id) or LEAVING_PLAN
                self.scribe.plan(request_id, plan, call=call)
            case _:
                self.scribe.ask(request_id, ask_of(request, call))
        self.requests[request_id] = Waiting(request, input)

    def withdraw(self, request_id: str) -> None:
        """Claude no longer waits for this answer."""
        self.requests.pop(request_id, None)
        self.scribe.withdraw(request_id, "agent", "the agent withdrew its request", source="agent")
