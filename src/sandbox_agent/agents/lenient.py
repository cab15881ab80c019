"""Reads what it can of a frame with an unknown shape, so that nothing waits for it forever."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from .nesting import shallow

T = TypeVar("T")
Kind = TypeVar("Kind", bound=msgspec.Struct)


def surface_of(frame: bytes) -> Any:
    """A frame without its deeper levels; None if it is not JSON."""
    try:
        return msgspec.json.decode(shallow(frame))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def convert(value: object, kind: type[T]) -> T | None:
    """A decoded value as this type; None if it has another shape."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def readable_part(kind: type[Kind], value: Any, **otherwise: Any) -> Kind:
    """A struct of the fields that can be read; `otherwise` gives defaults for those that cannot."""
    fields = dict(otherwise)
    for field in msgspec.structs.fields(kind):
        if isinstance(value, dict) and field.encode_name in value:
            try:
                fields[field.name] = msgspec.convert(value[field.encode_name], field.type)
            except msgspec.ValidationError:
                continue
    return kind(**fields)
