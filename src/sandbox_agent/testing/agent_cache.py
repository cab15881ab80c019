"""The real agents, in the versions that the tests are made for, unpacked from npm into a cache folder.

`python -m sandbox_agent.testing.agent_cache [NAME...]` fetches them with the machine's own `npm`; what is there
already is left alone. A package is unpacked beside its place and then renamed into it, so a folder that exists is whole.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

CACHE_VARIABLE = "SANDBOX_AGENT_TEST_CACHE"


class Package(Struct, frozen=True):
    """One npm package; `{arch}` in its spec becomes x64 or arm64."""

    spec: str
    into: str = ""
    without: str | None = None


class Tree(Struct, frozen=True):
    """A folder of the cache: one program with all that it needs beside it."""

    name: str
    version: str
    entry: str
    packages: tuple[Package, ...]
    runs_on_node: bool = False


NODE = Tree("node", "22.23.3", "bin/node", (Package("node-linux-{arch}@22.23.3"),))

AGENTS = {
    tree.name: tree
    for tree in (
        Tree("claude", "2.1.325", "claude", (Package("@anthropic-ai/claude-code-linux-{arch}@2.1.325"),)),
        Tree(
            "codex",
            "0.166.0",
            # The one binary alone is broken: it finds its sandbox and its code mode host by its own place.
            "vendor/{target}/bin/codex",
            (Package("@openai/codex@0.166.0-linux-{arch}", without="codex-resources/voice/"),),
        ),
        Tree("opencode", "1.18.33", "bin/opencode", (Package("opencode-linux-{arch}@1.18.33"),)),
        Tree(
            "pi",
            "1.5.0",
            "package/dist/bundle/cli.js",
            (
                Package("@earendil-works/pi-coding-agent@1.5.0", into="package"),
                Package("jiti@2.7.0", into="node_modules/jiti"),
                Package("@silvia-odwyer/photon-node@0.3.4", into="node_modules/@silvia-odwyer/photon-node"),
                Package("quickjs-wasi@3.6.2", into="node_modules/quickjs-wasi"),
            ),
            runs_on_node=True,
        ),
        Tree(
            "amp",
            "0.0.1777266064-g47b6f7",  # the newest whose loop runs in the client, and so without its service
            "node_modules/@sourcegraph/amp/dist/main.js",
            (
                Package("@sourcegraph/amp@0.0.1777266064-g47b6f7", into="node_modules/@sourcegraph/amp"),
                Package("@napi-rs/keyring@1.1.10", into="node_modules/@napi-rs/keyring"),
                Package(
                    "@napi-rs/keyring-linux-{arch}-gnu@1.1.10",
                    into="node_modules/@napi-rs/keyring-linux-{arch}-gnu",
                ),
            ),
            runs_on_node=True,
        ),
        Tree(
            "claude-agent-acp",
            "0.99.1",
            "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
            # Without the claude binary of the SDK: `CLAUDE_CODE_EXECUTABLE` names the one to run.
            (
                Package(
                    "@agentclientprotocol/claude-agent-acp@0.99.1",
                    into="node_modules/@agentclientprotocol/claude-agent-acp",
                ),
                Package("@agentclientprotocol/sdk@2.1.0", into="node_modules/@agentclientprotocol/sdk"),
                Package(
                    "@anthropic-ai/claude-agent-sdk@0.3.312",
                    into="node_modules/@anthropic-ai/claude-agent-sdk",
                ),
                Package("diff@9.0.0", into="node_modules/diff"),
                Package("zod@4.6.7", into="node_modules/zod"),
            ),
            runs_on_node=True,
        ),
    )
}


class CannotInstall(Exception):
    """Why an agent could not be put into the cache."""


def cache_folder() -> Path:
    """`SANDBOX_AGENT_TEST_CACHE`, else `.cache/agents` of the checkout, else the user's cache folder."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).absolute()
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "pyproject.toml").is_file():
        return checkout / ".cache" / "agents"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandbox-agent" / "agents"


def installed(name: str, cache: Path | None = None) -> Path | None:
    """The program of an agent, where its pinned version, or one put there by hand, is in the cache."""
    cache = cache or cache_folder()
    program = cache / "bin" / name
    if not program.exists():
        return None
    leads_to = os.readlink(program).encode() if program.is_symlink() else _beginning(program)
    is_ours = os.fsencode(cache / "trees") in leads_to
    is_pinned = os.fsencode(_folder(cache, AGENTS[name])) + b"/" in leads_to
    return None if is_ours and not is_pinned else program


def install(name: str, cache: Path | None = None) -> Path:
    """Put an agent into the cache, unless it is there, and return its program."""
    cache = cache or cache_folder()
    if present := installed(name, cache):
        return present
    tree = AGENTS[name]
    for needed in (NODE, tree) if tree.runs_on_node else (tree,):
        _unpack(needed, cache)
    return _link(tree, cache)


def version(program: Path) -> str:
    """What a program says of its version."""
    with tempfile.TemporaryDirectory(prefix="sandbox-agent-home-") as home:
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=home,
            env={"PATH": os.environ["PATH"], "HOME": home, "AMP_SKIP_UPDATE_CHECK": "1", "PI_OFFLINE": "1"},
        )
    if said.returncode:
        raise CannotInstall(f"{program} --version ended with {said.returncode}: {said.stderr.strip()}")
    return said.stdout.strip().splitlines()[0]


def _beginning(program: Path) -> bytes:
    with program.open("rb") as file:
        return file.read(4096)


def _platform() -> dict[str, str]:
    known = {
        ("Linux", "x86_64"): {"arch": "x64", "target": "x86_64-unknown-linux-musl"},
        ("Linux", "aarch64"): {"arch": "arm64", "target": "aarch64-unknown-linux-musl"},
    }
    here = (platform.system(), platform.machine())
    if here not in known:
        raise CannotInstall(
            f"the pinned agents are for Linux on x86_64 and aarch64, this is {here[0]} on {here[1]}: "
            f"install them yourself and put them into {cache_folder() / 'bin'}"
        )
    return known[here]


def _folder(cache: Path, tree: Tree) -> Path:
    return cache / "trees" / f"{tree.name}-{tree.version}"


def _unpack(tree: Tree, cache: Path) -> None:
    folder = _folder(cache, tree)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():
            return
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        for package in tree.packages:
            _fetch(package, partial)
        partial.rename(folder)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(package: Package, folder: Path) -> None:
    names = _platform()
    spec, into = package.spec.format(**names), folder / package.into.format(**names)
    print(f"fetching {spec}", file=sys.stderr, flush=True)
    into.mkdir(parents=True, exist_ok=True)
    # Beside the tree, not in /tmp, which is often small: the tarballs are large.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="npm-") as download:
        npm = shutil.which("npm")
        if npm is None:
            raise CannotInstall("npm is not on PATH")
        packed = subprocess.run(
            [npm, "pack", spec, "--ignore-scripts", "--pack-destination", download],
            cwd=download,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if packed.returncode:
            raise CannotInstall(f"npm pack {spec} ended with {packed.returncode}:\n{packed.stderr.strip()}")
        (tarball,) = Path(download).glob("*.tgz")
        _extract(tarball, into, package.without)


def _extract(tarball: Path, into: Path, without: str | None) -> None:
    with tarfile.open(tarball) as archive:
        for member in archive:
            _, _, inner = member.name.partition("/")  # npm puts everything below one folder
            if inner and not (without and without in inner):
                archive.extract(member.replace(name=inner, deep=False), into, filter="data")


def _link(tree: Tree, cache: Path) -> Path:
    entry = _folder(cache, tree) / tree.entry.format(**_platform())
    if not entry.is_file():
        raise CannotInstall(f"{tree.name} has no {entry}")
    program = cache / "bin" / tree.name
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_name(f".{tree.name}.{os.getpid()}.{threading.get_ident()}")
    if tree.runs_on_node:
        node = _folder(cache, NODE) / NODE.entry
        fresh.write_text(f'#!/bin/sh\nexec {shlex.quote(str(node))} {shlex.quote(str(entry))} "$@"\n')
        fresh.chmod(0o755)
    else:
        fresh.symlink_to(entry)
    fresh.replace(program)
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox_agent.testing.agent_cache",
        description="Fetch the agents that the tests drive.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(AGENTS)}; all without a name"
    )
    names = parser.parse_args(arguments).names or list(AGENTS)
    if unknown := sorted(set(names) - AGENTS.keys()):
        parser.error(f"no such agent: {', '.join(unknown)}")
    failed = False
    for name in names:
        try:
            program = installed(name) or install(name)
            print(f"{program}  {version(program)}", flush=True)
        except CannotInstall as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
