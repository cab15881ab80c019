"""Reads the requests of a recorded client to an OpenCode server as actions: the inverse of our own commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Raw

from ...schema.inputs import Answer, Decision, Prompt, Settings
from ..base import Action, Answered, Began, Cancelled, Decided, Prompted
from ..frames import HttpRequest
from .asking import Asking
from .bodies import (
    AnswersBody,
    AnyInput,
    CommandBody,
    CreateBody,
    FileInput,
    OldReplyBody,
    PermissionRule,
    PromptBody,
    ReplyBody,
    SubtaskInput,
    TextInput,
)
from .conversation import OpenCodeConversation
from .messages import lenient
from .opening import Opening
from .permissions import DISAPPROVE
from .prompts import Prompts
from .requests import attachment_of
from .threads import Threads

_SESSION = re.compile(r"^/session/(?P<id>[^/]+)(?:/(?P<verb>[^/]+)(?:/(?P<arg>[^/]+))?)?$")
_REQUEST = re.compile(r"^/(?P<kind>permission|question)/(?P<id>[^/]+)/(?P<verb>reply|reject)$")


class RecordedClient:
    def __init__(self, asking: Asking, threads: Threads, prompts: Prompts, opening: Opening) -> None:
        self._asking = asking
        self._threads = threads
        self._prompts = prompts
        self._opening = opening

    def read(self, request: HttpRequest) -> Iterator[Action]:
        if self._asking.adopt(request):
            return
        url = urlsplit(request.path)
        directory = parse_qs(url.query).get("directory", [""])[0]
        if request.method == "POST" and url.path == "/session":
            yield from self._create(request, directory)
        elif match := _REQUEST.match(url.path):
            yield from self._reply(match["kind"], match["id"], match["verb"], request.body)
        elif (match := _SESSION.match(url.path)) and match["id"] != "status":
            yield from self._about_session(request, match, directory)

    def _create(self, request: HttpRequest, directory: str) -> Iterator[Action]:
        asked = lenient(request.body, CreateBody, CreateBody())
        allows_all = PermissionRule("*", "*", "allow") in asked.permission
        model = asked.model
        settings = Settings(
            directory,
            agent_mode=asked.agent or "build",
            permission_mode="bypass" if allows_all else "default",
            model=f"{model.providerID}/{model.id}" if model else None,
            variant=model.variant if model else None,
        )
        conversation = self._opening.recorded(settings, None)
        self._asking.expect(request, self._opening.on_created(conversation))
        yield Began(conversation)

    def _reply(self, kind: str, key: str, verb: str, body: Raw) -> Iterator[Action]:
        conversation = next(
            (each for each in self._threads.conversations if key in each.scribe.pending), None
        )
        if conversation is None:
            return  # A second answer to a decided request.
        if kind == "permission":
            reply = msgspec.json.decode(body, type=ReplyBody)
            yield Decided(conversation, key, Decision(reply.reply, reply.message))
        elif verb == "reject":
            yield Answered(conversation, key, Answer(None))
        else:
            answers: tuple[tuple[str, ...], ...]
            answers = msgspec.json.decode(body, type=AnswersBody).answers
            if key in conversation.plans:
                answers = (("reject" if answers[:1] == ((DISAPPROVE,),) else "approve",),)
            yield Answered(conversation, key, Answer(answers))

    def _about_session(self, request: HttpRequest, match: re.Match[str], directory: str) -> Iterator[Action]:
        verb, body = match["verb"], request.body
        thread = self._threads.get(match["id"])
        conversation = thread.conversation if thread else None
        if conversation is None and (
            verb in ("prompt_async", "message", "command") or request.method == "GET"
        ):
            if request.method == "GET" and verb is not None:
                return
            # It continues a conversation from before the recording.
            conversation = self._opening.recorded(Settings(directory), match["id"])
            yield Began(conversation)
            if request.method == "GET":
                self._asking.expect(request, self._opening.on_resumed(conversation))
                return
            conversation.announce("daemon")
        if conversation is None:
            return
        match request.method, verb:
            case "POST", "prompt_async" | "message":
                yield from self._prompt(request, conversation, lenient(body, PromptBody, PromptBody()))
            case "POST", "command":
                command = msgspec.json.decode(body, type=CommandBody)
                prompt = Prompt(f"/{command.command} {command.arguments or ''}".rstrip())
                yield from self._turn(request, conversation, prompt, (), command.messageID)
            case "POST", "abort":
                yield Cancelled(conversation)
            case "POST", "permissions":
                old = msgspec.json.decode(body, type=OldReplyBody)
                yield Decided(conversation, match["arg"] or "", Decision(old.response))
            case "POST", "fork":
                self._asking.expect(request, self._opening.on_forked)
            case "DELETE", None:
                conversation.deleted_by_us = True

    def _prompt(
        self, request: HttpRequest, conversation: OpenCodeConversation, body: PromptBody
    ) -> Iterator[Action]:
        texts = tuple(_texts_in(body.parts))
        files = tuple(
            attachment_of(part.url, part.mime, part.filename)
            for part in body.parts
            if isinstance(part, FileInput)
        )
        prompt = Prompt("\n".join(texts), files)
        if prompt.text or files:
            echoed = (*texts, *(file.path for file in files))
            yield from self._turn(request, conversation, prompt, echoed, body.messageID)

    def _turn(
        self,
        request: HttpRequest,
        conversation: OpenCodeConversation,
        prompt: Prompt,
        echoed: tuple[str, ...],
        message_id: str | None,
    ) -> Iterator[Action]:
        if conversation.turn.lost:
            conversation.lose_turn()
        resume_turn = conversation.scribe.turn is not None
        pending = conversation.add_prompt(echoed, message_id, resume_turn=resume_turn)
        synchronous = not urlsplit(request.path).path.endswith("/prompt_async")
        self._asking.expect(request, self._prompts.on_answer(conversation, pending, synchronous=synchronous))
        yield Prompted(conversation, prompt)


def _texts_in(parts: Iterable[AnyInput]) -> Iterator[str]:
    for part in parts:
        match part:
            case TextInput(text=text) | SubtaskInput(prompt=text):
                yield text
