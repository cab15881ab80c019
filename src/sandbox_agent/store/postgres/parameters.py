"""Numbers and arrays as parameters. One wire type each, so that a statement is prepared once, and binary, so that bytes are not escaped."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper

if TYPE_CHECKING:
    from .connection import Connection

_BIGINT, _BIGINTS, _BYTEA, _BYTEAS = 20, 1016, 17, 1001
_NULL = struct.pack("!i", -1)
_length = struct.Struct("!i").pack
_bigint = struct.Struct("!iq").pack


class Numbers:
    """A `bigint[]`."""

    def __init__(self, values: Sequence[int | None]) -> None:
        self.values = values


class Blobs:
    """A `bytea[]`."""

    def __init__(self, values: Sequence[bytes | None]) -> None:
        self.values = values


class _NumbersDumper(Dumper):
    format = Format.BINARY
    oid = _BIGINTS

    def dump(self, obj: Numbers) -> bytes:
        values = obj.values
        parts = [_NULL if value is None else _bigint(8, value) for value in values]
        return _head(_BIGINT, len(values), None in values) + b"".join(parts)


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = _BYTEAS

    def dump(self, obj: Blobs) -> bytes:
        values = obj.values
        parts = [_head(_BYTEA, len(values), None in values)]
        for value in values:
            if value is None:
                parts.append(_NULL)
            else:
                parts.append(_length(len(value)))
                parts.append(value)
        return b"".join(parts)


def _head(element: int, count: int, has_nulls: bool) -> bytes:
    """One dimension whose numbers begin with 1; an empty array has none."""
    if not count:
        return struct.pack("!iii", 0, 0, element)
    return struct.pack("!iiiii", 1, has_nulls, element, count, 1)


def register(connection: Connection) -> None:
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    connection.adapters.register_dumper(Numbers, _NumbersDumper)
    connection.adapters.register_dumper(Blobs, _BlobsDumper)
