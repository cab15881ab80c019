"""The artifacts of a release, each installed into an empty environment and used: a daemon, a session, a turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.release import unreleased

from tools import versions

from ..daemons import Daemon, running
from .conftest import ROOT, VERSION, Release

pytestmark = [pytest.mark.package, pytest.mark.timeout(1800)]

PAGE = "sandbox_agent/http/ui/index.html"
ANSWER = "You said: hello (message 1 of this conversation)\n"
SCRIPT = """
import { SandboxAgent } from "sandbox-agentd";
const client = await SandboxAgent.connect({ baseUrl: process.argv[2] });
const session = await client.sessions.create({ agent: "mock" });
console.log((await session.prompt("hello")).text);
await client.close();
"""


def run(*command: str | os.PathLike[str], cwd: Path | None = None, path: str | None = None) -> str:
    env = {**os.environ, "PATH": path or os.environ["PATH"]}
    env.pop("PYTHONPATH", None)
    ended = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return ended.stdout


def serves(program: Path, folder: Path, env: dict[str, str] | None = None) -> None:
    """A turn of the mock agent, asked for by the program's own commands."""
    with running(Daemon(folder / "data", env=env, program=[str(program)])) as daemon:
        env = {**os.environ, **(env or {}), "SANDBOX_AGENT_ENDPOINT": f"http://127.0.0.1:{daemon.port}"}
        for words, expected in (
            (("create", "s", "--agent", "mock"), "healthy"),
            (("stream-message", "s", "hello"), '"type":"turn.ended"'),
        ):
            ended = subprocess.run([program, "sessions", *words], capture_output=True, env=env, text=True)
            assert expected in ended.stdout, ended.stderr


# -- the release ----------------------------------------------------------------------------------


def test_a_dry_run_leaves_the_repository_as_it_was(release: Release) -> None:
    assert release.left_by_dry_run == ("", "", ["everything"])
    assert "\ndry run: nothing was committed or tagged\n" in release.dry_output


def test_a_release_builds_everything(release: Release) -> None:
    assert {file.name for file in release.dist.iterdir()} >= {
        f"sandbox_agentd-{VERSION}-py3-none-any.whl",
        f"sandbox_agentd-{VERSION}.tar.gz",
        "sandbox-agent-linux-x64",
        f"sandbox-agentd-{VERSION}.tgz",
        f"sandbox-agentd-cli-{VERSION}.tgz",
        f"sandbox-agentd-cli-linux-x64-{VERSION}.tgz",
        f"sandbox-agentd-react-{VERSION}.tgz",
        "SHA256SUMS",
    }
    assert f"tagged v{VERSION}" in release.output


def test_a_release_is_a_commit_with_a_tag_that_says_what_is_new(release: Release) -> None:
    assert release.git("status", "--porcelain") == ""
    assert release.git("log", "--format=%s").splitlines() == [f"release: {VERSION}", "everything"]
    assert release.git("rev-parse", f"v{VERSION}^{{commit}}") == release.git("rev-parse", "HEAD")
    assert {version for _, version in versions.named(release.root)} == {VERSION}
    told = release.git("tag", "--list", "--format=%(contents)", f"v{VERSION}").strip()
    assert told == f"{VERSION}\n\n{unreleased((ROOT / 'CHANGELOG.md').read_text())}"
    assert told in release.output
    changelog = (release.root / "CHANGELOG.md").read_text()
    assert unreleased(changelog) == ""
    assert f"\n## [{VERSION}] - " in changelog


def test_the_checksums_cover_every_file(release: Release) -> None:
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release.dist)
    named = {line.split()[1] for line in (release.dist / "SHA256SUMS").read_text().splitlines()}
    assert named == {file.name for file in release.dist.iterdir()} - {"SHA256SUMS"}


def test_every_artifact_names_the_version(release: Release) -> None:
    with zipfile.ZipFile(release.file("*.whl")) as wheel:
        assert f"Version: {VERSION}\n" in wheel.read(f"sandbox_agentd-{VERSION}.dist-info/METADATA").decode()
        assert PAGE in wheel.namelist()
    with tarfile.open(release.file("sandbox_agentd-*.tar.gz")) as sdist:
        names = sdist.getnames()
        assert f"sandbox_agentd-{VERSION}/src/{PAGE}" in names
        document = sdist.extractfile(f"sandbox_agentd-{VERSION}/docs/openapi.json")
        assert document is not None
        assert f'"version": "{VERSION}"' in document.read().decode()
    with (release.dist / "sandbox-agent-linux-x64").open("rb") as single:
        assert single.readlines(200)[1].startswith(f"# sandbox-agent {VERSION} ".encode())


# -- the single file ------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return {"SANDBOX_AGENT_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}


def test_the_single_file_starts_about_as_fast_as_a_checkout(
    release: Release, tmp_path: Path, cache: dict[str, str]
) -> None:
    run(sys.executable, "-m", "compileall", "-q", ROOT / "src")
    single = [str(release.dist / "sandbox-agent-linux-x64")]
    checkout = [sys.executable, "-m", "sandbox_agent"]
    start_seconds(single, tmp_path / "unpacked", cache)
    tries = [
        [
            start_seconds(program, tmp_path / f"{number}-{place}", cache)
            for place, program in enumerate((checkout, single))
        ]
        for number in range(5)
    ]
    ours, theirs = (min(column) for column in zip(*tries, strict=True))
    print(f"a checkout takes {ours:.2f} s of processor time until it listens, the single file {theirs:.2f} s")
    assert theirs <= ours * 1.5


def start_seconds(program: list[str], folder: Path, env: dict[str, str]) -> float:
    """Processor time until the daemon listens, with that of the launcher and what it ran. A busy machine does not change it much."""
    with running(Daemon(folder, env=env, program=program)) as daemon:
        fields = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


# -- Python ---------------------------------------------------------------------------------------


@pytest.fixture
def python(tmp_path: Path) -> Path:
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    return tmp_path / "venv" / "bin" / "python"


def test_the_wheel_serves_with_its_own_requirements_alone(
    release: Release, python: Path, tmp_path: Path
) -> None:
    run(python, "-m", "pip", "install", "--quiet", release.file("*.whl"))
    assert "rich" not in run(python, "-m", "pip", "list")
    serves(python.with_name("sandbox-agent"), tmp_path)


def test_the_sdist_installs_without_node_and_its_commands_draw(
    release: Release, python: Path, tmp_path: Path
) -> None:
    sdist = release.file("sandbox_agentd-*.tar.gz")
    run(python, "-m", "pip", "install", "--quiet", f"sandbox-agentd[cli] @ {sdist.as_uri()}", path="/bin")
    program = str(python.with_name("sandbox-agent"))
    with running(Daemon(tmp_path / "data", program=[program])) as daemon:
        output = run(program, "run", "mock", "hello", "--endpoint", f"http://127.0.0.1:{daemon.port}")
        assert ANSWER in output
        page = run(
            python,
            "-c",
            f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{daemon.port}/ui/').read())",
        )
        assert "<div id=" in page


# -- npm ------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
    return folder


def test_the_sdk_runs_a_session(release: Release, project: Path, tmp_path: Path) -> None:
    run(
        "npm", "install", "--silent", "--no-audit", release.file(f"sandbox-agentd-{VERSION}.tgz"), cwd=project
    )
    (project / "main.js").write_text(SCRIPT)
    with running(Daemon(tmp_path / "data")) as daemon:
        assert run("node", "main.js", f"http://127.0.0.1:{daemon.port}", cwd=project) == ANSWER


def test_npx_runs_the_daemon_without_python(
    release: Release, project: Path, tmp_path: Path, cache: dict[str, str]
) -> None:
    packages = [
        release.file(f"sandbox-agentd-cli-{VERSION}.tgz"),
        release.file("sandbox-agentd-cli-linux-*.tgz"),
    ]
    run("npm", "install", "--silent", "--no-audit", *packages, cwd=project)
    program = project / "node_modules" / ".bin" / "sandbox-agent"
    assert (
        run("npx", "--no-install", "sandbox-agent", "--version", cwd=project) == f"sandbox-agent {VERSION}\n"
    )
    serves(program, tmp_path, cache)
    with running(Daemon(tmp_path / "other", env=cache, program=[str(program)])) as daemon:
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.ended() == 0


def test_npm_without_the_package_of_the_platform_says_so(release: Release, project: Path) -> None:
    run(
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--omit=optional",
        release.file(f"sandbox-agentd-cli-{VERSION}.tgz"),
        cwd=project,
    )
    ended = subprocess.run(
        ["npx", "--no-install", "sandbox-agent"], cwd=project, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "cli-linux-x64 is not installed: install again without --omit=optional" in ended.stderr
