"""Settings: flags win over the environment, the environment over defaults."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sandbox_agent.config import PREFIX, Config, default_data_dir, from_environment
from sandbox_agent.errors import InvalidRequest


def test_without_flags_and_environment_there_are_the_defaults() -> None:
    config = from_environment({}, {})
    assert config == Config()
    assert (config.host, config.port, config.data_path) == ("127.0.0.1", 2468, default_data_dir())


def test_flags_win_over_the_environment_and_that_over_defaults() -> None:
    environ = {"SANDBOX_AGENT_PORT": "1000", "SANDBOX_AGENT_HOST": "::1", "PORT": "5", "HOST": "elsewhere"}
    config = from_environment({"port": 2000, "host": None, "unknown": 1}, environ)
    assert config == Config(port=2000, host="::1")


def test_environment_variables_are_parsed_from_text() -> None:
    environ = {
        "SANDBOX_AGENT_PORT": "0",
        "SANDBOX_AGENT_NO_TOKEN": "true",
        "SANDBOX_AGENT_NO_BYPASS": "1",
        "SANDBOX_AGENT_CORS_ALLOW_CREDENTIALS": "false",
        "SANDBOX_AGENT_IDLE_SECONDS": "1.5",
        "SANDBOX_AGENT_ALLOW_HOST": "a.example, b.example,",
        "SANDBOX_AGENT_SYNCHRONOUS": "normal",
        "SANDBOX_AGENT_TOKEN": "0123",
    }
    assert from_environment({}, environ) == Config(
        port=0,
        no_token=True,
        no_bypass=True,
        idle_seconds=1.5,
        allow_host=("a.example", "b.example"),
        synchronous="normal",
        token="0123",
    )


def test_an_empty_variable_counts_as_unset() -> None:
    assert from_environment({}, {"SANDBOX_AGENT_PORT": "", "SANDBOX_AGENT_TOKEN": ""}) == Config()


LIMITS = ("turns", "cost_usd", "tokens", "turn_seconds", "session_seconds")


def test_every_setting_can_be_given_in_the_environment() -> None:
    by_type = {bool: "true", int: "7", float: "7.5", str: "/x"}
    by_name = {"synchronous": "normal", "log_level": "debug", "parent_pid": "7", "max_upload": "4GiB"}
    by_name["takeover"] = "any"
    by_name |= dict.fromkeys((f"max_{limit}" for limit in LIMITS), "7")
    default = Config()
    for field in msgspec.structs.fields(Config):
        before = getattr(default, field.name)
        sample = by_name.get(field.name) or by_type.get(type(before), "x")
        config = from_environment({}, {PREFIX + field.name.upper(): sample})
        changed = [
            name for name in Config.__struct_fields__ if getattr(config, name) != getattr(default, name)
        ]
        assert changed == [field.name]


@pytest.mark.parametrize(
    "name, value",
    [
        ("port", "65536"),
        ("port", "http"),
        ("no_token", "maybe"),
        ("idle_seconds", "0"),
        ("synchronous", "off"),
        ("log_level", "LOUD"),
        ("max_upload", "much"),
        ("max_upload", "0"),
        ("max_cost_usd", "nan"),
        ("max_turns", "0"),
    ],
)
def test_a_bad_setting_is_named(name: str, value: str) -> None:
    variable, flag = PREFIX + name.upper(), "--" + name.replace("_", "-")
    with pytest.raises(InvalidRequest, match=rf"^{flag} / {variable}: (expected|invalid) [^$]*$"):
        from_environment({}, {variable: value})


def test_a_home_is_expanded_in_the_data_folder() -> None:
    assert Config(data_dir="~/state").data_path == Path.home() / "state"
    assert Config(data_dir="/srv/state").data_path == Path("/srv/state")


def test_every_setting_is_described() -> None:
    described = [
        note.description for field in msgspec.structs.fields(Config) for note in field.type.__metadata__
    ]
    assert all(described)
    assert len(described) == len(Config.__struct_fields__)


def test_a_command_with_commas_can_be_given_as_a_variable() -> None:
    opencode = """opencode-acp='OPENCODE_PERMISSION={"edit":"ask","bash":"ask"}' opencode acp"""
    environ = {"SANDBOX_AGENT_ACP_AGENT": f"{opencode}\n\ngemini=gemini --acp\n"}
    assert from_environment({}, environ).acp_agent == (opencode, "gemini=gemini --acp")


@pytest.mark.parametrize("flags, environ", [({"data_dir": ""}, {}), ({}, {"SANDBOX_AGENT_DATA_DIR": ""})])
def test_an_empty_data_directory_is_refused(flags: dict[str, str], environ: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest, match="SANDBOX_AGENT_DATA_DIR is empty"):
        from_environment(flags, environ)
