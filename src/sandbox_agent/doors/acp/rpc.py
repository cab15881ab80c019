"""JSON-RPC with one client over any transport: its requests are served in tasks, and ours wait for its answers.

The requests of either side are bounded, and every task ends with the connection.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Protocol, TypeVar

import msgspec
from msgspec import Raw, Struct

from ...agents.jsonrpc import (
    INVALID_PARAMS,
    Answer,
    Call,
    Note,
    Notification,
    Refusal,
    Reply,
    Request,
    RequestId,
    RpcError,
    read,
)
from ...agents.nesting import shallow
from ...errors import SandboxAgentError, found_by_validation
from .errors import UNEXPECTED_ERROR, RequestFailed, error_of
from .frames import INVALID_REQUEST, PARSE_ERROR, REQUEST_CANCELLED, CancelRequest

logger = logging.getLogger("sandbox_agent.doors.acp")

VERSION = "2.0"
MAX_REQUESTS = 200
"""Requests of a client that may be open at the same time."""
MAX_TASKS = 1_000
"""Nothing else limits notifications and refusals."""

T = TypeVar("T")


class Peer(Protocol):
    """The way to one client."""

    async def send(self, message: bytes, session_id: str | None) -> None:
        """Send a message of a session, or of the connection. Waits while the client does not read."""


class Answered(Struct, frozen=True):
    """An answer, and what follows once it is sent."""

    result: object
    then: Callable[[], object]


class Served(Protocol):
    """What a client's requests and notifications reach."""

    async def result(self, call: Call) -> object:
        """The answer to a request, or one with what follows it (`Answered`)."""

    async def notice(self, note: Note) -> None: ...

    def stream_of(self, call: Call, *, is_refused: bool = False) -> str | None:
        """The session whose stream carries the answer; None for the connection's."""


class _Unreadable(Struct, frozen=True):
    """The answer to a frame whose request is not known."""

    error: RpcError
    jsonrpc: Literal["2.0"] = "2.0"
    id: None = None


class Rpc:
    def __init__(self, peer: Peer, served: Served) -> None:
        self._peer = peer
        self._served = served
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[RequestId, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Raw]] = {}
        self._ids = itertools.count()
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether the next request would be refused, or whatever comes next would have to wait."""
        return len(self._requests) >= MAX_REQUESTS or len(self._tasks) >= MAX_TASKS

    async def receive(self, frame: bytes) -> None:
        """Take one message of the client. Slow work runs in tasks."""
        try:
            message = _read(frame)
        except msgspec.ValidationError as error:
            unreadable = _Unreadable(RpcError(f"not a JSON-RPC message: {error}", INVALID_REQUEST))
            await self._begin(self._send(unreadable, None))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            await self._begin(self._send(_Unreadable(RpcError(f"not JSON: {error}", PARSE_ERROR)), None))
        else:
            await self._take(message)

    async def notify(self, method: str, params: object, session_id: str) -> None:
        await self._send(Notification(method=method, params=params, version=VERSION), session_id)

    async def ask(self, method: str, params: object, session_id: str) -> Raw:
        """Send a request and wait for its answer; raises `RequestFailed`. Cancelling it withdraws the request."""
        id = next(self._ids)
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._asked[id] = answer
        try:
            await self._send(Request(id=id, method=method, params=params, version=VERSION), session_id)
            return await answer
        except asyncio.CancelledError:
            if not self._is_closed:
                self.spawn(self.notify("$/cancel_request", CancelRequest(request_id=id), session_id))
            raise
        finally:
            del self._asked[id]

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that ends with the connection."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _send(self, message: object, session_id: str | None) -> None:
        await self._peer.send(msgspec.json.encode(message), session_id)

    async def _take(self, message: Reply | Note | Call) -> None:
        match message:
            case Reply(id=int(id)) if (answer := self._asked.get(id)) and not answer.done():
                if message.error is None:
                    answer.set_result(Raw(bytes(message.result)))
                else:
                    answer.set_exception(RequestFailed(message.error))
            case Note(method="$/cancel_request"):
                await self._cancel_request(message)
            case Note():
                await self._begin(self._served.notice(message))
            case Call(id=id) if id in self._requests:
                in_use = RpcError(f"the request id {id} is in use", INVALID_REQUEST)
                await self._begin(self._refuse(message, in_use))
            case Call() if len(self._requests) >= MAX_REQUESTS:
                too_many = RpcError("too many requests are open", INVALID_REQUEST)
                await self._begin(self._refuse(message, too_many))
            case Call(id=id):
                self._requests[id] = self.spawn(self._serve(message))

    async def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what may take long, such as waiting for the client to read, in a task; with too many, the client waits instead."""
        if len(self._tasks) < MAX_TASKS:
            self.spawn(work)
        else:
            await work

    async def _serve(self, call: Call) -> None:
        try:
            result = await self._served.result(call)
        except RequestFailed as failed:
            await self._refuse(call, failed.error)
        except SandboxAgentError as problem:
            await self._refuse(call, error_of(problem))
        except asyncio.CancelledError:
            if self._is_closed:
                raise
            await self._refuse(call, RpcError("the request was cancelled", REQUEST_CANCELLED))
        except Exception:
            logger.exception("%s failed", call.method)
            await self._refuse(call, UNEXPECTED_ERROR)
        else:
            shown = result.result if isinstance(result, Answered) else result
            stream = self._served.stream_of(call)
            await self._send(Answer(id=call.id, result=shown, version=VERSION), stream)
            if isinstance(result, Answered):
                result.then()
        finally:
            self._requests.pop(call.id, None)

    async def _refuse(self, call: Call, error: RpcError) -> None:
        stream = self._served.stream_of(call, is_refused=True)
        await self._send(Refusal(id=call.id, error=error, version=VERSION), stream)

    async def _cancel_request(self, note: Note) -> None:
        try:
            id = msgspec.json.decode(note.params, type=_Cancelled).request_id
        except msgspec.DecodeError:
            return
        if task := self._requests.get(id):
            task.cancel()


class _Cancelled(Struct, frozen=True, rename="camel"):
    request_id: RequestId


def _read(frame: bytes) -> Reply | Note | Call:
    try:
        return read(frame)
    except RecursionError:
        # With its id, its sender gets an answer. The parameters are refused when they are read.
        return read(shallow(frame))


def params_of(params: Raw, kind: type[T]) -> T:
    """The parameters of a request; raises `RequestFailed` with the name of the field."""
    try:
        return msgspec.json.decode(params, type=kind)
    except msgspec.ValidationError as error:
        reason, field = found_by_validation(str(error))
        message = f"`{field}`: {reason}" if field else reason
        raise RequestFailed(RpcError(message, INVALID_PARAMS, {"field": field})) from None
    except RecursionError:
        raise RequestFailed(RpcError("the request is nested too deep", INVALID_PARAMS)) from None
