"""Tool calls and their results: every call is written once and gets one result."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterable

from ...schema.events import ItemStarted, Source
from ...schema.items import ContentPart, Image, ItemStatus, ToolKind
from .changes import Changes
from .open_items import CLIENT_KINDS, OpenCall
from .pen import Pen

MAX_TITLE = 200
MAX_CALL_IDS = 50_000
"""How many call ids of a session we remember, so that none is used twice."""


class Calls:
    def __init__(self, pen: Pen, used_call_ids: Iterable[str], image_folder: str) -> None:
        self.open: dict[str, OpenCall] = {}
        self.blobs: dict[str, bytes] = {}
        """Images to store before the drafts that refer to them."""
        self.new_call_ids: list[str] = []
        self.changes = Changes(pen.world)
        self._pen = pen
        self._image_folder = image_folder
        self._used = dict.fromkeys(used_call_ids)
        self.on_complete: Callable[[OpenCall], None] = _ignore
        """Called with each call whose arguments have become final."""

    def call(
        self,
        key: str,
        name: str,
        *,
        kind: ToolKind = "other",
        title: str = "",
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """Begin a tool call whose arguments are not final yet. Returns its item id; repeating it has no
        effect.
        """
        if key in self.open or key in self._pen.closed or self._pen.ended:
            return self.call_item(key)
        unique = self._unique(call_id or key)
        opened = OpenCall(
            self._pen.make_id("itm"),
            native_id or call_id or key,
            parent,
            name,
            unique,
            outlives_turn,
            kind,
            one_line(title),
        )
        self._pen.write(ItemStarted(opened.call_item("in_progress", "")), source)
        self.open[key] = opened
        self._use(unique)
        return opened.item_id

    def call_delta(self, key: str, fragment: str) -> None:
        """Stream a fragment of the arguments."""
        call = self.open.get(key)
        if call and not call.completed and fragment:
            call.chunks.append(fragment)
            self._pen.delta(call.template, fragment, "agent")
            if call.kind == "edit":
                self.changes.expect_streamed(key, call.chunks)

    def end_call(
        self,
        key: str,
        name: str,
        arguments: str,
        *,
        kind: ToolKind = "other",
        title: str = "",
        call_id: str | None = None,
        native_id: str | None = None,
        parent: str | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """The arguments are final: complete the call, and begin it first if it was not announced."""
        self.call(
            key,
            name,
            kind=kind,
            title=title,
            call_id=call_id,
            native_id=native_id,
            parent=parent,
            outlives_turn=outlives_turn,
            source=source,
        )
        call = self.open.get(key)
        if call is None or call.completed:
            return self.call_item(key)
        if kind == "edit":
            self.changes.expect_arguments(key, arguments)
        call.name, call.kind, call.title = name, kind, one_line(title) or call.title
        self._complete(call, "completed", arguments, source)
        return call.item_id

    def result_delta(self, key: str, fragment: str) -> None:
        """Stream a preview of a call's output."""
        call = self.open.get(key)
        if call and fragment:
            self._start_result(call, "agent")
            call.chunks.append(fragment)
            self._pen.delta(call.template, fragment, "agent")

    def start_result(self, key: str) -> None:
        """The tool runs: open its result, so that readers see it before there is output."""
        if call := self.open.get(key):
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
        """A call's outcome. A result of an unknown call opens a stub call first; a second result is ignored.

        A command with a non-zero exit code has failed on every agent: some say so, others report only the
        code.
        """
        if key in self._pen.closed or self._pen.ended:
            return
        if key not in self.open:
            self.end_call(key, "unknown", "{}", source="daemon")
        call = self.open[key]
        self._start_result(call, source)
        status: ItemStatus = "failed" if failed or exit_code else "completed"
        parts = tuple(self.changes.made(key, extra))
        self._pen.complete(call.result_item(status, output, exit_code, parts), source)
        del self.open[key]
        self.changes.forget(key)
        self._pen.remember(key, call.item_id)

    def keep_running(self, key: str) -> None:
        """The agent continues this call in the background: its result may come after the turn."""
        if call := self.open.get(key):
            self._start_result(call, "agent")  # only calls of the turn may end after it
            call.outlives_turn = True

    def call_item(self, key: str) -> str | None:
        """The item id of a call, open or complete: the parent of a sub-agent's items."""
        call = self.open.get(key)
        return call.item_id if call else self._pen.closed.get(key)

    def call_id_of(self, key: str | None) -> str | None:
        """The call id that readers see; the agent's own id for an unknown call."""
        call = self.open.get(key) if key else None
        return call.call_id if call else key

    def has_open_call(self, key: str) -> bool:
        return key in self.open

    def open_call_keys(self) -> list[str]:
        return list(self.open)

    def image(self, data: bytes, mime: str) -> Image:
        """An image the agent created, to be stored as an attachment of the session."""
        suffix = mimetypes.guess_extension(mime) or ""
        name = hashlib.sha256(data).hexdigest()[:24] + suffix
        self.blobs[name] = data
        return Image(self._image_folder + name, mime)

    def abandon_call(self, key: str) -> None:
        """The agent abandoned this call (retry, interrupt): its result fails, and so does a call that was not
        final.
        """
        if call := self.open.get(key):
            if not call.completed:
                self._complete(call, "failed", "".join(call.chunks), "daemon")
            self.result(key, "".join(call.chunks), failed=True, source="daemon")

    def _complete(self, call: OpenCall, status: ItemStatus, arguments: str, source: Source) -> None:
        self._pen.complete(call.call_item(status, arguments), source)
        call.completed = True
        call.chunks = []
        if call.kind in CLIENT_KINDS:
            call.arguments = arguments
            self.on_complete(call)

    def _start_result(self, call: OpenCall, source: Source) -> None:
        if not call.completed:
            # The tool ran, so the streamed arguments are complete.
            self._complete(call, "completed", "".join(call.chunks) or "{}", "daemon")
        if call.result_id is None:
            call.open_result(self._pen.make_id("itm"))
            self._pen.write(ItemStarted(call.result_item("in_progress", "", None, ())), source)

    def _unique(self, call_id: str) -> str:
        """Models repeat call ids; ours are unique within a session."""
        unique, n = call_id, 1
        while unique in self._used:
            n += 1
            unique = f"{call_id}#{n}"
        return unique

    def _use(self, call_id: str) -> None:
        self._used[call_id] = None
        self.new_call_ids.append(call_id)
        if len(self._used) > MAX_CALL_IDS:
            del self._used[next(iter(self._used))]


def _ignore(call: OpenCall) -> None:
    """Nobody waits for calls."""


def one_line(title: str) -> str:
    """A title is a single line, however long a command or a path is."""
    line = " ".join(title[: 4 * MAX_TITLE].split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"
