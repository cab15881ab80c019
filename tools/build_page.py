"""Ensures that a wheel or an sdist contains the inspector: hatchling runs this before packaging.

A page that is up to date is used as it is, so that a wheel can be built from an sdist without Node.js. An editable
install serves what `make setup` builds.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/sandbox_agent/http/ui/index.html"
SOURCES = ("inspector", "sdks/typescript/src", "sdks/react/src", "docs/compatibility.mdx")
STEPS = (
    ("node", "check-node.cjs"),
    # Not --silent, which leaves out the reason of a failure too.
    ("npm", "ci", "--loglevel=error", "--no-progress", "--no-audit", "--no-fund", "--omit=dev"),
    ("npx", "--no-install", "vite", "build", "--logLevel", "warn"),
)


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if version != "editable" and not is_built(root):
            build(root)


def is_built(root: Path) -> bool:
    page = root / PAGE
    return page.is_file() and page.stat().st_mtime >= max(map(_modified, _sources(root)), default=0)


def _sources(root: Path) -> list[Path]:
    files = (file for source in SOURCES for file in ((root / source), *(root / source).rglob("*")))
    return [file for file in files if "node_modules" not in file.parts and file.is_file()]


def _modified(file: Path) -> float:
    return file.stat().st_mtime


def build(root: Path) -> None:
    for step in STEPS:
        if shutil.which(step[0]) is None:
            raise SystemExit(
                f"the inspector's page is not built, and there is no {step[0]} to build it with: "
                "install Node.js 20.19 or newer, or build from an sdist, which holds the page"
            )
        ended = subprocess.run(step, cwd=root / "inspector", capture_output=True, text=True)
        if ended.returncode != 0:
            output = (ended.stderr or ended.stdout).strip()
            raise SystemExit(f"the inspector's page could not be built: `{' '.join(step)}` failed:\n{output}")
    (root / PAGE).touch()
