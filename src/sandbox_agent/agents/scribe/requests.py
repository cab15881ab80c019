"""Permissions and questions: each is resolved exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
from ...schema.ids import MakeId
from .drafts import Ask, Pending
from .tools import Tools


class Requests(Tools):
    def __init__(
        self,
        make_id: MakeId,
        clock: Callable[[], float],
        used_call_ids: Iterable[str] = (),
        image_folder: str = "",
    ) -> None:
        super().__init__(make_id, clock, used_call_ids, image_folder)
        self.pending: dict[str, Pending] = {}

    def ask(self, key: str, ask: Ask) -> None:
        """The agent asks for permission; what waits under this key already is not asked again."""
        if key in self.pending:
            return
        metadata = PermissionMetadata(
            ask.action, ask.input, self._call_id(ask.call), ask.paths, ask.diff, ask.reason
        )
        requested = PermissionRequested(self._make_id("perm"), ask.action, "requested", metadata)
        self.pending[key] = Pending(requested.permission_id, key, requested, ask)
        self._write(requested, "agent")

    def decide(
        self,
        key: str,
        status: PermissionStatus,
        by: DecidedBy,
        message: str | None = None,
        *,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a permission; False when it is not pending (any more)."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, PermissionRequested):
            return False
        del self.pending[key]
        asked = pending.requested
        told = asked.metadata
        assert told is not None
        metadata = PermissionMetadata(
            told.tool_name,
            told.input,
            told.call_id,
            told.paths,
            told.diff,
            told.reason,
            by,
            message,
        )
        self._write(PermissionResolved(asked.permission_id, asked.action, status, metadata), source)
        return True

    def question(self, key: str, questions: Iterable[AskedQuestion], *, call: str | None = None) -> None:
        """The agent asks one or more questions in one request."""
        asked = tuple(questions)
        first = asked[0] if asked else AskedQuestion("", "", ())
        metadata = QuestionMetadata(asked, call_id=self._call_id(call))
        self._request_question(key, first.question, tuple(option.label for option in first.options), metadata)

    def plan(self, key: str, plan: str, *, call: str | None = None) -> None:
        """The agent wants a plan approved: a question whose answers are `approve` and `reject`."""
        choices = (Choice("approve", "Go on with this plan"), Choice("reject", "Keep planning"))
        metadata = QuestionMetadata(
            (AskedQuestion(plan, "Plan", choices),), call_id=self._call_id(call), plan=True
        )
        self._request_question(key, plan, ("approve", "reject"), metadata)

    def answer(
        self,
        key: str,
        answers: tuple[tuple[str, ...], ...] | None,
        by: DecidedBy,
        message: str | None = None,
        *,
        source: Source = "daemon",
    ) -> bool:
        """Resolve a question; None, and `reject` to a plan, reject it. False when it is not pending."""
        pending = self.pending.get(key)
        if pending is None or not isinstance(pending.requested, QuestionRequested):
            return False
        del self.pending[key]
        asked = pending.requested
        told = asked.metadata
        rejected = answers is None or (bool(told.plan) and answers[:1] == (("reject",),))
        labels = None if rejected or answers is None else [label for one in answers for label in one]
        metadata = QuestionMetadata(
            told.questions, None if rejected else answers, by, message, told.call_id, told.plan
        )
        self._write(
            QuestionResolved(
                asked.question_id,
                asked.prompt,
                asked.options,
                "rejected" if rejected else "answered",
                metadata,
                None if labels is None else ", ".join(labels),
            ),
            source,
        )
        return True

    def _request_question(
        self, key: str, prompt: str, options: tuple[str, ...], metadata: QuestionMetadata
    ) -> None:
        if key in self.pending:
            return
        requested = QuestionRequested(self._make_id("q"), prompt, options, "requested", metadata)
        self.pending[key] = Pending(requested.question_id, key, requested)
        self._write(requested, "agent")

    def _reject_unanswered(self, key: str) -> None:
        message = "not answered before the turn ended"
        if not self.decide(key, "reject", "daemon", message):
            self.answer(key, None, "daemon", message)
