"""What a client may choose in a session, as options with their values: mode, model, variant and permissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, field

from .features import Mode, Model
from .inputs import PermissionMode

MODE, MODEL, VARIANT, PERMISSIONS = "mode", "model", "variant", "permission_mode"

PERMISSION_MODES: dict[PermissionMode, tuple[str, str]] = {
    "default": ("Ask", "The agent asks before it writes or runs anything."),
    "acceptEdits": ("Accept edits", "The agent does not ask for plain edits inside the directory."),
    "plan": ("Read-only", "The agent may read, but not change anything."),
    "bypass": ("Bypass", "The agent never asks."),
}


class OptionValue(Struct, frozen=True, omit_defaults=True):
    value: str
    name: str
    description: str | None = None


class ConfigOption(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A selection, as the Agent Client Protocol writes it."""

    id: str
    name: str
    category: str
    current_value: str
    options: tuple[OptionValue, ...]
    # Sent with every option; a factory keeps omit_defaults from leaving it out.
    type: Literal["select"] = field(default_factory=lambda: "select")


class Chosen(Struct, frozen=True):
    """What is chosen now; None is the agent's default."""

    mode: str
    model: str | None = None
    variant: str | None = None
    permission_mode: PermissionMode = "default"


class Choices(Struct, frozen=True):
    """What an agent offers."""

    modes: Sequence[Mode] = ()
    models: Sequence[Model] = ()
    default_model: str | None = None


def options_of(chosen: Chosen, choices: Choices) -> tuple[ConfigOption, ...]:
    return tuple(_options(chosen, choices))


def _options(chosen: Chosen, choices: Choices) -> Iterator[ConfigOption]:
    modes = (OptionValue(mode.id, mode.name, mode.description or None) for mode in choices.modes)
    yield _select(MODE, "Mode", "mode", chosen.mode, modes)
    model = chosen.model or choices.default_model
    if model is not None:
        models = (OptionValue(each.id, each.name or each.id) for each in choices.models)
        yield _select(MODEL, "Model", "model", model, models)
    used = next((each for each in choices.models if each.id == model), None)
    if used is not None and used.variants:
        variant = chosen.variant or used.default_variant or used.variants[0]
        variants = (OptionValue(each, each) for each in used.variants)
        yield _select(VARIANT, "Effort", "thought_level", variant, variants)
    permissions = (OptionValue(id, *words) for id, words in PERMISSION_MODES.items())
    yield _select(PERMISSIONS, "Permissions", "_permission_mode", chosen.permission_mode, permissions)


def _select(id: str, name: str, category: str, current: str, values: Iterable[OptionValue]) -> ConfigOption:
    """A selection whose current value is always one of its values."""
    options = tuple(values)
    if all(option.value != current for option in options):
        options = (OptionValue(current, current), *options)
    return ConfigOption(id, name, category, current, options)
