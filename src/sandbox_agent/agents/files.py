"""Files that go with prompts and results: read from the disk, and told inline."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable


def read_if_there(read_file: Callable[[str], bytes], path: str) -> bytes | None:
    """None when it is gone since: the prompt still names it, and the agent can say that it cannot open it."""
    try:
        return read_file(path)
    except OSError:
        return None


def bytes_in(data: str) -> bytes | None:
    """What is told as base64; None where there is nothing, or it is broken."""
    try:
        return base64.b64decode(data, validate=True) or None
    except binascii.Error:
        return None
