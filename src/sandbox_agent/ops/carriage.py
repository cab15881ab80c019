"""Requests and results of operations as bytes, for nodes that carry them out for each other."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .. import __version__
from ..errors import ERRORS, UNEXPECTED, URN, Conflict, Internal, SandboxAgentError, Unavailable
from ..runtime.daemon import Daemon
from .operation import OPERATIONS, Content, Dialogue, Download, Operation, Stream, Watched

logger = logging.getLogger("sandbox_agent.ops")

MAX_BYTES = 8 << 20
"""Larger requests, files and lists are refused: the client asks the node itself."""


class Answer(Struct, frozen=True, omit_defaults=True):
    """What an operation returned, or its problem."""

    kind: Literal["json", "nothing", "content", "download", "problem"]
    body: bytes = b""
    media_type: str = ""
    filename: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    status: int = 200


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Answer).decode


class OperationCarriage:
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def pack(self, operation: Operation, request: Any, node: str) -> bytes:
        """Refuses what cannot be carried: streams, and secrets, which no table may hold."""
        is_open = operation.body == "stream" or operation.response in (Stream, Dialogue)
        if is_open or getattr(request, "env", None) or getattr(request, "mcp", None):
            raise _ask_itself(node)
        packed = msgspec.json.encode(request)
        if len(packed) > MAX_BYTES:
            raise _ask_itself(node)
        return packed

    def unpack(self, operation: Operation, status: int, answer: bytes) -> Any:
        found = _decode(answer)
        if found.kind == "problem":
            raise problem_of(found.body)
        if found.kind == "nothing":
            return None
        if found.kind == "content":
            return Content(found.body, found.media_type)
        if found.kind == "download":
            return Download(
                found.media_type,
                found.filename,
                _pieces(found.body),
                None if status == 304 else len(found.body),
                found.headers,
                found.status,
            )
        return msgspec.json.decode(found.body, type=operation.response)

    async def carry_out(self, name: str, request: bytes) -> tuple[int, bytes]:
        try:
            operation = OPERATIONS.get(name)
            if operation is None:
                raise Unavailable(
                    f"this node has version {__version__}, which has no {name}", version=__version__
                )
            values = operation.parse(msgspec.json.decode(request), strict=True)
            result = await operation.here(self._daemon, values)
            answer = await self._answer(result)
        except SandboxAgentError as problem:
            answer = _problem(problem)
        except Exception:
            logger.exception("%s, asked by another node, failed", name)
            answer = _problem(Internal(UNEXPECTED))
        return answer.status, _encode(answer)

    async def _answer(self, result: Any) -> Answer:
        if isinstance(result, Watched):
            await result.steps.aclose()
            result = await asyncio.shield(result.result)
        match result:
            case None:
                return Answer("nothing", status=204)
            case Content(body, media_type):
                return self._bounded(Answer("content", body, media_type))
            case Download():
                return await self._whole(result)
            case Stream():
                raise _ask_itself(self._daemon.node_name)
        return self._bounded(Answer("json", msgspec.json.encode(result)))

    async def _whole(self, download: Download) -> Answer:
        parts = bytearray()
        try:
            async for piece in download.pieces:
                parts += piece
                if len(parts) > MAX_BYTES:
                    raise _ask_itself(self._daemon.node_name)
        finally:
            await download.pieces.aclose()
        return Answer(
            "download",
            bytes(parts),
            download.media_type,
            download.filename,
            download.headers,
            download.status,
        )

    def _bounded(self, answer: Answer) -> Answer:
        if len(answer.body) > MAX_BYTES:
            raise _ask_itself(self._daemon.node_name)
        return answer


async def _pieces(body: bytes) -> Any:
    yield body


def _problem(error: SandboxAgentError) -> Answer:
    return Answer("problem", msgspec.json.encode(error.problem()), status=error.status)


def problem_of(body: bytes) -> SandboxAgentError:
    """The error behind a problem."""
    members: dict[str, Any] = msgspec.json.decode(body)
    kind = ERRORS.get(members.pop("type").removeprefix(URN), Internal)
    detail = members.pop("detail")
    return kind(detail, **{name: value for name, value in members.items() if name not in ("title", "status")})


def _ask_itself(node: str) -> Conflict:
    return Conflict(f"this cannot be passed on: ask node {node} itself", node=node)
