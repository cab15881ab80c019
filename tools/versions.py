"""Every file that names the version. `make release` stamps them; a test fails if one of them says something else.

`docs/openapi.json` and others follow from these by `make gen`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

PYTHON = "src/sandbox_agent/__init__.py"
"""What everything else must agree with."""

STAMPED = {
    PYTHON: r'^__version__ = "(.+)"$',
    "pyproject.toml": r'^version = "(.+)"$',
    "sdks/typescript/src/version.ts": r'^export const VERSION = "(.+)";$',
}
"""The line in which a file names the version."""

OURS = re.compile(r"@?sandbox-agentd[a-z0-9/-]*")
"""The names of our npm packages, which require each other in the same version."""


def current(root: Path) -> str:
    found = re.search(STAMPED[PYTHON], (root / PYTHON).read_text(), re.MULTILINE)
    assert found
    return found[1]


def named(root: Path) -> Iterator[tuple[str, str]]:
    """Each place that names a version, with the version that it names."""
    for file, line in STAMPED.items():
        for version in re.findall(line, (root / file).read_text(), re.MULTILINE):
            yield file, version
    for manifest in manifests(root):
        file, content = str(manifest.relative_to(root)), msgspec.json.decode(manifest.read_bytes())
        yield file, content["version"]
        # A lock file repeats the package itself and those it links to.
        for folder, package in content.get("packages", {}).items():
            if OURS.fullmatch(package.get("name", "")):
                yield f"{file} ({folder or 'root'})", package["version"]
        for kind in ("dependencies", "optionalDependencies", "peerDependencies"):
            for name, version in content.get(kind, {}).items():
                # `file:../typescript` is whatever that folder says.
                if OURS.fullmatch(name) and not version.startswith("file:"):
                    yield f"{file} ({name})", version.lstrip("^~")


def manifests(root: Path) -> list[Path]:
    """The manifests of our npm packages, and their lock files."""
    return sorted(
        file
        for pattern in ("sdks/*/package.json", "sdks/*/package-lock.json")
        for file in root.glob(pattern)
        if "version" in msgspec.json.decode(file.read_bytes())
    )


def stamp(root: Path, version: str) -> list[Path]:
    """Write the version into every place; the files that changed."""
    before, changed = current(root), []
    for file, line in STAMPED.items():
        pattern = line.replace("(.+)", re.escape(before))
        new = line.strip("^$").replace("(.+)", version)
        changed.append(_replace(root / file, pattern, new))
    for manifest in manifests(root):
        text = manifest.read_text()
        for place in (rf'("name": "{OURS.pattern}",\s+"version": ")', rf'("{OURS.pattern}": "[\^~]?)'):
            text = re.sub(rf'{place}{re.escape(before)}"', rf'\g<1>{version}"', text)
        manifest.write_text(text)
        changed.append(manifest)
    return changed


def _replace(file: Path, pattern: str, new: str) -> Path:
    text, count = re.subn(pattern, new, file.read_text(), flags=re.MULTILINE)
    assert count == 1, f"{file} does not name the version once"
    file.write_text(text)
    return file
