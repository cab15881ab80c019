"""The docs name everything there is, and every page of the site can be reached."""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tools.site.mdx import slug

import sandbox_agent
from sandbox_agent.agents import AGENTS, TRANSLATORS
from sandbox_agent.cli import command_line
from sandbox_agent.config import Config
from sandbox_agent.errors import ERRORS
from sandbox_agent.openapi import document
from sandbox_agent.ops import OPERATIONS
from sandbox_agent.schema.events import EVENT_TYPES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in sorted(DOCS.rglob("*.mdx"))}


def headings(name: str) -> set[str]:
    return set(re.findall(r"^## (.+)$", PAGES[name].read_text(), re.MULTILINE))


def sections(name: str) -> set[str]:
    return set(re.findall(r'^<Accordion title="(.+?)"', PAGES[name].read_text(), re.MULTILINE))


def test_everything_has_a_heading() -> None:
    assert headings("session-transcript-schema") == EVENT_TYPES.keys()
    assert headings("errors") == ERRORS.keys()
    assert headings("settings") == {"--" + name.replace("_", "-") for name in Config.__struct_fields__}
    assert sections("http-api") == OPERATIONS.keys()
    assert sections("events") >= EVENT_TYPES.keys()
    assert {f"agents/{name}" for name in AGENTS} <= PAGES.keys()


def test_the_reference_says_where_to_send_each_field() -> None:
    text, paths = PAGES["http-api"].read_text(), document()["paths"]
    missing = [
        (operation.name, parameter["name"])
        for operation in OPERATIONS.values()
        for parameter in paths[operation.path][operation.method.lower()]["parameters"]
        if f"\n- `{parameter['name']}` ({parameter['in']}"
        not in text.partition(f'<Accordion title="{operation.name}"')[2].partition("</Accordion>")[0]
    ]
    assert missing == []


def test_the_reference_explains_each_field() -> None:
    assert re.findall(r"^- `.+`(?: \(.+\))?$", PAGES["http-api"].read_text(), re.MULTILINE) == []


def test_every_operation_is_in_the_reference_of_both_sdks() -> None:
    source = (ROOT / "sdks" / "typescript" / "src" / "methods.ts").read_text().partition("METHODS = {")[2]
    methods = dict(re.findall(r'^  "([\w.]+)": "([\w.]+)",$', source, re.MULTILINE))
    assert methods.keys() == OPERATIONS.keys()
    assert {f"client.{name}()" for name in OPERATIONS} - sections("sdk-python-methods") == set()
    assert {f"client.{name}()" for name in methods.values()} - sections("sdk-typescript-methods") == set()


def test_every_agent_has_the_facts_that_pages_compare() -> None:
    facts = (
        "reports_tokens",
        "reports_cost",
        "mcp_timeout",
        "mcp_reports",
        "finds_skills",
        "commands_from",
        "carries",
    )
    compared = {name: agent for name, agent in TRANSLATORS.items() if name != "mock"}
    missing = [
        f"{name}: {fact}" for name, agent in compared.items() for fact in facts if not getattr(agent, fact)
    ]
    assert missing == []


def test_the_changelog_knows_this_version() -> None:
    versions = re.findall(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == sandbox_agent.__version__


def test_the_package_and_its_metadata_agree_on_the_version() -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None
    assert declared[1] == sandbox_agent.__version__


# -- the site -----------------------------------------------------------------------------------


def navigation(node: Any) -> Iterator[str]:
    """The pages below a group of `docs.json`, in order."""
    for page in node["pages"]:
        if isinstance(page, str):
            yield page
        else:
            yield from navigation(page)


def test_every_page_is_in_the_navigation_once() -> None:
    groups = msgspec.json.decode((DOCS / "docs.json").read_bytes())["navigation"]["groups"]
    listed = [page for group in groups for page in navigation(group)]
    assert sorted(listed) == sorted(PAGES)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def anchors(page: Path) -> set[str]:
    """What a link can lead to: headings, and sections that fold."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#{2,4} (.+)$", text, re.MULTILINE)
    return set(map(slug, titles)) | set(re.findall(r'\bid="([^"]+)"', text))


def leads_nowhere(page: Path, target: str) -> bool:
    address, _, anchor = target.partition("#")
    name = address.removeprefix("/")
    if name in PAGES or not address:
        return anchor != "" and anchor not in anchors(PAGES[name] if address else page)
    return not (DOCS / name).is_file() if address.startswith("/") else "://" not in address


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name: str) -> None:
    page = PAGES[name]
    assert [target for target in links(page.read_text()) if leads_nowhere(page, target)] == []


def test_links_of_other_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("sdks/*/README.md"), *ROOT.glob("examples/**/README.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in documents
        if "node_modules" not in page.parts
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_a_directory_has_one_name() -> None:
    """Pages and help say "directory". Names in code, prompts and the inspector may say "folder"."""
    prose = {
        name: re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for name, page in PAGES.items()
    }
    del prose["inspector"]
    assert {name for name, text in prose.items() if re.search(r"\bfolders?\b", text)} == set()
    help_texts = re.findall(r'"(?:description|summary)": "(.*)"', (DOCS / "openapi.json").read_text())
    assert [text for text in help_texts if re.search(r"(?<!`)\bfolders?\b", text)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_a_title_and_a_description(name: str) -> None:
    assert re.match(r'---\ntitle: ".+"\ndescription: ".+"\n---\n\n', PAGES[name].read_text())


def test_every_example_in_the_docs_that_is_json_is_json() -> None:
    for page in PAGES.values():
        for block in re.findall(r"```json\n(.*?)```", page.read_text(), re.DOTALL):
            msgspec.json.decode(block)


def test_every_page_that_the_code_names_exists() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tools").rglob("*.py"), ROOT / "Makefile"]
    named = {name for file in files for name in re.findall(r"\bdocs/([\w/-]+)\.mdx?\b", file.read_text())}
    assert named - PAGES.keys() == set()


def test_every_test_that_a_page_names_exists() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = {
        name
        for page in PAGES.values()
        for name in re.findall(r"`(?:[\w/]+\.py::)?(test_\w+)`", page.read_text())
    }
    assert named
    assert {name for name in named if f"def {name}(" not in tests} == set()


def commands_in(text: str) -> Iterator[list[str]]:
    """The commands in blocks that no test runs, each up to the next command of its line."""
    for block in re.findall(r"^ *```console.*?\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"^ *\$ (.+)$", block.replace("\\\n", " "), re.MULTILINE):
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            for is_control, group in itertools.groupby(words, key=lambda word: set(word) <= set("();<>|&")):
                command = list(itertools.dropwhile(lambda word: re.match(r"\w+=", word), group))
                if not is_control and command and Path(command[0]).name == "sandbox-agent":
                    yield command[1:]


def test_every_command_on_a_page_can_be_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "parser", functools.cache(command_line.parser))
    commands = [words for page in PAGES.values() for words in commands_in(page.read_text())]
    assert len(commands) > 60
    for words in commands:
        assert command_line.parse(words)._handler
