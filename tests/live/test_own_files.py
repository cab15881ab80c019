"""An agent works in the user's workspace and with the user's own settings: both are unchanged when it is
done.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_agent.testing.offline import offline_environment
from sandbox_agent.testing.scripted_model import ScriptedModel

from .client import DaemonProcess
from .live import REAL, Live
from .tried import TRIED, cannot_run, chosen

LOGIN = "sk-login-of-the-user"

OWN_FILES = {
    "claude": {
        ".claude/settings.json": '{"includeCoAuthoredBy": false}\n',
        ".claude/CLAUDE.md": "Be brief.\n",
        ".claude/.claude.json": '{"hasCompletedOnboarding": true}\n',
        ".claude/.credentials.json": f'{{"claudeAiOauth": {{"accessToken": "{LOGIN}", "expiresAt": 9e15}}}}\n',
    },
    "codex": {
        ".codex/AGENTS.md": "Be brief.\n",
        ".codex/auth.json": f'{{"OPENAI_API_KEY": "{LOGIN}"}}\n',
    },
    "opencode": {
        ".config/opencode/AGENTS.md": "Be brief.\n",
        ".local/share/opencode/auth.json": f'{{"other": {{"type": "api", "key": "{LOGIN}"}}}}\n',
    },
    "pi": {
        ".pi/agent/AGENTS.md": "Be brief.\n",
        ".pi/agent/auth.json": f'{{"other": {{"type": "api_key", "key": "{LOGIN}"}}}}\n',
    },
    "amp": {
        ".config/amp/AGENTS.md": "Be brief.\n",
        ".config/amp/settings.json": '{"amp.showCosts": false}\n',
        ".local/share/amp/secrets.json": f'{{"apiKey@https://ampcode.com/": "{LOGIN}"}}\n',
    },
}
"""The files in the home of a user of the agent, apart from those that point it to the model."""

COMPLETES = {"claude": (".claude/.claude.json",)}
"""Files that the agent completes when it starts for the very first time."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    agents = chosen(metafunc.config.getoption("--agent"), "text", on_quick_agents=True)
    metafunc.parametrize("live", [name for name in OWN_FILES if name in agents], indirect=True)


@pytest.fixture
def live(request: pytest.FixtureRequest, tmp_path: Path, scripted_model: ScriptedModel) -> Iterator[Live]:
    if REAL:
        pytest.skip("the user's real home is not for tests")
    if why := cannot_run(request.param):
        request.node.user_properties += [("agent", request.param), ("left_out", why)]
        pytest.skip("the agent is not installed")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    daemon: DaemonProcess = request.getfixturevalue("shared_daemon")
    live = Live(TRIED[request.param], daemon, scripted_model, workspace)
    yield live
    live.check_rules()


def test_the_users_own_files_are_unchanged(live: Live, tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", live.workspace
    env = offline_environment(live.agent.name, live.model.base_url, home)
    for path, text in OWN_FILES[live.agent.name].items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
        (home / path).chmod(0o600)
    own = _contents(home)
    if completed := COMPLETES.get(live.agent.name):
        _use(live, env, tmp_path / "earlier")
        own.update({path: _contents(home)[path] for path in completed})
    (workspace / "code.py").write_text("print('hello')\n")
    _git(workspace, "init")
    _git(workspace, "add", ".")
    _git(workspace, "-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "--message", "first")
    before = _contents(workspace)
    for _ in range(2):
        _use(live, env, workspace)
    now = _contents(home)
    assert {path: now.get(path) for path in own} == own
    assert _contents(workspace) == before
    ours = _contents(live.daemon.data_dir)
    assert [path for path, (_, data) in ours.items() if LOGIN.encode() in data] == []


def _use(live: Live, env: dict[str, str], directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    session = live.session(env=env, permissionMode="bypass", directory=str(directory))
    assert "seen" in session.run(live.command("echo seen")).output
    session.call("POST", "/terminate")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything below a folder, with its type and permissions: bytes of files, targets of links."""
    return {str(path.relative_to(folder)): (path.lstat().st_mode, _data(path)) for path in folder.rglob("*")}


def _data(path: Path) -> bytes:
    if path.is_symlink():
        return bytes(path.readlink())
    return path.read_bytes() if path.is_file() else b""
