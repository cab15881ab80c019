"""Requests from the agent that are not answered yet: permissions, plans to approve, and forms."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from ...schema.inputs import Answer, Decision
from ..jsonrpc import RequestId, Rpc, key_of
from .awaited import Awaited
from .forms import Field, content_of, fields_of, questions_of
from .frames import REQUEST_CANCELLED, Elicitation, FormAnswer, Option, PermissionRequest
from .permissions import CANCELLED, answer_of, ask_of, plan_in
from .transcript import AcpConversation


class Permission(Struct, frozen=True):
    options: tuple[Option, ...]
    is_plan: bool


class Form(Struct, frozen=True):
    fields: tuple[Field, ...]


class OpenRequest(Struct, frozen=True):
    id: RequestId
    conversation: AcpConversation
    request: Permission | Form


class Pending:
    def __init__(self, rpc: Rpc[Awaited, OpenRequest]) -> None:
        self._rpc = rpc

    def put_permission(
        self, id: RequestId, conversation: AcpConversation | None, asked: PermissionRequest
    ) -> None:
        if conversation is None:
            self._rpc.answer(id, CANCELLED)
            return
        conversation.end_message()
        call = conversation.call(asked.tool_call)
        call.learn_asked(asked.tool_call)
        call.name = call.name or call.kind or "tool"
        key = key_of(id)
        plan = plan_in(call)
        if plan is not None:
            conversation.scribe.plan(key, plan, call=call.key)
        else:
            conversation.scribe.ask(key, ask_of(call))
        self._rpc.open_requests[key] = OpenRequest(
            id, conversation, Permission(asked.options, plan is not None)
        )

    def put_form(
        self, id: RequestId, conversation: AcpConversation | None, form: Elicitation, payload: Raw
    ) -> None:
        if conversation is None or form.mode != "form" or conversation.scribe.turn is None:
            # A page to visit, or a form that no user would see.
            if conversation is not None:
                conversation.scribe.status("elicitation", msgspec.json.decode(payload), form.message)
            self._rpc.answer(id, FormAnswer(action="decline"))
            return
        conversation.end_message()
        fields = fields_of(form)
        key = key_of(id)
        call = conversation.call_key(form.tool_call_id)
        conversation.scribe.question(key, questions_of(form, fields), call=call)
        self._rpc.open_requests[key] = OpenRequest(id, conversation, Form(fields))

    def take(self, key: str) -> OpenRequest | None:
        return self._rpc.open_requests.pop(key, None)

    def decide(self, key: str, decision: Decision) -> None:
        asked = self.take(key)
        if asked and isinstance(asked.request, Permission):
            self._rpc.answer(asked.id, answer_of(decision, asked.request.options))

    def answer(self, key: str, answer: Answer) -> None:
        asked = self.take(key)
        if asked is None:
            return
        match asked.request:
            case Permission(options):
                decision = Decision("reject" if answer.answers is None else "once", answer.message)
                self._rpc.answer(asked.id, answer_of(decision, options))
            case Form(fields):
                given = FormAnswer(action="decline")
                if answer.answers is not None:
                    given = FormAnswer(action="accept", content=content_of(fields, answer.answers))
                self._rpc.answer(asked.id, given)

    def withdraw(self, id: RequestId) -> None:
        """The agent no longer waits for this answer."""
        key = key_of(id)
        if (asked := self.take(key)) is not None:
            self._rpc.refuse(asked.id, "the request was cancelled", REQUEST_CANCELLED)
            asked.conversation.scribe.withdraw(key, "agent", "the agent withdrew its request", source="agent")

    def drop(self, conversation: AcpConversation) -> None:
        """The turn ends and the request will not be answered: tell the agent."""
        for key, asked in list(self._rpc.open_requests.items()):
            if asked.conversation is conversation:
                self.take(key)
                is_form = isinstance(asked.request, Form)
                self._rpc.answer(asked.id, FormAnswer(action="cancel") if is_form else CANCELLED)
