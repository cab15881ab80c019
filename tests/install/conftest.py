"""A site to download from, and an installer isolated from this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox_agent.install.installer import Installer
from sandbox_agent.install.machine import Machine

from .site import Site, serving

LINUX = Machine("linux", "x64", "glibc")
NO_NPM = "npm: no npm settings: no npmrc and no npm_config_registry names a registry, and npm is not on PATH"

MakeInstaller = Callable[..., Installer]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data directory."""
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a shell and its tools, and without agents, node or npm. The folder is the first on it."""
    tools, own = tmp_path / "tools", tmp_path / "path"
    tools.mkdir()
    own.mkdir()
    for name in ("sh", "dirname", "readlink", "env", "echo", "cat"):
        source = next(place for place in ("/bin", "/usr/bin") if os.path.exists(f"{place}/{name}"))
        (tools / name).symlink_to(f"{source}/{name}")
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{own}{os.pathsep}{tools}")
    return own


@pytest.fixture
def environ(tmp_path: Path, bare_machine: Path) -> dict[str, str]:
    """What the installer sees of the environment. A global npmrc of the machine is kept out."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "npm_config_globalconfig": str(tmp_path / "no-npmrc"),
    }


@pytest.fixture
def installer(folder: Path, environ: dict[str, str]) -> MakeInstaller:
    def make(mirror: str | None = None, machine: Machine = LINUX, **variables: str) -> Installer:
        return Installer(folder, mirror, {**environ, **variables}, machine)

    return make
