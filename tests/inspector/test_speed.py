"""Twenty thousand events in one session: opened, scrolled and written to as smoothly as two thousand.

Compared is the time that the page's own thread needs for a frame in a short session and in a long one. Milliseconds
and frames per second depend on the machine and are only printed (`pytest -s`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import CDPSession, Page, expect
from tests.daemons import Daemon, client_of, running

from .long_session import repeat_turns
from .window import Window

SHORT, LONG = 2_000, 20_000
SECONDS = 2

SCROLL = """
async ([seconds, step]) => {
  const box = document.querySelector('.sa-transcript');
  const from = performance.now();
  let frames = 0, direction = -1;
  while (performance.now() - from < seconds * 1000) {
    await new Promise(requestAnimationFrame);
    frames += 1;
    if (box.scrollTop <= 0) direction = 1;
    if (box.scrollTop >= box.scrollHeight - box.clientHeight - 1) direction = -1;
    box.scrollTop += direction * step;
  }
  return frames;
}
"""


def busy_seconds(inspector: CDPSession) -> float:
    """How long the page's thread has worked so far."""
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def work_per_frame(window: Window, inspector: CDPSession, step: int) -> float:
    """Milliseconds of work for each frame while the transcript scrolls by so many pixels a frame."""
    before = busy_seconds(inspector)
    frames = int(window.page.evaluate(SCROLL, [SECONDS, step]))
    work_ms = (busy_seconds(inspector) - before) * 1000 / frames
    print(f"{step} px a frame: {frames / SECONDS:.0f} fps, {work_ms:.1f} ms of work a frame")
    return work_ms


def test_a_long_session_scrolls_as_smoothly_as_a_short_one(
    new_page: Callable[[], Page], tmp_path: Path
) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        sessions = {events: client.create() for events in (SHORT, LONG)}
        for session in sessions.values():
            for prompt in ("markdown", "thinking", "tool", "parallel", "subagent", "usage"):
                client.turn(session, prompt)
        client.sessions.clear()  # nothing to check at the end: the copies tell the agent's times and ids again
        daemon.stop()
        counts = {
            session: repeat_turns(daemon.data_dir, session, events) for events, session in sessions.items()
        }
        daemon.start()

        window = Window(new_page(), daemon)
        inspector = window.page.context.new_cdp_session(window.page)
        inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
        work = []
        for session, events in counts.items():
            window.open(f"#/sessions/{session}")
            window.page.keyboard.press("Alt+d")
            expect(window.page.locator(".debugCount")).to_have_text(
                f"{events:,} events" if events < 10_000 else f"{events / 1000:.1f}k events"
            )
            window.page.keyboard.press("Alt+d")
            work.append([work_per_frame(window, inspector, step) for step in (60, 600)])
        short, long = work
        assert all(more < 2 * less + 2 for less, more in zip(short, long, strict=True)), work
        assert window.page.locator(".sa-transcript .sa-row").count() < 120, (
            "only what is on the screen is drawn"
        )

        window.button("To the end").click()
        window.say("hello at the end")
        window.sees("You said: hello at the end")
