"""The HTTP client: where the daemon is, what it answers, and streams that outlive a lost connection."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

import httpx2
import msgspec

from .. import __version__
from ..config import PREFIX, Config
from .failures import CommandFailed, ProblemAnswered
from .state import data_dir, running_daemon

CONNECT_SECONDS = 10.0
RECONNECT_TRIES = 10
MAX_DELAY_SECONDS = 3.0
VERSION_HEADER = "x-sandbox-agent-version"


class Address(NamedTuple):
    endpoint: str
    token: str | None


class Frame(NamedTuple):
    """One frame of a stream."""

    id: str | None
    data: bytes


class Call(NamedTuple):
    """A request, before it is sent."""

    method: str
    path: str
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    content: bytes | None = None


def json_call(method: str, path: str, body: object) -> Call:
    headers = {"Content-Type": "application/json"}
    return Call(method, path, {}, headers, msgspec.json.encode(body))


def session_path(session_id: str, *rest: str) -> str:
    """A path below a session. Ids are percent-encoded, so that none can leave its place."""
    return "/".join(["/v1/sessions", quote(session_id, safe=""), *rest])


def find_address(args: argparse.Namespace) -> Address:
    """From flags, then the environment, then what `daemon start` left, then the default address."""
    endpoint = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    token = getattr(args, "token", None) or os.environ.get(f"{PREFIX}TOKEN") or None
    state = running_daemon(data_dir(args))
    if endpoint is None:
        endpoint = state.endpoint if state else f"http://{Config().host}:{Config().port}"
    endpoint = endpoint.rstrip("/")
    # The file's token belongs to that daemon and is told to no other.
    if token is None and state is not None and state.endpoint == endpoint:
        token = state.token
    return Address(endpoint, token)


class Remote:
    """One daemon. Nothing has a total timeout: an install or a stream takes as long as it takes."""

    def __init__(self, address: Address) -> None:
        self.address = address
        parts = urlsplit(address.endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CommandFailed(
                f"{address.endpoint} is not an address: it should look like http://127.0.0.1:2468"
            )
        headers = {"User-Agent": f"sandbox-agent-cli/{__version__}"}
        if address.token is not None:
            headers["Authorization"] = f"Bearer {address.token}"
        secure = parts.scheme == "https"
        self._http = httpx2.Client(
            base_url=address.endpoint,
            headers=headers,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            # A proxy does not lead to this machine, and certificates cost time to load.
            trust_env=parts.hostname not in ("127.0.0.1", "localhost", "::1"),
            verify=secure,
        )
        self._warned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def send(self, call: Call) -> httpx2.Response:
        """Send a request and read the whole answer; a problem is raised."""
        try:
            answer = self._http.request(
                call.method, call.path, params=call.query, headers=call.headers, content=call.content
            )
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        self._check(answer)
        return answer

    def get(self, path: str, query: dict[str, str] | None = None) -> Any:
        return msgspec.json.decode(self.send(Call("GET", path, query or {})).content)

    def post(self, path: str, body: object) -> Any:
        content = self.send(json_call("POST", path, body)).content
        return msgspec.json.decode(content) if content else None

    def upload(self, session_id: str, path: Path) -> dict[str, Any]:
        """Store a local file with a session. Returns the attachment for a message."""
        call = Call(
            "POST",
            session_path(session_id, "attachments"),
            {"filename": path.name},
            {"Content-Type": "application/octet-stream"},
            path.read_bytes(),
        )
        stored = msgspec.json.decode(self.send(call).content)
        return {"path": stored["path"], "mime": stored["mime"], "filename": path.name}

    def follow(self, call: Call) -> Iterator[Frame]:
        """Frames of a stream. A lost connection is made again, and goes on after the last frame that was seen.

        A stream that the daemon ends by itself ends here too, where it is one that has an end (a turn's).
        """
        has_end = call.method == "POST"
        headers = dict(call.headers)
        if has_end:
            # The same key makes a second request name the same turn, not start another.
            headers.setdefault("Idempotency-Key", secrets.token_hex(16))
        seen: str | None = None
        tries = 0
        while True:
            try:
                for frame in self._stream(call._replace(headers=headers)):
                    tries = 0
                    if has_end and seen is not None and frame.id is not None and int(frame.id) <= int(seen):
                        continue
                    yield frame
                    if frame.id is not None:
                        seen = frame.id
                        if not has_end:
                            headers["Last-Event-ID"] = seen
                if has_end:
                    return
            except httpx2.HTTPError as error:
                tries += 1
                if tries > RECONNECT_TRIES or (seen is None and tries == 1 and _refused(error)):
                    raise self._unreachable(error) from None
            except ProblemAnswered as problem:
                # A daemon that is stopping says so; the next one may be up soon.
                tries += 1
                if problem.status != 503 or seen is None or tries > RECONNECT_TRIES:
                    raise
            print("sandbox-agent: the connection was lost, trying again", file=sys.stderr)
            time.sleep(min(MAX_DELAY_SECONDS, 0.1 * 2**tries))

    def _stream(self, call: Call) -> Iterator[Frame]:
        with self._http.stream(
            call.method, call.path, params=call.query, headers=call.headers, content=call.content
        ) as answer:
            if answer.is_error:
                answer.read()
            self._check(answer)
            yield from frames(answer.iter_bytes())

    def _check(self, answer: httpx2.Response) -> None:
        self._compare_versions(answer.headers.get(VERSION_HEADER))
        if answer.is_success:
            return
        try:
            problem = msgspec.json.decode(answer.content, type=dict[str, Any])
        except msgspec.DecodeError:
            problem = {
                "title": f"{self.address.endpoint} answered with status {answer.status_code}",
                "status": answer.status_code,
                "detail": "that is no sandbox-agent daemon",
            }
        raise ProblemAnswered(problem)

    def _compare_versions(self, theirs: str | None) -> None:
        if theirs is None or theirs == __version__ or self._warned:
            return
        self._warned = True
        text = f"the daemon is version {theirs}, this command is {__version__}: something may not work"
        print(f"sandbox-agent: warning: {text}", file=sys.stderr)

    def _unreachable(self, error: Exception) -> CommandFailed:
        if _refused(error):
            return CommandFailed(
                f"no daemon at {self.address.endpoint}: start one with `sandbox-agent daemon start`, "
                "or say where it is with --endpoint"
            )
        return CommandFailed(f"the connection to {self.address.endpoint} failed: {error}")


def _refused(error: Exception) -> bool:
    return isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)


def frames(chunks: Iterable[bytes]) -> Iterator[Frame]:
    """Server-sent events from bytes in any pieces. Lines end at newlines alone: JSON may hold other separators."""
    id: str | None = None
    data: list[bytes] = []
    for line in _lines(chunks):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if data:
                yield Frame(id, b"\n".join(data))
            id, data = None, []
        elif name == b"id":
            id = value.decode()
        elif name == b"data":
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    pieces: list[bytes] = []
    for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        pieces.append(first)
        for piece in rest:
            yield b"".join(pieces).removesuffix(b"\r")
            pieces = [piece]
