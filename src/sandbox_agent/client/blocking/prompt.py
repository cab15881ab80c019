"""A message before it is sent."""

# Written by `make gen` from aio/prompt.py.

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...schema.inputs import Attachment
from ..call import IDEMPOTENCY_KEY, Call, call, session_path

if TYPE_CHECKING:
    from .session import Session

File = str | os.PathLike[str] | Attachment
"""The path of a local file, which is uploaded, or an attachment that the daemon already has."""


class Prompt:
    """Upload local files first, once."""

    def __init__(self, session: Session, message: str, files: Sequence[File], fresh: bool, key: str) -> None:
        self.session_id = session.id
        self.is_accepted = False
        """The daemon has accepted the message: it is stored."""
        self._session = session
        self._message = message
        self._files = list(files)
        self._fresh = fresh
        self._key = key

    def prepare(self) -> None:
        for place, file in enumerate(self._files):
            if not isinstance(file, Attachment):
                self._files[place] = self._session.upload(file)

    def accepted(self) -> None:
        self.is_accepted = True

    def stream(self) -> Call:
        """The request that sends it and follows its turn."""
        return self._call("messages", "stream")

    def message(self) -> Call:
        """The request that sends it without waiting."""
        return self._call("messages")

    def _call(self, *path: str) -> Call:
        return call(
            "POST",
            session_path(self.session_id, *path),
            headers={IDEMPOTENCY_KEY: self._key},
            body={"message": self._message, "attachments": self._files, "fresh": self._fresh},
        )
