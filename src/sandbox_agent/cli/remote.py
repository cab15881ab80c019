"""The daemon as seen by commands: the SDK's transport, with errors turned into `CommandFailed`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from .. import __version__
from ..client import discovery
from ..client.blocking.stream import frames
from ..client.blocking.terminal import Terminal
from ..client.blocking.transport import VERSION_HEADER, Transport
from ..client.call import IDEMPOTENCY_KEY, Address, Answer, Call, call, new_key, session_path
from ..client.child import Child
from ..client.failures import ClientError
from ..client.frames import Frame
from ..client.retry import Retry
from ..errors import SandboxAgentError
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .state import data_dir, is_own

__all__ = [
    "Address",
    "Answer",
    "Call",
    "Downloading",
    "Frame",
    "Remote",
    "call",
    "caller_directory",
    "find_address",
    "session_path",
]

LAST_EVENT_ID = "Last-Event-ID"


def find_address(args: argparse.Namespace) -> Address:
    """From flags, the environment, the daemon's file in the data directory, or the default address, in that order."""
    endpoint, token = getattr(args, "endpoint", None), _given_token(args)
    with _as_command_errors():
        return discovery.find_address(endpoint, token, data_dir(args))


def caller_directory(args: argparse.Namespace, address: Address) -> str | None:
    """The agent's directory: as given, else the current one. None for a daemon on another machine, which uses its own."""
    here = discovery.is_on_this_machine(address.endpoint) or is_own(data_dir(args), address.endpoint)
    if args.directory is None and not here:
        return None
    return os.path.abspath(args.directory or ".")


def _given_token(args: argparse.Namespace) -> str | None:
    token, path = getattr(args, "token", None), getattr(args, "token_file", None)
    if path is None:
        return token
    if token is not None:
        raise WrongUsage("use either --token or --token-file, not both")
    try:
        # A file that is not text is refused later, as an invalid token.
        token = Path(path).expanduser().read_text(errors="replace").strip()
    except OSError as error:
        raise WrongUsage(f"cannot read --token-file {path}: {error.strerror}") from None
    if not token:
        raise WrongUsage(f"--token-file {path} is empty")
    return token


class Downloading(NamedTuple):
    """A response that is being read."""

    pieces: Iterator[bytes]
    is_text: bool
    size: int | None


class Remote:
    """A daemon. There is no overall timeout, because installs and streams may take long."""

    def __init__(self, target: Address | Child) -> None:
        with _as_command_errors():
            self._transport = _Transport(target, program="sandbox-agent-cli")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    @property
    def address(self) -> Address:
        with _as_command_errors():
            return self._transport.address()

    def send(self, request: Call) -> Answer:
        """Send a request and read the whole response; raises a problem. It is not retried: the user can repeat the command."""
        with _as_command_errors():
            answer = self._transport.send(request, Retry(seconds=0))
        if answer.content and VERSION_HEADER not in answer.headers:
            self._decoded(answer.content)  # any web server answers some requests with success
        return answer

    @contextlib.contextmanager
    def download(self, request: Call) -> Iterator[Downloading]:
        """Read a response piece by piece; raises a problem."""
        with _as_command_errors(), self._transport.opened(request) as answer:
            length = answer.headers.get("content-length")
            yield Downloading(
                self._transport.pieces(answer),
                answer.headers.get("content-type", "").startswith("text/"),
                None if length is None else int(length),
            )

    def get(self, path: str, query: dict[str, str] | None = None) -> Any:
        return self._decoded(self.send(call("GET", path, query=query)).content)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        content = self.send(call("POST", path, body=body)).content
        return self._decoded(content) if content else None

    def _decoded(self, content: bytes) -> Any:
        try:
            return msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = f"{self.address.endpoint} did not answer with JSON: it is not a sandbox-agent daemon"
            raise CommandFailed(message) from None

    def upload(self, session_id: str, path: Path) -> dict[str, Any]:
        """Upload a local file to a session. Returns the attachment for a message."""
        request = call(
            "POST",
            session_path(session_id, "attachments"),
            query={"filename": path.name},
            headers={"Content-Type": "application/octet-stream"},
            content=path.read_bytes(),
        )
        stored = self._decoded(self.send(request).content)
        return {"path": stored["path"], "mime": stored["mime"], "filename": path.name}

    def follow(self, request: Call) -> Iterator[Frame]:
        """Frames of a stream. Reconnects after a lost connection and continues after the last frame.

        Ends with the daemon's `end` frame; the stream of a turn also ends when the daemon closes it.
        """
        has_end = request.method == "POST"
        if has_end and IDEMPOTENCY_KEY not in request.headers:
            # With the same key, a repeated request names the same turn instead of starting another.
            request = request.with_header(IDEMPOTENCY_KEY, new_key())

        def resume(seen: int | None) -> Call:
            return request if has_end or seen is None else request.with_header(LAST_EVENT_ID, str(seen))

        with (
            _as_command_errors(),
            contextlib.closing(frames(self._transport, resume, has_end=has_end)) as stream,
        ):
            yield from stream

    @contextlib.contextmanager
    def terminal(self, process_id: str) -> Iterator[Terminal]:
        with _as_command_errors(), Terminal(self._transport, process_id) as terminal:
            yield terminal

    def watch(self, request: Call) -> Iterator[Frame]:
        """Frames with the progress of a request. The request is not repeated if they break off."""
        streamed = request.with_header("Accept", "text/event-stream")
        with (
            _as_command_errors(),
            contextlib.closing(self._transport.frames(streamed, lambda _: None)) as stream,
        ):
            yield from stream


class _Transport(Transport):
    """Prints warnings to stderr."""

    HOW_TO_REACH = "start one with `sandbox-agent daemon start`, or set its address with --endpoint"
    HOW_TO_TOKEN = "set it with --token-file, --token or SANDBOX_AGENT_TOKEN"

    _is_away = False

    def trying_again(self, error: SandboxAgentError) -> None:
        """Prints one message for any number of retries."""
        if not self._is_away:
            print("sandbox-agent: connection lost, reconnecting", file=sys.stderr)
        self._is_away = True

    def frames(
        self, call: Call, connected: Callable[[Answer], None], until: float | None = None
    ) -> Generator[Frame, None]:
        def is_back(head: Answer) -> None:
            if self._is_away:
                print("sandbox-agent: reconnected", file=sys.stderr)
            self._is_away = False
            connected(head)

        return super().frames(call, is_back, until)

    _warned: ClassVar[set[str]] = set()
    """Daemons whose version was already warned about: a command may open several connections."""

    def warn_of_version(self, theirs: str) -> None:
        endpoint = self.address().endpoint
        if endpoint in self._warned:
            return
        self._warned.add(endpoint)
        text = f"the daemon is version {theirs}, this command is {__version__}: some things may not work"
        print(f"sandbox-agent: warning: {text}", file=sys.stderr)


@contextlib.contextmanager
def _as_command_errors() -> Iterator[None]:
    """Turn errors of the client into errors of the command."""
    try:
        yield
    except ClientError as error:
        raise CommandFailed(error.detail) from None
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None
