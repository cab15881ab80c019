"""Our requests that codex has not answered yet, and what each was for."""

from __future__ import annotations

from msgspec import Struct

from ...schema.features import Model
from ...schema.inputs import Prompt
from .conversation import CodexConversation
from .frames import ModelPage, UserInput
from .prompts import prompt_of
from .thread import Thread


class Greeting(Struct, frozen=True):
    pass


class Opening(Struct, frozen=True):
    conversation: CodexConversation
    resumes: bool


class Prompting(Struct, frozen=True):
    thread: Thread
    text: str
    joins: bool
    """A turn was already running: codex adds the prompt to it."""


class Steering(Struct, frozen=True):
    """A client prompted in the middle of a turn, which codex may refuse."""

    thread: Thread
    prompt: Prompt


class Beginning(Struct, frozen=True):
    """A client started a turn without a prompt."""

    thread: Thread


class Stopping(Struct, frozen=True):
    thread: Thread


class Leaving(Struct, frozen=True):
    thread: Thread


class Listing(Struct, frozen=True):
    models: tuple[Model, ...] = ()
    default: str | None = None

    def with_page(self, page: ModelPage) -> Listing:
        models = tuple(
            Model(
                model.id,
                model.display_name,
                tuple(effort.reasoning_effort for effort in model.supported_reasoning_efforts) or None,
                model.default_reasoning_effort,
            )
            for model in page.data
        )
        default = next((model.id for model in page.data if model.is_default), self.default)
        return Listing(self.models + models, default)


class Nothing(Struct, frozen=True):
    pass


Awaited = Greeting | Opening | Prompting | Steering | Beginning | Stopping | Leaving | Listing | Nothing


def prompting(thread: Thread, content: tuple[UserInput, ...]) -> Prompting:
    """A prompt is on its way: codex will echo it, and the echo is not a new message."""
    text = prompt_of(thread.scribe, content).text
    if content:
        thread.prompts.append(text)  # empty for a prompt of attachments alone
    return Prompting(thread, text, joins=thread.running is not None)
