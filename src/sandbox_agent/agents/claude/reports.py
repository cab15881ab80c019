"""What the `claude` program reports about itself, its session and its background tasks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ...schema.mcp import McpState, condition_of
from .calls import MAX_CALLS
from .facts import FACTS, IGNORED
from .frames import (
    AnySystem,
    AnyTask,
    ApiRetry,
    Init,
    LocalCommand,
    LocalCommandOutput,
    Named,
    StateChanged,
    Status,
    TaskNotification,
    TaskProgress,
    TaskStarted,
    TaskUpdated,
    TitleChanged,
    systems,
)

if TYPE_CHECKING:
    from .conversation import ClaudeConversation


class Facts(Struct, frozen=True, omit_defaults=True):
    """The session's configuration, as `init` reports it."""

    model: str | None = None
    permissionMode: str | None = None
    cwd: str | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[Named, ...] = ()
    agents: tuple[str, ...] = ()
    claude_code_version: str | None = None


class Reports:
    def __init__(self, conversation: ClaudeConversation) -> None:
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._facts = Facts()
        self._tasks: dict[str, str] = {}  # task id -> the id of the call that started it

    def system(self, subtype: str, frame: bytes) -> None:
        if subtype in IGNORED:
            return
        if subtype in FACTS:
            self.fact(FACTS[subtype], frame)
        elif (message := systems.decode(frame)) is not None:
            self._known_system(message, frame)
        else:
            self._scribe.unknown(msgspec.json.decode(frame))

    def _known_system(self, message: AnySystem, frame: bytes) -> None:
        match message:
            case Init():
                self._init(message)
            case Status():
                self._status(message, frame)
            case StateChanged("idle"):
                self._conversation.turns.end_unprompted()
            case StateChanged():
                pass
            case TitleChanged(title):
                self._scribe.uses(title=title)
                self._scribe.status("title", {"title": title}, title)
            case ApiRetry(attempt, max_retries) as retry:
                self.fact("retry", frame, f"attempt {attempt} of {max_retries}: {retry.reason}")
            case LocalCommandOutput(content) | LocalCommand(content):
                if content:
                    self._scribe.system(content)
            case TaskStarted() | TaskProgress() | TaskUpdated() | TaskNotification():
                self._task(message, frame)

    def _task(self, task: AnyTask, frame: bytes) -> None:
        """An update about a sub-agent or a command; only some updates name the call."""
        if task.tool_use_id is not None:
            self._tasks[task.task_id] = task.tool_use_id
            if len(self._tasks) > MAX_CALLS:
                del self._tasks[next(iter(self._tasks))]
        call = self._tasks.get(task.task_id)
        if call and isinstance(task, TaskNotification):
            self._conversation.messages.abandon_of(call)
            self._conversation.calls.abandon_of(call)
        self.fact(
            "task", frame, parent=self._scribe.call_item(self._conversation.calls.key(call)) if call else None
        )

    def fact(self, label: str, frame: bytes, detail: str | None = None, parent: str | None = None) -> None:
        self._scribe.status(label, _payload(frame), detail, parent=parent)

    def _init(self, init: Init) -> None:
        self._conversation.native_id = init.session_id
        self._conversation.turns.begin_unprompted(None)
        facts = Facts(
            init.model,
            init.permissionMode,
            init.cwd,
            init.tools,
            init.mcp_servers,
            init.agents,
            init.claude_code_version,
        )
        self._scribe.uses(model=init.model)
        self._conversation.mcp = {
            server.name: McpState(condition_of(server.status), tools=_tools_of(server.name, init.tools))
            for server in init.mcp_servers
        }
        self._tell(facts)

    def _status(self, status: Status, frame: bytes) -> None:
        if status.permissionMode is not None:
            self._tell(msgspec.structs.replace(self._facts, permissionMode=status.permissionMode))
        if status.status == "compacting" or status.compact_result is not None:
            self.fact("compaction", frame, status.compact_error or status.compact_result or status.status)

    def _tell(self, facts: Facts) -> None:
        """`init` is repeated every turn; report only what changed."""
        if facts != self._facts:
            self._facts = facts
            self._scribe.status("session", msgspec.to_builtins(facts))


def _tools_of(server: str, tools: tuple[str, ...]) -> tuple[str, ...]:
    prefix = f"mcp__{re.sub('[^A-Za-z0-9_-]', '_', server)}__"
    return tuple(tool.removeprefix(prefix) for tool in tools if tool.startswith(prefix))


def _payload(frame: bytes) -> dict[str, Any]:
    """The content of a message, without its envelope."""
    payload = msgspec.json.decode(frame, type=dict[str, Any])
    return {name: value for name, value in payload.items() if name not in ("type", "uuid", "session_id")}
