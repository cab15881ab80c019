"""The command as a process, against a real daemon."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

import msgspec
import pytest
from tests.daemons import SECONDS, wait_until

from sandbox_agent.cli.state import lock_holder, running_daemon
from sandbox_agent.schema.answers import ToolCallList
from sandbox_agent.schema.tools import ToolRequest

from .conftest import Cli, command, environment, types_of


def begun(*words: str, env: dict[str, str], cwd: Path) -> subprocess.Popen[str]:
    """A command that runs in parallel to the test."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command(*words), env=env, cwd=cwd, stdout=pipe, stderr=pipe, text=True)


def test_a_session_from_its_creation_to_its_end(cli: Cli, tmp_path: Path) -> None:
    created = cli("sessions", "create", "life", "--agent", "mock", "--title", "Life", "--json")
    assert (created.returncode, msgspec.json.decode(created.stdout)["sessionId"]) == (0, "life")
    (tmp_path / "note.txt").write_text("hi")

    turn = cli("sessions", "stream-message", "life", "--message", "-", "--attach", "note.txt", stdin="look")
    types = types_of(turn.stdout)
    assert (turn.returncode, types[0], types[-1]) == (0, "turn.started", "turn.ended")
    assert "with note.txt" in turn.stdout

    page = cli("sessions", "get-messages", "life", "--limit", "2")
    assert (types_of(page.stdout), page.stderr) == (
        ["session.started", "turn.started"],
        "more events: --offset 2\n",
    )

    everything = cli("sessions", "events", "life", "--limit", "1000").stdout
    exported = cli("sessions", "export", "life", "--output", "life.jsonl")
    assert (exported.returncode, (tmp_path / "life.jsonl").read_text()) == (0, everything)

    assert cli("sessions", "delete", "life").stdout == ""
    gone = cli("sessions", "get", "life")
    assert (gone.returncode, gone.stdout, gone.stderr) == (
        1,
        "",
        "error: Session not found: no session life\n  sessionId: life\n",
    )


def test_a_problem_as_json_is_the_daemons_own(cli: Cli) -> None:
    failed = cli("sessions", "get", "nobody", "--json")
    assert (failed.returncode, msgspec.json.decode(failed.stderr)) == (
        1,
        {
            "type": "urn:sandbox-agent:error:session_not_found",
            "title": "Session not found",
            "status": 404,
            "detail": "no session nobody",
            "instance": "/v1/sessions/nobody",
            "sessionId": "nobody",
        },
    )


def test_without_an_id_the_daemon_makes_one(cli: Cli) -> None:
    created = msgspec.json.decode(cli("api", "sessions", "create", "--agent", "mock", "--json").stdout)
    assert created["sessionId"].startswith("ses_")


def test_a_permission_is_answered_by_its_command(cli: Cli, environ: dict[str, str]) -> None:
    cli("sessions", "create", "asks", "--agent", "mock")
    words = ("sessions", "stream-message", "asks", "--message", "permission hello")
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, env=environ, text=True) as streaming:
        assert streaming.stdout is not None
        asked = next(line for line in streaming.stdout if '"type":"permission.requested"' in line)
        permission = msgspec.json.decode(asked)["data"]["permission_id"]
        waiting = msgspec.json.decode(cli("permissions", "list", "asks", "--json").stdout)["permissions"]
        answered = cli("permissions", "reply", "asks", permission, "--reply", "once")
        again = cli("permissions", "reply", "asks", permission, "--reply", "once")
        rest = streaming.stdout.read()
    assert [each["permission_id"] for each in waiting] == [permission]
    assert (answered.returncode, answered.stdout, answered.stderr) == (0, "", "")
    assert (again.returncode, again.stderr.splitlines()[0].split(":")[1]) == (1, " Conflict")
    assert (streaming.returncode, types_of(rest)[-1]) == (0, "turn.ended")


def test_an_address_without_a_daemon_is_reported_with_what_to_do(cli: Cli) -> None:
    failed = cli("sessions", "list", "--endpoint", "http://127.0.0.1:1")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "no daemon at http://127.0.0.1:1: start one with `sandbox-agent daemon start`" in failed.stderr


def test_an_upload_is_read_back_by_the_last_part_of_the_path_it_answered(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    cli("sessions", "create", "pictures", "--agent", "mock")
    stored = msgspec.json.decode(cli("attachments", "upload", "pictures", "picture.png", "--json").stdout)
    name = stored["path"].rsplit("/", 1)[1]
    assert cli("attachments", "get", "pictures", name, "--output", "copy.png").returncode == 0
    assert (tmp_path / "copy.png").read_bytes() == b"\x89PNG"


def test_an_export_that_fails_leaves_the_file_as_it_was(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "keep.jsonl"
    kept.write_text("of yesterday\n")
    failed = cli("sessions", "export", "nobody", "--output", "keep.jsonl")
    assert (failed.returncode, kept.read_text()) == (1, "of yesterday\n")
    assert [path.name for path in tmp_path.iterdir()] == ["keep.jsonl"]


def test_old_sessions_are_pruned_and_first_shown(cli: Cli) -> None:
    cli("sessions", "create", "doomed", "--agent", "mock")
    looked = msgspec.json.decode(cli("sessions", "prune", "--max-size", "0", "--dry-run", "--json").stdout)
    assert "doomed" in [each["sessionId"] for each in looked["sessions"]]
    unsure = cli("sessions", "prune", "--older-than", "0m")
    assert (unsure.returncode, "use --yes to delete" in unsure.stderr) == (2, True)
    assert cli("sessions", "prune", "--older-than", "0m", "--yes").returncode == 0
    assert cli("sessions", "get", "doomed").returncode == 1


def test_metrics_are_printed_as_they_are(cli: Cli) -> None:
    assert "sandbox_agent_log_bytes " in cli("system", "metrics").stdout


def test_content_that_cannot_be_written_is_a_clear_error(cli: Cli) -> None:
    failed = cli("system", "metrics", "--output", "/nowhere/metrics")
    assert (failed.returncode, failed.stderr) == (
        1,
        "error: cannot write /nowhere/metrics: No such file or directory\n",
    )


# -- run --------------------------------------------------------------------------------------


def test_run_in_a_pipe_prints_the_answer_and_rejects_what_is_asked(cli: Cli) -> None:
    ran = cli("run", "mock", "--session", "piped", "-", stdin="permission hello")
    assert (ran.returncode, ran.stdout) == (
        0,
        "You did not allow bash (nobody to ask, because this is not a terminal), so I leave it.\n",
    )
    assert ran.stderr.startswith(
        "rejected bash: nobody to ask, because this is not a terminal (see --permission-mode)\n"
    )
    assert "end turn · " in ran.stderr.splitlines()[-1]


def test_run_goes_on_with_a_session(cli: Cli) -> None:
    assert cli("run", "mock", "first words", "--session", "longer").returncode == 0
    assert (
        cli("run", "mock", "--session", "longer", "memory").stdout == "You said before:\n\n1. first words\n"
    )
    other = cli("run", "claude", "--session", "longer", "hi")
    assert (other.returncode, other.stderr) == (2, "error: session longer belongs to mock, not to claude\n")


def test_run_shows_what_a_crashed_agent_wrote_to_stderr_below_its_text(
    environ: dict[str, str], tmp_path: Path
) -> None:
    crashed = subprocess.run(
        command("run", "mock", "crash", "--session", "crashed"),
        env=environ,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    *message, summary = crashed.stdout.splitlines()
    assert message == [
        "I do not feel so w",
        "error: the agent's process exited (exit code 1) (agent_process_exited)",
        "  stderr:",
        "    mock agent: something is terribly wrong",
        "    mock agent: giving up",
    ]
    assert (crashed.returncode, summary.startswith("error · ")) == (1, True)


def test_run_says_what_it_cannot_change_of_a_session(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", "mock", "hi", "--session", "settled").returncode == 0
    for words, why in (
        (("--directory", "/"), f"works in {tmp_path}: --directory"),
        (("--agent-version", "1"), "already exists: --agent-version"),
        (("--env", "A=b"), "already exists: --env"),
    ):
        refused = cli("run", "mock", "hi", "--session", "settled", *words)
        message = f"error: session settled {why} works only for a new session\n"
        assert (refused.returncode, refused.stderr) == (2, message)
    assert cli("run", "mock", "hi", "--session", "settled", "--directory", ".").returncode == 0


def test_run_fails_when_the_turn_does(cli: Cli) -> None:
    failed = cli("run", "mock", "error")
    assert (failed.returncode, failed.stdout) == (1, "I am about to fail.\n")
    assert "error: the model is overloaded (overloaded)\n" in failed.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([""], "error: the prompt is empty\n"),
        (["hi", "--attach", "nowhere.txt"], "error: --attach nowhere.txt: no such file\n"),
        (["hi", "--attach", "."], "error: --attach .: it is not a file\n"),
        (["hi", "--env", "GONE"], "error: `GONE` is not set: use --env GONE=VALUE\n"),
    ],
)
def test_run_makes_no_session_for_what_cannot_be_sent(cli: Cli, words: list[str], message: str) -> None:
    failed = cli("run", "mock", "--session", "in-vain", *words)
    assert (failed.returncode, failed.stderr) == (2, message)
    assert cli("sessions", "get", "in-vain").returncode == 1


def test_run_leaves_no_session_whose_prompt_the_daemon_refused(cli: Cli) -> None:
    failed = cli("run", "mock", "hi", "--session", "refused", "--attach", "/nowhere.txt")
    assert (failed.returncode, "/nowhere.txt is not a file on the daemon's machine" in failed.stderr) == (
        1,
        True,
    )
    assert cli("sessions", "get", "refused").returncode == 1


def test_run_leaves_no_session_whose_attachment_cannot_be_read(cli: Cli) -> None:
    failed = cli("run", "mock", "hi", "--session", "unread", "--attach", "/proc/self/mem")
    assert (failed.returncode, failed.stderr) == (1, "error: Input/output error\n")
    assert cli("sessions", "get", "unread").returncode == 1


def test_run_gives_variables_to_the_agent(cli: Cli, tmp_path: Path) -> None:
    echo = tmp_path / "echo"
    echo.write_text('#!/bin/sh\nprintf "$GREETING"\n')
    echo.chmod(0o700)
    words = (
        "--permission-mode",
        "bypass",
        "--env",
        "GREETING=salut",
        "--env",
        f"PATH={tmp_path}:/usr/bin:/bin",
    )
    ran = cli("run", "mock", "permission hello", *words)
    assert (ran.returncode, ran.stdout) == (0, "The command said: salut\n")


def test_run_as_json_prints_events(cli: Cli) -> None:
    types = types_of(cli("run", "mock", "hi", "--json").stdout)
    assert (types[0], types[-1]) == ("turn.started", "turn.ended")


@contextmanager
def on_terminal(words: tuple[str, ...], environ: dict[str, str], folder: Path) -> Iterator[Terminal]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(command()[0], command(*words), {**environ, "TERM": "xterm", "COLUMNS": "100"})
    with open(terminal, "rb+", buffering=0) as file:
        yield Terminal(pid, file)


class Terminal:
    """A user who reads the screen and types."""

    def __init__(self, pid: int, file: FileIO) -> None:
        self._pid = pid
        self._file = file
        self.shown = b""

    def wait_for(self, text: str) -> None:
        while text.encode() not in self.shown:
            self.shown += self._file.read(65536) or b""

    def type(self, text: str) -> None:
        self._file.write(text.encode())

    def wait_until_full(self) -> None:
        """Stop reading until the pipe is full, so that the program blocks in the middle of a write."""
        end = os.open(f"/proc/{self._pid}/fd/1", os.O_WRONLY | os.O_NOCTTY)
        wait_until(lambda: not select.select([], [end], [], 0)[1])
        os.close(end)

    def exit_code(self) -> int:
        # The terminal gives an error, not an end, when the last program on it is gone.
        with suppress(OSError):
            while piece := self._file.read(65536):
                self.shown += piece
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def test_run_asks_on_the_terminal(environ: dict[str, str], tmp_path: Path) -> None:
    with on_terminal(("run", "mock", "edit"), environ, tmp_path) as terminal:
        terminal.wait_for("[r]eject: ")
        terminal.type("o\n")
        assert terminal.exit_code() == 0
    assert (tmp_path / "mock-edit.txt").read_text() == "line 1, from message 1\n"
    assert b"+line 1, from message 1" in terminal.shown


def test_ctrl_c_cancels_the_turn_and_its_end_is_shown(environ: dict[str, str], tmp_path: Path) -> None:
    with on_terminal(("run", "mock", "slow 60"), environ, tmp_path) as terminal:
        terminal.wait_for("Counting slowly:")
        terminal.type("\x03")
        assert terminal.exit_code() == 130
    assert b"interrupted \xc2\xb7 " in terminal.shown


def test_ctrl_c_in_the_middle_of_a_write_cancels_too(environ: dict[str, str], tmp_path: Path) -> None:
    with on_terminal(("run", "mock", "pace 100000 10 20"), environ, tmp_path) as terminal:
        terminal.wait_for("@")
        terminal.wait_until_full()
        terminal.type("\x03")
        assert terminal.exit_code() == 130
    assert b"Traceback" not in terminal.shown
    assert b"interrupted \xc2\xb7 " in terminal.shown


def test_ctrl_c_twice_leaves_at_once(environ: dict[str, str], tmp_path: Path) -> None:
    with on_terminal(("run", "mock", "hang"), environ, tmp_path) as terminal:
        terminal.wait_for("I do not listen any more.")
        terminal.type("\x03")
        terminal.wait_for("cancelling")
        terminal.type("\x03")
        assert terminal.exit_code() == 130
    assert b"Traceback" not in terminal.shown


def test_run_ends_when_its_message_is_withdrawn(cli: Cli, environ: dict[str, str], tmp_path: Path) -> None:
    cli("sessions", "create", "busy", "--agent", "mock")
    cli("sessions", "send-message", "busy", "--message", "pace 2000 100")
    waiting = begun("run", "mock", "hello", "--session", "busy", env=environ, cwd=tmp_path)
    wait_until(lambda: '"turnId"' in cli("sessions", "queue", "busy", "--json").stdout)
    [queued] = msgspec.json.decode(cli("sessions", "queue", "busy", "--json").stdout)["messages"]
    cli("sessions", "withdraw", "busy", queued["turnId"])
    _, stderr = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, stderr.splitlines()[-1]) == (
        1,
        "error: the message was withdrawn from the queue",
    )
    cli("sessions", "terminate", "busy")


# -- without a daemon -------------------------------------------------------------------------


def test_run_starts_a_temporary_daemon_and_stops_it(local: Cli, tmp_path: Path) -> None:
    ran = local("run", "mock", "hello")
    assert (ran.returncode, ran.stdout) == (0, "You said: hello (message 1 of this conversation)\n")
    assert lock_holder(tmp_path / "state") is None


def test_two_runs_at_once_share_a_daemon_which_ends_with_the_last(local: Cli, tmp_path: Path) -> None:
    runs = []
    for session in ("first", "second"):
        words = ("run", "mock", "slow 60", "--session", session)
        runs.append(begun(*words, env=environment(tmp_path), cwd=tmp_path))
        assert runs[-1].stdout is not None
        assert runs[-1].stdout.read(8) == "Counting"
    first = runs[0]
    assert local("sessions", "cancel", "first").returncode == 0
    assert first.stderr is not None
    assert any("waiting for other commands that use this daemon" in line for line in first.stderr)
    assert local("sessions", "cancel", "second").returncode == 0
    for run in runs:
        run.communicate(timeout=SECONDS)
    assert lock_holder(tmp_path / "state") is None
    assert not (tmp_path / "state" / "daemon.json").exists()


def test_a_run_does_not_use_a_daemon_whose_run_was_killed(local: Cli, tmp_path: Path) -> None:
    """Such a daemon is about to stop. Here it is frozen before it can notice."""
    killed = begun("run", "mock", "slow 60", env=environment(tmp_path), cwd=tmp_path)
    assert killed.stdout is not None
    assert killed.stdout.read(8) == "Counting"
    state = running_daemon(tmp_path / "state")
    assert state is not None
    os.kill(state.pid, signal.SIGSTOP)
    killed.kill()
    killed.communicate(timeout=SECONDS)
    after = begun("run", "mock", "hello", env=environment(tmp_path), cwd=tmp_path)
    wait_until(lambda: _is_locked(tmp_path / "state" / "users"))
    os.kill(state.pid, signal.SIGCONT)
    stdout, stderr = after.communicate(timeout=SECONDS)
    assert (after.returncode, stdout) == (0, "You said: hello (message 1 of this conversation)\n"), stderr


def _is_locked(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_a_server_in_the_foreground_is_found(local: Cli, tmp_path: Path) -> None:
    server = subprocess.Popen(
        command("server", "--port", "0", "--no-token"),
        env=environment(tmp_path),
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: running_daemon(tmp_path / "state") is not None)
        assert local("run", "mock", "hello").returncode == 0
        status = msgspec.json.decode(local("daemon", "status", "--json").stdout)
        assert (status["running"], status["pid"]) == (True, server.pid)
        refused = local("daemon", "stop")
        assert "was not started by `daemon start`" in refused.stderr
    finally:
        server.terminate()
        server.wait(SECONDS)
    assert not (tmp_path / "state" / "daemon.json").exists()


def test_a_daemon_in_the_background_is_found_until_it_is_stopped(local: Cli, tmp_path: Path) -> None:
    assert local("daemon", "status").returncode == 1
    started = local("daemon", "start", "--port", "0", "--json")
    facts = msgspec.json.decode(started.stdout)
    state = tmp_path / "state" / "daemon.json"
    assert (started.returncode, state.stat().st_mode & 0o777) == (0, 0o600)
    try:
        again = local("daemon", "start")
        assert (again.returncode, again.stderr) == (
            0,
            f"a daemon is already running at {facts['endpoint']}\n",
        )
        assert msgspec.json.decode(local("sessions", "list", "--json").stdout) == {"sessions": []}
        status = msgspec.json.decode(local("daemon", "status", "--json").stdout)
        assert status == {
            "running": True,
            "ready": True,
            "endpoint": facts["endpoint"],
            "pid": facts["pid"],
            "version": facts["version"],
            "dataDir": str(tmp_path / "state"),
        }
        doctor = local("doctor", "--json")
        found = {each["about"]: each["state"] for each in msgspec.json.decode(doctor.stdout)["findings"]}
        assert (doctor.returncode, found["daemon"], found["data directory"], found["mock"]) == (
            0,
            "ok",
            "ok",
            "ok",
        )
    finally:
        stopped = local("daemon", "stop", "--json")
    assert (stopped.returncode, msgspec.json.decode(stopped.stdout)) == (
        0,
        {"stopped": True, "pid": facts["pid"]},
    )
    assert not state.exists()


def test_a_daemon_that_cannot_start_says_why(local: Cli, endpoint: str) -> None:
    failed = local("daemon", "start", "--port", endpoint.rsplit(":", 1)[1])
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "the daemon did not start:" in failed.stderr
    assert "cannot listen on" in failed.stderr


def test_a_data_directory_that_is_a_file_is_a_clear_error(local: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.touch()
    for words in (("daemon", "start", "--port", "0"), ("server", "--no-token", "--port", "0")):
        refused = local(*words, "--data-dir", str(file))
        message = refused.stderr.splitlines()[-1].partition(": ")[2]
        assert (refused.returncode, message) == (1, f"cannot use --data-dir {file}: File exists")
    assert local("daemon", "stop", "--data-dir", str(file)).stderr == "no daemon is running\n"


def test_the_server_refuses_to_start_without_a_token(local: Cli) -> None:
    refused = local("server", "--port", "0")
    assert (refused.returncode, "--token-file FILE" in refused.stderr) == (1, True)


def test_a_bad_setting_is_wrong_usage(local: Cli) -> None:
    bad = local("server", "--no-token", "--port", "70000")
    message = "error: --port / SANDBOX_AGENT_PORT: expected `int` <= 65535\n"
    assert (bad.returncode, bad.stderr) == (2, message)


def test_a_bad_session_id_is_refused_with_the_allowed_characters(cli: Cli) -> None:
    refused = cli("sessions", "create", "no good", "--agent", "mock")
    assert (refused.returncode, refused.stderr.splitlines()) == (
        1,
        [
            "error: Invalid request: invalid `sessionId`. The session's id: 1 to 128 of A-Z a-z 0-9 . _ : -",
            "  field: sessionId",
        ],
    )


def test_a_call_of_a_tool_is_listed_and_answered(cli: Cli) -> None:
    create = ("sessions", "create", "tools", "--agent", "mock", "--tools")
    wrong = cli(*create, "weather")
    assert (wrong.returncode, "--tools" in wrong.stderr) == (2, True)
    assert cli(*create, '[{"name": "weather"}]').returncode == 0
    cli("sessions", "send-message", "tools", "--message", "call weather")

    def listed() -> list[ToolRequest]:
        found = cli("tool-calls", "list", "tools", "--json").stdout
        return msgspec.json.decode(found, type=ToolCallList).tool_calls

    wait_until(lambda: bool(listed()))
    [call] = listed()
    table = cli("tool-calls", "list", "tools").stdout.split()
    assert table == ["call", "id", "name", "arguments", call.call_id, "weather"]
    shown = cli("sessions", "show", "tools")
    assert f"? weather (sandbox-agent tool-calls reply tools {call.call_id} --output ...)" in shown.stdout
    assert "the session is waiting for an answer" in shown.stderr
    nothing = cli("tool-calls", "reply", "tools", call.call_id)
    assert (nothing.returncode, "give the tool's `output`, or its `error`" in nothing.stderr) == (1, True)
    assert cli("tool-calls", "reply", "tools", call.call_id, "--output", "sunny").returncode == 0
    again = cli("tool-calls", "reply", "tools", call.call_id, "--error", "too late")
    assert (again.returncode, "Conflict" in again.stderr) == (1, True)
    wait_until(lambda: "weather returned: sunny" in cli("sessions", "events", "tools").stdout)


def test_a_tried_rule_is_shown_with_every_part_of_the_request(cli: Cli) -> None:
    rules = '[{"effect": "deny", "command": "rm -rf", "reason": "no"}]'
    tried = ("policy", "test", "--agent", "claude", "--tool", "Bash", "--input", "git status; rm -fr build")
    lines = [" ".join(line.split()) for line in cli(*tried, "--policy", rules).stdout.splitlines()]
    assert lines == [
        *("outcome deny", "decided by rule", "message no"),
        *("kind text effect list index", "command git status", "command rm -fr build deny session 0"),
    ]


@pytest.mark.parametrize("words", [("acp", "--agent", "mock"), ("mcp",)])
def test_a_protocol_without_input_ends_at_once(words: tuple[str, ...], environ: dict[str, str]) -> None:
    done = subprocess.run(
        command(*words),
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_acp_needs_pipes(environ: dict[str, str], tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run(
            command("acp", "--agent", "mock"),
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )
    assert (done.returncode, done.stderr) == (
        2,
        "error: stdin and stdout must be pipes or a terminal, not files\n",
    )
