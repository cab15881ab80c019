"""One conversation with an agent."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

from ...schema.events import ItemStarted
from ...schema.inputs import Attachment
from ...schema.tools import tool_request_in
from ..asking import OnPermission, OnQuestion
from ..call import new_key
from ..events import Event
from ..transcript import Transcript
from ..waits import ANSWER_SECONDS, Waits
from .prompt import AsyncPrompt, File
from .respondent import AsyncRespondent
from .session_operations import AsyncSessionOperations
from .stream import session_events
from .turn import AsyncTurn

PAGE = 1000


class AsyncSession(AsyncSessionOperations):
    """A handle on a session. Its only state is the id, so there may be any number of handles."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def prompt(
        self,
        message: str,
        *,
        attachments: Sequence[File] = (),
        fresh: bool = False,
        idempotency_key: str | None = None,
        on_permission: OnPermission | None = None,
        on_question: OnQuestion | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_SECONDS,
        raise_on_error: bool = True,
    ) -> AsyncTurn:
        """Send a message and follow its turn: iterate over the events, or call `text()` or `result()`.

        - `attachments`: Paths of local files, which are uploaded, or attachments that the daemon already has.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: A repeated key returns the same turn, even after a restart of your program.
        - `on_permission`: Called when the agent asks to use a tool; returns "once", "always" or "reject".
        - `on_question`: Called when the agent asks a question; returns the answer, or None to reject.
        - `timeout`: Seconds that the turn may take from its first read. Then it is cancelled, and `TurnTimeout` is raised.
        - `answer_timeout`: Seconds that a permission, a question or a call of a tool may wait if nothing here answers it. Then `AnswerNeeded` is raised,
          and the turn continues. None waits for another client to answer.
        - `raise_on_error`: Whether `text()` and `result()` raise `TurnFailed` for a turn that ended with the stop reason
          `error`, `limit` or `outcome_unknown`. Iterating over events never raises it.
        """
        prompt = AsyncPrompt(self, message, attachments, fresh, idempotency_key or new_key())
        respondent = AsyncRespondent(
            self, on_permission or self.client.on_permission, on_question or self.client.on_question
        )
        waits = Waits(timeout, answer_timeout)
        return AsyncTurn(self, prompt, respondent, waits, raise_on_error=raise_on_error)

    def events(
        self, *, offset: int = 0, follow: bool = False, include_raw: bool = False
    ) -> AsyncIterator[Event]:
        """The stored events, oldest first; with `follow`, also every new one until the session ends.

        - `offset`: Sequence of the last event you have seen.
        - `include_raw`: Include the native payload that caused each event.
        """
        if follow:
            return session_events(self.client.transport, self.id, offset, include_raw)
        return self._recorded(offset, include_raw)

    async def _recorded(self, offset: int, include_raw: bool) -> AsyncGenerator[Event, None]:
        more = True
        while more:
            page = await self.client.sessions.events(
                self.id, offset=offset, limit=PAGE, include_raw=include_raw
            )
            for event in page.events:
                yield event
                offset = event.sequence
            more = page.has_more

    async def serve_tools(self) -> None:
        """Answer calls to this session's tools until the session ends, whoever sent the prompt.

        A turn that you follow answers them by itself. This is for other cases: another program sends the prompts, or you use
        `send_message()`. Give the functions to `sessions.create()` or `client.session()`.
        """
        respondent = AsyncRespondent(self, None, None)
        offset = (await self.get()).event_count
        for waiting in (await self.tool_calls.list()).tool_calls:
            await respondent.answer(waiting)
        async with aclosing(session_events(self.client.transport, self.id, offset, False)) as events:
            async for event in events:
                if isinstance(event.data, ItemStarted) and (asked := tool_request_in(event.data.item)):
                    await respondent.answer(asked)

    async def transcript(self) -> Transcript:
        """The transcript of the whole session: messages, tools, diffs, usage."""
        folded = Transcript()
        async for event in self.events():
            folded.add(event)
        return folded

    async def upload(self, path: str | os.PathLike[str]) -> Attachment:
        """Upload a local file to the session. Returns the attachment for a message."""
        file = Path(path)
        stored = await self.attachments.upload(file.read_bytes(), filename=file.name)
        return Attachment(stored.path, stored.mime, file.name)
