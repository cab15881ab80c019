"""Limits of a session: how much its turns may spend, and how long they may take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

LimitName = Literal["maxTurns", "maxCostUsd", "maxTokens", "maxTurnSeconds", "maxSessionSeconds"]

MAX_LIMIT = 1_000_000_000_000
"""No limit is higher. It also keeps infinity out."""

Count = Annotated[int, Meta(ge=1, le=MAX_LIMIT)]
Amount = Annotated[float, Meta(gt=0, le=MAX_LIMIT)]

Turns = Annotated[Count | None, Meta(description="Turns that may start.")]
Cost = Annotated[Amount | None, Meta(description="Cost of all turns in US dollars, as the agent reports it.")]
Tokens = Annotated[Count | None, Meta(description="Input and output tokens of all turns.")]
TurnSeconds = Annotated[Amount | None, Meta(description="Seconds that a turn may take.")]
SessionSeconds = Annotated[Amount | None, Meta(description="Seconds from the creation of the session.")]


class SessionLimits(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The limits of a session; what is absent is not limited."""

    max_turns: Turns = None
    max_cost_usd: Cost = None
    max_tokens: Tokens = None
    max_turn_seconds: TurnSeconds = None
    max_session_seconds: SessionSeconds = None


class Limits(Struct, frozen=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """Limits to set. An absent one stays as it is; null removes it."""

    max_turns: Turns | UnsetType = UNSET
    max_cost_usd: Cost | UnsetType = UNSET
    max_tokens: Tokens | UnsetType = UNSET
    max_turn_seconds: TurnSeconds | UnsetType = UNSET
    max_session_seconds: SessionSeconds | UnsetType = UNSET

    def applied_to(self, limits: SessionLimits) -> SessionLimits:
        changed: dict[str, Any] = {
            name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET
        }
        return msgspec.structs.replace(limits, **changed)


class ReachedLimit(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A limit that a session has reached."""

    limit: LimitName
    value: float
    used: float

    @property
    def words(self) -> str:
        """What happened, in a few words."""
        return _WORDS[self.limit].format(value=f"{self.value:,.10g}", used=f"{self.used:,.6g}")


_WORDS: dict[LimitName, str] = {
    "maxTurns": "the session has used {used} of {value} turns",
    "maxCostUsd": "the session has spent ${used} of ${value}",
    "maxTokens": "the session has used {used} of {value} tokens",
    "maxTurnSeconds": "the turn took longer than {value} s",
    "maxSessionSeconds": "the session is older than {value} s",
}
