"""What an installation tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct


class Progress(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One step of an installation."""

    stage: Annotated[
        Literal["waiting", "asking", "downloading", "unpacking", "checking", "failed"],
        Meta(
            description="`waiting` is for another installation of the agent to end; after `failed` the next source is asked."
        ),
    ]
    source: Annotated[str | None, Meta(description="Where from: `publisher`, `npm` or `mirror`.")] = None
    file: Annotated[str | None, Meta(description="What is downloaded.")] = None
    bytes: Annotated[int, Meta(description="How much of it is there.")] = 0
    total: Annotated[int | None, Meta(description="How much it is, where that is known.")] = None
    reason: Annotated[str | None, Meta(description="Why this source failed.")] = None


Tell = Callable[[Progress], None]


def to_nobody(progress: Progress) -> None:
    """For installations that nobody watches."""
