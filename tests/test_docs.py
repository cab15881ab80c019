"""The docs name everything there is."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import sandbox_agent
from sandbox_agent.agents import AGENTS
from sandbox_agent.config import Config
from sandbox_agent.errors import ERRORS
from sandbox_agent.ops import OPERATIONS
from sandbox_agent.schema.events import EVENT_TYPES

ROOT = Path(__file__).parents[1]


def headings(name: str) -> set[str]:
    return set(re.findall(r"^## (.+)$", (ROOT / "docs" / name).read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "things"),
    [
        ("events.md", EVENT_TYPES),
        ("operations.md", OPERATIONS),
        ("errors.md", ERRORS),
        ("agents.md", AGENTS),
        ("settings.md", ["--" + name.replace("_", "-") for name in Config.__struct_fields__]),
    ],
)
def test_every_thing_has_a_heading(page: str, things: list[str]) -> None:
    assert headings(page) == set(things)


def test_the_changelog_knows_this_version() -> None:
    versions = re.findall(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == sandbox_agent.__version__


def test_the_package_and_its_metadata_agree_on_the_version() -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None
    assert declared[1] == sandbox_agent.__version__


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_example_in_the_docs_that_is_json_is_json() -> None:
    for page in sorted((ROOT / "docs").glob("*.md")):
        for block in re.findall(r"```json\n(.*?)```", page.read_text(), re.DOTALL):
            msgspec.json.decode(block)


def test_every_test_that_a_page_names_exists() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = {
        name
        for page in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"`(test_\w+)`", page.read_text())
    }
    assert named
    assert {name for name in named if f"def {name}(" not in tests} == set()
