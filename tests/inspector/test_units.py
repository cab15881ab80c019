"""The page's own parts, without a browser: Vitest on every recording, the type checker, and what is shipped."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sandbox_agent.http.inspector import FOLDER

CHECKOUT = Path(__file__).parents[2]
SOURCE = CHECKOUT / "inspector"


def run(*command: str, folder: Path = SOURCE) -> str:
    """The output of a command, which must succeed."""
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def node_modules(request: pytest.FixtureRequest) -> None:
    if not (SOURCE / "node_modules" / "vitest").exists():
        why = "its packages are not installed (`make test` does that where npm is)"
        request.node.user_properties.append(("no_browser", why))
        pytest.skip(why)


@pytest.mark.usefixtures("node_modules")
@pytest.mark.slow
def test_every_recording_becomes_a_transcript_that_can_be_drawn() -> None:
    run("node", "node_modules/vitest/vitest.mjs", "run")


@pytest.mark.usefixtures("node_modules")
@pytest.mark.slow
def test_the_types_are_right() -> None:
    run("node", "node_modules/typescript/bin/tsc", "--noEmit")


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (SOURCE / "package-lock.json").read_text()


@pytest.mark.slow
def test_the_wheel_carries_the_page(tmp_path: Path) -> None:
    if not (FOLDER / "index.html").exists():
        pytest.skip("the page is not built: make setup")
    copy = tmp_path / "checkout"
    shutil.copytree(CHECKOUT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tools").mkdir()
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".gitignore",
        "tools/build_backend.py",
        "tools/build_page.py",
    ):
        shutil.copy(CHECKOUT / name, copy / name)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), folder=copy)
    [wheel] = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if "/ui/" in name}
    prefix = "sandbox_agent/http/ui/"
    assert packed == {
        prefix + path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()
    }
