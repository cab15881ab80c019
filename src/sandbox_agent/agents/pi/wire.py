"""Pi's RPC mode (JSON lines) as a wire: one process, one conversation.

Permissions and questions arrive as dialogs of our extension (`extension.ts`), whose titles carry JSON.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Iterator

import msgspec

from ...schema.features import COMPACT
from ...schema.inputs import Answer, Decision, Prompt, Settings
from ...schema.world import World
from ..base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Conversation,
    Decided,
    Files,
    Listed,
    ListFailed,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wire,
)
from ..files import images_in, mime_of
from ..frames import InFrame
from . import commands
from . import frames as pi
from .dialogs import (
    METHODS,
    answer_in,
    answer_reply,
    decision_in,
    decision_reply,
    is_permission,
    permission_in,
    refusal_of,
)
from .reading import attachments_of, catalogue_of, id_in, read
from .transcript import PiConversation


class PiWire(Wire):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._conversation: PiConversation | None = None
        self._left: list[PiConversation] = []
        """Conversations that a recorded client has switched away from."""
        self._switching: dict[str | int | None, str | None] = {}
        """The target of a switch by request id: a native id, or None for a new conversation."""
        self._request_ids = (f"sa{n}" for n in itertools.count(1))
        self._listing: set[str] = set()
        self._state: pi.State | None = None
        self._commands = pi.Commands()

    def conversations(self) -> Iterable[Conversation]:
        return () if self._conversation is None else (self._conversation, *self._left)

    # -- commands

    def open(self, start: Start) -> Conversation:
        conversation = self._begin(start)
        self.send(commands.GetState(next(self._request_ids)))
        return conversation

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        return images_in(prompt)

    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        name, arguments = prompt.called if prompt.command else ("", "")
        if name == COMPACT.name:
            self._of(conversation).compacting = True
            self.send(commands.Compact(next(self._request_ids), arguments or None))
            return
        self._of(conversation).echoes += 1
        images: list[commands.Picture] = []
        paths: list[str] = []
        for file in prompt.attachments:
            if (data := files.get(file.path)) is not None:
                images.append(commands.Picture(base64.b64encode(data).decode(), mime_of(file) or ""))
            else:
                paths.append(file.path)
        # Pi runs whatever begins with a slash; the only way to send it as text is to put something before it.
        plain = prompt.text.startswith("/") and not prompt.command
        message = f" {prompt.text}" if plain else prompt.text
        if paths:
            message += "\n\nAttached files:\n" + "\n".join(f"- {path}" for path in paths)
        self.send(commands.PromptCommand(message, next(self._request_ids), tuple(images)))

    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        self._of(conversation).calls.dialogs.pop(key, None)
        self.send(decision_reply(key, decision))

    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        if dialog := self._of(conversation).calls.dialogs.pop(key, None):
            self.send(answer_reply(dialog, answer))

    def cancel(self, conversation: Conversation) -> None:
        # Pi continues with what extensions have queued unless the queue is emptied first.
        self.send(commands.ClearQueue(next(self._request_ids)))
        self.send(commands.Abort(next(self._request_ids)))
        # An extension that ignores the abort would wait for its answer, and the turn with it.
        for key in self._of(conversation).calls.dialogs:
            self.send(commands.DialogReply(key, cancelled=True))

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        before = conversation.settings
        if settings.mcp != before.mcp or settings.directory != before.directory:
            return False
        new_model = settings.model != before.model
        provider, slash, model = (settings.model or "").partition("/")
        if new_model and not slash:
            return False  # Pi accepts a partial model name only when it starts
        if (new_model or settings.variant != before.variant) and settings.variant is None and before.variant:
            return False
        if new_model:
            self.send(commands.SetModel(provider, model, next(self._request_ids)))
        if settings.variant and (new_model or settings.variant != before.variant):
            self.send(commands.SetThinkingLevel(settings.variant, next(self._request_ids)))
        conversation.settings = settings
        return True

    def list_catalogue(self, directory: str) -> None:
        state, callable, models = (next(self._request_ids) for _ in range(3))
        self._listing = {state, callable, models}
        self.send(commands.GetState(state))
        self.send(commands.GetCommands(callable))
        self.send(commands.GetModels(models))

    # -- recordings

    def launched(self, argv: list[str]) -> Iterator[Action]:
        options = dict(itertools.pairwise(argv))
        settings = Settings("", "default", model=options.get("--model"), variant=options.get("--thinking"))
        yield Began(self._recorded(settings, options.get("--session-id") or id_in(options.get("--session"))))

    def sent(self, frame: bytes) -> Iterator[Action]:
        conversation = self._conversation
        if conversation is None:
            conversation = self._recorded(Settings("", "default"), None)
            yield Began(conversation)
        match commands.decode_command(frame):
            case commands.PromptCommand(message, _, images, behavior):
                if behavior and (conversation.active or conversation.echoes):
                    conversation.queued.append(message)
                else:
                    conversation.echoes += 1
                    pictures = (
                        pi.Block("image", data=image.data, mime_type=image.mime_type) for image in images
                    )
                    yield Prompted(conversation, Prompt(message, attachments_of(conversation, pictures)))
            case commands.Steer(message) | commands.FollowUp(message):
                conversation.queued.append(message)
            case commands.NewSession(id):
                self._switching[id] = None
            case commands.SwitchSession(path, id):
                self._switching[id] = id_in(path)
            case commands.ClearQueue():
                conversation.queued.clear()
            case commands.Abort():
                yield Cancelled(conversation)
            case commands.DialogReply(cancelled=True) if conversation.cancelling:
                pass  # part of the cancel: Pi's own end of the call or the turn resolves it
            case commands.DialogReply() as reply if dialog := conversation.calls.dialogs.pop(reply.id, None):
                if permission_in(dialog):
                    yield Decided(conversation, reply.id, decision_in(reply))
                else:
                    yield Answered(conversation, reply.id, answer_in(dialog, reply))

    # -- lines

    def feed(self, frame: InFrame) -> None:
        assert isinstance(frame, bytes)
        message = self._decode(frame)
        if isinstance(message, pi.Response) and message.id in self._listing:
            self._list(message)
            return
        conversation = self._conversation
        if conversation is None:
            if self.recorded_start is None:
                return  # the process only lists models: there is no conversation
            conversation = self._recorded(Settings("", "default"), None)
            conversation.announce("daemon")
        match message:
            case None:
                conversation.scribe.unknown(msgspec.json.decode(frame))
            case pi.Response():
                self._response(conversation, message)
            case pi.MessageStart() | pi.MessageUpdate() | pi.MessageEnd():
                conversation.handle_message(message)
            case pi.ToolStart() | pi.ToolUpdate() | pi.ToolEnd():
                conversation.tool(message)
            case pi.Dialog():
                self._dialog(conversation, message, frame)
            case _:
                conversation.event(message, frame)

    def _decode(self, line: bytes) -> pi.AnyFrame | None:
        try:
            return pi.decode(line)
        except Exception:
            if (waiting := pi.waiting_in(line)) is not None:
                self.send(commands.DialogReply(waiting, cancelled=True))
            raise

    def _dialog(self, conversation: PiConversation, dialog: pi.Dialog, line: bytes) -> None:
        if conversation.settings.permission_mode == "bypass" and is_permission(dialog):
            # Our extension asks in every mode, so that the mode can change without a new process.
            self.send(decision_reply(dialog.id, Decision("once")))
            return
        try:
            conversation.dialog(dialog, line)
        except Exception:
            # An extension waits for an answer even to what we cannot show.
            if dialog.method in METHODS:
                self.send(refusal_of(dialog))
            raise

    def _response(self, conversation: PiConversation, response: pi.Response) -> None:
        match response.command:
            case "get_state" if response.success:
                self._opened(conversation, msgspec.json.decode(response.data, type=pi.State))
            case "get_state" if not conversation.ready:
                text = response.error or "the agent did not report its state"
                self.notices.append(StartFailed(conversation, text))
            case "prompt" if response.success:
                accepted = read(response.data, pi.Accepted) or pi.Accepted()
                if accepted.disposition == "handled":
                    conversation.end_without_model_call("end_turn")
            case "prompt":
                conversation.refuse(response)
                if not conversation.active:
                    conversation.end_without_model_call("error")
                else:
                    conversation.echoes = max(0, conversation.echoes - 1)
            case "set_model" if response.success:
                conversation.works_with(read(response.data, pi.NativeModel))
            case "new_session" | "switch_session" if response.id in self._switching:
                self._switch(conversation, response)
            case "compact" if conversation.compacting:
                conversation.compacted(response)
            case "steer" | "follow_up" | "set_model" | "set_thinking_level" if not response.success:
                conversation.refuse(response)

    def _switch(self, conversation: PiConversation, response: pi.Response) -> None:
        """Later lines belong to another conversation, which is new unless the recording has shown it before."""
        native_id = self._switching.pop(response.id)
        switched = read(response.data, pi.Switched) or pi.Switched()
        if response.success and not switched.cancelled:
            other = self._recorded(conversation.settings, native_id)
            self._left = [each for each in (conversation, *self._left) if each.scribe is not other.scribe]
            other.announce("daemon")

    def _opened(self, conversation: PiConversation, state: pi.State) -> None:
        gone = conversation.resumed and state.message_count == 0 and not conversation.ready
        if gone and self.recorded_start is None:
            # If the requested session does not exist, Pi creates an empty one with that id.
            text = "the agent no longer knows this conversation"
            self.notices.append(StartFailed(conversation, text, gone=True))
            return
        conversation.native_id = state.session_id
        conversation.works_with(state.model)
        conversation.scribe.uses(title=state.session_name)
        if not conversation.ready:
            conversation.ready = True
            self.notices.append(Ready(conversation))

    # -- the catalogue

    def _list(self, response: pi.Response) -> None:
        assert response.id is not None
        self._listing.discard(str(response.id))
        if response.command == "get_state":
            self._state = read(response.data, pi.State)
        elif response.command == "get_commands":
            self._commands = read(response.data, pi.Commands) or pi.Commands()
        elif not response.success:
            self.notices.append(ListFailed(response.error or "the agent did not list its models"))
        else:
            listed = msgspec.json.decode(response.data, type=pi.Models)
            self.notices.append(Listed(catalogue_of(listed, self._commands, self._state)))

    # -- helpers

    def _begin(self, start: Start) -> PiConversation:
        self._conversation = PiConversation(self, start)
        return self._conversation

    def _recorded(self, settings: Settings, native_id: str | None) -> PiConversation:
        assert self.recorded_start is not None
        return self._begin(self.recorded_start(settings, native_id))

    def _of(self, conversation: Conversation) -> PiConversation:
        assert isinstance(conversation, PiConversation)
        return conversation
