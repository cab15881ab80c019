"""All files name one version, and a release stamps every one of them."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

import pytest

import sandbox_agent
from tools import release, versions

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that name the version, and the changelog."""
    files = [
        *versions.STAMPED,
        *(str(file.relative_to(ROOT)) for file in versions.manifests(ROOT)),
        "CHANGELOG.md",
    ]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_every_file_names_the_same_version() -> None:
    assert {
        place: version for place, version in versions.named(ROOT) if version != sandbox_agent.__version__
    } == {}


def test_a_stamp_changes_every_place_and_nothing_else(copy: Path) -> None:
    before = {file: file.read_text() for file in copy.rglob("*.*") if file.is_file()}
    places = dict(versions.named(copy))
    changed = versions.stamp(copy, "97.98.99")
    assert dict(versions.named(copy)) == dict.fromkeys(places, "97.98.99")
    for file in changed:
        assert file.read_text().replace("97.98.99", sandbox_agent.__version__) == before[file]


def test_what_was_unreleased_becomes_a_section(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "ROOT", copy)
    (copy / "Makefile").write_text("gen:\n\t@touch generated\n")
    news = release.unreleased((copy / "CHANGELOG.md").read_text())
    assert news
    section = release.write("97.98.99", datetime.date(2027, 1, 2))
    assert section == f"97.98.99\n\n{news}"
    text = (copy / "CHANGELOG.md").read_text()
    assert f"## [Unreleased]\n\n## [97.98.99] - 2027-01-02\n\n{news}" in text
    assert release.unreleased(text) == ""
    assert (copy / "generated").exists()


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("1.2", "three numbers"),
        ("v1.2.3", "three numbers"),
        (sandbox_agent.__version__, "expected more than"),
        ("0.0.1", "expected more than"),
        ("9.9.9", "there is a tag v9.9.9"),
        ("9.9.8", "changes that are not committed:\n?? new"),
    ],
)
def test_a_release_that_cannot_be_made_changes_nothing(
    copy: Path, monkeypatch: pytest.MonkeyPatch, version: str, why: str
) -> None:
    monkeypatch.setattr(release, "ROOT", copy)
    for command in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "all"],
        ["tag", "v9.9.9"],
    ):
        release.run("git", *command)
    (copy / "new").touch()
    with pytest.raises(release.Refused) as refused:
        release.refuse_if_not_ready(version)
    assert why in str(refused.value)
    (copy / "new").unlink()
    assert release.read("git", "status", "--porcelain") == ""


def test_a_changelog_without_news_is_not_released(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "ROOT", copy)
    (copy / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-15\n\n- First.\n"
    )
    release.run("git", "init", "--quiet")
    release.run("git", "add", "--all")
    release.run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "all")
    with pytest.raises(release.Refused, match="nothing under Unreleased"):
        release.refuse_if_not_ready("9.9.9")
