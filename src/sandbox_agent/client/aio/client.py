"""The client: one object for one daemon."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import msgspec

from ...errors import InvalidRequest, StreamError
from ...schema import newer
from ...schema.answers import CreatedSession, Progress
from ...schema.ids import random_id
from ...schema.processes import ProcessRun
from ..asking import OnPermission, OnQuestion, awaited
from ..call import Address, Answer, Call, call, session_path
from ..child import Child, child_of_program
from ..discovery import find_address
from ..failures import error_of, unreadable
from ..function_tool import FunctionTool, ToolSource
from ..hosted import Hosted
from ..raw import RawResponse, raw_response, record, recording
from ..retry import Retry
from ..toolbox import Toolboxes, tools_from
from ..waiting import in_loop
from .operations import AsyncOperations
from .session import AsyncSession
from .stream import frames
from .transport import VERSION_HEADER, AsyncTransport

if TYPE_CHECKING:
    import httpx2

    from ...providers.provider import Provider

T = TypeVar("T")
P = ParamSpec("P")


class AsyncSandboxAgent(AsyncOperations):
    """A client of a daemon. Create one with `connect()` or `start()`, and close it or use it in a `with` block."""

    def __init__(
        self,
        target: Address | Child | Hosted,
        *,
        timeout: float | None = None,
        http: httpx2.AsyncClient | None = None,
        retry: Retry | None = None,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
    ) -> None:
        super().__init__()
        self._hosted = target if isinstance(target, Hosted) else None
        self.transport = AsyncTransport(target, http=http, timeout=timeout, retry=retry)
        self.on_permission = on_permission
        self.on_question = on_question
        self.toolboxes = Toolboxes()

    @classmethod
    def connect(
        cls,
        base_url: str | None = None,
        token: str | None = None,
        *,
        timeout: float | None = None,
        http: httpx2.AsyncClient | None = None,
        retry: Retry | None = None,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
    ) -> Self:
        """A client of a running daemon. Sends nothing yet.

        - `base_url`, `token`: If absent, SANDBOX_AGENT_ENDPOINT and SANDBOX_AGENT_TOKEN, then the running daemon
          of the default data directory, then http://127.0.0.1:2468.
        - `timeout`: Seconds that a request may take; unlimited if absent, because an install or an agent may take long.
        - `http`: Your own HTTP client, for proxies, certificates and the like. It is not closed with this one.
        - `retry`: How long to retry when the daemon is unreachable or busy.
        - `on_permission`, `on_question`: Callbacks that answer agents; `prompt()` may override them.
        """
        return cls(
            find_address(base_url, token),
            timeout=timeout,
            http=http,
            retry=retry,
            on_permission=on_permission,
            on_question=on_question,
        )

    @classmethod
    def start(
        cls,
        *,
        sandbox: Provider | None = None,
        name: str | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        flags: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        http: httpx2.AsyncClient | None = None,
        retry: Retry | None = None,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
    ) -> Self:
        """A client with its own daemon, on a free port and with a random token. The daemon ends with this program, however that ends.

        - `sandbox`: Where to run the daemon instead, e.g. `E2BProvider()` of `sandbox_agent.providers`. The sandbox is created
          or found when the client is first used.
        - `name`: The name of the sandbox. It is found and resumed if it exists, and outlives `close()`. Without a name you get
          a new sandbox, which `close()` deletes.
        - `data_dir`: Data directory; the default one if absent. No other daemon may use it at the same time.
        - `flags`: More flags of `sandbox-agent server`, e.g. `["--no-bypass"]`.
        - `env`: Environment variables for the daemon and its agents, in addition to those of this program.

        The other parameters are those of `connect()`.
        """
        target: Child | Hosted
        if sandbox is not None:
            if data_dir is not None:
                raise InvalidRequest(
                    "`data_dir` is a directory on this machine: it cannot be combined with `sandbox`"
                )
            target = Hosted(sandbox, name, flags, env)
        elif name is not None:
            raise InvalidRequest("`name` is the name of a sandbox: pass `sandbox` as well")
        else:
            target = child_of_program(data_dir, flags, env)
        return cls(
            target,
            timeout=timeout,
            http=http,
            retry=retry,
            on_permission=on_permission,
            on_question=on_question,
        )

    async def __aenter__(self) -> Self:
        try:
            await self.transport.address()
        except BaseException:
            # A block that is not entered is not left either: a daemon whose start was interrupted would keep its data directory.
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, and stop the daemon if `start()` started it. A sandbox is deleted unless you gave it a name."""
        await self.transport.close()

    @property
    def sandbox_name(self) -> str | None:
        """The name of the sandbox of `start(sandbox=...)`."""
        return self._hosted.name if self._hosted else None

    async def pause(self) -> None:
        """Stop the sandbox and keep its files. `start()` with the same `name` resumes it."""
        hosted = self._in_sandbox()
        if hosted.is_temporary:
            raise InvalidRequest(
                "a sandbox without a name cannot be found again: give start() a `name` to pause and resume it"
            )
        await in_loop(hosted.pause())

    async def kill(self) -> None:
        """Delete the sandbox with its files."""
        await in_loop(self._in_sandbox().kill())

    def _in_sandbox(self) -> Hosted:
        if self._hosted is None:
            raise InvalidRequest("this client has no sandbox: only a client from start(sandbox=...) has one")
        return self._hosted

    async def address(self) -> Address:
        """The daemon's address and token, e.g. to open the inspector."""
        return await self.transport.address()

    def session(self, session_id: str, *, tools: Iterable[ToolSource] = ()) -> AsyncSession:
        """A handle on an existing session. Sends nothing.

        - `tools`: The functions of tools that the session was created with, e.g. after a restart of your program.
        """
        self.toolboxes.add(session_id, tools_from(tools))
        return AsyncSession(self, session_id)

    async def exec(
        self,
        command: str,
        *args: str,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> ProcessRun:
        """Run a program on the daemon's machine, and wait until it exits: `client.exec("git", "status").stdout`.

        - `timeout`: Seconds after which it is killed, with everything it started; 30 if absent.
        """
        milliseconds = None if timeout is None else max(1, round(timeout * 1000))
        return await self.processes.run(command, args=args, cwd=cwd, env=env, timeout_ms=milliseconds)

    # -- what the generated operations are made of ----------------------------------------------

    async def send(self, request: Call) -> Answer:
        """Send any request, for operations without a method."""
        return await self.transport.send(request)

    async def ask(self, request: Call, answer: type[T]) -> T:
        """Send a request and decode its response."""
        return await self._decoded(await self.transport.send(request), answer)

    async def watch(
        self, request: Call, answer: type[T], on_progress: Callable[[Progress], object] | None
    ) -> T:
        """Send a long-running request; the callback gets its progress."""
        if on_progress is None:
            return await self.ask(request, answer)
        request = request.with_header("Accept", "text/event-stream")
        heads: list[Answer] = []
        # An identical request joins the first one.
        found = frames(self.transport, lambda _: request, accepted=heads.append)
        async with aclosing(found) as stream:
            async for frame in stream:
                match frame.event:
                    case "progress":
                        progress = await self._decoded(Answer(frame.data), Progress)
                        await awaited(on_progress(progress))
                    case "result":
                        result = record(heads[-1]._replace(content=frame.data))
                        return await self._decoded(result, answer)
                    case "problem":
                        raise error_of(await self._decoded(Answer(frame.data), dict[str, Any]))
        raise StreamError("the daemon ended the stream without a result")

    async def with_raw_response(
        self, method: Callable[P, Awaitable[T]], *arguments: P.args, **named: P.kwargs
    ) -> RawResponse[T]:
        """Call a method of this client and get the HTTP response too: status, headers and bytes.

        For example `client.with_raw_response(client.sessions.get, "my-session")`.
        """
        with recording() as answers:
            parsed = await method(*arguments, **named)
        return raw_response(answers, parsed)

    async def _decoded(self, answer: Answer, kind: type[T]) -> T:
        try:
            return newer.decode(answer.content, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as reason:
            endpoint = (await self.transport.address()).endpoint
            raise unreadable(endpoint, answer.headers.get(VERSION_HEADER), reason) from None

    async def create_session(self, session_id: str | None, settings: Mapping[str, Any]) -> AsyncSession:
        """Create a session. Raises if its agent cannot be started, or if the session is not created for another reason."""
        drawn = session_id is None
        name = random_id("ses") if session_id is None else session_id
        # Only this client can have taken an id generated here: then the response was lost, not the request.
        tools = tools_from(settings.get("tools") or ())
        offered = [tool.offered if isinstance(tool, FunctionTool) else tool for tool in tools]
        body = {**settings, "tools": offered}
        request = call("POST", session_path(name), body=body, settled=409 if drawn else None)
        answer = await self.transport.send(request)
        if answer.content:
            created = await self._decoded(answer, CreatedSession)
            if not created.healthy:
                raise error_of({**(created.error or {}), "sessionId": name})
        self.toolboxes.add(name, tools)
        return AsyncSession(self, name)
