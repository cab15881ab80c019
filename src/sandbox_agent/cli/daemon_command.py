"""`daemon start|restart|stop|status`: a daemon in the background that the other commands find and use."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from .. import __version__
from ..client.child import Child
from ..config import Config
from ..errors import InvalidRequest
from ..presence import STATE_FILE
from ..private_files import log_file
from .daemon_log import LOG_FILE
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .output import print_facts, print_json, say, wants_json
from .remote import Address, Remote
from .server import config_of
from .state import DaemonState, data_dir, forget, is_alive, lock_holder, running_daemon, save
from .table import SETTINGS

STOP_SECONDS = 30.0
POLL_SECONDS = 0.02


def start(args: argparse.Namespace) -> int:
    config = config_of(args)
    folder = data_dir(args)
    if state := running_daemon(folder):
        say(f"a daemon is already running at {state.endpoint}")
        _print(_facts(state, alreadyRunning=True), args)
        return 0
    flags = (*_flags(args), "--data-dir", str(folder))
    return _start(args, folder, flags, _token(config))


def restart(args: argparse.Namespace) -> int:
    """Keep the address and the token, so that clients can reconnect."""
    folder = data_dir(args)
    config = config_of(args)
    state = running_daemon(folder)
    if state is None:
        say("no daemon is running; starting one")
        return start(args)
    _stop(folder, state)
    port = urlsplit(state.endpoint).port
    # If a flag is repeated, the last one counts.
    flags = (*state.flags, f"--port={port}", *_flags(args))
    token = _token(config) if _names_token(config) else state.token
    return _start(args, folder, flags, token, state.directory)


def _start(
    args: argparse.Namespace,
    folder: Path,
    flags: tuple[str, ...],
    token: str | None,
    directory: str | None = None,
) -> int:
    state = launch(folder, flags, token, directory)
    from ..http.inspector import address_of  # not needed by the other commands

    # Output to a file may be kept, so it must not contain the token.
    shown = token if sys.stderr.isatty() else None
    say(f"inspector {address_of(state.endpoint, shown)}")
    if shown is None and token is not None:
        say(f"the token is in {folder / STATE_FILE}")
    _print(_facts(state, alreadyRunning=False), args)
    return 0


def launch(
    folder: Path, flags: tuple[str, ...], token: str | None, directory: str | None = None
) -> DaemonState:
    """Start a daemon that outlives this program, and wait until it listens."""
    if holder := lock_holder(folder):
        raise CommandFailed(
            f"another daemon (pid {holder}) is starting or stopping on {folder}: try again in a moment, "
            "or use a different --data-dir"
        )
    there = directory if directory and os.path.isdir(directory) else os.getcwd()
    child = Child(flags, token, _new_log(folder), cwd=there, ends_with_us=False)
    with Remote(child) as remote:
        state = DaemonState(
            child.process.pid,
            remote.address.endpoint,
            token,
            __version__,
            background=True,
            flags=flags,
            directory=there,
        )
        save(folder, state)
        child.leave()
    return state


def stop(args: argparse.Namespace) -> int:
    folder = data_dir(args)
    state = running_daemon(folder)
    if state is None and lock_holder(folder) is None:
        forget(folder)
        say("no daemon is running")
        _print({"stopped": False}, args)
        return 0
    stopped = _stop(folder, state)
    _print({"stopped": True, "pid": stopped.pid}, args)
    return 0


def _stop(folder: Path, state: DaemonState | None) -> DaemonState:
    """Stop a daemon started by `daemon start` and wait until it has exited."""
    if state is None or not state.background:
        raise CommandFailed(
            f"the daemon on this data directory (pid {lock_holder(folder)}) was not started by `daemon start`: stop it yourself"
        )
    os.kill(state.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while is_alive(state.pid) and lock_holder(folder) == state.pid:
        if time.monotonic() > deadline:
            raise CommandFailed(
                f"the daemon (pid {state.pid}) is still running after {STOP_SECONDS:.0f} seconds"
            )
        time.sleep(POLL_SECONDS)
    forget(folder)
    say(f"stopped the daemon at {state.endpoint}")
    return state


def status(args: argparse.Namespace) -> int:
    """Exit code 0 only if a daemon runs and is ready."""
    folder = data_dir(args)
    state = running_daemon(folder)
    if state is None:
        holder = lock_holder(folder)
        say(f"a daemon (pid {holder}) is starting or stopping" if holder else "no daemon is running")
        _print({"running": False, "dataDir": str(folder)}, args)
        return 1
    with Remote(Address(state.endpoint, state.token)) as remote:
        try:
            remote.get("/v1/ready")
            ready = True
        except ProblemAnswered as problem:
            say(problem.readable())
            ready = False
    _print({"running": True, "ready": ready, **_facts(state), "dataDir": str(folder)}, args)
    return 0 if ready else 1


def _new_log(folder: Path) -> IO[bytes]:
    """The daemon's log. Creates the data directory if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = log_file(folder / LOG_FILE)
        # The first line takes a block of the disk, so that a daemon that finds the disk full has room to say so.
        log.write(f"sandbox-agent {__version__}\n".encode())
        log.flush()
    except OSError as error:
        raise CommandFailed(f"cannot use --data-dir {folder}: {error.strerror}") from None
    return log


def _token(config: Config) -> str | None:
    """The configured token; otherwise a new one, unless the daemon runs without."""
    from ..http.token import given_token

    try:
        given = given_token(config)
    except InvalidRequest as error:
        raise WrongUsage(error.detail) from None
    if given is not None:
        return given.text
    return None if config.no_token or config.insecure_no_token else secrets.token_urlsafe(24)


def _names_token(config: Config) -> bool:
    return any((config.token, config.token_file, config.no_token, config.insecure_no_token))


def _flags(args: argparse.Namespace) -> Iterator[str]:
    """The given flags, except those passed in other ways."""
    for setting in SETTINGS:
        value = getattr(args, setting.name, None)
        if value is None or setting.name in ("token", "token_file", "no_token", "data_dir"):
            continue
        if setting.kind == "switch":
            yield setting.flag
            continue
        for entry in value if setting.kind == "list" else [value]:
            yield f"{setting.flag}={entry}"


def _facts(state: DaemonState, **more: Any) -> dict[str, Any]:
    return {"endpoint": state.endpoint, "pid": state.pid, "version": state.version, **more}


def _print(facts: dict[str, Any], args: argparse.Namespace) -> None:
    if wants_json(args):
        print_json(facts)
    elif facts.get("endpoint"):
        print_facts(facts)
