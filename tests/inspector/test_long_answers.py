"""Answers of many megabytes: the page stays quick, and the work that it has grows with their length, not faster.

What is asserted is the time that the page's own thread works, which is the same on a busy machine.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import CDPSession, expect
from tests.daemons import Client

from .window import Window

# Of everything a bit; without empty lines in the end, so that nothing but its length cuts the rest.
MARKDOWN = (
    "Some **bold** words, a `code` span and a [link](https://example.com) that go on for a while.\n\n"
    "- one item\n- another\n\n```python\ndef f(x):\n    return x + 1\n```\n\n"
)


def busy_seconds(inspector: CDPSession) -> float:
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


@pytest.mark.parametrize(
    ("prompt", "most_seconds"),
    [
        (MARKDOWN * (950_000 // len(MARKDOWN)), 1.0),
        ("**word** " * 100_000, 1.0),
        ("bigline 10m", 2.0),
        ("flood 100 100k", 3.0),
    ],
    ids=["1 MB of Markdown", "one paragraph of 1 MB", "one word of 10 MB", "10 MB that stream"],
)
def test_a_long_answer_is_drawn_quickly(
    window: Window, client: Client, prompt: str, most_seconds: float
) -> None:
    session = client.create()
    window.enter(session)
    inspector = window.page.context.new_cdp_session(window.page)
    inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy_seconds(inspector)
    client.send(session, prompt)
    window.turn_is_over()
    worked = busy_seconds(inspector) - before
    print(f"{worked:.2f} s of work")
    assert worked < most_seconds
    assert window.page.locator(".transcript *").count() < 5000, "only what is in sight is drawn"

    # It can be used: to its beginning and back, to write, and to read what comes then.
    window.log.evaluate("box => { box.scrollTop = 0; }")
    window.sees("Started")
    window.button("To the end").click()
    expect(window.log.locator(".turnEnd").last).to_be_in_viewport()
    window.say("and now?")
    window.sees("You said: and now?")
    assert busy_seconds(inspector) - before < most_seconds + 1
