"""The routes of the door, on a real daemon with the mock agent."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.daemons import Daemon, running

from .conftest import CREDENTIALS, OpenCode
from .screen import Screen
from .tui import TOKEN

# -- access -----------------------------------------------------------------------------------


def test_the_token_is_taken_in_the_forms_that_clients_send(daemon: Daemon) -> None:
    door = f"http://127.0.0.1:{daemon.port}/opencode/config"
    in_query = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
    assert httpx2.get(door, auth=CREDENTIALS).status_code == 200
    assert httpx2.get(door, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert httpx2.get(door, params={"auth_token": in_query}).status_code == 200
    missing = httpx2.get(door)
    assert (missing.status_code, missing.json()["name"]) == (401, "UnauthorizedError")


def test_basic_credentials_count_below_the_door_only(daemon: Daemon) -> None:
    elsewhere = f"http://127.0.0.1:{daemon.port}/v1/sessions"
    in_query = base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
    assert httpx2.get(elsewhere, auth=CREDENTIALS).status_code == 401
    assert httpx2.get(elsewhere, params={"auth_token": in_query}).status_code == 401


def test_a_request_of_another_site_is_refused(daemon: Daemon) -> None:
    door = f"http://127.0.0.1:{daemon.port}/opencode/session"
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:1"},
    ):
        assert httpx2.get(door, auth=CREDENTIALS, headers=headers).status_code == 403
        assert httpx2.post(door, auth=CREDENTIALS, headers=headers).status_code == 403


def test_wrong_passwords_are_throttled(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        door = f"http://127.0.0.1:{daemon.port}/opencode/config"
        codes = [httpx2.get(door, auth=("opencode", "wrong")).status_code for _ in range(12)]
        assert codes == [401] * 10 + [429] * 2
        assert httpx2.get(door, auth=CREDENTIALS).status_code == 200


# -- sessions ---------------------------------------------------------------------------------


def test_a_session_is_listed_renamed_and_deleted(opencode: OpenCode) -> None:
    id = opencode.create()
    assert [each["id"] for each in opencode.get("/session", directory=opencode.directory)] == [id]
    renamed = opencode.http.patch(f"/session/{id}", json={"title": "My name"})
    assert renamed.json()["title"] == "My name"
    assert opencode.get(f"/session/{id}")["title"] == "My name"
    with opencode.watch() as watcher:
        assert opencode.http.delete(f"/session/{id}").json() is True
        watcher.until(lambda _: "session.deleted" in watcher.types)
    gone = opencode.http.get(f"/session/{id}")
    assert (gone.status_code, gone.json()["name"]) == (404, "NotFoundError")


def test_a_prompt_is_answered_when_its_turn_ends(opencode: OpenCode) -> None:
    id = opencode.create()
    answered = opencode.prompt(id, "hello")
    assert answered["parts"][0]["text"] == "You said: hello (message 1 of this conversation)"
    assert answered["info"]["finish"] == "stop"
    assert opencode.get(f"/session/{id}/message")[-1] == answered
    assert opencode.get(f"/session/{id}/message/{answered['info']['id']}") == answered


def test_a_session_without_an_agent_gets_it_with_the_first_prompt(opencode: OpenCode) -> None:
    id = opencode.post("/session")["id"]
    assert opencode.get(f"/session/{id}")["id"] == id
    assert opencode.get(f"/session/{id}/message") == []
    opencode.prompt(id, "hello", model={"providerID": "mock", "modelID": "default"}, agent="plan")
    session = opencode.get(f"/session/{id}")
    assert (session["agent"], session["model"]["providerID"]) == ("plan", "mock")


def test_the_ids_that_a_client_gave_its_message_are_kept(opencode: OpenCode, daemon: Daemon) -> None:
    id = opencode.create()
    body = {"messageID": "msg_0000000000aa", "parts": [{"id": "prt_1", "type": "text", "text": "hello"}]}
    for _ in range(2):  # a repeated request is the same message
        opencode.post(f"/session/{id}/prompt_async", body)
    opencode.until(lambda: opencode.get("/session/status").get(id) is None)
    asked, _ = opencode.get(f"/session/{id}/message")
    assert (asked["info"]["id"], asked["parts"][0]["id"]) == ("msg_0000000000aa", "prt_1")


def test_another_agent_needs_another_session(opencode: OpenCode) -> None:
    id = opencode.create()
    body = {"parts": [{"type": "text", "text": "hi"}], "model": {"providerID": "codex", "modelID": "x"}}
    refused = opencode.http.post(f"/session/{id}/message", json=body)
    assert refused.status_code == 400
    assert "start a new session" in refused.json()["data"]["message"]


def test_a_turn_is_aborted(opencode: OpenCode) -> None:
    id = opencode.create()
    with opencode.watch() as watcher:
        opencode.prompt_async(id, "slow")
        watcher.until(lambda screen: any("1" in text for text in screen.text(id)[1:]))
        assert opencode.post(f"/session/{id}/abort") is True
        screen = watcher.until(lambda screen: screen.status.get(id) == "idle")
    assert screen.shown(id)[-1]["info"]["error"]["name"] == "MessageAbortedError"


def test_a_waiting_message_is_shown_at_once_and_once(opencode: OpenCode) -> None:
    id = opencode.create()
    with opencode.watch() as watcher:
        opencode.prompt_async(id, "slow")
        watcher.until(lambda screen: screen.status.get(id) == "busy")
        opencode.prompt_async(id, "second")
        screen = watcher.until(lambda screen: "second" in screen.text(id))
        assert screen.status[id] == "busy"
        opencode.post(f"/session/{id}/abort")
        watcher.until(lambda screen: any("You said: second" in text for text in screen.text(id)))
    assert screen.text(id).count("second") == 1
    assert watcher.screen.shown(id)[:4] == opencode.get(f"/session/{id}/message")[:4]


@pytest.mark.parametrize(
    "chosen", [{}, {"messageID": "msg_ffff00000000second"}], ids=["ours", "the client's"]
)
def test_a_withdrawn_message_disappears(opencode: OpenCode, daemon: Daemon, chosen: dict[str, str]) -> None:
    id = opencode.create()
    with opencode.watch() as watcher, httpx2.Client(headers={"authorization": f"Bearer {TOKEN}"}) as native:
        opencode.prompt_async(id, "pace 100000 5")
        opencode.prompt_async(id, "second", **chosen)
        watcher.until(lambda screen: "second" in screen.text(id))
        queue = f"http://127.0.0.1:{daemon.port}/v1/sessions/{id}/queue"
        (waiting,) = native.get(queue).json()["messages"]
        with opencode.watch() as late:
            late.until(lambda screen: "second" in screen.text(id))
            assert native.delete(f"{queue}/{waiting['turnId']}").status_code == 204
            for each in (watcher, late):
                each.until(lambda screen: "second" not in screen.text(id))
        opencode.post(f"/session/{id}/abort")


def test_a_waiting_message_is_shown_to_a_reader_that_comes_later(opencode: OpenCode) -> None:
    id = opencode.create()
    opencode.prompt_async(id, "pace 100000 5")
    opencode.prompt_async(id, "second")
    with opencode.watch() as late:
        screen = late.until(lambda screen: "second" in screen.text(id))
        assert screen.status[id] == "busy"
        listed = opencode.get(f"/session/{id}/message")
        assert listed[-1] == screen.shown(id)[-1]
        opencode.post(f"/session/{id}/abort")
        late.until(lambda screen: any("You said: second" in text for text in screen.text(id)))
    assert screen.text(id).count("second") == 1
    assert screen.shown(id) == opencode.get(f"/session/{id}/message")


def test_a_file_and_an_image_are_sent(opencode: OpenCode) -> None:
    note = Path(opencode.directory, "a note.txt")
    note.write_text("content")
    picture = base64.b64encode(b"\x89PNG picture").decode()
    id = opencode.create()
    parts = [
        {"type": "text", "text": "attachment"},
        {"type": "file", "mime": "text/plain", "url": note.as_uri(), "filename": "a note.txt"},
        {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{picture}", "filename": "p.png"},
    ]
    opencode.post(f"/session/{id}/message", {"parts": parts})
    asked = opencode.get(f"/session/{id}/message")[0]
    assert [part.get("mime") for part in asked["parts"]] == [None, "text/plain", "image/png"]
    assert asked["parts"][1]["url"] == note.as_uri()


# -- permissions and questions ----------------------------------------------------------------


def _asked(screen: Screen) -> dict[str, Any] | None:
    return next(iter(screen.pending.values()), None)


@pytest.mark.parametrize("reply", ["once", "always", "reject"])
def test_a_permission_is_answered_by_any_client(opencode: OpenCode, reply: str) -> None:
    id = opencode.create()
    with opencode.watch() as first:
        opencode.prompt_async(id, "permission")
        first.until(_asked)
        with opencode.watch() as second:
            asked = _asked(second.until(_asked))
            assert asked is not None
            assert (asked["permission"], asked["sessionID"]) == ("bash", id)
            assert opencode.get("/permission") == [asked]
            call = next(iter(second.screen.parts[asked["tool"]["messageID"]].values()))
            assert (call["callID"], call["state"]["status"]) == (asked["tool"]["callID"], "running")
            assert opencode.post(f"/permission/{asked['id']}/reply", {"reply": reply}) is True
        first.until(lambda screen: not screen.pending and screen.status[id] == "idle")
    again = opencode.http.post(f"/permission/{asked['id']}/reply", json={"reply": "once"})
    assert again.status_code in (404, 409)


def test_questions_are_answered_and_rejected(opencode: OpenCode) -> None:
    id = opencode.create()
    with opencode.watch("/event") as watcher:
        opencode.prompt_async(id, "question")
        asked = _asked(watcher.until(_asked))
        assert asked is not None
        assert opencode.get("/question") == [asked]
        assert opencode.post(f"/question/{asked['id']}/reply", {"answers": [["my own colour"]]}) is True
        watcher.until(lambda screen: any("my own colour" in text for text in screen.text(id)))
        opencode.prompt_async(id, "question")
        asked = _asked(watcher.until(_asked))
        assert asked is not None
        assert opencode.post(f"/question/{asked['id']}/reject") is True
        watcher.until(lambda screen: not screen.pending and screen.status[id] == "idle")


def test_bad_input_names_what_is_wrong(opencode: OpenCode) -> None:
    id = opencode.create()
    for path, body in (
        (f"/session/{id}/message", {"parts": [{"type": "text", "text": " "}]}),
        (f"/session/{id}/message", {"parts": 1}),
        (f"/session/{id}/message", {"parts": [{"type": "file", "url": "http://host/x"}]}),
        (f"/session/{id}/message", {"parts": [{"type": "file", "url": "data:;base64,%"}]}),
        (f"/session/{id}/message", {"parts": [{"type": "file", "url": "data:;base64,é"}]}),
        (f"/session/{id}/message", {"parts": [{"type": "file", "url": "http://[x"}]}),
    ):
        refused = opencode.http.post(path, json=body)
        assert (refused.status_code, refused.json()["field"]) == (400, "parts")
    wrong = {"messageID": "msg_a,b", "parts": [{"type": "text", "text": "hello"}]}
    assert opencode.http.post(f"/session/{id}/message", json=wrong).json()["field"] == "messageID"
    assert opencode.http.post("/permission/per_1/reply", json={"reply": "once"}).status_code == 404
    assert opencode.http.post("/permission/per_1_none/reply", json={"reply": "no"}).status_code == 400
    assert opencode.http.post(f"/session/{id}/message", content=b"{").status_code == 400
    assert opencode.http.get("/session", params={"limit": "x"}).status_code == 400
    assert opencode.http.get("/no/such/route").status_code == 404
    assert opencode.http.put(f"/session/{id}").status_code == 405
    assert opencode.get(f"/session/{id}/message") == []


# -- streams ----------------------------------------------------------------------------------


def test_a_reader_that_missed_a_turn_sees_it(opencode: OpenCode) -> None:
    id = opencode.create()
    opencode.prompt(id, "thinking")
    with opencode.watch() as late:
        late.until(lambda screen: screen.status.get(id) == "idle")
        assert late.screen.shown(id) == opencode.get(f"/session/{id}/message")


def test_a_reader_that_comes_back_learns_the_title(opencode: OpenCode) -> None:
    id = opencode.create()
    assert opencode.http.patch(f"/session/{id}", json={"title": "renamed"}).status_code == 200
    with opencode.watch() as late:
        late.until(lambda screen: screen.sessions.get(id, {}).get("title") == "renamed")


SLOW_TO_RETURN = """
from sandbox_agent.doors.opencode import stream
stream.RECENT_SECONDS = -1
from sandbox_agent.cli.main import main
main()
"""
"""A daemon for which everything that is over happened long ago."""


def test_a_reader_that_was_away_for_long_sees_the_end_of_its_turn(tmp_path: Path) -> None:
    program = (sys.executable, "-c", SLOW_TO_RETURN)
    daemon = Daemon(tmp_path / "data", "--token", TOKEN, program=program)
    with running(daemon), OpenCode(daemon, tmp_path) as opencode:
        id = opencode.create()
        opencode.prompt(id, "first")
        opencode.prompt(id, "thinking")
        with opencode.watch() as late:
            late.until(lambda screen: screen.status.get(id) == "idle")
            # Earlier turns are not repeated: a client whose machine sleeps sends no prompts.
            assert late.screen.shown(id) == opencode.get(f"/session/{id}/message")[2:]


def test_after_a_crash_the_same_messages_are_there(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data", "--token", TOKEN)) as daemon:
        with OpenCode(daemon, tmp_path) as opencode, opencode.watch() as watcher:
            id = opencode.create()
            opencode.prompt_async(id, "slow")
            watcher.until(lambda screen: len(screen.text(id)) > 1 and "2" in screen.text(id)[1])
            daemon.kill()
        seen = watcher.screen.shown(id)
        daemon.start()
        with OpenCode(daemon, tmp_path) as opencode:
            messages = opencode.get(f"/session/{id}/message")
            assert [each["info"]["id"] for each in messages] == [each["info"]["id"] for each in seen]
            assert messages[1]["parts"][0]["id"] == seen[1]["parts"][0]["id"]
            assert messages[1]["parts"][0]["text"].startswith(seen[1]["parts"][0]["text"])
            assert messages[1]["info"]["error"]["name"] == "UnknownError"
            assert opencode.prompt(id, "hello")["info"]["finish"] == "stop"


def test_the_stream_and_the_session_api_tell_the_same(opencode: OpenCode, daemon: Daemon) -> None:
    id = opencode.create()
    opencode.prompt(id, "subagent")
    native = httpx2.get(
        f"http://127.0.0.1:{daemon.port}/v1/sessions/{id}", headers={"authorization": f"Bearer {TOKEN}"}
    ).json()
    assert native["agent"] == "mock"
    (child,) = opencode.get(f"/session/{id}/children")
    assert child["parentID"] == id
    assert opencode.get(f"/session/{child['id']}")["id"] == child["id"]
    asked, answered = opencode.get(f"/session/{child['id']}/message")
    assert asked["info"]["sessionID"] == answered["info"]["sessionID"] == child["id"]


def test_the_branch_is_reported(opencode: OpenCode) -> None:
    assert opencode.get("/vcs", directory=opencode.directory) == {}
    git = Path(opencode.directory, ".git")
    git.mkdir()
    git.joinpath("HEAD").write_text("ref: refs/heads/topic/one\n")
    assert opencode.get("/vcs", directory=opencode.directory) == {"branch": "topic/one"}


def test_files_are_found_by_a_part_of_their_name(opencode: OpenCode) -> None:
    Path(opencode.directory, "a [b].txt").touch()
    found = opencode.get("/api/fs/find", query="[b", limit=20, **{"location[directory]": opencode.directory})
    assert found["data"] == [{"path": "a [b].txt", "type": "file"}]
