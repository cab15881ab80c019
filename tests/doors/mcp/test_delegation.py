"""An agent that gives work to other agents: what it gets back, and that it gets no more than its own session may do."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, agent_pids, client_of, running, texts

OURS = {"agents": {"command": "sandbox-agent", "args": ["mcp"]}}
MAY_CALL = {"effect": "allow", "tool": "mcp__agents__*"}


def caller(native: Client, directory: Path, **settings: object) -> str:
    """A session whose agent may start others."""
    return native.create(**{"directory": str(directory), "permissionMode": "bypass", "mcp": OURS, **settings})


def asks(native: Client, session: str, tool: str, /, **arguments: object) -> dict[str, Any]:
    """Make the agent of a session call a tool. Returns the result."""
    text = _tool_text(native, session, tool, arguments)
    assert text.startswith(f"{tool} returned: "), text
    content: dict[str, Any] = json.loads(text.partition(": ")[2])
    if "session_id" in content:
        native.sessions.append(content["session_id"])
    return content


def fails(native: Client, session: str, tool: str, /, **arguments: object) -> str:
    """Make the agent of a session call a tool that refuses. Returns the reason."""
    text = _tool_text(native, session, tool, arguments)
    assert text.startswith(f"{tool} failed: "), text
    return text.partition(": ")[2]


def _tool_text(native: Client, session: str, tool: str, arguments: dict[str, object]) -> str:
    return texts(native.turn(session, f"call {tool} {json.dumps(arguments)}"))[-1]


@pytest.mark.door("MCP", "delegation")
def test_an_agent_gives_work_to_another(native: Client, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    session = caller(native, tmp_path)
    done = asks(native, session, "run", agent="mock", prompt="hello there", directory="part")
    assert (done["status"], done["stop_reason"]) == ("ended", "end_turn")
    info = native.info(done["session_id"])
    assert info["directory"] == str((tmp_path / "part").resolve())
    assert info["permissionMode"] == "default"
    assert texts(native.events(done["session_id"])) == [done["text"]]
    second = asks(native, session, "run", session_id=done["session_id"], prompt="and again")
    assert second["session_id"] == done["session_id"]
    (listed,) = asks(native, session, "sessions")["sessions"]
    assert listed["session_id"] == done["session_id"]


def test_the_socket_is_private_and_gone_with_the_session(native: Client, tmp_path: Path) -> None:
    def sockets() -> set[Path]:
        return set(Path(tempfile.gettempdir()).glob("sandbox-agent-*/socket"))

    before = sockets()
    session = caller(native, tmp_path)
    mine = [path for path in sockets() - before if _belongs_to(path, native.daemon)]
    assert mine
    for path in mine:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    native.sessions.remove(session)
    assert native.delete(f"/v1/sessions/{session}").status_code == 204
    assert [path for path in mine if path.exists()] == []


def _belongs_to(path: Path, daemon: Daemon) -> bool:
    """Other daemons of this machine have sockets in the same place."""
    inodes = {os.readlink(f"/proc/{daemon.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{daemon.pid}/fd")}
    lines = Path("/proc/net/unix").read_text().splitlines()
    return any(line.endswith(f" {path}") and f"socket:[{line.split()[6]}]" in inodes for line in lines)


@pytest.mark.parametrize("wanted", ["bypass", "acceptEdits"])
def test_it_gets_no_higher_permission_mode(native: Client, tmp_path: Path, wanted: str) -> None:
    session = caller(native, tmp_path, permissionMode="default", policy=[MAY_CALL])
    why = fails(native, session, "run", prompt="hello", permission_mode=wanted)
    assert why == f"this session has the permission mode default, so it cannot start one with {wanted}"


def test_a_lowered_mode_holds_for_what_was_started_before(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path, policy=[MAY_CALL])
    started = asks(native, session, "run", prompt="hello", permission_mode="bypass")["session_id"]
    native.patch(f"/v1/sessions/{session}", {"permissionMode": "default"})
    why = fails(native, session, "send", session_id=started, prompt="hello")
    assert why == f"session {started} has the permission mode bypass, this one only default"
    assert native.info(started)["turns"] == 1


@pytest.mark.parametrize("wanted", ["..", "/", "link", "inside/../../x", "link/.", "/tmp"])
def test_it_does_not_leave_its_directory(native: Client, tmp_path: Path, wanted: str) -> None:
    home = tmp_path / "home"
    (home / "inside").mkdir(parents=True)
    (tmp_path / "x").mkdir()
    (home / "link").symlink_to(tmp_path / "x")
    session = caller(native, home)
    assert "outside of this session's directory" in fails(
        native, session, "run", prompt="hi", directory=wanted
    )


def test_a_directory_that_became_a_link_is_refused(native: Client, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "inside").mkdir(parents=True)
    (tmp_path / "x").mkdir()
    session = caller(native, home)
    started = asks(native, session, "run", prompt="hello", directory="inside")["session_id"]
    (home / "inside").rmdir()
    (home / "inside").symlink_to(tmp_path / "x")
    assert "outside" in fails(native, session, "send", session_id=started, prompt="hello")


@pytest.mark.parametrize("tool", ["run", "send", "wait", "cancel", "events"])
def test_it_reaches_no_session_that_it_has_not_started(native: Client, tmp_path: Path, tool: str) -> None:
    session, stranger = caller(native, tmp_path), native.create(directory=str(tmp_path))
    other = caller(native, tmp_path)
    cousin = asks(native, other, "run", prompt="hello")["session_id"]
    prompt = {"prompt": "hello"} if tool in ("run", "send") else {}
    for named in (stranger, other, cousin, session, "no-such-session"):
        why = fails(native, session, tool, session_id=named, **prompt)
        assert why == f"this session has started no session {named}"
    assert asks(native, session, "sessions") == {"sessions": []}


def test_people_answer_for_what_it_starts(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path)
    waiting = asks(native, session, "run", prompt="permission hello")
    assert waiting["status"] == "waiting"
    started, permission = waiting["session_id"], waiting["waiting"]["permissions"][0]["permission_id"]
    why = fails(native, session, "answer", session_id=started, permission_id=permission, reply="once")
    assert why.startswith("only people can answer")
    assert (
        native.post(f"/v1/sessions/{started}/permissions/{permission}/reply", {"reply": "once"}).status_code
        == 204
    )
    assert asks(native, session, "wait", session_id=started)["text"] == "The command said: hello"


def test_its_rules_hold_below_it(native: Client, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    rules = [
        MAY_CALL,
        {"effect": "deny", "agent": "mock", "path": "part/secret.txt"},
        {"effect": "deny", "command": "echo"},
    ]
    session = caller(native, tmp_path, policy=rules)
    bypass = {"permission_mode": "bypass", "directory": "part"}
    edited = asks(native, session, "run", prompt="edit secret.txt", **bypass)
    assert not (tmp_path / "part" / "secret.txt").exists()
    asks(native, session, "run", session_id=edited["session_id"], prompt="edit other.txt")
    assert (tmp_path / "part" / "other.txt").exists()
    text = asks(native, session, "run", session_id=edited["session_id"], prompt="permission hello")["text"]
    assert "hello" not in text
    # A rule that it gets later holds as well, and what people allowed below does not undo it.
    native.patch(
        f"/v1/sessions/{edited['session_id']}", {"policy": [{"effect": "allow", "command": "echo *"}]}
    )
    text = asks(native, session, "run", session_id=edited["session_id"], prompt="permission hello")["text"]
    assert "hello" not in text


def test_a_rule_about_a_tool_by_name_keeps_it_from_other_agents(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path, policy=[MAY_CALL, {"effect": "deny", "tool": "bash"}])
    assert "it can start mock only" in fails(native, session, "run", agent="claude", prompt="hello")
    assert asks(native, session, "run", agent="mock", prompt="hello")["status"] == "ended"


def test_what_it_starts_gets_what_is_left_of_its_limits(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path, limits={"maxTurns": 4, "maxTurnSeconds": 100})
    started = asks(native, session, "run", prompt="hello")["session_id"]
    assert native.info(started)["limits"] == {"maxTurns": 3, "maxTurnSeconds": 100}
    asks(native, session, "run", session_id=started, prompt="hello")
    # Two turns of its own and two below: none of the four is left.
    assert "nothing is left" in fails(native, session, "run", prompt="hello")


def test_a_running_session_claims_the_rest_of_the_limit(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path, limits={"maxTurns": 10})
    started = asks(native, session, "run", prompt="permission hello")["session_id"]
    why = fails(native, session, "run", prompt="hello")
    assert f"session {started} may still use it" in why


def _levels(levels: int) -> str:
    """A prompt for an agent that starts another, so many levels deep."""
    if levels == 0:
        return "hello"
    arguments = {"prompt": _levels(levels - 1), "permission_mode": "bypass"}
    return f"call run {json.dumps(arguments)}"


@pytest.fixture
def own_daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(Daemon(tmp_path / "own" / "data", "--no-token")) as daemon:
        yield daemon


def test_the_fourth_level_is_refused_also_after_a_crash(own_daemon: Daemon, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with client_of(own_daemon) as native:
        # Every session in this directory may call, however deep it is.
        options = {"directory": str(work), "mcpName": "agents"}
        server = {"type": "local", "command": "sandbox-agent", "args": ["mcp"]}
        assert native.request("PUT", "/v1/config/mcp", params=options, json=server).is_success
        top = native.create(directory=str(work), permissionMode="bypass")
        native.turn(top, _levels(3))
        listed = [info["sessionId"] for info in native.get("/v1/sessions").json()["sessions"]]
        assert len(listed) == 4
        native.sessions += [name for name in listed if name != top]
        deepest = listed[0]
        assert "levels below" in fails(native, deepest, "run", prompt="hello")
        own_daemon.kill()
        own_daemon.start()
        assert "levels below" in fails(native, deepest, "run", prompt="hello")
        first = listed[2]
        assert asks(native, top, "wait", session_id=first)["status"] == "ended"
        assert "has started no session" in fails(native, top, "wait", session_id=deepest)
        assert "has started no session" in fails(native, deepest, "wait", session_id=top)


def test_an_agent_is_marked_for_our_own_program(native: Client, tmp_path: Path) -> None:
    session = native.create(directory=str(tmp_path))
    native.turn(session, "hello")
    environments = [
        Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") for pid in agent_pids(native.daemon)
    ]
    assert environments
    assert all(b"SANDBOX_AGENT_INSIDE=mock" in variables for variables in environments)
    names = {variable.partition(b"=")[0] for variables in environments for variable in variables}
    assert {name for name in names if name.startswith(b"SANDBOX_AGENT")} == {
        b"SANDBOX_AGENT_INSIDE",
        b"SANDBOX_AGENT_GUARD",
    }


def test_the_server_takes_nothing_else_in_a_session(native: Client, tmp_path: Path) -> None:
    server = {"command": "/usr/bin/sandbox-agent", "args": ["mcp", "--token", "secret"]}
    answer = native.post("/v1/sessions/refused", {"agent": "mock", "mcp": {"agents": server}})
    assert (answer.status_code, answer.json()["field"]) == (400, "mcp")


def test_only_so_many_work_below_it_at_once(native: Client, tmp_path: Path) -> None:
    session = caller(native, tmp_path)
    for _ in range(10):
        asks(native, session, "run", prompt="permission hello", timeout_s=0)
    assert "10 sessions below this one are running" in fails(native, session, "run", prompt="hello")
