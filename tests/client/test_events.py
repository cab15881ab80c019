"""The union of events agrees with the schema about every type."""

from __future__ import annotations

from typing import get_args, get_type_hints

from sandbox_agent.client.events import ENVELOPES, KnownEvent
from sandbox_agent.schema.events import EVENT_TYPES


def test_every_type_has_an_envelope_with_its_data() -> None:
    assert set(get_args(KnownEvent)) == set(ENVELOPES.values())
    assert ENVELOPES.keys() == EVENT_TYPES.keys()
    for name, envelope in ENVELOPES.items():
        hints = get_type_hints(envelope)
        assert (get_args(hints["type"]), hints["data"]) == ((name,), EVENT_TYPES[name])
