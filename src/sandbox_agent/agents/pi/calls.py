"""The calls of a conversation with Pi and their results. Models repeat ids, so calls have keys of our own."""

from __future__ import annotations

import itertools

from msgspec import Struct

from ...schema.items import arguments_of
from ..base import Conversation
from ..lenient import convert
from ..titles import title_of_call
from . import frames as pi
from .reading import image_of, or_empty
from .tools import added, changes_of, exit_code_of, kind_of

NOT_AWAITED = "the agent did not wait for the answer"


class Running(Struct):
    """A call that is being executed: what `tool_execution_end` does not repeat, and how much output we have
    shown.
    """

    arguments: pi.ToolArguments
    shown: str = ""


class Calls:
    def __init__(self, conversation: Conversation) -> None:
        self.dialogs: dict[str, pi.Dialog] = {}
        """Dialogs of extensions that wait for an answer."""
        self._conversation = conversation
        self._scribe = conversation.scribe
        self._keys: dict[str, list[str]] = {}  # of calls without a result, by Pi's id
        self._running: dict[str, Running] = {}
        self._asking: dict[str, str] = {}  # key -> the dialog that the call waits for

    def clear(self) -> None:
        """The turn is over."""
        for open_ones in (self.dialogs, self._keys, self._running, self._asking):
            open_ones.clear()

    def key_of(self, native_id: str) -> str | None:
        return next(iter(self._keys.get(native_id, ())), None)

    def announce(self, native_id: str, otherwise: str, name: str, parent: str | None) -> str:
        """Begin a call; returns its key, made from `otherwise` while Pi has sent no id."""
        key = self._new_key(native_id or otherwise)
        self._keys.setdefault(native_id, []).append(key)
        self._scribe.call(key, name, kind=kind_of(name), call_id=native_id or None, parent=parent)
        return key

    def end_call(self, key: str, call: pi.Block) -> None:
        """The arguments are complete."""
        waiting = self._keys.setdefault(call.id, [])
        if key not in waiting and self._scribe.has_open_call(key):
            waiting.append(key)  # its id was unknown when it was announced
        self._complete(key, call.name, call.arguments)

    def give_up(self, key: str) -> None:
        """The call will never run."""
        self._scribe.abandon_call(key)
        for waiting in self._keys.values():
            if key in waiting:
                waiting.remove(key)

    def wait_for(self, key: str | None, dialog: pi.Dialog) -> None:
        if key is not None:
            self._asking[key] = dialog.id

    # -- execution

    def start(self, start: pi.ToolStart) -> None:
        key = self.key_of(start.tool_call_id) or self._nested(start)
        self._complete(key, start.tool_name, start.args)
        self._scribe.start_result(key)
        self._running[key] = Running(convert(start.args, pi.ToolArguments) or pi.ToolArguments())

    def update(self, update: pi.ToolUpdate) -> None:
        key = self.key_of(update.tool_call_id)
        if key and (running := self._running.get(key)):
            text = update.partial_result.text
            self._scribe.result_delta(key, added(running.shown, text))
            running.shown = text

    def end(self, end: pi.ToolEnd) -> None:
        key = self.key_of(end.tool_call_id)
        if key is None:
            key = self._nested(pi.ToolStart(end.tool_call_id, end.tool_name))
        self._keys[end.tool_call_id].remove(key)
        running = self._running.pop(key, Running(pi.ToolArguments()))
        if dialog := self._asking.pop(key, None):
            self.dialogs.pop(dialog, None)
            self._scribe.withdraw(dialog, "agent", NOT_AWAITED, source="agent")
        extra = [] if end.is_error else changes_of(end, running.arguments)
        extra += [image for block in end.result.content if (image := image_of(self._conversation, block))]
        self._scribe.result(
            key, end.result.text, exit_code=exit_code_of(end), extra=extra, failed=end.is_error
        )

    # -- helpers

    def _complete(self, key: str, name: str, arguments: object) -> None:
        given = or_empty(arguments)
        self._scribe.end_call(
            key,
            name,
            arguments_of(given),
            kind=kind_of(name),
            title=title_of_call(name, given, kind_of(name)),
        )

    def _nested(self, start: pi.ToolStart) -> str:
        """A call that no message announced: a tool made it, as `codemode` does."""
        by = self.key_of(start.parent_tool_call_id or "")
        parent = self._scribe.call_item(by) if by else None
        return self.announce(start.tool_call_id, start.tool_call_id, start.tool_name, parent)

    def _new_key(self, native_id: str) -> str:
        for n in itertools.count(1):
            key = native_id if n == 1 else f"{native_id}#{n}"
            if self._scribe.call_item(key) is None:
                return key
        raise AssertionError("unreachable: counting never ends")
