"""The desktop's tab, in a real browser, on a real desktop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.daemons import Client, Daemon, client_of, done, running, wait_until
from tests.desktops import form, require_desktop, wait_for_form

from .window import Window

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "computer-use.png"
RED_IN_VIEW = """
(canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let [left, top, right, bottom] = [1e9, 1e9, -1, -1];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] < 200 || data[at + 1] > 40 || data[at + 2] > 40) continue;
    const [x, y] = [(at / 4) % canvas.width, Math.floor(at / 4 / canvas.width)];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  const scale = canvas.getBoundingClientRect().width / canvas.width;
  return right < 0 ? null : [(left + right) / 2, (top + bottom) / 2, scale];
}
"""
"""The middle of what is red, and how much smaller the view is than the desktop."""


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Daemon]:
    require_desktop()
    with running(Daemon(tmp_path / "data", "--no-token")) as daemon:
        yield daemon


def red(view: Locator) -> tuple[float, float, float] | None:
    found = view.evaluate(RED_IN_VIEW)
    return tuple(found) if found else None


def press(view: Locator) -> None:
    found = red(view)
    assert found is not None
    x, y, scale = found
    view.click(position={"x": x * scale, "y": y * scale})


@pytest.mark.long
def test_the_live_view_shows_a_moving_window_and_takes_a_click(
    new_page: Callable[[], Page], own_daemon: Daemon, tmp_path: Path, accept: bool
) -> None:
    page = new_page()
    window = Window(page, own_daemon)
    with client_of(own_daemon) as client:
        session = client.create(title="Test the form", directory="/")
        window.enter(session)
        page.keyboard.press("Alt+d")
        page.get_by_role("tab", name="Desktop", exact=True).click()
        page.get_by_label("Size").select_option("1024x768")
        page.get_by_role("button", name="Start the desktop").click()
        view = page.get_by_label("Live view of the desktop").locator("canvas")
        expect(page.locator(".desktopScreen")).to_have_attribute("data-state", "open")

        state = tmp_path / "form"
        launched = done(client.post("/v1/desktop/launch", form(state)))
        wait_until(lambda: red(view) is not None)
        before = red(view)
        place = f"/v1/desktop/windows/{launched['windowId']}/move"
        done(client.post(place, {"x": 500, "y": 400}))
        wait_until(lambda: red(view) not in (None, before) and _is_at(red(view), 600, 570))
        press(view)
        wait_for_form(state, lambda form: form["pressed"] == 1)

        page.get_by_label("View only").check()
        press(view)
        page.get_by_label("View only").uncheck()
        press(view)
        wait_for_form(state, lambda form: form["pressed"] == 2)

        _the_rest_of_the_tab(page, client)
        if accept:
            page.get_by_role("button", name="Wide panel").click()
            page.screenshot(path=PICTURE)
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_role("button", name="Start the desktop")).to_be_visible()


def _is_at(found: tuple[float, float, float] | None, x: int, y: int) -> bool:
    return found is not None and abs(found[0] - x) < 4 and abs(found[1] - y) < 4


def _the_rest_of_the_tab(page: Page, client: Client) -> None:
    windows = page.get_by_role("region", name="Windows")
    expect(windows.get_by_role("button", name="Form für Tests")).to_be_visible()
    page.get_by_label("Text of the clipboard").fill("from the page ✓")
    page.get_by_role("button", name="Write", exact=True).click()
    wait_until(lambda: done(client.get("/v1/desktop/clipboard"))["text"] == "from the page ✓")
    page.get_by_role("button", name="Record", exact=True).click()
    page.get_by_role("button", name="Stop recording").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save rec_1.mp4").click()
    assert saving.value.suggested_filename == "rec_1.mp4"
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save a screenshot").click()
    assert saving.value.path().read_bytes()[:4] == b"\x89PNG"


def test_a_new_session_may_use_the_desktop(window: Window, client: Client) -> None:
    """The mock agent takes no MCP servers, so the daemon refuses it, and says so."""
    window.enter(client.create())
    window.page.keyboard.press("Alt+n")
    form = window.page.get_by_role("dialog", name="New session")
    form.get_by_role("radio", name="mock").check()
    form.get_by_text("Desktop", exact=True).click()
    form.get_by_label("The agent may look at the desktop").check()
    form.get_by_text("Desktop (1)", exact=True).click()
    with window.page.expect_request(lambda request: request.method == "POST") as asked:
        form.get_by_role("button", name="Start").click()
    assert (asked.value.post_data_json or {})["desktop"] is True
    expect(form.get_by_role("alert")).to_contain_text("cannot use the desktop")
