"""What a docstring says about a function and its parameters, in Google's or Sphinx's style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Raises|Yields?|Examples?|Notes?):?\s*$|:\w[^:]*:")
"""The first line of whatever follows the description."""
PARAMETERS = re.compile(r"(Args|Arguments|Parameters):\s*$")
GOOGLE = re.compile(r"(?P<indent>\s+)\*{0,2}(?P<name>\w+)\s*(\([^)]*\))?:\s*(?P<text>.*)")
SPHINX = re.compile(r":param\s+([^:]*\s)?(?P<name>\w+):\s*(?P<text>.*)")


class Described(NamedTuple):
    text: str
    parameters: dict[str, str]


def read_docstring(docstring: str) -> Described:
    """The description up to the first section, and the text of each parameter. Takes what `inspect.getdoc` returns."""
    lines = docstring.splitlines()
    end = next((number for number, line in enumerate(lines) if SECTION.match(line)), len(lines))
    rest = lines[end:]
    return Described("\n".join(lines[:end]).strip(), dict([*_google(rest), *_sphinx(rest)]))


def _google(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The entries of the section `Args:`; lines that are indented further belong to the entry above."""
    begin = next((number for number, line in enumerate(lines) if PARAMETERS.match(line)), len(lines))
    name, texts, indent = "", list[str](), ""
    for line in lines[begin + 1 :]:
        if line and not line[0].isspace():
            break
        entry = GOOGLE.match(line)
        if entry and (not indent or entry["indent"] == indent):
            if name:
                yield name, " ".join(texts)
            name, texts, indent = entry["name"], [entry["text"].strip()], entry["indent"]
        elif line.strip():
            texts.append(line.strip())
    if name:
        yield name, " ".join(texts)


def _sphinx(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        if entry := SPHINX.match(line):
            more = lines[number + 1 :]
            end = next((n for n, text in enumerate(more) if not text[:1].isspace()), len(more))
            yield entry["name"], " ".join([entry["text"].strip(), *(text.strip() for text in more[:end])])
