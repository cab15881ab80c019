"""What `run` does besides showing a turn: which session, which variables, how long, and what it leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS, Daemon, agent_pids, client_of, done, running, wait_until

from .conftest import Cli, command, environment
from .test_commands import begun, on_terminal

KEY = "sk-of-this-shell"
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


def test_input_typed_before_a_question_does_not_answer_it(environ: dict[str, str], tmp_path: Path) -> None:
    with on_terminal(("run", "mock", "edit"), environ, tmp_path) as terminal:
        terminal.type("o\n")
        terminal.wait_for("[r]eject: ")
        terminal.type("r\n")
        terminal.wait_for("reason (optional): ")
        terminal.type("\n")
        terminal.exit_code()
    assert not (tmp_path / "mock-edit.txt").exists()


def test_the_end_of_input_rejects_and_the_rest_begins_on_a_new_line(
    environ: dict[str, str], tmp_path: Path
) -> None:
    with on_terminal(("run", "mock", "permission"), environ, tmp_path) as terminal:
        terminal.wait_for("[r]eject: ")
        terminal.type("\x04")
        assert terminal.exit_code() == 0
    assert b"[r]eject: \r\n" in terminal.shown


# -- which session ------------------------------------------------------------------------------


def test_run_continues_the_latest_session_of_the_agent_here(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", "mock", "hello", "--title", "First").returncode == 0
    cli("run", "mock", "elsewhere", "--directory", "/")
    again = cli("run", "mock", "--continue", "and now?")
    assert again.stdout == "You said: and now? (message 2 of this conversation)\n"
    assert again.stderr.splitlines()[0].endswith(" (First)")


def test_run_says_when_there_is_nothing_to_continue(cli: Cli, tmp_path: Path) -> None:
    failed = cli("run", "mock", "--continue", "go on")
    assert (failed.returncode, failed.stderr) == (
        1,
        f"error: no session of mock in {tmp_path} to continue\n",
    )


def test_a_session_is_created_in_the_callers_folder(cli: Cli, tmp_path: Path) -> None:
    cli("sessions", "create", "here", "--agent", "mock")
    assert msgspec.json.decode(cli("sessions", "get", "here", "--json").stdout)["directory"] == str(tmp_path)


# -- how long -----------------------------------------------------------------------------------


def test_run_cancels_a_turn_that_takes_too_long(cli: Cli) -> None:
    late = cli("run", "mock", "slow 60", "--timeout", "0.3")
    assert (late.returncode, late.stderr.splitlines()[-1]) == (
        1,
        "error: the turn took longer than 0.3 s and was cancelled",
    )


def test_a_run_that_times_out_in_the_queue_leaves_the_running_turn_alone(
    cli: Cli, environ: dict[str, str], tmp_path: Path
) -> None:
    cli("sessions", "create", "shared", "--agent", "mock")
    cli("sessions", "send-message", "shared", "pace 2000 100")
    late = cli("run", "mock", "hello", "--session", "shared", "--timeout", "0.3")
    assert (late.returncode, "took longer than 0.3 s" in late.stderr) == (1, True)
    assert msgspec.json.decode(cli("sessions", "get", "shared", "--json").stdout)["state"] == "running"
    cli("sessions", "terminate", "shared")


def test_run_says_that_the_running_turn_waits_for_an_answer(cli: Cli) -> None:
    cli("sessions", "create", "asking", "--agent", "mock")
    cli("sessions", "send-message", "asking", "permission")
    asking = ["sessions", "get", "asking", "--json"]
    wait_until(lambda: msgspec.json.decode(cli(*asking).stdout)["state"] == "requires_action")
    queued = cli("run", "mock", "hello", "--session", "asking", "--timeout", "0.3")
    assert queued.stderr.splitlines()[0] == (
        "another turn is waiting for an answer: `sandbox-agent sessions show asking` shows how to answer"
    )


def test_run_suggests_the_agent_that_was_meant(cli: Cli) -> None:
    failed = cli("run", "cluade", "hello")
    assert failed.stderr.splitlines()[0] == (
        "error: Unsupported agent: no agent is called cluade: did you mean claude?"
    )


def test_an_invalid_timeout_is_wrong_usage(cli: Cli) -> None:
    for wrong in ("soon", "0", "-1", "5d", "9" * 30):
        assert cli("run", "mock", "hello", f"--timeout={wrong}").returncode == 2


# -- what is left behind ------------------------------------------------------------------------


def test_run_leaves_no_process_without_keep(tmp_path: Path) -> None:
    with running(Daemon(tmp_path / "data")) as daemon, client_of(daemon) as client:
        env = environment(tmp_path, SANDBOX_AGENT_ENDPOINT=f"http://127.0.0.1:{daemon.port}")
        run = ["run", "mock", "--session", "kept", "hello"]
        subprocess.run(command(*run), env=env, cwd=tmp_path, check=True, capture_output=True)
        assert agent_pids(daemon) == []
        subprocess.run(command(*run, "--keep"), env=env, cwd=tmp_path, check=True, capture_output=True)
        assert len(agent_pids(daemon)) == 1
        assert done(client.get("/v1/sessions/kept"))["state"] == "idle"


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP", "closed pipe"])
def test_a_run_that_is_ended_cancels_its_turn(environ: dict[str, str], cli: Cli, ending: str) -> None:
    session = f"ended-by-{ending.replace(' ', '-')}"
    run = begun("run", "mock", "pace 1000 50", "--session", session, env=environ, cwd=Path(environ["HOME"]))
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.read(1)
    if ending == "closed pipe":
        run.stdout.close()
    else:
        run.send_signal(signal.Signals[ending])
    assert run.wait(SECONDS) == (1 if ending == "closed pipe" else 128 + signal.Signals[ending])
    assert "Traceback" not in run.stderr.read()
    run.stdout.close()
    run.stderr.close()
    wait_until(lambda: json.loads(cli("sessions", "get", session, "--json").stdout)["state"] == "idle")


# -- variables ----------------------------------------------------------------------------------


@pytest.fixture
def claude(tmp_path: Path) -> str:
    """A PATH with a fake Claude that records its environment and does nothing else."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "2.1.325 (Claude Code)" || env > {tmp_path}/seen\n'
    )
    program.chmod(0o700)
    return f"{program.parent}:/usr/bin:/bin"


@pytest.fixture
def background(tmp_path: Path, claude: str) -> Iterator[dict[str, str]]:
    """The environment of a user whose running daemon knows no key."""
    env = environment(tmp_path, PATH=claude)
    start = command("daemon", "start", "--port", "0")
    subprocess.run(start, env=env, cwd=tmp_path, check=True, capture_output=True)
    yield env
    subprocess.run(command("daemon", "stop"), env=env, check=True, capture_output=True)


def run_claude(env: dict[str, str], folder: Path, *words: str) -> tuple[str, bool]:
    """Returns stderr, and whether the agent saw the key."""
    (folder / "seen").unlink(missing_ok=True)
    process = begun("run", "claude", "hi", *words, env={**env, "ANTHROPIC_API_KEY": KEY}, cwd=folder)
    _, stderr = process.communicate(timeout=SECONDS)
    wait_until((folder / "seen").exists)
    return stderr, f"ANTHROPIC_API_KEY={KEY}" in (folder / "seen").read_text()


def test_a_key_in_the_shell_reaches_the_agent_on_the_users_own_daemon(
    background: dict[str, str], tmp_path: Path
) -> None:
    stderr, seen = run_claude(background, tmp_path)
    assert ("sent to the session: ANTHROPIC_API_KEY" in stderr, KEY in stderr, seen) == (True, False, True)


LOGGED_OUT = """\
#!{python}
import json, sys
if "--version" in sys.argv:
    sys.exit(print("2.1.325 (Claude Code)"))
lines = [json.loads(line) for line in open({recording!r})]
answer, *turn = [line["msg"] for line in lines if line["dir"] == "out"]
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "control_request":
        answer["response"]["request_id"] = request["request_id"]
    for message in [answer] if request["type"] == "control_request" else turn:
        print(json.dumps(message), flush=True)
"""


def test_a_key_that_is_set_after_a_session_was_created_is_explained(
    background: dict[str, str], tmp_path: Path
) -> None:
    recording = TRANSCRIPTS / "claude" / "error_not_logged_in" / "native.jsonl"
    program = tmp_path / "bin" / "claude"
    program.write_text(LOGGED_OUT.format(python=sys.executable, recording=str(recording)))

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        env = {**background, **more}
        return subprocess.run(
            command("run", "claude", "hi", "--keep", *words),
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    before, after = run(), run("--continue", ANTHROPIC_API_KEY=KEY)
    assert (before.returncode, after.returncode) == (1, 1)
    assert "warning: no key or login found for Claude Code: `export ANTHROPIC_API_KEY=...`" in before.stderr
    assert "keeps the variables" not in before.stderr
    assert "keeps the variables it was created with" in after.stderr
    assert after.stderr.endswith("a new session gets ANTHROPIC_API_KEY\n")


def test_a_key_in_the_shell_reaches_another_daemon_only_with_send_env(tmp_path: Path, claude: str) -> None:
    with running(Daemon(tmp_path / "data", env={"PATH": claude})) as daemon:
        env = environment(tmp_path, SANDBOX_AGENT_ENDPOINT=f"http://127.0.0.1:{daemon.port}")
        stderr, seen = run_claude(env, tmp_path)
        message = "not sent to this daemon: ANTHROPIC_API_KEY (use --send-env to send them)"
        assert (message in stderr, KEY in stderr, seen) == (True, False, False)
        assert run_claude(env, tmp_path, "--send-env")[1]


def test_an_agent_of_this_shell_that_the_daemon_does_not_know_is_explained(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """Its name resembles another agent, which must not be suggested."""
    variable = {"SANDBOX_AGENT_ACP_AGENT": "other=other --acp\nopencode-acp=opencode acp"}
    run = command("run", "opencode-acp", "hi")
    failed = subprocess.run(run, env=environ | variable, cwd=tmp_path, capture_output=True, text=True)
    assert (failed.returncode, failed.stderr) == (
        1,
        "error: the running daemon does not know opencode-acp: it was started without this SANDBOX_AGENT_ACP_AGENT. "
        "`sandbox-agent daemon restart` passes it on\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "mock", "hi", "--directory", "/nope"), "there is no directory /nope"),
        (("run", "mock", "hi", "--skills", "/nope"), "there is no directory /nope"),
        (("exec", "--cwd", "/nope", "ls"), "there is no directory /nope"),
        (("fs", "entries", "/etc/passwd"), "is not a directory"),
        (("fs", "read", "/etc"), "is a directory"),
    ],
)
def test_an_error_calls_a_directory_by_the_name_of_the_option(
    cli: Cli, words: tuple[str, ...], message: str
) -> None:
    failed = cli(*words)
    assert (failed.returncode, message in failed.stderr) == (1, True), failed.stderr


@pytest.mark.parametrize(
    ("words", "installs"),
    [((), "install-agent codex"), (("--agent-version", "0.1.0"), "install-agent codex --version 0.1.0")],
)
def test_a_missing_key_is_reported_before_anything_is_downloaded(
    tmp_path: Path, words: tuple[str, ...], installs: str
) -> None:
    env = {**environment(tmp_path, PATH="/usr/bin:/bin"), "SANDBOX_AGENT_NO_INSTALL": ""}
    env["SANDBOX_AGENT_MIRROR"] = "http://127.0.0.1:9"
    run = command("run", "codex", "hi", *words)
    failed = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert (failed.returncode, failed.stderr) == (
        1,
        "error: no key or login found for Codex: `export CODEX_API_KEY=...`. "
        f"`sandbox-agent {installs}` installs it anyway\n",
    )


def test_a_data_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = environment(tmp_path, SANDBOX_AGENT_DATA_DIR=str(tmp_path / "file" / "data"))
    run = command("run", "mock", "hi")
    failed = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert (failed.returncode, failed.stderr) == (
        1,
        f"error: cannot use --data-dir {tmp_path / 'file' / 'data'}: Not a directory\n",
    )
