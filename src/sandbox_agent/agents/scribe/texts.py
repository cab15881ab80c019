"""Messages and thinking: streamed under the adapter's keys, with deltas that always add up to the item."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable

from ...schema.events import ItemStarted, Source
from ...schema.inputs import Attachment
from ...schema.items import ContentPart, FileRef, Image, Item, Text, Visibility
from .open_items import OpenText
from .pen import DeltaTemplate, Pen


class Texts:
    def __init__(self, pen: Pen) -> None:
        self.open: dict[str, OpenText] = {}
        self._pen = pen

    def user_message(
        self,
        text: str,
        attachments: Iterable[Attachment] = (),
        *,
        native_id: str | None = None,
        parent: str | None = None,
        source: Source = "daemon",
    ) -> None:
        """A prompt: started, given its full delta and completed at once."""
        parts: list[ContentPart] = [Text(text)] if text else []
        for file in attachments:
            mime = file.mime or mimetypes.guess_type(file.path)[0]
            is_image = mime is not None and mime.startswith("image/")
            parts.append(Image(file.path, mime) if is_image else FileRef(file.path, "read"))
        if not parts:
            return  # an empty prompt is not a message
        pen = self._pen
        item_id = pen.make_id("itm")
        pen.start(item_id, native_id, parent, "message", "user", (), source)
        if text:
            pen.delta(DeltaTemplate(item_id, native_id, "message", "user", None, parent), text, source)
        pen.complete(Item(item_id, native_id, parent, "message", "user", "completed", tuple(parts)), source)

    def text(
        self,
        key: str,
        delta: str,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        thinking: Visibility | None = None,
        outlives_turn: bool = False,
        source: Source = "agent",
    ) -> str | None:
        """Stream text (or thinking) of the item under this key; the first text opens it. Returns the item's
        id.

        Empty text opens nothing, and a closed key stays closed.
        """
        open_text = self.open.get(key)
        if open_text is None:
            if not delta or key in self._pen.closed or self._pen.ended:
                return self._pen.closed.get(key)
            open_text = self._open(key, native_id, parent, thinking, outlives_turn)
        elif not delta:
            return open_text.item_id
        open_text.chunks.append(delta)
        self._pen.delta(open_text.template, delta, source)
        return open_text.item_id

    def end_text(
        self,
        key: str,
        final: str | None = None,
        *,
        native_id: str | None = None,
        parent: str | None = None,
        thinking: Visibility | None = None,
        outlives_turn: bool = False,
        failed: bool = False,
    ) -> str | None:
        """Complete a message; `final` is its whole text if the agent repeats it. Returns the item's id.

        Text that was never streamed gets one synthetic delta. A final text that contradicts what was streamed
        fails the streamed item and becomes an item of its own: deltas always add up to their item.
        """
        open_text = self.open.get(key)
        if open_text is None:
            if not final or key in self._pen.closed or self._pen.ended:
                return self._pen.closed.get(key)
            self.text(
                key,
                final,
                native_id=native_id,
                parent=parent,
                thinking=thinking,
                outlives_turn=outlives_turn,
                source="daemon",
            )
            open_text = self.open[key]
        streamed = "".join(open_text.chunks)
        if failed or final is None or final == streamed:
            return self._close(key, open_text, streamed, failed)
        if final.startswith(streamed):
            self._pen.delta(open_text.template, final[len(streamed) :], "daemon")
            return self._close(key, open_text, final, failed)
        self._close(key, open_text, streamed, failed=True, source="daemon")
        del self._pen.closed[key]
        return self.end_text(
            key,
            final,
            native_id=open_text.native_id,
            parent=open_text.parent_id,
            thinking=open_text.visibility,
            outlives_turn=open_text.outlives_turn,
        )

    def open_text_keys(self) -> list[str]:
        """Keys of the messages and thoughts that are being streamed."""
        return list(self.open)

    def abandon(self, key: str) -> None:
        """The agent abandoned this message: it fails with the text streamed so far."""
        open_text = self.open[key]
        self._close(key, open_text, "".join(open_text.chunks), failed=True, source="daemon")

    def _open(
        self,
        key: str,
        native_id: str | None,
        parent: str | None,
        thinking: Visibility | None,
        outlives_turn: bool,
    ) -> OpenText:
        pen = self._pen
        opened = OpenText(pen.make_id("itm"), native_id, parent, "assistant", thinking, outlives_turn)
        pen.write(ItemStarted(opened.item("in_progress", "")), "agent")
        self.open[key] = opened
        return opened

    def _close(self, key: str, open_text: OpenText, text: str, failed: bool, source: Source = "agent") -> str:
        self._pen.complete(open_text.item("failed" if failed else "completed", text), source)
        del self.open[key]
        self._pen.remember(key, open_text.item_id)
        return open_text.item_id
