"""Every page compiles as MDX, with stand-ins for Mintlify's components, and `docs.json` is what Mintlify accepts."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "tools" / "site" / "node"


@pytest.mark.slow
def test_every_page_compiles() -> None:
    if shutil.which("node") is None or not (PACKAGE / "node_modules").is_dir():
        if os.environ.get("CI"):
            pytest.fail("Node.js or the packages of tools/site/node are missing")
        pytest.skip("Node.js or the packages of tools/site/node are missing: `make docs` installs them")
    done = subprocess.run(["node", PACKAGE / "check.mjs"], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" pages, 0 problems\n")


def test_the_lock_file_names_no_address() -> None:
    """`npm run lock` removes the addresses that npm writes."""
    assert "://" not in (PACKAGE / "package-lock.json").read_text()
