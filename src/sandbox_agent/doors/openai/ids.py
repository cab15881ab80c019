"""The ids that clients see, derived from ours: nothing has to be stored to find a response again."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, NamedTuple

from ...errors import NotFound

_TURN = r"([0-9a-f]{1,64})_([A-Za-z0-9._:-]{1,128})"
_RESPONSE = re.compile(f"resp_{_TURN}", re.ASCII)
_ITEM = re.compile(f"(?:msg|rs)_[^_]{{1,64}}_{_TURN}", re.ASCII)


class TurnName(NamedTuple):
    session_id: str
    turn_id: str

    @property
    def response_id(self) -> str:
        return f"resp_{self._joined}"

    @property
    def completion_id(self) -> str:
        return f"chatcmpl-{self._joined}"

    def item_id(self, kind: Literal["msg", "rs"], ours: str) -> str:
        """The id of an item of the turn. It names the turn, because clients refer to items without it."""
        return f"{kind}_{ours.rpartition('_')[2]}_{self._joined}"

    @property
    def _joined(self) -> str:
        return f"{self.turn_id.removeprefix('turn_')}_{self.session_id}"


def turn_of(response_id: str) -> TurnName:
    """The turn that a response is."""
    found = _RESPONSE.fullmatch(response_id)
    if found is None:
        raise NotFound(f"no response {response_id[:200]}")
    return TurnName(found[2], f"turn_{found[1]}")


def turn_of_item(item_id: str) -> TurnName | None:
    """The turn that an item belongs to; None if the id is not one of ours."""
    found = _ITEM.fullmatch(item_id)
    return TurnName(found[2], f"turn_{found[1]}") if found else None


def seconds(moment: str) -> int:
    """A time of the log in seconds."""
    return int(datetime.fromisoformat(moment).timestamp())
