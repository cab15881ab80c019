"""What turns have spent, summed up by agent, model, session or day."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .times import Time

UsageGroup = Literal["agent", "model", "session", "day"]


class UsageSum(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What some turns have spent. A sum is absent if nothing is known; otherwise it leaves out the turns without it."""

    key: Annotated[
        str | None,
        Meta(
            description="The agent, model, session or day (UTC); null if the model is unknown, and in the total."
        ),
    ]
    turns: int
    turns_without_tokens: Annotated[int, Meta(description="Turns whose tokens are unknown.")]
    turns_without_cost: Annotated[int, Meta(description="Turns whose cost is unknown.")]
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


class UsageReport(Struct, frozen=True, omit_defaults=True, rename="camel"):
    by: UsageGroup
    rows: Annotated[
        list[UsageSum], Meta(description="Days in order; other groups by cost, the highest first.")
    ]
    total: UsageSum
    since: Time | None = field(default=None, name="from")
    until: Time | None = field(default=None, name="to")
    truncated: Annotated[bool, Meta(description="There are more rows. The total includes them.")] = False
