"""Builds everything that a release consists of into `dist/`, with checksums: `make packages`.

A wheel and an sdist with the inspector inside, the single file, and the npm packages: the SDK, and the command with the
single file inside.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.versions import current

ROOT = Path(__file__).parents[1]
SUMS = "SHA256SUMS"
SINGLE = "sandbox-agent-linux-x64"
KINDS = ("python", "single", "npm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", choices=KINDS, nargs="+", default=KINDS, help="what to build")
    args = parser.parse_args()
    for file in build(args.output.absolute(), args.only):
        print(f"{file.stat().st_size / 1e6:7.1f} MB  {file.name}")


def build(output: Path, kinds: tuple[str, ...] | list[str] = KINDS) -> list[Path]:
    """Build into a folder beside `output`, and put what is complete in its place."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".artifacts-") as folder:
        made = Path(folder)
        if "python" in kinds:
            python(made)
        if "single" in kinds:
            single(made)
        if "npm" in kinds:
            npm(made, made / SINGLE if "single" in kinds else output / SINGLE)
        files = sorted(made.iterdir())
        for file in files:
            file.replace(output / file.name)
    return [output / file.name for file in files] + [write_sums(output)]


def python(output: Path) -> None:
    # Times of the last commit, so that the same commit gives the same bytes.
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    env = {**os.environ, "SOURCE_DATE_EPOCH": when.stdout.strip()}
    run(sys.executable, "-m", "hatchling", "build", "-d", output, env=env)


def single(output: Path) -> None:
    run(sys.executable, "-m", "tools.onefile", "--output", output / SINGLE)


def npm(output: Path, program: Path) -> None:
    if not program.is_file():
        raise SystemExit(f"{program} is missing: the npm package of the command contains it (`make dist`)")
    packages = sorted(manifest.parent for manifest in (ROOT / "sdks").glob("*/package.json"))
    # The React package is built on the SDK, and its target makes both.
    run("make", "--silent", "react" if ROOT / "sdks/react" in packages else "sdk")
    for package in packages:
        pack(package, output, program)


def pack(package: Path, output: Path, program: Path) -> None:
    if package.name.startswith("cli"):
        with tempfile.TemporaryDirectory() as folder:
            staged = Path(shutil.copytree(package, Path(folder) / package.name))
            shutil.copy(ROOT / "LICENSE", staged)
            if package.name != "cli":
                shutil.copy(program, staged / "sandbox-agent")
            run("npm", "pack", "--silent", "--pack-destination", output, cwd=staged)
    else:
        run("npm", "pack", "--silent", "--pack-destination", output, cwd=package)


def write_sums(output: Path) -> Path:
    """The checksums of this version's files, for `sha256sum --check`."""
    files = [file for file in sorted(output.iterdir()) if file.name == SINGLE or current(ROOT) in file.name]
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (output / SUMS).write_text("".join(lines))
    return output / SUMS


def run(*command: str | os.PathLike[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
