"""Passes the items of one thread to the scribe.

Items are kept under `thread/turn/item`, because models repeat item ids and several threads share one scribe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ...schema.events import Source
from ...schema.items import FileRef, ToolKind, Visibility, arguments_of
from .changes import file_ref, overwritten
from .contents import content_of, made_image, mcp_output
from .frames import (
    AgentMessage,
    Change,
    CollabAgentToolCall,
    CommandExecution,
    ContextCompaction,
    DynamicToolCall,
    EnteredReviewMode,
    ExitedReviewMode,
    FileChange,
    FunctionCallOutput,
    HookPrompt,
    ImageGeneration,
    ImageView,
    Item,
    McpToolCall,
    Plan,
    Reasoning,
    Sleep,
    SubAgentActivity,
    UserMessage,
    WebSearch,
    item_of,
)
from .prompts import prompt_of
from .tools import COMMAND_TOOL, KINDS, Tool, tool_of

if TYPE_CHECKING:
    from .thread import Thread


class Items:
    def __init__(self, thread: Thread) -> None:
        self.changes: dict[str, tuple[Change, ...]] = {}
        """The changes of open patches, by key."""
        self.mcp_calls: dict[str, McpToolCall] = {}
        self.started_agents: list[tuple[str, str | None]] = []
        """Sub-agents that were just started: their thread and the item of the call."""
        self.scribe = thread.scribe
        self._thread = thread
        self._commands: set[str] = set()
        self._left_running: set[str] = set()
        self._occurrences: dict[str, int] = {}
        self._finished: set[str] = set()
        self._reviewing = False
        self.compacting = False

    def key(self, turn_id: str | None, item_id: str) -> str:
        """The scribe's key of an item. An id that the model reuses within a turn gets a new key."""
        key = f"{self._thread.id}/{turn_id}/{item_id}"
        again = self._occurrences.get(key, 0)
        return f"{key}#{again + 1}" if again else key

    def handle(self, turn_id: str | None, raw: Raw, *, completed: bool) -> None:
        item = item_of(raw)
        if item is None:
            self.scribe.unknown(msgspec.json.decode(raw))
            return
        if self._tell_fact(item, completed=completed):
            return
        key = self.key(turn_id, item.id)
        if not self.scribe.has_open_call(key) and not self._thread.is_in_turn(turn_id):
            return
        if not completed and key in self._finished:
            base = f"{self._thread.id}/{turn_id}/{item.id}"
            self._occurrences[base] = self._occurrences.get(base, 0) + 1
            key = self.key(turn_id, item.id)
        if completed:
            self._complete(key, item)
            self._finished.add(key)
        else:
            self._begin(key, item)

    # -- the end of a turn --------------------------------------------------------------------

    def has_open_commands(self) -> bool:
        return any(self.scribe.has_open_call(key) for key in self._commands)

    def leave_commands_running(self) -> None:
        for key in self._commands:
            if self.scribe.has_open_call(key):
                self.scribe.start_result(key)
                self.scribe.keep_running(key)
                self._left_running.add(key)

    def close(self) -> None:
        """A sub-agent is done: fail what it leaves open, except commands that keep running."""
        self.abandon_texts()
        for key in self.scribe.open_call_keys():
            if key.startswith(f"{self._thread.id}/") and key not in self._left_running:
                self.scribe.result(key, "", failed=True, source="daemon")

    def abandon_texts(self) -> None:
        for key in self.scribe.open_text_keys():
            if key.startswith(f"{self._thread.id}/"):
                self.scribe.abandon(key)

    def forget(self) -> None:
        """The turn is over: drop its items, except commands that keep running."""
        self.changes.clear()
        self.mcp_calls.clear()
        self._commands.clear()
        self._occurrences.clear()
        self._finished.clear()
        self._reviewing = False
        self.compacting = False

    # -- items --------------------------------------------------------------------------------

    def _tell_fact(self, item: Item, *, completed: bool) -> bool:
        """Items that are neither text nor calls; they may occur outside a turn."""
        status = self._thread.status
        match item:
            case ContextCompaction():
                self.compacting = not completed
                status("compaction", {"state": "completed" if completed else "started"})
            case Sleep(duration_ms=duration):
                if not completed:
                    status("sleep", {"durationMs": duration})
            case HookPrompt(fragments=fragments):
                if completed:
                    status("injected", {"fragments": fragments})
            case EnteredReviewMode(review=review):
                self._reviewing = True
                if completed:
                    status("review", {"state": "entered", "review": review}, review)
            case ExitedReviewMode(review=review):
                self._reviewing = False
                if completed:
                    status("review", {"state": "exited", "review": review})
            case SubAgentActivity(kind=kind, agent_thread_id=agent) if kind != "started":
                if completed:
                    parent = self._thread.conversation.call_of_agent(agent) or self._thread.parent
                    payload = {"kind": kind, "agentThreadId": agent, "agentPath": item.agent_path}
                    self.scribe.status("subagent", payload, kind, native_id=item.id, parent=parent)
            case _:
                return False
        return True

    def _begin(self, key: str, item: Item) -> None:
        match item:
            case UserMessage():
                # A message from the user in the middle of a turn ends the message being streamed.
                self.abandon_texts()
            case CommandExecution():
                self._commands.add(key)
            case FileChange(changes=changes):
                self.changes[key] = changes
            case McpToolCall():
                self.mcp_calls[key] = item
            case WebSearch():
                self._call(key, item.id, "web_search", KINDS[WebSearch])
                return
            case FunctionCallOutput():
                return
        if (tool := tool_of(item)) is not None:
            self._end_call(key, item, tool)
        if isinstance(item, SubAgentActivity):
            self.started_agents.append((item.agent_thread_id, self.scribe.call_item(key)))

    def _complete(self, key: str, item: Item) -> None:
        match item:
            case UserMessage():
                self._handle_user(item)
            case AgentMessage(text=text) | Plan(text=text):
                self._end_text(key, item.id, text)
            case Reasoning():
                self._end_thinking(key, item)
            case _:
                self._begin(key, item)
                if isinstance(item, WebSearch | FunctionCallOutput) and (tool := tool_of(item)):
                    self._end_call(key, item, tool)  # their arguments are known only now
                self._tell_result(key, item)

    def _tell_result(self, key: str, item: Item) -> None:
        scribe = self.scribe
        match item:
            case CommandExecution(status=status):
                self._commands.discard(key)
                self._left_running.discard(key)
                output = item.aggregated_output or ("declined" if status == "declined" else "")
                scribe.result(key, output, exit_code=item.exit_code, failed=status != "completed")
            case FileChange(changes=changes, status=status):
                self.changes.pop(key, None)
                made = status == "completed"
                output = "\n".join(f"{change.kind.type} {change.path}" for change in changes)
                files = [self._file_ref(key, change) for change in changes] if made else []
                scribe.result(key, output if made else status, extra=files, failed=not made)
            case McpToolCall(status=status):
                self.mcp_calls.pop(key, None)
                output, images = mcp_output(scribe, item)
                scribe.result(key, output, extra=images, failed=status != "completed")
            case DynamicToolCall(status=status):
                output, images = content_of(scribe, item.content_items or ())
                failed = status != "completed" or item.success is False
                scribe.result(key, output, extra=images, failed=failed)
            case CollabAgentToolCall(status=status):
                states = "" if not item.agents_states else arguments_of(item.agents_states)
                scribe.result(key, states, failed=status != "completed")
                call = scribe.call_item(key)
                self.started_agents += [(agent, call) for agent in item.receiver_thread_ids]
            case SubAgentActivity():
                scribe.result(key, item.agent_path or item.agent_thread_id)
            case FunctionCallOutput(output=answer):
                parts = answer if isinstance(answer, list) else (answer,)
                output, images = content_of(scribe, tuple(parts))
                scribe.result(key, output, extra=images)
            case WebSearch(results=results):
                scribe.result(key, "" if results is None else arguments_of(results))
            case ImageView(path=path):
                scribe.result(key, path, extra=(FileRef(path, "read"),))
            case ImageGeneration():
                failed = item.failure is not None or item.status == "failed"
                scribe.result(key, item.saved_path or "", extra=made_image(scribe, item), failed=failed)

    def awaits_diff(self, turn_id: str | None, raw: Raw) -> bool:
        """Whether a patch is complete except for the file it overwrote. Only the diff of the turn, which
        comes next, has that.
        """
        item = item_of(raw) if self.changes else None
        if not isinstance(item, FileChange) or item.status != "completed":
            return False
        return any(self._was_seen_late(self.key(turn_id, item.id), change) for change in item.changes)

    def _file_ref(self, key: str, change: Change) -> FileRef:
        written = overwritten(change, self._thread.turn_diff) if self._was_seen_late(key, change) else None
        if written is None:
            return file_ref(change)
        self.scribe.calls.changes.discard(key, change.path)
        return written

    def _was_seen_late(self, key: str, change: Change) -> bool:
        """Whether we may have read the file only after codex had begun to write it."""
        seen = self.scribe.calls.changes.seen(key, change.path) if change.kind.type == "add" else None
        return seen is not None and seen.data is not None and change.diff.encode().startswith(seen.data)

    def _handle_user(self, item: UserMessage) -> None:
        thread = self._thread
        prompt = prompt_of(self.scribe, item.content)
        if prompt.text in thread.prompts:
            thread.prompts.remove(prompt.text)
        elif self._reviewing:
            thread.status("injected", {"text": prompt.text})
        elif not thread.is_agent and (prompt.text or prompt.attachments):
            # Another client typed into the same thread.
            self.scribe.user_message(prompt.text, prompt.attachments, native_id=item.id, source="agent")

    # -- calls --------------------------------------------------------------------------------

    def open_command(self, turn_id: str | None, item_id: str, command: str, cwd: str | None) -> str:
        """The key of a command's call; codex may ask about it before it sends the item."""
        key = self.key(turn_id, item_id)
        self._begin(key, CommandExecution(id=item_id, command=command, cwd=cwd))
        return key

    def open_mcp_call(self, server: str, message: str = "", arguments: Any = None) -> str | None:
        """The key of the call that an MCP server's request is about: the last one open on that server. An approval
        quotes the tool and repeats the arguments.
        """
        calls = {key: call for key, call in self.mcp_calls.items() if call.server == server}
        meant = [
            key
            for key, call in calls.items()
            if f'"{call.tool}"' in message and (call.arguments or {}) == (arguments or {})
        ]
        return next(reversed(meant or list(calls)), None)

    def preview(self, turn_id: str | None, item_id: str, delta: str) -> None:
        """A piece of a call's output. An unknown call is a command."""
        key = self.key(turn_id, item_id)
        if not self.scribe.has_open_call(key):
            if not self._thread.is_in_turn(turn_id):
                return
            self._call(key, item_id, COMMAND_TOOL, "command", source="daemon")
        self.scribe.result_delta(key, delta)

    def _call(self, key: str, item_id: str, name: str, kind: ToolKind, *, source: Source = "agent") -> None:
        self.scribe.call(
            key,
            name,
            kind=kind,
            call_id=item_id,
            native_id=item_id,
            parent=self._thread.parent,
            outlives_turn=self._thread.is_agent,
            source=source,
        )

    def _end_call(self, key: str, item: Item, tool: Tool) -> None:
        self.scribe.end_call(
            key,
            tool.name,
            arguments_of(tool.input),
            kind=tool.kind,
            title=tool.title,
            call_id=item.id,
            native_id=item.id,
            parent=self._thread.parent,
            outlives_turn=self._thread.is_agent,
        )

    # -- text and thinking --------------------------------------------------------------------

    def text(self, turn_id: str | None, item_id: str, delta: str) -> None:
        if self._thread.is_in_turn(turn_id):
            self.scribe.text(
                self.key(turn_id, item_id),
                delta,
                native_id=item_id,
                parent=self._thread.parent,
                outlives_turn=self._thread.is_agent,
            )

    def think(self, turn_id: str | None, item_id: str, part: str, delta: str) -> None:
        if self._thread.is_in_turn(turn_id):
            self.scribe.text(
                f"{self.key(turn_id, item_id)}/{part}",
                delta,
                native_id=item_id,
                parent=self._thread.parent,
                thinking="public" if part.startswith("summary") else "private",
                outlives_turn=self._thread.is_agent,
            )

    def _end_thinking(self, key: str, item: Reasoning) -> None:
        for index, text in enumerate(item.summary):
            self._end_text(f"{key}/summary/{index}", item.id, text, "public")
        for index, text in enumerate(item.content):
            self._end_text(f"{key}/content/{index}", item.id, text, "private")
        for open_key in self.scribe.open_text_keys():
            # A part that was streamed and is not among the final ones.
            if open_key.startswith(f"{key}/"):
                self.scribe.end_text(open_key)

    def _end_text(self, key: str, item_id: str, text: str, thinking: Visibility | None = None) -> None:
        self.scribe.end_text(
            key,
            text,
            native_id=item_id,
            parent=self._thread.parent,
            thinking=thinking,
            outlives_turn=self._thread.is_agent,
        )
