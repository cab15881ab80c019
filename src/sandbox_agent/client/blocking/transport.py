"""The transport to one daemon: requests with retries, connections for streams, and version checks."""

# Written by `make gen` from aio/transport.py.

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...errors import SandboxAgentError, TokenInvalid
from ..call import Address, Answer, Call
from ..child import START_SECONDS, Child
from ..discovery import is_on_this_machine
from ..failures import (
    BadToken,
    ClientClosed,
    DaemonNotStarted,
    DaemonUnreachable,
    NoAnswerInTime,
    NotADaemon,
    VersionMismatch,
    error_of_answer,
    why_unconnected,
)
from ..frames import END, Frame, FrameReader
from ..hosted import Hosted
from ..raw import record
from ..retry import Patience, Retry
from ..waiting import at_once, in_own_loop
from ..waits import TIMER_SECONDS, DeadlinePassed, ReadAgain

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger("sandbox_agent.client")

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 60.0
"""A stream sends a ping every 15 seconds; after a longer silence its connection is dead."""
LATE_SECONDS = 0.2
"""How much later than its deadline a read may return."""
POLL_SECONDS = 0.02
VERSION_HEADER = "x-sandbox-agent-version"


class Transport:
    """Requests to one daemon. The HTTP client is imported and created on first use."""

    HOW_TO_REACH = "start one with `sandbox-agent daemon start`, or let this program run its own with SandboxAgent.start()"
    HOW_TO_TOKEN = "give the daemon's token, as in connect(base_url, token), or set SANDBOX_AGENT_TOKEN"

    def __init__(
        self,
        target: Address | Child | Hosted,
        *,
        http: httpx2.Client | None = None,
        timeout: float | None = None,
        retry: Retry | None = None,
        program: str = "sandbox-agent-python",
    ) -> None:
        self._target = target
        self._address = _checked(target) if isinstance(target, Address) else None
        self._http = http
        self._is_ours = http is None
        self._timeout = timeout
        self._retry = retry or Retry()
        self._program = program
        self._was_answered = False
        self._is_closed = False
        self._warned_version: str | None = None

    # -- requests -----------------------------------------------------------------------------

    def send(self, call: Call, retry: Retry | None = None) -> Answer:
        """Send a request and read the whole response; a problem is raised."""
        patience = Patience(retry or self._retry)
        lost = False
        while True:
            try:
                return record(self._send_once(call))
            except SandboxAgentError as error:
                if lost and error.status == call.settled:
                    return Answer(b"")
                lost = lost or (isinstance(error, DaemonUnreachable) and error.sent)
                self.pause(patience, error, repeatable=call.repeatable)

    def patience(self) -> Patience:
        return Patience(self._retry)

    def pause(
        self,
        patience: Patience,
        error: SandboxAgentError,
        *,
        repeatable: bool = True,
        until: float | None = None,
    ) -> None:
        """Wait before the next attempt if one makes sense; otherwise raise the error."""
        if isinstance(error, DaemonUnreachable) and not self._may_come_back():
            raise error
        delay = patience.delay_after(error, repeatable=repeatable)
        self.trying_again(error)
        time.sleep(delay if until is None else min(delay, _left(until)))

    def _may_come_back(self) -> bool:
        """Retrying is pointless for a daemon that never answered, or for a child daemon that has exited."""
        has_ended = isinstance(self._target, Child) and self._target.has_ended()
        return self._was_answered and not has_ended

    def _send_once(self, call: Call) -> Answer:
        import httpx2

        http, address = self._ready()
        try:
            answer = http.request(
                call.method,
                address.endpoint + call.path,
                params=dict(call.query),
                headers=self._headers(address, call),
                content=call.content,
                timeout=httpx2.Timeout(call.seconds or self._timeout, connect=CONNECT_SECONDS),
            )
        except httpx2.TimeoutException as error:
            raise self._timed_out(error, call.seconds or self._timeout) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        self._check(answer, address, answer.content)
        return _head_of(answer)._replace(content=answer.content)

    def frames(
        self, call: Call, connected: Callable[[Answer], None], until: float | None = None
    ) -> Generator[Frame, None]:
        """The frames of one connection, until it is lost, the daemon ends it, or the deadline passes.

        The HTTP client limits every read by the same time, so `ReadAgain` asks for a new connection when that is too long.
        """
        import httpx2

        http, address = self._ready()
        silence = SILENCE_SECONDS if until is None else _silence_before(until)
        try:
            with http.stream(
                call.method,
                address.endpoint + call.path,
                params=dict(call.query),
                headers=self._headers(address, call),
                content=call.content,
                timeout=httpx2.Timeout(
                    silence, connect=CONNECT_SECONDS if until is None else min(CONNECT_SECONDS, _left(until))
                ),
            ) as answer:
                self._check(answer, address, answer.read() if answer.is_error else b"")
                self._check_stream(answer, address)
                connected(_head_of(answer))
                if answer.status_code == 204:
                    yield Frame(None, b"", END)  # everything has been read
                reader = FrameReader()
                for chunk in answer.iter_bytes():
                    for frame in reader.feed(chunk):
                        yield frame
                    if until is not None:
                        _check_time(until, silence)
        except httpx2.HTTPError as error:
            if until is not None and not _left(until):
                raise DeadlinePassed from None
            if isinstance(error, httpx2.ReadTimeout) and silence < SILENCE_SECONDS:
                raise ReadAgain from None
            raise self._unreachable(error) from None

    @contextmanager
    def opened(self, call: Call) -> Iterator[httpx2.Response]:
        """A response whose body is still to be read, piece by piece; a problem is raised."""
        import httpx2

        http, address = self._ready()
        try:
            with http.stream(
                call.method,
                address.endpoint + call.path,
                params=dict(call.query),
                headers=self._headers(address, call),
                content=call.content,
                timeout=httpx2.Timeout(self._timeout, connect=CONNECT_SECONDS),
            ) as answer:
                self._check(answer, address, answer.read() if not answer.is_success else b"")
                yield answer
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None

    def pieces(self, answer: httpx2.Response) -> Generator[bytes, None]:
        """The body of a response. If it is cut off, that is an error, not the end."""
        import httpx2

        try:
            for piece in answer.iter_bytes():
                yield piece
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None

    # -- what a program may want to know ------------------------------------------------------

    def trying_again(self, error: SandboxAgentError) -> None:
        logger.info("%s; retrying", error)

    def warn_of_version(self, theirs: str) -> None:
        warnings.warn(
            f"the daemon is version {theirs}, this client is {__version__}: something may not work; "
            "install the same version on both sides",
            VersionMismatch,
            stacklevel=2,
        )

    # -- the connection -----------------------------------------------------------------------

    def address(self) -> Address:
        """The daemon's address. Waits for a daemon that this program started."""
        if isinstance(self._target, Hosted):
            return in_own_loop(self._target.start())
        if self._address is None:
            assert isinstance(self._target, Child)
            deadline = time.monotonic() + START_SECONDS
            while (found := self._target.address()) is None:
                if time.monotonic() > deadline:
                    raise DaemonNotStarted(f"the daemon was not ready within {START_SECONDS:.0f} seconds")
                time.sleep(POLL_SECONDS)
            self._address = found
        return self._address

    def close(self) -> None:
        """Close the connections, and stop the daemon if this program started it. A given HTTP client stays open."""
        self._is_closed = True
        if self._http is not None and self._is_ours:
            self._http.close()
        if isinstance(self._target, Child):
            at_once(self._target.stop)
        if isinstance(self._target, Hosted):
            in_own_loop(self._target.close())

    def _ready(self) -> tuple[httpx2.Client, Address]:
        if self._is_closed:
            raise ClientClosed("this client is closed: use it inside its `with` block, or create a new one")
        address = self.address()
        if self._http is None:
            self._http = _new_client(address)
        return self._http, address

    def _headers(self, address: Address, call: Call) -> Mapping[str, str]:
        ours = {**address.headers, "User-Agent": f"{self._program}/{__version__}"}
        if address.token is not None:
            ours["Authorization"] = f"Bearer {address.token}"
        return {**ours, **call.headers}

    # -- what comes back ----------------------------------------------------------------------

    def _check(self, answer: httpx2.Response, address: Address, content: bytes) -> None:
        self._was_answered = True
        self._compare_versions(answer.headers.get(VERSION_HEADER))
        if not answer.is_success:
            retry_after = answer.headers.get("retry-after", "")
            error = error_of_answer(answer.status_code, content, address.endpoint, retry_after)
            raise (
                TokenInvalid(f"{error.detail}: {self.HOW_TO_TOKEN}")
                if isinstance(error, TokenInvalid)
                else error
            )

    def _check_stream(self, answer: httpx2.Response, address: Address) -> None:
        media_type = answer.headers.get("content-type", "")
        if answer.status_code != 204 and not media_type.startswith("text/event-stream"):
            raise NotADaemon(
                f"{address.endpoint} did not answer with a stream of events: it is not a sandbox-agent daemon"
            )

    def _compare_versions(self, theirs: str | None) -> None:
        if theirs in (None, __version__, self._warned_version):
            return
        self._warned_version = theirs
        self.warn_of_version(str(theirs))

    def _timed_out(self, error: httpx2.TimeoutException, seconds: float | None) -> SandboxAgentError:
        import httpx2

        if isinstance(error, httpx2.ConnectTimeout):
            return self._unreachable(error)
        endpoint = self._address.endpoint if self._address else "the daemon"
        return NoAnswerInTime(f"{endpoint} did not answer within the timeout of {seconds} seconds")

    def _unreachable(self, error: Exception) -> DaemonUnreachable:
        import httpx2

        endpoint = self._address.endpoint if self._address else "the daemon's address"
        sent = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        if isinstance(self._target, Child) and self._target.has_ended():
            message = f"the daemon that this program started has exited; its last output:\n{self._target.last_output()}"
        elif sent:
            message = f"the connection to {endpoint} was lost: {error}"
        elif reason := why_unconnected(error):
            message = f"cannot connect to {endpoint}: {reason}"
        else:
            message = f"no daemon at {endpoint}: {self.HOW_TO_REACH}"
        return DaemonUnreachable(message, sent=sent)


def _head_of(answer: httpx2.Response) -> Answer:
    """A response without its content, which may still be to come."""
    return Answer(b"", answer.headers.get("content-type", ""), answer.status_code, dict(answer.headers))


def _silence_before(until: float) -> float:
    """How long a read may take before a deadline: half of the time that is left, so that few connections are needed."""
    if not _left(until):
        raise DeadlinePassed
    return min(SILENCE_SECONDS, max(_left(until) / 2, LATE_SECONDS))


def _check_time(until: float, silence: float) -> None:
    if not _left(until):
        raise DeadlinePassed
    if silence > max(_left(until), LATE_SECONDS):
        raise ReadAgain


def _left(until: float) -> float:
    """Seconds until a deadline; 0 if it has passed."""
    left = until - time.monotonic()
    return left if left > TIMER_SECONDS else 0.0


def _checked(address: Address) -> Address:
    """A header accepts only printable ASCII; this error is clearer than the HTTP client's."""
    token = address.token or ""
    if not (token.isascii() and token.isprintable()):
        raise BadToken("the token contains something other than printable ASCII: was it copied correctly?")
    return address


def _new_client(address: Address) -> httpx2.Client:
    import httpx2

    options: dict[str, Any] = {
        # A proxy cannot reach this machine, and certificates take time to load.
        "trust_env": not is_on_this_machine(address.endpoint),
        "verify": address.endpoint.startswith("https:"),
        # No limit on the number of streams.
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=20),
    }
    return httpx2.Client(**options)
