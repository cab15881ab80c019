"""The tabs about the machine: terminals, processes, changes and files, in a real browser."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, WebSocketRoute, expect
from tests.daemons import PAUSE, SECONDS, Client, Daemon, client_of, done, running

from .window import Window

DROP = """
(element) => {
  const data = new DataTransfer();
  data.items.add(new File(['dropped'], 'dropped.txt'));
  for (const type of ['dragover', 'drop'])
    element.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
}
"""


def tab(window: Window, name: str, session: str) -> Locator:
    """Open a tab of the panel."""
    window.enter(session)
    window.page.keyboard.press("Alt+d")
    window.page.get_by_role("tab", name=name, exact=True).click()
    return window.page.get_by_role("tabpanel", name=name, exact=True)


def until(window: Window, holds: Callable[[], bool]) -> None:
    """Poll while the browser keeps running."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        window.page.wait_for_timeout(1000 * PAUSE)


def test_a_terminal_runs_vim_and_top_and_survives_a_lost_connection(
    window: Window, client: Client, tmp_path: Path
) -> None:
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    window.page.route_web_socket("**/terminal/ws", pass_on)
    panel = tab(window, "Terminal", client.create(directory=str(tmp_path)))
    panel.get_by_role("button", name="New terminal").last.click()
    keyboard = window.page.keyboard

    def enter(line: str) -> None:
        keyboard.insert_text(line)
        keyboard.press("Enter")

    screen = panel.locator(".xterm-rows")
    expect(panel.get_by_label("Terminal: bash")).to_be_focused()
    enter("echo $((6 * 7))")
    expect(screen).to_contain_text("42")

    enter("vim -u NONE note.txt")
    expect(screen).to_contain_text("note.txt")
    keyboard.type("ihello from vim")
    keyboard.press("Escape")
    expect(screen).to_contain_text("hello from vim")
    sockets[-1].close()
    until(window, lambda: len(sockets) == 2)
    expect(screen).to_contain_text("hello from vim")
    expect(panel.get_by_role("status")).to_have_count(0)
    enter(":wq")
    until(window, lambda: any(file.read_text() == "hello from vim\n" for file in tmp_path.glob("note.txt")))

    # Not a number that top may show: what is typed before top has ended goes to top.
    enter("top -d 1; echo left-$((6 * 8))-top")
    expect(screen).to_contain_text("PID USER")
    keyboard.type("q")
    expect(screen).to_contain_text("left-48-top")
    enter("printf '\\e[38;2;1;2;3mcoloured\\n'; exit 3")
    expect(panel.get_by_role("status")).to_have_text("Ended with exit code 3.")
    ended = panel.get_by_role("tab").inner_text()
    panel.get_by_role("button", name="New terminal").click()
    expect(panel.get_by_role("tab")).not_to_have_text(ended)
    expect(panel.get_by_label("Terminal: bash")).to_be_focused()
    keyboard.press("Shift+F6")
    expect(panel.get_by_role("tab")).to_be_focused()
    panel.get_by_role("button", name="End this terminal").click()
    window.button("End it").click()
    expect(panel.get_by_text("No terminal is open.")).to_be_visible()


def test_a_process_is_started_read_and_stopped(window: Window, client: Client, tmp_path: Path) -> None:
    panel = tab(window, "Processes", client.create(directory=str(tmp_path)))
    command = panel.get_by_label("Command")
    command.fill("pwd; exec sleep 600")
    command.press("Enter")
    detail = panel.get_by_label("Process", exact=True)
    expect(detail.get_by_label("Output", exact=True)).to_have_text(str(tmp_path))
    detail.get_by_role("button", name="Stop").click()
    row = panel.get_by_role("region", name="Processes").get_by_role("button", name="pwd; exec sleep 600")
    expect(row).to_contain_text("SIGTERM")
    detail.get_by_role("button", name="Forget").click()
    expect(row).to_have_count(0)


def hold(window: Window, path: str, method: str) -> list[Route]:
    """Hold requests back, so that a user is faster than the daemon."""
    held: list[Route] = []

    def decide(route: Route) -> None:
        if route.request.method == method:
            held.append(route)
        else:
            route.continue_()

    window.page.route(path, decide)
    return held


def test_a_command_is_started_once_however_often_one_presses_enter(window: Window, client: Client) -> None:
    panel = tab(window, "Processes", client.create())
    held = hold(window, "**/v1/processes*", "POST")
    command = panel.get_by_label("Command")
    command.fill("echo once only")
    command.press("Enter")
    command.press("Enter")
    until(window, lambda: len(held) > 0)
    held[0].continue_()
    rows = panel.get_by_role("region", name="Processes").get_by_role("button", name="echo once only")
    expect(rows).to_have_count(1)
    expect(command).to_have_value("")
    assert len(held) == 1
    window.page.unroute_all(behavior="wait")


def test_the_desktop_tab_says_when_the_daemon_no_longer_answers(window: Window, client: Client) -> None:
    panel = tab(window, "Desktop", client.create())
    expect(panel.locator(".desktopTab")).to_be_visible()
    problem = (
        b'{"type": "urn:sandbox-agent:error:internal", "title": "", "status": 500, "detail": "out of order"}'
    )
    window.page.route("**/v1/desktop/status", lambda route: route.fulfill(status=500, body=problem))
    expect(panel.get_by_text("out of order")).to_be_visible()
    window.page.unroute_all(behavior="wait")
    expect(panel.get_by_text("out of order")).to_have_count(0)


def test_changes_are_shown_reverted_and_brought_back(window: Window, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text("def one():\n    pass\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    session = client.create(directory=str(tmp_path))
    panel = tab(window, "Changes", session)
    expect(panel.get_by_text("The directory is as it was")).to_be_visible()
    file.write_text("def two():\n    pass\n")
    panel.get_by_role("button", name="Refresh").click()
    change = panel.get_by_role("region", name="main.py")
    change.get_by_role("button", name="main.py").first.click()
    expect(panel.get_by_label("Change of main.py")).to_contain_text("def two():")

    file.write_text("def three():\n    pass\n")
    revert = panel.get_by_role("button", name="Revert main.py")
    revert.click()
    expect(panel.get_by_role("alert")).to_contain_text("nothing was reverted")
    assert file.read_text() == "def three():\n    pass\n"
    expect(panel.get_by_label("Change of main.py")).to_contain_text("def three():")
    revert.click()
    expect(change).to_have_count(0)
    assert file.read_text() == "def one():\n    pass\n"
    panel.get_by_role("button", name="Undo revert").click()
    expect(change).to_be_visible()
    assert file.read_text() == "def three():\n    pass\n"


def test_a_name_that_turns_its_direction_is_shown_exactly(
    window: Window, client: Client, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    session = client.create(directory=str(tmp_path))
    (tmp_path / "cod\u202efdp.sh").touch()
    shown = "codU+202Efdp.sh"
    expect(tab(window, "Changes", session).locator(".changePath")).to_have_text(shown)
    window.page.get_by_role("tab", name="Files").click()
    window.page.locator(".fileRow .fileName", has_text=shown).click()
    expect(window.page.locator(".fileView .fileName")).to_have_text(shown)


def test_files_are_read_edited_uploaded_and_downloaded(
    window: Window, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "main.py").write_bytes(b"def one():\r\n    return 1\r\n")
    (tmp_path / "page.html").write_text("<h1 id=planted>planted</h1>")
    panel = tab(window, "Files", client.create(directory=str(tmp_path)))
    panel.get_by_role("button", name="src", exact=True).click()
    panel.get_by_role("button", name="main.py", exact=False).first.click()
    view = panel.get_by_role("region", name="main.py", exact=True)
    expect(view.locator(".sa-code-keyword").first).to_have_text("def")

    view.get_by_role("button", name="Edit").click()
    content = view.get_by_label("File content")
    content.fill("def two():\n    return 2\n")
    panel.get_by_role("button", name="page.html").first.click()
    expect(panel.get_by_label("Content of page.html")).to_contain_text("<h1 id=planted>")
    expect(window.page.locator("#planted")).to_have_count(0)
    panel.get_by_role("button", name="main.py", exact=False).first.click()
    expect(content).to_have_value("def two():\n    return 2\n")
    (folder / "main.py").write_text("somebody else\n")
    view.get_by_role("button", name="Save").click()
    expect(view).to_contain_text("The file has changed since you opened it.")
    assert (folder / "main.py").read_text() == "somebody else\n"
    view.get_by_role("button", name="Overwrite it").click()
    expect(view.get_by_role("button", name="Edit")).to_be_visible()
    assert (folder / "main.py").read_bytes() == b"def two():\r\n    return 2\r\n"

    panel.get_by_role("button", name="src", exact=True).evaluate(DROP)
    expect(panel.get_by_role("button", name="dropped.txt").first).to_be_visible()
    assert (folder / "dropped.txt").read_text() == "dropped"
    panel.get_by_role("button", name="src", exact=True).evaluate(DROP)
    expect(window.page.get_by_role("dialog", name="Replace files?")).to_contain_text("dropped.txt")
    window.button("Cancel").click()
    with window.page.expect_download() as download:
        view.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_bytes() == b"def two():\r\n    return 2\r\n"


def test_an_edit_is_saved_once_and_not_lost_with_the_page(
    window: Window, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("before\n")
    panel = tab(window, "Files", client.create(directory=str(tmp_path)))
    panel.get_by_role("button", name="note.txt").first.click()
    view = panel.get_by_role("region", name="note.txt", exact=True)
    view.get_by_role("button", name="Edit").click()
    content = view.get_by_label("File content")
    content.fill("after\n")
    held = hold(window, "**/v1/fs/file*", "PUT")
    content.press("Control+s")
    content.press("Control+s")
    until(window, lambda: len(held) > 0)
    held[0].continue_()
    expect(view.get_by_role("button", name="Edit")).to_be_visible()
    assert (tmp_path / "note.txt").read_text() == "after\n"
    assert len(held) == 1
    window.page.unroute_all(behavior="wait")

    view.get_by_role("button", name="Edit").click()
    content.press_sequentially("unsaved")
    with window.page.expect_event("dialog") as asked:
        window.page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    expect(content).to_have_value("unsavedafter\n")


def test_what_a_daemon_does_not_allow_is_explained_and_not_offered(
    new_page: Callable[[], Page], tmp_path: Path
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    flags = ("--no-token", "--no-processes", "--fs-root", str(root))
    with running(Daemon(tmp_path / "data", *flags)) as daemon, client_of(daemon) as client:
        window = Window(new_page(), daemon)
        session = client.create(directory=str(outside))
        panel = tab(window, "Terminal", session)
        for name, why in {
            "Terminal": "--no-processes",
            "Processes": "--no-processes",
            "Desktop": "--no-processes",
            "Files": "does not allow this",
        }.items():
            window.page.get_by_role("tab", name=name, exact=True).click()
            panel = window.page.get_by_role("tabpanel", name=name, exact=True)
            expect(panel.get_by_role("note")).to_contain_text(why)
            expect(panel.get_by_role("button")).to_have_count(0)


@pytest.fixture(autouse=True)
def no_processes_left(client: Client) -> None:
    """The daemon is shared: a terminal of another test would be shown first."""
    for process in done(client.get("/v1/processes"))["processes"]:
        client.post(f"/v1/processes/{process['id']}/kill")
        client.delete(f"/v1/processes/{process['id']}")
