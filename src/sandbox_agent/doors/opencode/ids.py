"""The ids that clients see, derived from ours by fixed rules: nothing has to be stored to find them again.

A client sorts parts by their id and messages by their time and id, as strings. So an id has a fixed width and grows with the
log. Session ids are ours. A sub-agent's conversation has no session of its own here: its id names our session and the call that
started it, joined by a character that our ids never contain.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from datetime import datetime
from typing import NamedTuple

CHILD = "~"
PROJECT = "global"
"""Every directory belongs to this one project."""
DRAFT_SECONDS = 24 * 3600
_DRAFT = "ses_0d"


def milliseconds(moment: str) -> int:
    """The time of an event in milliseconds."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def message_id(session_id: str, sequence: int, created: int) -> str:
    """The event that begins a message names it. The form is that of OpenCode's own ids, with which it is sorted."""
    grows = (created * 4096 + sequence % 4096) % (1 << 48)
    return f"msg_{grows:012x}{_mark(f'{session_id} {sequence}')}"


def part_id(session_id: str, sequence: int, index: int = 0) -> str:
    return f"prt_{sequence:012x}{index:03x}{_mark(session_id)[:11]}"


def given_ids(native_id: str | None) -> tuple[str, ...]:
    """The ids of a message and its parts that a client chose: it displays them already."""
    return tuple(native_id.split(",")) if native_id and native_id.startswith("msg_") else ()


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:14]


# -- requests ---------------------------------------------------------------------------------


class RequestId(NamedTuple):
    session_id: str
    request_id: str


def permission_id(session_id: str, ours: str) -> str:
    """Contains the session's id, because clients answer without it."""
    return f"per_{ours.removeprefix('perm_')}_{session_id}"


def question_id(session_id: str, ours: str) -> str:
    return f"que_{ours.removeprefix('q_')}_{session_id}"


def request_of(theirs: str) -> RequestId | None:
    kind, _, rest = theirs.partition("_")
    number, _, session_id = rest.partition("_")
    prefix = {"per": "perm_", "que": "q_"}.get(kind)
    return RequestId(session_id, prefix + number) if prefix and number and session_id else None


# -- sub-agents -------------------------------------------------------------------------------


def child_id(session_id: str, call_item_id: str) -> str:
    return f"{session_id}{CHILD}{call_item_id}"


def owner_of(theirs: str) -> str:
    """The id of our session in which a session of a client takes place."""
    return theirs.partition(CHILD)[0]


# -- sessions without an agent ----------------------------------------------------------------


def draft_id() -> str:
    """The id of a session that does not exist yet.

    Some clients create a session first and name its agent only with the first prompt. Until then there is nothing to store.
    """
    return f"{_DRAFT}{int(time.time()):010x}{secrets.token_hex(6)}"


def drafted_at(session_id: str) -> int | None:
    """When a draft was made, in milliseconds; None if this is not the id of a recent draft."""
    number = session_id.removeprefix(_DRAFT)[:10]
    if not session_id.startswith(_DRAFT) or len(session_id) != len(_DRAFT) + 22:
        return None
    try:
        made = int(number, 16)
    except ValueError:
        return None
    return made * 1000 if 0 <= time.time() - made <= DRAFT_SECONDS else None
