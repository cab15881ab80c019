"""Usage: what turns have spent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct, field

from ..errors import InvalidRequest, Unavailable
from ..runtime.daemon import Daemon
from ..schema.usage import UsageGroup, UsageReport, UsageSum
from .operation import operation

MAX_ROWS = 1_000
FIRST, LAST = "", "~"
"""Before and after every time."""


class ReadUsage(Struct, frozen=True):
    by: Annotated[UsageGroup, Meta(description="How to group the turns.")] = "day"
    since: Annotated[
        str | None,
        Meta(
            description="Only turns that ended at this time or later: ISO 8601, UTC unless it has an offset."
        ),
    ] = field(default=None, name="from")
    until: Annotated[str | None, Meta(description="Only turns that ended before this time.")] = field(
        default=None, name="to"
    )


@operation(
    "GET",
    "/v1/usage",
    InvalidRequest,
    Unavailable,
    name="usage.get",
    examples=(
        "sandbox-agent usage",
        "sandbox-agent usage --by model --since 2026-01-01 --until 2026-02-01",
    ),
)
async def get(daemon: Daemon, request: ReadUsage) -> UsageReport:
    """Sum up tokens and cost, as the agents reported them.

    Unknown is not zero: `turnsWithoutCost` says how many turns a sum leaves out, and a sum without any known value is
    absent. Turns of deleted sessions are included.
    """
    since = None if request.since is None else _moment(request.since, "from")
    until = None if request.until is None else _moment(request.until, "to")
    if since is not None and until is not None and since > until:
        raise InvalidRequest("`to` is before `from`", field="to")
    store, by = daemon.log.store, request.by
    span = (since or FIRST, until or LAST)
    rows, total = await daemon.log.look_up(
        lambda: (store.usage(*span, by, MAX_ROWS + 1), store.usage(*span, None, 1))
    )
    shown = rows[:MAX_ROWS]
    if by == "day":
        shown.reverse()  # the newest days are kept, and the oldest one comes first
    nothing = UsageSum(None, 0, 0, 0)
    return UsageReport(by, shown, total[0] if total else nothing, since, until, len(rows) > MAX_ROWS)


def _moment(text: str, name: str) -> str:
    """A time in the format of the log."""
    try:
        moment = datetime.fromisoformat(text)
        in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidRequest(
            f"`{text[:40]}` is not a time, e.g. 2026-01-27 or 2026-01-27T19:10:11Z", field=name
        ) from None
    return in_utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
