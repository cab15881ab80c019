"""Looks that a machine can judge: contrast, names, overflow; in both colours and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect
from tests.daemons import Client, Daemon

from .window import Window

AXE = Path(__file__).parents[2] / "inspector" / "node_modules" / "axe-core" / "axe.min.js"
MACHINE = ("Changes", "Files", "Terminal", "Processes", "Desktop")
PHONE = ViewportSize(width=375, height=720)

# Every visible text against what lies behind it (WCAG 2, 1.4.3). Disabled things are exempt.
LOW_CONTRAST = """
() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const bad = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (element.closest('.sa-offscreen, :disabled, [aria-hidden=true], option')) continue;
    const behind = ground(element);
    const [a, b] = [light(over(rgba(getComputedStyle(element).color), behind)), light(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push([node.textContent.trim().slice(0, 40), element.className, Math.round(ratio * 100) / 100]);
  }
  return bad;
}
"""

# What is wider than the window, words that are wider than their button, and buttons and fields without a name.
FAULTS = """
() => [
  ...(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : []),
  ...[...document.querySelectorAll('button, a, input, select, textarea')]
    .filter((e) => e.checkVisibility())
    .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length))
    .map((e) => `no name: ${e.outerHTML.slice(0, 80)}`),
  ...[...document.querySelectorAll('.session button, .session input, .panel button')]
    .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => `out of the window: ${e.outerHTML.slice(0, 80)}`),
  ...[...document.querySelectorAll('.sa-button')]
    .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .map((e) => `too narrow for its words: ${e.textContent}`),
]
"""


# A transcript does not scroll sideways: what sticks out of it cannot be read.
STICKS_OUT = """
(box) => [...box.querySelectorAll('*')]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth)
  .map((e) => e.outerHTML.slice(0, 80))
"""


@pytest.fixture(params=["dark", "light"])
def busy(window: Window, client: Client, request: pytest.FixtureRequest) -> Window:
    """A session with something of everything, in both colours."""
    session = client.create(
        title="Everything at once, under a title that is a bit longer than one would like"
    )
    for prompt in ("markdown", "thinking", "tool 2", "error"):
        client.turn(session, prompt)
    client.send(session, "multi")
    client.send(session, "waits")
    window.page.emulate_media(color_scheme=request.param)
    window.enter(session)
    expect(window.card("Question")).to_be_visible()
    return window


# Where the colours make no difference that another test does not see.
in_one_colour = pytest.mark.parametrize("busy", ["dark"], indirect=True)


def faults(window: Window) -> list[Any]:
    return [*window.page.evaluate(FAULTS), *window.page.evaluate(LOW_CONTRAST)]


def test_everything_is_readable_and_named(busy: Window) -> None:
    for line in busy.log.locator(".sa-fold-line").all():
        line.click()
    assert faults(busy) == []
    busy.page.keyboard.press("Alt+d")
    for tab in (*MACHINE, "Setup", "HTTP", "Agents", "Connection", "Events"):
        busy.page.get_by_role("tab", name=tab).click()
        for coverage in busy.page.locator(".coverage summary").all():
            coverage.click()
        assert faults(busy) == [], tab
    busy.page.keyboard.press("Alt+d")
    busy.page.keyboard.press("Alt+n")
    expect(busy.page.get_by_role("radio", name="mock")).to_be_attached()
    assert faults(busy) == []


def axe_findings(window: Window, where: str = "body") -> list[str]:
    """What axe objects to below an element. It is given to the page as a debugger would: the page's policy lets no script in."""
    if not AXE.exists():
        pytest.skip("axe is not installed (`make test` does that where npm is)")
    if not window.page.evaluate("'axe' in window"):
        window.page.evaluate(AXE.read_text())
    found = window.page.evaluate("where => axe.run(where, {resultTypes: ['violations']})", where)
    return [
        f"{violation['id']}: {violation['help']}: {[node['html'][:120] for node in violation['nodes']]}"
        for violation in found["violations"]
    ]


@in_one_colour
def test_axe_finds_nothing(busy: Window) -> None:
    for line in busy.log.locator(".sa-fold-line").all():
        line.click()
    busy.page.keyboard.press("Control+f")
    assert axe_findings(busy) == []
    busy.page.keyboard.press("Alt+d")
    for tab in (*MACHINE, "Setup", "Events", "Usage", "HTTP", "Agents", "Connection"):
        busy.page.get_by_role("tab", name=tab).click()
        assert axe_findings(busy, ".panel") == [], tab
    busy.page.keyboard.press("Alt+n")
    form = busy.page.get_by_role("dialog", name="New session")
    form.get_by_text("MCP servers").click()
    form.get_by_role("button", name="Add a server").click()
    form.get_by_text("Environment", exact=True).click()
    assert axe_findings(busy, "dialog") == []


def test_axe_finds_nothing_on_the_connect_screen_and_in_an_empty_session(
    window: Window, client: Client
) -> None:
    window.enter(client.create())
    expect(window.page.get_by_label("Things to try")).to_be_visible()
    assert axe_findings(window) == []
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("menuitem", name="Disconnect").click()
    expect(window.page.get_by_label("Endpoint")).to_be_visible()
    assert axe_findings(window) == []


DOWNLOADED = """
document.fonts.ready.then(() => ["navigation", "resource"].flatMap((kind) =>
  performance.getEntriesByType(kind).map(({ name, encodedBodySize }) => [name, encodedBodySize])))
"""


def test_the_first_load_is_small_and_loads_nothing_from_elsewhere(
    new_page: Callable[[], Page], daemon: Daemon, client: Client
) -> None:
    session = client.create()
    page = new_page()
    # Over plain HTTP, browsers accept the smaller Brotli from their own machine alone.
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setAcceptedEncodings", {"encodings": ["gzip"]})
    window = Window(page, daemon)
    window.enter(session)
    expect(window.message).to_be_editable()
    sizes: dict[str, int] = dict(page.evaluate(DOWNLOADED))
    origin = f"http://127.0.0.1:{daemon.port}/"
    assert [url for url in sizes if not url.startswith(origin)] == []
    files = {url: size for url, size in sizes.items() if url.startswith(window.address)}
    assert any(url.endswith(".woff2") for url in files), "the font is the page's own"
    assert sum(files.values()) < 160_000, files
    # What draws terminals, reads Markdown and colours code is as large as everything else together.
    assert not any(name in url for url in files for name in ("terminalScreen", "markdown", "grammars")), files


def test_an_empty_session_has_three_things_to_try(window: Window, client: Client) -> None:
    session = client.create()
    window.enter(session)
    ideas = window.page.get_by_label("Things to try").get_by_role("button")
    expect(ideas).to_have_count(3)
    ideas.last.click()
    expect(window.message).to_have_value("help")
    expect(window.message).to_be_focused()
    window.message.press("Enter")
    window.turn_is_over()
    expect(ideas).to_have_count(0)


def test_the_first_tab_stop_leads_past_the_list(window: Window, client: Client) -> None:
    skip = window.button("Skip to the conversation")
    window.page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    window.page.keyboard.press("Enter")
    expect(window.page.get_by_role("main").get_by_role("button", name="New session")).to_be_focused()
    window.enter(client.create())
    skip.press("Enter")
    expect(window.message).to_be_focused()


# How many characters each line of a paragraph has, without the last.
LINES = """
(paragraph) => {
  const text = paragraph.firstChild;
  const range = new Range();
  const tops = [...text.data].map((_, at) => {
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().top;
  });
  const lines = Object.values(Object.groupBy(tops, (top) => top)).map(({ length }) => length);
  return lines.slice(0, -1);
}
"""


def test_lines_of_prose_have_about_72_characters(window: Window, client: Client) -> None:
    session = client.create()
    prose = "The quick brown fox jumps over the lazy dog, and nobody in the village knows why it does. "
    client.turn(session, prose * 12)
    window.page.set_viewport_size({"width": 1440, "height": 900})
    window.enter(session)
    expect(window.log.locator(".sa-markdown > p")).to_be_visible()
    window.page.evaluate("document.fonts.ready")
    for text in (".sa-markdown > p", ".sa-user-text"):
        lines = window.log.locator(text).evaluate(LINES)
        assert len(lines) > 10
        assert max(lines) <= 80, lines
        assert 64 <= sum(lines) / len(lines) <= 76, lines


@in_one_colour
def test_a_phone_shows_one_thing_at_a_time_and_nothing_sticks_out(busy: Window) -> None:
    busy.page.set_viewport_size(PHONE)
    sidebar = busy.page.get_by_role("navigation")
    expect(sidebar).to_be_hidden()
    assert faults(busy) == []
    busy.button("Panel (Alt D)").click()
    expect(busy.page.locator(".panel")).to_have_css("border-left-width", "0px")
    assert faults(busy) == []
    busy.page.get_by_role("tab", name="Agents").click()
    busy.page.get_by_text("Coverage:").first.click()
    assert faults(busy) == []
    busy.button("Close the panel").click()
    busy.button("Sessions").click()
    expect(sidebar).to_be_visible()
    assert faults(busy) == []


@in_one_colour
def test_nothing_is_squeezed_at_the_width_of_an_enlarged_page(busy: Window) -> None:
    """A page of 1280 pixels, enlarged four times (WCAG 2, 1.4.10)."""
    busy.page.set_viewport_size({"width": 320, "height": 640})
    busy.message.fill("whatever")
    expect(busy.button("Send answer")).to_be_visible()
    assert faults(busy) == []
    busy.page.get_by_label("Permission mode").select_option("Allow everything")
    expect(busy.page.get_by_label("Permission mode")).to_have_class("sa-quiet-select sa-dangerous")
    assert faults(busy) == []


def test_the_scrollbar_moves_nothing(window: Window, client: Client) -> None:
    """Rows and composer are in line, whether the transcript scrolls or not."""
    edges = "box => [box.getBoundingClientRect().left, box.getBoundingClientRect().right]"
    overflows = "box => box.scrollHeight > box.clientHeight"
    composer = window.page.locator(".sa-composer")
    short, long = client.create(), client.create()
    client.turn(short, "hi")
    for _ in range(3):
        client.turn(long, "markdown")
    for session, scrolls in ((short, False), (long, True)):
        for width in (1280, 800):
            window.page.set_viewport_size({"width": width, "height": 800})
            window.enter(session)
            window.turn_is_over()
            assert window.log.evaluate(overflows) == scrolls
            assert window.page.locator(".sa-transcript-rows").evaluate(edges) == composer.evaluate(edges)


def test_long_words_do_not_break_the_layout(window: Window, client: Client) -> None:
    def with_long_names(route: Route) -> None:
        text = route.fetch().text()
        named = text.replace('"bash"', f'"mcp__{"long_name_" * 8}"').replace('"Size"', f'"{"Heading" * 30}"')
        route.fulfill(body=named, content_type="application/json")

    session = client.create()
    for prompt in ("tool 2", "permission"):
        client.send(session, prompt)
    window.page.route("**/events?*", with_long_names)
    window.page.set_viewport_size(PHONE)
    window.enter(session)
    window.button("Reject…").click()
    window.page.get_by_label("Reason (sent to the agent)").fill("No" * 200)
    window.button("Reject").click()
    client.send(session, "multi")
    expect(window.card("Question")).to_be_visible()
    assert window.log.evaluate(STICKS_OUT) == []
    window.page.reload()
    expect(window.card("Question")).to_be_visible()
    assert window.log.evaluate(STICKS_OUT) == []
    window.page.unroute_all(behavior="wait")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_colour_of_a_terminal_can_be_read(
    window: Window, client: Client, colours: Literal["light", "dark"]
) -> None:
    def in_colours(route: Route) -> None:
        text = route.fetch().text()
        words = "".join(f"\\u001b[{code}m{code} " for code in (*range(30, 38), *range(90, 98)))
        route.fulfill(body=text.replace("1\\n2\\n3", words), content_type="application/json")

    session = client.create()
    client.turn(session, "tool")
    window.page.emulate_media(color_scheme=colours)
    window.page.route("**/events?*", in_colours)
    window.enter(session)
    window.tool("bash").click()
    expect(window.log.get_by_label("Output of bash")).to_contain_text("97")
    assert faults(window) == []
    window.page.unroute_all(behavior="wait")


def test_colours_for_a_dark_terminal_can_be_read_in_a_light_page(window: Window, client: Client) -> None:
    def in_white(route: Route) -> None:
        text = route.fetch().text()
        route.fulfill(
            body=text.replace("1\\n2\\n3", "\\u001b[38;5;231m1\\u001b[0m\\n2\\n3"),
            content_type="application/json",
        )

    session = client.create()
    client.turn(session, "tool")
    window.page.emulate_media(color_scheme="light")
    window.page.route("**/events?*", in_white)
    window.enter(session)
    window.tool("bash").click()
    output = window.log.get_by_label("Output of bash")
    expect(output.get_by_text("1")).to_have_css("color", "rgb(255, 255, 255)")
    assert faults(window) == []
    window.page.unroute_all(behavior="wait")


@pytest.mark.parametrize(("system", "offered"), [("light", "Dark"), ("dark", "Light")])
def test_the_menu_offers_the_other_colours(
    window: Window, system: Literal["light", "dark"], offered: str
) -> None:
    window.page.emulate_media(color_scheme=system)
    window.page.reload()
    ground = window.page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    window.page.get_by_role("button", name="Menu", exact=True).click()
    window.page.get_by_role("menuitem", name=offered).click()
    expect(window.page.locator("body")).not_to_have_css("background-color", ground)


@in_one_colour
def test_reduced_motion_is_respected(busy: Window) -> None:
    moving = "document.getAnimations().filter((a) => a.playState === 'running').length"
    assert busy.page.evaluate(moving) == 0
