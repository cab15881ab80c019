"""The oldest Python that is allowed, which is the one that Debian 12 ships: it installs an agent and serves."""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.install.site import program, publish_release, serving, tarball

ROOT = Path(__file__).parents[2]
OLDEST = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]  # type: ignore[index]
DEBIANS = "/usr/bin/python3"


def version_of(python: str) -> str:
    asked = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


needs_oldest = pytest.mark.skipif(
    not os.path.exists(DEBIANS) or version_of(DEBIANS) != OLDEST,
    reason=f"{DEBIANS} is not Python {OLDEST}: on Debian 12, apt-get install python3 python3-venv",
)


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A venv of the oldest Python that finds the packages of this one, which a minor version shares."""
    if sys.version_info[:2] != tuple(map(int, OLDEST.split(".")[:2])):
        pytest.skip("the packages of this Python are of another minor version")
    subprocess.run([DEBIANS, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    folder = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    (folder / "borrowed.pth").write_text("\n".join([str(ROOT / "src"), *site.getsitepackages()]))
    return str(tmp_path / "venv" / "bin" / "python")


@needs_oldest
def test_the_oldest_python_installs_an_agent_and_runs_a_turn(python: str, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with serving() as publisher:
        name = f"codex-package-{os.uname().machine}-unknown-linux-musl.tar.gz"
        packed = tarball({"bin/codex": program("0.166.0"), "codex-resources/notes": b"notes"})
        publish_release(publisher, "codex", "rust-v0.166.0", name, packed)
        install = [python, "-m", "sandbox_agent", "install-agent", "codex", "--from", publisher.address]
        done = subprocess.run([*install, "--json"], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["installed"][0]["version"] == "0.166.0"
    run = [python, "-m", "sandbox_agent", "run", "mock", "hello"]
    ran = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "You said: hello (message 1 of this conversation)\n")


@needs_oldest
@pytest.mark.long
def test_a_checkout_is_set_up_with_the_oldest_python(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    subprocess.run(["make", "-s", "compiled", f"PYTHON={DEBIANS}"], cwd=clone, check=True, timeout=600)
    version = [str(clone / ".venv" / "bin" / "sandbox-agent"), "--version"]
    assert subprocess.run(version, capture_output=True, check=True).stdout.startswith(b"sandbox-agent ")


def test_an_older_python_is_refused_by_make_with_the_version_that_is_needed(tmp_path: Path) -> None:
    """The recipe checks the version first; here, this Python pretends to be older."""
    old = tmp_path / "python"
    set_back = "import sys; sys.version_info = (3, 11, 1); exec(sys.argv[1])"
    old.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} -c \'{set_back}\' "$2"\nexit 9\n')
    old.chmod(0o700)
    made = subprocess.run(
        ["make", "--always-make", ".venv/run", f"PYTHON={old}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.returncode != 0
    assert f"sandbox-agent needs Python {OLDEST} or newer" in made.stderr
    assert "choose another with PYTHON=" in made.stderr


def test_an_older_python_is_refused_by_pip_before_anything_is_downloaded(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import collections, sys\n"
        "version = collections.namedtuple('version', 'major minor micro releaselevel serial')\n"
        "sys.version_info = version(3, 11, 1, 'final', 0)\n"
    )
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-index",
        "--no-build-isolation",
        "--target",
        str(tmp_path),
    ]
    refused = subprocess.run(
        [*pip, str(ROOT)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode != 0
    assert f"sandbox-agent needs Python {OLDEST} or newer" in refused.stderr
    assert "Collecting" not in refused.stdout
    # With isolation, this is what would be downloaded first.
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"] == []
