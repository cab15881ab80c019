"""Streams that survive their connections: they resume after the last frame that the reader has processed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ...errors import SandboxAgentError
from ...schema import newer
from ...schema.files import FileChange
from ...schema.processes import LogEntry, LogStream
from ...schema.sessions import SessionInfo
from ..call import Answer, Call, call, segment, session_path
from ..events import Event, decode_event, ends_session
from ..failures import DaemonUnreachable
from ..frames import END, Frame
from ..waits import ReadAgain
from .prompt import AsyncPrompt
from .transport import AsyncTransport

Resume = Callable[[int | None], Call]
"""The request that resumes after a frame; without one, the first request."""


async def frames(
    transport: AsyncTransport,
    resume: Resume,
    *,
    has_end: bool = False,
    until: float | None = None,
    accepted: Callable[[Answer], object] | None = None,
) -> AsyncGenerator[Frame, None]:
    """Frames, each once, until the last one.

    - `has_end`: The stream is also over when the daemon ends it.
    - `until`: When to raise `DeadlinePassed`, on the monotonic clock.
    - `accepted`: Called with the head of the response when the daemon has accepted the request.
    """
    seen: int | None = None
    patience = transport.patience()

    def connected(head: Answer) -> None:
        patience.connected()
        if accepted is not None:
            accepted(head)

    while True:
        try:
            async with aclosing(transport.frames(resume(seen), connected, until)) as connection:
                async for frame in connection:
                    patience.renew()
                    if frame.event == END:
                        return
                    number = None if frame.id is None else int(frame.id)
                    if number is not None and seen is not None and number <= seen:
                        continue
                    if frame.data:
                        yield frame
                    # The reader asked for the next frame: only now is this one processed.
                    seen = seen if number is None else number
        except ReadAgain:
            continue
        except SandboxAgentError as error:
            await transport.pause(patience, error, until=until)
        else:
            if has_end:
                return
            ended = DaemonUnreachable("the daemon ended the stream", sent=True)
            await transport.pause(patience, ended, until=until)


async def session_events(
    transport: AsyncTransport, session_id: str, offset: int, include_raw: bool
) -> AsyncGenerator[Event, None]:
    """The events of a session after an offset, until it ends."""
    path = session_path(session_id, "events", "sse")

    def resume(seen: int | None) -> Call:
        query = {"offset": offset if seen is None else seen, "include_raw": include_raw or None}
        return call("GET", path, query=query)

    async with aclosing(frames(transport, resume)) as stream:
        async for frame in stream:
            event = decode_event(frame.data)
            yield event
            if ends_session(event):
                return


async def turn_events(
    transport: AsyncTransport, prompt: AsyncPrompt, offset: int, until: float | None
) -> AsyncGenerator[Event, None]:
    """The events of a prompt's turn, after an offset. Until a frame arrives, retries send it again with the same key."""
    path = session_path(prompt.session_id, "events", "sse")

    def resume(seen: int | None) -> Call:
        seen = offset if seen is None else seen
        return call("GET", path, query={"offset": seen}) if seen else prompt.stream()

    found = frames(transport, resume, until=until, accepted=lambda _: prompt.accepted())
    async with aclosing(found) as stream:
        async for frame in stream:
            yield decode_event(frame.data)


async def file_changes(
    transport: AsyncTransport, path: str | None, session_id: str | None
) -> AsyncGenerator[FileChange | None, None]:
    """Changes below a directory, until the connection ends; None means that some were missed."""
    request = call("GET", "/v1/fs/watch", query={"path": path, "sessionId": session_id})
    async with aclosing(transport.frames(request, lambda _: None)) as stream:
        async for frame in stream:
            if frame.event == "lost":
                yield None
            elif frame.data:
                yield newer.decode(frame.data, FileChange)


async def all_events(
    transport: AsyncTransport, offset: int | None
) -> AsyncGenerator[Event | SessionInfo, None]:
    """The events of all sessions, and a session's information when it is created, changed or deleted."""

    def resume(seen: int | None) -> Call:
        return call("GET", "/v1/events/sse", query={"offset": offset if seen is None else seen})

    async with aclosing(frames(transport, resume)) as stream:
        async for frame in stream:
            if frame.event == "session":
                yield newer.decode(frame.data, SessionInfo)
            else:
                yield decode_event(frame.data)


async def log_entries(
    transport: AsyncTransport, process_id: str, stream: LogStream | None, since: int, tail: int | None
) -> AsyncGenerator[LogEntry, None]:
    """The output of a process, until it ends."""
    path = f"/v1/processes/{segment(process_id)}/logs"

    def resume(seen: int | None) -> Call:
        place = {"since": since, "tail": tail} if seen is None else {"since": seen}
        headers = {} if seen is None else {"Last-Event-ID": str(seen)}
        return call("GET", path, query={"follow": True, "stream": stream, **place}, headers=headers)

    async with aclosing(frames(transport, resume)) as entries:
        async for frame in entries:
            yield newer.decode(frame.data, LogEntry)
