"""What processes write, on the streams of this one."""

from __future__ import annotations

import sys

import msgspec

from ..schema.processes import LogEntry

decoded_entry = msgspec.json.Decoder(LogEntry).decode


def write_output(entry: LogEntry) -> None:
    """Byte by byte, at once: errors to stderr, everything else to stdout."""
    stream = sys.stderr.buffer if entry.stream == "stderr" else sys.stdout.buffer
    stream.write(entry.content)
    stream.flush()
