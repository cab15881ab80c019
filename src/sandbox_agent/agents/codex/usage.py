"""Converts the token counts of a thread."""

from __future__ import annotations

import msgspec

from ...schema.events import Usage
from .frames import Tokens


def minus(after: Tokens, before: Tokens) -> Tokens:
    pairs = zip(msgspec.structs.astuple(after), msgspec.structs.astuple(before), strict=True)
    names = Tokens.__struct_fields__
    return Tokens(**dict(zip(names, (max(0, a - b) for a, b in pairs), strict=True)))


def usage_of(tokens: Tokens) -> Usage:
    return Usage(
        tokens.input_tokens,
        tokens.output_tokens,
        tokens.cached_input_tokens,
        tokens.cache_write_input_tokens,
        tokens.reasoning_output_tokens,
    )
