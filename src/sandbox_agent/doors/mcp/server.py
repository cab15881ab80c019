"""Answers the requests of one caller, in every supported version of the protocol, over any transport."""

from __future__ import annotations

import functools
import logging
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from ... import __version__
from ...agents.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Answer, Call, Refusal, RpcError
from ...errors import UNEXPECTED, SandboxAgentError, found_by_validation
from .frames import (
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    STATELESS_VERSIONS,
    UNSUPPORTED_VERSION,
    Called,
    CallTool,
    Capabilities,
    Discovered,
    Info,
    Initialize,
    Initialized,
    Params,
    Result,
    TextContent,
    ToolList,
    VersionError,
)
from .tools import TOOLS, Tool, listed_tools
from .work import Report, Work

logger = logging.getLogger("sandbox_agent.doors.mcp")

JSONRPC = "2.0"
INSTRUCTIONS = (
    "Coding agents in a sandbox. `run` gives one of them a prompt; if it is still working after 50 s, call `wait`. A session "
    "keeps its conversation: pass its id to `run` to continue it."
)
CAPABILITIES = Capabilities(tools={"listChanged": False})
SERVER = Info(name="sandbox-agent", version=__version__)
LISTS_LAST_MS = 300_000

S = TypeVar("S", bound=Struct)


class Refused(Exception):
    """A request that gets an error of the protocol instead of a result."""

    def __init__(self, message: str, code: int, data: object = None) -> None:
        super().__init__(message)
        self.error = RpcError(message, code, data)


class Server:
    def __init__(self, work: Work) -> None:
        self._work = work

    async def answer(self, call: Call, key: str | None, report: Report) -> bytes:
        """The answer to a request. Errors are answers too."""
        try:
            result = await self._result(call, key, report)
        except Refused as refused:
            return refusal(call, refused.error)
        except Exception:
            logger.exception("%s failed", call.method)
            return refusal(call, RpcError(UNEXPECTED, INTERNAL_ERROR))
        return msgspec.json.encode(Answer(id=call.id, result=result, version=JSONRPC))

    async def _result(self, call: Call, key: str | None, report: Report) -> Result | dict[str, str]:
        version = _read(call, Params).meta.version
        if version is not None and version not in STATELESS_VERSIONS:
            data = VersionError(supported=STATELESS_VERSIONS, requested=version)
            raise Refused(f"version {version} is not supported", UNSUPPORTED_VERSION, data)
        match call.method:
            case "tools/call":
                result: Result = await self._call(_read(call, CallTool), key, report)
            case "tools/list":
                result = _tool_list()
            case "server/discover":
                result = DISCOVERED
            case "initialize" if version is None:
                return _initialized(_read(call, Initialize))
            case "ping" if version is None:
                return {}
            case method:
                raise Refused(f"there is no method {method}", METHOD_NOT_FOUND)
        return result if version is None else _for_stateless_version(result)

    async def _call(self, wanted: CallTool, key: str | None, report: Report) -> Called:
        tool = TOOLS.get(wanted.name)
        if tool is None:
            raise Refused(f"there is no tool {wanted.name}", INVALID_PARAMS)
        try:
            arguments = b"{}" if wanted.arguments == b"null" else wanted.arguments
            given = msgspec.json.decode(arguments, type=tool.given)
        except (msgspec.DecodeError, RecursionError) as error:
            # A result rather than an error, so that the calling model can read it and try again.
            return _failed(_complaint(tool, str(error)))
        try:
            returned = await self._work.carry_out(given, key, report)
        except SandboxAgentError as problem:
            return _failed(problem.detail)
        body = msgspec.json.encode(returned)
        content = (TextContent(type="text", text=body.decode()),)
        return Called(content=content, is_error=False, structured_content=Raw(body))


def refusal(call: Call, error: RpcError) -> bytes:
    return msgspec.json.encode(Refusal(id=call.id, error=error, version=JSONRPC))


def _failed(text: str) -> Called:
    return Called(content=(TextContent(type="text", text=text),), is_error=True)


def _complaint(tool: Tool, text: str) -> str:
    reason, name = found_by_validation(text)
    known = ", ".join(field.name for field in msgspec.structs.fields(tool.given))
    return f"{f'`{name}`: {reason}' if name else reason}; the arguments are {known}"


def _read(call: Call, type: type[S]) -> S:
    try:
        return msgspec.json.decode(call.params, type=type)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(f"{call.method}: {error}", INVALID_PARAMS) from None


@functools.cache
def _tool_list() -> ToolList:
    return ToolList(tools=listed_tools())


def _initialized(asked: Initialize) -> Initialized:
    known = asked.protocol_version in HANDSHAKE_VERSIONS
    return Initialized(
        protocol_version=asked.protocol_version if known else HANDSHAKE_VERSIONS[0],
        capabilities=CAPABILITIES,
        server_info=SERVER,
        instructions=INSTRUCTIONS,
    )


DISCOVERED = Discovered(
    supported_versions=STATELESS_VERSIONS,
    capabilities=CAPABILITIES,
    server_info=SERVER,
    instructions=INSTRUCTIONS,
)


def _for_stateless_version(result: Result) -> Result:
    added: dict[str, Any] = {"result_type": "complete"}
    if isinstance(result, ToolList | Discovered):
        added |= {"ttl_ms": LISTS_LAST_MS, "cache_scope": "private"}
    return msgspec.structs.replace(result, **added)
