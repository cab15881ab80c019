"""The built-in scenarios of the scripted model, and how a prompt selects one.

`SCENARIO:name` or `SCENARIO:name:arg` in the prompt names one (`+` in the argument is a space, `%0A` a line
break); `SCRIPT:[...]` up to the end of the line gives the steps as JSON. A prompt with neither is echoed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote_plus

import msgspec
from msgspec import Struct

from .steps import (
    Ask,
    Call,
    Command,
    Cut,
    Delay,
    Edit,
    HttpError,
    Mcp,
    Next,
    Plan,
    Question,
    Read,
    Step,
    Stop,
    StreamError,
    Subagent,
    Text,
    Thinking,
    Usage,
    Write,
)

Scenario = Callable[[str], Sequence[Step]] | Sequence[Step]


class Chosen(Struct, frozen=True):
    """The scenario a prompt selected."""

    name: str
    arg: str
    steps: tuple[Step, ...]


def choose(prompt: str, scenarios: Mapping[str, Scenario]) -> Chosen:
    """The scenario of the prompt's last marker, or the echo."""
    markers = list(_MARKER.finditer(prompt))
    if not markers:
        return _named("echo", "", scenarios)
    marker = markers[-1]
    if script := marker["script"]:
        try:
            return Chosen("script", "", tuple(msgspec.json.decode(script, type=list[Step])))
        except msgspec.DecodeError as error:
            return Chosen("script", "", (Text(f"That is not a script: {error}"),))
    return _named(marker["name"], unquote_plus(marker["arg"] or ""), scenarios)


def without_marker(prompt: str) -> str:
    """A prompt without its marker, for the echo."""
    return _MARKER.sub("", prompt).strip()


def _named(name: str, arg: str, scenarios: Mapping[str, Scenario]) -> Chosen:
    scenario = scenarios.get(name)
    if scenario is None:
        names = ", ".join(sorted(scenarios))
        return Chosen(name, arg, (Text(f"There is no scenario {name}. There are: {names}"),))
    return Chosen(name, arg, tuple(scenario(arg) if callable(scenario) else scenario))


_MARKER = re.compile(
    r"SCENARIO:(?P<name>[\w-]+)(?::(?P<arg>\S+))?|SCRIPT:(?P<script>\[.*\])\s*$", re.MULTILINE
)

ALPHABET = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon"
QUESTIONS = (
    Ask("Which colour should the button have?", ("Red", "Blue"), header="Colour"),
    Ask("Which checks should run?", ("Lint", "Tests", "Types"), header="Checks", multi_select=True),
)
PLAN = "# Plan\n\n1. Create greeting.txt\n2. Check it\n"
RESULT = "The result was: {{result}}"


def _command(arg: str) -> list[Step]:
    command = arg or "touch scripted.txt && echo scripted-output"
    return [Text("I will run a command."), Command(command), Text(RESULT)]


def _write(arg: str) -> list[Step]:
    return [Text("I will write a file."), Write(arg or "greeting.txt", "hello\nworld\n"), Text("Written.")]


def _edit(arg: str) -> list[Step]:
    path = arg or "greeting.txt"
    return [Write(path, "hello\nworld\n"), Next(), Edit(path, "world", "universe"), Text("Edited.")]


def _read(arg: str) -> list[Step]:
    return [Read(arg or "greeting.txt"), Text(RESULT)]


def _parallel(arg: str) -> list[Step]:
    count = int(arg or 3)
    commands = [Command(f"touch parallel-{n}.txt && echo result-{n}") for n in range(1, count + 1)]
    return [Text("All at once."), *commands, Text("All done.")]


def _sequence(arg: str) -> list[Step]:
    steps: list[Step] = []
    for n in range(1, int(arg or 2) + 1):
        steps += [Text(f"Step {n}."), Command(f"touch sequence-{n}.txt && echo result-{n}")]
    return [*steps, Text("All done.")]


def _slow(arg: str) -> list[Step]:
    words = " ".join(f"word{n}" for n in range(1, int(arg or 100) + 1))
    return [Text(words, chunk=8, delay=0.05)]


def _long_command(arg: str) -> list[Step]:
    return [Command(f"touch started.txt && sleep {arg or 30}"), Text("Slept.")]


def _subagent(arg: str) -> list[Step]:
    inner = arg or "command:touch+inner.txt+%26%26+echo+inner-output"
    return [Subagent(f"SCENARIO:{inner}"), Text("The sub-agent said: {{result}}")]


def _flood(arg: str) -> list[Step]:
    return [Command(f"seq 1 {arg or 30000}"), Text("Counted.")]


def _hang(arg: str) -> list[Step]:
    return [Text("I begin"), Delay(float(arg or 600)), Text(" and end.")]


def _error(status: int, message: str, code: str = "") -> Scenario:
    return [HttpError(status, message, code)]


def _once(failure: HttpError) -> Scenario:
    return [msgspec.structs.replace(failure, times=1), Text("Answered after a retry.")]


RATE_LIMITED = HttpError(429, "Scripted rate limit", retry_after=1)
SERVER_ERROR = HttpError(500, "Scripted server error")
OVERLOADED = HttpError(529, "Overloaded")

SCENARIOS: Mapping[str, Scenario] = {
    "echo": [Text("You said: {{prompt}} (user message {{messages}})")],
    "text": [Text("Hello from the scripted model. This text comes in several deltas.")],
    "unicode": [Text("```python\nprint('grüße, λ, 🚀, \u2028')\n```\n", chunk=5)],
    "thinking": [
        Thinking("First I look at the question, then I answer it.", raw="the raw chain of thought"),
        Text("The answer is 42."),
    ],
    "command": _command,
    "failing_command": [Command("echo to-stderr >&2; touch failed.txt; exit 3"), Text("It failed.")],
    "long_command": _long_command,
    "flood": _flood,
    "write": _write,
    "edit": _edit,
    "read": _read,
    "parallel": _parallel,
    "sequence": _sequence,
    "question": [Text("I need to know something."), Question(QUESTIONS), Text("You answered: {{result}}")],
    "plan": [Text("I have a plan."), Plan(PLAN), Text("The plan was answered: {{result}}")],
    "mcp": [Mcp("demo", "add", {"a": 2, "b": 3}), Text(RESULT)],
    "delegate": [Mcp("agents", "run", {"agent": "mock", "prompt": "hello"}), Text(RESULT)],
    "client_tool": [Mcp("client_tools", "weather", {"city": "Bonn"}), Text(RESULT)],
    "subagent": _subagent,
    "unknown_tool": [Call("no_such_tool", {"x": 1}), Text(RESULT)],
    "slow": _slow,
    "slow_thinking": [Thinking(ALPHABET, chunk=6, delay=0.05), Text("Done.")],
    "hang": _hang,
    "image": [Text("I see {{images}}.")],
    "settings": [Text("Model {{model}}, effort {{effort}}.")],
    "usage": [
        Usage(5000, 700, cache_read_tokens=4000, cache_write_tokens=500, reasoning_tokens=600),
        Text("That was expensive."),
    ],
    "max_tokens": [Text("This is cut sho"), Stop("max_tokens"), Text("rt.")],
    "refusal": [Text("I would rather not."), Stop("refusal"), Stop("refusal")],  # Claude asks twice
    "compaction": [Text("<summary>The user ran scripted scenarios.</summary>")],
    "error_400": _error(400, "Scripted bad request"),
    "error_401": _error(401, "Scripted: the key is wrong"),
    "error_404": _error(404, "Scripted: no such model"),
    "error_429": [RATE_LIMITED],
    "error_429_once": _once(RATE_LIMITED),
    "error_500": [SERVER_ERROR],
    "error_500_once": _once(SERVER_ERROR),
    "error_529": [OVERLOADED],
    "error_529_once": _once(OVERLOADED),
    "error_context": _error(
        400, "prompt is too long: 250000 tokens > 200000 maximum", "context_length_exceeded"
    ),
    "error_stream": [Text("Half an answer, then an error."), StreamError(message="Overloaded")],
    "error_stream_once": [Text("A whole answer."), StreamError(message="Overloaded", times=1)],
    "cut": [Text("Half an answer, then nothing."), Cut()],
    "cut_once": [Text("A whole answer."), Cut(times=1)],
    "cut_stream": [Text("Half an answer, then nothing."), Cut(streams_only=True)],
}
