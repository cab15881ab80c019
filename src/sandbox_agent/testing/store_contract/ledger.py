"""The ledger: what turns have spent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ...schema.events import Usage
from ...schema.usage import UsageGroup, UsageSum
from ...store.base import Change, DeleteSession, LedgerRow, RecordUsage, SaveSession, Store
from .base import Contract
from .samples import record

ALWAYS = ("", "~")
CHEAP, DEAR = Usage(10, 2, 3, 4, 1, 0.25), Usage(100, 20, cost_usd=2.5)


def booked(
    number: int,
    usage: Usage | None,
    *,
    session: str = "a",
    agent: str = "mock",
    model: str | None = "m",
    day: int = 1,
) -> RecordUsage:
    moment = f"2026-01-{day:02}T00:00:{number:02}.000Z"
    return RecordUsage(LedgerRow(session, f"turn_{number}", agent, model, moment, usage))


class LedgerContract(Contract):
    def test_an_empty_ledger_has_no_sums(self, store: Store) -> None:
        assert store.usage(*ALWAYS, "day", 10) == store.usage(*ALWAYS, None, 10) == []

    def test_sums_leave_out_what_is_unknown_and_say_so(self, store: Store) -> None:
        store.write([booked(1, CHEAP), booked(2, Usage(5, 1)), booked(3, None)])
        assert store.usage(*ALWAYS, None, 10) == [UsageSum(None, 3, 1, 2, 15, 3, 3, 4, 1, 0.25)]

    def test_what_is_entirely_unknown_is_not_zero(self, store: Store) -> None:
        store.write([booked(1, None), booked(2, Usage(context_tokens=7))])
        assert store.usage(*ALWAYS, "agent", 10) == [UsageSum("mock", 2, 2, 2)]

    @pytest.mark.parametrize(
        ("by", "keys"),
        [("agent", ["b", "a"]), ("model", ["m", None]), ("session", ["y", "x"]), ("day", [2, 1])],
    )
    def test_turns_are_grouped(self, store: Store, by: UsageGroup, keys: list[str | int | None]) -> None:
        store.write(
            [
                booked(1, CHEAP, agent="a", session="x", model=None),
                booked(2, DEAR, agent="b", session="y", day=2),
                booked(3, None, agent="b", session="y", day=2),
            ]
        )
        found = store.usage(*ALWAYS, by, 10)
        expected = [f"2026-01-{key:02}" if isinstance(key, int) else key for key in keys]
        assert [row.key for row in found] == expected
        assert [(row.turns, row.cost_usd) for row in found] == [(2, 2.5), (1, 0.25)]
        assert store.usage(*ALWAYS, by, 1) == found[:1]

    def test_groups_with_an_unknown_cost_come_last_by_tokens(self, store: Store) -> None:
        store.write(
            [
                booked(1, Usage(5, 5), agent="few"),
                booked(2, Usage(50, 5), agent="many"),
                booked(3, CHEAP, agent="known"),
                booked(4, None, agent="nothing"),
                booked(5, None, agent="also nothing"),
            ]
        )
        found = [row.key for row in store.usage(*ALWAYS, "agent", 10)]
        assert found == ["known", "many", "few", "also nothing", "nothing"]

    def test_the_range_of_times_is_half_open(self, store: Store) -> None:
        store.write(booked(number, CHEAP) for number in (1, 2, 3))
        first, last = "2026-01-01T00:00:01.000Z", "2026-01-01T00:00:03.000Z"
        assert [row.turns for row in store.usage(first, last, None, 1)] == [2]

    def test_a_deleted_session_stays_in_the_ledger(self, store: Store) -> None:
        store.write([SaveSession(record("a")), booked(1, CHEAP)])
        store.write([DeleteSession("a")])
        store.write([booked(2, CHEAP)])
        assert [(row.key, row.turns) for row in store.usage(*ALWAYS, "session", 10)] == [("a", 2)]

    def test_a_write_that_fails_books_nothing(self, store: Store) -> None:
        def broken() -> Iterator[Change]:
            yield booked(1, CHEAP)
            raise RuntimeError

        with pytest.raises(RuntimeError):
            store.write(broken())
        assert store.usage(*ALWAYS, None, 1) == []

    def test_absurd_numbers_can_be_summed_up(self, store: Store) -> None:
        absurd = Usage(10**30, -5, cost_usd=1e300).bounded()
        store.write([booked(1, absurd), booked(2, absurd)])
        assert store.usage(*ALWAYS, None, 1) == [
            UsageSum(None, 2, 0, 0, 2 * 10**12, 0, cost_usd=2e12),
        ]
