"""`doctor`: looks at everything that has to be right on this machine, and says what to do about what is not."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from .. import __version__
from ..agents import AGENTS
from ..agents.base import Agent
from ..config import PREFIX, Config
from ..install.diagnosis import why_it_does_not_run, why_not_here
from ..install.machine import this_machine
from ..install.npm_settings import read_npm_settings
from ..runtime.credentials import find_credentials
from ..runtime.programs import Programs
from .credentials import how_to_log_in
from .failures import CommandFailed
from .output import console, print_json, size, wants_json
from .remote import Remote, find_address
from .state import data_dir, lock_holder, running_daemon

ENOUGH_BYTES = 100 << 20
STYLES = {"ok": "green", "warning": "yellow", "broken": "red"}


class Finding(Struct, frozen=True, omit_defaults=True):
    about: str
    state: Literal["ok", "warning", "broken"]
    detail: str
    todo: str | None = None


def doctor(args: argparse.Namespace) -> int:
    found = list(findings(args))
    if wants_json(args):
        print_json({"ok": all(one.state != "broken" for one in found), "findings": found})
    else:
        _show(found)
    return 1 if any(one.state == "broken" for one in found) else 0


def findings(args: argparse.Namespace) -> Iterator[Finding]:
    folder = data_dir(args)
    yield _machine()
    yield _user()
    yield _folder(folder)
    yield _daemon(args, folder)
    yield _sources()
    programs = Programs(folder)
    for agent in AGENTS.values():
        yield from _agent(agent, programs)


def _machine() -> Finding:
    libc = " ".join(platform.libc_ver()).strip() or this_machine().libc or "libc unknown"
    detail = f"sandbox-agent {__version__}, Python {platform.python_version()}, {sys.platform} {platform.machine()}, {libc}"
    if sys.platform != "linux":
        todo = "use Linux where no process may be left behind: elsewhere that is best effort"
        return Finding("machine", "warning", detail, todo)
    return Finding("machine", "ok", detail)


def _user() -> Finding:
    if os.geteuid() == 0:
        return Finding("user", "ok", "root; permission mode `bypass` works, with all that root may do")
    return Finding("user", "ok", f"uid {os.geteuid()}")


def _folder(folder: Path) -> Finding:
    at = next(path for path in (folder, *folder.parents) if path.exists())
    if not at.is_dir() or not os.access(at, os.W_OK | os.X_OK):
        todo = f"make {at} writable, or choose another with --data-dir or {PREFIX}DATA_DIR"
        return Finding("data folder", "broken", f"{folder} cannot be written", todo)
    free = shutil.disk_usage(at).free
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    detail = f"{folder}, {size(used)} used, {size(free)} free"
    if free < ENOUGH_BYTES:
        todo = "make space: without it new messages are refused (`sandbox-agent sessions prune`)"
        return Finding("data folder", "warning", detail, todo)
    return Finding("data folder", "ok", detail)


def _daemon(args: argparse.Namespace, folder: Path) -> Finding:
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    if named or running_daemon(folder):
        return _answering(args)
    if holder := lock_holder(folder):
        return Finding("daemon", "ok", f"a program's own (pid {holder}) runs on this data folder")
    return _port(Config().host, int(os.environ.get(f"{PREFIX}PORT") or Config().port))


def _answering(args: argparse.Namespace) -> Finding:
    try:
        with Remote(find_address(args)) as remote:
            version = remote.get("/v1/health")["version"]
            remote.get("/v1/ready")
            remote.get("/v1/sessions", {"limit": "1"})
    except CommandFailed as failure:
        todo = "look at the daemon's log; `sandbox-agent daemon stop` and `daemon start` start over"
        return Finding("daemon", "broken", str(failure), todo)
    if version != __version__:
        todo = "restart the daemon with this version"
        return Finding("daemon", "warning", f"version {version} at {remote.address.endpoint}", todo)
    return Finding("daemon", "ok", f"version {version} at {remote.address.endpoint}")


def _port(host: str, port: int) -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            todo = "end what listens there, give --port, or name that daemon with --endpoint"
            return Finding(
                "daemon", "broken", f"none runs, and {host}:{port} is taken: {error.strerror}", todo
            )
    return Finding("daemon", "ok", f"none runs; {host}:{port} is free")


def _sources() -> Finding:
    """Where agents would be fetched from."""
    if mirror := os.environ.get(f"{PREFIX}MIRROR"):
        if "://" not in mirror and not Path(mirror).expanduser().is_dir():
            return Finding(
                "sources", "broken", f"{PREFIX}MIRROR names {mirror}, which is no folder", "mend or unset it"
            )
        return Finding("sources", "ok", f"agents come from the mirror {mirror} alone")
    settings = read_npm_settings(os.environ)
    if settings.registry is None:
        todo = "set npm_config_registry where the publishers cannot be reached, or give a mirror (docs/install.md)"
        return Finding("sources", "ok", "agents come from their publishers; there are no npm settings", todo)
    return Finding(
        "sources",
        "ok",
        f"agents come from their publishers, then from npm's registry (named by {settings.named_by})",
    )


def _agent(agent: Agent, programs: Programs) -> Iterator[Finding]:
    path = programs.find(agent)
    if path is None:
        if why := why_not_here(agent.name, this_machine(), os.environ):
            yield Finding(agent.name, "warning", f"not installed: {why}", "put a program of your own on PATH")
            return
        todo = f"`sandbox-agent install-agent {agent.name}`; the first `run` installs it too"
        yield Finding(agent.name, "warning", "not installed", todo)
        yield from _credentials(agent, None)
        return
    version = asyncio.run(programs.version(agent, path))
    if version is None:
        todo = f"run `{path} --version` to see why, or `sandbox-agent install-agent {agent.name} --reinstall`"
        why = why_it_does_not_run(path, os.environ)
        told = f"{path} does not tell its version{f': {why}' if why else ''}"
        yield Finding(agent.name, "broken", told, todo)
    elif agent.tested_version and version != agent.tested_version:
        todo = f"most versions work; if not, `sandbox-agent install-agent {agent.name} --version {agent.tested_version}`"
        yield Finding(agent.name, "warning", f"{version} at {path}; tested is {agent.tested_version}", todo)
    else:
        yield Finding(agent.name, "ok", f"{version} at {path}")
    yield from _credentials(agent, path)


def _credentials(agent: Agent, program: Path | None) -> Iterator[Finding]:
    if agent.credentials is None:
        return
    now = time.time()
    found = find_credentials(agent, os.environ, Path.home())
    usable = [one.source for one in found.credentials if one.is_usable(now)]
    todo = how_to_log_in(agent, program)
    for problem in found.problems:
        yield Finding(agent.name, "warning", problem, todo)
    if usable:
        told = f"credentials in {', '.join(dict.fromkeys(usable))}"
        yield Finding(agent.name, "ok", told, f'`sandbox-agent run {agent.name} "Explain this folder"`')
    elif found.credentials:
        expired = ", ".join(one.source for one in found.credentials)
        yield Finding(agent.name, "warning", f"credentials have expired: {expired}", todo)
    else:
        yield Finding(agent.name, "warning", "no credentials found", todo)


def _show(found: list[Finding]) -> None:
    from rich.text import Text

    terminal = console()
    for one in found:
        mark = {"ok": "✓", "warning": "!", "broken": "✗"}[one.state]
        terminal.print(Text.assemble((mark, STYLES[one.state]), f" {one.about:<12} {one.detail}"))
        if one.todo:
            terminal.print(Text(f"  {'':<12} → {one.todo}", style="dim"))
