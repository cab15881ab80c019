"""Why a program does not run, or an agent cannot be installed, on this machine."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from .machine import Machine
from .node import is_new_enough
from .publishers import MAIN_MACHINES, NODE_OLDEST, RECIPES
from .version import ask_version

PT_INTERP = 3


def why_not_here(agent: str, machine: Machine, environ: Mapping[str, str]) -> str | None:
    """Why an agent cannot be installed on this machine; None if it can."""
    recipe = RECIPES.get(agent)
    if recipe is None or machine.key in recipe.builds:
        return None
    there = f"there is no build for {machine.key}, only for {', '.join(recipe.builds)}"
    if not any(tree.runs_on_node for tree in recipe.npm):
        return there
    if machine.key in MAIN_MACHINES or _has_node(environ):
        return None
    return f"{there}, and the JavaScript version needs Node.js {'.'.join(map(str, NODE_OLDEST))} or newer"


def why_it_does_not_run(program: Path, environ: Mapping[str, str]) -> str | None:
    """A reason that can be found without running it: a missing loader or interpreter."""
    try:
        with program.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if head.startswith(b"#!"):
        return _about_script(head.splitlines()[0][2:].decode(errors="replace").split(), environ)
    if not head.startswith(b"\x7fELF"):
        return None
    loader = _loader(head)
    if loader and not os.path.exists(loader):
        libc = "musl" if "musl" in loader else "glibc"
        return f"it is built for {libc}, but {loader} does not exist"
    return None


def _about_script(words: list[str], environ: Mapping[str, str]) -> str | None:
    if not words:
        return None
    interpreter = words[1] if words[0].endswith("/env") and len(words) > 1 else words[0]
    found = shutil.which(interpreter, path=environ.get("PATH"))
    if found is None:
        return f"it needs {interpreter}, which is not installed"
    if Path(interpreter).name == "node" and not _has_node(environ):
        return f"it needs Node.js {'.'.join(map(str, NODE_OLDEST))} or newer"
    return None


def _has_node(environ: Mapping[str, str]) -> bool:
    found = shutil.which("node", path=environ.get("PATH"))
    version = ask_version(Path(found), environ) if found else None
    return version is not None and is_new_enough(version)


def _loader(head: bytes) -> str | None:
    """The dynamic loader of a 64-bit little-endian program; None if it needs none."""
    if len(head) < 64 or head[4:6] != b"\x02\x01":
        return None
    offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    for index in range(count):
        place = offset + index * size
        if place + 40 > len(head):
            return None
        (kind,) = struct.unpack_from("<I", head, place)
        start, length = (
            struct.unpack_from("<Q", head, place + 8)[0],
            struct.unpack_from("<Q", head, place + 32)[0],
        )
        if kind == PT_INTERP:
            return head[start : start + length].rstrip(b"\0").decode(errors="replace")
    return None
