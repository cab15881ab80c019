"""Permissions, questions and calls to a client's tools: each is resolved exactly once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...schema.events import (
    AskedQuestion,
    Choice,
    DecidedBy,
    PermissionMetadata,
    PermissionRequested,
    PermissionResolved,
    PermissionStatus,
    QuestionMetadata,
    QuestionRequested,
    QuestionResolved,
    Source,
)
from ...schema.items import Item, ItemStatus, Json, StatusPart
from ...schema.policy import RuleReference
from ...schema.tools import TOOL_REQUEST, ToolOutcome, ToolRequest
from .calls import Calls, one_line
from .drafts import Ask, Pending, ToolAsked, ToolDone, Waited, encode
from .open_items import OpenCall
from .pen import Pen


class Requests:
    def __init__(self, pen: Pen, calls: Calls) -> None:
        self.pending: dict[str, Pending] = {}
        """Pending requests, under the adapter's keys. Never changed in place, so that a reference to it is a
        snapshot.
        """
        self.waited = Waited()
        """Time spent waiting for people in this turn. Also never changed in place."""
        self._unannounced: dict[str, tuple[str, Any]] = {}
        """Calls to a client's tools that the agent has not announced yet: key -> name and arguments."""
        self._pen = pen
        self._calls = calls
        calls.on_complete = self._announced

    def ask(self, key: str, ask: Ask) -> None:
        """The agent asks for permission; a request that is already pending under this key is not repeated."""
        if key in self.pending or self._pen.ended:
            return
        changes = self._calls.changes
        if ask.call and "edit" in (ask.kind, ask.tool_kind):
            changes.expect(ask.call, ask.paths or ())
        # Encoded once: what could be asked can be resolved, however deep the stack.
        input = Raw(encode(ask.input))
        metadata = PermissionMetadata(
            ask.action,
            input,
            self._calls.call_id_of(ask.call),
            ask.paths,
            changes.shown(ask.call, ask.diff) or changes.wanted(ask.call, ask.replacements),
            ask.reason,
            kind=ask.tool_kind or ask.kind,
            title=one_line(ask.title) or ask.action,
        )
        requested = PermissionRequested(self._pen.make_id("perm"), ask.action, "requested", metadata)
        self._pen.write(requested, "agent")
        self._add(Pending(requested.permission_id, key, requested, ask))

    def decide(
        self,
        key: str,
        status: PermissionStatus,
        by: DecidedBy,
        message: str | None = None,
        *,
        rule: RuleReference | None = None,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a permission; False if it is not pending (any more)."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, PermissionRequested):
            return False
        asked = pending.requested
        metadata = msgspec.structs.replace(asked.metadata, decided_by=by, message=message, rule=rule)
        self._pen.write(PermissionResolved(asked.permission_id, asked.action, status, metadata), source)
        self._remove(key)
        return True

    def question(self, key: str, questions: Iterable[AskedQuestion], *, call: str | None = None) -> None:
        """The agent asks one or more questions in one request."""
        asked = tuple(questions)
        first = asked[0] if asked else AskedQuestion("", "", ())
        metadata = QuestionMetadata(asked, call_id=self._calls.call_id_of(call))
        self._request(key, first.question, tuple(option.label for option in first.options), metadata)

    def plan(self, key: str, plan: str, *, call: str | None = None) -> None:
        """The agent asks for approval of a plan: a question whose answers are `approve` and `reject`."""
        choices = (Choice("approve", "Carry out this plan"), Choice("reject", "Keep planning"))
        metadata = QuestionMetadata(
            (AskedQuestion(plan, "Plan", choices),), call_id=self._calls.call_id_of(call), plan=True
        )
        self._request(key, plan, ("approve", "reject"), metadata)

    def answer(
        self,
        key: str,
        answers: tuple[tuple[str, ...], ...] | None,
        by: DecidedBy,
        message: str | None = None,
        *,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a question; None rejects it. False if it is not pending."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, QuestionRequested):
            return False
        asked = pending.requested
        metadata = msgspec.structs.replace(asked.metadata, answers=answers, decided_by=by, message=message)
        labels = None if answers is None else ", ".join(label for answer in answers for label in answer)
        self._pen.write(
            QuestionResolved(
                asked.question_id,
                asked.prompt,
                asked.options,
                "rejected" if answers is None else "answered",
                metadata,
                labels,
            ),
            source,
        )
        self._remove(key)
        return True

    def withdraw(self, key: str, by: DecidedBy, why: str, *, source: Source = "daemon") -> bool:
        """There will be no answer: the permission or question is rejected, the call to a client's tool fails."""
        return (
            self.decide(key, "reject", by, why, source=source)
            or self.answer(key, None, by, why, source=source)
            or self.end_tool(key, ToolOutcome(why, failed=True), by)
        )

    def withdraw_all(self, why: str) -> None:
        for key in (*self.pending, *self._unannounced):
            self.withdraw(key, "daemon", why)

    # -- calls to a client's tools ------------------------------------------------------------------

    def tool(self, key: str, name: str, arguments: Any) -> None:
        """The agent calls a client's tool. Written once the agent has announced the call, so that both have the same id."""
        if key in self.pending or self._pen.ended:
            return
        self._unannounced[key] = (name, arguments)
        for call in self._calls.open.values():
            self._announced(call)

    def tool_unannounced(self, key: str, *, final: bool = True) -> None:
        """The agent has not said which call this is. It is one of this tool whose arguments it has not shown yet; if there
        is none and this is `final`, it gets an id of its own.
        """
        if found := self._unannounced.get(key):
            name, arguments = found
            id = self._call_without_arguments(name)
            if id is not None or final:
                del self._unannounced[key]
                self._request_tool(key, ToolRequest(id or self._pen.make_id("call"), name, arguments))

    def end_tool(self, key: str, outcome: ToolOutcome, by: DecidedBy) -> bool:
        """A call to a client's tool has its outcome; False if it does not wait (any more)."""
        if self._unannounced.pop(key, None) is not None:
            self._pen.note(ToolDone(key, None, outcome))
            return True
        pending = self.pending.get(key)
        if pending is None or not isinstance(asked := pending.requested, ToolRequest):
            return False
        answered = by == "client"
        payload = {**msgspec.structs.asdict(asked), "decided_by": by}
        if not answered:
            payload["error"] = outcome.output
        status: ItemStatus = "completed" if answered else "failed"
        self._pen.complete(_tool_item(pending.item_id, asked, status, payload), "daemon")
        self._pen.note(ToolDone(key, asked.call_id, outcome))
        self._remove(key)
        return True

    def _announced(self, call: OpenCall) -> None:
        """Write the request that belongs to this call, if one waits for it."""
        for key, (name, arguments) in self._unannounced.items():
            if call.completed and not self._is_pending(call) and call.has_arguments(name, arguments):
                del self._unannounced[key]
                self._request_tool(key, ToolRequest(call.call_id, name, arguments))
                return

    def _call_without_arguments(self, tool: str) -> str | None:
        calls = self._calls.open.values()
        return next(
            (
                call.call_id
                for call in calls
                if call.is_of(tool) and not call.completed and not self._is_pending(call)
            ),
            None,
        )

    def _is_pending(self, call: OpenCall) -> bool:
        return any(pending.id == call.call_id for pending in self.pending.values())

    def _request_tool(self, key: str, request: ToolRequest) -> None:
        item_id = self._pen.make_id("itm")
        item = _tool_item(item_id, request, "in_progress", request)
        self._pen.start(item_id, None, None, "status", None, item.content, "daemon")
        self._pen.note(ToolAsked(request))
        self._add(Pending(request.call_id, key, request, item_id=item_id))

    def begin_turn(self) -> None:
        """Count the waiting time from now on."""
        self.waited = Waited(since=self._pen.world.clock() if self.pending else None)

    def _request(self, key: str, prompt: str, options: tuple[str, ...], metadata: QuestionMetadata) -> None:
        if key in self.pending or self._pen.ended:
            return
        requested = QuestionRequested(self._pen.make_id("q"), prompt, options, "requested", metadata)
        self._pen.write(requested, "agent")
        self._add(Pending(requested.question_id, key, requested))

    def _add(self, pending: Pending) -> None:
        if not self.pending:
            self.waited = Waited(self.waited.seconds, self._pen.world.clock())
        self.pending = {**self.pending, pending.key: pending}

    def _remove(self, key: str) -> None:
        left = self.pending.copy()
        del left[key]
        self.pending = left
        if not self.pending and (since := self.waited.since) is not None:
            self.waited = Waited(self.waited.seconds + self._pen.world.clock() - since)


def _tool_item(item_id: str, request: ToolRequest, status: ItemStatus, payload: Any) -> Item:
    content = (StatusPart(TOOL_REQUEST, request.name), Json(payload))
    return Item(item_id, None, None, "status", None, status, content)
