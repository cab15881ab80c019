"""The torture of the daemon: its ledger notices every kind of broken promise, and a short campaign finds none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tools.torture.ledger import Promised, broken_promises, digest

CHECKOUT = Path(__file__).parents[2]


def event(sequence: int, type: str, **data: object) -> bytes:
    return msgspec.json.encode(
        {
            "event_id": f"evt_{sequence}",
            "sequence": sequence,
            "time": "2026-01-01T00:00:00.000Z",
            "session_id": "s",
            "native_session_id": None,
            "source": "daemon",
            "synthetic": True,
            "type": type,
            "data": data,
            "raw": None,
        }
    )


def item(status: str, *content: object) -> dict[str, object]:
    ids = {"item_id": "itm_1", "native_item_id": None, "parent_id": None}
    return {**ids, "kind": "message", "role": "user", "status": status, "content": content}


LOG = [
    event(1, "session.started"),
    event(2, "turn.started", phase="started", turn_id="turn_1"),
    event(3, "item.started", item=item("in_progress")),
    event(4, "item.delta", item_id="itm_1", native_item_id=None, delta="hello"),
    event(5, "item.completed", item=item("completed", {"type": "text", "text": "hello"})),
    event(
        6,
        "turn.ended",
        phase="ended",
        turn_id="turn_1",
        metadata={"stop_reason": "end_turn", "duration_ms": 1},
    ),
]


@pytest.fixture
def promised() -> Promised:
    promised = Promised()
    promised.turns["turn_1"] = "hello"
    promised.sent.add("hello")
    for sequence, body in enumerate(LOG, 1):
        promised.see(sequence, body)
    return promised


def test_a_correct_log_breaks_no_promise(promised: Promised) -> None:
    assert broken_promises(promised, LOG, (), at_rest=True) == []


def test_a_message_that_still_waits_is_not_lost(promised: Promised) -> None:
    promised.turns["turn_2"] = "later"
    assert broken_promises(promised, LOG, {"turn_2"}, at_rest=False) == []
    at_rest = broken_promises(promised, LOG, {"turn_2"}, at_rest=True)
    assert at_rest == ["turn_2 started 0 times and ended 0 times"]


def changed(log: list[bytes]) -> list[bytes]:
    return [*log[:3], log[3].replace(b"evt_4", b"evt_9"), *log[4:]]


@pytest.mark.parametrize(
    ("promise", "log", "words"),
    [
        (None, LOG[:5], ["6: a reader saw this event, and it is lost"]),
        (None, changed(LOG), ["4: not what a reader saw"]),
        (lambda promised: promised.see(1, b"other"), LOG, ["1: two readers saw different bytes"]),
        (lambda promised: promised.turns.update(turn_2="x"), LOG, ["turn_2 was acknowledged and is lost"]),
        (
            lambda promised: promised.turns.update(turn_1="other"),
            LOG,
            ["turn_1 says 'hello' instead of 'other'"],
        ),
        (
            lambda promised: promised.answered.add("perm_1"),
            LOG,
            ["the answer to perm_1 was acknowledged and is lost"],
        ),
        (
            lambda promised: setattr(promised, "ended", True),
            LOG,
            ["terminate was acknowledged, and the session has not ended"],
        ),
    ],
)
def test_a_broken_promise_is_named(
    promised: Promised, promise: Callable[[Promised], None] | None, log: list[bytes], words: list[str]
) -> None:
    if promise is not None:
        promise(promised)
    assert broken_promises(promised, log, (), at_rest=False) == words


def test_a_gap_and_a_broken_rule_are_named(promised: Promised) -> None:
    found = broken_promises(Promised(), [LOG[0], LOG[2]], (), at_rest=False)
    assert found == ["3: sequence is not 2", "3: message itm_1 starts outside a turn"]


def test_a_log_that_changes_has_another_digest() -> None:
    assert digest(LOG) == digest(iter(LOG))
    assert digest(LOG) != digest(changed(LOG))


def test_a_message_that_ran_twice_is_named(promised: Promised) -> None:
    again = [
        body.replace(b"turn_1", b"turn_2")
        .replace(b"itm_1", b"itm_2")
        .replace(b'"sequence":%d' % n, b'"sequence":%d' % (n + 5))
        for n, body in enumerate(LOG[1:], 2)
    ]
    assert broken_promises(promised, [*LOG, *again], (), at_rest=True) == ["'hello' ran 2 times"]


@pytest.mark.slow
def test_a_daemon_killed_again_and_again_keeps_every_promise() -> None:
    """`make torture` does it 200 times."""
    command = [sys.executable, "-m", "tools.torture", "--rounds", "5", "--users", "4"]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=110)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "| **0** |" in ran.stdout
