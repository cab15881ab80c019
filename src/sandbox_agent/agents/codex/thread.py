"""One native thread: a conversation's own, or that of a sub-agent, which is folded into it.

A thread turns the notifications that carry its id into what the scribe is told. Items are kept under
`thread/turn/item`, because models repeat item ids and several threads share one scribe.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ...schema.events import StopReason, Usage
from ...schema.inputs import Attachment, Prompt
from ...schema.items import ContentPart, FileRef, Image, Visibility, arguments_of
from ..diffs import diff_of_hunk_text, diff_of_texts
from ..scribe import Scribe
from .errors import failure_of
from .frames import (
    AgentMessage,
    AudioInput,
    Change,
    CollabAgentToolCall,
    CommandExecution,
    ContextCompaction,
    DynamicToolCall,
    EnteredReviewMode,
    ErrorNotice,
    ExitedReviewMode,
    Fact,
    FileChange,
    FunctionCallOutput,
    HookPrompt,
    ImageGeneration,
    ImageInput,
    ImageView,
    Item,
    ItemCompleted,
    ItemStarted,
    LocalAudioInput,
    LocalImageInput,
    McpProgress,
    McpStatus,
    McpToolCall,
    MentionInput,
    NameUpdated,
    OutputDelta,
    Params,
    Plan,
    PlanUpdated,
    Reasoning,
    SkillInput,
    Sleep,
    SubAgentActivity,
    SummaryDelta,
    TerminalInteraction,
    TextDelta,
    TextInput,
    ThoughtDelta,
    ThreadUsage,
    Tokens,
    TokenUsageUpdated,
    Turn,
    UserInput,
    UserMessage,
    Warned,
    WebSearch,
    item_of,
)

if TYPE_CHECKING:
    from .conversation import CodexConversation

COMMAND_TOOL = "exec_command"
PATCH_TOOL = "apply_patch"
ATTACHED = "Attached file: "


class Thread:
    def __init__(
        self, id: str, conversation: CodexConversation, *, parent: str | None = None, is_agent: bool = False
    ) -> None:
        self.id = id
        self.conversation = conversation
        self.is_agent = is_agent
        """A sub-agent's thread: its turns give no turn events, and its items may outlive the turn."""
        self.parent = parent
        """The item of the call that started the sub-agent."""
        self.running: str | None = None
        """The turn that codex has reported as started and that can be interrupted."""
        self.turn_ids: set[str] = set()
        self.prompts: list[str] = []
        """What we said and codex has not echoed yet."""
        self.started_agents: list[tuple[str, str | None]] = []
        """Sub-agents that were just started: their thread and the item of the call."""
        self.changes: dict[str, tuple[Change, ...]] = {}
        self.mcp_calls: dict[str, McpToolCall] = {}
        self._ended: deque[str] = deque(maxlen=64)
        self._commands: set[str] = set()
        self._left_running: set[str] = set()
        self._occurrences: dict[str, int] = {}
        self._finished: set[str] = set()
        self._failed = False
        self._reviewing = False
        self._total: Tokens | None = None

    @property
    def scribe(self) -> Scribe:
        return self.conversation.scribe

    def key(self, turn_id: str | None, item_id: str) -> str:
        """The scribe's key of an item. An id that the model uses again in one turn gets a new one."""
        key = f"{self.id}/{turn_id}/{item_id}"
        again = self._occurrences.get(key, 0)
        return f"{key}#{again + 1}" if again else key

    # -- turns --------------------------------------------------------------------------------

    def know_turn(self, turn_id: str) -> None:
        """Codex has taken a prompt and named the turn, which is not running yet."""
        if turn_id not in self._ended:
            self.turn_ids.add(turn_id)

    def start_turn(self, turn: Turn) -> None:
        self.running = turn.id
        self.turn_ids.add(turn.id)
        if turn.root_turn_id and not self.is_agent:
            # A review starts under one id and ends under the other.
            self.turn_ids.add(turn.root_turn_id)
        if not self.is_agent:
            self.scribe.start_turn(source="agent")

    def end_turn(self, turn: Turn) -> bool:
        """False when this is not the end of the turn that runs."""
        if self.turn_ids and turn.id not in self.turn_ids:
            return False
        if turn.status == "failed" and not self._failed:
            self._tell_failure(turn)
        if turn.status == "completed":
            self._leave_commands_running()
        if self.is_agent:
            self._close_items()
        else:
            reason = _stop_reason(turn)
            self.scribe.end_turn(reason, self.conversation.take_usage(), duration_ms=turn.duration_ms)
        self._ended.extend({turn.id, *self.turn_ids})
        self.running = None
        self.turn_ids.clear()
        self.changes.clear()
        self.mcp_calls.clear()
        self._commands.clear()
        self._occurrences.clear()
        self._finished.clear()
        self._failed = self._reviewing = False
        return True

    def _tell_failure(self, turn: Turn) -> None:
        if turn.error is None:
            self.scribe.error("the turn failed", "agent_error")
            return
        failure = failure_of(turn.error)
        self.scribe.error(failure.message, failure.code, failure.details)

    def _leave_commands_running(self) -> None:
        for key in self._commands:
            if self.scribe.has_open_call(key):
                self.scribe.start_result(key)
                self.scribe.keep_running(key)
                self._left_running.add(key)

    def _close_items(self) -> None:
        """A sub-agent is done: fail what it leaves open, but for commands that go on."""
        self._abandon_texts()
        for key in self.scribe.open_call_keys():
            if key.startswith(f"{self.id}/") and key not in self._left_running:
                self.scribe.result(key, "", failed=True, source="daemon")

    def _abandon_texts(self) -> None:
        for key in self.scribe.open_text_keys():
            if key.startswith(f"{self.id}/"):
                self.scribe.abandon(key)

    def is_in_turn(self, turn_id: str | None) -> bool:
        """Whether something of this turn may be told; an agent that began by itself opens the turn so."""
        if turn_id in self._ended:
            return False
        if self.is_agent or self.scribe.turn is not None:
            return True
        if turn_id is None:
            return False
        self.turn_ids.add(turn_id)
        self.scribe.start_turn(source="agent")
        return True

    # -- notifications ------------------------------------------------------------------------

    def hear(self, note: Params, payload: Raw) -> None:
        match note:
            case ItemStarted(turn_id=turn_id, item=raw):
                self._hear_item(turn_id, raw, completed=False)
            case ItemCompleted(turn_id=turn_id, item=raw):
                self._hear_item(turn_id, raw, completed=True)
            case TextDelta(turn_id=turn_id, item_id=item_id, delta=delta):
                self._text(turn_id, item_id, delta)
            case SummaryDelta(turn_id=turn_id, item_id=item_id, delta=delta, summary_index=index):
                self._think(turn_id, item_id, f"summary/{index}", delta)
            case ThoughtDelta(turn_id=turn_id, item_id=item_id, delta=delta, content_index=index):
                self._think(turn_id, item_id, f"content/{index}", delta)
            case OutputDelta(turn_id=turn_id, item_id=item_id, delta=delta):
                self._preview(turn_id, item_id, delta)
            case McpProgress(turn_id=turn_id, item_id=item_id, message=message) if message:
                self._preview(turn_id, item_id, f"{message}\n")
            case TerminalInteraction(stdin=stdin) if stdin:
                self.status("terminal_input", {"stdin": stdin})
            case ErrorNotice():
                self._hear_error(note)
            case TokenUsageUpdated(turn_id=turn_id, token_usage=usage):
                self._count(turn_id, usage)
            case PlanUpdated(explanation=explanation, plan=plan):
                self.status("plan", {"explanation": explanation, "plan": plan})
            case NameUpdated(thread_name=name) if name and not self.is_agent:
                self.status("title", {"title": name}, name)
            case Warned(message=message):
                self.scribe.system(message, parent=self.parent)
            case McpStatus(name=name, status=status, error=error) if status != "starting":
                self.status("mcp", {"name": name, "status": status, "error": error}, error)
            case Fact():
                self.status(note.LABEL, msgspec.json.decode(payload))

    def status(self, label: str, payload: Any, detail: str | None = None) -> None:
        self.scribe.status(label, payload, detail, parent=self.parent)

    def _hear_error(self, note: ErrorNotice) -> None:
        failure = failure_of(note.error)
        if note.will_retry:
            # Each attempt streams a new message; the old one never completes.
            self._abandon_texts()
            self.status("retry", {"message": failure.message, **failure.details}, failure.message)
        elif not self._failed:
            self._failed = True
            self.scribe.error(failure.message, failure.code, failure.details)

    def _count(self, turn_id: str | None, usage: ThreadUsage) -> None:
        before, self._total = self._total, usage.total
        if before is None and self.conversation.went_on:
            if turn_id not in self.turn_ids:
                return  # a resumed thread repeats where it stood
            before = _minus(usage.total, usage.last)
        if before == usage.total:
            return
        spent = _minus(usage.total, before or Tokens())
        if spent.input_tokens or spent.output_tokens:
            # A full context window is told as a total without any parts: nothing was spent then.
            self.conversation.spend(spent)
        self.status("usage", msgspec.to_builtins(usage))

    # -- items --------------------------------------------------------------------------------

    def _hear_item(self, turn_id: str | None, raw: Raw, *, completed: bool) -> None:
        item = item_of(raw)
        if item is None:
            self.scribe.unknown(msgspec.json.decode(raw))
            return
        if self._tell_fact(item, completed=completed):
            return
        key = self.key(turn_id, item.id)
        if not self.scribe.has_open_call(key) and not self.is_in_turn(turn_id):
            return
        if not completed and key in self._finished:
            base = f"{self.id}/{turn_id}/{item.id}"
            self._occurrences[base] = self._occurrences.get(base, 0) + 1
            key = self.key(turn_id, item.id)
        if completed:
            self._complete(key, item)
            self._finished.add(key)
        else:
            self._begin(key, item)

    def _tell_fact(self, item: Item, *, completed: bool) -> bool:
        """Items that are neither said nor done; they may stand outside a turn."""
        match item:
            case ContextCompaction():
                self.status("compaction", {"state": "completed" if completed else "started"})
            case Sleep(duration_ms=duration):
                if not completed:
                    self.status("sleep", {"durationMs": duration})
            case HookPrompt(fragments=fragments):
                if completed:
                    self.status("injected", {"fragments": fragments})
            case EnteredReviewMode(review=review):
                self._reviewing = True
                if completed:
                    self.status("review", {"state": "entered", "review": review}, review)
            case ExitedReviewMode(review=review):
                self._reviewing = False
                if completed:
                    self.status("review", {"state": "exited", "review": review})
            case SubAgentActivity(kind=kind, agent_thread_id=agent) if kind != "started":
                if completed:
                    parent = self.conversation.call_of_agent(agent) or self.parent
                    payload = {"kind": kind, "agentThreadId": agent, "agentPath": item.agent_path}
                    self.scribe.status("subagent", payload, kind, native_id=item.id, parent=parent)
            case _:
                return False
        return True

    def _begin(self, key: str, item: Item) -> None:
        match item:
            case UserMessage():
                # What the user says in the middle of a turn stops the message that is being streamed.
                self._abandon_texts()
            case CommandExecution():
                self._commands.add(key)
                self._call(key, item, _command_tool(item.source), _command_input(item))
            case FileChange(changes=changes):
                self.changes[key] = changes
                self._call(key, item, PATCH_TOOL, patch_input(changes))
            case McpToolCall():
                self.mcp_calls[key] = item
                self._call(key, item, item.name, item.arguments)
            case DynamicToolCall():
                self._call(key, item, _qualified(item.namespace, item.tool), item.arguments)
            case CollabAgentToolCall():
                self._call(key, item, item.tool, _agent_input(item))
            case SubAgentActivity():
                self._start_agent(key, item)
            case WebSearch():
                # The query is told only at the end.
                self.scribe.call(
                    key,
                    "web_search",
                    call_id=item.id,
                    native_id=item.id,
                    parent=self.parent,
                    outlives_turn=self.is_agent,
                )
            case ImageView(path=path):
                self._call(key, item, "view_image", {"path": path})
            case ImageGeneration(revised_prompt=prompt):
                self._call(key, item, "image_generation", {"prompt": prompt})

    def _complete(self, key: str, item: Item) -> None:
        match item:
            case UserMessage():
                self._hear_user(item)
            case AgentMessage(text=text) | Plan(text=text):
                self.scribe.end_text(
                    key, text, native_id=item.id, parent=self.parent, outlives_turn=self.is_agent
                )
            case Reasoning():
                self._end_thinking(key, item)
            case CommandExecution(status=status):
                self._begin(key, item)
                self._commands.discard(key)
                self._left_running.discard(key)
                output = item.aggregated_output or ("declined" if status == "declined" else "")
                self.scribe.result(key, output, exit_code=item.exit_code, failed=status != "completed")
            case FileChange(changes=changes, status=status):
                self._begin(key, item)
                self.changes.pop(key, None)
                made = status == "completed"
                output = "\n".join(f"{change.kind.type} {change.path}" for change in changes)
                files = [file_ref(change) for change in changes] if made else []
                self.scribe.result(key, output if made else status, extra=files, failed=not made)
            case McpToolCall(status=status):
                self._begin(key, item)
                self.mcp_calls.pop(key, None)
                output, images = self._mcp_output(item)
                self.scribe.result(key, output, extra=images, failed=status != "completed")
            case DynamicToolCall(status=status):
                self._begin(key, item)
                output, images = self._content(item.content_items or ())
                failed = status != "completed" or item.success is False
                self.scribe.result(key, output, extra=images, failed=failed)
            case CollabAgentToolCall(status=status):
                self._begin(key, item)
                states = "" if not item.agents_states else arguments_of(item.agents_states)
                self.scribe.result(key, states, failed=status != "completed")
                call = self.scribe.call_item(key)
                self.started_agents += [(agent, call) for agent in item.receiver_thread_ids]
            case SubAgentActivity():
                self._start_agent(key, item)
                self.scribe.result(key, item.agent_path or item.agent_thread_id)
            case FunctionCallOutput(name=name, namespace=namespace, output=answer):
                self._call(key, item, _qualified(namespace, name), {})
                parts = answer if isinstance(answer, list) else (answer,)
                output, images = self._content(tuple(parts))
                self.scribe.result(key, output, extra=images)
            case WebSearch(query=query, action=action, results=results):
                self._call(key, item, "web_search", {"query": query, "action": action})
                self.scribe.result(key, "" if results is None else arguments_of(results))
            case ImageView(path=path):
                self._begin(key, item)
                self.scribe.result(key, path, extra=(FileRef(path, "read"),))
            case ImageGeneration():
                self._begin(key, item)
                failed = item.failure is not None or item.status == "failed"
                self.scribe.result(key, item.saved_path or "", extra=self._made_image(item), failed=failed)

    def _call(self, key: str, item: Item, name: str, arguments: Any) -> None:
        self.scribe.end_call(
            key,
            name,
            arguments_of({} if arguments is None else arguments),
            call_id=item.id,
            native_id=item.id,
            parent=self.parent,
            outlives_turn=self.is_agent,
        )

    def open_command(self, turn_id: str | None, item_id: str, command: str, cwd: str | None) -> str:
        """The key of a command's call; codex may ask about it before it tells the item."""
        key = self.key(turn_id, item_id)
        self._begin(key, CommandExecution(id=item_id, command=command, cwd=cwd))
        return key

    def open_mcp_call(self, server: str) -> str | None:
        """The key of the call that an MCP server's request is about: the last one that is open on it."""
        calls = [key for key, call in self.mcp_calls.items() if call.server == server]
        return calls[-1] if calls else None

    def _start_agent(self, key: str, item: SubAgentActivity) -> None:
        arguments = {
            "agentPath": item.agent_path,
            "model": item.model,
            "reasoningEffort": item.reasoning_effort,
        }
        self._call(key, item, "spawn_agent", arguments)
        self.started_agents.append((item.agent_thread_id, self.scribe.call_item(key)))

    def _hear_user(self, item: UserMessage) -> None:
        said = self.conversation.read_input(item.content)
        if said.text in self.prompts:
            self.prompts.remove(said.text)
        elif self._reviewing:
            self.status("injected", {"text": said.text})
        elif not self.is_agent and (said.text or said.attachments):
            # Somebody else typed into the same thread.
            self.scribe.user_message(said.text, said.attachments, native_id=item.id, source="agent")

    # -- text, thinking, output ---------------------------------------------------------------

    def _text(self, turn_id: str | None, item_id: str, delta: str) -> None:
        if self.is_in_turn(turn_id):
            key = self.key(turn_id, item_id)
            self.scribe.text(key, delta, native_id=item_id, parent=self.parent, outlives_turn=self.is_agent)

    def _think(self, turn_id: str | None, item_id: str, part: str, delta: str) -> None:
        if self.is_in_turn(turn_id):
            self.scribe.text(
                f"{self.key(turn_id, item_id)}/{part}",
                delta,
                native_id=item_id,
                parent=self.parent,
                thinking="public" if part.startswith("summary") else "private",
                outlives_turn=self.is_agent,
            )

    def _end_thinking(self, key: str, item: Reasoning) -> None:
        for index, text in enumerate(item.summary):
            self._end_thought(f"{key}/summary/{index}", item.id, text, "public")
        for index, text in enumerate(item.content):
            self._end_thought(f"{key}/content/{index}", item.id, text, "private")
        for open_key in self.scribe.open_text_keys():
            # A part that was streamed and is not among the final ones.
            if open_key.startswith(f"{key}/"):
                self.scribe.end_text(open_key)

    def _end_thought(self, key: str, item_id: str, text: str, visibility: Visibility) -> None:
        self.scribe.end_text(
            key,
            text,
            native_id=item_id,
            parent=self.parent,
            thinking=visibility,
            outlives_turn=self.is_agent,
        )

    def _preview(self, turn_id: str | None, item_id: str, delta: str) -> None:
        key = self.key(turn_id, item_id)
        if not self.scribe.has_open_call(key):
            if not self.is_in_turn(turn_id):
                return
            self.scribe.call(
                key,
                COMMAND_TOOL,
                call_id=item_id,
                native_id=item_id,
                parent=self.parent,
                outlives_turn=self.is_agent,
                source="daemon",
            )
        self.scribe.result_delta(key, delta)

    def _mcp_output(self, item: McpToolCall) -> tuple[str, list[Image]]:
        if item.error is not None:
            return item.error.message, []
        if item.result is None:
            return "", []
        output, images = self._content(item.result.content)
        if not output and item.result.structured_content is not None:
            output = arguments_of(item.result.structured_content)
        return output, images

    def _content(self, parts: tuple[Any, ...]) -> tuple[str, list[Image]]:
        """Text and images of a tool's answer, as MCP, the model API and codex itself spell them."""
        texts: list[str] = []
        images: list[Image] = []
        for part in parts:
            match part:
                case str(text) | {"text": str(text)}:
                    texts.append(text)
                case {"type": "image", "data": str(data), "mimeType": str(mime)}:
                    images += self._image(data, mime)
                case {"imageUrl": str(url)} | {"image_url": str(url)}:
                    images += self._image_at(url)
                case None:
                    pass
                case _:
                    texts.append(arguments_of(part))
        return "\n".join(texts), images

    def _made_image(self, item: ImageGeneration) -> list[ContentPart]:
        made: list[ContentPart] = [*self._image(item.result, "image/png")] if item.result else []
        if item.saved_path:
            made.append(FileRef(item.saved_path, "write"))
        return made

    def _image_at(self, url: str) -> list[Image]:
        return self.conversation.stored(url) or [Image(url)]

    def _image(self, data: str, mime: str) -> list[Image]:
        return self.conversation.stored(f"data:{mime};base64,{data}")


def image_of_data_url(scribe: Scribe, url: str) -> list[Image]:
    """An image that is told inline, stored; nothing where it is not one."""
    found = re.fullmatch(r"data:([\w.+/-]+);base64,(.*)", url, re.DOTALL)
    if not found:
        return []
    try:
        return [scribe.image(base64.b64decode(found[2]), found[1])]
    except (binascii.Error, ValueError):
        return []


def prompt_of(scribe: Scribe, content: tuple[UserInput, ...]) -> Prompt:
    """What a user said, as codex spells it."""
    texts: list[str] = []
    files: list[Attachment] = []
    for part in content:
        match part:
            case TextInput(text=text) if text.startswith(ATTACHED):
                files.append(Attachment(text.removeprefix(ATTACHED)))
            case TextInput(text=text):
                texts.append(text)
            case LocalImageInput(path=path) | LocalAudioInput(path=path):
                files.append(Attachment(path))
            case SkillInput(path=path, name=name) | MentionInput(path=path, name=name):
                files.append(Attachment(path, filename=name))
            case ImageInput(url=url, file_id=file_id):
                stored = image_of_data_url(scribe, url or "")
                files += [Attachment(image.path, image.mime) for image in stored]
                if not stored:
                    files.append(Attachment(url or file_id or "", "image/*"))
            case AudioInput():
                files.append(Attachment("audio", "audio/*"))
    return Prompt("\n".join(texts), tuple(files))


def file_ref(change: Change) -> FileRef:
    path, to, diff = change.path, change.kind.move_path, diff_of(change) or None
    match change.kind.type:
        case "add":
            return FileRef(path, "write", diff=diff)
        case "delete":
            return FileRef(path, "delete", diff=diff)
    return FileRef(path, "move", to, diff) if to else FileRef(path, "patch", diff=diff)


def diff_of(change: Change) -> str:
    """A unified diff; codex gives the bare content of files that it adds or deletes, else hunks without names."""
    match change.kind.type:
        case "add":
            return diff_of_texts(change.path, None, change.diff)
        case "delete":
            return diff_of_texts(change.path, change.diff, None)
    hunks = change.diff
    if change.kind.move_path:
        hunks = hunks.removesuffix(f"\n\nMoved to: {change.kind.move_path}")
    return diff_of_hunk_text(change.path, hunks, change.kind.move_path)


def patch_input(changes: tuple[Change, ...]) -> Any:
    return {"changes": msgspec.to_builtins(changes)}


def _command_tool(source: str) -> str:
    return "write_stdin" if source == "unifiedExecInteraction" else COMMAND_TOOL


def _command_input(item: CommandExecution) -> Any:
    return {"command": item.command, "cwd": item.cwd}


def _agent_input(item: CollabAgentToolCall) -> Any:
    told = {
        "prompt": item.prompt,
        "model": item.model,
        "reasoningEffort": item.reasoning_effort,
        "receiverThreadIds": item.receiver_thread_ids,
    }
    return {name: value for name, value in told.items() if value}


def _qualified(namespace: str | None, tool: str) -> str:
    return f"{namespace}.{tool}" if namespace else tool


def _stop_reason(turn: Turn) -> StopReason:
    match turn.status:
        case "interrupted":
            return "interrupted"
        case "failed":
            return failure_of(turn.error).stop_reason if turn.error else "error"
    return "end_turn"


def _minus(after: Tokens, before: Tokens) -> Tokens:
    pairs = zip(msgspec.structs.astuple(after), msgspec.structs.astuple(before), strict=True)
    names = Tokens.__struct_fields__
    return Tokens(**dict(zip(names, (max(0, a - b) for a, b in pairs), strict=True)))


def usage_of(tokens: Tokens) -> Usage:
    return Usage(
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cached_input_tokens,
        tokens.cache_write_input_tokens,
        tokens.reasoning_output_tokens,
    )
