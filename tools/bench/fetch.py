"""Gets the peer's program with the ordinary npm client, once, into the cache of the checkout."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

VERSION = "0.4.2"
PACKAGE = "@sandbox-agent/cli-linux-x64"
PROGRAM = "package/bin/sandbox-agent"


def peer_program(cache: Path) -> Path:
    folder = cache / f"peer-{VERSION}"
    program = folder / PROGRAM
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    archive = folder / packed.stdout.split()[-1]
    with tarfile.open(archive) as tar:
        tar.extract(PROGRAM, folder, filter="data")
    archive.unlink()
    program.chmod(0o755)
    return program
