"""The operator's rules: a TOML file, read again when it changes.

```toml
[[rules]]
effect = "deny"
command = "rm -rf"
reason = "Move files to the trash folder instead."
```
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import InvalidRequest
from ..schema.policy import PolicyRule

logger = logging.getLogger("sandbox_agent.policy")

MAX_BYTES = 1 << 20


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    # Required: an editor that writes in place empties the file first, which must not lift every rule.
    rules: tuple[PolicyRule, ...]


class OperatorRules:
    """The file's rules. A missing or broken file is refused at first; later, the last good rules stay in force."""

    def __init__(self, path: str) -> None:
        self._path = Path(path).absolute()
        self._seen = _state_of(self._path)
        self._rules = parse(self._read(), str(self._path))

    def current(self) -> tuple[PolicyRule, ...]:
        seen = _state_of(self._path)
        if seen != self._seen:
            self._seen = seen
            try:
                self._rules = parse(self._read(), str(self._path))
                logger.warning("the rules in %s were read again: %d rules", self._path, len(self._rules))
            except InvalidRequest as problem:
                logger.error("%s; the rules read before stay in force", problem.detail)
        return self._rules

    def _read(self) -> bytes:
        try:
            # Opening a pipe must not block.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise InvalidRequest(f"--policy {self._path}: is not a file")
                text = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InvalidRequest(f"--policy {self._path}: {error.strerror}") from None
        if len(text) > MAX_BYTES:
            raise InvalidRequest(f"--policy {self._path}: is larger than {MAX_BYTES} bytes")
        return text


def _state_of(path: Path) -> tuple[int, ...] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return (about.st_mtime_ns, about.st_size, about.st_ino)


def parse(text: bytes, path: str) -> tuple[PolicyRule, ...]:
    """The rules of a file. A problem names the line and the field."""
    try:
        lines = text.decode()
        return msgspec.convert(_with_times_as_text(tomllib.loads(lines)), _File).rules
    except UnicodeDecodeError:
        raise InvalidRequest(f"--policy {path}: is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"--policy {path}: {error}") from None
    except RecursionError:
        raise InvalidRequest(f"--policy {path}: is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"--policy {path}{_place(lines, str(error))}: {_bare(str(error))}") from None


def _with_times_as_text(value: Any) -> Any:
    """TOML has dates of its own; a rule holds them as text."""
    match value:
        case dict():
            return {name: _with_times_as_text(inner) for name, inner in value.items()}
        case list():
            return [_with_times_as_text(inner) for inner in value]
        case datetime():
            return value.isoformat()
    return value


_AT = re.compile(r" - at `\$(?:\.(?P<list>\w+))?(?:\[(?P<index>\d+)\])?(?:\.(?P<field>\w+))?`$")
_UNKNOWN = re.compile(r"unknown field `(\w+)`")


def _bare(error: str) -> str:
    found = _AT.search(error)
    text = _AT.sub("", error)
    return f"`{found['field']}`: {text}" if found and found["field"] else text


def _place(text: str, error: str) -> str:
    """The line of the rule, or of its field, that an error is about."""
    found = _AT.search(error)
    lines = text.splitlines()
    unknown = _UNKNOWN.search(error)
    field = (found and found["field"]) or (unknown and unknown[1])
    headers = [number for number, line in enumerate(lines) if re.match(r"\s*\[\[\s*rules\s*\]\]", line)]
    index = int(found["index"]) if found and found["index"] else None
    begin, end = 0, len(lines)
    if index is not None and index < len(headers):
        begin = headers[index]
        end = headers[index + 1] if index + 1 < len(headers) else len(lines)
    for number in range(begin, end):
        if field and re.match(rf"\s*(\[+\s*)?[\"']?{field}\b", lines[number]):
            return f", line {number + 1}"
    return f", line {begin + 1}" if index is not None else ""
