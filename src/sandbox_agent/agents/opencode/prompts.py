"""Sends prompts to the server: after its rules are in force, and a refused prompt ends its turn."""

from __future__ import annotations

from msgspec import Raw

from ...schema.features import COMPACT
from ...schema.inputs import Prompt
from ..base import Wait, Wire
from ..failures import Failure
from .asking import Asking, OnAnswer, path_of
from .bodies import CommandBody, PermissionRule, PromptBody, PromptModel, SessionNow
from .bootstrap import Bootstrap
from .conversation import OpenCodeConversation, PendingPrompt
from .messages import lenient
from .permissions import denials, session_rules
from .requests import agent_of, failure_in, is_user_message, make_message_id, prompt_model, prompt_parts
from .threads import Threads

LATE_EVENTS_SECONDS = 20.0
"""How long the events of a compaction may arrive after its answer. On a busy machine they are seconds late."""


class Prompts:
    def __init__(self, wire: Wire, asking: Asking, bootstrap: Bootstrap) -> None:
        self._wire = wire
        self._asking = asking
        self._bootstrap = bootstrap
        self._world = wire.world

    def hand_over(self, conversation: OpenCodeConversation, prompt: Prompt) -> None:
        if prompt.command:
            pending = conversation.add_prompt((), make_message_id(self._world), resume_turn=False)
            conversation.unsent.append((pending, prompt))
            self.send(conversation)
            return
        body = self._body(conversation, prompt)
        # What the server repeats of it, part by part.
        echoed = (prompt.text, *(file.path for file in prompt.attachments))
        pending = conversation.add_prompt(echoed, body.messageID, resume_turn=False)
        conversation.unsent.append((pending, body))
        self.send(conversation)

    def feed_back(self, conversation: OpenCodeConversation, text: str) -> None:
        body = self._body(conversation, Prompt(text))
        pending = conversation.add_prompt((text,), body.messageID, resume_turn=True)
        conversation.unsent.append((pending, body))
        self.send(conversation)

    def _body(self, conversation: OpenCodeConversation, prompt: Prompt) -> PromptBody:
        settings = conversation.settings
        return PromptBody(
            parts=prompt_parts(prompt),
            messageID=make_message_id(self._world),
            model=prompt_model(settings),
            agent=agent_of(settings),
            variant=settings.variant,
        )

    def send(self, conversation: OpenCodeConversation) -> None:
        """Send the prompts that wait, once nothing holds them back."""
        if conversation.unsent and not conversation.unconfirmed_rules:
            self._bootstrap.when_done(conversation.directory, lambda: self._send(conversation))

    def _send(self, conversation: OpenCodeConversation) -> None:
        if conversation.unconfirmed_rules:
            return
        for pending, body in conversation.unsent:
            if isinstance(body, PromptBody):
                path = path_of(conversation, f"/session/{conversation.native_id}/prompt_async")
                self._asking.ask("POST", path, body, self.on_answer(conversation, pending))
            elif body.called[0] == COMPACT.name:
                self._compact(conversation, pending)
            else:
                self._run(conversation, pending, body)
        conversation.unsent = []

    def _run(self, conversation: OpenCodeConversation, pending: PendingPrompt, prompt: Prompt) -> None:
        name, arguments = prompt.called
        settings = conversation.settings
        body = CommandBody(
            name, arguments, pending.message_id, agent_of(settings), settings.model, settings.variant
        )
        path = path_of(conversation, f"/session/{conversation.native_id}/command")
        answered = self.on_answer(conversation, pending, synchronous=True)
        self._asking.ask("POST", path, body, answered, long=True)

    def _compact(self, conversation: OpenCodeConversation, pending: PendingPrompt) -> None:
        """The server requires a model: use the one the session works with."""
        session = f"/session/{conversation.native_id}"

        def known(status: int, body: Raw) -> None:
            if conversation.has_left:
                return
            now = lenient(body, SessionNow, SessionNow()).model
            model = prompt_model(conversation.settings) or (now and PromptModel(now.providerID, now.id))
            if conversation.cancelling:
                conversation.give_up(pending)
            elif status != 200:
                conversation.refuse(pending, failure_in(status, body))
            elif model is None:
                conversation.refuse(pending, Failure("there is nothing to compact yet", "invalid_request"))
            else:
                path = path_of(conversation, f"{session}/summarize")
                self._asking.ask("POST", path, model, summarized, long=True)

        def summarized(status: int, body: Raw) -> None:
            if status == 200 or conversation.cancelling or conversation.turn.failures:
                conversation.finish(pending)
                if conversation.scribe.turn is not None:
                    self._wire.notices.append(Wait(conversation, LATE_EVENTS_SECONDS))
            else:
                conversation.refuse(pending, failure_in(status, body))

        self._asking.ask("GET", path_of(conversation, session), None, known)

    def refuse(self, conversation: OpenCodeConversation, status: int, body: Raw) -> None:
        """Drop the prompts that wait."""
        for pending, _ in conversation.unsent:
            conversation.refuse(pending, failure_in(status, body))
        conversation.unsent = []

    def on_answer(
        self, conversation: OpenCodeConversation, pending: PendingPrompt, *, synchronous: bool = False
    ) -> OnAnswer:
        def answered(status: int, body: Raw) -> None:
            if status == 500 and synchronous:
                return  # A `session.error`, which comes later, reports what went wrong.
            if status not in (200, 204):
                conversation.refuse(pending, failure_in(status, body))
            elif status == 200 and is_user_message(body) and pending in conversation.pending_prompts:
                # A prompt without an answer (`noReply`): the turn is over.
                conversation.turn.texts.update(pending.texts)
                conversation.pending_prompts.remove(pending)
                conversation.turn.idle = True
                conversation.settle()

        return answered


class Rules:
    """What each session may do without asking. Sessions in one directory share their MCP servers: each is
    denied the others'.
    """

    def __init__(self, asking: Asking, threads: Threads, prompts: Prompts) -> None:
        self._asking = asking
        self._threads = threads
        self._prompts = prompts

    def of(self, conversation: OpenCodeConversation) -> tuple[PermissionRule, ...]:
        neighbours = self._neighbours(conversation)
        foreign_servers = [server for other in neighbours for server in other.mcp_servers()]
        settings = conversation.settings
        plan_file = conversation.plan.file if agent_of(settings) == "plan" else None
        return session_rules(settings.permission_mode, foreign_servers, plan_file or None)

    def renew(self, conversation: OpenCodeConversation) -> None:
        """The mode has changed, or the other sessions in the directory may have."""
        self._add(conversation, self.of(conversation))

    def deny_neighbours(self, conversation: OpenCodeConversation) -> None:
        for neighbour in self._neighbours(conversation):
            self._add(neighbour, denials(conversation.mcp_servers()))

    def _add(self, conversation: OpenCodeConversation, rules: tuple[PermissionRule, ...]) -> None:
        """Add rules to a session's: the last match wins. No prompt is sent before they are in force."""

        def patched(status: int, body: Raw) -> None:
            conversation.unconfirmed_rules -= 1
            if status == 200:
                self._prompts.send(conversation)
            else:
                self._prompts.refuse(conversation, status, body)

        conversation.unconfirmed_rules += 1
        path = path_of(conversation, f"/session/{conversation.native_id}")
        self._asking.ask("PATCH", path, {"permission": rules}, patched)

    def _neighbours(self, conversation: OpenCodeConversation) -> list[OpenCodeConversation]:
        return [
            other
            for other in self._threads.in_directory(conversation.directory)
            if other is not conversation and other.native_id
        ]
