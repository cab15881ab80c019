"""The report at the end of a live run, seen from outside: pytest in a process of its own, without agents."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_agent.agents import AGENTS

from . import coverage
from .coverage import Column, Ran
from .features import FEATURES
from .report import CHECKOUT
from .tried import TRIED, chosen

THROUGH_WORKERS = ("-n", "1", "--dist", "worksteal")
"""Like `make test`: the process that reports is not the one that runs the tests."""


def run_pytest(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # The other plugins would take most of the time.
    own = {"CI": "", "MODEL": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "xdist",
            "-p",
            "timeout",
            *arguments,
        ],
        cwd=cwd,
        env={**kept, **own, **environ},
        capture_output=True,
        text=True,
        timeout=100,
    )


# -- a machine without npm --------------------------------------------------------------------


def run_without_npm(tmp_path: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The whole test directory, as `make test` runs it, except for tests that are not live."""
    programs = tmp_path / "programs"
    programs.mkdir()
    cache = str(tmp_path / "cache")
    others = str(CHECKOUT / "tests" / "[!l]*")
    return run_pytest(
        *("-m", "live", "--ignore-glob", others, *THROUGH_WORKERS),
        cwd=CHECKOUT,
        **{"PATH": str(programs), "SANDBOX_AGENT_TEST_CACHE": cache, **environ},
    )


def left_out_lines(run: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in run.stdout.splitlines() if "LEFT OUT" in line]


ALL_LEFT_OUT = (
    f"LEFT OUT, so nothing is known about them: {', '.join(sorted(TRIED))}: npm: no npm settings: "
    "no npmrc and no npm_config_registry names a registry, and npm is not on PATH"
)


def test_without_npm_the_agents_are_left_out_and_reported_in_one_line(tmp_path: Path) -> None:
    run = run_without_npm(tmp_path)
    assert left_out_lines(run) == [ALL_LEFT_OUT], run.stdout
    tried = sum(len(chosen(None, feature)) for feature in FEATURES)
    left_out = re.findall(r"SKIPPED \[(\d+)\] tests/live/conftest.py", run.stdout)
    assert sum(map(int, left_out)) >= tried  # and other tests that need a real agent
    assert run.returncode == pytest.ExitCode.OK


def test_without_npm_a_run_that_must_be_complete_fails(tmp_path: Path) -> None:
    run = run_without_npm(tmp_path, CI="true")
    assert left_out_lines(run) == [ALL_LEFT_OUT], run.stdout
    assert run.returncode == pytest.ExitCode.TESTS_FAILED


# -- the committed matrix ---------------------------------------------------------------------

CONFTEST = """
from pathlib import Path
from tests.live.report import CoverageReport, add_options

def pytest_addoption(parser):
    add_options(parser)

def pytest_configure(config):
    config.pluginmanager.register(CoverageReport(config, Path("coverage.md"), Path("README.md")))
"""
SUITE = """
def test_a_command_runs(request):
    request.node.user_properties += [("feature", "command"), ("agent", "codex"), ("version", "2.0")]
"""


def suite_with_matrix(folder: Path, matrix: coverage.Matrix) -> Path:
    """A suite whose one test shows that Codex 2.0 runs commands, and a committed matrix."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "coverage.md").write_text(coverage.page(matrix))
    readme = f"# Us\n\n{coverage.BEGIN}\n{coverage.END}\n\nMore.\n"
    (folder / "README.md").write_text(coverage.in_readme(readme, matrix))
    return folder


def run_suite(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "src")])
    return run_pytest(*THROUGH_WORKERS, *arguments, cwd=folder, PYTHONPATH=path)


WRONG: coverage.Matrix = {"codex": Column("1.0", {"text": "yes", "command": "fails"})}
RIGHT: coverage.Matrix = {"codex": Column("2.0", {"text": "yes", "command": "yes"})}


def test_a_wrong_matrix_fails_the_run(tmp_path: Path) -> None:
    run = run_suite(suite_with_matrix(tmp_path, WRONG))
    assert "1 passed" in run.stdout
    assert "coverage.md, README.md: differs from what just ran" in run.stdout
    assert "codex: the matrix is about version 1.0, 2.0 ran" in run.stdout
    assert "codex, Command: the matrix says fails, not yes" in run.stdout
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert coverage.read((tmp_path / "coverage.md").read_text()) == WRONG


def test_a_freshly_written_matrix_passes(tmp_path: Path) -> None:
    written = run_suite(suite_with_matrix(tmp_path, WRONG), "--write-coverage")
    assert "wrote coverage.md, README.md" in written.stdout
    assert written.returncode == pytest.ExitCode.OK
    assert (tmp_path / "coverage.md").read_text() == coverage.page(RIGHT)
    assert coverage.summary(RIGHT) in (tmp_path / "README.md").read_text()
    again = run_suite(tmp_path, "-n", "0")
    assert "coverage matrix" not in again.stdout
    assert again.returncode == pytest.ExitCode.OK


def test_a_run_changes_only_what_it_ran() -> None:
    matrix: coverage.Matrix = {
        "claude": Column("1.0", {"text": "yes"}),
        "codex": Column("1.0", {"text": "yes", "command": "no"}),
    }
    after = coverage.merged(matrix, [Ran("codex", "1.0", "command", "yes")])
    assert after == {
        "claude": Column("1.0", {"text": "yes"}),
        "codex": Column("1.0", {"text": "yes", "command": "yes"}),
    }
    assert coverage.differences(matrix, after) == ["codex, Command: the matrix says no, not yes"]
    assert coverage.differences(after, after) == []


def test_a_cell_that_was_never_tried_is_a_difference() -> None:
    assert coverage.differences({}, {"pi": Column("1.5.0", {"text": "yes"})}) == [
        "pi: the matrix is about version nothing, 1.5.0 ran",
        "pi, Text: the matrix says nothing, not yes",
    ]


def test_a_page_reads_back_as_its_matrix() -> None:
    gap = next(iter(AGENTS["amp"].gaps))
    matrix: coverage.Matrix = {
        "amp": Column("0.1", {"text": "yes", gap: "no"}),
        "claude": Column("2.0", {"text": "fails"}),
    }
    page = coverage.page(matrix)
    assert coverage.read(page) == matrix
    assert f"- Amp, {FEATURES[gap].title}: {AGENTS['amp'].gaps[gap]}\n" in page.replace("\n  ", " ")
