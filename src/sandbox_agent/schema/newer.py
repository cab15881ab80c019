"""Decodes what a newer daemon sent, whose closed sets may have grown: a value that this version does not know is kept.

Only for readers of events and responses. What the daemon itself receives must be valid.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct, ValidationError

T = TypeVar("T")


def decode(body: bytes | str | msgspec.Raw, kind: type[T]) -> T:
    """Decode JSON. Raises `ValidationError` if more than the values of closed sets is new."""
    try:
        return msgspec.json.decode(body, type=kind)
    except ValidationError as error:
        try:
            converted: T = _converted(msgspec.json.decode(body), kind)
        except ValidationError:
            raise error from None
        return converted


def _converted(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except ValidationError:
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Literal and isinstance(value, str):
            return value
        if origin is Annotated:
            return _converted(value, parts[0])
        if origin in (Union, UnionType):
            return _one_of(value, parts)
        if origin in (list, tuple) and parts[1:] in ((), (...,)) and isinstance(value, list):
            return origin(_converted(entry, parts[0]) for entry in value)
        if origin is dict and isinstance(value, dict):
            return {name: _converted(entry, parts[1]) for name, entry in value.items()}
        if isinstance(kind, type) and issubclass(kind, Struct) and isinstance(value, dict):
            return _struct(value, kind)
        raise


def _one_of(value: Any, kinds: tuple[Any, ...]) -> Any:
    for kind in kinds:
        try:
            return _converted(value, kind)
        except ValidationError:
            continue
    raise ValidationError("it is none of the union")


def _struct(value: dict[str, Any], kind: type[Struct]) -> Struct:
    config = kind.__struct_config__
    if config.tag_field is not None and value.get(config.tag_field) != config.tag:
        raise ValidationError(f"it is not a {config.tag}")
    fields = msgspec.structs.fields(kind)
    if any(field.required and field.encode_name not in value for field in fields):
        raise ValidationError("a field is missing")
    return kind(
        **{
            field.name: _converted(value[field.encode_name], field.type)
            for field in fields
            if field.encode_name in value
        }
    )
