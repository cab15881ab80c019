"""One conversation with an agent."""

# Written by `make gen` from aio/session.py.

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from ...schema.events import Event
from ...schema.inputs import Attachment
from ..asking import OnPermission, OnQuestion
from ..call import IDEMPOTENCY_KEY, Call, call, new_key, session_path
from ..transcript import Transcript
from .respondent import Respondent
from .session_operations import SessionOperations
from .stream import session_events
from .turn import Turn

PAGE = 1000

File = str | os.PathLike[str] | Attachment
"""The path of a local file, which is uploaded, or an attachment that the daemon has."""


class Session(SessionOperations):
    """A handle on a session. It holds no state but the id, so that any number of them may exist."""

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
    ) -> Turn:
        """Send a message and follow its turn: iterate over the events, or call `result()`.

        - `attachments`: Paths of local files, which are uploaded, or attachments that the daemon has.
        - `fresh`: Start a new conversation if the agent's own is gone.
        - `idempotency_key`: The same key gives the same turn, also from a program that was started again.
        - `on_permission`: Is asked when the agent wants to use a tool; returns "once", "always" or "reject".
        - `on_question`: Is asked when the agent asks; returns the answer, or None to reject.
        """
        prompt = Prompt(self, message, attachments, fresh, idempotency_key or new_key())
        respondent = Respondent(
            self, on_permission or self.client.on_permission, on_question or self.client.on_question
        )
        return Turn(self, prompt, respondent)

    def events(self, *, offset: int = 0, follow: bool = False, include_raw: bool = False) -> Iterator[Event]:
        """The recorded events, oldest first; with `follow` also every new one, until the session ends.

        - `offset`: Sequence of the last event already seen.
        - `include_raw`: Give each event the native payload that caused it.
        """
        if follow:
            return session_events(self.client.transport, self.id, offset, include_raw)
        return self._recorded(offset, include_raw)

    def _recorded(self, offset: int, include_raw: bool) -> Generator[Event, None]:
        more = True
        while more:
            page = self.client.sessions.events(self.id, offset=offset, limit=PAGE, include_raw=include_raw)
            for event in page.events:
                yield event
                offset = event.sequence
            more = page.has_more

    def transcript(self) -> Transcript:
        """What the whole session adds up to: messages, tools, diffs, usage."""
        folded = Transcript()
        for event in self.events():
            folded.add(event)
        return folded

    def upload(self, path: str | os.PathLike[str]) -> Attachment:
        """Store a local file with the session; gives the attachment for a message."""
        file = Path(path)
        stored = self.attachments.upload(file.read_bytes(), filename=file.name)
        return Attachment(stored.path, stored.mime, file.name)


class Prompt:
    """A message before it is sent: local files are uploaded first."""

    def __init__(self, session: Session, message: str, files: Sequence[File], fresh: bool, key: str) -> None:
        self._session = session
        self._message = message
        self._files = files
        self._fresh = fresh
        self._key = key

    def call(self) -> Call:
        attachments = [
            file if isinstance(file, Attachment) else self._session.upload(file) for file in self._files
        ]
        return call(
            "POST",
            session_path(self._session.id, "messages", "stream"),
            headers={IDEMPOTENCY_KEY: self._key},
            body={"message": self._message, "attachments": attachments, "fresh": self._fresh},
        )
