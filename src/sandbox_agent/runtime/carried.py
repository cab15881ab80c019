"""A session's conversation as its agent keeps it on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..agents.base import KeptByProgram, KeptFiles


class CarriedConversation(NamedTuple):
    session_id: str
    native_id: str
    kept: KeptFiles | KeptByProgram
    environ: Mapping[str, str]
    directory: str
