"""Starts a search, and collects hits until there are enough or time is up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from typing import Literal

import msgspec

from ..errors import InvalidRequest
from ..schema.files import SearchHit, SearchResult
from .searching import Job, Note, matcher_of, pattern_of

MAX_AT_ONCE = 4
LINE_BYTES = 64 << 10
GRACE_SECONDS = 0.5
"""How long after its own alarm the program is killed."""

_line = msgspec.json.Decoder(SearchHit).decode
_last = msgspec.json.encode(Note(done=True))


class Searches:
    """Few at a time: each reads as fast as the disk allows."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)

    async def run(self, job: Job) -> SearchResult:
        """Hits, sorted by path. The job's folder is closed."""
        try:
            _check(job)
            async with self._turns:
                return await _run(job)
        finally:
            os.close(job.folder)


def _check(job: Job) -> None:
    if job.text is not None and job.regex is not None:
        raise InvalidRequest("give either `text` or `regex`", field="regex")
    try:
        pattern_of(job)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidRequest(f"not a valid regular expression: {error}", field="regex") from None
    try:
        matcher_of(job.glob)
    except (ValueError, re.error) as error:
        raise InvalidRequest(f"not a valid glob: {error}", field="glob") from None


async def _run(job: Job) -> SearchResult:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "sandbox_agent.files.searching"),
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        pass_fds=(job.folder,),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LINE_BYTES,
    )
    hits: list[SearchHit] = []
    assert program.stdin is not None
    assert program.stdout is not None
    try:
        program.stdin.write(msgspec.json.encode(job))
        program.stdin.close()
        async with asyncio.timeout(job.seconds + GRACE_SECONDS):
            return SearchResult(hits, await _gather(program.stdout, job.limit, hits))
    except TimeoutError:
        return SearchResult(hits, "time")
    finally:
        with contextlib.suppress(ProcessLookupError):
            program.kill()
        await program.wait()


async def _gather(
    lines: asyncio.StreamReader, limit: int, hits: list[SearchHit]
) -> Literal["limit", "time"] | None:
    """Collect hits as they come. Returns why there may be more."""
    async for line in lines:
        if line.rstrip() == _last:
            return None
        if len(hits) == limit:
            return "limit"
        hits.append(_line(line))
    return "time"  # its alarm ended it
