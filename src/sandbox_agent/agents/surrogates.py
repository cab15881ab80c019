"""Lone surrogates in JSON.

Programs in JavaScript cut text between any two UTF-16 units, such as the output of a command in the middle of an emoji, and
write the remaining half as an escape (`\\ud83d`). None of our decoders accept it: the whole frame would be lost.
"""

from __future__ import annotations

import re

from msgspec import Raw, structs

from .frames import HttpReply, InFrame, ServerEvent

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape: a pair of surrogates, a lone surrogate, or any other."""


def without_surrogates(frame: InFrame) -> InFrame:
    """A frame without lone surrogates."""
    match frame:
        case bytes():
            return replace_surrogates(frame)
        case ServerEvent(data):
            return ServerEvent(replace_surrogates(data))
        case HttpReply(body=body):
            return structs.replace(frame, body=Raw(replace_surrogates(bytes(body))))
        case _:
            return frame  # what a delegate asks is allowed as it is, or not at all


def replace_surrogates(text: bytes) -> bytes:
    """JSON in which U+FFFD replaces each lone surrogate."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _ESCAPES.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], text)
