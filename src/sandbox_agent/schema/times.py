"""The format of timestamps."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Time = Annotated[
    str, Meta(description="ISO 8601 in UTC, with milliseconds, e.g. `2026-01-27T19:10:11.123Z`.")
]
