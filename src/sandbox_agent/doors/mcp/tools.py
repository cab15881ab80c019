"""The tools: what each takes and returns, and what the calling model reads about it.

Few and short on purpose: a caller's model reads all of it with every request.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Raw, Struct

from ...schema.events import StopReason, Usage
from ...schema.inputs import PermissionMode, Reply
from ...schema.sessions import SessionState
from .frames import Annotations, ListedTool
from .schemas import plain_schema

MAX_SECONDS = 50.0
"""Many hosts give up on a call after a minute."""
MAX_TEXT_BYTES = 20_000
"""The end of what an agent said, in a result."""

Session = Annotated[str, Meta(description="Id of the session.")]
Seconds = Annotated[
    Annotated[float, Meta(ge=0, le=MAX_SECONDS)] | None,
    Meta(description="How long to wait, in seconds (default and maximum: 50)."),
]
Prompt = Annotated[str, Meta(description="What the agent should do.")]
Name = Annotated[str, Meta(max_length=256)]
Path = Annotated[str, Meta(max_length=4096)]


class Given(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of a tool."""


class Result(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of a tool."""


# -- turns ------------------------------------------------------------------------------------


class Run(Given, frozen=True, kw_only=True):
    prompt: Prompt
    agent: Annotated[
        Name | None, Meta(description="Agent of a new session, e.g. `claude`; see `agents`.")
    ] = None
    session_id: Annotated[str | None, Meta(description="Session to continue; absent for a new one.")] = None
    directory: Annotated[Path | None, Meta(description="Working directory of a new session.")] = None
    model: Annotated[Name | None, Meta(description="Model of a new session.")] = None
    permission_mode: Annotated[
        PermissionMode | None,
        Meta(
            description="When the agent of a new session asks: with `default`, before it writes or runs anything; with "
            "`acceptEdits`, not for plain edits; with `bypass`, never. `plan` is read-only."
        ),
    ] = None
    timeout_s: Seconds = None


class Send(Given, frozen=True, kw_only=True):
    session_id: Session
    prompt: Prompt


class Wait(Given, frozen=True, kw_only=True):
    session_id: Session
    turn_id: Annotated[
        str | None, Meta(description="Turn to wait for (default: whatever the session is doing).")
    ] = None
    after: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="`offset` of the last result: return only the text since then."),
    ] = None
    timeout_s: Seconds = None


class Answer(Given, frozen=True, kw_only=True):
    session_id: Session
    permission_id: Annotated[str | None, Meta(description="The permission to answer.")] = None
    reply: Annotated[
        Reply | None, Meta(description="Answer to the permission; `always` is for this session.")
    ] = None
    question_id: Annotated[str | None, Meta(description="The question to answer.")] = None
    answers: Annotated[
        tuple[tuple[str, ...], ...] | None,
        Meta(description="For each question, the chosen labels or free text; absent to decline."),
    ] = None
    message: Annotated[str | None, Meta(description="Message for the agent, with a permission.")] = None
    timeout_s: Seconds = None


class AskedPermission(Result, frozen=True, kw_only=True):
    permission_id: str
    tool: str
    title: str
    input: Annotated[str, Meta(description="What the tool would get, as JSON; may be cut.")]


class AskedChoice(Result, frozen=True, kw_only=True):
    question: str
    options: tuple[str, ...]
    multiple: bool


class Asked(Result, frozen=True, kw_only=True):
    question_id: str
    questions: tuple[AskedChoice, ...]


class Waiting(Result, frozen=True, kw_only=True):
    permissions: tuple[AskedPermission, ...]
    questions: tuple[Asked, ...]


class Turn(Result, frozen=True, kw_only=True):
    session_id: str
    status: Annotated[
        Literal["starting", "running", "waiting", "ended"],
        Meta(
            description="`starting` and `running`: call `wait`. `waiting`: someone must answer the requests in `waiting`."
        ),
    ]
    text: Annotated[str, Meta(description="What the agent has said; only the end of it if it is long.")]
    offset: Annotated[int, Meta(description="Sequence of the last event that was read.")]
    turn_id: str | None = None
    stop_reason: StopReason | None = None
    error: Annotated[str | None, Meta(description="What went wrong in the turn.")] = None
    usage: Usage | None = None
    waiting: Waiting | None = None


# -- everything else --------------------------------------------------------------------------


class Cancel(Given, frozen=True, kw_only=True):
    session_id: Session


class State(Result, frozen=True, kw_only=True):
    session_id: str
    state: SessionState


class Sessions(Given, frozen=True, kw_only=True):
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=100)] | None,
        Meta(description="How many sessions to return at most (default: 20)."),
    ] = None


class ListedSession(Result, frozen=True, kw_only=True):
    session_id: str
    agent: str
    state: SessionState
    permission_mode: PermissionMode
    directory: str
    updated_at: str
    title: str | None = None
    model: str | None = None


class SessionList(Result, frozen=True, kw_only=True):
    sessions: tuple[ListedSession, ...]


class Agents(Given, frozen=True, kw_only=True):
    agent: Annotated[str | None, Meta(description="Agent whose models and modes to list as well.")] = None


class ListedAgent(Result, frozen=True, kw_only=True):
    agent: str
    installed: bool
    has_credentials: bool
    models: tuple[str, ...] | None = None
    default_model: str | None = None
    modes: tuple[str, ...] | None = None


class AgentList(Result, frozen=True, kw_only=True):
    agents: tuple[ListedAgent, ...]


class Events(Given, frozen=True, kw_only=True):
    session_id: Session
    offset: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Sequence of the last event you have seen.")
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None,
        Meta(
            description="How many events to return at most (default: 100); the size of a page is limited too."
        ),
    ] = None


class EventList(Result, frozen=True, kw_only=True):
    events: tuple[Raw, ...]
    offset: Annotated[int, Meta(description="Pass it as `offset` to read on.")]
    has_more: bool


class Tool(NamedTuple):
    title: str
    description: str
    given: type[Given]
    result: type[Result]
    reads_only: bool = False
    repeatable: bool = False


TOOLS: dict[str, Tool] = {
    "run": Tool(
        "Run a prompt",
        "Give a coding agent a prompt, in a new session or an existing one, and wait up to 50 s for the result. If `status` is "
        "`running`, the agent is still working: call `wait`. Never repeat `run` for the same work.",
        Run,
        Turn,
    ),
    "send": Tool(
        "Send a prompt",
        "Give a session another prompt and return at once. If the session is busy, the prompt is queued.",
        Send,
        Turn,
    ),
    "wait": Tool(
        "Wait for a session",
        "Wait up to 50 s until a session has finished its turn or needs an answer. Safe to repeat.",
        Wait,
        Turn,
        reads_only=True,
        repeatable=True,
    ),
    "answer": Tool(
        "Answer an agent",
        "Answer a permission or a question that a session waits for, then wait as `wait` does.",
        Answer,
        Turn,
    ),
    "cancel": Tool(
        "Cancel a turn", "Cancel what a session is doing. The session stays.", Cancel, State, repeatable=True
    ),
    "sessions": Tool(
        "List sessions",
        "List sessions, newest first.",
        Sessions,
        SessionList,
        reads_only=True,
        repeatable=True,
    ),
    "agents": Tool(
        "List agents",
        "List the agents that sessions can run.",
        Agents,
        AgentList,
        reads_only=True,
        repeatable=True,
    ),
    "events": Tool(
        "Read events",
        "Read the raw events of a session, e.g. the output of its tools. Long ones are cut.",
        Events,
        EventList,
        reads_only=True,
        repeatable=True,
    ),
}


def listed_tools() -> tuple[ListedTool, ...]:
    return tuple(
        ListedTool(
            name=name,
            title=tool.title,
            description=tool.description,
            input_schema=plain_schema(tool.given),
            output_schema=plain_schema(tool.result),
            annotations=Annotations(
                read_only_hint=tool.reads_only,
                destructive_hint=not tool.reads_only,
                idempotent_hint=tool.repeatable,
                open_world_hint=not tool.reads_only,
            ),
        )
        for name, tool in TOOLS.items()
    )
