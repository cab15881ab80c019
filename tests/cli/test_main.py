"""The parser has a command for everything, takes words in any order, and starts fast."""

from __future__ import annotations

import functools
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.daemons import SECONDS

from sandbox_agent.cli import command_line
from sandbox_agent.cli.command_line import GUIDE, ROOT_EXAMPLES, parse, parser
from sandbox_agent.cli.main import main
from sandbox_agent.cli.parser import Parser
from sandbox_agent.cli.table import COMMANDS
from sandbox_agent.cli.walk import walk
from sandbox_agent.ops import OPERATIONS
from sandbox_agent.ops.operation import Dialogue

from .conftest import TOKEN, Cli, command


@pytest.fixture
def one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build the parser once for all the command lines of a test."""
    monkeypatch.setattr(command_line, "parser", functools.cache(command_line.parser))


@pytest.mark.usefixtures("one_parser")
def test_every_operation_has_a_command() -> None:
    for op in OPERATIONS.values():
        group, verb = op.name.split(".")
        words = [
            group.replace("_", "-"),
            verb.replace("_", "-"),
            *(f"x{n}" for n, _ in enumerate(op.path_fields)),
        ]
        words += ["path"] if op.takes_bytes else []
        words += op.words
        words += ["--agent", "mock"] if "agent" in op.body_fields else []
        words += ["--message", "hi"] if op.name.endswith("_message") else []
        words += {"permissions.reply": ["--reply", "once"], "questions.reply": ["--answer", "a"]}.get(
            op.name, []
        )
        words += ["--source", "/srv"] if "sources" in op.body_fields else []
        words += ["--input", "ls"] if op.name == "policy.test" else []
        if group in ("processes", "desktop"):
            [command] = [each for each in COMMANDS if each.name == " ".join(words[:2])]
            words += [
                f"{each.flag}=1" for each in command.arguments if each.required and each.place != "path"
            ]
        args = parse(words)
        handler = "exec:attach" if op.response is Dialogue else "call:call"
        assert (args._handler, args._command.method, args._command.path) == (handler, op.method, op.path)


def test_everything_after_two_dashes_is_the_command_of_exec() -> None:
    args = parse(["--endpoint", "http://h", "exec", "-it", "--env", "A=b", "--", "ls", "--", "-l"])
    assert (args.words, args.interactive, args.tty, args.env) == (["ls", "--", "-l"], True, True, ["A=b"])
    assert parse(["exec", "ls"]).words == ["ls"]
    assert parse(["run", "mock", "exec"]).prompt == "exec"


def test_an_alias_is_the_same_command() -> None:
    assert parse(["sessions", "get-messages", "x"])._command is parse(["sessions", "events", "x"])._command


def test_a_leading_api_is_skipped() -> None:
    assert vars(parse(["api", "sessions", "get", "x"])) == vars(parse(["sessions", "get", "x"]))


def test_options_may_precede_a_leading_api() -> None:
    before = ["--endpoint", "http://h", "--token=T", "--json"]
    assert vars(parse([*before, "api", "sessions", "list"])) == vars(parse([*before, "sessions", "list"]))


def test_an_api_that_is_not_the_first_command_is_kept() -> None:
    assert parse(["run", "mock", "api"]).prompt == "api"
    assert parse(["--token", "api", "sessions", "list"]).token == "api"


@pytest.mark.parametrize(
    "words",
    [
        ["--token", "T", "--host", "H", "--port", "1"],
        ["--no-token"],
        ["--port=0", "--no-token", "--cors-allow-origin", "sessions"],
    ],
)
def test_flags_of_the_server_alone_are_the_server(words: list[str]) -> None:
    assert parse(words)._handler == "server:server"


@pytest.mark.parametrize(
    "words", [("server",), ("daemon", "start"), ("daemon", "restart"), ("log", "copy", "a", "b")]
)
def test_the_data_directory_may_come_before_any_command(words: tuple[str, ...]) -> None:
    assert parse(["--data-dir", "/d", *words]).data_dir == "/d"
    assert parse([*words, "--data-dir", "/d"]).data_dir == "/d"
    assert parse(["--data-dir", "/d", *words, "--data-dir", "/e"]).data_dir == "/e"


@pytest.mark.parametrize("words", [("server",), ("daemon", "start"), ("daemon", "restart")])
def test_the_token_of_a_daemon_may_come_before_its_command(words: tuple[str, ...]) -> None:
    assert parse(["--token-file", "/t", *words]).token_file == "/t"
    assert parse(["--token", "t", *words]).token == "t"


def test_the_address_may_come_before_or_after_the_command() -> None:
    before = parse(["--endpoint", "http://h", "--token-file", "T", "--json", "sessions", "list"])
    after = parse(["sessions", "list", "--endpoint", "http://h", "--token-file", "T", "--json"])
    assert vars(before) == vars(after)


@pytest.mark.parametrize(
    "words",
    [["mock", "hi", "--session", "s"], ["mock", "--session", "s", "hi"], ["--session", "s", "mock", "hi"]],
)
def test_flags_and_arguments_may_be_mixed(words: list[str]) -> None:
    args = parse(["run", *words])
    assert (args.agent, args.prompt, args.session) == ("mock", "hi", "s")


def test_an_id_may_follow_the_flags() -> None:
    assert parse(["sessions", "create", "--agent", "mock", "demo"]).session_id == "demo"
    assert parse(["sessions", "create", "--agent", "mock"]).session_id is None


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["sessions"],
        ["sessions", "--nonsense"],
        ["--json"],
        ["sessions", "create", "x"],
        ["sessions", "list", "--limit", "many"],
        ["permissions", "reply", "s", "p", "--reply", "perhaps"],
        ["questions", "reply", "s", "q"],
        ["sessions", "list", "--lim", "3"],
    ],
)
def test_wrong_usage_is_exit_code_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert (left.value.code, capsys.readouterr().out) == (2, "")


def test_without_arguments_it_says_what_it_is_and_the_common_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        main([])
    shown = capsys.readouterr()
    assert (left.value.code, shown.err) == (0, "")
    assert [line.split("  ")[1] for line in shown.out.splitlines() if line.startswith("  ")] == [
        'sandbox-agent run claude "Fix the failing test"',
        "sandbox-agent daemon start",
        "sandbox-agent doctor",
    ]


@pytest.mark.parametrize(
    "words, message",
    [
        (["sesions", "list"], "unknown command sesions: did you mean sessions?"),
        (["sessions", "lst"], "unknown command lst: did you mean list?"),
        (
            ["run", "mock", "--permision-mode=plan", "x"],
            "unknown option --permision-mode: did you mean --permission-mode?",
        ),
        (["run", "mock", "--permission-mode", "pln", "x"], "default, plan: did you mean plan?"),
        (["run", "mock", "fix", "it"], "too many arguments: `it`; put quotes around text with spaces"),
    ],
)
def test_a_misspelled_word_is_answered_with_a_suggestion(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("one_parser")
def test_every_example_can_be_parsed() -> None:
    """Also those of the guide and of the help of all."""
    texts = [
        GUIDE,
        ROOT_EXAMPLES,
        *(node.parser.examples for node in walk(parser()) if isinstance(node.parser, Parser)),
    ]
    lines = [
        found[0]
        for text in texts
        for found in re.finditer(r"sandbox-agent (?!--help)[^|>`)\n]*?(?=  |[|>`)\n]|$)", text)
    ]
    assert len(lines) > 40
    for line in lines:
        assert parse(shlex.split(line)[1:])._handler


def test_a_group_alone_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--json", "daemon"])
    captured = capsys.readouterr()
    assert (left.value.code, captured.out) == (2, "")
    assert "Start a daemon and wait until it is ready." in captured.err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["questions", "reply", "--help"])
    assert left.value.code == 0
    assert (
        'sandbox-agent questions reply demo q_2 --answer Small --answer "Cheese,Basil"'
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("words", [[], ["run"], ["sessions", "create"]])
def test_help_is_also_a_word(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for asked in ([*words, "--help"], ["help", *words]):
        with pytest.raises(SystemExit) as ended:
            main(asked)
        shown.append((ended.value.code, capsys.readouterr().out))
    assert shown[0] == shown[1]
    assert shown[0][0] == 0


def test_help_loads_nothing_heavy() -> None:
    heavy = {
        "msgspec",
        "httpx2",
        "rich",
        "uvicorn",
        "asyncio",
        "sandbox_agent.runtime",
        "sandbox_agent.agents",
    }
    code = "import sys; from sandbox_agent.cli.command_line import parser; parser().format_help(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert heavy & set(loaded.split()) == set()


def test_a_closed_pipe_causes_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    line = b'{"dir":"cmd","t":0,"msg":["mock","--conversation","c"]}\n'
    line += b'{"dir":"out","t":0,"msg":{"type":"ready","conversation":"c"}}\n'
    done = subprocess.run(
        command("translate", "mock", "-"), input=line, stdout=writer, stderr=subprocess.PIPE, timeout=SECONDS
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("words", [("completion", "bash"), ("--help",), ("run", "--help"), ()])
def test_a_full_disk_behind_stdout_causes_no_traceback(words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        failed = subprocess.run(
            command(*words),
            # Some versions of argparse ignore the error if nothing is buffered.
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )
    assert (failed.returncode, failed.stderr) == (1, "error: No space left on device\n")


def test_ctrl_c_exits_with_130_and_no_traceback(cli: Cli, endpoint: str) -> None:
    cli("sessions", "create", "interrupted", "--agent", "mock")
    with subprocess.Popen(
        command("sessions", "events-sse", "interrupted", "--endpoint", endpoint, "--token", TOKEN),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell starts its background commands with SIGINT ignored, and these tests may run in one.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=SECONDS)[1] == b""
    assert process.returncode == 130


def test_ctrl_c_while_it_is_imported_causes_no_traceback(tmp_path: Path) -> None:
    """A module of the test interrupts the program when it imports its parser."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sandbox_agent.cli.command_line':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    interrupted = subprocess.run(
        command("--version"),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        timeout=SECONDS,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (interrupted.returncode, interrupted.stderr) == (-signal.SIGINT, b"")
