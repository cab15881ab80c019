"""Builds `dist/sandbox-agent-linux-x64`, one file for machines without Python: `make dist`."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PYINSTALLER = "pyinstaller==6.22.3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "sandbox-agent-linux-x64")
    output: Path = parser.parse_args().output
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        bundle = freeze(Path(folder))
        write(bundle, output, Path(folder) / "payload.tar.gz")
    print(f"{os.path.relpath(output)}: {output.stat().st_size / 1e6:.0f} MB")


def freeze(work: Path) -> Path:
    """A folder with the interpreter and everything it loads."""
    python = environment(work)
    packages = subprocess.run(
        [python, "-c", "import sandbox_agent; print(sandbox_agent.__path__[0])"],
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    run(
        python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "--onedir", "--contents-directory", "lib",
        "--name", "sandbox-agent", "--distpath", work / "bundle", "--workpath", work / "build", "--specpath", work,
        "--collect-submodules", "sandbox_agent", "--collect-submodules", "uvicorn.protocols",
        # As files, too: parts of the daemon are started by their path.
        "--add-data", f"{packages}:sandbox_agent",
        "--copy-metadata", "sandbox-agentd",
        "--exclude-module", "tkinter", "--exclude-module", "sandbox_agent.testing.store_contract",
        HERE / "entry.py",
    )  # fmt: skip
    return work / "bundle" / "sandbox-agent"


def environment(work: Path) -> Path:
    """An interpreter with the package, its pinned requirements and PyInstaller."""
    run(sys.executable, "-m", "venv", work / "venv")
    python = work / "venv" / "bin" / "python"
    pip: list[str | os.PathLike[str]] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    run(*pip, "--require-hashes", "-r", ROOT / "requirements" / "run.txt")
    run(*pip, PYINSTALLER)
    run(*pip, "--no-deps", "--no-build-isolation", ROOT)
    return python


def write(bundle: Path, output: Path, payload: Path) -> None:
    """The launcher, then the compressed folder."""
    with tarfile.open(payload, "w:gz", compresslevel=9) as archive:
        for file in sorted(bundle.iterdir()):
            archive.add(file, file.name)
    digest = hashlib.sha256(payload.read_bytes()).hexdigest()
    unpacked = sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file())
    launcher = (HERE / "launcher.sh").read_text()
    facts = {
        "VERSION": version(),
        "GLIBC": needed_glibc(bundle),
        "DIGEST": digest[:16],
        "LINES": str(launcher.count("\n") + 1),
        "MEGABYTES": str(unpacked // 1_000_000 + 1),
    }
    for name, value in facts.items():
        launcher = launcher.replace(f"@{name}@", value)
    part = output.with_name(output.name + ".part")
    with part.open("wb") as made, payload.open("rb") as content:
        made.write(launcher.encode())
        shutil.copyfileobj(content, made)
    part.chmod(0o755)
    part.replace(output)


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found
    return found[1]


def needed_glibc(bundle: Path) -> str:
    """The newest symbol version that any of the libraries asks for."""
    newest = (0, 0)
    for file in bundle.rglob("*"):
        if file.is_file() and (content := file.read_bytes()).startswith(b"\x7fELF"):
            for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content):
                newest = max(newest, (int(major), int(minor)))
    return "{}.{}".format(*newest)


def run(*command: str | os.PathLike[str]) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
