"""`fleet`: sandboxes that share a log."""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import SandboxAgentError
from .confirming import confirmed
from .failures import CommandFailed, ProblemAnswered, WrongUsage
from .output import print_json, print_rows, say, wants_json
from .state import data_dir

if TYPE_CHECKING:
    from ..providers.provider import Provider, SandboxSpec

Found = TypeVar("Found")

FLEET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)


def serve(args: argparse.Namespace) -> int:
    from ..fleet import serve as serving
    from ..fleet.fleet import FleetSettings

    token_file = _file(args, "token_file")
    settings = FleetSettings(
        name=_fleet_name(args),
        token=_token(token_file),
        token_file=token_file,
        database_url_file=_file(args, "database_url_file"),
        secrets_key_file=_file(args, "secrets_key_file") if args.secrets_key_file else None,
        flags=tuple(args.server_flag or ()),
        gateway_flags=tuple(f"--allow-host={host}" for host in args.allow_host or ()),
        idle_seconds=args.idle_seconds,
        most_sandboxes=args.max_sandboxes,
        look_seconds=min(1.0, max(0.05, args.idle_seconds / 4)),
    )
    try:
        return serving.serve(_provider(args), settings, serving.Listening(args.host, args.port))
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None


def list_sandboxes(args: argparse.Namespace) -> int:
    found = _run(args, lambda provider: provider.list())
    rows: list[dict[str, Any]] = [
        {"name": each.name, "state": each.state, "endpoint": each.endpoint} for each in found
    ]
    if wants_json(args):
        print_json({"sandboxes": rows})
    else:
        print_rows(("name", "state", "endpoint"), rows, empty="no sandboxes")
    return 0


def start(args: argparse.Namespace) -> int:
    spec = _spec(args)
    sandbox = _run(args, lambda provider: provider.start(spec))
    say(f"sandbox {sandbox.name} runs at {sandbox.endpoint}")
    return 0


def stop(args: argparse.Namespace) -> int:
    _require(args)
    _run(args, lambda provider: provider.stop(args.name))
    say(f"stopped sandbox {args.name}; its files are kept")
    return 0


def remove(args: argparse.Namespace) -> int:
    _require(args)
    if not args.yes:
        if not sys.stdin.isatty():
            raise WrongUsage("stdin is not a terminal: use --yes to delete")
        if not confirmed(
            f"permanently delete the files of sandbox {args.name}? Its sessions can still be read, but not continued"
        ):
            say("nothing was deleted")
            return 1
    _run(args, lambda provider: provider.remove(args.name))
    say(f"removed sandbox {args.name}")
    return 0


def _require(args: argparse.Namespace) -> None:
    if _run(args, lambda provider: provider.get(args.name)) is None:
        raise CommandFailed(f"there is no sandbox {args.name}")


def _run(args: argparse.Namespace, ask: Callable[[Provider], Coroutine[Any, Any, Found]]) -> Found:
    async def work() -> Found:
        provider = _provider(args)
        try:
            return await ask(provider)
        finally:
            await provider.close()

    try:
        return asyncio.run(work())
    except SandboxAgentError as error:
        raise ProblemAnswered(error.problem()) from None


def _spec(args: argparse.Namespace) -> SandboxSpec:
    from ..providers.provider import SandboxSpec

    token_file = _file(args, "token_file")
    _token(token_file)
    return SandboxSpec(
        name=args.name,
        token_file=token_file,
        database_url_file=_file(args, "database_url_file"),
        secrets_key_file=_file(args, "secrets_key_file") if args.secrets_key_file else None,
        flags=tuple(args.server_flag or ()),
    )


def _provider(args: argparse.Namespace) -> Provider:
    name = _fleet_name(args)
    if args.provider == "docker":
        from ..providers.docker import DockerProvider
        from ..providers.engine import Engine

        return DockerProvider(Engine(Path(args.docker_socket)), name, args.image, args.docker_network)
    from ..providers.local import LocalProvider

    return LocalProvider(data_dir(args) / "fleets" / name)


def _fleet_name(args: argparse.Namespace) -> str:
    if not FLEET_NAME.fullmatch(args.fleet):
        raise WrongUsage(
            "--fleet: expected 1 to 32 characters of a-z 0-9 _ -, beginning with a letter or digit"
        )
    return str(args.fleet)


def _file(args: argparse.Namespace, name: str) -> Path:
    """A file that the sandboxes read, too; it must be there now, not only when one is started."""
    flag = f"--{name.replace('_', '-')}"
    given = getattr(args, name, None)
    if given is None:
        raise WrongUsage(f"{flag} is missing: all sandboxes of a fleet need it")
    path = Path(given).expanduser().absolute()
    if not path.is_file():
        raise WrongUsage(f"{flag} {given} is not a file")
    return path


def _token(file: Path) -> str:
    from ..config import Config
    from ..http.token import given_token

    token = given_token(Config(token_file=str(file)))
    assert token is not None
    return token.text
