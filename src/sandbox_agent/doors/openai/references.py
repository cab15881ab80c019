"""Earlier output that a request names by its id instead of repeating it.

Some clients keep a conversation as a list of items and send all of it each time. Of what came from here they send only the ids.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ...errors import InvalidRequest, SessionNotFound
from . import history
from .ids import TurnName, turn_of_item
from .intake import Begun
from .operations import Operations
from .reading import read_now
from .requests import InputMessage
from .shapes import Message, OutputItem

REASONING = InputMessage(type="reasoning")


class Resolved(Struct, frozen=True):
    messages: tuple[InputMessage, ...]
    latest: TurnName | None
    """The turn of the last item that is named."""


async def resolve(operations: Operations, messages: Sequence[InputMessage], field: str) -> Resolved:
    """The messages with the texts of the items that they name."""
    outputs: dict[TurnName, dict[str, OutputItem]] = {}
    found: list[InputMessage] = []
    name: TurnName | None = None
    for index, message in enumerate(messages):
        if message.type != "item_reference":
            found.append(message)
            continue
        id, place = message.id or "", f"{field}[{index}]"
        name = turn_of_item(id)
        if name is not None and name not in outputs:
            outputs[name] = await _output_of(operations, name)
        item = outputs[name].get(id) if name is not None else None
        if item is None:
            raise InvalidRequest(f"`{place}`: there is no item `{id[:200]}`", field=place)
        found.append(_as_input(item))
    return Resolved(tuple(found), name)


async def _output_of(operations: Operations, name: TurnName) -> dict[str, OutputItem]:
    try:
        turn = await history.find(operations, *name)
    except SessionNotFound:
        turn = None
    if turn is None:
        return {}
    response = await read_now(operations, Begun(name, turn.after), 0)
    return {item.id: item for item in response.output}


def _as_input(item: OutputItem) -> InputMessage:
    if not isinstance(item, Message):
        return REASONING
    return InputMessage("assistant", "".join(part.text for part in item.content))
