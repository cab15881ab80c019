"""Twenty thousand events in one session: opened, scrolled and written to without jank.

What is asserted is the time that the page's own thread needs for a frame: it is the same on a busy machine, where
frames are late through no fault of the page. The frames per second are printed (`pytest -s`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import CDPSession, Page, expect
from tests.daemons import Daemon, client_of, running

from .long_session import repeat_turns
from .window import Window

EVENTS = 20_000
SECONDS = 2
FRAME_MS = 1000 / 60

SCROLL = """
async ([seconds, step]) => {
  const box = document.querySelector('.transcript');
  const from = performance.now();
  let frames = 0, direction = -1;
  while (performance.now() - from < seconds * 1000) {
    await new Promise(requestAnimationFrame);
    frames += 1;
    if (box.scrollTop <= 0) direction = 1;
    box.scrollTop += direction * step;
  }
  return frames;
}
"""


def busy_seconds(inspector: CDPSession) -> float:
    """How long the page's thread has worked so far."""
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def test_a_long_session_scrolls_smoothly(new_page: Callable[[], Page], tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        session = client.create()
        for prompt in ("markdown", "thinking", "tool", "parallel", "subagent", "usage"):
            client.turn(session, prompt)
        client.sessions.clear()  # nothing to check at the end: the copies tell the agent's times and ids again
        daemon.stop()
        many = repeat_turns(daemon.data_dir, session, EVENTS)
        daemon.start()

        window = Window(new_page(), daemon)
        window.open(f"#/sessions/{session}")
        window.page.keyboard.press("Alt+d")
        expect(window.page.locator(".debugCount")).to_have_text(f"{many / 1000:.1f}k events")
        window.page.keyboard.press("Alt+d")
        inspector = window.page.context.new_cdp_session(window.page)
        inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
        for step in (60, 600):
            before = busy_seconds(inspector)
            frames = window.page.evaluate(SCROLL, [SECONDS, step])
            work_ms = (busy_seconds(inspector) - before) * 1000 / frames
            print(
                f"{many} events, {step} px a frame: {frames / SECONDS:.0f} fps, {work_ms:.1f} ms of work a frame"
            )
            assert work_ms < FRAME_MS
        assert window.page.locator(".transcript .row").count() < 120, "only what is on the screen is drawn"

        window.button("To the end").click()
        window.say("hello at the end")
        window.sees("You said: hello at the end")
