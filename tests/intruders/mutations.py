"""Recordings of real agents with changed output, as a new version, a bug or an attacker could write it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

RECORDINGS = Path(__file__).parents[1] / "transcripts"
LONGEST_BYTES = 300_000

Line = dict[str, Any]
Way = Literal["replace", "drop", "rename", "repeat", "move", "lose", "cut", "wrap"]
WAYS: tuple[Way, ...] = ("replace", "drop", "rename", "repeat", "move", "lose", "cut", "wrap")


class Mutation(NamedTuple):
    way: Way
    line: int
    """Which of the agent's lines, counted around."""
    place: int
    """Which of the places in it, counted around; or how far to move it."""
    value: Any


def recordings(agent: str) -> list[Path]:
    """All but the longest: many short ones say more than a few long ones."""
    paths = sorted((RECORDINGS / agent).glob("*/native.jsonl"))
    return [path for path in paths if path.stat().st_size <= LONGEST_BYTES]


def mutated(recording: Path, mutations: list[Mutation]) -> list[bytes]:
    """The recording's lines. What the client said and how processes began and ended stays as it was."""
    lines: list[Line] = [msgspec.json.decode(line) for line in recording.read_bytes().splitlines() if line]
    for mutation in mutations:
        outputs = [index for index, line in enumerate(lines) if line["dir"] == "out"]
        if outputs:
            _mutate(lines, outputs[mutation.line % len(outputs)], mutation)
    return [msgspec.json.encode(line) for line in lines]


def _mutate(lines: list[Line], index: int, mutation: Mutation) -> None:
    line = copy.deepcopy(lines[index])
    match mutation.way:
        case "repeat":
            lines.insert(index + mutation.place % 5, line)
        case "move":
            lines.insert(index + mutation.place % 9, lines.pop(index))
        case "lose":
            lines.pop(index)
        case "cut":
            text = msgspec.json.encode(line["msg"]).decode()
            # A line that is not JSON is recorded as a string.
            lines[index] = {**line, "msg": text[: mutation.place % len(text)]}
        case _:
            lines[index] = {**line, "msg": _changed(line["msg"], mutation)}


def _changed(message: Any, mutation: Mutation) -> Any:
    holder = {"": message}
    places = list(_places(holder))
    container, key = places[mutation.place % len(places)]
    match mutation.way:
        case "replace":
            container[key] = mutation.value
        case "wrap":
            container[key] = [container[key], mutation.value]
        case "rename" if isinstance(container, dict) and key != "":
            container[f"{key}_"] = container.pop(key)
        case "drop" if key != "":
            del container[key]
    return holder[""]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value: a container and the key in it."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in entries:
        yield value, key
        yield from _places(inner)
