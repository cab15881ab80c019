"""A session's lookups in the store: they run off the event loop, and each result is an input."""

from __future__ import annotations

from ..session import effects, inputs
from ..store.base import Store


def look_up(store: Store, session_id: str, effect: effects.Question) -> inputs.Input:
    match effect:
        case effects.LookUpKey(send, key):
            return inputs.KeyFound(send, store.key(session_id, key))
        case effects.LookUpAsked(command, id):
            return inputs.AskedBefore(command, id, store.was_asked(session_id, id))
        case effects.Load(turn):
            return inputs.Loaded(turn, store.queued(session_id, turn))
