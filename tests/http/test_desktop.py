"""The desktop over HTTP, on a real X server with real programs."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import (
    SECONDS,
    Client,
    Daemon,
    client_of,
    descendants,
    done,
    gone_within,
    running,
    wait_until,
)
from tests.desktops import FORM, RED, find, form, require_desktop, wait_for_form

CLIENT = Path(__file__).parents[2] / ".cache" / "published-client" / "node_modules" / "sandbox-agent"
TOKEN = "sixteen-characters-or-more"

pytestmark = pytest.mark.slow


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon has one desktop, so each test has its own."""
    require_desktop()
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        yield daemon


@pytest.fixture
def desktop(own_daemon: Daemon) -> Iterator[Client]:
    with client_of(own_daemon, TOKEN) as client:
        yield client


def act(client: Client, path: str, **body: object) -> Any:
    return done(client.post(f"/v1/desktop/{path}", body))


def look(client: Client, path: str, **query: object) -> Any:
    return done(client.get(f"/v1/desktop/{path}", **query))


def problem(response: Any) -> tuple[int, str, str | None]:
    problem = response.json()
    assert problem["status"] == response.status_code
    return problem["status"], problem["code"], problem.get("field")


# -- the published client -------------------------------------------------------------------------


@pytest.mark.skipif(
    not CLIENT.is_dir() or shutil.which("node") is None,
    reason="the published client is not in the cache (`make test` fetches it), or there is no node",
)
def test_every_desktop_method_of_the_published_client_works(own_daemon: Daemon, tmp_path: Path) -> None:
    script = Path(__file__).with_name("published_desktop.mjs")
    endpoint = f"http://127.0.0.1:{own_daemon.port}"
    app = form(tmp_path / "form")["app"]
    command = ["node", str(script), str(CLIENT), endpoint, TOKEN, app, str(FORM), str(tmp_path / "form")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=4 * SECONDS)
    assert ran.returncode == 0, ran.stderr
    invalid = [400, "desktop_invalid_action", "desktop_invalid_action"]
    size = {"width": 800, "height": 600, "dpi": 96}
    results = json.loads(ran.stdout)
    clicked = results.pop("clicked")
    assert results == {
        "inactive": {"state": "inactive"},
        "early": [409, "desktop_runtime_inactive", "desktop_runtime_inactive", None],
        "zero": [*invalid, "width"],
        "noStream": [409, "desktop_runtime_inactive", "desktop_runtime_inactive", None],
        "streamOff": [{"active": False}, {"active": False}],
        "started": ["active", size, [["Xvfb", True], ["openbox", True]]],
        "again": size,
        "noFocus": [404, "window_not_found", "window_not_found", None],
        "noApp": [404, "app_not_found", "app_not_found", None],
        "noTarget": [*invalid, "target"],
        "launched": ["number", "proc_"],
        "window": {
            "id": "string",
            "title": "Form für Tests",
            "x": 100,
            "y": 120,
            "width": 500,
            "height": 260,
            "isActive": True,
        },
        "focused": True,
        "noWindow": [404, "window_not_found", "window_not_found", None],
        "listed": ["Xvfb", "openbox", Path(app).name],
        "clipboard": {"selection": "clipboard", "text": "kopiert ✓"},
        "text": "Grüße, Ωμέγα 世界 €Xkopiert ✓",
        "moved": {"x": 5, "y": 6, "screen": 0},
        "position": {"x": 5, "y": 6, "screen": 0},
        "scrolled": {"x": 160, "y": 290, "screen": 0, "window": clicked["window"]},
        "dragged": [400, 200],
        "outside": [*invalid, "x"],
        "negative": [*invalid, "x"],
        "noClicks": [*invalid, "clickCount"],
        "noText": [*invalid, "text"],
        "noKey": [*invalid, "key"],
        "unknownKey": [*invalid, "key"],
        "selection": [*invalid, "selection"],
        "pictures": ["89504e", "ffd8ff", "524946"],
        "region": [30, 40],
        "noRegion": [*invalid, "width"],
        "tooWide": [*invalid, "width"],
        "tooSmall": [*invalid, "scale"],
        "notRecording": [409, "conflict", None, None],
        "recording": ["rec_1", "rec_1.mp4", "recording"],
        "second": [409, "conflict", None, None],
        "busy": [409, "conflict", None, None],
        "video": ["completed", "ftyp"],
        "recordings": ["rec_1"],
        "noRecording": [404, "not_found", None, None],
        "stream": [True, False],
        "stopped": [{"state": "inactive"}, {"state": "inactive"}],
        "left": [],
    }


# -- what is typed ----------------------------------------------------------------------------------


def test_text_is_typed_right_whatever_the_layout(desktop: Client, tmp_path: Path) -> None:
    """The Russian layout has no Latin letters; the second group is the active one."""
    act(desktop, "start")
    state = tmp_path / "form"
    act(desktop, "launch", **form(state))
    for layout in (["ru"], ["us,gr", "-option", "grp:shifts_toggle"]):
        switched = act(desktop, "launch", app="setxkbmap", args=layout)
        wait_until(
            lambda: done(desktop.get(f"/v1/processes/{switched['processId']}"))["status"] == "exited"  # noqa: B023
        )
    for key in ("Shift_L", "Shift_R"):
        act(desktop, "keyboard/down", key=key)
    for key in ("Shift_L", "Shift_R"):
        act(desktop, "keyboard/up", key=key)
    text = "Hello, Привет, größer: [a@b] {1} ½"
    act(desktop, "keyboard/type", text=text)
    wait_for_form(state, lambda form: form["text"] == text)


# -- its life -----------------------------------------------------------------------------------------


def test_nothing_is_left_after_kill_9_and_the_cut_recording_plays(own_daemon: Daemon, tmp_path: Path) -> None:
    with client_of(own_daemon, TOKEN) as client:
        act(client, "start", width=640, height=480)
        act(client, "launch", **form(tmp_path / "form"))
        done(client.post("/v1/desktop/stream/start"))
        recording = act(client, "recording/start", fps=10)
        wait_until(lambda: look(client, f"recordings/{recording['id']}")["bytes"] > 20_000)
    everything = descendants(own_daemon.pid)
    commands = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in everything}
    assert {"Xvfb", "openbox", "ffmpeg"} <= commands
    own_daemon.kill()
    assert gone_within(everything, 10) == []
    own_daemon.start()
    with client_of(own_daemon, TOKEN) as client:
        assert look(client, "status") == {"state": "inactive"}
        (cut,) = look(client, "recordings")["recordings"]
        assert (cut["id"], cut["status"]) == (recording["id"], "completed")
        video = tmp_path / "cut.mp4"
        video.write_bytes(client.get(f"/v1/desktop/recordings/{cut['id']}/download").content)
    probe = ["ffprobe", "-v", "quiet", "-count_frames", "-show_entries", "stream=nb_read_frames"]
    frames = subprocess.run(
        [*probe, "-of", "csv=p=0", str(video)], capture_output=True, text=True, timeout=60
    )
    assert int(frames.stdout.strip().strip(",")) >= 10


def test_a_desktop_that_crashes_says_so_and_can_be_started_again(desktop: Client) -> None:
    started = act(desktop, "start")
    pids = {process["name"]: process["pid"] for process in started["processes"]}
    os.kill(pids["Xvfb"], signal.SIGKILL)
    wait_until(lambda: look(desktop, "status")["state"] == "failed")
    assert gone_within(pids.values(), 10) == []
    assert look(desktop, "status")["lastError"]["code"] == "desktop_runtime_failed"
    assert problem(desktop.get("/v1/desktop/screenshot")) == (503, "desktop_runtime_failed", None)
    assert act(desktop, "start")["state"] == "active"


def test_a_program_that_is_launched_during_a_stop_ends_too(desktop: Client, own_daemon: Daemon) -> None:
    def launch() -> None:
        with client_of(own_daemon, TOKEN) as other:
            while other.post("/v1/desktop/launch", {"app": "sleep", "args": ["300"]}).status_code == 200:
                begun.set()

    for _ in range(5):
        act(desktop, "start")
        begun = threading.Event()
        with ThreadPoolExecutor() as pool:
            launching = [pool.submit(launch) for _ in range(4)]
            assert begun.wait(SECONDS)
            act(desktop, "stop")
            for client in launching:
                client.result()
        infos = done(desktop.get("/v1/processes", owner="desktop"))["processes"]
        assert [info for info in infos if info["status"] == "running"] == []


def test_clients_that_use_the_mouse_at_once_do_not_disturb_each_other(
    desktop: Client, own_daemon: Daemon, tmp_path: Path
) -> None:
    act(desktop, "start")
    state = tmp_path / "state.json"
    act(desktop, "launch", **form(state))
    wait_for_form(state, lambda found: True)
    x, y = find(desktop.get("/v1/desktop/screenshot").content, RED)

    def move() -> None:
        with client_of(own_daemon, TOKEN) as other:
            while not clicked.is_set():
                act(other, "mouse/move", x=1000, y=600)
                act(other, "mouse/drag", startX=900, startY=600, endX=1000, endY=650)

    clicked = threading.Event()
    with ThreadPoolExecutor() as pool:
        moving = pool.submit(move)
        try:
            for _ in range(5):
                act(desktop, "mouse/click", x=x, y=y)
        finally:
            clicked.set()
        moving.result()
    wait_for_form(state, lambda found: found["pressed"] == 5)


def test_the_display_needs_its_cookie_and_has_no_port(desktop: Client, own_daemon: Daemon) -> None:
    display = act(desktop, "start")["display"]
    environ = {**os.environ, "DISPLAY": display, "XAUTHORITY": "/dev/null"}
    refused = subprocess.run(["setxkbmap", "-query"], env=environ, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert (
        "uthoriz" in refused.stdout + refused.stderr
        or "cannot open" in refused.stdout + refused.stderr.lower()
    )
    done(desktop.post("/v1/desktop/stream/start"))
    assert listening(descendants(own_daemon.pid)) == []


def listening(pids: set[int]) -> list[str]:
    """The TCP ports on which these processes listen."""
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    ports = {row.split()[9]: row.split()[1] for table in tables for row in table if row.split()[3] == "0A"}
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            links = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()]
            found += [
                ports[link[8:-1]] for link in links if link.startswith("socket:[") and link[8:-1] in ports
            ]
    return found


def test_without_its_programs_the_desktop_says_what_to_install(tmp_path: Path) -> None:
    nothing = tmp_path / "bin"
    nothing.mkdir()
    with (
        running(Daemon(tmp_path / "data", "--no-token", env={"PATH": str(nothing)})) as daemon,
        client_of(daemon) as client,
    ):
        status = look(client, "status")
        assert (status["state"], status["lastError"]["code"]) == (
            "install_required",
            "desktop_dependencies_missing",
        )
        assert status["missingDependencies"] == ["Xvfb", "openbox", "ffmpeg", "x0vncserver", "xdg-open"]
        assert status["installCommand"] == "sandbox-agent install desktop --yes"
        for path, body in (("desktop/start", {}), ("sessions", {"agent": "mock", "desktop": True})):
            refused = client.post(f"/v1/{path}", body)
            assert refused.json()["status"] in (400, 503), refused.text


# -- the live view --------------------------------------------------------------------------------


def test_the_live_view_serves_rfb_to_clients_with_the_token(desktop: Client, own_daemon: Daemon) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{own_daemon.port}/v1/desktop/stream/rfb"

    def status(**options: Any) -> int:
        with pytest.raises(InvalidStatus) as refused, connect(options.pop("to", address), **options):
            pass
        return refused.value.response.status_code

    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert status() == 401
    assert status(additional_headers=bearer) == 409
    act(desktop, "start")
    done(desktop.post("/v1/desktop/stream/start"))
    assert status(additional_headers={**bearer, "Origin": "https://elsewhere.example"}) == 403
    with (
        connect(f"{address}?access_token={TOKEN}") as first,
        connect(address, additional_headers=bearer) as second,
    ):
        assert [first.recv(SECONDS), second.recv(SECONDS)] == [b"RFB 003.008\n"] * 2
        assert look(desktop, "stream/status")["viewers"] == 2
        done(desktop.post("/v1/desktop/stream/stop"))
    wait_until(lambda: look(desktop, "stream/status") == {"active": False})


# -- a browser ------------------------------------------------------------------------------------

PAGE = """<title>Seite</title><style>body{margin:0}button{position:fixed;left:20px;top:200px;width:200px;height:80px;
background:#f00;border:0}</style><input id=t autofocus style="position:fixed;left:20px;top:20px;width:600px;height:60px">
<button onclick="document.title = t.value"></button>"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_form_in_a_browser_is_filled_in_with_emoji(desktop: Client, tmp_path: Path) -> None:
    act(desktop, "start")
    page = f"data:text/html;base64,{base64.b64encode(PAGE.encode()).decode()}"
    flags = ["--no-sandbox", "--no-first-run", "--disable-gpu", f"--user-data-dir={tmp_path / 'chromium'}"]
    act(desktop, "launch", app="chromium", args=[*flags, f"--app={page}"], wait=True)

    def button() -> tuple[int, int] | None:
        with contextlib.suppress(AssertionError):
            return find(desktop.get("/v1/desktop/screenshot").content, RED)
        return None

    wait_until(lambda: button() is not None)
    x, y = button() or (0, 0)
    act(desktop, "mouse/click", x=x, y=y - 190)
    text = "Grüße 世界 👋🏽 €"
    act(desktop, "keyboard/type", text=text, delayMs=20)
    act(desktop, "mouse/click", x=x, y=y)
    wait_until(lambda: text in look(desktop, "windows")["windows"][0]["title"])
