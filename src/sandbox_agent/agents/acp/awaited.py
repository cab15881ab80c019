"""Our requests that the agent has not answered yet, and what each was for."""

from __future__ import annotations

from msgspec import Struct

from .options import Choosing, Offer
from .transcript import AcpConversation


class Greeting(Struct, frozen=True):
    pass


class Opening(Struct, frozen=True):
    conversation: AcpConversation
    resumes: bool


class Prompting(Struct, frozen=True):
    conversation: AcpConversation


class Choose(Struct, frozen=True):
    """A choice we requested; without a name, one that a recorded client requested."""

    conversation: AcpConversation
    what: Choosing | None = None
    value: str = ""


class Listing(Struct, frozen=True):
    """A session opened only to see what it offers."""


class Forgetting(Struct, frozen=True):
    offer: Offer


Awaited = Greeting | Opening | Prompting | Choose | Listing | Forgetting
