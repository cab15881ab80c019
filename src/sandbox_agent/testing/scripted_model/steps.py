"""The steps of a scripted model.

A scenario is a flat list of steps. One reply of the model takes the steps up to and including its calls,
which are parallel. The next step opens the next reply, which is given when the results are in, unless it is
another call or modifies the same reply (`Usage`, `Stop`, `Cut`, `StreamError`). `Next` and `Stop` also end a
reply.

Strings may hold `{{arg}}`, `{{prompt}}`, `{{messages}}`, `{{images}}`, `{{result}}`, `{{model}}`,
`{{effort}}`.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class _Step(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    pass


class Text(_Step, frozen=True, tag="text"):
    """Sends text, in pieces of `chunk` characters with `delay` seconds after each."""

    text: str
    chunk: int = 12
    delay: float = 0.0


class Thinking(_Step, frozen=True, tag="thinking"):
    """Sends thinking; `raw` is the thinking behind the summary, for an API that has both (Responses)."""

    text: str
    raw: str = ""
    chunk: int = 12
    delay: float = 0.0


class Command(_Step, frozen=True, tag="command"):
    """Runs a shell command; `escalate` asks to leave the sandbox, if the agent has one."""

    command: str
    description: str = "Run a scripted command"
    escalate: bool = False


class Write(_Step, frozen=True, tag="write"):
    """Writes a file; a relative path is below the agent's working directory."""

    path: str
    content: str


class Edit(_Step, frozen=True, tag="edit"):
    """Replaces text in a file: whole lines, for an agent that edits by patches."""

    path: str
    old: str
    new: str


class Read(_Step, frozen=True, tag="read"):
    """Reads a file."""

    path: str


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """One question and the labels to choose from."""

    question: str
    options: tuple[str, ...]
    header: str = "Choice"
    multi_select: bool = False


class Question(_Step, frozen=True, tag="question"):
    """Asks the user."""

    questions: tuple[Ask, ...]


class Plan(_Step, frozen=True, tag="plan"):
    """Proposes a plan, by the agent's tool or format for it."""

    plan: str


class Subagent(_Step, frozen=True, tag="subagent"):
    """Starts a sub-agent; its prompt may hold a marker of its own."""

    prompt: str
    description: str = "Scripted job"


class Mcp(_Step, frozen=True, tag="mcp"):
    """Calls a tool of an MCP server."""

    server: str
    tool: str
    arguments: dict[str, Any] = {}


class Call(_Step, frozen=True, tag="call"):
    """Calls a tool by its native name, whether the agent offers it or not."""

    name: str
    arguments: dict[str, Any] = {}
    id: str = ""


class Delay(_Step, frozen=True, tag="delay"):
    """Waits."""

    seconds: float


class Next(_Step, frozen=True, tag="next"):
    """Ends a reply: the calls after it wait for the results of those before it."""


class Usage(_Step, frozen=True, tag="usage"):
    """The usage of the reply: input includes cache, output includes reasoning."""

    input_tokens: int = 100
    output_tokens: int = 20
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class Stop(_Step, frozen=True, tag="stop"):
    """Ends the reply early, for this reason."""

    reason: Literal["max_tokens", "refusal"]


class HttpError(_Step, frozen=True, tag="http_error"):
    """Answers with an error instead of a reply, after the delays before it; with `times`, only that often for
    the same prompt.
    """

    status: int
    message: str = ""
    code: str = ""
    retry_after: int | None = None
    times: int = 0


class StreamError(_Step, frozen=True, tag="stream_error"):
    """Sends an error in mid-stream, and ends the stream."""

    status: int = 529
    message: str = ""
    code: str = ""
    times: int = 0


class Cut(_Step, frozen=True, tag="cut"):
    """Drops the connection; `streams_only` spares a client that falls back to requests without a stream."""

    streams_only: bool = False
    times: int = 0


ToolStep = Command | Write | Edit | Read | Question | Plan | Subagent | Mcp | Call
Failure = HttpError | StreamError | Cut
Step = Text | Thinking | ToolStep | Delay | Next | Usage | Stop | Failure


class ToolUse(Struct, frozen=True):
    """A call in the agent's own terms: what a `ToolStep` becomes."""

    name: str
    arguments: dict[str, Any] = {}
    id: str = ""
    namespace: str = ""
    input: str | None = None  # for a tool that takes free text instead of arguments


class ToolSearch(Struct, frozen=True):
    """Codex's own kind of call, which loads tools that it holds back."""

    query: str
    id: str = ""


Part = Text | Thinking | ToolUse | ToolSearch | Delay | Cut | StreamError


class Refusal(Struct, frozen=True):
    """An error instead of a reply."""

    error: HttpError
    after_seconds: float = 0.0


class Reply(Struct, frozen=True):
    """One reply of the model, ready to be put on a wire."""

    id: str
    model: str
    parts: tuple[Part, ...]
    usage: Usage = Usage()
    stop: Literal["end_turn", "tool_use", "max_tokens", "refusal"] = "end_turn"
