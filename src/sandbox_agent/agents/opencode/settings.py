"""The user's own settings: the files OpenCode reads them from, and what it writes there when it does."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_NAMES = ("opencode.json", "opencode.jsonc")
_SCHEMA = b'{\n  "$schema": "https://opencode.ai/config.json",'
_BEGINNING = re.compile(rb"^\s*\{")


def settings_files(directory: str, environ: Mapping[str, str]) -> Iterator[str]:
    home = environ.get("HOME", "")
    own = posixpath.join(environ.get("XDG_CONFIG_HOME") or f"{home}/.config", "opencode")
    if named := environ.get("OPENCODE_CONFIG"):
        yield named
    yield f"{own}/config.json"
    folders = [own, f"{home}/.opencode", environ.get("OPENCODE_CONFIG_DIR", "")]
    above = directory
    while above not in ("", "/"):
        folders += [above, f"{above}/.opencode"]
        above = posixpath.dirname(above)
    yield from (f"{folder}/{name}" for folder in folders if folder for name in _NAMES)


def with_schema(settings: bytes) -> bytes:
    """Adds a schema to a file that names none."""
    return settings if b'"$schema"' in settings else _BEGINNING.sub(lambda _: _SCHEMA, settings, count=1)


def with_skills(settings: str, folder: str) -> str:
    """Adds a folder of skills to settings that the user may have in a variable. Settings that are not plain JSON
    are kept, and the skills are not found."""
    try:
        given = msgspec.json.decode(settings or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return settings
    skills = given.get("skills")
    skills = skills if isinstance(skills, dict) else {}
    paths = skills.get("paths")
    paths = paths if isinstance(paths, list) else []
    return msgspec.json.encode({**given, "skills": {**skills, "paths": [*paths, folder]}}).decode()
