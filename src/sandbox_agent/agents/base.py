"""What an agent is to us: a few facts (`Agent`) and a protocol without I/O (`Wire`).

A `Wire` speaks over one link to one process and carries one conversation (a process per session) or many (a
shared server). Native frames go in through `receive`; what comes out waits in three places until the caller takes it:
events in the scribe of each conversation, frames for the agent in `outbox`, and news for the runtime in
`notices`. The same class reads recordings: `sent` understands what a client once wrote, the reverse of `prompt`,
`decide`, `answer` and `cancel`.

What a frame is, `frames.py` says: mostly one line of the process's stdin or stdout. Everything here is pure: ids and clocks come from
the `World` that a wire is given, and files that go with a prompt are read before the wire is asked.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal

import msgspec
from msgspec import Struct

from ..schema.events import SessionMetadata, Source
from ..schema.features import Capabilities, Catalogue, Command, Mode
from ..schema.inputs import Answer, Decision, Prompt, Settings
from ..schema.world import World
from .credentials import Sources
from .failures import Failure
from .frames import InFrame, OutFrame, native_of
from .scribe import Frame, Scribe

logger = logging.getLogger("sandbox_agent.agents")

Files = Mapping[str, bytes]
"""What was read for a prompt, by path; a file that is gone is not in it."""

# -- a conversation ---------------------------------------------------------------------------


class Start(Struct, frozen=True):
    """What it takes to begin a conversation, or with `resume` to go on with the one the agent knows by `native_id`."""

    scribe: Scribe
    settings: Settings
    metadata: SessionMetadata
    native_id: str | None = None
    resume: bool = False


class Conversation:
    """One conversation on a wire: its scribe, its settings, and whatever an adapter needs to remember.

    Adapters subclass it for their own state. `native_id` is the agent's name for it, null until known.
    """

    def __init__(self, wire: Wire, start: Start) -> None:
        self.scribe = start.scribe
        self.settings = start.settings
        self.resumed = start.resume
        self.cancelling = False
        """A cancel was asked for in the running turn; the next prompt clears it."""
        self.can_resume = True
        """Another process could go on with it: one that is idle may be stopped."""
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
        """Write `session.started`, once in a session's life. A shared server's adapter does so when the agent reports it."""
        if not self.scribe.started:
            self.scribe.start_session(self._metadata, source)


# -- news for the runtime ---------------------------------------------------------------------


class Ready(Struct, frozen=True):
    """The conversation is open on the agent's side."""

    conversation: Conversation


class StartFailed(Struct, frozen=True):
    """The conversation could not be opened. `gone` = the agent does not know the conversation we asked to resume."""

    conversation: Conversation
    message: str
    gone: bool = False


class Ending(Struct, frozen=True):
    """The process is about to end by itself: it takes no more prompts."""

    conversation: Conversation
    unread: Failure | None = None
    """Why it ends, when that has nothing to do with the running turn, whose prompt it never read."""


class Closed(Struct, frozen=True):
    """Nothing of the conversation runs any more: see `Wire.confirms_close`."""

    conversation: Conversation


class Wait(Struct, frozen=True):
    """The wire holds something back: `Wire.waited` is to be called after so many seconds."""

    conversation: Conversation
    seconds: float


class Listed(Struct, frozen=True):
    """The answer to `list_catalogue`."""

    catalogue: Catalogue


class ListFailed(Struct, frozen=True):
    message: str


Notice = Ready | StartFailed | Ending | Closed | Wait | Listed | ListFailed


# -- what a client did, read from a recording --------------------------------------------------


class Began(Struct, frozen=True):
    """The client began (or resumed) a conversation."""

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
    """The agent has no word for "stop": after `cancel` the runtime sends SIGINT. The process ends with it, and the next prompt resumes."""

    confirms_close: ClassVar[bool] = False
    """`Closed` follows `close`: the agent says when it has ended what it ran for the conversation."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.frame = Frame()
        self.outbox: list[OutFrame] = []
        self.notices: list[Notice] = []
        self.recorded_start: Callable[[Settings, str | None], Start] | None = None
        """Set when a recording is read: makes the `Start` of a conversation that a client began in it."""

    # What the runtime calls, in this order.

    def connected(self) -> None:  # noqa: B027 - most agents need no handshake
        """The link is up: say what the protocol wants first."""

    @abstractmethod
    def open(self, start: Start) -> Conversation:
        """Begin a conversation, or go on with an old one; `Ready` or `StartFailed` follows."""

    def wants(self, prompt: Prompt) -> tuple[str, ...]:
        """The files that `prompt` puts into its message and does not just name: they are read before it is called."""
        return ()

    @abstractmethod
    def prompt(self, conversation: Conversation, prompt: Prompt, files: Files) -> None:
        """Hand a prompt to the agent. The session has opened the turn and written the user's message.

        Only one that says so is a command (`Prompt.command`): the agent must take any other as text, also if it begins with `/`.
        """

    @abstractmethod
    def decide(self, conversation: Conversation, key: str, decision: Decision) -> None:
        """Tell the agent what was decided about the permission under `key`."""

    @abstractmethod
    def answer(self, conversation: Conversation, key: str, answer: Answer) -> None:
        """Tell the agent the answer to the question under `key`."""

    @abstractmethod
    def cancel(self, conversation: Conversation) -> None:
        """Ask the agent to end the running turn; its own end of turn follows."""

    def configure(self, conversation: Conversation, settings: Settings) -> bool:
        """Switch model, variant, mode while the process runs. False: it must be restarted for that."""
        return False

    def close(self, conversation: Conversation) -> None:  # noqa: B027 - a process of its own just ends
        """End this conversation, its commands and its sub-agents on a shared server."""

    def waited(self, conversation: Conversation) -> None:  # noqa: B027 - most agents tell everything in order
        """The time of a `Wait` is over: tell what is still held back."""

    def list_catalogue(self, directory: str) -> None:
        """Ask for models, modes and commands; `Listed` or `ListFailed` follows."""
        self.notices.append(Listed(Catalogue()))

    @abstractmethod
    def feed(self, frame: InFrame) -> None:
        """Translate one native frame. May raise on nonsense: `receive` makes it an event."""

    def conversation_of(self, frame: InFrame) -> Conversation | None:
        """Whose frame this is, as far as one can tell: it gets the event when the frame is nonsense."""
        return next(iter(self.conversations()), None)

    @abstractmethod
    def conversations(self) -> Iterable[Conversation]:
        """Every conversation on this wire."""

    # What the recording reader calls.

    def launched(self, argv: list[str]) -> Iterator[Action]:
        """A process was started with this command line (some say more in it than in their frames)."""
        yield from ()

    def sent(self, frame: bytes) -> Iterator[Action]:
        """A client wrote this frame: the reverse of the commands above."""
        yield from ()

    def recorded_frame(self, frame: bytes) -> InFrame:
        """A frame of the agent as a recording holds it."""
        return frame

    # What is the same for all.

    def receive(self, frame: InFrame) -> None:
        """Feed a frame; nonsense becomes `agent.unparsed` and the conversation goes on."""
        self.frame.bytes = frame if type(frame) is bytes else native_of(frame)
        try:
            self.feed(frame)
        except Exception as error:
            # The agent's nonsense is an event, and a fault of ours must not take the session with it.
            if not isinstance(error, (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
                logger.exception("a frame could not be translated: %.500r", self.frame.bytes)
            if (conversation := self.conversation_of(frame)) is not None:
                location = f"{type(self).__module__.rsplit('.', 1)[-1]}.feed"
                conversation.announce("daemon")  # nothing comes before it, nonsense neither
                conversation.scribe.unparsed(f"{type(error).__name__}: {error}", location)
        finally:
            self.frame.bytes = None

    def send(self, message: object) -> None:
        """Put a JSON message into the outbox."""
        self.outbox.append(msgspec.json.encode(message))


# -- the facts --------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """Where an agent is run from: its program, our data folder, the environment it will see."""

    executable: Path
    data_dir: Path
    environ: Mapping[str, str]


class HttpServer(Struct, frozen=True):
    """How to reach an agent that is an HTTP server on this machine."""

    ready: str
    """A pattern for the line on its stdout that says it listens; its group is the address."""
    events: str
    """The path of its stream of events (SSE), which begins with one at once: then it misses none that follow."""
    user: str
    password: str


class Launch(Struct, frozen=True):
    """How to start an agent's process."""

    argv: list[str]
    env: dict[str, str] = {}
    """Added to the environment the child sees anyway."""
    server: HttpServer | None = None
    """Its frames go over HTTP; without this, over stdin and stdout."""
    files: dict[str, bytes] = {}
    """Files to write, readable by the owner alone, before the start: what the process list must not show.
    One that begins with `#!` is made executable, again for the owner alone."""
    delegate: bool = False
    """The agent asks through programs of ours: the runtime listens for them (see `amp`)."""


class Agent(ABC):
    """The facts about one agent. Instances hold no state: the registry keeps one of each."""

    # Facts of the class, but for agents that the operator names: those are facts of the instance.
    name: str
    title: str
    capabilities: ClassVar[Capabilities]
    stability: ClassVar[Literal["stable", "experimental"]] = "experimental"
    tested_version: ClassVar[str | None] = None
    executables: tuple[str, ...] = ()
    """Names the program goes by, in the install folder and on PATH."""
    env_families: tuple[str, ...] = ()
    """Prefixes of the variables that belong to this agent: a child sees its own family and no other."""
    modes: ClassVar[tuple[Mode, ...]] = (Mode("build", "Build", "Write code and run commands."),)
    permission_modes: ClassVar[tuple[str, ...]] = ("default", "acceptEdits", "plan", "bypass")
    commands: ClassVar[tuple[Command, ...]] = ()
    """Commands that it always has; more may be in its catalogue."""
    credentials: ClassVar[Sources | None] = Sources()
    """Where it finds its keys; None when it needs none, or when that is its own business."""
    needs_credentials: ClassVar[bool] = True
    """Without a key it can do nothing."""
    chooses: ClassVar[frozenset[Literal["model", "variant"]]] = frozenset()
    """What it chooses from its own list alone: anything else it would leave aside, or fail at."""
    ignores: ClassVar[frozenset[Literal["model", "variant"]]] = frozenset()
    """What it lets nobody choose."""
    quiet: ClassVar[Mapping[str, str]] = {}
    """Variables that keep it from the network where it is only asked for its version."""
    gaps: Mapping[str, str] = {}
    """Features of the live suite that this agent cannot have, each with the reason; the suite checks that it is so."""
    makes_in_git: ClassVar[tuple[str, ...]] = ()
    """Files that it makes in the `.git` of the user's repository: removed where they were not before."""
    notes: ClassVar[tuple[str, ...]] = ()
    """What a user should know of this agent before choosing it; for docs/agents.md."""
    reads_from_workspace: ClassVar[str] = ""
    """The settings that it takes from the folder it works in; for docs/security.md."""

    @abstractmethod
    def launch(self, place: Place, settings: Settings, native_id: str | None, resume: bool) -> Launch:
        """The command line. A shared server is started without a conversation: it ignores the last two."""

    @abstractmethod
    def wire(self, world: World) -> Wire:
        """A protocol for a new process."""

    def choose_native_id(self, world: World) -> str | None:
        """A conversation id of our choice, for agents that let the client choose."""
        return None

    def rewrites(self, directory: str, environ: Mapping[str, str]) -> Iterable[str]:
        """The user's own settings that it writes to when it reads them: they are put back."""
        return ()

    def rewritten(self, settings: bytes) -> bytes:
        """What it makes of them."""
        return settings

    def is_gone(self, stderr: str) -> bool:
        """Whether a process that ended at its start says that it does not know the conversation to resume."""
        return False

    def modes_of(self, version: str | None) -> tuple[Mode, ...]:
        """The modes that this version has without being asked."""
        return self.modes

    def takes_model(self, model: str, catalogue: Catalogue) -> bool:
        """Whether it would work with this model, where it `chooses` from its list. One that lists none may have any."""
        return not catalogue.models or model in {one.id for one in catalogue.models}

    def takes_variant(self, variant: str, model: str | None, catalogue: Catalogue) -> bool:
        """Whether it would work with this variant; a model that is not listed may have any that another one has."""
        known = {one.id: one.variants or () for one in catalogue.models}
        listed = known.get(model or catalogue.default_model or "")
        found = {one for variants in known.values() for one in variants} if listed is None else listed
        return variant in found or not known

    def metadata(self, version: str | None, settings: Settings) -> SessionMetadata:
        return SessionMetadata(
            self.name,
            version,
            settings.agent_mode,
            settings.permission_mode,
            settings.model,
            settings.variant,
            settings.directory or None,  # a recording may not tell
        )
