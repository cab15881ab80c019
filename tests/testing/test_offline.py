"""The settings that keep a real agent on this machine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from sandbox_agent.testing.agent_cache import AGENTS
from sandbox_agent.testing.offline import offline_environment

URL = "http://127.0.0.1:1234"


@pytest.mark.parametrize("agent", AGENTS)
def test_everything_an_agent_keeps_is_below_its_home(agent: str, tmp_path: Path) -> None:
    environment = offline_environment(agent, URL, tmp_path / "home")
    paths = [value for value in environment.values() if value.startswith("/")]
    assert environment["HOME"] == str(tmp_path / "home")
    assert [path for path in paths if not path.startswith(str(tmp_path / "home"))] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_every_address_an_agent_is_given_is_the_scripted_models(agent: str, tmp_path: Path) -> None:
    environment = offline_environment(agent, f"{URL}/", tmp_path)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    settings = "\n".join([*environment.values(), *written])
    assert URL in settings
    assert settings.count("://") == settings.count(URL)
    assert f"{URL}//" not in settings


def test_settings_are_readable_only_by_their_owner(tmp_path: Path) -> None:
    for agent in AGENTS:
        offline_environment(agent, URL, tmp_path / agent)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()}
    assert modes == {0o600}


def test_codex_reads_its_key_from_the_environment(tmp_path: Path) -> None:
    environment = offline_environment("codex", URL, tmp_path)
    config = tomllib.loads((Path(environment["CODEX_HOME"]) / "config.toml").read_text())
    provider = config["model_providers"][config["model_provider"]]
    assert (provider["base_url"], environment[provider["env_key"]]) == (f"{URL}/v1", "sk-scripted")


def test_opencode_and_pi_know_their_default_model(tmp_path: Path) -> None:
    opencode = json.loads(Path(offline_environment("opencode", URL, tmp_path)["OPENCODE_CONFIG"]).read_text())
    pi = Path(offline_environment("pi", URL, tmp_path)["PI_CODING_AGENT_DIR"])
    settings, models = (json.loads((pi / name).read_text()) for name in ("settings.json", "models.json"))
    provider, _, model = opencode["model"].partition("/")
    assert model in opencode["provider"][provider]["models"]
    assert settings["defaultModel"] in [
        model["id"] for model in models["providers"][settings["defaultProvider"]]["models"]
    ]


def test_another_agent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"no offline settings for 'vim', only for {', '.join(AGENTS)}"):
        offline_environment("vim", URL, tmp_path)
