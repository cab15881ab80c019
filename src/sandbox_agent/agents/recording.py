"""A recording of a real agent, line by line.

The format (docs/contributing/recordings.mdx): one JSON object per line, `{"dir", "t", "msg"}`; `dir` is `in` (client to
agent), `out` (agent to client), `cmd` (a process started), `exit`, `err` (a line of stderr) or `note`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from .surrogates import replace_surrogates


class Line(Struct, frozen=True):
    dir: Literal["in", "out", "cmd", "exit", "err", "note"]
    t: float
    msg: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def frame(self) -> bytes:
        """The frame; a line that was not JSON is recorded as a string."""
        raw = bytes(self.msg)
        return msgspec.json.decode(raw, type=str).encode() if raw.startswith(b'"') else raw


_line = msgspec.json.Decoder(Line)


def decode_line(text: bytes) -> Line:
    return _line.decode(replace_surrogates(text))
