"""Tool calls of Claude and its sub-agents, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct

from ...schema.items import ContentPart, arguments_of
from ..files import bytes_in
from . import todos
from .blocks import decoded
from .frames import AnyToolResult, AnyToolUse, ImageBlock, TextBlock
from .tools import command_of, exit_code_of, file_ref_of, kind_of_use, path_of, plan_of, title_of_use

if TYPE_CHECKING:
    from .conversation import ClaudeConversation

MAX_CALLS = 10_000
"""How many calls of a process we remember by Claude's ids."""


class Call(Struct):
    """A tool call, by the agent's id."""

    key: str
    name: str
    message: str
    owner: str | None = None
    """The id of the call that started the sub-agent that makes this one."""
    path: str | None = None
    plan: str | None = None
    todo: Any = None
    """The arguments, if the tool changes the to-do list."""


class Calls:
    def __init__(self, conversation: ClaudeConversation) -> None:
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._calls: dict[str, Call] = {}
        self._todos = todos.Todos(conversation.scribe)

    def begin(self, owner: str | None, message_id: str, text_item: str | None, use: AnyToolUse) -> str:
        """A call whose arguments are being streamed. Returns its key."""
        call = self._new(owner, message_id, use)
        self._scribe.call(
            call.key,
            use.name,
            kind=kind_of_use(use),
            call_id=use.id,
            parent=text_item if owner is None else self.parent(owner),
            outlives_turn=owner is not None,
        )
        return call.key

    def finish(self, owner: str | None, message_id: str, text_item: str | None, use: AnyToolUse) -> str:
        """The arguments are final. Returns the call's key."""
        call = self._calls.get(use.id)
        if call is None or call.message != message_id:
            call = self._new(owner, message_id, use)
        call.path, call.plan = path_of(use.input), plan_of(use.input)
        call.todo = use.input if use.name in todos.TOOLS else None
        self._scribe.end_call(
            call.key,
            use.name,
            arguments_of({} if use.input is None else use.input),
            kind=kind_of_use(use),
            title=title_of_use(use),
            call_id=use.id,
            parent=text_item if owner is None else self.parent(owner),
            outlives_turn=owner is not None,
        )
        return call.key

    def result(self, owner: str | None, block: AnyToolResult, details: Raw) -> None:
        call = self._calls.get(block.tool_use_id) or Call(block.tool_use_id, "unknown", "")
        if self._scribe.call_item(call.key) is None:
            self._conversation.turns.begin_unprompted(owner)
            parent = self.parent(owner)
            self._scribe.end_call(
                call.key, "unknown", "{}", parent=parent, outlives_turn=owner is not None, source="daemon"
            )
        failed = bool(block.is_error)
        output, extra = self._output(block.content)
        if not failed and (changed := file_ref_of(call.name, call.path, details)):
            extra.append(changed)
        code = exit_code_of(call.name, output) if failed else None
        if not failed and (ran := command_of(call.name, details)):
            output, code = ran.output(output), ran.exit_code
        self._scribe.result(call.key, output, exit_code=code, extra=extra, failed=failed)
        if not failed and call.todo is not None:
            self._todos.handle(call.name, call.todo, details, self.parent(owner))

    def provider_result(self, owner: str | None, id: str, content: Any) -> None:
        failed = isinstance(content, dict) and str(content.get("type", "")).endswith("_error")
        self.parent(owner)
        if self._scribe.call_item(self.key(id)) is None:
            self._conversation.turns.begin_unprompted(None)
        self._scribe.result(self.key(id), arguments_of(content), failed=failed)

    def parent(self, owner: str | None) -> str | None:
        """The item of the call that started a sub-agent; a stub if we have not seen it."""
        if owner is None:
            return None
        key = self.key(owner)
        if (item := self._scribe.call_item(key)) is not None:
            return item
        self._conversation.turns.begin_unprompted(None)
        return self._scribe.end_call(key, "Agent", "{}", kind="task", source="daemon")

    def key(self, id: str) -> str:
        call = self._calls.get(id)
        return call.key if call else id

    def plan(self, id: str | None) -> str | None:
        """The plan in a call's arguments."""
        call = self._calls.get(id or "")
        return call.plan if call else None

    def fresh(self, base: str) -> str:
        """A key that is new to the session: models repeat ids, and a session outlives its processes."""
        key, n = base, 1
        while self._scribe.call_item(key) is not None or self._scribe.text(key, "") is not None:
            n += 1
            key = f"{base}#{n}"
        return key

    def abandon_of(self, owner: str) -> None:
        """A sub-agent has ended. If it was stopped, its open calls get no result."""
        for call in self._calls.values():
            if call.owner == owner:
                self._scribe.abandon(call.key)

    def _new(self, owner: str | None, message_id: str, use: AnyToolUse) -> Call:
        call = self._calls[use.id] = Call(self.fresh(use.id), use.name, message_id, owner)
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]
        return call

    def _output(self, content: str | list[Raw] | None) -> tuple[str, list[ContentPart]]:
        if content is None or isinstance(content, str):
            return content or "", []
        texts: list[str] = []
        images: list[ContentPart] = []
        for block, raw in decoded(content):
            match block:
                case TextBlock(text):
                    texts.append(text)
                case ImageBlock(source) if (data := bytes_in(source.data)) is not None:
                    images.append(self._scribe.image(data, source.media_type))
                case _:
                    texts.append(bytes(raw).decode())
        return "\n".join(texts), images
