"""Answers of many megabytes: the page stays usable, and the work that it has grows with their length, not faster.

Compared is the time that the page's own thread works for a quarter of the answer and for all of it. The seconds
themselves depend on the machine and are only printed (`pytest -s`).
"""

from __future__ import annotations

import pytest
from playwright.sync_api import CDPSession, expect
from tests.daemons import Client

from .window import Window

# A bit of everything; no empty lines at the end, so that only the length splits the rest.
MARKDOWN = (
    "Some **bold** words, a `code` span and a [link](https://example.com) that go on for a while.\n\n"
    "- one item\n- another\n\n```python\ndef f(x):\n    return x + 1\n```\n\n"
)


def busy_seconds(inspector: CDPSession) -> float:
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


# Four times the length is four times the work; work that grows with the square of the length would be sixteen times.
MAX_GROWTH = 8


@pytest.mark.parametrize(
    ("quarter", "whole"),
    [
        (MARKDOWN * (240_000 // len(MARKDOWN)), MARKDOWN * (960_000 // len(MARKDOWN))),
        ("**word** " * 25_000, "**word** " * 100_000),
        ("bigline 2500k", "bigline 10m"),
        ("flood 25 100k", "flood 100 100k"),
    ],
    ids=["1 MB of Markdown", "one paragraph of 1 MB", "one word of 10 MB", "10 MB that stream"],
)
def test_a_long_answer_takes_time_in_proportion_to_its_length(
    window: Window, client: Client, quarter: str, whole: str
) -> None:
    inspector = window.page.context.new_cdp_session(window.page)
    inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    worked = []
    for prompt in (quarter, whole):
        session = client.create()
        window.enter(session)
        before = busy_seconds(inspector)
        client.send(session, prompt)
        window.turn_is_over()
        worked.append(busy_seconds(inspector) - before)
    print(f"{worked[0]:.2f} s of work for a quarter, {worked[1]:.2f} s for all of it")
    assert worked[1] < MAX_GROWTH * max(worked[0], 0.1)
    assert window.page.locator(".sa-transcript *").count() < 5000, "only what is in sight is drawn"

    # It can be used: to its beginning and back, to write, and to read what comes then.
    window.log.evaluate("box => { box.scrollTop = 0; }")
    window.sees("Started")
    window.button("To the end").click()
    expect(window.log.locator(".sa-turn-end").last).to_be_in_viewport()
    window.say("and now?")
    window.sees("You said: and now?")
