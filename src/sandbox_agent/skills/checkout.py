"""Fetches one commit of a repository and writes its files, without the user's git configuration and within limits.

git runs behind a guardian, so that the time limit ends everything it started. A limit on the size of files bounds what a server
can make it write, and the sizes in the commit are added up before any file is.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from ..processes.guarded import GONE_SECONDS, Guarded
from .refusal import SourceRefused
from .repository import Repository

SECONDS = 60.0
"""The time limit of a fetch, over all its git commands."""
MAX_FETCHED_BYTES = 128 << 20
MAX_BYTES = 64 << 20
"""Total size of the files of a source."""
MAX_FILES = 10_000
MAX_MEMORY_BYTES = 2 << 30

_LIMITED = 'ulimit -f "$1" && { ulimit -v "$2" 2>/dev/null || :; } && shift 2 && exec "$@"'
"""Units of 512 bytes for files and of a kilobyte for memory, in every POSIX shell."""
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "core.autocrlf": "false",
    "credential.helper": "",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "transfer.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol -crlf\n"
"""For every file: its bytes are written unchanged."""
_SSH = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=20"
_INHERITED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SSH_AUTH_SOCK|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_\w+|CURL_CA_BUNDLE|GIT_SSL_CAINFO",
    re.IGNORECASE,
)


class Checkout:
    """A repository in a folder of its own, which must be empty."""

    def __init__(self, folder: Path, repository: Repository, instance: str) -> None:
        self.tree = folder / "tree"
        """The files of the commit."""
        self._git_dir = folder / "git"
        self._repository = repository
        self._instance = instance
        self._deadline = time.monotonic() + SECONDS

    async def fetch(self, subpath: str) -> str:
        """Write the files below a folder of the repository. Returns the commit."""
        if shutil.which("git") is None:
            raise SourceRefused("git is not installed on the daemon's machine")
        self._create()
        url, _, ref = self._repository
        await self._git(
            "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, ref
        )
        commit = (await self._git("rev-parse", "--verify", "FETCH_HEAD^{commit}")).decode().strip()
        tree = f"{commit}:{subpath}" if subpath else commit
        _check_sizes(await self._git("ls-tree", "-r", "-l", "-z", tree, "--"))
        await self._git("read-tree", tree)
        await self._git("checkout-index", "--all", "--force")
        await asyncio.to_thread(shutil.rmtree, self._git_dir, ignore_errors=True)
        return commit

    def _create(self) -> None:
        """A repository without hooks and settings, as no template has touched it."""
        for folder in ("objects", "refs", "info"):
            (self._git_dir / folder).mkdir(parents=True, mode=0o700)
        (self._git_dir / "HEAD").write_text("ref: refs/heads/none\n")
        (self._git_dir / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        (self._git_dir / "info" / "attributes").write_text(_ATTRIBUTES)
        self.tree.mkdir(mode=0o700)

    async def _git(self, *words: str) -> bytes:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = await self._run(words, output.fileno(), errors.fileno())
            errors.seek(0)
            output.seek(0)
            if code != 0 and self._is_full():
                raise SourceRefused(f"it is larger than {MAX_FETCHED_BYTES >> 20} MiB")
            if code != 0:
                raise SourceRefused(_reason(errors.read(4_000)) or f"`git {words[0]}` failed")
            return output.read(MAX_BYTES)

    def _is_full(self) -> bool:
        """A file has reached the limit, so git was killed."""
        packs = self._git_dir.glob("objects/pack/*")
        return any(pack.stat().st_size >= MAX_FETCHED_BYTES for pack in packs)

    async def _run(self, words: tuple[str, ...], output: int, errors: int) -> int | None:
        gone = asyncio.Event()
        guarded = Guarded(self._instance, gone.set)
        limits = [str(MAX_FETCHED_BYTES // 512), str(MAX_MEMORY_BYTES // 1024)]
        argv = ["/bin/sh", "-c", _LIMITED, "sh", *limits, "git", *words]
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            guarded.start(argv, self._environment(), str(self.tree), nothing, output, errors)
        finally:
            os.close(nothing)
        try:
            await asyncio.wait_for(gone.wait(), max(0.1, self._deadline - time.monotonic()))
        except TimeoutError:
            raise SourceRefused(f"it was not fetched in {SECONDS:g} seconds") from None
        finally:
            if not guarded.is_gone:
                guarded.stop(at_once=True)
                await asyncio.wait_for(gone.wait(), GONE_SECONDS)
            guarded.reap()
        return guarded.returncode

    def _environment(self) -> dict[str, str]:
        scheme = self._repository.scheme
        # A redirect must not lead from this machine to another one.
        config = {**_CONFIG, "http.followRedirects": "false" if scheme == "http" else "initial"}
        return {
            **_inherited(os.environ),
            **({"no_proxy": "*", "NO_PROXY": "*"} if scheme == "http" else {}),
            "LC_ALL": "C",
            "GIT_DIR": str(self._git_dir),
            "GIT_WORK_TREE": str(self.tree),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": scheme,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS": "true",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CONFIG_COUNT": str(len(config)),
            **{f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(config)},
            **{f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(config.values())},
        }


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """How to find git, the user's ssh keys, a proxy and certificates."""
    return {name: value for name, value in environ.items() if _INHERITED.fullmatch(name)}


def _check_sizes(listed: bytes) -> None:
    entries = [entry.split(b"\t")[0].split() for entry in listed.split(b"\0") if entry]
    if len(entries) > MAX_FILES:
        raise SourceRefused(f"it has more than {MAX_FILES} files: name a directory with `subpath`")
    # The size of a submodule is `-`; it is not fetched.
    if sum(int(size) for *_, size in entries if size.isdigit()) > MAX_BYTES:
        raise SourceRefused(f"its files exceed {MAX_BYTES >> 20} MiB: name a directory with `subpath`")


def _reason(errors: bytes) -> str:
    """The line in which git says why it failed, without what a terminal would obey."""
    lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    fatal = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return "".join(each for each in fatal if each.isprintable()).removeprefix("fatal: ")[:300]
