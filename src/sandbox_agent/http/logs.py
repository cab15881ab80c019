"""Structured logs on stderr: one JSON object per line, quiet by default."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime

import msgspec


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return msgspec.json.encode(line).decode()


def configure_logging(level: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # uvicorn logs start-up messages and tracebacks of handlers, which the daemon logs itself.
    logging.getLogger("uvicorn").setLevel(logging.WARNING if level != "debug" else logging.DEBUG)
