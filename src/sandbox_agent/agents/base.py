"""What an adapter provides: facts about the agent (`Agent`) and a protocol without I/O (`Wire`).

A `Wire` speaks over one link to one process and carries one conversation (a process per session) or many (a
shared server). Native frames go in through `receive`. The output waits in three places until the caller takes
it: events in the scribe of each conversation, frames for the agent in `outbox`, and messages to the runtime
in `notices`. The same class reads recordings: `sent` understands what a client wrote, and is the inverse of
`prompt`, `decide`, `answer` and `cancel`.

`frames.py` defines what a frame is: usually one line of the process's stdin or stdout. Everything here is
pure. Ids and clocks come from the `World` that a wire is given, and the files for a prompt are read before
the wire is called.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from ..schema.events import SessionMetadata, Source
from ..schema.features import Capabilities, Catalogue, Command, Mode
from ..schema.inputs import Answer, Decision, Prompt, Settings
from ..schema.mcp import McpState
from ..schema.world import World
from .credentials import Sources
from .failures import Failure
from .frames import InFrame, OutFrame, native_of
from .plain_asks import plain_ask
from .scribe import Ask, Frame, Scribe
from .surrogates import without_surrogates

logger = logging.getLogger("sandbox_agent.agents")

Files = Mapping[str, bytes]
"""The files read for a prompt, by path; a missing file is left out."""

# -- a conversation ---------------------------------------------------------------------------


class Start(Struct, frozen=True):
    """The parameters of a new conversation or, with `resume`, of the one the agent knows as `native_id`."""

    scribe: Scribe
    settings: Settings
    metadata: SessionMetadata
    native_id: str | None = None
    resume: bool = False


class Conversation:
    """One conversation on a wire: its scribe, its settings, and the adapter's own state in subclasses.

    `native_id` is the agent's id for it, None until known.
    """

    def __init__(self, wire: Wire, start: Start) -> None:
        self.scribe = start.scribe
        self.settings = start.settings
        self.resumed = start.resume
        self.cancelling = False
        """A cancel was requested in the running turn; the next prompt clears it."""
        self.can_resume = True
        """Another process can resume it, so an idle process may be stopped."""
        self.mcp: dict[str, McpState] = {}
        """What the agent has said about its MCP servers."""
        self._metadata = start.metadata
        self.scribe.frame = wire.frame
        self.scribe.calls.changes.directory = start.settings.directory
        if start.native_id is not None:
            self.scribe.native_session_id = start.native_id

    @property
    def native_id(self) -> str | None:
        return self.scribe.native_session_id

    @native_id.setter
    def native_id(self, value: str) -> None:
        self.scribe.native_session_id = value

    def announce(self, source: Source) -> None:
        """Write `session.started`, once per session. A shared server's adapter does so when the agent reports
        it.
        """
        if not self.scribe.started:
            self.scribe.start_session(self._metadata, source)


# -- notices for the runtime ------------------------------------------------------------------


class Ready(Struct, frozen=True):
    """The conversation is open on the agent's side."""

    conversation: Conversation


class StartFailed(Struct, frozen=True):
    """The conversation could not be opened. `gone` means that the agent does not know the conversation to
    resume.
    """

    conversation: Conversation
    message: str
    gone: bool = False


class Ending(Struct, frozen=True):
    """The process is about to end by itself: it accepts no more prompts."""

    conversation: Conversation
    unread: Failure | None = None
    """Why it ends, if that is unrelated to the running turn, whose prompt it never read."""


class Closed(Struct, frozen=True):
    """Nothing runs for the conversation any more: see `Wire.confirms_close`."""

    conversation: Conversation


class Wait(Struct, frozen=True):
    """The wire holds something back: call `Wire.waited` after this many seconds."""

    conversation: Conversation
    seconds: float


class Listed(Struct, frozen=True):
    """The answer to `list_catalogue`."""

    catalogue: Catalogue
    directory: str | None = None
    """None if it is the same in every directory, or if the process serves only one."""


class ListFailed(Struct, frozen=True):
    message: str
    directory: str | None = None


Notice = Ready | StartFailed | Ending | Closed | Wait | Listed | ListFailed


# -- what a client did, read from a recording --------------------------------------------------


class Began(Struct, frozen=True):
    """The client began or resumed a conversation."""

    conversation: Conversation


class Prompted(Struct, frozen=True):
    conversation: Conversation
    prompt: Prompt


class Decided(Struct, frozen=True):
    """The client answered the permission under `key`."""

    conversation: Conversation
    key: str
    decision: Decision


class Answered(Struct, frozen=True):
    conversation: Conversation
    key: str
    answer: Answer


class Cancelled(Struct, frozen=True):
    conversation: Conversation


Action = Began | Prompted | Decided | Answered | Cancelled


# -- the protocol -----------------------------------------------------------------------------


class Wire(ABC):
    """The protocol of one link. Subclasses implement `feed` and the commands; everything here is pure."""

    interrupts_by_signal: ClassVar[bool] = False
    """The agent has no message for "stop": after `cancel` the runtime sends SIGINT. The process ends, and the
    next prompt resumes.
    """

    confirms_close: ClassVar[bool] = False
    """`Closed` follows `close`: the agent reports when it has stopped everything it ran for the conversation.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.frame = Frame()
        self.outbox: list[OutFrame] = []
        self.notices: list[Notice] = []
        self.recorded_start: Callable[[Settings, str | None], Start] | None = None
        """Set when reading a recording: makes the `Start` of a conversation that a client began in it."""

    # Called by the runtime, in this order.

    def connected(self) -> None:  # noqa: B027 - most agents need no handshake
        """The link is up: send what the protocol requires first."""

    @abstractmethod
    def open(self, start: Start) -> Conversation:
        """Begin or resume a conversation; `Ready` or `StartFailed` follows."""

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        """The files that `prompt` embeds in its message, rather than just names: they are read before it is
        called.
        """
        return ()

    @abstractmethod
    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        """Send a prompt to the agent. The session has opened the turn and written the user's message.

        Only a prompt marked as one is a command (`Prompt.command`): the agent must treat any other as text,
        even if it begins with `/`.
        """

    @abstractmethod
    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        """Send the agent the decision about the permission under `key`."""

    @abstractmethod
    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        """Send the agent the answer to the question under `key`."""

    @abstractmethod
    def cancel(self, conversation: Conversation) -> None:
        """Ask the agent to end the running turn; the agent's own end of turn follows."""

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        """Switch model, variant or mode while the process runs. False means that the process must be
        restarted.
        """
        return False

    def close(self, conversation: Conversation) -> None:  # noqa: B027 - a process of its own just ends
        """End this conversation, its commands and its sub-agents on a shared server."""

    def waited(self, conversation: Conversation) -> None:  # noqa: B027 - most agents send everything in order
        """The time of a `Wait` is over: write what is still held back."""

    def list_catalogue(self, directory: str) -> None:
        """Ask for models, modes and commands; `Listed` or `ListFailed` follows."""
        self.notices.append(Listed(Catalogue()))

    @abstractmethod
    def feed(self, frame: InFrame) -> None:
        """Translate one native frame. May raise on invalid input: `receive` makes that an event."""

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        """The conversation a frame belongs to, if that can be determined; it gets the event if the frame is
        invalid.
        """
        return next(iter(self.conversations()), None)

    @abstractmethod
    def conversations(self) -> Iterable[Conversation]:
        """Every conversation on this wire."""

    # Called by the reader of recordings.

    def launched(self, argv: list[str]) -> Iterator[Action]:
        """A process was started with this command line, which for some agents says more than their frames."""
        yield from ()

    def sent(self, frame: bytes) -> Iterator[Action]:
        """A client wrote this frame: the inverse of the commands above."""
        yield from ()

    def recorded_frame(self, frame: bytes) -> InFrame:
        """A frame of the agent as a recording stores it."""
        return frame

    # The same for all agents.

    def receive(self, frame: InFrame) -> None:
        """Feed a frame; invalid input becomes `agent.unparsed` and the conversation continues."""
        frame = without_surrogates(frame)
        self.frame.bytes = frame if type(frame) is bytes else native_of(frame)
        try:
            self.feed(frame)
        except Exception as error:
            # Invalid input from the agent is an event, and a bug of ours must not end the session.
            if not isinstance(error, (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
                logger.exception("a frame could not be translated: %.500r", self.frame.bytes)
            if (conversation := self.conversation_of(frame)) is not None:
                location = f"{type(self).__module__.rsplit('.', 1)[-1]}.feed"
                conversation.announce("daemon")  # nothing comes before it, not even an unparsed frame
                conversation.scribe.unparsed(f"{type(error).__name__}: {error}", location)
        finally:
            self.frame.bytes = None

    def send(self, message: object) -> None:
        """Add a JSON message to the outbox."""
        self.outbox.append(msgspec.json.encode(message))


# -- facts ------------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """Where an agent runs: its program, our data directory, and its environment."""

    executable: Path
    data_dir: Path
    environ: Mapping[str, str]


class HttpServer(Struct, frozen=True):
    """How to reach an agent that is an HTTP server on this machine."""

    ready: str
    """A pattern for the line on stdout that says it listens; its group is the address."""
    events: str
    """The path of its event stream (SSE). The stream begins with an event at once, and misses none after it.
    """
    user: str
    password: str


class Launch(Struct, frozen=True):
    """How to start an agent's process."""

    argv: list[str]
    env: dict[str, str] = {}
    """Added to the environment the child inherits."""
    server: HttpServer | None = None
    """Frames go over HTTP; without this, over stdin and stdout."""
    files: dict[str, bytes] = {}
    """Files to write before the start, readable only by the owner, to keep secrets out of the process list.
    A file that begins with `#!` is made executable, again only for the owner.
    """
    delegate: bool = False
    """The agent asks through our own programs: the runtime listens for them (see `amp`)."""


class KeptFiles(Struct, frozen=True):
    """A conversation in files of its own: those below `root` that match `pattern`. They are lines that the agent appends."""

    root: Path
    pattern: str


class KeptByProgram(Struct, frozen=True):
    """A conversation among others in the agent's database. Its program prints it, and reads it from a file, the last argument."""

    export: list[str]
    import_: list[str]


class Agent(ABC):
    """The facts about one agent. Instances hold no state: the registry keeps one of each."""

    # Set on the class, except for agents that the operator names, which set them on the instance.
    name: str
    title: str
    capabilities: ClassVar[Capabilities]
    stability: ClassVar[Literal["stable", "experimental"]] = "experimental"
    tested_version: ClassVar[str | None] = None
    executables: tuple[str, ...] = ()
    """Names of the program, in the install directory and on PATH."""
    env_families: tuple[str, ...] = ()
    """Prefixes of this agent's environment variables: a child sees only its own family."""
    modes: ClassVar[tuple[Mode, ...]] = (Mode("build", "Build", "Write code and run commands."),)
    permission_modes: ClassVar[tuple[str, ...]] = ("default", "acceptEdits", "plan", "bypass")
    commands: ClassVar[tuple[Command, ...]] = ()
    """Commands that it always has; its catalogue may list more."""
    credentials: ClassVar[Sources | None] = Sources()
    """Where it finds its keys; None if it needs none, or if we do not know."""
    needs_credentials: ClassVar[bool] = True
    """It cannot do anything without a key."""
    chooses: ClassVar[frozenset[Literal["model", "variant"]]] = frozenset()
    """Settings that must come from its own list: it would ignore any other value, or fail."""
    ignores: ClassVar[frozenset[Literal["model", "variant"]]] = frozenset()
    """Settings that it does not let clients choose."""
    quiet: ClassVar[Mapping[str, str]] = {}
    """Variables that keep it off the network while we ask for its version."""
    gaps: Mapping[str, str] = {}
    """Features of the live suite that this agent does not have, each with the reason; the suite verifies it.
    """
    reaches_sse: ClassVar[bool] = False
    """It supports MCP servers that use the older transport SSE."""
    makes_in_git: ClassVar[tuple[str, ...]] = ()
    """Files that it creates in the `.git` of the user's repository: removed unless they existed before."""
    notes: ClassVar[tuple[str, ...]] = ()
    """What a user should know before choosing this agent; for docs/agents/."""
    reads_from_workspace: ClassVar[str] = ""
    """The settings it reads from its working directory; for docs/security.mdx."""
    unasked: ClassVar[str] = ""
    """What it does without asking, so that no rule can stop it; for docs/permissions.mdx."""
    reports_tokens: ClassVar[str] = ""
    """When it reports the tokens it has spent; for docs/usage.mdx."""
    reports_cost: ClassVar[str] = ""
    """When it reports what a turn has cost; for docs/usage.mdx."""
    mcp_timeout: ClassVar[str] = ""
    """Whether a server's `timeoutMs` reaches it, and what applies without one; for docs/mcp.mdx."""
    mcp_reports: ClassVar[str] = ""
    """What it reports about its MCP servers; for docs/mcp.mdx."""
    finds_skills: ClassVar[str] = ""
    """How it gets the skills of a session; for docs/skills.mdx."""
    commands_from: ClassVar[str] = ""
    """Where its commands come from; for docs/commands.mdx."""
    carries: ClassVar[str] = ""
    """Which part of its conversation a node stores for other nodes; for docs/orchestration-architecture.mdx."""

    @abstractmethod
    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        """The command line. A shared server is started without a conversation and ignores the last two
        arguments.
        """

    def server_settings(self, settings: Settings) -> str:
        """The settings that a shared server is started with. Sessions that differ in them do not share one."""
        return ""

    @abstractmethod
    def wire(self, world: World) -> Wire:
        """A wire for a new process."""

    def choose_native_id(self, world: World) -> str | None:
        """A conversation id of our choice, for agents that let the client choose it."""
        return None

    def conversation(self, place: Place, native_id: str) -> KeptFiles | KeptByProgram | None:
        """Where this machine has what the agent needs to resume a conversation; None if it is elsewhere, or unknown."""
        return None

    def rewrites(self, directory: str, environ: Mapping[str, str]) -> Iterable[str]:
        """The user's own settings that it overwrites when it reads them: they are restored."""
        return ()

    def rewritten(self, settings: bytes) -> bytes:
        """The content it replaces them with."""
        return settings

    def is_gone(self, stderr: str) -> bool:
        """Whether a process that ended at its start reports that the conversation to resume does not exist."""
        return False

    def modes_of(self, version: str | None) -> tuple[Mode, ...]:
        """The modes of this version that are known without asking the agent."""
        return self.modes

    def commands_of(self, catalogue: Catalogue) -> tuple[Command, ...]:
        """The commands that it always has, and those that a process offers."""
        commands = {command.name: command for command in (*self.commands, *catalogue.commands)}
        return tuple(commands.values())

    def takes_model(self, model: str, catalogue: Catalogue) -> bool:
        """Whether it supports this model, if it `chooses` from its list. An agent that lists no models may
        support any.
        """
        return not catalogue.models or model in {each.id for each in catalogue.models}

    def takes_variant(self, variant: str, model: str | None, catalogue: Catalogue) -> bool:
        """Whether it supports this variant; a model that is not listed may have any variant that another one
        has.
        """
        by_model = {each.id: each.variants or () for each in catalogue.models}
        listed = by_model.get(model or catalogue.default_model or "")
        choices = {each for variants in by_model.values() for each in variants} if listed is None else listed
        return variant in choices or not by_model

    def ask_about(self, tool: str, input: Any) -> Ask:
        """The permission request that a call of this tool makes, so that rules can be tried out."""
        return plain_ask(tool, "other", input)

    def metadata(self, version: str | None, settings: Settings) -> SessionMetadata:
        return SessionMetadata(
            self.name,
            version,
            settings.agent_mode,
            settings.permission_mode,
            settings.model,
            settings.variant,
            settings.directory or None,  # a recording may not name it
        )
