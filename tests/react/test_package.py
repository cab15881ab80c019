"""The React package without a browser: its own tests, its types, and what is shipped."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.npm_packages import REACT, run

import sandbox_agent

from .conftest import EXAMPLE, ROOT, Project

DOCS = ROOT / "docs" / "react.mdx"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_recording_becomes_a_transcript_that_can_be_drawn(packed: Path) -> None:
    run("node", "node_modules/vitest/vitest.mjs", "run", folder=REACT)


@pytest.mark.slow
def test_the_types_are_right_here_and_in_a_project_that_uses_them(
    packed: Path, project: Callable[..., Project]
) -> None:
    run("node", "node_modules/typescript/bin/tsc", "--noEmit", folder=REACT)
    project().types()


@pytest.mark.slow
def test_a_project_with_the_resolution_that_knows_no_exports_finds_the_types(
    packed: Path, project: Callable[..., Project]
) -> None:
    project().types("--module", "esnext", "--moduleResolution", "node10")


@pytest.mark.slow
def test_what_is_packed_is_the_build_and_its_sources(packed: Path) -> None:
    [tarball] = packed.glob("sandbox-agentd-react-*.tgz")
    with tarfile.open(tarball) as files:
        names = {name.removeprefix("package/") for name in files.getnames()}
    assert {"package.json", "README.md", "dist/index.js", "dist/index.d.ts", "dist/styles.css"} <= names
    assert {name.split("/")[0] for name in names} <= {"package.json", "README.md", "LICENSE", "dist", "src"}


def test_the_package_has_the_daemons_version() -> None:
    package = json.loads((REACT / "package.json").read_text())
    assert package["version"] == sandbox_agent.__version__
    assert package["peerDependencies"]["sandbox-agentd"] == f"^{sandbox_agent.__version__}"


def test_the_lock_file_names_no_address() -> None:
    """`npm run lock` removes the addresses that npm writes."""
    assert re.findall(r"https?://.*", (REACT / "package-lock.json").read_text()) == []


def test_the_chat_has_forty_lines_and_is_the_one_that_the_docs_show() -> None:
    chat = (EXAMPLE / "chat.tsx").read_text()
    assert chat.count("\n") <= 40
    assert f"```tsx\n{chat}```" in DOCS.read_text()


def test_every_variable_of_the_theme_is_in_the_docs() -> None:
    theme = (REACT / "src" / "styles" / "theme.css").read_text()
    variables = set(re.findall(r"^  (--[\w-]+):", theme, re.MULTILINE))
    documented = set(re.findall(r"--[a-z][\w-]*", DOCS.read_text()))
    assert {name for name in variables if not re.match(r"--(ansi|code-)", name)} <= documented


def test_every_class_of_the_styles_has_the_packages_prefix() -> None:
    styles = "\n".join(file.read_text() for file in (REACT / "src" / "styles").glob("*.css"))
    selectors = re.findall(r"^.+[,{]$", styles, re.MULTILINE)
    names = set(re.findall(r"\.([a-zA-Z][\w-]*)", "\n".join(selectors)))
    assert "sa-card" in names
    assert {name for name in names if not name.startswith("sa-")} == {"sandbox-agent"}


def test_every_class_in_the_docs_is_used() -> None:
    code = "\n".join(file.read_text() for file in (REACT / "src").rglob("*.tsx"))
    used = set(re.findall(r"sa-[\w-]+", code)) | {f"sa-{role}" for role in ("user", "assistant", "system")}
    documented = set(re.findall(r"`(sa-[\w-]+)`", DOCS.read_text())) - {"sa-"}
    assert "sa-card" in documented
    assert documented <= used


def test_the_inspector_is_built_on_the_package_and_on_the_sdk() -> None:
    sources = [path.read_text() for path in (ROOT / "inspector" / "src").rglob("*.ts*")]
    imported = set(re.findall(r'from "((?:chat|sandbox-agentd)\b[^"]*)"', "\n".join(sources)))
    assert {"chat/index", "sandbox-agentd"} <= imported
    # One place wraps `fetch` to log requests, and another checks whether a server answers at all.
    assert sum(len(re.findall(r"\bawait fetch\(", source)) for source in sources) == 2
    assert not any("EventSource" in source or "getReader()" in source for source in sources)
