"""Looks for the credentials of an agent: in variables and in the agent's own files, which are only ever read.

A file that is damaged, huge or no file at all holds no credential, for a reason that `doctor` tells: never an exception.
"""

from __future__ import annotations

import stat
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from ..agents.base import Agent
from ..agents.credentials import Credential, KeyFile

MOST_BYTES = 16 << 20
"""Claude's own state file grows to some megabytes; no file of keys is larger than this."""


class Found(Struct, frozen=True):
    credentials: list[Credential]
    problems: list[str]
    """One sentence for each file that is there and could not be used. No word of its content is in it."""


def has_credentials(agent: Agent, environ: Mapping[str, str], home: Path) -> bool:
    """Whether the agent can log in, as far as can be known without asking the other side."""
    if agent.credentials is None:
        return True
    now = time.time()
    return any(one.is_usable(now) for one in find_credentials(agent, environ, home).credentials)


def find_credentials(agent: Agent, environ: Mapping[str, str], home: Path) -> Found:
    """Variables first, then files, in the order in which the agent's adapter names them."""
    found = Found([], [])
    if agent.credentials is None:
        return found
    found.credentials.extend(agent.credentials.in_environment(environ))
    for file in agent.credentials.files:
        _look_into(file, file.path(environ, home), found)
    return found


def _look_into(file: KeyFile, path: Path, found: Found) -> None:
    try:
        held = list(file.read(_content(path)))
    except (FileNotFoundError, NotADirectoryError):
        return
    except _Unusable as reason:
        found.problems.append(f"{path} {reason}")
    except OSError as error:
        found.problems.append(f"{path} cannot be read: {error.strerror}")
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        # What the decoder says may quote what it stumbled over.
        found.problems.append(f"{path} is damaged, or of a version that is not known")
    else:
        found.credentials.extend(structs.replace(one, source=str(path)) for one in held)


class _Unusable(Exception):
    pass


def _content(path: Path) -> bytes:
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise _Unusable("is not a file")
    if facts.st_size > MOST_BYTES:
        raise _Unusable(f"is larger than {MOST_BYTES >> 20} MiB")
    with path.open("rb") as file:
        return file.read(MOST_BYTES)
