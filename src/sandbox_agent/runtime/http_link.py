"""The link to an agent that is an HTTP server: a process like any other, with requests, responses and events as frames.

The client is `httptools`, which the daemon already uses, on plain asyncio connections, one per request. On loopback a new connection
costs almost nothing, and a request never hits a kept-alive connection that the server is about to close: most requests must not be
sent twice. Nothing has a time limit; the session decides what takes too long.

`httpx2`, which the SDK uses, costs more than the rest of an event's path: 180 us of CPU per event at the pace of a model (here: 40),
15 us in a flood (here: 2), 0.9 ms per request (here: 0.16), 9 MiB, and 125 ms to import.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit
from weakref import WeakValueDictionary

import httptools
import msgspec
from msgspec import Raw

from ..agents.base import HttpServer
from ..agents.frames import HttpReply, HttpRequest, InFrame, Lost, OutFrame, ServerEvent
from .framing import LINE_LIMIT, LineSplitter, LineTooLong
from .process import AgentProcess, Exit, ExitHandler, FramesHandler

logger = logging.getLogger("sandbox_agent.http_link")

FIRST_DELAY = 0.05
LONGEST_DELAY = 1.0
EXIT_SECONDS = 1.0


class HttpLink(AgentProcess):
    """Requests wait until the server listens and the event stream is open."""

    def __init__(
        self, server: HttpServer, instance: str, on_frames: FramesHandler, on_exit: ExitHandler
    ) -> None:
        super().__init__(instance, self._look_for_address, self._process_exited)
        self._server = server
        self._pass_on = on_frames
        self._tell_exit = on_exit
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: list[OutFrame] | None = []
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._events: Exchange | None = None
        self._paused = False
        self._exit_reported = asyncio.Event()

    async def start(self, argv: Sequence[str], env: Mapping[str, str], directory: str) -> None:
        self._address: asyncio.Future[SplitResult] = asyncio.get_running_loop().create_future()
        await super().start(argv, env, directory)
        self._spawn(self._stay_subscribed())

    def write(self, frames: Sequence[OutFrame]) -> None:
        if self._held is not None:
            self._held += frames
            return
        for frame in frames:
            if isinstance(frame, HttpRequest):
                self._spawn(self._ask(frame))

    def pause(self) -> None:
        """Stop reading events. Responses need no limit: there is one per request."""
        self._paused = True
        if self._events is not None:
            self._events.pause()

    def resume(self) -> None:
        self._paused = False
        if self._events is not None:
            self._events.resume()

    async def stop(self) -> None:
        await super().stop()
        await self._exit_reported.wait()

    # -- its life -----------------------------------------------------------------------------

    def _look_for_address(self, lines: Sequence[InFrame | LineTooLong]) -> None:
        for line in lines:
            if self._address.done() or not isinstance(line, bytes):
                continue
            if found := re.search(self._server.ready, line.decode(errors="replace")):
                self._address.set_result(urlsplit(found[1]))

    def _process_exited(self, exit: Exit) -> None:
        self._spawn(self._conclude(exit))

    async def _conclude(self, exit: Exit) -> None:
        """Report the exit, after all earlier output."""
        if self._events is not None:
            await self._events.ended.wait()
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._tell_exit(exit)
        self._exit_reported.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a task of a link failed", exc_info=error)

    # -- events -------------------------------------------------------------------------------

    async def _stay_subscribed(self) -> None:
        """Follow the server's events while it lives. After a reconnect, tell the wire that it may have missed some."""
        address = await self._address
        delay = FIRST_DELAY
        broken: str | None = None
        while True:
            stream = Exchange(
                self._head(address, "GET", self._server.events), self._events_from(LineSplitter())
            )
            with contextlib.suppress(OSError):
                await stream.connect(address)
            await stream.begun.wait()
            if stream.status == 200:
                delay = FIRST_DELAY
                self._listen_to(stream, broken)
                await stream.ended.wait()
                self._events = None
                broken = stream.failure or "the stream of events ended"
            else:
                stream.abort()
                logger.info("cannot subscribe to events: %s", stream.failure or stream.status)
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    def _listen_to(self, stream: Exchange, broken: str | None) -> None:
        self._events = stream
        if self._paused:
            stream.pause()
        if broken is not None:
            self._pass_on([Lost(broken)])
        held, self._held = self._held, None
        self.write(held or ())

    def _events_from(self, lines: LineSplitter) -> Callable[[bytes], None]:
        def receive(chunk: bytes) -> None:
            frames: list[InFrame | LineTooLong] = []
            for line in lines.feed(chunk):
                if isinstance(line, LineTooLong):
                    frames.append(line)
                elif line.startswith(b"data:"):
                    frames.append(ServerEvent(line[6:] if line[5:6] == b" " else line[5:]))
            if frames:
                self._pass_on(frames)

        return receive

    # -- requests -----------------------------------------------------------------------------

    async def _ask(self, request: HttpRequest) -> None:
        lane = asyncio.Lock() if request.long else self._lane(request.path)
        async with lane:
            try:
                status, body = await self._answer_to(request)
            except (OSError, NoAnswer) as error:
                # A dead server answers nothing: its exit is reported instead.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.ended.wait(), EXIT_SECONDS)
                    return
                status, body = 0, Raw(msgspec.json.encode({"data": {"message": str(error)}}))
        self._pass_on([HttpReply(status, f"{request.method} {request.path}", request.id, body)])

    def _lane(self, path: str) -> asyncio.Lock:
        """Requests to the same resource (`/session/ses_1` and everything below it) are sent one after the other."""
        thing = urlsplit(path).path.split("/")[1:3]
        if len(thing) < 2:
            return asyncio.Lock()
        return self._lanes.setdefault("/".join(thing), asyncio.Lock())

    async def _answer_to(self, request: HttpRequest) -> tuple[int, Raw]:
        address = self._address.result()
        pieces: list[bytes] = []
        asked = bytes(request.body)
        head = self._head(address, request.method, request.path, b"" if asked == b"null" else asked)
        exchange = Exchange(head, pieces.append, LINE_LIMIT)
        await exchange.connect(address)
        try:
            await exchange.ended.wait()
        finally:
            exchange.abort()
        if not exchange.complete or exchange.status is None:
            raise NoAnswer(exchange.failure or "the server closed the connection before it answered")
        return exchange.status, _json_or_null(b"".join(pieces))

    def _head(self, address: SplitResult, method: str, path: str, body: bytes = b"") -> bytes:
        credentials = base64.b64encode(f"{self._server.user}:{self._server.password}".encode()).decode()
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {address.netloc}",
            f"Authorization: Basic {credentials}",
            "Connection: close",
        ]
        if method != "GET":
            lines += ["Content-Type: application/json"] if body else []
            lines += [f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + body


class NoAnswer(Exception):
    """The server did not answer a request, or not completely."""


class Exchange(asyncio.Protocol):
    """One request on its own connection; the response body is passed on as it arrives."""

    def __init__(self, request: bytes, on_body: Callable[[bytes], None], limit: int | None = None) -> None:
        self.status: int | None = None
        self.complete = False
        self.failure: str | None = None
        self.begun = asyncio.Event()
        """Set when the first bytes of the body have arrived, or none will come."""
        self.ended = asyncio.Event()
        self._request = request
        self._pass_on = on_body
        self._limit = limit
        self._size = 0
        self._pieces: list[bytes] = []
        self._paused = False
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)

    async def connect(self, address: SplitResult) -> None:
        try:
            loop = asyncio.get_running_loop()
            await loop.create_connection(lambda: self, address.hostname or "localhost", address.port or 80)
        except OSError as error:
            self.connection_lost(error)
            raise

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def pause(self) -> None:
        if self._transport is not None and not self._paused and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    # -- what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._give_up(f"the answer is not HTTP: {error}")
        # One read may hold many small chunks; pass them on together.
        if self._pieces:
            pieces, self._pieces = self._pieces, []
            self._pass_on(b"".join(pieces))

    def connection_lost(self, error: Exception | None) -> None:
        if error is not None and self.failure is None:
            self.failure = str(error)
        self.begun.set()
        self.ended.set()

    # -- what the parser calls

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self.begun.set()
        self._size += len(body)
        if self._limit is not None and self._size > self._limit:
            self._give_up(f"the answer is longer than {self._limit} bytes")
        else:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        self.complete = self.failure is None
        if self._transport is not None:
            self._transport.close()

    def _give_up(self, why: str) -> None:
        self.failure = why
        self.abort()


def _json_or_null(body: bytes) -> Raw:
    try:
        return msgspec.json.decode(body, type=Raw)
    except msgspec.DecodeError:
        return Raw(b"null")
