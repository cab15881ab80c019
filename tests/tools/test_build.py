"""What is shipped: a wheel and an sdist contain the inspector's page, or the build fails with the reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox_agent.install.archive import unpack

ROOT = Path(__file__).parents[2]
PAGE = "sandbox_agent/http/ui/index.html"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a build needs of this checkout, as in a fresh clone: without a page."""
    for name in ("src", "inspector", "sdks", "docs"):
        ignored = shutil.ignore_patterns("ui", "node_modules", "__pycache__", "images")
        shutil.copytree(ROOT / name, tmp_path / "checkout" / name, ignore=ignored)
    (tmp_path / "checkout" / "tools").mkdir()
    for name in (
        "tools/build_backend.py",
        "tools/build_page.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".gitignore",
    ):
        shutil.copy(ROOT / name, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def build(checkout: Path, target: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", checkout / "dist"],
        cwd=checkout,
        env={"PATH": "/nowhere", **env},
        capture_output=True,
        text=True,
    )


def with_page(checkout: Path) -> None:
    page = checkout / "src" / PAGE
    page.parent.mkdir()
    page.write_text("the page")


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_a_build_that_cannot_make_the_page_fails_with_the_reason(checkout: Path, target: str) -> None:
    failed = build(checkout, target)
    assert failed.returncode != 0
    assert "there is no node to build it with: install Node.js 20.19 or newer" in failed.stderr
    assert not list((checkout / "dist").glob("*"))


def test_what_is_built_holds_the_page_and_an_sdist_builds_without_node(
    checkout: Path, tmp_path: Path
) -> None:
    with_page(checkout)
    for target in ("wheel", "sdist"):
        made = build(checkout, target)
        assert made.returncode == 0, made.stderr
    (wheel,) = (checkout / "dist").glob("*.whl")
    assert PAGE in zipfile.ZipFile(wheel).namelist()
    (sdist,) = (checkout / "dist").glob("*.tar.gz")
    unpack(sdist, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build(unpacked, "wheel")
    assert again.returncode == 0, again.stderr
    (wheel,) = (unpacked / "dist").glob("*.whl")
    assert PAGE in zipfile.ZipFile(wheel).namelist()


def test_pip_builds_the_same_wheel(checkout: Path, tmp_path: Path) -> None:
    with_page(checkout)
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        *offline,
        "--wheel-dir",
        str(tmp_path / "pip"),
        str(checkout),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    assert build(checkout, "wheel").returncode == 0
    (ours,), (theirs,) = (checkout / "dist").glob("*.whl"), (tmp_path / "pip").glob("*.whl")
    assert PAGE in zipfile.ZipFile(theirs).namelist()
    assert zipfile.ZipFile(theirs).namelist() == zipfile.ZipFile(ours).namelist()


@pytest.mark.parametrize("source", ["inspector/index.html", "docs/compatibility.mdx"])
def test_a_page_older_than_one_of_its_sources_is_built_again(checkout: Path, source: str) -> None:
    with_page(checkout)
    for file in filter(Path.is_file, checkout.rglob("*")):
        os.utime(file, (0, 0))
    assert build(checkout, "wheel").returncode == 0
    os.utime(checkout / source, (1, 1))
    failed = build(checkout, "wheel")
    assert failed.returncode != 0
    assert "there is no node to build it with" in failed.stderr


needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm not found")


@needs_npm
def test_a_node_that_is_too_old_is_named_with_the_version_that_is_needed(checkout: Path) -> None:
    old = checkout / "old.cjs"
    old.write_text('Object.defineProperty(process, "versions", { value: { node: "18.20.4" } });')
    failed = build(checkout, "wheel", PATH=os.environ["PATH"], NODE_OPTIONS=f"--require {old}")
    assert failed.returncode != 0
    assert "the inspector needs Node.js 20.19 or newer, and " in failed.stderr
    assert " is 18.20.4" in failed.stderr


@needs_npm
def test_an_npm_that_fails_says_why(checkout: Path) -> None:
    unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    home = {"HOME": str(checkout), "PATH": os.environ["PATH"]}
    failed = build(checkout, "wheel", **home, **unreachable)
    assert failed.returncode != 0
    assert "could not be built: `npm ci " in failed.stderr
    assert "ECONNREFUSED" in failed.stderr
