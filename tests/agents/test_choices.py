"""Which models, variants and modes an agent accepts, according to its lists."""

from __future__ import annotations

import pytest

from sandbox_agent.agents import AGENTS
from sandbox_agent.agents.acp import parse_acp_agents
from sandbox_agent.schema.features import Catalogue, Model

ALL = {**AGENTS, **parse_acp_agents(["toy=toy"])}
LISTED = Catalogue(
    models=(
        Model("acme/big-1", variants=("low", "high")),
        Model("acme/small-1", "Small One"),
    ),
    default_model="acme/big-1",
)
NOTHING = Catalogue()


def test_which_agents_check_a_choice_against_their_lists() -> None:
    assert {name: (sorted(agent.chooses), sorted(agent.ignores)) for name, agent in ALL.items()} == {
        "amp": ([], ["model", "variant"]),
        "claude": (["variant"], []),  # any model that its service knows
        "codex": (["variant"], []),
        "mock": ([], []),  # it repeats what it is given
        "opencode": (["model", "variant"], []),
        "pi": (["model", "variant"], []),
        "toy": (["model", "variant"], []),
    }


@pytest.mark.parametrize("name", [name for name, agent in ALL.items() if "model" in agent.chooses])
def test_a_model_must_be_listed(name: str) -> None:
    agent = ALL[name]
    assert agent.takes_model("acme/small-1", LISTED)
    assert not agent.takes_model("acme/huge-1", LISTED)
    assert not agent.takes_model("unknown/unknown", LISTED)
    # An agent that lists none may have any, but an ACP program has only what it lists.
    assert agent.takes_model("acme/huge-1", NOTHING) is (name != "toy")


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("big", True),
        ("BIG-1", True),
        ("big:high", True),
        ("acme/big-1:high", True),
        ("huge", False),
        ("acme/big", False),
        ("other/big-1", False),
        ("Small One", True),
        ("one", True),
    ],
)
def test_pi_accepts_part_of_a_models_name(model: str, taken: bool) -> None:
    assert ALL["pi"].takes_model(model, LISTED) is taken


@pytest.mark.parametrize("name", [name for name, agent in ALL.items() if "variant" in agent.chooses])
def test_a_variant_must_belong_to_its_model(name: str) -> None:
    takes = ALL[name].takes_variant
    assert takes("high", "acme/big-1", LISTED)
    assert takes("high", None, LISTED)  # the default model's
    assert not takes("ultra", "acme/big-1", LISTED)
    assert takes("ultra", None, NOTHING)
    if name == "toy":  # an ACP program lists the variants of its current model only
        assert takes("high", "acme/small-1", LISTED)
        return
    assert not takes("high", "acme/small-1", LISTED)
    assert takes("high", "acme/alias", LISTED)  # an unlisted model with a variant that another one has
    assert not takes("ultra", "acme/alias", LISTED)


@pytest.mark.parametrize(
    ("version", "modes"),
    [
        ("0.0.1777266064-g47b6f7", ["build", "smart", "rush", "deep", "large"]),
        ("0.0.1784106548-g000000", ["build", "low", "medium", "high", "ultra"]),
        (None, ["build", "smart", "rush", "deep", "large", "low", "medium", "high", "ultra"]),
    ],
)
def test_amp_has_the_modes_of_its_build(version: str | None, modes: list[str]) -> None:
    assert [mode.id for mode in ALL["amp"].modes_of(version)] == modes


def test_the_tested_version_has_modes_of_its_own() -> None:
    for agent in ALL.values():
        assert agent.modes[0] in agent.modes_of(agent.tested_version)
