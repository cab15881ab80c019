"""Writes the output of processes to stdout and stderr."""

from __future__ import annotations

import sys

import msgspec

from ..schema.processes import LogEntry

decoded_entry = msgspec.json.Decoder(LogEntry).decode


def write_output(entry: LogEntry) -> None:
    """Write an entry unchanged and flush: stderr to stderr, everything else to stdout."""
    stream = sys.stderr.buffer if entry.stream == "stderr" else sys.stdout.buffer
    stream.write(entry.content)
    stream.flush()
