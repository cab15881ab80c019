"""What we wait for: what was meant by a request of ours that codex has not answered yet."""

from __future__ import annotations

from msgspec import Struct

from ...schema.features import Model
from .conversation import CodexConversation
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
    """A turn was running already: codex adds the prompt to it."""


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


class Nothing(Struct, frozen=True):
    pass


Awaited = Greeting | Opening | Prompting | Beginning | Stopping | Leaving | Listing | Nothing
