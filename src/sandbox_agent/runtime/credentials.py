"""Looks for an agent's credentials in environment variables and in the agent's own files, which are only read.

A file that is damaged, too large or not a regular file holds no credential and raises no exception; `doctor` shows the reason.
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

MAX_BYTES = 16 << 20
"""Claude's state file grows to a few megabytes; no credentials file is larger than this."""


class Found(Struct, frozen=True):
    credentials: list[Credential]
    problems: list[str]
    """One sentence for each file that exists and could not be used. It never quotes the content."""


def has_credentials(agent: Agent, environ: Mapping[str, str], home: Path) -> bool:
    """Whether the agent can probably log in. The provider is not asked."""
    if agent.credentials is None:
        return True
    now = time.time()
    return any(credential.is_usable(now) for credential in find_credentials(agent, environ, home).credentials)


def find_credentials(agent: Agent, environ: Mapping[str, str], home: Path) -> Found:
    """Variables first, then files, in the order the adapter lists them."""
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
        # The decoder's message may quote the content.
        found.problems.append(f"{path} is damaged, or has an unknown format")
    else:
        found.credentials.extend(structs.replace(credential, source=str(path)) for credential in held)


class _Unusable(Exception):
    pass


def _content(path: Path) -> bytes:
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise _Unusable("is not a file")
    if facts.st_size > MAX_BYTES:
        raise _Unusable(f"is larger than {MAX_BYTES >> 20} MiB")
    with path.open("rb") as file:
        return file.read(MAX_BYTES)
