"""Halves of characters in JSON.

Programs in JavaScript cut text between any two UTF-16 units, such as the output of a command in the middle of an emoji, and
write the half that is left as an escape (`\\ud83d`). No decoder of ours accepts it: the whole frame would be lost.
"""

from __future__ import annotations

import re

from msgspec import Raw, structs

from .frames import HttpReply, InFrame, ServerEvent

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape: a whole character of two units, half of one, or any other."""


def without_halves(frame: InFrame) -> InFrame:
    """A frame without halves of characters."""
    match frame:
        case bytes():
            return replace_halves(frame)
        case ServerEvent(data):
            return ServerEvent(replace_halves(data))
        case HttpReply(body=body):
            return structs.replace(frame, body=Raw(replace_halves(bytes(body))))
        case _:
            return frame  # what a delegate asks is allowed as it is, or not at all


def replace_halves(text: bytes) -> bytes:
    """JSON in which U+FFFD stands for each half of a character."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _ESCAPES.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], text)
