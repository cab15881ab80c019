"""The head of a `SKILL.md`: its name and description.

It is YAML, of which skills use little: plain and quoted values, and folded ones over several lines. Whatever else it holds is left to
the agents, which read the file themselves.
"""

from __future__ import annotations

import re

import msgspec

MAX_DESCRIPTION = 1_500

_KEY = re.compile(r"([A-Za-z][\w-]*):(?:\s+(.*))?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_FOLDED = re.compile(r"[>|][+-]?\d?")


def name_in(fields: dict[str, str], folder: str) -> str | None:
    """The skill's name: the one it gives itself, or its folder's; None if neither can be the name of a folder."""
    names = (fields.get("name", ""), folder)
    return next((name for name in names if _NAME.fullmatch(name)), None)


def description_in(fields: dict[str, str]) -> str:
    text = "".join(each if each.isprintable() else " " for each in fields.get("description", ""))
    return text.strip()[:MAX_DESCRIPTION]


def head_of(text: str) -> dict[str, str]:
    """The fields between the two lines `---` at the beginning."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    fields: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:]:
        if line.strip() == "---":
            return {name: _value(parts) for name, parts in fields.items()}
        if found := _KEY.fullmatch(line):
            key = found[1]
            fields.setdefault(key, [(found[2] or "").strip()])
        elif key and line[:1] in (" ", "\t"):
            fields[key].append(line.strip())
    return {}


def _value(parts: list[str]) -> str:
    first, *more = parts
    text = " ".join(filter(None, more if _FOLDED.fullmatch(first) else parts))
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return msgspec.json.decode(text, type=str)
        except msgspec.DecodeError:
            return text[1:-1]
    return text
