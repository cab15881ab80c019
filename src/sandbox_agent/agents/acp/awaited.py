"""What we wait for: what was meant by a request of ours that the agent has not answered yet."""

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
    """A choice of ours; without a name, one of a recorded client's."""

    conversation: AcpConversation
    what: Choosing | None = None
    value: str = ""


class Listing(Struct, frozen=True):
    """A session that is opened only to see what it offers."""


class Forgetting(Struct, frozen=True):
    offer: Offer


Awaited = Greeting | Opening | Prompting | Choose | Listing | Forgetting
