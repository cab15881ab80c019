"""A title for a tool call: one line that says what it is about, found in its input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TELLING = (
    "command",
    "cmd",
    "pattern",
    "query",
    "file_path",
    "filePath",
    "filepath",
    "path",
    "url",
    "description",
    "prompt",
)
"""Names of inputs that say what a call is about, the most telling first; most agents use the same."""


def title_of(name: str, input: Any, telling: Iterable[str] = TELLING) -> str:
    """The command, the path, the query: the first of these inputs that there is; else the tool's name."""
    if isinstance(input, dict):
        for key in telling:
            match input.get(key):
                case str(value) if value.strip():
                    return value
                case [*words] if words and all(isinstance(word, str) for word in words):
                    return " ".join(words)
    return name
