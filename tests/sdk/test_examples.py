"""The examples do what they say, with the mock agent."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import websockets.sync.client as ws
from tests.daemons import SECONDS
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from ..daemons import Daemon
from .conftest import TOKEN, endpoint_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SANDBOX_AGENT_DATA_DIR": str(tmp_path / "data"),
    }


def run(name: str, *words: str, folder: Path, environ: dict[str, str], stdin: str = "", code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        cwd=folder,
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr if code == 0 else "") == (code, ""), done.stderr
    return done.stdout if code == 0 else done.stderr


def test_chat(tmp_path: Path, environ: dict[str, str]) -> None:
    lines = "hello\npermission x\ny\nquestion\nRed\nerror\n"
    output = run("chat.py", "mock", folder=tmp_path, environ=environ, stdin=lines)
    assert output == (
        "> You said: hello (message 1 of this conversation)\n> \necho x? [y/n] The command said: x\n> "
        "\nWhich colour do you like? ['Red', 'Green', 'Blue'] You chose: Red.\n"
        "> I am about to fail.\nthe model is overloaded\n> "
    )


@pytest.mark.parametrize("name", ["approve.py", "chat.py", "compare.py", "notebook.py", "tools.py"])
def test_without_arguments_and_input_it_exits_cleanly(
    name: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    run(name, folder=tmp_path, environ=environ)


@pytest.mark.parametrize("name", ["approve.py", "chat.py", "ci.py", "notebook.py", "tools.py"])
def test_an_agent_that_does_not_exist_is_reported_without_a_traceback(
    name: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    errors = run(name, "nobody", folder=tmp_path, environ=environ, code=1)
    assert "nobody" in errors
    assert "Traceback" not in errors


def test_approve_lets_a_harmless_command_pass(tmp_path: Path, environ: dict[str, str]) -> None:
    output = run("approve.py", "mock", "permission hi", folder=tmp_path, environ=environ)
    assert output == 'accept     echo hi\ncompleted  bash {"command":"echo hi"}\nThe command said: hi\n'


def test_approve_refuses_a_change_with_its_reason(tmp_path: Path, environ: dict[str, str]) -> None:
    output = run("approve.py", "mock", "edit", folder=tmp_path, environ=environ).splitlines()
    assert output[0].startswith("reject ")
    assert output[-1] == (
        "You did not allow edit (this program allows only commands that change nothing), so I leave it."
    )
    assert not (tmp_path / "mock-edit.txt").exists()


@pytest.mark.parametrize(
    "task, minutes, code, message",
    [
        ("slow", 0.01, 124, "the turn took longer than 0.6 seconds"),
        ("permission x", 1, 3, "permission to use `bash`"),
        ("error", 1, 1, "the model is overloaded"),
        ("edit", 1, 0, ""),
    ],
)
def test_ci_reports_the_outcome_by_its_exit_code(
    task: str, minutes: float, code: int, message: str, tmp_path: Path, environ: dict[str, str]
) -> None:
    output = run(
        "ci.py", "mock", task, "--minutes", str(minutes), folder=tmp_path, environ=environ, code=code
    )
    assert message in output
    if code == 0:
        assert "+line 1, from message 1\n" in output


def test_relay_passes_every_event_on_and_takes_the_page_s_answers(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    command = [sys.executable, str(EXAMPLES / "relay.py"), "mock", "--port", "0", "--origin", "http://mine"]
    program = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        with pytest.raises(InvalidStatus), ws.connect(address, origin=Origin("http://other")):
            pass
        with ws.connect(address, origin=Origin("http://mine")) as page:
            page.send('{"nonsense": 1}')
            assert "unknown field `nonsense`" in json.loads(page.recv(timeout=SECONDS))["problem"]
            page.send('{"prompt": "permission x"}')
            seen: list[dict[str, Any]] = []
            while not seen or seen[-1]["type"] != "turn.ended":
                seen.append(json.loads(page.recv(timeout=SECONDS)))
                if seen[-1]["type"] == "permission.requested":
                    name = seen[-1]["data"]["permission_id"]
                    page.send(json.dumps({"permission": name, "reply": "once"}))
        assert [event["sequence"] for event in seen] == list(
            range(seen[0]["sequence"], seen[-1]["sequence"] + 1)
        )
        assert "permission.resolved" in [event["type"] for event in seen]
    finally:
        program.send_signal(signal.SIGINT)
        assert program.wait(SECONDS) == 0
        if program.stdout is not None:
            program.stdout.close()


def test_relay_says_that_its_port_is_in_use(tmp_path: Path, environ: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        words = ["mock", "--port", str(port)]
        [line] = run("relay.py", *words, folder=tmp_path, environ=environ, code=1).splitlines()
    assert str(port) in line
    assert "address already in use" in line


def test_relay_says_that_its_port_is_none(tmp_path: Path, environ: dict[str, str]) -> None:
    words = ["mock", "--port", "99999"]
    assert run("relay.py", *words, folder=tmp_path, environ=environ, code=1).splitlines() == [
        "bind(): port must be 0-65535."
    ]


def test_compare_shows_three_agents_side_by_side(tmp_path: Path, environ: dict[str, str]) -> None:
    words = ["mock", "mock", "mock", "--prompt", "hello", "--prompt", "tool"]
    head, *rows = run("compare.py", *words, folder=tmp_path, environ=environ).splitlines()
    assert head.split() == ["agent", "prompt", "seconds", "tokens", "cost", "outcome", "answer"]
    normalized = [re.sub(r"\s+[\d.]+\s+(\d+)\s+[\d.]+\s+", r" \1 ", row, count=1) for row in rows]
    assert (
        normalized
        == [
            "mock       hello 14 end_turn     You said: hello (message 1 of this conversation)",
            "mock       tool 12 end_turn     The command ended with exit code 0.",
        ]
        * 3
    )


def test_compare_says_what_is_wrong_with_an_agent(tmp_path: Path, environ: dict[str, str]) -> None:
    output = run("compare.py", "nobody", "--prompt", "hello", folder=tmp_path, environ=environ)
    assert "unsupported_agent" in output.splitlines()[1]


def test_notebook(tmp_path: Path, environ: dict[str, str]) -> None:
    output = run("notebook.py", "mock", "thinking", "edit", folder=tmp_path, environ=environ)
    assert output.startswith("I thought about it.\nUsage(input_tokens=2,")
    assert "+line 1, from message 2\n" in output


def test_tools_are_functions_of_the_program(tmp_path: Path, environ: dict[str, str]) -> None:
    prompts = ["call list_shops", *(f'call opening_hours {{"city": "{city}"}}' for city in ("Bonn", "Rome"))]
    assert run("tools.py", "mock", *prompts, folder=tmp_path, environ=environ).splitlines() == [
        'list_shops returned: ["Bonn","Ulm"]',
        'opening_hours returned: {"opens":9,"closes":18}',
        "opening_hours failed: LookupError: there is no shop in Rome",
    ]


def test_resume_continues_after_a_kill_without_loss_or_duplicates(
    tmp_path: Path, environ: dict[str, str], mortal: Daemon
) -> None:
    environ |= {"SANDBOX_AGENT_ENDPOINT": endpoint_of(mortal), "SANDBOX_AGENT_TOKEN": TOKEN}
    command = [sys.executable, str(EXAMPLES / "resume.py"), "mock", "pace 40 20"]
    first = subprocess.Popen(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    with first.stdout as output:
        seen = [int(output.readline().split()[0]) for _ in range(12)]
        first.kill()
        seen += [int(line.split()[0]) for line in output if line.endswith("\n")]
        first.wait(SECONDS)
    remembered = int((tmp_path / "resume.offset").read_text())
    # It may have been killed after it showed an event and before it recorded that.
    assert seen == list(range(1, len(seen) + 1))
    assert remembered in (seen[-1], seen[-1] - 1)
    rest = run("resume.py", "mock", "pace 40 20", folder=tmp_path, environ=environ).splitlines()
    numbers = [int(line.split()[0]) for line in rest]
    assert numbers == list(range(remembered + 1, remembered + 1 + len(numbers)))
    assert rest[-1].endswith("turn.ended")


def test_resume_says_that_no_daemon_runs(tmp_path: Path, environ: dict[str, str]) -> None:
    environ["SANDBOX_AGENT_ENDPOINT"] = "http://127.0.0.1:9"
    assert "no daemon at http://127.0.0.1:9" in run("resume.py", folder=tmp_path, environ=environ, code=1)
