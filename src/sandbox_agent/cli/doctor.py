"""`doctor`: checks this machine and says how to fix what is wrong."""

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
from .output import can_draw, console, print_json, size, wants_json
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
        print_json({"ok": all(finding.state != "broken" for finding in found), "findings": found})
    else:
        _show(found)
    return 1 if any(finding.state == "broken" for finding in found) else 0


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
        todo = "only on Linux is it guaranteed that no agent process is left behind"
        return Finding("machine", "warning", detail, todo)
    return Finding("machine", "ok", detail)


def _user() -> Finding:
    if os.geteuid() == 0:
        return Finding("user", "ok", "root; agents in permission mode `bypass` have root access")
    return Finding("user", "ok", f"uid {os.geteuid()}")


def _folder(folder: Path) -> Finding:
    at = next(path for path in (folder, *folder.parents) if path.exists())
    if not at.is_dir() or not os.access(at, os.W_OK | os.X_OK):
        todo = f"make {at} writable, or choose another with --data-dir or {PREFIX}DATA_DIR"
        return Finding("data directory", "broken", f"{folder} is not writable", todo)
    free = shutil.disk_usage(at).free
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    detail = f"{folder}, {size(used)} used, {size(free)} free"
    if free < ENOUGH_BYTES:
        todo = "free some space: on a full disk, new messages are refused (`sandbox-agent sessions prune`)"
        return Finding("data directory", "warning", detail, todo)
    return Finding("data directory", "ok", detail)


def _daemon(args: argparse.Namespace, folder: Path) -> Finding:
    named = getattr(args, "endpoint", None) or os.environ.get(f"{PREFIX}ENDPOINT")
    if named or running_daemon(folder):
        return _answering(args)
    if holder := lock_holder(folder):
        return Finding("daemon", "ok", f"a program (pid {holder}) runs its own daemon on this data directory")
    return _port(Config().host, int(os.environ.get(f"{PREFIX}PORT") or Config().port))


def _answering(args: argparse.Namespace) -> Finding:
    try:
        with Remote(find_address(args)) as remote:
            version = remote.get("/v1/health")["version"]
            remote.get("/v1/ready")
            remote.get("/v1/sessions", {"limit": "1"})
    except CommandFailed as failure:
        todo = "read `sandbox-agent daemon logs`; `sandbox-agent daemon restart` restarts it"
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
            todo = "stop the program on that port, use another --port, or connect to it with --endpoint"
            return Finding(
                "daemon", "broken", f"not running, and {host}:{port} is in use: {error.strerror}", todo
            )
    return Finding("daemon", "ok", f"not running; {host}:{port} is free")


def _sources() -> Finding:
    """Where agents are downloaded from."""
    if mirror := os.environ.get(f"{PREFIX}MIRROR"):
        if "://" not in mirror and not Path(mirror).expanduser().is_dir():
            return Finding(
                "sources",
                "broken",
                f"{PREFIX}MIRROR is {mirror}, which is not a directory",
                "fix or unset it",
            )
        return Finding("sources", "ok", f"agents are downloaded only from the mirror {mirror}")
    settings = read_npm_settings(os.environ)
    if settings.registry is None:
        todo = (
            "if the publishers cannot be reached, set npm_config_registry or use a mirror (docs/install.mdx)"
        )
        return Finding(
            "sources", "ok", "agents are downloaded from their publishers; there are no npm settings", todo
        )
    return Finding(
        "sources",
        "ok",
        f"agents are downloaded from their publishers, then from the npm registry (set by {settings.named_by})",
    )


def _agent(agent: Agent, programs: Programs) -> Iterator[Finding]:
    path = programs.find(agent)
    if path is None:
        if why := why_not_here(agent.name, this_machine(), os.environ):
            yield Finding(agent.name, "warning", f"not installed: {why}", "put your own build on PATH")
            return
        todo = f"`sandbox-agent install-agent {agent.name}`; `run` also installs it"
        yield Finding(agent.name, "warning", "not installed", todo)
        yield from _credentials(agent, None)
        return
    version = asyncio.run(programs.version(agent, path))
    if version is None:
        todo = f"run `{path} --version` to see why, or `sandbox-agent install-agent {agent.name} --reinstall`"
        why = why_it_does_not_run(path, os.environ)
        detail = f"{path} does not report its version{f': {why}' if why else ''}"
        yield Finding(agent.name, "broken", detail, todo)
    elif agent.tested_version and version != agent.tested_version:
        todo = f"most versions work; if this one does not, run `sandbox-agent install-agent {agent.name} --version {agent.tested_version}`"
        yield Finding(
            agent.name, "warning", f"{version} at {path}; the tested version is {agent.tested_version}", todo
        )
    else:
        yield Finding(agent.name, "ok", f"{version} at {path}")
    yield from _credentials(agent, path)


def _credentials(agent: Agent, program: Path | None) -> Iterator[Finding]:
    if agent.credentials is None:
        return
    now = time.time()
    found = find_credentials(agent, os.environ, Path.home())
    usable = [credential.source for credential in found.credentials if credential.is_usable(now)]
    todo = how_to_log_in(agent, program)
    for problem in found.problems:
        yield Finding(agent.name, "warning", problem, todo)
    if usable:
        detail = f"credentials in {', '.join(dict.fromkeys(usable))}"
        yield Finding(agent.name, "ok", detail, f'`sandbox-agent run {agent.name} "Explain this folder"`')
    elif found.credentials:
        expired = ", ".join(credential.source for credential in found.credentials)
        yield Finding(agent.name, "warning", f"credentials have expired: {expired}", todo)
    else:
        yield Finding(agent.name, "warning", "no credentials found", todo)


def _show(found: list[Finding]) -> None:
    for finding in found:
        mark = {"ok": "✓", "warning": "!", "broken": "✗"}[finding.state]
        _print((mark, STYLES[finding.state]), (f" {finding.about:<14} {finding.detail}", ""))
        if finding.todo:
            _print((f"  {'':<14} → {finding.todo}", "dim"))


def _print(*parts: tuple[str, str]) -> None:
    """A line of texts, each with its style."""
    if not can_draw():
        print("".join(text for text, _ in parts))
        return
    from rich.text import Text

    console().print(Text.assemble(*parts))
