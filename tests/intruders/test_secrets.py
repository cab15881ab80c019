"""Secrets reach only the agent they were given to, and are visible nowhere else."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemons import (
    SECONDS,
    Client,
    Daemon,
    agent_pids,
    client_of,
    descendants,
    done,
    refusal,
    running,
    wait_until,
)

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.base import Agent, Place
from sandbox_agent.schema.inputs import Settings

TOKEN = "planted-token-of-the-daemon"
OF_THE_DAEMON = {
    "ANTHROPIC_API_KEY": "planted-key-of-claude",
    "OPENAI_API_KEY": "planted-key-of-codex",
    "AWS_SECRET_ACCESS_KEY": "planted-key-of-nobody",
    "SANDBOX_AGENT_TOKEN": TOKEN,
    "MY_PRIVATE_NOTE": "planted-note",
}
OF_THE_SESSION = "planted-in-the-session"
OF_THE_MCP_SERVER = "planted-for-the-mcp-server"
HARMLESS = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "XDG_CACHE_HOME": "/nonexistent",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    env = {**OF_THE_DAEMON, **HARMLESS}
    folder = tmp_path_factory.mktemp("secrets")
    with running(Daemon(folder / "data", "--log-level", "debug", env=env)) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with client_of(daemon, TOKEN) as client:
        yield client


def private_session(client: Client) -> str:
    mcp = {
        "local": {"command": "serve-mcp", "env": {"KEY": OF_THE_MCP_SERVER}},
        "remote": {"url": "https://mcp.example", "headers": {"authorization": OF_THE_MCP_SERVER}},
    }
    return client.create(env={"SESSION_SECRET": OF_THE_SESSION}, mcp=mcp)


def environment_of(pid: int) -> dict[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(entry.split("=", 1) for entry in entries if entry)


def test_an_agent_sees_a_small_base_and_what_its_session_adds(client: Client, daemon: Daemon) -> None:
    before = set(agent_pids(daemon))
    private_session(client)
    [agent] = set(agent_pids(daemon)) - before
    seen = environment_of(agent)
    marker = seen.pop("SANDBOX_AGENT_GUARD")
    assert "planted" not in marker
    # The last one tells `sandbox-agent mcp` that an agent has started it.
    assert seen.keys() == {"PATH", "HOME", *HARMLESS, "SESSION_SECRET", "SANDBOX_AGENT_INSIDE"}
    assert seen["SESSION_SECRET"] == OF_THE_SESSION
    assert {name: seen[name] for name in HARMLESS} == HARMLESS


def test_a_session_does_not_see_what_another_was_given(client: Client, daemon: Daemon) -> None:
    private_session(client)
    before = set(agent_pids(daemon))
    client.create()
    [agent] = set(agent_pids(daemon)) - before
    assert OF_THE_SESSION not in str(environment_of(agent))


def test_a_program_that_is_asked_for_its_version_sees_its_own_family_only(
    tmp_path: Path,
) -> None:
    program = tmp_path / "data" / "bin" / "claude"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\necho 1.2.3\n")
    program.chmod(0o755)
    daemon = Daemon(tmp_path / "data", "--log-level", "warning", env=OF_THE_DAEMON)
    with running(daemon), client_of(daemon, TOKEN) as client:
        client.get("/v1/agents")
    seen = (tmp_path / "seen").read_text()
    assert "ANTHROPIC_API_KEY=planted-key-of-claude" in seen
    others = {name for name in OF_THE_DAEMON if name != "ANTHROPIC_API_KEY"}
    assert [name for name in others if name in seen] == []


def test_no_secret_shows_anywhere(client: Client, daemon: Daemon) -> None:
    """After a session that ran, asked, crashed and was refused: events with raw, answers, logs and process lists."""
    session = private_session(client)
    client.turn(session, "hello")
    client.turn(session, "crash 3")
    client.turn(session, "memory")
    shown = [
        client.get(f"/v1/sessions/{session}").text,
        client.get("/v1/sessions").text,
        client.get(f"/v1/sessions/{session}/events", limit=1000, include_raw="true").text,
        client.patch(f"/v1/sessions/{session}", {"title": "new"}).text,
        client.get("/v1/agents").text,
        client.get("/metrics").text,
        client.get("/openapi.json").text,
    ]
    with client.reader(f"/v1/events/sse?offset=0&access_token={TOKEN}") as reader:
        shown += [frame.text for _, frame in zip(range(20), reader.events(), strict=False)]
    for body in (
        {"agent": "nobody", "env": {"A": OF_THE_SESSION}},
        {"agent": "mock", "env": {"A=": OF_THE_SESSION}},
        {"agent": "mock", "env": {"A": OF_THE_SESSION + "\0"}},
        {"agent": "mock", "env": OF_THE_SESSION},
        {"agent": "mock", "directory": "/nonexistent", "env": {"A": OF_THE_SESSION}},
        {"agent": "mock", "mcp": {"a": {"command": "a", "url": "b", "headers": {"k": OF_THE_MCP_SERVER}}}},
        {"agent": "mock", "mcp": {"a": OF_THE_MCP_SERVER}},
    ):
        answer = client.post("/v1/sessions/refused", body)
        assert refusal(answer)[0] == 400
        shown.append(answer.text)
    with client_of(daemon, "planted-wrong-token") as stranger:
        shown.append(stranger.get("/v1/sessions").text)
    for pid in (daemon.pid, *descendants(daemon.pid)):
        shown.append(Path(f"/proc/{pid}/cmdline").read_text())
    shown.append(daemon.stderr())
    assert [text for text in shown if "planted" in text] == []
    assert "started mock" in daemon.stderr()  # the log was written


def test_the_secrets_of_a_deleted_session_are_in_no_file(tmp_path: Path) -> None:
    def is_kept() -> bool:
        files = (file for file in (tmp_path / "data").rglob("*") if file.is_file())
        return any(b"planted" in file.read_bytes() for file in files)

    with running(Daemon(tmp_path / "data")) as daemon:
        client = Client(daemon)
        session = private_session(client)
        client.turn(session, "hello")
        assert is_kept()
        client.delete(f"/v1/sessions/{session}")
        wait_until(lambda: not is_kept())
        client.close()
    assert not is_kept()


AGENT_FILES = {
    ".claude/.credentials.json": {"claudeAiOauth": {"accessToken": "planted-a", "refreshToken": "planted-r"}},
    ".claude.json": {"primaryApiKey": "planted-p"},
    ".codex/auth.json": {"OPENAI_API_KEY": "planted-o"},
    ".local/share/opencode/auth.json": {"openai": {"type": "api", "key": "planted-k"}},
    ".local/share/amp/secrets.json": {"apiKey@https://ampcode.com/": "planted-s"},
    ".pi/agent/auth.json": {"anthropic": {"type": "oauth", "access": "planted-x", "refresh": "planted-y"}},
}
FETCHED = [name for name, agent in AGENTS.items() if agent.executables]
PLANTED = {
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "SANDBOX_AGENT_TOKEN", "MY_PRIVATE_KEY"),
    *(
        variable.name
        for name in FETCHED
        if (sources := AGENTS[name].credentials)
        for variable in sources.variables
        if variable.kind != "reference"
    ),
}
OF_AGENTS = {
    key: {name for name in FETCHED if key.startswith(AGENTS[name].env_families)} for key in sorted(PLANTED)
}
"""What each agent declares as its own; that the declarations are right is shown in `tests/runtime/test_credentials.py`."""
STAND_IN = """#!/bin/sh
case "$1" in --version) echo 1.0.0; exit 0;; esac
env > {folder}/{name}.env
cat /proc/$$/cmdline /proc/$PPID/cmdline > {folder}/{name}.commands
echo "cannot start" >&2
exit 1
"""


def test_each_key_reaches_its_own_agents_and_shows_nowhere(tmp_path: Path) -> None:
    """Programs in place of the agents report the environment that they and their guardians got."""
    names = FETCHED
    home = tmp_path / "data-home"
    for file, content in AGENT_FILES.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_bytes(msgspec.json.encode(content))
    for name in names:
        program = tmp_path / "data" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(STAND_IN.format(folder=tmp_path, name=name))
        program.chmod(0o755)
    keys = {name: TOKEN if name == "SANDBOX_AGENT_TOKEN" else f"planted-{name}" for name in OF_AGENTS}
    daemon = Daemon(tmp_path / "data", "--log-level", "debug", env=keys)
    shown = []
    with running(daemon), client_of(daemon, TOKEN) as client:
        agents = {agent["id"]: agent for agent in done(client.get("/v1/agents"))["agents"]}
        assert {name: agents[name]["credentialsAvailable"] for name in names} == dict.fromkeys(names, True)
        shown.append(str(agents))
        mcp = {
            "local": {"command": "serve-mcp", "env": {"KEY": OF_THE_MCP_SERVER}},
            "remote": {"url": "https://mcp.example", "headers": {"authorization": OF_THE_MCP_SERVER}},
        }
        for name in names:
            body = {"agent": name, "env": {"SESSION_SECRET": OF_THE_SESSION}, "mcp": mcp}
            shown.append(client.post(f"/v1/sessions/{name}", body).text)
            shown.append(client.get(f"/v1/sessions/{name}/events", include_raw="true").text)
        shown.append(client.get("/metrics").text)
    shown.append(daemon.stderr())
    seen = {name: (tmp_path / f"{name}.env").read_text() for name in names}
    assert {
        key: {name for name in names if f"planted-{key}\n" in seen[name]} for key in OF_AGENTS
    } == OF_AGENTS
    assert [name for name in names if f"SESSION_SECRET={OF_THE_SESSION}\n" not in seen[name]] == []
    assert [name for name in names if TOKEN in seen[name]] == []
    shown += [(tmp_path / f"{name}.commands").read_text() for name in names]
    assert [text for text in shown if "planted" in text] == []
    for file, content in AGENT_FILES.items():
        assert (home / file).read_bytes() == msgspec.json.encode(content)


@pytest.mark.parametrize("way", ["file", "variable", "flag"])
def test_a_log_says_where_the_token_is_and_never_the_token(tmp_path: Path, way: str) -> None:
    (tmp_path / "token").write_text(TOKEN)
    flags, env, place = {
        "file": (["--token-file", str(tmp_path / "token")], {}, f"the file {tmp_path / 'token'}"),
        "variable": (
            ["--log-level", "debug"],
            {"SANDBOX_AGENT_TOKEN": TOKEN},
            "the variable SANDBOX_AGENT_TOKEN",
        ),
        "flag": (["--token", TOKEN], {}, "--token"),
    }[way]
    with running(Daemon(tmp_path / "data", *flags, env=env)) as daemon:
        pass
    assert f"token        is in {place}\n" in daemon.stderr()
    assert TOKEN not in daemon.stderr()


def test_on_a_terminal_the_pages_address_is_printed_with_the_token(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    daemon = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "sandbox_agent",
            "server",
            "--port",
            "0",
            "--data-dir",
            str(tmp_path / "data"),
        ],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "SANDBOX_AGENT_TOKEN": "to+ken %1 of the page",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        with open(ours) as terminal:
            while not (line := terminal.readline()).startswith("inspector "):
                assert line
    finally:
        daemon.terminate()
        daemon.wait(SECONDS)
    assert re.fullmatch(
        r"inspector    http://127\.0\.0\.1:\d+/ui/#token=to%2Bken%20%251%20of%20the%20page", line.strip()
    )


def test_a_token_from_a_file_is_in_no_process_list(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    daemon = Daemon(tmp_path / "data", "--token-file", str(tmp_path / "token"), "--log-level", "debug")
    with running(daemon), client_of(daemon, TOKEN) as client:
        session = client.create()
        client.turn(session, "hi")
        for pid in (daemon.pid, *descendants(daemon.pid)):
            assert TOKEN not in Path(f"/proc/{pid}/cmdline").read_text()
            assert TOKEN not in Path(f"/proc/{pid}/environ").read_text()


def test_the_token_of_a_daemon_in_the_background_is_in_no_process_list_and_no_log(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SANDBOX_AGENT_DATA_DIR": str(tmp_path / "state"),
    }

    texts: list[str] = []

    def daemon(*words: str) -> Any:
        command = [sys.executable, "-m", "sandbox_agent", "daemon", *words, "--json"]
        answer = subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, timeout=60, check=True
        )
        texts.append(answer.stderr.decode())
        return msgspec.json.decode(answer.stdout)

    pid = daemon("start", "--port", "0")["pid"]
    try:
        files = list((tmp_path / "state").iterdir())
        [token] = [
            msgspec.json.decode(file.read_bytes())["token"] for file in files if file.name == "daemon.json"
        ]
        processes = [pid, *descendants(pid)]
        assert [
            process for process in processes if token in Path(f"/proc/{process}/cmdline").read_text()
        ] == []
        assert [file.name for file in files if file.suffix == ".log" and token in file.read_text()] == []
        assert {file.name for file in files} >= {"daemon.json", "daemon.log"}
        assert token not in texts[0]
        assert f"the token is in {tmp_path / 'state' / 'daemon.json'}" in texts[0]
    finally:
        daemon("stop")


def test_no_session_can_choose_the_program_that_is_run(
    client: Client, daemon: Daemon, tmp_path: Path
) -> None:
    """Not by a field, and not by the PATH of its environment."""
    trap = tmp_path / "python3"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')\n")
    for name in ("command", "path", "executable", "program", "args", "argv", "binary"):
        refused = client.post("/v1/sessions/trap", {"agent": "mock", name: str(trap)})
        assert refusal(refused) == (400, "invalid_request")
    for agent in (str(trap), "../../../bin/sh", "mock; sh"):
        assert refusal(client.post("/v1/sessions/trap", {"agent": agent})) == (400, "unsupported_agent")
    session = client.create(
        env={"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(trap)}
    )
    client.turn(session, "hi")
    assert not (tmp_path / "sprung").exists()


def test_no_field_of_the_api_names_a_program_but_those_of_mcp_servers_and_processes(client: Client) -> None:
    """Walks the description: a new field that looks like one has to be thought about here."""
    described = done(client.get("/openapi.json"))
    looks_like_one = re.compile(
        r"command|program|exec|binary|shell|script|path|argv|args|interpreter|^app$", re.I
    )
    schemas = described["components"]["schemas"]
    taken = {
        f"{kind}.{field}"
        for kind in _request_schemas(described)
        for field in schemas[kind].get("properties", {})
        if looks_like_one.search(field)
    }
    # `command` of a message is a yes or no: whether its text is one of the agent's own commands.
    # Processes are programs by their nature; `--no-processes` turns them off.
    processes = {f"{kind}ProcessBody.{name}" for kind in ("Create", "Run") for name in ("command", "args")}
    processes |= {"LaunchAppBody.app", "LaunchAppBody.args"}
    servers = {f"{kind}.{name}" for kind in ("McpServer", "SetMcpBody") for name in ("command", "args")}
    # `subpath` names a folder of a source of skills, whose files are copied and never run.
    of_agents = servers | {"Attachment.path", "SendMessageBody.command", "SkillSource.subpath"}
    # The fields of a rule are patterns, and the description of a client's tool is text for the model.
    of_agents |= {"PolicyRule.command", "PolicyRule.path", "Tool.description"}
    # `paths` of a revert name files of the session's directory, which are written and never run.
    assert taken == of_agents | processes | {"RevertChangesBody.paths"}
    assert schemas["SendMessageBody"]["properties"]["command"]["type"] == "boolean"


def _request_schemas(described: dict[str, Any]) -> set[str]:
    """The names of all schemas that a request's body can hold."""
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    found: set[str] = set()
    waiting = [json.dumps(operation.get("requestBody", {})) for operation in operations]
    while waiting:
        for name in re.findall(r'"#/components/schemas/([^"]+)"', waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(json.dumps(described["components"]["schemas"][name]))
    return found


@pytest.mark.parametrize(
    "agent", [agent for agent in AGENTS.values() if agent.executables], ids=lambda a: a.name
)
def test_no_setting_becomes_an_option_of_an_agent(agent: Agent) -> None:
    """A model called `--settings=/evil.json` is just an unknown model."""
    strange = Settings("/ws", "--strange", "default", "--strange", "--strange")
    launch = agent.launch(
        Place(Path("/bin/agent"), Path("/data"), {"HOME": "/nonexistent"}), strange, "id", True
    )
    before = {previous for previous, word in itertools.pairwise(launch.argv) if word == "--strange"}
    assert before <= {"--mode", "--model", "--thinking"}  # which take the next word, whatever it is
