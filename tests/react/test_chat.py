"""The chat of the example in a real browser, on a real daemon with the mock agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, Request, expect
from tests.daemons import Client, Daemon, client_of, running

from ..inspector.test_looks import AXE, FAULTS, LOW_CONTRAST
from .conftest import Project

pytestmark = pytest.mark.slow

Site = tuple[str, Path]


class Chat:
    """The example in one window, driven as a user would."""

    def __init__(self, page: Page, daemon: Daemon) -> None:
        self.page = page
        self.daemon = daemon

    @property
    def session(self) -> str:
        return self.page.url.split("#")[1]

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    @property
    def message(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def waiting(self) -> Locator:
        return self.page.get_by_role("region", name="Waiting for you")

    def say(self, text: str) -> None:
        self.message.fill(text)
        self.message.press("Enter")
        expect(self.message).to_have_value("")
        expect(self.log.get_by_label("You said").last).to_contain_text(text)

    def sees(self, text: str) -> None:
        expect(self.log.get_by_text(text).first).to_be_visible()

    def is_idle(self) -> None:
        expect(self.page.get_by_role("heading", level=2)).to_have_text("mock: idle")


@pytest.fixture
def daemon(tmp_path: Path, origin: Site) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "data", "--no-token", "--cors-allow-origin", origin[0])) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon) as client:
        yield client


@pytest.fixture
def chat(project: Callable[..., Project], daemon: Daemon, origin: Site, new_page: Callable[[], Page]) -> Chat:
    """The page as Vite builds it, opened."""
    return opened(project().vite(f"http://127.0.0.1:{daemon.port}"), daemon, origin, new_page())


def opened(built: Path, daemon: Daemon, origin: Site, page: Page) -> Chat:
    address, folder = origin
    built.rename(folder)
    page.goto(address)
    chat = Chat(page, daemon)
    expect(chat.message).to_be_focused()
    return chat


def test_a_conversation_with_a_permission_and_a_question(chat: Chat, client: Client) -> None:
    chat.say("hello")
    chat.sees("You said: hello")
    chat.is_idle()

    chat.say("permission echoed")
    card = chat.waiting.get_by_role("group", name="Permission")
    expect(card).to_contain_text("echo echoed")
    # The request is in one place, and not in the transcript as well.
    expect(chat.page.get_by_role("group", name="Permission")).to_have_count(1)
    card.get_by_role("button", name="Allow once").click()
    chat.sees("The command said: echoed")
    expect(chat.waiting).to_have_count(0)
    expect(chat.log.get_by_text("Allowed once")).to_be_visible()

    chat.say("question")
    chat.waiting.get_by_label("Green").check()
    chat.waiting.get_by_role("button", name="Answer", exact=True).click()
    chat.sees("You chose: Green.")
    chat.is_idle()
    client.sessions.append(chat.session)


def test_a_reload_shows_the_same_conversation(chat: Chat) -> None:
    chat.say("slow 60")
    chat.sees("Counting slowly")
    session = chat.session
    chat.page.reload()
    assert chat.session == session
    expect(chat.log.get_by_label("You said")).to_contain_text("slow 60")
    chat.page.get_by_role("button", name="Stop").click()
    expect(chat.log.get_by_text("Stopped")).to_be_visible()
    expect(chat.log.get_by_role("article")).to_have_count(2)


def test_a_daemon_that_is_restarted_is_found_again(chat: Chat, origin: Site) -> None:
    chat.say("hello")
    chat.sees("You said: hello")
    chat.is_idle()
    chat.daemon.kill()
    heading = chat.page.get_by_role("heading", level=2)
    expect(heading).to_contain_text("offline")
    chat.message.fill("still there")
    chat.message.press("Enter")
    expect(chat.page.get_by_role("alert")).to_contain_text("Not sent")
    chat.daemon.flags = ("--no-token", "--cors-allow-origin", origin[0], "--port", str(chat.daemon.port))
    chat.daemon.start()
    expect(heading).to_have_text("mock: idle")
    expect(chat.page.get_by_role("alert")).to_have_count(0)
    chat.message.press("Enter")
    chat.sees("You said: still there")
    expect(chat.log.get_by_role("article")).to_have_count(4)


@pytest.mark.parametrize("colours", ["dark", "light"])
def test_everyone_can_use_it(chat: Chat, colours: Literal["dark", "light"]) -> None:
    chat.page.emulate_media(color_scheme=colours)
    for prompt in ("markdown", "tool", "thinking"):
        chat.say(prompt)
        chat.is_idle()
    chat.say("permission echoed")
    expect(chat.waiting).to_be_visible()
    chat.page.add_script_tag(content=AXE.read_text())
    found: dict[str, Any] = chat.page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in found["violations"]] == []
    assert chat.page.evaluate(LOW_CONTRAST) == []
    assert chat.page.evaluate(FAULTS) == []
    ground = chat.log.evaluate("box => getComputedStyle(box.parentElement).backgroundColor")
    assert ground == {"dark": "rgb(16, 17, 20)", "light": "rgb(255, 255, 255)"}[colours]


CLASSES = r"""() => [...new Set([...document.styleSheets].filter((sheet) => sheet.href).flatMap((sheet) =>
    [...sheet.cssRules].flatMap((rule) => [...rule.cssText.matchAll(/\.([a-zA-Z][\w-]*)/g)].map((found) => found[1]))))]"""


def test_the_theme_is_the_pages_and_nothing_leaks_into_the_page(chat: Chat) -> None:
    chat.page.add_style_tag(content=".sandbox-agent { --accent-ground: rgb(1, 2, 3); }")
    chat.message.fill("hello")
    send = chat.page.get_by_role("button", name="Send")
    assert send.evaluate("button => getComputedStyle(button).backgroundColor") == "rgb(1, 2, 3)"
    looks = """(classes) => {
        const look = (name) => {
            const made = Object.assign(document.createElement(name), {className: classes});
            document.body.append(made);
            const style = getComputedStyle(made);
            const all = [...style].map((key) => `${key}: ${style.getPropertyValue(key)}`).join(';');
            made.remove();
            return all;
        };
        return ['button', 'input', 'ul', 'pre', 'h2', 'div'].map(look);
    }"""
    names = chat.page.evaluate(CLASSES)
    assert "sa-composer-box" in names
    others = " ".join({name for name in names if name != "sandbox-agent"})
    with_classes = chat.page.evaluate(looks, others)
    chat.page.evaluate(
        "() => [...document.styleSheets].filter((s) => s.href).forEach((s) => { s.disabled = true; })"
    )
    assert chat.page.evaluate(looks, others) == with_classes


# What pages and their frameworks do to classes, to elements, and to text that inherits it.
HOSTILE = (
    "display: none !important; position: fixed !important; color: red !important; padding: 40px !important;"
)
LOUD = """
    display: block; float: right; width: 300px; min-height: 90px; margin: 30px; padding: 30px;
    border: 9px dotted red; border-radius: 0; background: red; box-shadow: 0 0 9px red; color: lime;
    font: 40px/3 serif; letter-spacing: 9px; text-align: right; text-transform: uppercase; text-decoration: overline;
    vertical-align: super; opacity: 0.5; transition: all 1s; appearance: none; list-style: square; fill: red;
"""
INHERITED = """
    color: red; font: italic 700 30px/3 serif; letter-spacing: 5px; word-spacing: 9px; text-align: right;
    text-indent: 40px; text-transform: uppercase; white-space: pre;
"""
USUAL_CLASSES = (
    "active badge btn btn-primary col container content field form-control hidden input nav text title"
)

REMEMBER_LOOKS = """() => {
    const looks = () => [...document.querySelectorAll('.sandbox-agent, .sandbox-agent *')].map((element) => {
        const style = getComputedStyle(element);
        return {name: `${element.localName}.${element.getAttribute('class')}`, look: [...style].map((key) => [key, style.getPropertyValue(key)])};
    });
    const before = looks();
    window.changedLooks = () => {
        const after = looks();
        if (after.length !== before.length) return [`${before.length} elements became ${after.length}`];
        return after.flatMap(({name, look}, at) => look
            .filter(([, value], index) => value !== before[at].look[index][1])
            .map(([key, value]) => `${name} ${key}: ${value}`)).slice(0, 20);
    };
    return before.map(({name}) => name.split('.', 1)[0]);
}"""


def test_rules_of_the_page_do_not_change_the_chat(chat: Chat, client: Client) -> None:
    page = chat.page
    page.emulate_media(reduced_motion="reduce")
    # Tall enough for everything to be rendered.
    page.set_viewport_size({"width": 1280, "height": 3000})
    for prompt in ("markdown", "tool", "thinking", "subagent"):
        chat.say(prompt)
        chat.is_idle()
    folded = chat.log.get_by_role("button", expanded=False)
    while folded.count() > 0:
        folded.first.click()
    chat.say("permission echoed")
    expect(chat.waiting).to_be_visible()
    # Nothing else may change in the meantime, such as the time that a tool has been running.
    page.clock.set_fixed_time(datetime.now() + timedelta(hours=1))
    expect(chat.log.get_by_text("1 h", exact=True)).to_be_visible()
    chat.message.hover()
    # The chat keeps its place and size, whatever becomes of the page around it.
    page.add_style_tag(
        content=".chat { position: fixed; inset: 0; } .chat > :is(h1, h2) { position: absolute !important; }"
        "html { overflow: hidden; }"
    )

    drawn = page.evaluate(
        "() => [...document.querySelectorAll('.sandbox-agent *')].flatMap((e) => [...e.classList])"
    )
    assert {name for name in drawn if not name.startswith("sa-")} == set()
    names = {name for name in page.evaluate(CLASSES) if name.startswith("sa-")}
    kebab = {name.removeprefix("sa-") for name in names}
    camel = {re.sub("-(.)", lambda found: found[1].upper(), name) for name in kebab}
    classes = kebab | camel | set(USUAL_CLASSES.split())
    assert {"card", "row", "message", "button", "codeBlock"} <= classes

    elements = set(page.evaluate(REMEMBER_LOOKS)) - {"div", "span", "path", "br", "col", "colgroup"}
    assert {"button", "textarea", "table", "pre", "section", "svg", "h3"} <= elements
    assert page.evaluate("changedLooks()") == []
    page.add_style_tag(content="".join(f".{name} {{ {HOSTILE} }}\n" for name in sorted(classes)))
    assert page.evaluate("changedLooks()") == []
    page.add_style_tag(content=f"body {{ {INHERITED} }}\n{', '.join(sorted(elements))} {{ {LOUD} }}")
    assert page.evaluate("changedLooks()") == []
    # The page was really changed, and can change the chat on purpose.
    assert page.get_by_role("heading", level=1).evaluate("(h) => getComputedStyle(h).letterSpacing") == "5px"
    page.add_style_tag(content=".sandbox-agent .sa-bubble { color: rgb(1, 2, 3); }")
    assert page.evaluate("changedLooks()") != []


def test_react_18_and_plain_esbuild_do_as_well(
    project: Callable[..., Project], daemon: Daemon, origin: Site, new_page: Callable[[], Page]
) -> None:
    built = project("18").esbuild(f"http://127.0.0.1:{daemon.port}")
    chat = opened(built, daemon, origin, new_page())
    chat.say("markdown")
    chat.is_idle()
    expect(chat.log.get_by_role("article").last.locator("code").first).to_be_visible()


STRICT = """
function Switching({ first }: { first: string }) {
  const [id, show] = useState<string | null>(first);
  Object.assign(window, { show });
  return id === null ? <p>Closed</p> : <Chat id={id} />;
}
"""


def test_strict_mode_switching_sessions_and_unmounting_leave_no_stream(
    project: Callable[..., Project],
    daemon: Daemon,
    client: Client,
    origin: Site,
    new_page: Callable[[], Page],
) -> None:
    """In development, React mounts everything twice."""
    strict = project()
    program = strict.folder / "chat.tsx"
    text = program.read_text().replace(
        "<Chat id={id} />)", "<StrictMode><Switching first={id} /></StrictMode>)"
    )
    imports = 'import { StrictMode, useState } from "react";\n'
    program.write_text(imports + text.replace("const root =", f"{STRICT}\nconst root ="))
    page = new_page()
    streams: set[Request] = set()

    def ended(request: Request) -> None:
        streams.discard(request)

    def began(request: Request) -> None:
        if request.url.endswith("/v1/events/sse"):
            streams.add(request)

    page.on("request", began)
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    built = strict.esbuild(f"http://127.0.0.1:{daemon.port}", "--jsx-dev")
    assert any("react-dom-client.development" in file.read_text() for file in built.glob("*.js"))
    chat = opened(built, daemon, origin, page)
    chat.say("hello")
    chat.sees("You said: hello")
    chat.is_idle()
    assert len(streams) == 1

    other = client.create()
    chat.message.fill("a draft")
    page.evaluate("(id) => show(id)", other)
    expect(chat.message).to_have_value("")
    expect(chat.log.get_by_text("You said: hello")).to_have_count(0)
    chat.say("there")
    chat.sees("You said: there")
    page.evaluate("(id) => show(id)", chat.session)
    expect(chat.message).to_have_value("a draft")
    chat.sees("You said: hello")
    assert len(streams) == 1

    with page.expect_event("requestfailed", lambda request: request.url.endswith("/v1/events/sse")):
        page.evaluate("() => show(null)")
    assert streams == set()
