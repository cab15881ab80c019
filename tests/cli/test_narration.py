"""How a transcript is printed, on a terminal and in a pipe."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from sandbox_agent.cli.asking import ask_permission, ask_question, chosen
from sandbox_agent.cli.narration import Narrator, Tool, View, summary, titled
from sandbox_agent.cli.views import PlainView, TerminalView, split_blocks
from sandbox_agent.schema.events import (
    AskedQuestion,
    Choice,
    ItemCompleted,
    ItemStarted,
    PermissionMetadata,
    PermissionRequested,
    QuestionMetadata,
    QuestionRequested,
    TurnEnded,
    TurnMetadata,
    decode_event,
)
from sandbox_agent.schema.inputs import Answer, Decision

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


PI_500 = '500: {"type":"scripted_error","code":"scripted_500","message":"scripted HTTP 500"}'


def tell(case: str, view: View, agent: str = "mock") -> None:
    narrator = Narrator(view)
    for line in (TRANSCRIPTS / agent / case / "universal.jsonl").read_bytes().splitlines():
        narrator.handle(decode_event(line))
    view.close()


def test_in_a_pipe_the_answer_is_on_stdout_and_the_rest_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    tell("rejected", PlainView())
    captured = capsys.readouterr()
    assert captured.out == (
        "You did not allow bash (not today), so I leave it.\nYou did not allow edit (not today), so I leave it.\n"
    )
    assert captured.err.splitlines() == [
        "✗ bash echo hello (0.0 s): The user rejected this call. (not today)",
        "✗ edit /tmp/ws/mock-edit.txt (0.0 s): The user rejected this call. (not today)",
    ]


def test_on_a_terminal_markdown_is_rendered_and_tools_are_one_line() -> None:
    shown = io.StringIO()
    tell("demo", TerminalView(Console(file=shown, width=80)))
    lines = [line.strip() for line in shown.getvalue().splitlines()]
    for expected in (
        "• first",
        "✓ bash seq 3 (0.0 s)",
        "+line 1, from message 1",
        "The user wants to see me think. First I look at the question, then I look at it",
        "✓ task Count the files (0.0 s)",
    ):
        assert expected in lines


def test_on_a_terminal_text_before_a_crash_is_printed_before_its_error() -> None:
    shown = io.StringIO()
    tell("crash_resumed", TerminalView(Console(file=shown, width=80)))
    text = shown.getvalue()
    assert text.index("I do not feel so w") < text.index("error: the agent's process exited")
    assert text.count("I do not feel so w") == 1


@pytest.mark.parametrize(
    ("agent", "case", "shown"),
    [
        ("claude", "error_429_once", ["retry: attempt 1 of 2: rate_limit"]),
        (
            "codex",
            "error_cut_once",
            [
                "retry: Reconnecting... 1/1: stream disconnected before completion: stream closed before response.completed"
            ],
        ),
        ("opencode", "err_500_once", ["retry: attempt 1: scripted HTTP 500"]),
        (
            "pi",
            "err_500",
            [
                *(f"retry: attempt {attempt} of 3: {PI_500}" for attempt in (1, 2, 3)),
                f"retry: gave up after attempt 3: {PI_500}",
            ],
        ),
    ],
)
def test_a_retry_is_shown_with_its_attempt_and_reason(
    agent: str, case: str, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tell(case, PlainView(), agent)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("retry")] == shown


def test_a_turn_that_its_daemon_left_open_says_why_its_outcome_is_unknown() -> None:
    ended = TurnEnded("turn_1", TurnMetadata("outcome_unknown", 1_500))
    assert summary(ended) == "outcome unknown, because the daemon stopped during the turn · 1.5 s"


def test_control_characters_do_not_reach_the_terminal() -> None:
    shown = io.StringIO()
    view = TerminalView(Console(file=shown, width=80))
    view.tool_ended(Tool("c", titled("bash", "echo \x1b[2J\n x"), False, ""), None, 1.0, [])
    assert shown.getvalue() == "✓ bash echo [2J x (1.0 s)\n"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("ls -l", "bash ls -l"),
        ("bash", "bash"),
        ("", "bash"),
        ("x" * 200, f"bash {'x' * 94}…"),
    ],
)
def test_a_call_is_shown_by_its_title_or_else_by_its_name(title: str, shown: str) -> None:
    assert titled("bash", title) == shown


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("one\n\ntwo", "one\n\n"),
        ("one\n\n", ""),
        ("```\na\n\nb\n", ""),
        ("```\na\n\nb\n```\n\nnext", "```\na\n\nb\n```\n\n"),
        ("- a\n\n- b", ""),
        ("- a\n\nnext", "- a\n\n"),
    ],
)
def test_a_block_is_finished_when_another_begins(text: str, finished: str) -> None:
    assert split_blocks(text) == (finished, text[len(finished) :])


def test_thinking_is_printed_from_its_deltas_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The visibility of a delta says that it is thinking: the item that it belongs to need not be looked at."""
    narrator = Narrator(PlainView())
    for line in (TRANSCRIPTS / "mock" / "demo" / "universal.jsonl").read_bytes().splitlines():
        event = decode_event(line)
        if isinstance(event.data, ItemStarted):
            bare = msgspec.structs.replace(event.data.item, content=())
            event = msgspec.structs.replace(event, data=ItemStarted(bare))
        if not isinstance(event.data, ItemCompleted):
            narrator.handle(event)
    assert "The user wants to see me think" not in capsys.readouterr().out


# -- asking -----------------------------------------------------------------------------------

SILENT = Console(file=io.StringIO(), width=80)
COLOURS = AskedQuestion("Which?", "Colour", (Choice("Red"), Choice("Green")))
SEVERAL = AskedQuestion("Which?", "Colours", (Choice("Red"), Choice("Green")), multi_select=True)


class Typed:
    """A user who types these lines, and then leaves."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def __call__(self, prompt: str) -> str:
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["o"], Decision("once")),
        (["", "what", "always"], Decision("always")),
        (["r", "use git mv"], Decision("reject", "use git mv")),
        (["n", ""], Decision("reject")),
        ([], Decision("reject", "the terminal was closed")),
    ],
)
def test_a_permission_is_asked_until_it_is_answered(typed: list[str], decision: Decision) -> None:
    request = PermissionRequested("p", "bash", "requested", PermissionMetadata("bash", {"command": "ls"}))
    assert ask_permission(request, SILENT, Typed(*typed)) == decision


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("ls -l", "? bash ls -l\n"),
        ("", "? bash\n"),
        ("ls …", '? bash ls …\n  {"command":"ls && rm -r x"}\n'),
    ],
)
def test_a_permission_is_shown_by_its_title_and_whole_where_that_was_cut(title: str, shown: str) -> None:
    facts = PermissionMetadata("bash", {"command": "ls && rm -r x"}, kind="command", title=title)
    file = io.StringIO()
    request = PermissionRequested("p", "bash", "requested", facts)
    ask_permission(request, Console(file=file, width=80), Typed("o"))
    assert file.getvalue() == shown


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["2", "1,2"], Answer((("Green",), ("Red", "Green")))),
        (["9", "red", "none, Green"], Answer((("Red",), ("none", "Green")))),
        (["1"], Answer(None)),
    ],
)
def test_questions_take_numbers_labels_and_free_text(typed: list[str], answer: Answer) -> None:
    request = QuestionRequested("q", "Which?", (), "requested", QuestionMetadata((COLOURS, SEVERAL)))
    assert ask_question(request, SILENT, Typed(*typed)) == answer


def test_free_text_may_contain_commas_if_one_answer_is_expected() -> None:
    assert chosen("blue, perhaps", COLOURS) == ("blue, perhaps",)
