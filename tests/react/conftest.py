"""The React package as a user gets it: packed, and installed into a project with the example."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.npm_packages import REACT, SDK, pack, run

from ..inspector.conftest import (
    browser,
    chromium_address,
    complaints,
    context,
    new_page,
    pytest_runtest_setup,
)

__all__ = ["browser", "chromium_address", "complaints", "context", "new_page", "pytest_runtest_setup"]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "react"


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK and the React package as `npm pack` makes them."""
    if shutil.which("npm") is None:
        why = "NO npm ON THIS MACHINE: the React package is not tested"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return pack(tmp_path_factory)


class Project:
    """A project that uses the package: the example, and what it needs from the registry."""

    def __init__(self, folder: Path, packed: Path, react: str = "") -> None:
        self.folder = folder
        shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
        modules = folder / "node_modules"
        # Copies, by hard links: a link to the folder would find another React beside its target.
        shutil.copytree(REACT / "node_modules", modules, copy_function=os.link, symlinks=True)
        shutil.copytree(
            SDK / "node_modules" / "eventsource-parser", modules / "eventsource-parser", copy_function=os.link
        )
        if react:
            for name in ("react", "react-dom"):
                shutil.rmtree(modules / name)
                (modules / f"{name}-{react}").rename(modules / name)
        for name in ("sandbox-agentd", "sandbox-agentd-react"):
            (modules / name).mkdir()
            [tarball] = packed.glob(f"{name}-[0-9]*.tgz")
            run("tar", "xzf", tarball, "--strip-components=1", "-C", modules / name, folder=folder)

    def vite(self, daemon: str) -> Path:
        run("node", "node_modules/vite/bin/vite.js", "build", folder=self.folder, env={"VITE_DAEMON": daemon})
        return self.folder / "dist"

    def esbuild(self, daemon: str, *options: str) -> Path:
        built = self.folder / "dist"
        run(
            "node_modules/.bin/esbuild",
            "chat.tsx",
            "--bundle",
            "--splitting",
            "--format=esm",
            "--jsx=automatic",
            *(options or ("--minify",)),
            f"--outdir={built}",
            f'--define:import.meta.env.VITE_DAEMON="{daemon}"',
            "--define:import.meta.env.VITE_TOKEN=undefined",
            folder=self.folder,
        )
        page = (self.folder / "index.html").read_text().replace("./chat.tsx", "./chat.js")
        (built / "index.html").write_text(
            page.replace("</head>", '<link rel="stylesheet" href="./chat.css" /></head>')
        )
        return built

    def types(self, *options: str) -> None:
        run("node", "node_modules/typescript/bin/tsc", "--noEmit", *options, folder=self.folder)


@pytest.fixture
def project(packed: Path, tmp_path: Path) -> Callable[..., Project]:
    return lambda react="": Project(tmp_path / f"project{react}", packed, react)


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a web server for one page, and the folder that it serves."""
    folder = tmp_path / "site"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
    thread.join()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
