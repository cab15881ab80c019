"""Tool calls and their results: every call is told once and gets one result."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterable

from ...schema.events import ItemDelta, ItemStarted, Source
from ...schema.ids import MakeId
from ...schema.items import ContentPart, Image, ItemStatus
from .messages import Messages
from .open_items import OpenCall


class Tools(Messages):
    def __init__(
        self,
        make_id: MakeId,
        clock: Callable[[], float],
        used_call_ids: Iterable[str] = (),
        image_folder: str = "",
    ) -> None:
        super().__init__(make_id, clock)
        self.blobs: dict[str, bytes] = {}
        """Images to store beside the log before the drafts that name them."""
        self.new_call_ids: list[str] = []
        self._image_folder = image_folder
        self._used_call_ids = set(used_call_ids)
        self._calls: dict[str, OpenCall] = {}

    def call(
        self,
        key: str,
        name: str,
        *,
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """Begin a tool call whose arguments are not final yet. Returns its item id; a second time changes nothing."""
        if key in self._calls or key in self._closed:
            return self.call_item(key)
        unique = self._unique_call_id(call_id or key)
        opened = OpenCall(
            self._make_id("itm"), native_id or call_id or key, parent, name, unique, outlives_turn
        )
        self._calls[key] = opened
        self._write(ItemStarted(opened.call_item("in_progress", "")), source)
        return opened.item_id

    def call_delta(self, key: str, fragment: str) -> None:
        """Stream a fragment of the arguments."""
        call = self._calls.get(key)
        if call and not call.completed and fragment:
            call.chunks.append(fragment)
            self._write(ItemDelta(call.item_id, call.native_id, fragment), "agent")

    def end_call(
        self,
        key: str,
        name: str,
        arguments: str,
        *,
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """The arguments are final: complete the call, beginning it first if it was not announced."""
        self.call(
            key,
            name,
            call_id=call_id,
            native_id=native_id,
            parent=parent,
            outlives_turn=outlives_turn,
            source=source,
        )
        call = self._calls.get(key)
        if call is None or call.completed:
            return self.call_item(key)
        call.name = name
        self._complete_call(call, "completed", arguments, source)
        return call.item_id

    def result_delta(self, key: str, fragment: str) -> None:
        """Stream a preview of a call's output."""
        call = self._calls.get(key)
        if call and fragment:
            self._start_result(call, "agent")
            call.chunks.append(fragment)
            assert call.result_id is not None
            self._write(ItemDelta(call.result_id, call.native_id, fragment), "agent")

    def start_result(self, key: str) -> None:
        """The tool runs: open its result, so that readers see it before there is output."""
        if call := self._calls.get(key):
            self._start_result(call, "agent")

    def result(
        self,
        key: str,
        output: str,
        *,
        exit_code: int | None = None,
        extra: Iterable[ContentPart] = (),
        failed: bool = False,
        source: Source = "agent",
    ) -> None:
        """A call's outcome. A result without a call we know opens a stub call first; a second one is ignored.

        A command that ended with another code than 0 has failed on every agent: some say so, some tell only the code.
        """
        if key in self._closed:
            return
        if key not in self._calls:
            self.end_call(key, "unknown", "{}", source="daemon")
        call = self._calls.pop(key)
        self._start_result(call, source)
        status: ItemStatus = "failed" if failed or exit_code else "completed"
        self._complete(call.result_item(status, output, exit_code, tuple(extra)), source)
        self._closed[key] = call.item_id

    def keep_running(self, key: str) -> None:
        """The agent carries this call on in the background: its result may come after the turn."""
        if call := self._calls.get(key):
            self._start_result(call, "agent")  # only what began in the turn may end after it
            call.outlives_turn = True

    def call_item(self, key: str) -> str | None:
        """The item id of a call, open or complete: the parent of what a sub-agent does."""
        call = self._calls.get(key)
        return call.item_id if call else self._closed.get(key)

    def has_open_call(self, key: str) -> bool:
        return key in self._calls

    def open_call_keys(self) -> list[str]:
        return list(self._calls)

    def image(self, data: bytes, mime: str) -> Image:
        """An image that the agent made, to be stored as an attachment of the session."""
        suffix = mimetypes.guess_extension(mime) or ""
        name = hashlib.sha256(data).hexdigest()[:24] + suffix
        self.blobs[name] = data
        return Image(self._image_folder + name, mime)

    def abandon_call(self, key: str) -> None:
        """The agent gave this call up (retry, interrupt): its result fails, and so does a call that was not final."""
        if call := self._calls.get(key):
            if not call.completed:
                self._complete_call(call, "failed", "".join(call.chunks), "daemon")
            self.result(key, "".join(call.chunks), failed=True, source="daemon")

    def _complete_call(self, call: OpenCall, status: ItemStatus, arguments: str, source: Source) -> None:
        call.completed = True
        call.chunks = []
        self._complete(call.call_item(status, arguments), source)

    def _start_result(self, call: OpenCall, source: Source) -> None:
        if not call.completed:
            # The tool ran, so the arguments that were streamed are all there is.
            self._complete_call(call, "completed", "".join(call.chunks) or "{}", "daemon")
        if call.result_id is None:
            call.result_id = self._make_id("itm")
            self._write(ItemStarted(call.result_item("in_progress", "", None, ())), source)

    def _call_id(self, key: str | None) -> str | None:
        """The call id a reader knows a call by; what the agent calls it while we have not seen the call."""
        call = self._calls.get(key) if key else None
        return call.call_id if call else key

    def _unique_call_id(self, call_id: str) -> str:
        """Models repeat call ids; within a session ours do not."""
        unique, n = call_id, 1
        while unique in self._used_call_ids:
            n += 1
            unique = f"{call_id}#{n}"
        self._used_call_ids.add(unique)
        self.new_call_ids.append(unique)
        return unique
